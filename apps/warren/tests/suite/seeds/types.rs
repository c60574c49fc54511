//! The types of the seed documents, written down from them alone: what they do not say is not here.
//!
//! Names, fields and enumerations are the seeds' own. Where a seed names a type without its fields, they are those of
//! the details behind the seeds, and `Record` where those are silent too.

use super::shape::{
    Field, Presence,
    Presence::{Optional, Required},
    Shape,
    Shape::{
        Anything, Bool, Either, List, Nullable, Number, Object, OneOf, Record, Tagged, Text, Time, Uuid,
        Whole,
    },
    Type,
};

const fn of(name: &'static str, fields: &'static [Field]) -> Type {
    Type { name, extends: None, fields }
}

const fn extends(name: &'static str, base: &'static Type, fields: &'static [Field]) -> Type {
    Type { name, extends: Some(base), fields }
}

const fn text(name: &'static str) -> Field {
    Field(name, Required, Text)
}

const fn maybe(name: &'static str, shape: Shape) -> Field {
    Field(name, Optional, shape)
}

const fn must(name: &'static str, shape: Shape) -> Field {
    Field(name, Presence::Required, shape)
}

// Seeds 000 and 001: sessions.

const ARCHITECTURE: Shape = OneOf("AGENT_ARCHITECTURE_TYPE", &["claude-agent-sdk", "gemini-cli"]);

static SANDBOX_STATE: Type = of(
    "SandboxState",
    &[
        text("sandboxId"),
        must("status", OneOf("SandboxStatus", &["starting", "ready", "unhealthy", "terminated"])),
        must("restartCount", Whole),
        must("lastHealthCheck", Whole),
    ],
);

pub(super) static RUNTIME_STATE: Type =
    of("SessionRuntimeState", &[must("isLoaded", Bool), must("sandbox", Nullable(&Object(&SANDBOX_STATE)))]);

static PERSISTED_LIST_DATA: Type = of(
    "PersistedSessionListData",
    &[
        text("sessionId"),
        must("type", ARCHITECTURE),
        text("agentProfileReference"),
        maybe("name", Text),
        maybe("createdAt", Whole),
        maybe("lastActivity", Whole),
        maybe("metadata", Record),
    ],
);

pub(super) static SESSION_LIST_ITEM: Type =
    extends("SessionListItem", &PERSISTED_LIST_DATA, &[must("runtime", Object(&RUNTIME_STATE))]);

pub(super) static SESSION_LIST: Type =
    of("SessionList", &[must("sessions", List(&Object(&SESSION_LIST_ITEM)))]);

static WORKSPACE_FILE: Type = of("WorkspaceFile", &[text("path"), maybe("content", Text)]);

static SUBAGENT_DATA: Type =
    of("SubagentData", &[text("id"), maybe("rawTranscript", Text), must("blocks", List(&BLOCK))]);

/// Of seed 000, with the transcript that seed 001 has beside the blocks.
pub(super) static RUNTIME_SESSION_DATA: Type = extends(
    "RuntimeSessionData",
    &SESSION_LIST_ITEM,
    &[
        maybe("rawTranscript", Text),
        must("blocks", List(&BLOCK)),
        must("workspaceFiles", List(&Object(&WORKSPACE_FILE))),
        must("subagents", List(&Object(&SUBAGENT_DATA))),
    ],
);

/// What seed 001 loads and saves: the transcript is there.
pub(super) static SAVED_SESSION_DATA: Type =
    extends("SavedSessionData", &RUNTIME_SESSION_DATA, &[text("rawTranscript")]);

static AGENT_PROFILE_LIST_DATA: Type = of("AgentProfileListData", &[text("id"), maybe("name", Text)]);

pub(super) static AGENT_PROFILES: Type =
    of("AgentProfiles", &[must("profiles", List(&Object(&AGENT_PROFILE_LIST_DATA)))]);

// Seed 001: blocks.

