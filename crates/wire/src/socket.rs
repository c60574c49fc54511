//! Socket.IO: what a client may send, and which message each entry of a log becomes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use warren_domain::{
    Block, BlockId, Event, EventBody, FileChange, Seq, SessionId, SessionRuntimeState, SystemSubtype,
};

/// Where Socket.IO is served.
pub const SOCKET_PATH: &str = "/socket.io";

/// One message to a client.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SocketMessage {
    /// The event's name on the socket.
    pub name: &'static str,
    /// Its one argument.
    pub payload: Value,
}

/// What a client says when it connects. One of the two is needed unless the handshake carried a token.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct SocketAuth {
    /// A token.
    pub token: Option<String>,
    /// For a page that is signed in by cookie: the value of the cookie `warren_csrf`.
    pub csrf: Option<String>,
}

/// `session:join` and `session:leave`: an object, or the bare id that older clients send.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum SocketSession {
    /// From a number on.
    Object {
        /// Which session.
        #[serde(rename = "sessionId")]
        session_id: SessionId,
        /// The last number already seen; what comes from now on if absent.
        #[serde(default)]
        after: Option<Seq>,
    },
    /// From now on.
    Id(SessionId),
}

impl SocketSession {
    /// Which session.
    #[must_use]
    pub fn session_id(&self) -> SessionId {
        match self {
            SocketSession::Object { session_id, .. } | SocketSession::Id(session_id) => *session_id,
        }
    }

    /// The last number already seen.
    #[must_use]
    pub fn after(&self) -> Option<Seq> {
        match self {
            SocketSession::Object { after, .. } => *after,
            SocketSession::Id(_) => None,
        }
    }
}

/// The messages an entry of a log becomes, in order: none, one or two. Every payload carries `seq`, `timestamp`,
/// `sessionId`, `conversationId` and, within a run, `runId`.
#[must_use]
pub fn socket_messages(event: &Event) -> Vec<SocketMessage> {
    let named = match &event.body {
        EventBody::ContextCompacted { summary, .. } => vec![compacted(event, summary.as_deref())],
        body => named(body),
    };
    named.into_iter().map(|(name, fields)| SocketMessage { name, payload: payload(event, fields) }).collect()
}

/// `session:status` of a session whose state changed without an entry in its log; it has no number.
#[must_use]
pub fn socket_status(session: SessionId, runtime: &SessionRuntimeState) -> SocketMessage {
    SocketMessage {
        name: "session:status",
        payload: json!({ "seq": null, "sessionId": session, "runtime": runtime }),
    }
}

