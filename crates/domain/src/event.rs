//! Entries of a session's log.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    AgentType, ApprovalId, ApprovalRequest, ApprovalResolution, Artifact, ArtifactChange, BlobHash, Block,
    BlockId, BlockStatus, Content, ConversationId, ErrorCode, FileCounts, ModelCallId, ProfileId, RunId, Seq,
    SessionId, SessionRuntimeState, Spilled, Timestamp, Usage, Version, VersionCause,
};

/// One numbered entry of a session's log. Never changed once written; new fields are only added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Its position in the log: contiguous from 1.
    pub seq: Seq,
    /// The session of the log.
    pub session_id: SessionId,
    /// The run it belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The thread it belongs to.
    #[serde(default)]
    pub conversation_id: ConversationId,
    /// When it was recorded.
    pub timestamp: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub body: EventBody,
    /// Long fields that are stored as blobs; the event contains their beginning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spilled: Vec<Spilled>,
}

/// An event before it has a number and a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    /// The run it belongs to, if any. Agents leave it out: the runtime knows which run it feeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The thread it belongs to.
    #[serde(default)]
    pub conversation_id: ConversationId,
    /// What happened.
    #[serde(flatten)]
    pub body: EventBody,
}

/// The origin of a fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ForkedFrom {
    /// The session that was forked.
    pub session_id: SessionId,
    /// At which version.
    pub version: Version,
}

/// Changes of a session's own data.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SessionChanges {
    /// Its new name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its complete new metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// Its complete new options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Value>,
    /// Whether queued messages are held, as they are after a person stopped a run. The next run releases them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_held: Option<bool>,
}

/// How a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum FileChange {
    /// It is new.
    Created,
    /// Its content or mode is new.
    Modified,
    /// It is gone.
    Deleted,
}

/// Diagnostics of a failed run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Diagnostics {
    /// The agent's exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// It was killed because of its memory limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub out_of_memory: bool,
    /// The end of its error output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
    /// The last lines of its output, as a blob.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_lines: Option<BlobHash>,
}

/// One call to a model, recorded before the request is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ModelCallStarted {
    /// The call. `model_called` repeats it.
    pub call_id: ModelCallId,
    /// The model that the request names.
    pub model: String,
    /// BLAKE3 of the request's body.
    pub request_hash: BlobHash,
    /// 1, or more when the same request failed before.
    pub attempt: u32,
    /// The maximum number of tokens of the call. It is charged this much if its end is never recorded.
    pub max_tokens: u64,
    /// The cost of these tokens.
    #[serde(rename = "maxCostUSD")]
    pub max_cost_usd: f64,
}

/// One call to a model, after it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ModelCalled {
    /// The call, as in `model_call_started`. Absent if the call was refused before, and in older logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<ModelCallId>,
    /// The model that answered.
    pub model: String,
    /// BLAKE3 of the request's body.
    pub request_hash: BlobHash,
    /// HTTP status of the response. 0 if the server stopped during the call, so that its outcome is unknown.
    pub status: u16,
    /// From the request to the last byte of the response.
    pub ms: u64,
    /// 1, or more for a retry by the gateway.
    pub attempt: u32,
    /// The usage that the response reports, and an estimate of what it does not report (`estimatedTokens`).
    pub usage: Usage,
    /// Its price.
    #[serde(rename = "costUSD")]
    pub cost_usd: f64,
    /// The whole exchange, as a blob.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<BlobHash>,
    /// The size of the recording in bytes. Absent in logs of the first versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording_bytes: Option<u64>,
}

/// A subagent's thread opens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SubagentStarted {
    /// The agent's own ID for it.
    pub subagent_id: String,
    /// The kind of subagent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The task it was given.
    pub input: Value,
    /// The tool call that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<String>,
    /// The thread that called it.
    pub parent: ConversationId,
}

