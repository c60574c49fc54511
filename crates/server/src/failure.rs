//! Errors of requests, and their problem documents.

use std::{error::Error, fmt, sync::Arc};

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use warren_domain::{ErrorCode, Rejection, Version};
use warren_gateway::{AuthenticateError, Denied, RequestError};
use warren_runtime::api::SessionError;
use warren_wire::{At, Problem};

/// After how long a client tries again what was refused for want of room.
const RETRY_SECONDS: u64 = 5;

/// A failure on its way out. Only the edge writes it, as a problem document, because only the edge knows the request.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) code: ErrorCode,
    detail: String,
    hint: Option<String>,
    /// Boxed: a failure is returned by nearly everything, and few have a place.
    at: Option<Box<At>>,
    current_version: Option<Version>,
    /// Seconds after which the same call may succeed.
    retry_after: Option<u64>,
    /// For the log, never for the client.
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

/// The part of a problem document about the request.
pub(crate) struct Told<'a> {
    pub(crate) request_id: &'a str,
    pub(crate) path: &'a str,
}

impl Failure {
    pub(crate) fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            hint: None,
            at: None,
            current_version: None,
            // What is not there now is there soon: a server starts, a queue moves on.
            retry_after: matches!(code, ErrorCode::Unavailable | ErrorCode::QueueFull)
                .then_some(RETRY_SECONDS),
            cause: None,
        }
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(ErrorCode::BadRequest, detail)
    }

    pub(crate) fn not_found(kind: &str, id: impl fmt::Display) -> Self {
        let hint = listed(kind).map(str::to_owned);
        Self { hint, ..Self::new(ErrorCode::NotFound, format!("there is no {kind} `{id}`")) }
    }

    /// A failure of ours: the client learns only that there was one.
    pub(crate) fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let detail = "something failed on our side; the log has it under the request id";
        Self { cause: Some(Arc::from(cause.into())), ..Self::new(ErrorCode::Internal, detail) }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says after how many seconds the same call may succeed.
    pub(crate) fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// The same under another code.
    pub(crate) fn told_as(mut self, code: ErrorCode) -> Self {
        self.code = code;
        self
    }

    pub(crate) fn at(mut self, at: At) -> Self {
        self.at = Some(Box::new(at));
        self
    }

    /// The problem document for a client.
    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    /// The problem document.
    pub(crate) fn tell(&self, told: &Told<'_>) -> Problem {
        Problem {
            kind: Problem::type_of(self.code),
            title: Problem::title_of(self.code),
            status: self.code.status(),
            detail: self.detail.clone(),
            code: self.code,
            hint: self.hint.clone(),
            at: self.at.as_deref().cloned(),
            current_version: self.current_version,
            request_id: told.request_id.to_owned(),
            instance: told.path.to_owned(),
        }
    }

    /// The cause and its causes, for the log.
    pub(crate) fn chain(&self) -> Option<String> {
        let mut link: Option<&(dyn Error + 'static)> = self.cause.as_deref().map(|cause| cause as _);
        let mut texts = Vec::new();
        while let Some(error) = link {
            texts.push(error.to_string());
            link = error.source();
        }
        (!texts.is_empty()).then(|| texts.join(": "))
    }
}

/// A bare answer that carries the failure to the edge.
impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = status(self.code);
        if self.code == ErrorCode::Unauthorized {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.code == ErrorCode::TooLarge {
            // The rest of the body is thrown away, and perhaps not all of it, so nothing else can come over this connection.
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// Where to look for what there is instead.
fn listed(kind: &str) -> Option<&'static str> {
    match kind {
        "session" => Some("`warren sessions list`, or `GET /api/sessions`, shows those that are there"),
        "version" => Some("`warren versions SESSION`, or `GET …/versions`, shows those that are there"),
        "run" => Some("`GET …/runs` shows those that are there"),
        _ => None,
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        if error.code() == ErrorCode::Internal {
            return Failure::internal(error);
        }
        let mut failure = Failure::new(error.code(), error.to_string());
        if let SessionError::Rejected(Rejection::VersionConflict { latest, .. }) = &error {
            failure.current_version = Some(*latest);
        }
        if let SessionError::NotFound { kind, .. } = &error {
            failure.hint = listed(kind).map(str::to_owned);
        }
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        if error.code() == ErrorCode::Internal {
            return Failure::internal(error);
        }
        let failure = Failure::new(error.code(), error.to_string());
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<AuthenticateError> for Failure {
    fn from(error: AuthenticateError) -> Self {
        match error {
            AuthenticateError::Backend(_) => Failure::internal(error),
            AuthenticateError::Unknown | AuthenticateError::Expired => {
                Failure::new(ErrorCode::Unauthorized, error.to_string())
            }
        }
    }
}

impl From<Denied> for Failure {
    fn from(denied: Denied) -> Self {
        let failure = Failure::new(denied.code(), denied.to_string());
        match denied.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

pub(crate) fn status(code: ErrorCode) -> StatusCode {
    StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

#[cfg(test)]
mod tests {
    use super::{Failure, Told, status};
    use warren_domain::ErrorCode;
    use warren_runtime::api::SessionError;

    const TOLD: Told<'static> = Told { request_id: "r", path: "/p" };

    #[test]
    fn what_failed_on_our_side_is_logged_and_not_told() {
        let source = std::io::Error::other("disk on fire at /secret/path");
        let error = SessionError::Internal { doing: "read the log", source: Box::new(source) };
        let failure = Failure::from(error);
        let told = serde_json::to_string(&failure.tell(&TOLD)).expect("JSON");
        assert!(!told.contains("disk") && !told.contains("log of"), "{told}");
        let logged = failure.chain().expect("a cause");
        assert_eq!(logged, "failed to read the log: disk on fire at /secret/path");
    }

    #[test]
    fn what_is_not_there_is_told_with_where_to_look_whoever_noticed() {
        for kind in ["session", "version", "run"] {
            let ours = Failure::not_found(kind, "x").tell(&TOLD);
            let theirs = Failure::from(SessionError::NotFound { kind, id: "x".to_owned() }).tell(&TOLD);
            assert_eq!(ours, theirs, "who may not see it must not learn that it is there");
            assert!(ours.hint.is_some_and(|hint| hint.contains("shows those that are there")), "{kind}");
        }
    }

    #[test]
    fn a_refusal_of_the_runtime_keeps_its_code_its_words_and_its_hint() {
        let failure = Failure::from(SessionError::Rejected(warren_domain::Rejection::Busy));
        let problem = failure.tell(&TOLD);
        assert_eq!((problem.status, problem.code), (409, ErrorCode::RunInProgress));
        assert_eq!(problem.detail, "a run is in progress");
        assert!(problem.hint.is_some());
    }

    #[test]
    fn every_code_is_a_status_of_http() {
        for code in ErrorCode::ALL {
            assert_eq!(status(*code).as_u16(), code.status());
        }
    }
}
