//! Anthropic's Messages API as the gateway passes it on: routes, headers and the shape of errors.

mod headers;
mod inspect;
mod meter;

use bytes::Bytes;
use hyper::{Method, StatusCode, Uri};
use serde_json::json;

pub(crate) use headers::{answer_headers, request_headers};
pub(crate) use inspect::inspect;
pub(crate) use meter::Meter;

use crate::{
    format::Route,
    refusal::{Refusal, RefusalKind},
};

pub(crate) const MESSAGES: &str = "/v1/messages";
pub(crate) const COUNT_TOKENS: &str = "/v1/messages/count_tokens";

/// Only these two, by these exact names. Any query is tolerated; only the one that SDKs send goes on.
pub(crate) fn route(method: &Method, uri: &Uri) -> Option<Route> {
    let path = [MESSAGES, COUNT_TOKENS].into_iter().find(|path| *path == uri.path())?;
    let beta = uri.query().is_some_and(|query| query.split('&').any(|pair| pair == "beta=true"));
    (method == Method::POST).then(|| Route { path: path.to_owned(), query: beta.then_some("beta=true") })
}

pub(crate) fn refusal(refusal: &Refusal) -> (StatusCode, Bytes) {
    let (status, kind) = match refusal.kind {
        RefusalKind::NoSuchRoute => (StatusCode::NOT_FOUND, "not_found_error"),
        RefusalKind::NoRun => (StatusCode::FORBIDDEN, "permission_error"),
        RefusalKind::NotGranted => (StatusCode::BAD_REQUEST, "permission_error"),
        RefusalKind::Invalid | RefusalKind::BrokenOff => (StatusCode::BAD_REQUEST, "invalid_request_error"),
        RefusalKind::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "request_too_large"),
        RefusalKind::Slow => (StatusCode::REQUEST_TIMEOUT, "timeout_error"),
        // 529 is what Anthropic says when it has too much to do; agents wait and try again.
        RefusalKind::Overloaded => {
            (StatusCode::from_u16(529).unwrap_or(StatusCode::SERVICE_UNAVAILABLE), "overloaded_error")
        }
        RefusalKind::Unreachable => (StatusCode::BAD_GATEWAY, "api_error"),
        RefusalKind::TimedOut => (StatusCode::GATEWAY_TIMEOUT, "timeout_error"),
    };
    (status, error_body(kind, &refusal.message))
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
        format::Route,
        refusal::{Refusal, RefusalKind},
    };

    fn routed(method: Method, uri: &'static str) -> Option<Route> {
        route(&method, &Uri::from_static(uri))
    }

    #[test]
    fn only_exact_methods_and_paths_are_routes() {
        let messages = Route { path: "/v1/messages".to_owned(), query: None };
        let counting = Route { path: "/v1/messages/count_tokens".to_owned(), query: None };
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