/// What happened. The names are part of the protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields are those of the types they carry, and of the protocol's table")]
pub enum EventBody {
    /// The session exists.
    SessionCreated {
        agent_type: AgentType,
        profile: ProfileId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        forked_from: Option<ForkedFrom>,
        /// The options of its runs until an update changes them. Absent in logs of the first versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        options: Option<Value>,
    },
    /// Its name, metadata or options changed.
    SessionUpdated { changes: SessionChanges },
    /// History of its sandbox.
    SessionStatus { runtime: SessionRuntimeState },
    /// It accepts no more messages.
    SessionEnded { reason: String },
    /// A message was queued. A second event for the same run replaces the message.
    RunQueued { content: Content, position: u32 },
    /// A run started.
    RunStarted {
        input: Content,
        base_version: Version,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grant: Option<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        toggles: Option<Value>,
    },
    /// A block begins.
    BlockStart { block: Block },
    /// A block grows.
    TextDelta { block_id: BlockId, delta: String },
    /// Some fields of a block changed.
    BlockUpdate { block_id: BlockId, updates: Map<String, Value> },
    /// A block is complete; it may not have started before.
    BlockComplete { block: Block },
    /// A started block was discarded.
    BlockDiscarded { block_id: BlockId, reason: String },
    /// The usage so far.
    MetadataUpdate {
        usage: Usage,
        #[serde(rename = "costUSD")]
        cost_usd: f64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_tokens: Option<u64>,
    },
    /// A request is about to be sent to a model.
    ModelCallStarted(ModelCallStarted),
    /// A model answered.
    ModelCalled(ModelCalled),
    /// A model call failed and is retried.
    Retrying {
        attempt: u32,
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next_at: Option<Timestamp>,
    },
    /// A person is asked.
    ApprovalRequested(ApprovalRequest),
    /// A request was answered, or expired.
    ApprovalResolved(ApprovalResolution),
    /// A granted rule was withdrawn.
    ApprovalRuleWithdrawn { approval_id: ApprovalId, by: String },
    /// A program in the sandbox tried to reach a host.
    EgressDecided { host: String, port: u16, allowed: bool, rule: String },
    /// A limit was reached. Reported once for each run.
    LimitReached {
        /// The configuration key of the limit.
        limit: String,
        /// Its scope: `run`, `session` or `project`.
        scope: String,
        used: u64,
        allowed: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resets_at: Option<Timestamp>,
    },
    /// The agent compacted its context.
    ContextCompacted {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<u64>,
    },
    /// A subagent's thread opens; the envelope's conversation is that thread.
    SubagentStarted(SubagentStarted),
    /// A subagent's thread closes.
    SubagentCompleted {
        subagent_id: String,
        status: BlockStatus,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// A file of the workspace changed, or a person changed one of another volume. Never contains the content.
    FileChanged {
        path: String,
        change: FileChange,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size_bytes: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hash: Option<BlobHash>,
    },
    /// A new artifact.
    ArtifactCreated { artifact: Artifact },
    /// An artifact changed.
    ArtifactUpdated { artifact: Artifact, changes: Vec<ArtifactChange> },
    /// It is gone.
    ArtifactDeleted { artifact: Artifact },
    /// A program in the sandbox listens on a port.
    PortOpened {
        port: u16,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        preview_url: Option<String>,
    },
    /// The port was closed.
    PortClosed { port: u16 },
    /// The run completed.
    RunCompleted {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<Version>,
        usage: Usage,
        #[serde(rename = "costUSD")]
        cost_usd: f64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
    },
    /// The run failed.
    RunFailed {
        code: ErrorCode,
        message: String,
        recoverable: bool,
        usage: Usage,
        #[serde(rename = "costUSD")]
        cost_usd: f64,
        #[serde(default)]
        diagnostics: Diagnostics,
    },
    /// The run was interrupted.
    RunInterrupted {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<Version>,
        usage: Usage,
        #[serde(rename = "costUSD")]
        cost_usd: f64,
        by: String,
        #[serde(default)]
        diagnostics: Diagnostics,
    },
    /// A version of conversation and files was committed.
    VersionCommitted {
        version: Version,
        base: Version,
        cause: VersionCause,
        files: FileCounts,
        blocks: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        restored: Option<Version>,
    },
    /// Replaces entries that were compacted, from the first to this one. `hash` is the BLAKE3 of their bytes.
    LogCompacted { from: Seq, to: Seq, hash: BlobHash },
    /// An unknown line of the agent, unchanged.
    Unrecognized { agent: AgentType, raw: String },
}

/// The status of a call that ended unseen.
const ENDED_UNSEEN: u16 = 0;

impl ModelCallStarted {
    /// The end of this call if nobody saw it: it counts as the most that it can have used.
    #[must_use]
    pub fn ended_unseen(self) -> ModelCalled {
        let mut usage = Usage { model: Some(self.model.clone()), ..Usage::default() };
        usage.add_estimate(self.max_tokens, self.max_cost_usd);
        ModelCalled {
            call_id: Some(self.call_id),
            model: self.model,
            request_hash: self.request_hash,
            status: ENDED_UNSEEN,
            ms: 0,
            attempt: self.attempt,
            usage,
            cost_usd: self.max_cost_usd,
            recording: None,
            recording_bytes: None,
        }
    }
}

impl ModelCalled {
    /// Whether the server stopped during the call, so that nobody knows how it ended.
    #[must_use]
    pub fn is_ended_unseen(&self) -> bool {
        self.status == ENDED_UNSEEN
    }
}

impl Draft {
    /// An event of the main thread that belongs to no run.
    #[must_use]
    pub fn of_session(body: EventBody) -> Self {
        Self { run_id: None, conversation_id: ConversationId::main(), body }
    }

