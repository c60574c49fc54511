//! One line, with its fields still as they are written.

use std::borrow::Cow;

use warren_domain::Timestamp;

use super::{Message, StreamEvent};
use crate::claude_code::scan::{Cursor, Malformed, Progress, is_true, text};

/// One line of output or of a transcript.
#[derive(Default)]
pub(in crate::claude_code) struct Line<'a> {
    kind: Kind,
    is_lifecycle: bool,
    /// It says which line is before it.
    names_parent: bool,
    /// It says whether it is of the conversation itself.
    names_side: bool,
    subtype: Option<&'a [u8]>,
    uuid: Option<&'a [u8]>,
    timestamp: Option<&'a [u8]>,
    parent_call: Option<&'a [u8]>,
    agent_id: Option<&'a [u8]>,
    parent_uuid: Option<&'a [u8]>,
    version: Option<&'a [u8]>,
    /// Taken by whoever reads it.
    pub(in crate::claude_code) message: Option<Message<'a>>,
    pub(in crate::claude_code) event: Option<StreamEvent<'a>>,
    pub(in crate::claude_code) attachment: Option<&'a [u8]>,
    pub(in crate::claude_code) tool_use_result: Option<&'a [u8]>,
    pub(in crate::claude_code) content: Option<&'a [u8]>,
    pub(in crate::claude_code) compact_metadata: Option<&'a [u8]>,
    error: Option<&'a [u8]>,
    pub(in crate::claude_code) origin: Option<&'a [u8]>,
    /// Not meant for people: `isMeta` in transcripts, `isSynthetic` in output.
    pub(in crate::claude_code) is_hidden: bool,
    pub(in crate::claude_code) is_sidechain: bool,
    pub(in crate::claude_code) is_summary: bool,
    pub(in crate::claude_code) is_api_error: bool,
}

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::claude_code) enum Kind {
    Assistant,
    User,
    System,
    StreamEvent,
    Result,
    ControlRequest,
    ControlCancel,
    Attachment,
    CostState,
    /// Known, and nothing to show.
    Quiet,
    #[default]
    Unknown,
}

impl<'a> Line<'a> {
    pub(in crate::claude_code) fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let (mut line, mut cursor, mut progress) = (Self::default(), Cursor::new(bytes), Progress::default());
        while let Some(key) = cursor.next_key(&mut progress)? {
            match key {
                b"message" => line.message = cursor.attempt(Message::read)?,
                b"event" => line.event = cursor.attempt(StreamEvent::read)?,
                _ => line.take(key, cursor.value()?),
            }
            if line.is_enough(key) {
                return Ok(line);
            }
        }
        cursor.end().map(|()| line)
    }

    /// Whether nothing more needs to be known of a line after this field.
    fn is_enough(&self, key: &[u8]) -> bool {
        match key {
            b"type" => match self.kind {
                Kind::Quiet => !self.is_lifecycle,
                // Whoever understands these reads the whole line by itself.
                Kind::Result | Kind::ControlRequest | Kind::ControlCancel => true,
                _ => false,
            },
            // Nothing beside the conversation is shown but messages; where the line stands is known by now.
            b"uuid" => {
                let is_placed = self.names_parent && self.names_side;
                self.kind == Kind::Attachment && is_placed && !self.may_be_queued()
            }
            b"subtype" => self.subtype == Some(br#""init""#),
            b"parent_tool_use_id" => self.kind == Kind::StreamEvent && self.event.is_some(),
            _ => false,
        }
    }

    fn take(&mut self, key: &[u8], value: &'a [u8]) {
        match key {
            b"type" => {
                self.kind = kind_of(value);
                self.is_lifecycle = value == br#""command_lifecycle""#;
            }
            b"subtype" => self.subtype = Some(value),
            b"uuid" => self.uuid = Some(value),
            b"timestamp" => self.timestamp = Some(value),
            b"parent_tool_use_id" => self.parent_call = Some(value),
            b"agent_id" | b"agentId" => self.agent_id = Some(value),
            b"parentUuid" => {
                self.names_parent = true;
                self.parent_uuid = Some(value).filter(|value| *value != b"null").or(self.parent_uuid);
            }
            // A compaction begins a new chain; this is where it goes on from.
            b"logicalParentUuid" if self.parent_uuid.is_none() => self.parent_uuid = Some(value),
            b"version" => self.version = Some(value),
            b"attachment" => self.attachment = Some(value),
            b"tool_use_result" | b"toolUseResult" => self.tool_use_result = Some(value),
            b"content" => self.content = Some(value),
            b"compact_metadata" | b"compactMetadata" => self.compact_metadata = Some(value),
            b"error" => self.error = Some(value),
            b"origin" => self.origin = Some(value),
            b"isMeta" | b"isSynthetic" => self.is_hidden |= is_true(value),
            b"isSidechain" => (self.names_side, self.is_sidechain) = (true, is_true(value)),
            b"isCompactSummary" => self.is_summary = is_true(value),
            b"isApiErrorMessage" | b"is_api_error_message" => self.is_api_error = is_true(value),
            _ => {}
        }
    }

    pub(in crate::claude_code) fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether it tells what became of a message that was sent.
    pub(in crate::claude_code) fn is_lifecycle(&self) -> bool {
        self.is_lifecycle
    }

    pub(in crate::claude_code) fn subtype(&self) -> Cow<'a, str> {
        self.subtype.and_then(text).unwrap_or_default()
    }

    pub(in crate::claude_code) fn uuid(&self) -> Option<Cow<'a, str>> {
        text(self.uuid?)
    }

    /// Its UUID as it is written.
    pub(in crate::claude_code) fn name(&self) -> Option<&'a [u8]> {
        self.uuid.filter(|raw| raw.starts_with(b"\""))
    }

    /// The UUID of the line before it, as it is written.
    pub(in crate::claude_code) fn parent_name(&self) -> Option<&'a [u8]> {
        self.parent_uuid.filter(|raw| raw.starts_with(b"\""))
    }

    /// Which call's subagent says it; in output only.
    pub(in crate::claude_code) fn parent_call(&self) -> Option<Cow<'a, str>> {
        text(self.parent_call?)
    }

    pub(in crate::claude_code) fn agent_id(&self) -> Option<Cow<'a, str>> {
        text(self.agent_id?)
    }

    pub(in crate::claude_code) fn version(&self) -> Option<Cow<'a, str>> {
        text(self.version?)
    }

    /// What kind of failure the line stands for.
    pub(in crate::claude_code) fn error(&self) -> Option<Cow<'a, str>> {
        text(self.error?)
    }

    /// Its own time.
    pub(in crate::claude_code) fn time(&self) -> Option<Timestamp> {
        Timestamp::parse(&text(self.timestamp?)?)
    }

    /// Whether what stands beside the conversation may be a message: a look at its first field, which tells the kind.
    pub(in crate::claude_code) fn may_be_queued(&self) -> bool {
        let Some(raw) = self.attachment else { return true };
        let mut cursor = Cursor::new(raw);
        match cursor.next_key(&mut Progress::default()) {
            Ok(Some(b"type")) => cursor.value() == Ok(br#""queued_command""#.as_slice()),
            _ => true,
        }
    }

    /// Whether a task that ended in the background caused it.
    pub(in crate::claude_code) fn is_of_task(&self) -> bool {
        self.origin.is_some_and(|origin| memchr::memmem::find(origin, b"task-notification").is_some())
    }
}

