//! What the runtime is asked, and what it answers. The gateway's side of these types knows who asks; this side does not.

mod documents;
mod knowledge;
mod preview_hosts;
mod profile;
mod providers;
mod versions;
mod workspace;

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use warren_domain::{
    AgentType, ApprovalId, ApprovalResolution, BlobHash, Block, BlockId, Content, ConversationId,
    Conversations, ErrorCode, Partition, ProfileRef, ProjectId, Rejection, Replay, ReplayId, RunFrom, RunId,
    RunOptions, RunStatus, Seq, SessionChanges, SessionId, SessionRuntimeState, Version, WhenBusy,
    WorkspaceId,
};
// Part of this contract: whoever speaks to the runtime needs no other crate for it.
pub use warren_store::{
    ApprovalQuery, ApprovalRecord, Changes, Count, Follow, ListChange, LogEntry, Page, Pending, ReadError,
    RunRecord, SessionQuery, SessionRecord, UsageGroup, UsageQuery, UsageRow, WorkspaceFile,
};

pub use documents::{Converted, DocumentAt, Documents};
pub use knowledge::{Knowledge, KnowledgeList, NewFile, NewFiles, ProjectPlace};
pub use preview_hosts::{Behind, PreviewBaseError, PreviewHost, PreviewHosts, encoded_path};
pub use profile::profile_check;
pub use providers::{
    KeySource, ModelCatalogue, ModelProviders, ModelSummary, ProviderKey, ProviderSummary, ProviderTest,
    ProviderWish, TestStatus,
};
pub(crate) use versions::not_read;
pub use versions::{
    DiffFiles, DiffLines, DiffWanted, FileDiff, Fork, Forked, LineCounts, OnConflict, PathChange, Pieces,
    TreeEntry, TreeFile, UnsavedChange, UnsavedChanges, VersionChanges, VersionDiff, VersionFiles,
    VersionList, VersionRecord, Versions, shown_path,
};
pub use workspace::{
    ArtifactMoment, ArtifactRecords, Dialled, Expected, FileContent, FileEntry, FileKind, FileListing,
    FileMove, FilePart, FileSource, FileTag, FileWrite, Files, FilesFrom, MomentKind, PreviewIo,
    PreviewStream, PreviewTarget, Previews, Wake,
};

/// Runs sessions. In this process, or on another node.
#[async_trait]
pub trait Runtime: Send + Sync {
    /// The operations on sessions.
    fn sessions(&self) -> &dyn Sessions;
    /// The operations on runs.
    fn runs(&self) -> &dyn Runs;
    /// Reading what was recorded.
    fn records(&self) -> &dyn Records;
    /// The operations on sandboxes.
    fn sandboxes(&self) -> &dyn Sandboxes;
    /// What agents ask people.
    fn approvals(&self) -> &dyn Approvals;
    /// Sessions made of what an agent left elsewhere.
    fn imports(&self) -> &dyn Imports;
    /// The agents there are, and their programs.
    fn agents(&self) -> &dyn Agents;
    /// Versions of sessions.
    fn versions(&self) -> &dyn Versions;
    /// Files of versions.
    fn version_files(&self) -> &dyn VersionFiles;
    /// Runs and sessions carried out once more.
    fn replays(&self) -> &dyn Replays;
    /// Sessions' files.
    fn files(&self) -> &dyn Files;
    /// Sessions' documents in another format.
    fn documents(&self) -> &dyn Documents;
    /// What is worth showing of them.
    fn artifacts(&self) -> &dyn ArtifactRecords;
    /// What listens in sandboxes.
    fn previews(&self) -> &dyn Previews;
    /// What projects know.
    fn knowledge(&self) -> &dyn Knowledge;
    /// Who answers model calls.
    fn providers(&self) -> &dyn ModelProviders;
}