    /// An event of the main thread of `run`.
    #[must_use]
    pub fn of_run(run: RunId, body: EventBody) -> Self {
        Self { run_id: Some(run), conversation_id: ConversationId::main(), body }
    }

    /// The same event in another thread.
    #[must_use]
    pub fn within(mut self, conversation: ConversationId) -> Self {
        self.conversation_id = conversation;
        self
    }

    /// The recorded event.
    #[must_use]
    pub fn numbered(self, seq: Seq, session_id: SessionId, timestamp: Timestamp) -> Event {
        Event {
            seq,
            session_id,
            run_id: self.run_id,
            conversation_id: self.conversation_id,
            timestamp,
            body: self.body,
            spilled: Vec::new(),
        }
    }
}

/// Written and read here and nowhere else: it is done for every entry of every log, and this crate is always optimised.
impl Event {
    /// As it stands in the log.
    ///
    /// # Errors
    /// When something in it cannot be written as JSON.
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }

    /// From an entry of the log.
    ///
    /// # Errors
    /// When it is not an event this version knows.
    pub fn from_json(json: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(json)
    }
}

impl EventBody {
    /// The block that it begins, changes or takes away.
    #[must_use]
    pub fn block_id(&self) -> Option<&BlockId> {
        match self {
            EventBody::BlockStart { block } | EventBody::BlockComplete { block } => Some(block.id()),
            EventBody::TextDelta { block_id, .. }
            | EventBody::BlockUpdate { block_id, .. }
            | EventBody::BlockDiscarded { block_id, .. } => Some(block_id),
            _ => None,
        }
    }

    /// Whether this entry ends the run it belongs to.
    #[must_use]
    pub fn ends_run(&self) -> bool {
        matches!(
            self,
            EventBody::RunCompleted { .. } | EventBody::RunFailed { .. } | EventBody::RunInterrupted { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Draft, Event, EventBody};
    use crate::{BlockId, RunId, Seq, SessionId, Timestamp};

    #[test]
    fn an_event_is_one_flat_camel_case_object() {
        let event = Draft::of_run(
            RunId(uuid::Uuid::nil()),
            EventBody::TextDelta { block_id: BlockId::from("b"), delta: "hi".to_owned() },
        )
        .numbered(Seq(7), SessionId(uuid::Uuid::nil()), Timestamp::from_millis(0));
        let text = serde_json::to_string(&event).expect("events are JSON");
        assert_eq!(
            text,
            r#"{"seq":7,"sessionId":"00000000-0000-0000-0000-000000000000","runId":"00000000-0000-0000-0000-000000000000","conversationId":"main","timestamp":"1970-01-01T00:00:00.000Z","type":"text_delta","blockId":"b","delta":"hi"}"#
        );
        assert_eq!(serde_json::from_str::<Event>(&text).expect("reads back"), event);
    }
}
