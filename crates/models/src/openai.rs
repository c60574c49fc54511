//! What OpenAI's two formats have in common: headers, usage, and the shape of errors.

use bytes::Bytes;
use hyper::{HeaderMap, Method, StatusCode, Uri};
use serde_json::json;

use crate::{
    Secret,
    format::{Route, RouteKind},
    headers,
    refusal::{Refusal, RefusalKind},
};

/// Where both look for the list of models.
const MODELS: &str = "/v1/models";

/// What answers that: no models, under the names that OpenAI's own clients and Codex look for.
pub(crate) const NO_MODELS: &str = r#"{"data":[],"models":[],"object":"list"}"#;

/// What of an answer's headers a sandbox sees. Not those that tell whose account it is.
const ANSWER: &[&str] = &[
    "content-type",
    "openai-processing-ms",
    "retry-after",
    "retry-after-ms",
    "x-request-id",
    "x-should-retry",
];
const ANSWER_PREFIX: &str = "x-ratelimit-";

/// The one path of a format, and the list of models. No query means anything here.
pub(crate) fn route(generate: &str, method: &Method, uri: &Uri) -> Option<Route> {
    let kind = match uri.path() {
        path if path == generate && *method == Method::POST => RouteKind::Generate,
        MODELS if *method == Method::GET => RouteKind::Lookup,
        _ => return None,
    };
    Some(Route { path: uri.path().to_owned(), query: None, kind })
}

/// Which organisation or project pays is not the sandbox's to say, so none of its own headers pass.
pub(crate) fn request_headers(sandbox: &HeaderMap, key: Option<&Secret>) -> HeaderMap {
    let mut headers = headers::of_request(sandbox, &[]);
    headers.extend(key.and_then(headers::bearer));
    headers
}

pub(crate) fn answer_headers(provider: &HeaderMap) -> HeaderMap {
    headers::of_answer(provider, ANSWER, ANSWER_PREFIX)
}

/// By custom an address of this API includes its version, such as `https://host/v1`; one without a path means the same.
pub(crate) fn path_at(base: &str, path: &str) -> String {
    match base {
        "" => path.to_owned(),
        base => format!("{base}{}", path.strip_prefix("/v1").unwrap_or(path)),
    }
}

pub(crate) fn refusal(refusal: &Refusal) -> (StatusCode, Bytes) {
    let (kind, code) = match refusal.kind {
        RefusalKind::NoSuchRoute => ("invalid_request_error", "unknown_url"),
        RefusalKind::NoRun => ("permission_error", "no_active_run"),
        RefusalKind::NotGranted => ("permission_error", "not_granted"),
        RefusalKind::ModelNotAllowed => ("permission_error", "model_not_allowed"),
        RefusalKind::NoKey => ("permission_error", "provider_without_key"),
        RefusalKind::Invalid | RefusalKind::BrokenOff => ("invalid_request_error", "invalid_request"),
        RefusalKind::TooLarge => ("invalid_request_error", "request_too_large"),
        RefusalKind::Slow | RefusalKind::TimedOut => ("server_error", "timeout"),
        RefusalKind::BudgetSpent => ("insufficient_quota", "budget_exceeded"),
        RefusalKind::NoPrice => ("insufficient_quota", "model_without_price"),
        RefusalKind::BudgetHeld => ("rate_limit_error", "rate_limit_exceeded"),
        RefusalKind::Overloaded => ("server_error", "server_overloaded"),
        RefusalKind::Unreachable | RefusalKind::GivenUp => ("server_error", "provider_unreachable"),
    };
    (refusal.kind.status(), error_body(kind, code, &refusal.message))
}

/// The shape of every error of this API.
pub(crate) fn error_body(kind: &str, code: &str, message: &str) -> Bytes {
    json!({ "error": { "code": code, "message": message, "param": null, "type": kind } }).to_string().into()
}

#[cfg(test)]
mod tests;