/// Making, finding and ending sessions.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Makes a session. No sandbox yet.
    async fn session_create(&self, new: NewSession) -> Result<SessionSummary, SessionError>;
    /// Lists sessions, newest first, with their state right now.
    async fn session_list(
        &self,
        query: SessionQuery,
        state: Option<StateFilter>,
    ) -> Result<Page<SessionSummary>, SessionError>;
    /// One session as it is listed. Does not load it.
    async fn session_get(&self, session: SessionId) -> Result<SessionSummary, SessionError>;
    /// How its latest run stands; `None` if there was none.
    async fn session_last_run(&self, session: SessionId) -> Result<Option<RunStatus>, SessionError>;
    /// Takes a session into memory. Never makes a sandbox.
    async fn session_load(&self, session: SessionId) -> Result<SessionSummary, SessionError>;
    /// Ends its sandbox and drops it from memory. Refused during a run unless forced.
    async fn session_unload(&self, session: SessionId, force: Force) -> Result<SessionSummary, SessionError>;
    /// Changes its name, metadata or options.
    async fn session_update(
        &self,
        session: SessionId,
        changes: SessionChanges,
    ) -> Result<SessionSummary, SessionError>;
    /// Takes no more messages from now on. Stops what runs.
    async fn session_end(&self, session: SessionId, reason: String) -> Result<SessionSummary, SessionError>;
    /// Erases it with its sandbox, its files and its log.
    async fn session_erase(&self, session: SessionId) -> Result<(), SessionError>;
}

/// Sending messages and looking after what becomes of them.
#[async_trait]
pub trait Runs: Send + Sync {
    /// Sends a message. The same idempotency key gives the same run.
    async fn run_send(&self, session: SessionId, message: NewMessage) -> Result<Sent, SessionError>;
    /// Stops the run that is going on. Says which, or `None` if there was none.
    async fn run_interrupt(&self, session: SessionId, by: String) -> Result<Option<RunId>, SessionError>;
    /// One run.
    async fn run_get(&self, session: SessionId, run: RunId) -> Result<RunRecord, SessionError>;
    /// A session's runs, newest first.
    async fn run_list(
        &self,
        session: SessionId,
        before: Option<RunId>,
        limit: u32,
    ) -> Result<Page<RunRecord>, SessionError>;
    /// Changes a queued message, or its place among those that wait.
    async fn run_update(
        &self,
        session: SessionId,
        run: RunId,
        change: RunChange,
    ) -> Result<RunRecord, SessionError>;
    /// Drops a queued message.
    async fn run_drop(&self, session: SessionId, run: RunId, by: String) -> Result<(), SessionError>;
    /// What was spent.
    async fn usage(&self, query: UsageQuery) -> Result<Vec<UsageRow>, SessionError>;
}

/// What agents ask people.
#[async_trait]
pub trait Approvals: Send + Sync {
    /// Some approvals, newest first.
    async fn approval_list(&self, query: ApprovalQuery) -> Result<Page<ApprovalRecord>, SessionError>;
    /// One approval.
    async fn approval_get(&self, approval: ApprovalId) -> Result<ApprovalRecord, SessionError>;
    /// Records an answer and tells the agent, if it still waits. The same answer again changes nothing.
    async fn approval_resolve(&self, resolution: ApprovalResolution) -> Result<ApprovalRecord, SessionError>;
    /// Takes back the rule that the answer to an approval granted; `by` says who does.
    async fn approval_rule_withdraw(
        &self,
        approval: ApprovalId,
        by: String,
    ) -> Result<ApprovalRecord, SessionError>;
}

/// Sessions made of what an agent left elsewhere.
#[async_trait]
pub trait Imports: Send + Sync {
    /// Makes a session whose past is in transcripts, and which its agent can go on from.
    async fn session_import(
        &self,
        new: NewSession,
        transcripts: Transcripts,
    ) -> Result<SessionSummary, SessionError>;
}

/// The agents there are, and their programs.
#[async_trait]
pub trait Agents: Send + Sync {
    /// All, with what is installed of each.
    async fn agent_list(&self) -> Vec<AgentSummary>;
    /// Installs an agent's program, unless it is there, and waits for it.
    async fn agent_install(&self, name: &str) -> Result<AgentSummary, SessionError>;
    /// Removes an agent's program. Sandboxes that run go on with what they have.
    async fn agent_remove(&self, name: &str) -> Result<(), SessionError>;
}

