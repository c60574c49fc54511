//! What the proxy says when it does not pass a request on.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Response, StatusCode,
    header::{CONNECTION, CONTENT_TYPE, HeaderValue},
};
use serde::Serialize;

use super::{
    Body,
    host::{Target, TargetError},
};

/// An answer that is the proxy's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The request names no target.
    Unreadable(TargetError),
    /// The target may not be reached.
    Forbidden { target: Target, why: String },
    /// The target cannot be reached.
    Unreachable { target: Target, problem: &'static str },
    /// The sandbox has as many connections as it may.
    Busy,
}

/// The body, in the form of all errors of this server.
#[derive(Serialize)]
struct Problem<'a> {
    title: &'static str,
    status: u16,
    code: &'static str,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

impl From<TargetError> for Refusal {
    fn from(error: TargetError) -> Self {
        Refusal::Unreadable(error)
    }
}

impl Refusal {
    pub(super) fn forbidden(target: &Target, why: String) -> Self {
        Refusal::Forbidden { target: target.clone(), why }
    }

    pub(super) fn into_response(self) -> Response<Body> {
        let hint = self.hint();
        let problem = self.problem(hint.as_deref());
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_GATEWAY);
        // A struct of texts and numbers is always JSON.
        let mut text = serde_json::to_vec(&problem).unwrap_or_default();
        text.push(b'\n');
        let body = Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed_unsync();
        let mut response = Response::new(body);
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        // Whatever else is on the connection was meant for somebody else, or there is no room for it.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        response
    }

    fn hint(&self) -> Option<String> {
        let Refusal::Forbidden { target: Target { host, port }, why } = self else { return None };
        Some(match why.as_str() {
            "no rule allows it" if [80, 443].contains(port) => {
                format!("add `{host}` to `egress.allow` in warren.toml, or to `egressAllow` of the profile")
            }
            "no rule allows it" => {
                format!(
                    "add `{host}:{port}` to `egress.allow` in warren.toml, or to `egressAllow` of the profile"
                )
            }
            "no run is active" => "try again while a run is active".to_owned(),
            "this server listens there" => "use the tools that the session offers instead".to_owned(),
            _ => format!("the operator can add `{host}:{port}` to `egress.allow_private` in warren.toml"),
        })
    }

    fn problem<'a>(&self, hint: Option<&'a str>) -> Problem<'a> {
        let problem = |status, code, title, detail| Problem {
            title,
            status,
            code,
            detail,
            host: self.target().map(|target| target.host.to_string()),
            port: self.target().map(|target| target.port),
            hint,
        };
        match self {
            Refusal::Unreadable(error) => {
                problem(400, "EGRESS_INVALID", "the request cannot be read", error.to_string())
            }
            Refusal::Forbidden { target, why } => {
                let detail = format!("`{target}` may not be reached from this sandbox: {why}");
                problem(403, "EGRESS_DENIED", "the host may not be reached", detail)
            }
            Refusal::Unreachable { target, problem: reason } => {
                let detail = format!("`{target}` cannot be reached: {reason}");
                problem(502, "EGRESS_UNREACHABLE", "the host cannot be reached", detail)
            }
            Refusal::Busy => {
                let detail = "this sandbox has reached its limit of open connections".to_owned();
                problem(503, "EGRESS_BUSY", "too many connections", detail)
            }
        }
    }

    fn target(&self) -> Option<&Target> {
        match self {
            Refusal::Forbidden { target, .. } | Refusal::Unreachable { target, .. } => Some(target),
            Refusal::Unreadable(_) | Refusal::Busy => None,
        }
    }
}
