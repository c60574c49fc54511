//! What Warren is about: the events of a session's log, the blocks they fold to, and the rules a session obeys.
//!
//! Stands at the bottom of the flow: every other crate speaks in these types and none of them is known here.
//! **Invariant:** no I/O, no async, no clock, no randomness; a function here gives the same answer for the same input for ever.
//! Start with [`Event`], then [`Session::decide`] and [`Session::apply`], then [`Conversations`], the fold that makes blocks.

mod approval;
mod artifact;
mod block;
mod compact;
mod content;
mod error;
mod event;
mod fold;
mod fresh;
mod ids;
mod limits;
mod open_blocks;
mod open_calls;
mod profile;
mod recorded;
mod replay;
mod run;
mod session;
mod spill;
mod status;
mod time;
mod usage;
mod version;
mod view;

pub use approval::{
    ApprovalDecision, ApprovalKind, ApprovalRequest, ApprovalResolution, ApprovalRule, PermissionMode,
    Resolution, RuleError, RuleScope, matter,
};
pub use artifact::{
    Artifact, ArtifactChange, ArtifactKind, Artifacts, MANIFEST_PATH, MAX_ARTIFACTS, Manifest, ManifestEntry,
    ManifestError, OutputFile, Outputs, Package, PortOwner, apply_artifact_event, artifact_events, find,
    is_generated_manifest, manifest_of,
};
pub use block::{Block, BlockStatus, SystemSubtype};
pub use compact::Compactable;
pub use content::{Content, ContentPart};
pub use error::ErrorCode;
pub use event::{
    Diagnostics, Draft, Event, EventBody, FileChange, ForkedFrom, ModelCallStarted, ModelCalled,
    SessionChanges, SubagentStarted,
};
pub use fold::{Conversation, Conversations};
pub use fresh::FreshBlocks;
pub use ids::{
    AgentType, ApprovalId, ArtifactId, BlobHash, BlockId, ConversationId, Fence, IdError, ModelCallId,
    NodeId, Partition, ProfileId, ProjectId, ReplayId, RunId, SandboxId, Seq, SessionId, TokenId, Version,
    WorkspaceId,
};
pub use limits::{LOG_PER_PROJECT, LOG_PER_RUN, LOG_PER_SESSION};
pub use open_blocks::OpenBlocks;
pub use open_calls::{OpenCall, OpenCalls};
pub use profile::{
    AgentProfile, Command as ProfileCommand, McpServer, ProfileOwner, ProfileRef, Skill, Subagent,
    WorkspaceTemplateFile,
};
pub use recorded::{
    MAX_RECENT_RECORDINGS, RECORDED_PER_RUN, RECORDED_PER_SESSION, RecordedCalls, is_recording_limit,
};
pub use replay::{
    Replay, ReplayCount, ReplayDifference, ReplayDivergence, ReplayDivergenceKind, ReplayFiles,
    ReplayOutcome, ReplayProblem, ReplayStatus, ReplayedRun,
};
pub use run::{Budget, ReasoningEffort, RunInput, RunOptions, RunStatus, TimeBudget, WhenBusy};
pub use session::{
    Command, Grant, OpenApproval, Outcome, Phase, QUEUE_LIMIT, QueuedRun, Rejection, Session, Start,
};
pub use spill::{INLINE_PART, MAX_EVENT_BYTES, Spill, Spilled, spill, unspill};
pub use status::{SandboxState, SandboxStatus, SessionRuntimeState};
pub use time::Timestamp;
pub use usage::Usage;
pub use version::{FileCounts, Head, RunFrom, VersionCause};
pub use view::{Item, ItemBody, Returns, THREADS, View, ViewState, block_key, thread_key};
