//! The models' APIs, streaming, over plain HTTP on the sandbox's loopback.
//!
//! A request and the events of an answer are Anthropic's in shape. `anthropic`, `openai` and `gemini` each write such a
//! request in their API's words and read its stream back into such events: they own no socket.

mod anthropic;
mod client;
mod error;
mod event;
mod gemini;
mod openai;

pub(super) use client::{Client, ClientError, Endpoint};
pub(super) use error::{ApiError, ErrorBody};
pub(super) use event::{ApiEvent, ApiUsage, ContentBlock, Delta};

use serde::{Deserialize, Serialize};

use super::request::Request;

/// A provider's wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Api {
    /// Anthropic's Messages.
    #[default]
    Anthropic,
    /// OpenAI's Responses.
    OpenAi,
    /// Google's `generateContent`.
    Gemini,
}

/// Reads one answer's stream.
enum Decoder {
    Anthropic,
    OpenAi(openai::Decoder),
    Gemini(gemini::Decoder),
}

impl Api {
    /// The API that a model is asked by. Names that tell nothing are asked by Anthropic's, as always.
    pub(super) fn of_model(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        let starts = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
        if starts(&["gemini", "gemma", "learnlm"]) {
            Self::Gemini
        } else if starts(&["gpt", "chatgpt", "codex", "o1", "o3", "o4", "computer-use"]) {
            Self::OpenAi
        } else {
            Self::Anthropic
        }
    }

    /// The path below the API's address.
    fn path(self, model: &str) -> String {
        match self {
            Self::Anthropic => "/v1/messages".to_owned(),
            Self::OpenAi => "/v1/responses".to_owned(),
            Self::Gemini => {
                let name = model.rsplit('/').next().unwrap_or(model);
                format!("/v1beta/models/{name}:streamGenerateContent?alt=sse")
            }
        }
    }

    /// The headers that say who calls.
    fn headers(self, key: &str) -> Vec<(&'static str, String)> {
        match self {
            Self::Anthropic => {
                vec![("anthropic-version", "2023-06-01".to_owned()), ("x-api-key", key.to_owned())]
            }
            Self::OpenAi => vec![("authorization", format!("Bearer {key}"))],
            Self::Gemini => vec![("x-goog-api-key", key.to_owned())],
        }
    }

    fn body(self, request: Request<'_>) -> Vec<u8> {
        let body = match self {
            Self::Anthropic => anthropic::body(request),
            Self::OpenAi => openai::body(&request),
            Self::Gemini => gemini::body(&request),
        };
        body.to_string().into_bytes()
    }

    fn decoder(self) -> Decoder {
        match self {
            Self::Anthropic => Decoder::Anthropic,
            Self::OpenAi => Decoder::OpenAi(openai::Decoder::default()),
            Self::Gemini => Decoder::Gemini(gemini::Decoder::default()),
        }
    }
}

impl Decoder {
    /// Reads the data of one server-sent event.
    fn decode(&mut self, data: &[u8], out: &mut Vec<ApiEvent>) -> Result<(), ApiError> {
        let unreadable = |error| ApiError::Broken(format!("an event is not understood: {error}"));
        match self {
            Self::Anthropic => out.push(serde_json::from_slice(data).map_err(unreadable)?),
            // Chat servers that speak OpenAI's API end with a word that is no JSON.
            Self::OpenAi(_) if data == b"[DONE]" => {}
            Self::OpenAi(decoder) => decoder.decode(&serde_json::from_slice(data).map_err(unreadable)?, out),
            Self::Gemini(decoder) => decoder.decode(&serde_json::from_slice(data).map_err(unreadable)?, out),
        }
        Ok(())
    }

    /// The stream has ended, which is how some answers end.
    fn finish(&mut self, out: &mut Vec<ApiEvent>) {
        if let Self::Gemini(decoder) = self {
            decoder.finish(out);
        }
    }
}

/// A picture or document of a request: its media type and its content in Base64.
fn media(content: &serde_json::Value) -> Option<(&str, &str)> {
    let source = &content["source"];
    Some((source["media_type"].as_str()?, source["data"].as_str()?))
}

#[cfg(test)]
mod tests {
    use super::Api;

    #[test]
    fn models_are_asked_by_the_api_of_their_provider() {
        for (model, api) in [
            ("claude-sonnet-4-5", Api::Anthropic),
            ("warren-demo-1", Api::Anthropic),
            ("gpt-5.5", Api::OpenAi),
            ("openai/gpt-4o", Api::OpenAi),
            ("o3-mini", Api::OpenAi),
            ("codex-mini-latest", Api::OpenAi),
            ("gemini-2.5-pro", Api::Gemini),
            ("models/gemini-3-pro-preview", Api::Gemini),
        ] {
            assert_eq!(Api::of_model(model), api, "{model}");
        }
    }
}
