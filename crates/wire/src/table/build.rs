//! The rows of `/api/build`.

use super::{CURSOR, LIMIT, NOTHING, row};
use crate::{
    Access::{Read, Write},
    Answer, Media,
    Method::{Delete, Get, Post},
    Query, QueryKind, Route, RouteName as Name,
    Subject::{Session, Visible},
};
use warren_domain::ErrorCode as Code;

const STATUSES: &[&str] = &["active", "idle"];

const fn json(status: u16, schema: &'static str) -> Answer {
    Answer { status, media: Media::Json, schema: Some(schema) }
}

const SESSION: &[Answer] = &[json(200, "BuildSession")];

pub(super) const CREATE: Route = row(
    Name::BuildSessionCreate,
    Post,
    "/api/build/sessions",
    "Makes a session; its sandbox starts meanwhile",
)
.needs(Write, Visible)
.may_take("BuildSessionCreate")
.gives(&[json(201, "BuildSession")])
.fails(&[Code::NotFound, Code::AgentUnknown, Code::Unavailable]);

pub(super) const LIST: Route =
    row(Name::BuildSessionList, Get, "/api/build/sessions", "Lists sessions, newest first")
        .needs(Read, Visible)
        .asks(&[
            Query { name: "q", kind: QueryKind::Text, summary: "Part of a name or an id" },
            Query {
                name: "status",
                kind: QueryKind::OneOf(STATUSES),
                summary: "Only sessions that are so now",
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
.gives(SESSION);

pub(super) const ERASE: Route = row(
    Name::BuildSessionErase,
    Delete,
    "/api/build/sessions/{id}",
    "Ends its sandbox and erases all its data",
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
    Code::Unavailable,
]);

pub(super) const HISTORY: Route =
    row(Name::BuildMessageList, Get, "/api/build/sessions/{id}/messages", "The whole conversation")
        .needs(Read, Session)
        .gives(&[json(200, "BuildMessageList")]);

pub(super) const ARTIFACTS: Route = row(
    Name::BuildArtifactList,
    Get,
    "/api/build/sessions/{id}/artifacts",
    "What it made that is worth showing",
)
.needs(Read, Session)
.gives(&[json(200, "BuildArtifactList")]);

pub(super) const ARTIFACT: Route =
    row(Name::BuildArtifactGet, Get, "/api/build/sessions/{id}/artifacts/{artifactId}", "One artifact")
        .needs(Read, Session)
        .gives(&[json(200, "BuildArtifact")]);

pub(super) const LIMITS: Route =
    row(Name::BuildLimitGet, Get, "/api/build/limit", "How many messages the token's owner may still send")
        .needs(Read, Visible)
        .gives(&[json(200, "BuildLimit")]);