type Named = (&'static str, Value);

fn named(body: &EventBody) -> Vec<Named> {
    match body {
        EventBody::SessionCreated { .. }
        | EventBody::SessionUpdated { .. }
        | EventBody::SessionStatus { .. }
        | EventBody::SessionEnded { .. } => of_session(body),
        EventBody::Retrying { attempt, reason, next_at } => vec![(
            "session:block:update",
            json!({
                "blockId": null,
                "updates": { "retrying": { "attempt": attempt, "reason": reason, "nextAt": next_at } },
            }),
        )],
        // The first two belong to no conversation, the last to nobody; the third was dealt with before.
        EventBody::EgressDecided { .. }
        | EventBody::ModelCallStarted(_)
        | EventBody::ContextCompacted { .. }
        | EventBody::Unrecognized { .. } => Vec::new(),
        EventBody::RunQueued { .. }
        | EventBody::RunStarted { .. }
        | EventBody::RunCompleted { .. }
        | EventBody::RunFailed { .. }
        | EventBody::RunInterrupted { .. } => of_run(body),
        EventBody::BlockStart { .. }
        | EventBody::TextDelta { .. }
        | EventBody::BlockUpdate { .. }
        | EventBody::BlockComplete { .. }
        | EventBody::BlockDiscarded { .. } => of_block(body),
        EventBody::MetadataUpdate { usage, cost_usd, model, context_tokens } => vec![(
            "session:metadata:update",
            json!({ "metadata": {
                "usage": usage, "costUSD": cost_usd, "model": model, "contextTokens": context_tokens,
            }}),
        )],
        EventBody::ModelCalled(called) => {
            vec![("session:metadata:update", json!({ "metadata": { "modelCall": called } }))]
        }
        EventBody::ApprovalRequested(request) => {
            vec![("session:approval:requested", json!({ "approval": request }))]
        }
        EventBody::ApprovalRuleWithdrawn { approval_id, by } => {
            vec![("session:approval:rule-withdrawn", json!({ "approvalId": approval_id, "by": by }))]
        }
        EventBody::ApprovalResolved(resolution) => {
            vec![("session:approval:resolved", json!({ "resolution": resolution }))]
        }
        EventBody::LimitReached { .. } => vec![("session:limit:reached", json!(body))],
        EventBody::VersionCommitted { .. } => vec![("session:version:committed", json!(body))],
        EventBody::LogCompacted { .. } => vec![("session:log:compacted", json!(body))],
        EventBody::SubagentStarted(_) | EventBody::SubagentCompleted { .. } => of_subagent(body),
        EventBody::ArtifactCreated { .. }
        | EventBody::ArtifactUpdated { .. }
        | EventBody::ArtifactDeleted { .. }
        | EventBody::PortOpened { .. }
        | EventBody::PortClosed { .. } => of_artifact(body),
        EventBody::FileChanged { path, change, size_bytes, hash } => vec![(
            of_file(*change),
            json!({ "path": path, "file": { "path": path, "sizeBytes": size_bytes, "hash": hash } }),
        )],
    }
}

fn of_session(body: &EventBody) -> Vec<Named> {
    match body {
        EventBody::SessionCreated { agent_type, profile, name, forked_from, options } => vec![(
            "session:created",
            json!({
                "type": agent_type, "agentProfileReference": profile, "name": name, "forkedFrom": forked_from,
                "options": options,
            }),
        )],
        EventBody::SessionUpdated { changes } => {
            vec![("session:options:update", json!({ "changes": changes, "options": changes.options }))]
        }
        EventBody::SessionStatus { runtime } => vec![("session:status", json!({ "runtime": runtime }))],
        EventBody::SessionEnded { reason } => vec![(
            "session:status",
            json!({ "runtime": { "isLoaded": true, "sandbox": null }, "ended": true, "reason": reason }),
        )],
        _ => Vec::new(),
    }
}

/// A system block that stands for what happened to the agent's memory.
fn compacted(event: &Event, summary: Option<&str>) -> Named {
    let block = Block::System {
        id: BlockId(format!("compacted-{}", event.seq)),
        timestamp: event.timestamp,
        subtype: SystemSubtype::Status,
        message: summary.unwrap_or("The agent shortened what it remembers").to_owned(),
        metadata: match json!(event.body) {
            Value::Object(fields) => Some(fields),
            _ => None,
        },
    };
    ("session:block:complete", json!({ "blockId": block.id(), "block": block }))
}

fn of_run(body: &EventBody) -> Vec<Named> {
    let fields = json!(body);
    match body {
        EventBody::RunQueued { .. } => vec![("session:run:queued", fields)],
        EventBody::RunStarted { .. } => vec![("session:run:started", fields)],
        EventBody::RunCompleted { .. } => vec![("session:run:completed", fields)],
        EventBody::RunInterrupted { .. } => vec![("session:run:interrupted", fields)],
        EventBody::RunFailed { code, message, recoverable, .. } => vec![
            ("session:run:failed", fields),
            ("error", json!({ "message": message, "code": code, "recoverable": recoverable })),
        ],
        _ => Vec::new(),
    }
}

fn of_block(body: &EventBody) -> Vec<Named> {
    match body {
        EventBody::BlockStart { block } => vec![("session:block:start", json!({ "block": block }))],
        EventBody::TextDelta { block_id, delta } => {
            vec![("session:block:delta", json!({ "blockId": block_id, "delta": delta }))]
        }
        EventBody::BlockUpdate { block_id, updates } => {
            vec![("session:block:update", json!({ "blockId": block_id, "updates": updates }))]
        }
        EventBody::BlockComplete { block } => {
            vec![("session:block:complete", json!({ "blockId": block.id(), "block": block }))]
        }
        EventBody::BlockDiscarded { block_id, reason } => vec![(
            "session:block:update",
            json!({ "blockId": block_id, "updates": {}, "discarded": true, "reason": reason }),
        )],
        _ => Vec::new(),
    }
}

fn of_subagent(body: &EventBody) -> Vec<Named> {
    match body {
        EventBody::SubagentStarted(started) => {
            vec![(
                "session:subagent:discovered",
                json!({ "subagentId": started.subagent_id, "subagent": started }),
            )]
        }
        EventBody::SubagentCompleted { subagent_id, status, output, usage } => vec![(
            "session:subagent:completed",
            json!({ "subagentId": subagent_id, "status": status, "output": output, "usage": usage }),
        )],
        _ => Vec::new(),
    }
}

fn of_artifact(body: &EventBody) -> Vec<Named> {
    match body {
        EventBody::ArtifactCreated { artifact } => {
            vec![("session:artifact:created", json!({ "artifact": artifact }))]
        }
        EventBody::ArtifactUpdated { artifact, changes } => {
            vec![("session:artifact:updated", json!({ "artifact": artifact, "changes": changes }))]
        }
        EventBody::ArtifactDeleted { artifact } => {
            vec![("session:artifact:deleted", json!({ "artifact": artifact }))]
        }
        EventBody::PortOpened { .. } => vec![("session:port:opened", json!(body))],
        EventBody::PortClosed { .. } => vec![("session:port:closed", json!(body))],
        _ => Vec::new(),
    }
}

fn of_file(change: FileChange) -> &'static str {
    match change {
        FileChange::Created => "session:file:created",
        FileChange::Modified => "session:file:modified",
        FileChange::Deleted => "session:file:deleted",
    }
}

/// The message's own fields with those of the envelope, which go first.
fn payload(event: &Event, fields: Value) -> Value {
    let mut whole = Map::new();
    if let Value::Object(fields) = fields {
        // What is absent in the log is absent here; `type` is the message's name already, unless it is the agent's.
        let kept = fields.into_iter().filter(|(name, value)| !value.is_null() || name == "blockId");
        whole.extend(kept);
    }
    if !matches!(event.body, EventBody::SessionCreated { .. }) {
        whole.remove("type");
    }
    whole.insert("seq".to_owned(), json!(event.seq));
    whole.insert("sessionId".to_owned(), json!(event.session_id));
    whole.insert("conversationId".to_owned(), json!(event.conversation_id));
    whole.insert("timestamp".to_owned(), json!(event.timestamp));
    if !event.spilled.is_empty() {
        whole.insert("spilled".to_owned(), json!(event.spilled));
    }
    if let Some(run) = event.run_id {
        whole.insert("runId".to_owned(), json!(run));
    }
    Value::Object(whole)
}
