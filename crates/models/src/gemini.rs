//! Gemini's `generateContent` as the gateway passes it on: routes, headers and the shape of errors.

mod inspect;
mod tally;

use bytes::Bytes;
use hyper::{HeaderMap, Method, StatusCode, Uri, header::HeaderName};
use serde_json::{Value, json};

use crate::{
    Secret,
    allowed::shown,
    format::{Inspected, Route, RouteKind, ToolOutput, Wire, elements},
    headers,
    meter::Tally,
    refusal::{Refusal, RefusalKind},
};

/// The format.
pub(crate) struct GenerateContent;

const API_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// What of an answer's headers a sandbox sees.
const ANSWER: &[&str] = &["content-type", "retry-after", "server-timing", "x-request-id"];
const ANSWER_PREFIX: &str = "x-gemini-";

impl Wire for GenerateContent {
    fn route(&self, method: &Method, uri: &Uri) -> Option<Route> {
        let path = uri.path().to_owned();
        if *method == Method::GET {
            let lists = matches!(path.as_str(), "/v1beta/models" | "/v1/models");
            return lists.then_some(Route { path, query: None, kind: RouteKind::Lookup });
        }
        let (_, verb) = model_and_verb(&path).filter(|_| *method == Method::POST)?;
        let kind = match verb {
            "generateContent" | "streamGenerateContent" => RouteKind::Generate,
            "countTokens" => RouteKind::Count,
            _ => return None,
        };
        // A key in the query is dropped like all else in it.
        let events = uri.query().is_some_and(|query| query.split('&').any(|pair| pair == "alt=sse"));
        Some(Route { path, query: events.then_some("alt=sse"), kind })
    }

    fn inspect(&self, route: &Route, body: &[u8]) -> Result<Inspected, Refusal> {
        let (model, verb) = model_and_verb(&route.path).unwrap_or_default();
        let inspected = inspect::inspect(body)?;
        // The provider goes by the path, but a body that says otherwise is not worth the doubt.
        let is_other = |named: &&String| named.strip_prefix("models/").unwrap_or(named) != model;
        if let Some(other) = inspected.other_models.iter().find(is_other) {
            let message = format!("the path names the model `{model}`, the request names `{}`", shown(other));
            return Err(Refusal::new(RefusalKind::Invalid, message));
        }
        Ok(Inspected {
            model: model.to_owned(),
            other_models: Vec::new(),
            streamed: verb == "streamGenerateContent",
            ..inspected
        })
    }

    fn request_headers(&self, sandbox: &HeaderMap, key: Option<&Secret>) -> HeaderMap {
        let mut headers = headers::of_request(sandbox, &[]);
        headers.extend(key.and_then(|key| headers::sensitive(API_KEY, key.expose())));
        headers
    }

    fn answer_headers(&self, provider: &HeaderMap) -> HeaderMap {
        headers::of_answer(provider, ANSWER, ANSWER_PREFIX)
    }

    fn refusal(&self, refusal: &Refusal) -> (StatusCode, Bytes) {
        let status = refusal.kind.status();
        let name = match refusal.kind {
            RefusalKind::NoSuchRoute => "NOT_FOUND",
            RefusalKind::NoRun
            | RefusalKind::NotGranted
            | RefusalKind::ModelNotAllowed
            | RefusalKind::NoKey => "PERMISSION_DENIED",
            RefusalKind::Invalid | RefusalKind::BrokenOff | RefusalKind::TooLarge => "INVALID_ARGUMENT",
            RefusalKind::Slow => "DEADLINE_EXCEEDED",
            // Not `RESOURCE_EXHAUSTED`: agents take that for a quota that fills up again, and wait for it.
            RefusalKind::BudgetSpent | RefusalKind::NoPrice => "FAILED_PRECONDITION",
            RefusalKind::BudgetHeld => "RESOURCE_EXHAUSTED",
            RefusalKind::Overloaded | RefusalKind::Unreachable | RefusalKind::GivenUp => "UNAVAILABLE",
            RefusalKind::TimedOut => "DEADLINE_EXCEEDED",
        };
        match refusal.kind.reason() {
            None => (status, error_body(status, name, &refusal.message)),
            Some(reason) => {
                let (code, message) = (status.as_u16(), &refusal.message);
                let error = json!({ "code": code, "message": message, "reason": reason, "status": name });
                (status, json!({ "error": error }).to_string().into())
            }
        }
    }

    fn tally(&self) -> Box<dyn Tally> {
        Box::new(tally::ContentTally::default())
    }

    fn lookup(&self) -> &'static str {
        r#"{"models":[]}"#
    }

    fn take_tool_outputs(&self, request: &mut Value) -> Vec<ToolOutput> {
        let parts = elements(request, "contents").flat_map(|content| elements(content, "parts"));
        let results = parts.filter_map(|part| part.get_mut("functionResponse"));
        let take = |result: &mut Value| {
            let call = result.get("id").or_else(|| result.get("name")).cloned().unwrap_or_default();
            ToolOutput::take(&call, result, &["response"])
        };
        results.map(take).collect()
    }

    fn opening<'v>(&self, request: &'v Value) -> [&'v Value; 2] {
        [&request["systemInstruction"], &request["contents"][0]]
    }
}

/// The shape of every error of this API.
pub(crate) fn error_body(status: StatusCode, name: &str, message: &str) -> Bytes {
    json!({ "error": { "code": status.as_u16(), "message": message, "status": name } }).to_string().into()
}

/// The model and the verb of a path such as `/v1beta/models/gemini-2.5-pro:countTokens`.
pub(crate) fn model_and_verb(path: &str) -> Option<(&str, &str)> {
    let named = path.strip_prefix("/v1beta/models/").or_else(|| path.strip_prefix("/v1/models/"))?;
    let (model, verb) = named.split_once(':')?;
    let is_name = model.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    (is_name && model.starts_with(|first: char| first.is_ascii_alphanumeric())).then_some((model, verb))
}

#[cfg(test)]
mod tests;