/// Runs and sessions carried out once more, with the recorded answers of the model.
#[async_trait]
pub trait Replays: Send + Sync {
    /// Begins a replay. It goes on by itself.
    async fn replay_start(&self, session: SessionId, what: ReplayWhat) -> Result<Replay, SessionError>;
    /// Waits until a replay is over.
    async fn replay_wait(&self, session: SessionId, replay: ReplayId) -> Result<Replay, SessionError>;
    /// Ends a replay that goes on, and waits for its end. One that is over stays as it is.
    async fn replay_end(&self, session: SessionId, replay: ReplayId) -> Result<Replay, SessionError>;
    /// One replay.
    async fn replay_get(&self, session: SessionId, replay: ReplayId) -> Result<Replay, SessionError>;
    /// A session's replays, newest first.
    async fn replay_list(
        &self,
        session: SessionId,
        before: Option<ReplayId>,
        limit: u32,
    ) -> Result<Page<Replay>, SessionError>;
    /// Entries of a replay's own log after `after`. With `wait`, waits that long for the first one.
    async fn replay_events_read(
        &self,
        session: SessionId,
        replay: ReplayId,
        after: Seq,
        limit: u32,
        wait: Option<Duration>,
    ) -> Result<(Vec<LogEntry>, Seq), SessionError>;
    /// Entries of a replay's own log after `after`, and then as they come. A replay that is over has an end.
    async fn replay_events_follow(
        &self,
        session: SessionId,
        replay: ReplayId,
        after: Seq,
    ) -> Result<(Follow, Option<Seq>), SessionError>;
}

/// What is to be carried out once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayWhat {
    /// One run.
    Run(RunId),
    /// Every run of the session, each from its own base version.
    Session,
}

/// An agent, or a program that can be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSummary {
    /// Its name.
    pub name: String,
    /// Whether it can be a session's agent by itself.
    pub is_agent: bool,
    /// Whether it can be told how much its model thinks.
    pub has_effort: bool,
    /// Whether it is a program of its own.
    pub needs_program: bool,
    /// That program.
    pub program: Option<crate::options::Known>,
}

/// An agent's own memory of a conversation.
#[derive(Debug, Clone, Default)]
pub struct Transcripts {
    /// The conversation itself.
    pub main: Vec<u8>,
    /// Its subagents' threads, by id.
    pub subagents: Vec<(String, Vec<u8>)>,
}

/// Reading what was recorded. Never makes a sandbox, never writes.
#[async_trait]
pub trait Records: Send + Sync {
    /// A session: state, files, and blocks of its threads. With `limit`, only the newest blocks of the main
    /// conversation, at most so many, and of the subagents' threads that those name.
    async fn session_detail(
        &self,
        session: SessionId,
        limit: Option<u32>,
    ) -> Result<SessionDetail, SessionError>;
    /// Part of one conversation. With `only`, those of its blocks that have these ids. `None` if there is no block of
    /// the name that `part` gives.
    async fn messages(
        &self,
        session: SessionId,
        thread: &ConversationId,
        part: MessagePart,
        only: Option<&[BlockId]>,
        limit: u32,
    ) -> Result<Option<Messages>, SessionError>;
    /// Entries of the log after `after`. With `wait`, waits that long for the first one.
    async fn events_read(
        &self,
        session: SessionId,
        after: Seq,
        limit: u32,
        wait: Option<Duration>,
    ) -> Result<(Vec<LogEntry>, Seq), SessionError>;
    /// Entries after `after` and then as they come: no gap, no duplicate.
    async fn events_follow(&self, session: SessionId, after: Seq) -> Result<Follow, SessionError>;
    /// An agent's own transcript; the empty text is the main thread.
    async fn transcript(&self, session: SessionId, thread: &str) -> Result<Bytes, SessionError>;
    /// One block as it was said, with texts of which the log keeps only the beginning.
    async fn message(
        &self,
        session: SessionId,
        thread: &ConversationId,
        id: &BlockId,
    ) -> Result<Block, SessionError>;
    /// A blob that an entry of the session's log refers to.
    async fn blob(&self, session: SessionId, hash: &BlobHash) -> Result<Bytes, SessionError>;
    /// News about the list of sessions: created, changed, erased, loaded.
    fn changes(&self) -> Changes;
}

