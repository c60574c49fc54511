//! The rows of `/api/build`.

use super::{CURSOR, FILE, LIMIT, MAX_UPLOAD, NOTHING, row};
use crate::{
    Access::{Read, Write},
    Answer, Media,
    Method::{Delete, Get, Post},
    Query, QueryKind, Route, RouteName as Name,
    Subject::{Session, Visible},
    routes::BodyForm,
};
use warren_domain::ErrorCode as Code;

const STATUSES: &[&str] = &["active", "idle"];

const fn json(status: u16, schema: &'static str) -> Answer {
    Answer { status, media: Media::Json, schema: Some(schema) }
}

const PATH: Query = Query {
    name: "path",
    kind: QueryKind::Text,
    summary: "In `/outputs`, if it does not begin with `/outputs`, `/user-input`, `/workspace`, `/knowledge` or `/instructions`",
};

const SESSION: &[Answer] = &[json(200, "BuildSession")];

pub(super) const CREATE: Route = row(
    Name::BuildSessionCreate,
    Post,
    "/api/build/sessions",
    "Creates a session; its sandbox starts in the background",
)
.needs(Write, Visible)
.may_take("BuildSessionCreate")
.gives(&[json(201, "BuildSession")])
.fails(&[Code::NotFound, Code::AgentUnknown, Code::Unavailable]);

pub(super) const LIST: Route =
    row(Name::BuildSessionList, Get, "/api/build/sessions", "Lists sessions, newest first")
        .needs(Read, Visible)
        .asks(&[
            Query { name: "q", kind: QueryKind::Text, summary: "Part of a name or an ID" },
            Query {
                name: "status",
                kind: QueryKind::OneOf(STATUSES),
                summary: "Only sessions in this state",
            },
            LIMIT,
            CURSOR,
        ])
        .gives(&[json(200, "BuildSessionList")]);

pub(super) const GET: Route = row(
    Name::BuildSessionGet,
    Get,
    "/api/build/sessions/{id}",
    "One session; wakes its sandbox, unless the token is read-only",
)
.needs(Read, Session)
.gives(SESSION)
.fails(&[Code::SandboxError, Code::IsolationMissing, Code::DataDamaged, Code::DiskLimit, Code::Unavailable]);

pub(super) const ERASE: Route = row(
    Name::BuildSessionErase,
    Delete,
    "/api/build/sessions/{id}",
    "Stops its sandbox and erases all its data",
)
.needs(Write, Session)
.gives(NOTHING);

pub(super) const SEND: Route = row(
    Name::BuildMessageSend,
    Post,
    "/api/build/sessions/{id}/messages",
    "Sends a message and streams the answer",
)
.needs(Write, Session)
.takes("BuildMessageSend")
.gives(&[Answer { status: 200, media: Media::EventStream, schema: Some("Packet") }])
.fails(&[
    Code::SessionEnded,
    Code::IdempotencyMismatch,
    Code::QueueFull,
    Code::MessageLimit,
    Code::StorageLimit,
    Code::Unavailable,
]);

pub(super) const HISTORY: Route =
    row(Name::BuildMessageList, Get, "/api/build/sessions/{id}/messages", "The whole conversation")
        .needs(Read, Session)
        .gives(&[json(200, "BuildMessageList")]);

pub(super) const ARTIFACTS: Route =
    row(Name::BuildArtifactList, Get, "/api/build/sessions/{id}/artifacts", "Lists its artifacts")
        .needs(Read, Session)
        .gives(&[json(200, "BuildArtifactList")]);

pub(super) const ARTIFACT: Route =
    row(Name::BuildArtifactGet, Get, "/api/build/sessions/{id}/artifacts/{artifactId}", "One artifact")
        .needs(Read, Session)
        .gives(&[json(200, "BuildArtifact")]);

pub(super) const CONTENT: Route = row(
    Name::BuildArtifactContent,
    Get,
    "/api/build/sessions/{id}/artifacts/{artifactId}/content",
    "Its content, or a range of it",
)
.needs(Read, Session)
.gives(FILE)
.fails(&[Code::RangeNotSatisfiable]);

pub(super) const UPLOAD: Route = row(
    Name::BuildFileUpload,
    Post,
    "/api/build/sessions/{id}/fs/upload",
    "Uploads new files into `/user-input`; wakes the sandbox",
)
.needs(Write, Session)
.takes_stream(BodyForm::Multipart, MAX_UPLOAD)
.gives(&[json(201, "BuildUploaded")])
.fails(&[Code::Conflict, Code::SandboxError, Code::DiskLimit]);

pub(super) const FILES: Route =
    row(Name::BuildFileList, Get, "/api/build/sessions/{id}/fs", "Lists a directory; `/outputs` if absent")
        .needs(Read, Session)
        .asks(&[PATH])
        .gives(&[json(200, "BuildFileListing")]);

pub(super) const READ: Route =
    row(Name::BuildFileRead, Get, "/api/build/sessions/{id}/fs/read", "A file, or a range of it")
        .needs(Read, Session)
        .asks(&[PATH])
        .gives(FILE)
        .fails(&[Code::RangeNotSatisfiable]);

pub(super) const LIMITS: Route =
    row(Name::BuildLimitGet, Get, "/api/build/limit", "The message limit of the token's owner")
        .needs(Read, Visible)
        .gives(&[json(200, "BuildLimit")]);
