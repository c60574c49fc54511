//! Which models a provider offers: its own list, asked for by its own custom.

use std::time::Duration;

use hyper::{HeaderMap, StatusCode};
use serde_json::Value;

use crate::{Format, upstream::Provider};

/// A model that a provider offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedModel {
    /// The name to ask for it by.
    pub id: String,
    /// Its name for people, if the provider gives one.
    pub display_name: Option<String>,
    /// How many tokens it can be told at once, if the provider says.
    pub context_window: Option<u64>,
}

/// Why a provider did not say which models it offers. Never holds a word of the provider's: some repeat the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OfferError {
    /// The key is wrong, or may not do this.
    #[error("the provider refuses the key (HTTP {0})")]
    WrongKey(u16),
    /// Nobody answers there.
    #[error("the provider cannot be reached: {0}")]
    Unreachable(&'static str),
    /// Somebody answers, but not a provider's API.
    #[error("the base URL is not this provider's API: {0}")]
    WrongUrl(String),
    /// The provider has a problem of its own.
    #[error("the provider answered with HTTP {0}")]
    Failed(u16),
}

/// How long a provider may take to list its models, all pages together.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The longest page of a list.
const MAX_PAGE_BYTES: usize = 4 << 20;

/// How many pages are read, and how many models are kept.
const MAX_PAGES: usize = 5;
const MAX_MODELS: usize = 2000;

/// The longest name that is kept.
const MAX_NAME: usize = 128;

/// One page of a list.
#[derive(Debug, Default, PartialEq, Eq)]
struct Page {
    models: Vec<OfferedModel>,
    /// The query of the next one.
    next: Option<String>,
}

/// Asks a provider which models it offers.
pub(crate) async fn ask(provider: &Provider, format: Format) -> Result<Vec<OfferedModel>, OfferError> {
    let all = tokio::time::timeout(TIMEOUT, pages(provider, format)).await;
    all.unwrap_or(Err(OfferError::Unreachable("it did not answer in time")))
}

async fn pages(provider: &Provider, format: Format) -> Result<Vec<OfferedModel>, OfferError> {
    let mut models = Vec::new();
    let mut query = first_query(format).map(str::to_owned);
    for _ in 0..MAX_PAGES {
        let page = page(provider, format, query.as_deref()).await?;
        models.extend(page.models);
        if page.next.is_none() || models.len() >= MAX_MODELS {
            break;
        }
        query = page.next;
    }
    models.truncate(MAX_MODELS);
    Ok(models)
}

async fn page(provider: &Provider, format: Format, query: Option<&str>) -> Result<Page, OfferError> {
    let headers = format.wire().request_headers(&HeaderMap::new(), provider.key());
    let request = provider.client().get(provider.url_of(format, path(format), query)).headers(headers);
    let mut response = request.send().await.map_err(|error| unreachable(&error))?;
    check_status(format, response.status())?;
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| unreachable(&error))? {
        if body.len() + piece.len() > MAX_PAGE_BYTES {
            return Err(OfferError::WrongUrl(format!("its list is longer than {MAX_PAGE_BYTES} bytes")));
        }
        body.extend_from_slice(&piece);
    }
    let answer = serde_json::from_slice(&body)
        .map_err(|_| OfferError::WrongUrl("the answer is not JSON".to_owned()))?;
    read(format, &answer).ok_or_else(|| OfferError::WrongUrl("the answer is not a list of models".to_owned()))
}

fn check_status(format: Format, status: StatusCode) -> Result<(), OfferError> {
    match status {
        status if status.is_success() => Ok(()),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(OfferError::WrongKey(status.as_u16())),
        // What Gemini says to a key that is none.
        StatusCode::BAD_REQUEST if format == Format::Gemini => Err(OfferError::WrongKey(status.as_u16())),
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => {
            Err(OfferError::WrongUrl(format!("HTTP {}", status.as_u16())))
        }
        status if status.is_redirection() => {
            Err(OfferError::WrongUrl("it redirects elsewhere, and redirects are not followed".to_owned()))
        }
        status => Err(OfferError::Failed(status.as_u16())),
    }
}

fn unreachable(error: &reqwest::Error) -> OfferError {
    tracing::debug!(error = error as &dyn std::error::Error, "a provider did not list its models");
    OfferError::Unreachable(match error {
        error if error.is_timeout() => "it did not answer in time",
        error if error.is_connect() => "the connection failed",
        _ => "the connection was lost",
    })
}

fn path(format: Format) -> &'static str {
    match format {
        Format::Anthropic | Format::OpenAiChat | Format::OpenAiResponses => "/v1/models",
        Format::Gemini => "/v1beta/models",
    }
}

fn first_query(format: Format) -> Option<&'static str> {
    match format {
        Format::Anthropic => Some("limit=1000"),
        Format::Gemini => Some("pageSize=1000"),
        Format::OpenAiChat | Format::OpenAiResponses => None,
    }
}

fn read(format: Format, answer: &Value) -> Option<Page> {
    match format {
        Format::Anthropic => {
            let models = answer["data"].as_array()?.iter().filter_map(anthropic_model).collect();
            let last = answer["last_id"].as_str().filter(|_| answer["has_more"] == true);
            Some(Page { models, next: last.map(|last| format!("limit=1000&after_id={}", encoded(last))) })
        }
        Format::Gemini => {
            let models = answer["models"].as_array()?.iter().filter_map(gemini_model).collect();
            let next = answer["nextPageToken"].as_str().filter(|token| !token.is_empty());
            Some(Page {
                models,
                next: next.map(|token| format!("pageSize=1000&pageToken={}", encoded(token))),
            })
        }
        Format::OpenAiChat | Format::OpenAiResponses => {
            let models = answer["data"].as_array()?.iter().filter_map(openai_model).collect();
            Some(Page { models, next: None })
        }
    }
}

fn anthropic_model(model: &Value) -> Option<OfferedModel> {
    named(&model["id"], &model["display_name"], &model["max_input_tokens"])
}

fn gemini_model(model: &Value) -> Option<OfferedModel> {
    // Some of them only embed texts or make pictures.
    let verbs = model["supportedGenerationMethods"].as_array()?;
    if !verbs.iter().any(|verb| verb == "generateContent") {
        return None;
    }
    let id = model["name"].as_str()?;
    let id = Value::from(id.strip_prefix("models/").unwrap_or(id));
    named(&id, &model["displayName"], &model["inputTokenLimit"])
}

fn openai_model(model: &Value) -> Option<OfferedModel> {
    // Servers that speak OpenAI's language say it by one of these names, if at all.
    let window = ["context_length", "max_model_len", "context_window"].map(|name| &model[name]);
    let window = window.into_iter().find(|window| window.is_u64()).unwrap_or(&Value::Null);
    named(&model["id"], &model["name"], window)
}

fn named(id: &Value, name: &Value, window: &Value) -> Option<OfferedModel> {
    let short = |text: &&str| !text.is_empty() && text.len() <= MAX_NAME && !text.contains(char::is_control);
    let id = id.as_str().filter(short)?.to_owned();
    let display_name = name.as_str().filter(short).filter(|name| *name != id).map(str::to_owned);
    Some(OfferedModel { id, display_name, context_window: window.as_u64().filter(|tokens| *tokens > 0) })
}

/// A text as a part of a query.
fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[cfg(test)]
mod tests;