/// Looking at sandboxes and handling them by hand.
#[async_trait]
pub trait Sandboxes: Send + Sync {
    /// Starts a session's sandbox if it has none, and waits until it is ready.
    async fn sandbox_start(&self, session: SessionId) -> Result<SandboxReport, SessionError>;
    /// Ends a session's sandbox. Refused during a run unless forced.
    async fn sandbox_stop(&self, session: SessionId, force: Force) -> Result<(), SessionError>;
    /// A session's sandbox: isolation, resources, what happened to it.
    async fn sandbox_get(&self, session: SessionId) -> Result<SandboxReport, SessionError>;
    /// All sandboxes of this node.
    async fn sandbox_list(&self) -> Vec<SandboxReport>;
    /// What this machine can give, which agents and models there are.
    async fn probe(&self) -> Value;
}

/// Whether to go on although a run is in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// Refuse then.
    No,
    /// Interrupt it.
    Yes,
}

/// A session to be made.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Keeps it apart from others.
    pub partition: Partition,
    /// The project it belongs to.
    pub project: ProjectId,
    /// The workspace it shares; its own if absent.
    pub workspace: Option<WorkspaceId>,
    /// The agent.
    pub agent_type: AgentType,
    /// What the agent is given: resolved in `project`, never elsewhere.
    pub profile: ProfileRef,
    /// A name for people.
    pub name: Option<String>,
    /// The client's own data.
    pub metadata: Map<String, Value>,
    /// Defaults for its runs.
    pub options: RunOptions,
    /// On whose behalf it is made, in the words of whoever keeps users.
    pub made_by: Option<String>,
}

/// What changes of a message that waits; an absent field stays.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunChange {
    /// The message.
    pub content: Option<Content>,
    /// Its place among those that wait, from 1; one past the end means the last.
    pub position: Option<u32>,
}

/// A message to be carried out.
#[derive(Debug, Clone)]
pub struct NewMessage {
    /// The message.
    pub content: Content,
    /// The same key gives the same run.
    pub idempotency_key: Option<String>,
    /// What to do while a run is going on.
    pub when_busy: WhenBusy,
    /// What the sender set for this run.
    pub options: RunOptions,
    /// The version the sender believes to be the latest.
    pub base_version: Option<Version>,
    /// Who pays for it, and how many there may be.
    pub count: Option<Count>,
    /// Where it begins when an earlier run left something that is in no version.
    pub from: RunFrom,
    /// What to do when `base_version` is not the latest any more.
    pub on_conflict: OnConflict,
}

impl NewMessage {
    /// Tells two messages apart that came with the same idempotency key.
    pub(crate) fn digest(&self) -> BlobHash {
        // One that is tried again comes with another base each time.
        let base = self.base_version.filter(|_| self.on_conflict == OnConflict::Reject);
        let parts = serde_json::json!([self.content, self.when_busy, self.options, base, self.from]);
        BlobHash(blake3::hash(parts.to_string().as_bytes()).to_hex().to_string())
    }
}

/// A message that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// The run it is.
    pub run: RunId,
    /// The entry that announced it.
    pub seq: Seq,
    /// How often its base version was not the latest any more, before it was taken.
    pub retries: u32,
}

/// What a session is doing right now, as a list may be filtered by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StateFilter {
    /// A run is going on.
    Running,
    /// In memory, nothing to do.
    Loaded,
    /// Has a sandbox.
    Sandboxed,
}

/// A session as it is listed.
#[derive(Debug, Clone)]
pub struct SessionSummary {
    /// What is stored.
    pub record: SessionRecord,
    /// What is derived.
    pub runtime: SessionRuntimeState,
    /// The run that is going on.
    pub running: Option<RunId>,
}

/// Which part of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessagePart {
    /// After this block; the beginning if absent.
    After(Option<BlockId>),
    /// Right before this block; the end if absent.
    Before(Option<BlockId>),
}

/// Part of a conversation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Messages {
    /// The blocks, oldest first.
    pub blocks: Vec<Block>,
    /// There is more in the direction that was asked for.
    pub more: bool,
    /// The position of the log at which the blocks are current.
    pub seq: Seq,
}

