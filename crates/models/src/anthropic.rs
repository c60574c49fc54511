//! Anthropic's Messages API as the gateway passes it on: routes, headers and the shape of errors.

mod headers;
mod inspect;
mod tally;

use bytes::Bytes;
use hyper::{HeaderMap, Method, StatusCode, Uri};
use serde_json::{Value, json};

use crate::{
    Secret,
    format::{Inspected, Route, RouteKind, ToolOutput, Wire, elements},
    meter::Tally,
    refusal::{Refusal, RefusalKind},
};

/// The format.
pub(crate) struct Messages;

pub(crate) const MESSAGES: &str = "/v1/messages";
pub(crate) const COUNT_TOKENS: &str = "/v1/messages/count_tokens";

/// Only these two, by these exact names. Any query is tolerated; only the one that SDKs send goes on.
pub(crate) fn route(method: &Method, uri: &Uri) -> Option<Route> {
    let kind = match uri.path() {
        MESSAGES => RouteKind::Generate,
        COUNT_TOKENS => RouteKind::Count,
        _ => return None,
    };
    let beta = uri.query().is_some_and(|query| query.split('&').any(|pair| pair == "beta=true"));
    let query = beta.then_some("beta=true");
    (method == Method::POST).then(|| Route { path: uri.path().to_owned(), query, kind })
}

impl Wire for Messages {
    fn route(&self, method: &Method, uri: &Uri) -> Option<Route> {
        route(method, uri)
    }

    fn inspect(&self, _: &Route, body: &[u8]) -> Result<Inspected, Refusal> {
        inspect::inspect(body)
    }

    fn request_headers(&self, sandbox: &HeaderMap, key: Option<&Secret>) -> HeaderMap {
        headers::request_headers(sandbox, key)
    }

    fn answer_headers(&self, provider: &HeaderMap) -> HeaderMap {
        headers::answer_headers(provider)
    }

    fn refusal(&self, refused: &Refusal) -> (StatusCode, Bytes) {
        refusal(refused)
    }

    fn tally(&self) -> Box<dyn Tally> {
        Box::new(tally::MessageTally::default())
    }

    fn take_tool_outputs(&self, request: &mut Value) -> Vec<ToolOutput> {
        let blocks = elements(request, "messages").flat_map(|message| elements(message, "content"));
        let results =
            blocks.filter(|block| block["type"].as_str().is_some_and(|kind| kind.ends_with("tool_result")));
        let take = |block: &mut Value| {
            let call = block["tool_use_id"].clone();
            ToolOutput::take(&call, block, &["content", "is_error"])
        };
        results.map(take).collect()
    }

    fn opening<'v>(&self, request: &'v Value) -> [&'v Value; 2] {
        [&request["system"], &request["messages"][0]]
    }
}

fn refusal(refusal: &Refusal) -> (StatusCode, Bytes) {
    let status = match refusal.kind {
        // 529 is what Anthropic says when it has too much to do; agents wait and try again.
        RefusalKind::Overloaded => StatusCode::from_u16(529).unwrap_or(StatusCode::SERVICE_UNAVAILABLE),
        kind => kind.status(),
    };
    let kind = match refusal.kind {
        RefusalKind::NoSuchRoute => "not_found_error",
        RefusalKind::NoRun | RefusalKind::NotGranted | RefusalKind::ModelNotAllowed | RefusalKind::NoKey => {
            "permission_error"
        }
        RefusalKind::Invalid | RefusalKind::BrokenOff => "invalid_request_error",
        RefusalKind::TooLarge => "request_too_large",
        RefusalKind::Slow | RefusalKind::TimedOut => "timeout_error",
        RefusalKind::BudgetSpent | RefusalKind::NoPrice => "billing_error",
        RefusalKind::BudgetHeld => "rate_limit_error",
        RefusalKind::Overloaded => "overloaded_error",
        RefusalKind::Unreachable | RefusalKind::GivenUp => "api_error",
    };
    match refusal.kind.reason() {
        None => (status, error_body(kind, &refusal.message)),
        Some(reason) => {
            let error = json!({ "message": refusal.message, "reason": reason, "type": kind });
            (status, json!({ "error": error, "type": "error" }).to_string().into())
        }
    }
}

/// The shape of every error of this API.
pub(crate) fn error_body(kind: &str, message: &str) -> Bytes {
    // Names in alphabetical order, so that the bytes do not depend on how JSON maps are built.
    json!({ "error": { "message": message, "type": kind }, "type": "error" }).to_string().into()
}

#[cfg(test)]
mod tests {
    use hyper::{Method, Uri};

    use super::{refusal, route};
    use crate::{
        format::{Route, RouteKind},
        refusal::{Refusal, RefusalKind},
    };

    fn routed(method: Method, uri: &'static str) -> Option<Route> {
        route(&method, &Uri::from_static(uri))
    }

    #[test]
    fn only_exact_methods_and_paths_are_routes() {
        let messages = Route { path: "/v1/messages".to_owned(), query: None, kind: RouteKind::Generate };
        let counting =
            Route { path: "/v1/messages/count_tokens".to_owned(), query: None, kind: RouteKind::Count };
        let beta = Route { query: Some("beta=true"), ..messages.clone() };
        assert_eq!(routed(Method::POST, "/v1/messages"), Some(messages.clone()));
        assert_eq!(routed(Method::POST, "/v1/messages?beta=true"), Some(beta.clone()));
        assert_eq!(routed(Method::POST, "/v1/messages?x=1&beta=true&y=2"), Some(beta));
        assert_eq!(routed(Method::POST, "/v1/messages?to=/v1/files"), Some(messages));
        assert_eq!(routed(Method::POST, "/v1/messages/count_tokens"), Some(counting));
        for uri in [
            "/",
            "/v1/messages/",
            "//v1/messages",
            "/v1/Messages",
            "/v1/messages/batches",
            "/v1/x/../messages",
            "/v1/%6Dessages",
            "/v1/files",
            "/v1/models",
        ] {
            assert_eq!(routed(Method::POST, uri), None, "{uri}");
        }
        assert_eq!(routed(Method::GET, "/v1/messages"), None);
        assert_eq!(routed(Method::HEAD, "/v1/messages"), None);
    }

    #[test]
    fn a_refusal_has_the_shape_of_the_providers_errors() {
        let (status, body) = refusal(&Refusal::new(RefusalKind::NoRun, "no run is active"));
        assert_eq!(status, 403);
        assert_eq!(
            body,
            r#"{"error":{"message":"no run is active","type":"permission_error"},"type":"error"}"#
        );
        assert_eq!(refusal(&Refusal::new(RefusalKind::Overloaded, "")).0, 529);
    }
}