const STATUS: Shape = OneOf("BlockStatus", &["pending", "running", "success", "error"]);

static BASE_BLOCK: Type = of("BaseBlock", &[text("id"), text("type"), must("timestamp", Time)]);

static CONTENT_PART: Type =
    of("ContentPart", &[maybe("text", Text), maybe("image", Text), maybe("mediaType", Text)]);

static USER_MESSAGE: Type = extends(
    "UserMessageBlock",
    &BASE_BLOCK,
    &[must("content", Either(&[Text, List(&Object(&CONTENT_PART))]))],
);

static ASSISTANT_TEXT: Type =
    extends("AssistantTextBlock", &BASE_BLOCK, &[text("content"), maybe("model", Text)]);

static THINKING: Type = extends("ThinkingBlock", &BASE_BLOCK, &[text("content"), maybe("summary", Text)]);

static TOOL_USE: Type = extends(
    "ToolUseBlock",
    &BASE_BLOCK,
    &[
        text("toolName"),
        text("toolUseId"),
        must("input", Anything),
        must("status", STATUS),
        maybe("displayName", Text),
        maybe("description", Text),
    ],
);

static TOOL_RESULT: Type = extends(
    "ToolResultBlock",
    &BASE_BLOCK,
    &[
        text("toolUseId"),
        must("output", Anything),
        must("isError", Bool),
        maybe("durationMs", Whole),
        maybe("renderOutputAsMarkdown", Bool),
    ],
);

const SUBTYPES: &[&str] =
    &["session_start", "session_end", "error", "status", "hook_response", "auth_status"];

static SYSTEM: Type = extends(
    "SystemBlock",
    &BASE_BLOCK,
    &[must("subtype", OneOf("SystemSubtype", SUBTYPES)), text("message"), maybe("metadata", Record)],
);

static SUBAGENT: Type = extends(
    "SubagentBlock",
    &BASE_BLOCK,
    &[
        text("subagentId"),
        maybe("name", Text),
        must("input", Anything),
        must("status", STATUS),
        maybe("output", Anything),
        maybe("durationMs", Whole),
        maybe("toolUseId", Text),
    ],
);

static ERROR_BLOCK: Type = extends("ErrorBlock", &BASE_BLOCK, &[text("message"), maybe("code", Text)]);

pub(super) const BLOCK: Shape = Tagged(
    "ConversationBlock",
    &[
        ("user_message", &USER_MESSAGE),
        ("assistant_text", &ASSISTANT_TEXT),
        ("thinking", &THINKING),
        ("tool_use", &TOOL_USE),
        ("tool_result", &TOOL_RESULT),
        ("system", &SYSTEM),
        ("subagent", &SUBAGENT),
        ("error", &ERROR_BLOCK),
    ],
);

// Seed 001: what is streamed.

static BASE_EVENT: Type = of("StreamEvent", &[text("type"), text("conversationId")]);
static BLOCK_START: Type = extends("BlockStartEvent", &BASE_EVENT, &[must("block", BLOCK)]);
static TEXT_DELTA: Type = extends("TextDeltaEvent", &BASE_EVENT, &[text("blockId"), text("delta")]);
static BLOCK_UPDATE: Type =
    extends("BlockUpdateEvent", &BASE_EVENT, &[text("blockId"), must("updates", Record)]);
static BLOCK_COMPLETE: Type = extends("BlockCompleteEvent", &BASE_EVENT, &[must("block", BLOCK)]);

static USAGE: Type = of(
    "Usage",
    &[
        must("inputTokens", Whole),
        must("outputTokens", Whole),
        maybe("cacheReadTokens", Whole),
        maybe("cacheWriteTokens", Whole),
        maybe("thinkingTokens", Whole),
        must("totalTokens", Whole),
        must("costUSD", Number),
        must("model", Text),
    ],
);

