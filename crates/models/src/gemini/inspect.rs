//! What a Gemini request makes the provider reach for.
//!
//! The API reads each name both as `camelCase` and as `snake_case`; who writes both is refused, because only the provider
//! knows which of the two counts.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};

use crate::{
    Feature,
    format::Inspected,
    inspect::{Count, Each, Encoded, Finds, Found, ModelName, Service, read},
    refusal::Refusal,
};

/// What must be known of a request before it goes out; its model is in the path.
pub(super) fn inspect(body: &[u8]) -> Result<Inspected, Refusal> {
    let mut request: Request = read(body)?;
    let config = request.generation_config.take().unwrap_or_default();
    let answers = config.candidate_count.0.unwrap_or(1).max(1);
    let mut found = Found::default();
    request.finds(&mut found);
    found.add(config.service_tier.found);
    Ok(Inspected {
        other_models: found.models,
        features: found.features.into_iter().collect(),
        max_output_tokens: config.max_output_tokens.0.map(|tokens| tokens.saturating_mul(answers)),
        n_answers: config.candidate_count.0,
        media: found.media,
        ..Inspected::default()
    })
}

#[derive(Deserialize)]
struct Request {
    /// The path counts; a counted request names its model once more.
    #[serde(default)]
    model: Each<ModelName>,
    #[serde(default, rename = "serviceTier", alias = "service_tier")]
    service_tier: Each<LoudService>,
    #[serde(default)]
    contents: Each<Content>,
    #[serde(default, rename = "systemInstruction", alias = "system_instruction")]
    system_instruction: Each<Content>,
    #[serde(default)]
    tools: Each<Tool>,
    #[serde(default, rename = "cachedContent", alias = "cached_content")]
    cached_content: Option<IgnoredAny>,
    #[serde(default, rename = "generationConfig", alias = "generation_config")]
    generation_config: Option<Config>,
    /// Only counting tokens takes a request inside the request.
    #[serde(default, rename = "generateContentRequest", alias = "generate_content_request")]
    generate_content_request: Each<Request>,
}

#[derive(Default, Deserialize)]
struct Config {
    #[serde(default, rename = "maxOutputTokens", alias = "max_output_tokens")]
    max_output_tokens: Count,
    #[serde(default, rename = "candidateCount", alias = "candidate_count")]
    candidate_count: Count,
    #[serde(default, rename = "serviceTier", alias = "service_tier")]
    service_tier: Each<LoudService>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    parts: Each<Part>,
}

/// A piece of content. A call's arguments and a result's own words are the agent's business and not looked at.
#[derive(Deserialize)]
struct Part {
    #[serde(default, rename = "fileData", alias = "file_data")]
    file_data: Option<IgnoredAny>,
    #[serde(default, rename = "inlineData", alias = "inline_data")]
    inline_data: Each<Blob>,
    #[serde(default, rename = "functionResponse", alias = "function_response")]
    function_response: Each<Content>,
}

#[derive(Deserialize)]
struct Blob {
    #[serde(default, rename = "mimeType", alias = "mime_type")]
    mime_type: Option<String>,
    #[serde(default)]
    data: Each<Encoded>,
}

/// The same choice as elsewhere, which may be written as the name of a constant, such as `SERVICE_TIER_STANDARD`.
#[derive(Deserialize)]
struct LoudService {}

/// The kinds of tools in one entry of the list; an entry can hold several.
struct Tool(Found);

impl Finds for Request {
    fn finds(self, found: &mut Found) {
        found.add(self.model.found);
        found.add(self.service_tier.found);
        found.add(self.contents.found);
        found.add(self.system_instruction.found);
        found.add(self.tools.found);
        found.note(self.cached_content, Feature::StoredFiles);
        found.add(self.generate_content_request.found);
    }
}

impl Finds for LoudService {
    fn finds(self, found: &mut Found) {
        Service {}.finds(found);
    }

    fn finds_in_text(text: &str, found: &mut Found) {
        let text = text.to_ascii_lowercase();
        Service::finds_in_text(text.strip_prefix("service_tier_").unwrap_or(&text), found);
    }
}

impl Finds for Content {
    fn finds(self, found: &mut Found) {
        found.add(self.parts.found);
    }
}

impl Finds for Part {
    fn finds(self, found: &mut Found) {
        // The provider decides by the address whether it is one of the account's own files, so both must be granted.
        if self.file_data.is_some() {
            found.features.extend([Feature::UrlSources, Feature::StoredFiles]);
        }
        found.add(self.inline_data.found);
        found.add(self.function_response.found);
    }
}

impl Finds for Blob {
    fn finds(self, found: &mut Found) {
        // Text that is encoded costs like text.
        if !self.mime_type.is_some_and(|kind| kind.starts_with("text/")) {
            found.add(self.data.found);
        }
    }
}

impl Finds for Tool {
    fn finds(self, found: &mut Found) {
        found.add(self.0);
    }
}

/// Only functions are the agent's to carry out; whatever else there is or will be is the provider's.
fn feature(kind: &str) -> Option<Feature> {
    match kind {
        "functionDeclarations" | "function_declarations" => None,
        "fileSearch" | "file_search" | "retrieval" => Some(Feature::StoredFiles),
        "mcpServers" | "mcp_servers" => Some(Feature::RemoteMcp),
        _ => Some(Feature::ServerTools),
    }
}

impl<'de> Deserialize<'de> for Tool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ToolVisitor;
        impl<'de> Visitor<'de> for ToolVisitor {
            type Value = Tool;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Tool, A::Error> {
                let mut found = Found::default();
                while let Some(kind) = object.next_key::<Cow<'de, str>>()? {
                    object.next_value::<IgnoredAny>()?;
                    found.features.extend(feature(&kind));
                }
                Ok(Tool(found))
            }
        }
        deserializer.deserialize_map(ToolVisitor)
    }
}

#[cfg(test)]
mod tests;