/// What a line of this type is about.
fn kind_of(name: &[u8]) -> Kind {
    let Some(name) = name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")) else {
        return Kind::Unknown;
    };
    match name {
        b"assistant" => Kind::Assistant,
        b"user" => Kind::User,
        b"system" => Kind::System,
        b"stream_event" => Kind::StreamEvent,
        b"result" => Kind::Result,
        b"control_request" => Kind::ControlRequest,
        b"control_cancel_request" => Kind::ControlCancel,
        b"attachment" => Kind::Attachment,
        b"cost-state" => Kind::CostState,
        b"agent-color"
        | b"agent-name"
        | b"agent-setting"
        | b"ai-title"
        | b"api-request"
        | b"api-request-blob"
        | b"api-request-shape"
        | b"artifact-autoreact-ledger"
        | b"atis-latch"
        | b"attribution-snapshot"
        | b"auth_status"
        | b"bridge-session"
        | b"command_lifecycle"
        | b"content-replacement"
        | b"control_response"
        | b"conversation_reset"
        | b"custom-title"
        | b"file-history-delta"
        | b"file-history-snapshot"
        | b"fork-context-ref"
        | b"frame-link"
        | b"history-suppression"
        | b"keep_alive"
        | b"last-prompt"
        | b"mode"
        | b"permission-mode"
        | b"pr-link"
        | b"progress"
        | b"prompt_suggestion"
        | b"queue-operation"
        | b"rate_limit_event"
        | b"repl-mode"
        | b"resume-head-vouch"
        | b"summary"
        | b"tag"
        | b"tool_progress"
        | b"tool_use_summary"
        | b"tools-used"
        | b"transcript_mirror"
        | b"worktree-state" => Kind::Quiet,
        _ => Kind::Unknown,
    }
}

/// What `system` lines say that is shown elsewhere, or nowhere.
pub(in crate::claude_code) const QUIET_SYSTEM: &[&str] = &[
    "api_error",
    "away_summary",
    "background_tasks_changed",
    "bridge_status",
    "elicitation_complete",
    "files_persisted",
    "hook_progress",
    "hook_response",
    "hook_started",
    "informational",
    "init",
    "local_command",
    "local_command_output",
    "memory_saved",
    "microcompact_boundary",
    "notification",
    "permission_denied",
    "post_turn_summary",
    "snapshot_update",
    "status",
    "stop_hook_summary",
    "task_progress",
    "thinking",
    "thinking_tokens",
    "turn_duration",
];