static METADATA_UPDATE: Type = extends(
    "MetadataUpdateEvent",
    &BASE_EVENT,
    &[must("usage", Object(&USAGE)), maybe("costUSD", Number), maybe("model", Text)],
);

pub(super) const STREAM_EVENT: Shape = Tagged(
    "StreamEvent",
    &[
        ("block_start", &BLOCK_START),
        ("text_delta", &TEXT_DELTA),
        ("block_update", &BLOCK_UPDATE),
        ("block_complete", &BLOCK_COMPLETE),
        ("metadata_update", &METADATA_UPDATE),
    ],
);

// Seed 000: Socket.IO. Of a message with no type here the seeds give the name alone.

static OF_SESSION: Type = of("SessionMessage", &[text("sessionId")]);
static OF_CONVERSATION: Type = extends("BlockMessage", &OF_SESSION, &[text("conversationId")]);
static ON_STATUS: Type = extends("session:status", &OF_SESSION, &[must("runtime", Object(&RUNTIME_STATE))]);
static ON_START: Type = extends("session:block:start", &OF_CONVERSATION, &[must("block", BLOCK)]);
static ON_DELTA: Type = extends("session:block:delta", &OF_CONVERSATION, &[text("blockId"), text("delta")]);
static ON_UPDATE: Type =
    extends("session:block:update", &OF_CONVERSATION, &[text("blockId"), must("updates", Record)]);
static ON_COMPLETE: Type =
    extends("session:block:complete", &OF_CONVERSATION, &[text("blockId"), must("block", BLOCK)]);
static ON_FILE: Type =
    extends("session:file:modified", &OF_SESSION, &[must("file", Object(&WORKSPACE_FILE))]);
/// Without content: a client reads the list again.
static ON_CHANGED: Type = of("sessions:changed", &[]);
static ON_METADATA: Type = extends("session:metadata:update", &OF_SESSION, &[must("metadata", Record)]);

/// The messages of Socket.IO and what is in each.
pub(super) const MESSAGES: &[(&str, Shape)] = &[
    ("sessions:list", List(&Object(&SESSION_LIST_ITEM))),
    ("sessions:changed", Object(&ON_CHANGED)),
    ("session:created", Anything),
    ("session:status", Object(&ON_STATUS)),
    ("session:block:start", Object(&ON_START)),
    ("session:block:delta", Object(&ON_DELTA)),
    ("session:block:update", Object(&ON_UPDATE)),
    ("session:block:complete", Object(&ON_COMPLETE)),
    ("session:metadata:update", Object(&ON_METADATA)),
    ("session:options:update", Anything),
    ("session:subagent:discovered", Anything),
    ("session:subagent:completed", Anything),
    ("session:file:created", Object(&ON_FILE)),
    ("session:file:modified", Object(&ON_FILE)),
    ("session:file:deleted", Object(&ON_FILE)),
    ("error", Anything),
];

// Seed 003: what is kept.

const ARTIFACT_TYPE: Shape =
    OneOf("ArtifactType", &["web_app", "pptx", "docx", "image", "markdown", "excel"]);

pub(super) static ARTIFACT: Type = of(
    "Artifact",
    &[
        must("id", Uuid),
        must("session_id", Uuid),
        must("type", ARTIFACT_TYPE),
        text("path"),
        text("name"),
        must("created_at", Time),
        must("updated_at", Time),
    ],
);

pub(super) static ARTIFACTS: Shape = List(&Object(&ARTIFACT));

static SANDBOX: Type = of(
    "Sandbox",
    &[
        must("id", Uuid),
        must("session_id", Uuid),
        must("container_id", Nullable(&Text)),
        must("status", OneOf("Sandbox.status", &["provisioning", "running", "idle", "terminated"])),
        must("created_at", Time),
        must("last_heartbeat", Nullable(&Time)),
    ],
);