/// A session, read.
#[derive(Debug, Clone)]
pub struct SessionDetail {
    /// As it is listed.
    pub summary: SessionSummary,
    /// Its threads.
    pub conversations: Conversations,
    /// There are older blocks of the main conversation.
    pub more: bool,
    /// Files of its workspace as last seen; empty if only the newest blocks were asked for.
    pub files: Vec<WorkspaceFile>,
    /// Runs that wait, the next one first.
    pub queue: Vec<RunId>,
    /// They are held until a person sends a message or resumes the queue.
    pub queue_held: bool,
    /// The position of the log that all this is true at.
    pub last_seq: Seq,
}

/// A sandbox, for people.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SandboxReport {
    /// Whose it is.
    pub session_id: SessionId,
    /// Its state, or nothing if there is none.
    pub state: SessionRuntimeState,
    /// The isolation it got.
    pub isolation: Option<Value>,
    /// What it uses.
    pub resources: Option<Value>,
    /// What it may use.
    pub limits: Option<Value>,
    /// What happened to it, newest last.
    pub log: Vec<Value>,
}

/// Why an operation on a session was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// There is no such thing.
    #[error("there is no {kind} `{id}`")]
    NotFound {
        /// What kind of thing.
        kind: &'static str,
        /// The name that was asked for.
        id: String,
    },
    /// The rules of a session forbid it now.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// Another node holds the session.
    #[error("session `{session}` is held by node `{holder}`")]
    Elsewhere {
        /// Which.
        session: SessionId,
        /// By whom.
        holder: String,
    },
    /// The same idempotency key came with another message.
    #[error("the idempotency key was used with another message")]
    KeyMismatch,
    /// The request asks for something that is not there.
    #[error("{message}")]
    Invalid {
        /// What kind of failure.
        code: ErrorCode,
        /// What is wrong.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// The server is about to stop.
    #[error("the server is shutting down")]
    Draining,
    /// Something failed on our side.
    #[error("failed to {doing}")]
    Internal {
        /// What was tried.
        doing: &'static str,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl SessionError {
    /// The code a client sees.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            SessionError::NotFound { .. } => ErrorCode::NotFound,
            SessionError::Rejected(rejection) => rejection.code(),
            SessionError::Elsewhere { .. } => ErrorCode::SessionElsewhere,
            SessionError::KeyMismatch => ErrorCode::IdempotencyMismatch,
            SessionError::Invalid { code, .. } => *code,
            SessionError::Draining => ErrorCode::Unavailable,
            SessionError::Internal { .. } => ErrorCode::Internal,
        }
    }

    /// A failure on our side while `doing` something.
    pub(crate) fn internal(
        doing: &'static str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        SessionError::Internal { doing, source: source.into() }
    }

    /// The same error for another caller.
    pub(crate) fn again(&self) -> Self {
        match self {
            SessionError::Elsewhere { session, holder } => {
                SessionError::Elsewhere { session: *session, holder: holder.clone() }
            }
            SessionError::Internal { doing, source } => {
                SessionError::Internal { doing, source: source.to_string().into() }
            }
            SessionError::NotFound { kind, id } => SessionError::NotFound { kind, id: id.clone() },
            SessionError::Invalid { code, message, hint } => {
                SessionError::Invalid { code: *code, message: message.clone(), hint: hint.clone() }
            }
            SessionError::Draining => SessionError::Draining,
            other => SessionError::Internal { doing: "reach the session", source: other.to_string().into() },
        }
    }

    /// There is no `kind` named `id`.
    pub(crate) fn not_found(kind: &'static str, id: impl std::fmt::Display) -> Self {
        SessionError::NotFound { kind, id: id.to_string() }
    }

    /// What the client can do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            SessionError::Invalid { hint, .. } => hint.as_deref(),
            SessionError::Rejected(Rejection::Busy) => {
                Some("wait for the run to end, interrupt it, or send with `whenBusy: \"queue\"`")
            }
            SessionError::Elsewhere { .. } => {
                Some("send the request to that node, or wait until its lease ends")
            }
            _ => None,
        }
    }
}
