//! The arguments of a handler.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use axum::http::{HeaderMap, Method};
use bytes::Bytes;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;
use warren_domain::{ApprovalId, ErrorCode, ProjectId, SessionId};
use warren_gateway::{Action, Identity, Secret, Target, Validity, authorize};
use warren_runtime::api::{ProjectPlace, Runtime};
use warren_wire::Media;

use crate::{
    body::{self, ByteStream},
    deps::App,
    failure::Failure,
    query::Query,
};

/// The path's parameters, by name.
pub(super) type Parameters = HashMap<String, String>;

/// A request that has been let in. Only the choke point can make one: nobody else sees the fields.
pub(crate) struct Call {
    pub(super) app: App,
    pub(super) caller: Option<Caller>,
    pub(super) subject: Found,
    pub(super) parameters: Parameters,
    pub(super) query: Query,
    pub(super) media: Media,
    pub(super) method: Method,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// The body of a route that takes it as it comes, until it is taken.
    pub(super) stream: Mutex<Option<ByteStream>>,
}

/// The object in the path that the caller may access.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Found {
    pub(super) session: Option<SessionId>,
    pub(super) approval: Option<ApprovalId>,
    pub(super) project: Option<ProjectId>,
}

/// The caller.
pub(crate) struct Caller {
    pub(crate) identity: Identity,
    pub(crate) credential: Credential,
    /// The caller's token. Kept only by operations that act later in the caller's name.
    pub(super) secret: Secret,
    /// Held by everything that must end with the token.
    pub(super) validity: Validity,
}

/// How the caller authenticated.
pub(crate) enum Credential {
    /// By a token in the header.
    Token,
    /// By this secret, in a browser's cookie.
    Cookie(String),
}

impl Call {
    pub(crate) fn app(&self) -> &App {
        &self.app
    }

    pub(crate) fn runtime(&self) -> &dyn Runtime {
        self.app.runtime()
    }

    /// Cancelled when the server stops.
    pub(crate) fn cancel(&self) -> CancellationToken {
        self.app.deps.tasks.token()
    }

    /// The caller. Every route that is not public has one.
    pub(crate) fn caller(&self) -> Result<&Caller, Failure> {
        self.caller.as_ref().ok_or_else(|| Failure::new(ErrorCode::Unauthorized, "a token is needed"))
    }

    pub(crate) fn identity(&self) -> Result<&Identity, Failure> {
        self.caller().map(|caller| &caller.identity)
    }

    /// The session that the path names and the caller may act on.
    pub(crate) fn session(&self) -> Result<SessionId, Failure> {
        self.subject.session.ok_or_else(|| Failure::new(ErrorCode::NotFound, "the path names no session"))
    }

    /// The approval that the path names and the caller may act on.
    pub(crate) fn approval(&self) -> Result<ApprovalId, Failure> {
        self.subject.approval.ok_or_else(|| Failure::new(ErrorCode::NotFound, "the path names no approval"))
    }

    /// The project that the path names and the caller may act on.
    pub(crate) fn project(&self) -> Result<ProjectPlace, Failure> {
        let project = self.subject.project;
        let project =
            project.ok_or_else(|| Failure::new(ErrorCode::NotFound, "the path names no project"))?;
        Ok(ProjectPlace { partition: self.identity()?.partition.clone(), project })
    }

    /// One of the path's parameters.
    pub(crate) fn parameter(&self, name: &str) -> &str {
        self.parameters.get(name).map(String::as_str).unwrap_or_default()
    }

    pub(crate) fn query(&self) -> &Query {
        &self.query
    }

    /// The form of answer that was agreed on.
    pub(crate) fn media(&self) -> Media {
        self.media
    }

    /// Whether this is a `HEAD` request, as link checkers send.
    pub(crate) fn is_head(&self) -> bool {
        self.method == Method::HEAD
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The body, as it comes. It comes once.
    pub(crate) fn take_stream(&self) -> Result<ByteStream, Failure> {
        let taken = self.stream.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.ok_or_else(|| Failure::bad_request("there is no body"))
    }

    /// Whether the caller has more permissions on the session than the route requires.
    pub(crate) async fn may(&self, action: Action) -> Result<bool, Failure> {
        let record = self.runtime().sessions().session_get(self.session()?).await?.record;
        let target = Target::Project { partition: &record.partition, project: record.project_id };
        Ok(authorize(self.identity()?, action, target).is_ok())
    }

    /// The caller's token, for operations that act later in its name.
    pub(crate) fn secret(&self) -> Result<Secret, Failure> {
        self.caller().map(|caller| caller.secret.clone())
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The body, which must be JSON.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        body::parse(&self.headers, &self.body)
    }

    /// The body, which may be absent.
    pub(crate) fn json_or_default<T: DeserializeOwned + Default>(&self) -> Result<T, Failure> {
        // Many clients name the type of a body that they do not send.
        if self.body.is_empty() {
            return Ok(T::default());
        }
        self.json()
    }
}