static SNAPSHOT: Type = of(
    "Snapshot",
    &[
        must("id", Uuid),
        must("session_id", Uuid),
        text("storage_path"),
        must("created_at", Time),
        must("size_bytes", Whole),
    ],
);

pub(super) static SESSION: Type = of(
    "Session",
    &[
        must("id", Uuid),
        must("user_id", Nullable(&Uuid)),
        must("status", OneOf("Session.status", &["active", "idle"])),
        must("created_at", Time),
        must("last_activity_at", Time),
        must("sandbox", Object(&SANDBOX)),
        must("artifacts", List(&Object(&ARTIFACT))),
        must("snapshots", List(&Object(&SNAPSHOT))),
    ],
);

pub(super) static SESSIONS: Shape = List(&Object(&SESSION));

// Seed 003: packets.

static BASE_PACKET: Type = of("BasePacket", &[text("type"), must("timestamp", Time)]);
static DONE: Type = extends("DonePacket", &BASE_PACKET, &[maybe("summary", Text)]);
static ERROR: Type =
    extends("ErrorPacket", &BASE_PACKET, &[text("message"), maybe("code", Text), must("recoverable", Bool)]);
static STEP_START: Type = extends("StepStart", &BASE_PACKET, &[text("step_id"), maybe("title", Text)]);
static STEP_DELTA: Type = extends("StepDelta", &BASE_PACKET, &[text("step_id"), text("content")]);
static STEP_END: Type = extends(
    "StepEnd",
    &BASE_PACKET,
    &[text("step_id"), must("status", OneOf("StepEnd.status", &["success", "failed", "skipped"]))],
);
static OUTPUT_START: Type = extends("OutputStart", &BASE_PACKET, &[]);
static OUTPUT_DELTA: Type = extends("OutputDelta", &BASE_PACKET, &[text("content")]);

static ARTIFACT_METADATA: Type = of(
    "ArtifactMetadata",
    &[must("id", Uuid), must("type", ARTIFACT_TYPE), text("name"), text("path"), maybe("preview_url", Text)],
);
static ARTIFACT_CREATED: Type =
    extends("ArtifactCreated", &BASE_PACKET, &[must("artifact", Object(&ARTIFACT_METADATA))]);
static ARTIFACT_UPDATED: Type = extends(
    "ArtifactUpdated",
    &BASE_PACKET,
    &[must("artifact", Object(&ARTIFACT_METADATA)), maybe("changes", List(&Text))],
);

static TOOL_START: Type =
    extends("ToolStart", &BASE_PACKET, &[text("tool_name"), maybe("tool_input", Either(&[Record, Text]))]);
static TOOL_OUTPUT: Type =
    extends("ToolOutput", &BASE_PACKET, &[text("tool_name"), maybe("output", Text), must("is_error", Bool)]);
static TOOL_END: Type = extends(
    "ToolEnd",
    &BASE_PACKET,
    &[text("tool_name"), must("status", OneOf("ToolEnd.status", &["success", "failed"]))],
);
static FILE_WRITE: Type = extends("FileWrite", &BASE_PACKET, &[text("path"), maybe("size_bytes", Whole)]);
static FILE_DELETE: Type = extends("FileDelete", &BASE_PACKET, &[text("path")]);

pub(super) const PACKET: Shape = Tagged(
    "StreamPacket",
    &[
        ("done", &DONE),
        ("error", &ERROR),
        ("step_start", &STEP_START),
        ("step_delta", &STEP_DELTA),
        ("step_end", &STEP_END),
        ("output_start", &OUTPUT_START),
        ("output_delta", &OUTPUT_DELTA),
        ("artifact_created", &ARTIFACT_CREATED),
        ("artifact_updated", &ARTIFACT_UPDATED),
        ("tool_start", &TOOL_START),
        ("tool_output", &TOOL_OUTPUT),
        ("tool_end", &TOOL_END),
        ("file_write", &FILE_WRITE),
        ("file_delete", &FILE_DELETE),
    ],
);
