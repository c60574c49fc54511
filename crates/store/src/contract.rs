//! The contracts: what a backend must do. Each is held by a suite in `conformance`.

use std::{collections::HashSet, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use uuid::Uuid;
use warren_domain::{
    AgentProfile, ApprovalId, BlobHash, Fence, NodeId, Partition, ProfileId, ProjectId, ReplayId, RunId, Seq,
    SessionId, Timestamp, TokenId, Version, WorkspaceId,
};

use crate::records::{
    ApprovalQuery, ApprovalRecord, Checkpoint, Commit, Compaction, Granted, Key, LogEntry, Page,
    ProjectRecord, ProviderRecord, ReplayRecord, Root, RunRecord, SessionQuery, SessionRecord, StoredBytes,
    TokenRecord, UsageQuery, UsageRow, VersionRecord, ViewItem, ViewPart, WorkspaceFile, WorkspaceRecord,
};

/// An error of the backend that no caller can act on.
pub type Backend = Box<dyn std::error::Error + Send + Sync>;

/// Why nothing of a commit happened.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// The writer's idea of the log is old.
    #[error("session `{session}` has moved on: expected position {expected}, found {found}")]
    Conflict {
        /// Whose log.
        session: SessionId,
        /// The writer's idea.
        expected: Seq,
        /// The truth.
        found: Seq,
    },
    /// Someone else holds the lease by now.
    #[error("the lease on session `{session}` was taken over: ours was {ours}, it is {current} now")]
    Fenced {
        /// Whose log.
        session: SessionId,
        /// The writer's.
        ours: Fence,
        /// The newest.
        current: Fence,
    },
    /// The version's base is not the latest.
    #[error("session `{session}` is at version {latest} already")]
    VersionConflict {
        /// Whose.
        session: SessionId,
        /// The truth.
        latest: Version,
    },
    /// The idempotency key is in use.
    #[error("the idempotency key was used before")]
    KeyTaken(Box<Key>),
    /// As many messages were counted as there may be.
    #[error("the limit of {most} messages is reached")]
    LimitReached {
        /// How many there may be.
        most: u64,
    },
    /// There is no such session.
    #[error("session `{0}` does not exist")]
    NoSession(SessionId),
    /// It exists already.
    #[error("session `{0}` exists already")]
    Exists(SessionId),
    /// The writer's numbers have a hole.
    #[error("entries of session `{0}` are not contiguous")]
    NotContiguous(SessionId),
    /// The database failed; whether it happened is known after reading the head.
    #[error("failed to commit to the log of session `{session}`")]
    Backend {
        /// Whose.
        session: SessionId,
        /// Why.
        #[source]
        source: Backend,
    },
}

/// Why something could not be read or written that has no rules of its own.
#[derive(Debug, thiserror::Error)]
#[error("failed to {doing}")]
pub struct ReadError {
    /// What was tried, as `read the log`.
    pub doing: &'static str,
    /// Why it failed.
    #[source]
    pub source: Backend,
}

/// Why something that only a session's owner may write was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Someone else holds the lease by now. The writer must stop.
    #[error("the lease on session `{session}` was taken over: ours was {ours}, it is {current} now")]
    Fenced {
        /// Whose it is.
        session: SessionId,
        /// The writer's.
        ours: Fence,
        /// The newest.
        current: Fence,
    },
    /// It was refused for another reason, or the database failed.
    #[error(transparent)]
    Failed(#[from] ReadError),
}

/// Why a lease was not given.
#[derive(Debug, thiserror::Error)]
pub enum AcquireError {
    /// Someone else holds it.
    #[error("session `{session}` is held by node `{holder}` until {until}")]
    Held {
        /// Which session.
        session: SessionId,
        /// By whom.
        holder: NodeId,
        /// Until when, by the clock of the backend.
        until: Timestamp,
    },
    /// There is no such session. Nothing is kept of the attempt.
    #[error("session `{0}` does not exist")]
    NoSession(SessionId),
    /// The database failed.
    #[error("failed to take the lease on session `{session}`")]
    Backend {
        /// Which session.
        session: SessionId,
        /// Why.
        #[source]
        source: Backend,
    },
}

/// The logs: the only thing the platform must never lose.
#[async_trait]
pub trait EventLog: Send + Sync {
    /// Makes everything in `commit` true at once and durably, or nothing of it. Returns the new head.
    ///
    /// Commits of many sessions may share one transaction; one that is refused never harms another. A lost lease is
    /// reported before an old position: its holder must stop, not read and try again.
    async fn commit(&self, commit: Commit) -> Result<Seq, CommitError>;

    /// Entries after `after`, in order, at most `limit`.
    async fn read(&self, session: SessionId, after: Seq, limit: u32) -> Result<Vec<LogEntry>, ReadError>;

    /// The last entry's number, or `None` if there is no such session.
    async fn head(&self, session: SessionId) -> Result<Option<Seq>, ReadError>;

    /// Puts one entry in the place of several. Numbers stay: whoever reads after one of those that went gets it next.
    ///
    /// Says whether it did. It does nothing if an entry of the piece is gone (somebody compacted there already), or if the
    /// lease was taken over; both are checked in the transaction that writes.
    async fn compact(&self, session: SessionId, piece: Compaction) -> Result<bool, ReadError>;
}

/// Sessions as they are listed. They are made and changed by commits.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// One session.
    async fn session(&self, session: SessionId) -> Result<Option<SessionRecord>, ReadError>;

    /// Some sessions, newest first.
    async fn sessions(&self, query: &SessionQuery) -> Result<Page<SessionRecord>, ReadError>;

    /// Erases a session with everything under its name. Says whether it existed. Only the holder of its lease may:
    /// `fence` is checked in the transaction that erases.
    async fn erase(&self, session: SessionId, fence: Fence) -> Result<bool, WriteError>;

    /// What its log and those of its project take; `None` if there is no such session. Each log's size is kept with its
    /// head: a commit adds to it, a compaction takes from it.
    async fn stored(&self, session: SessionId) -> Result<Option<StoredBytes>, ReadError>;

    /// Files of its workspace as last seen, by path.
    async fn files(&self, session: SessionId) -> Result<Vec<WorkspaceFile>, ReadError>;
}

/// Runs. They are made and changed by commits.
#[async_trait]
pub trait Runs: Send + Sync {
    /// One run.
    async fn run(&self, session: SessionId, run: RunId) -> Result<Option<RunRecord>, ReadError>;

    /// A session's runs, newest first, older than `before`.
    async fn runs(
        &self,
        session: SessionId,
        before: Option<RunId>,
        limit: u32,
    ) -> Result<Page<RunRecord>, ReadError>;

    /// All runs that are queued or running anywhere, oldest first: what a restart must look after.
    async fn unfinished(&self) -> Result<Vec<RunRecord>, ReadError>;

    /// What an idempotency key stands for, unless it has expired by `now`.
    async fn key(&self, session: SessionId, key: &str, now: Timestamp) -> Result<Option<Key>, ReadError>;

    /// What was spent by runs that ended, by name of the group. A run whose model is not known counts for `unknown`.
    async fn usage(&self, query: &UsageQuery) -> Result<Vec<UsageRow>, ReadError>;
}

/// What people were asked. Made and changed by commits.
#[async_trait]
pub trait Approvals: Send + Sync {
    /// One approval.
    async fn approval(&self, approval: ApprovalId) -> Result<Option<ApprovalRecord>, ReadError>;

    /// Some approvals, newest first.
    async fn approvals(&self, query: &ApprovalQuery) -> Result<Page<ApprovalRecord>, ReadError>;
}

/// Versions. They are made by commits.
#[async_trait]
pub trait Versions: Send + Sync {
    /// One version.
    async fn version(&self, session: SessionId, version: Version)
    -> Result<Option<VersionRecord>, ReadError>;

    /// A session's versions, newest first, older than `before`.
    async fn versions(
        &self,
        session: SessionId,
        before: Option<Version>,
        limit: u32,
    ) -> Result<Page<VersionRecord>, ReadError>;

    /// Names a version, or takes its name away. Says whether there is such a version that has not expired.
    async fn label_version(
        &self,
        session: SessionId,
        version: Version,
        label: Option<&str>,
    ) -> Result<bool, ReadError>;

    /// Lets go of a version's files and transcripts. Says whether it did: the latest, and one with a label, stay.
    async fn expire_version(&self, session: SessionId, version: Version) -> Result<bool, ReadError>;

    /// What the versions of a partition keep alive, each once.
    async fn version_roots(&self, partition: &Partition) -> Result<Vec<Root>, ReadError>;
}

/// What was carried out once more. Erased with its session.
#[async_trait]
pub trait Replays: Send + Sync {
    /// Keeps a replay, or replaces it whole. Refused if its session does not exist.
    async fn put_replay(&self, replay: &ReplayRecord) -> Result<(), ReadError>;

    /// One replay of a session.
    async fn replay(&self, session: SessionId, replay: ReplayId) -> Result<Option<ReplayRecord>, ReadError>;

    /// A session's replays, newest first, older than `before`.
    async fn replays(
        &self,
        session: SessionId,
        before: Option<ReplayId>,
        limit: u32,
    ) -> Result<Page<ReplayRecord>, ReadError>;
}

/// Agents' own transcripts, saved while they grow. The main thread is the empty text; others are subagents' ids.
#[async_trait]
pub trait Transcripts: Send + Sync {
    /// Puts `bytes` at `offset` and ends the transcript there. Offset 0 replaces it; offset = length appends; more is
    /// refused, and so is a session that does not exist. `fence` is that of the writer's lease: it is checked in the
    /// transaction that writes, so one whose lease was taken over never touches what the new holder has saved.
    async fn write_transcript(
        &self,
        session: SessionId,
        fence: Fence,
        thread: &str,
        offset: u64,
        bytes: Bytes,
    ) -> Result<(), WriteError>;

    /// The whole transcript, or `None` if there is none.
    async fn transcript(&self, session: SessionId, thread: &str) -> Result<Option<Bytes>, ReadError>;

    /// At most `len` bytes of the transcript from `offset`: fewer where it ends, none behind its end.
    async fn transcript_part(
        &self,
        session: SessionId,
        thread: &str,
        offset: u64,
        len: u64,
    ) -> Result<Bytes, ReadError> {
        let whole = self.transcript(session, thread).await?.unwrap_or_default();
        let at = |place: u64| usize::try_from(place).unwrap_or(usize::MAX).min(whole.len());
        Ok(whole.slice(at(offset)..at(offset.saturating_add(len))))
    }

    /// Which transcripts there are, with their lengths.
    async fn transcripts(&self, session: SessionId) -> Result<Vec<(String, u64)>, ReadError>;
}

/// Who may write to a session now.
///
/// Times are those of one clock, the backend's: nodes say how long, never until when. So nodes whose clocks disagree still
/// agree on who holds a lease.
#[async_trait]
pub trait Leases: Send + Sync {
    /// Takes the lease for `node` if it is free, expired, or its own already; the fence grows each time. A session that does
    /// not exist has none. [`UPKEEP`] is always there.
    async fn acquire(
        &self,
        session: SessionId,
        node: &NodeId,
        lasts: Duration,
    ) -> Result<Granted, AcquireError>;

    /// Makes all leases of `node` last so long from now. Returns the sessions it still holds: one that it believes to hold
    /// and that is not among them was taken over.
    async fn renew(&self, node: &NodeId, lasts: Duration) -> Result<Vec<SessionId>, ReadError>;

    /// Who holds a lease that has not expired.
    async fn holder(&self, session: SessionId) -> Result<Option<NodeId>, ReadError>;

    /// Gives a lease back. Nothing happens if it was taken over.
    async fn release(&self, session: SessionId, node: &NodeId, fence: Fence) -> Result<(), ReadError>;

    /// The id of the blob storage that belongs with these records; `None` until one is claimed.
    async fn storage(&self) -> Result<Option<String>, ReadError>;

    /// Claims a blob storage for these records, unless another was claimed before. Returns the id of the claimed one.
    async fn claim_storage(&self, storage: &str) -> Result<String, ReadError>;
}

/// The lease on upkeep, which belongs to no session.
pub const UPKEEP: SessionId = SessionId(Uuid::nil());

/// Profiles. Each belongs to a project or to its whole partition, and its id is unique among those of the same owner.
#[async_trait]
pub trait Profiles: Send + Sync {
    /// All profiles of a partition, whoever they belong to, by id. Of those with the same id, the partition's own comes
    /// first.
    async fn profiles(&self, partition: &Partition) -> Result<Vec<AgentProfile>, ReadError>;

    /// The same, without those of other projects.
    async fn profiles_in(
        &self,
        partition: &Partition,
        project: ProjectId,
    ) -> Result<Vec<AgentProfile>, ReadError>;

    /// One profile: of the project, or with `None` of the whole partition. Never one of another owner.
    async fn profile(
        &self,
        partition: &Partition,
        project: Option<ProjectId>,
        id: &ProfileId,
    ) -> Result<Option<AgentProfile>, ReadError>;

    /// Makes or replaces one of the owner that it names.
    async fn put_profile(&self, partition: &Partition, profile: &AgentProfile) -> Result<(), ReadError>;

    /// Removes one of this owner. Says whether it existed.
    async fn remove_profile(
        &self,
        partition: &Partition,
        project: Option<ProjectId>,
        id: &ProfileId,
    ) -> Result<bool, ReadError>;
}

/// Tokens.
#[async_trait]
pub trait Tokens: Send + Sync {
    /// Keeps a new one. A hash or an id that is in use is refused, and so is a parent that is not there (any more).
    async fn put_token(&self, token: &TokenRecord) -> Result<(), ReadError>;

    /// The token with this hash.
    async fn token(&self, hash: &str) -> Result<Option<TokenRecord>, ReadError>;

    /// All tokens, oldest first; only those of `partition` if given.
    async fn tokens(&self, partition: Option<&Partition>) -> Result<Vec<TokenRecord>, ReadError>;

    /// Those of `ids` that are there.
    async fn tokens_present(&self, ids: &[TokenId]) -> Result<Vec<TokenId>, ReadError>;

    /// Removes one, and all that were made from it, to any depth. Says whether it existed.
    async fn remove_token(&self, id: TokenId) -> Result<bool, ReadError>;

    /// How many messages were counted for an account since this time, by commits that named the same.
    async fn counted(&self, account: &str, since: Timestamp) -> Result<u64, ReadError>;

    /// Removes counts of windows that began before this time. Counts since time 0 have no end and stay. Says how many.
    async fn forget_counts(&self, before: Timestamp) -> Result<u64, ReadError>;

    /// Removes all counts of an account that nobody can use any more.
    async fn remove_counts(&self, account: &str) -> Result<(), ReadError>;
}

/// Projects and workspaces.
#[async_trait]
pub trait Projects: Send + Sync {
    /// Makes a project, unless the partition has one of that name: then that one is returned.
    async fn put_project(&self, project: &ProjectRecord) -> Result<ProjectRecord, ReadError>;

    /// One project.
    async fn project(&self, project: ProjectId) -> Result<Option<ProjectRecord>, ReadError>;

    /// All projects, oldest first; only those of `partition` if given.
    async fn projects(&self, partition: Option<&Partition>) -> Result<Vec<ProjectRecord>, ReadError>;

    /// Makes a workspace with the lowest free user number at or above `first_uid`, unless it exists. Returns it as it is
    /// kept.
    async fn make_workspace(
        &self,
        wanted: &WorkspaceRecord,
        first_uid: u32,
    ) -> Result<WorkspaceRecord, ReadError>;

    /// One workspace.
    async fn workspace(&self, workspace: WorkspaceId) -> Result<Option<WorkspaceRecord>, ReadError>;

    /// All workspaces of a project, oldest first.
    async fn workspaces(&self, project: ProjectId) -> Result<Vec<WorkspaceRecord>, ReadError>;

    /// Forgets a workspace whose directory is gone; its user number is free again.
    async fn remove_workspace(&self, workspace: WorkspaceId) -> Result<bool, ReadError>;
}

/// What administrators set for model providers while the server ran. It belongs to the whole server: all nodes that share
/// the store see the same.
#[async_trait]
pub trait Providers: Send + Sync {
    /// All that is set, by the provider's name.
    async fn providers(&self) -> Result<Vec<ProviderRecord>, ReadError>;

    /// Makes or replaces the record of one provider.
    async fn put_provider(&self, record: &ProviderRecord) -> Result<(), ReadError>;

    /// Removes one. Says whether it existed.
    async fn remove_provider(&self, provider: &str) -> Result<bool, ReadError>;
}

/// Bytes by hash. What is read back is verified.
#[async_trait]
pub trait Blobs: Send + Sync {
    /// Keeps bytes and returns their hash. The same bytes are kept once, and are as old as their last put.
    async fn put_blob(&self, partition: &Partition, bytes: Bytes) -> Result<BlobHash, ReadError>;

    /// The bytes, or `None` if this partition has no such blob. Bytes that no longer match are an error.
    async fn blob(&self, partition: &Partition, hash: &BlobHash) -> Result<Option<Bytes>, ReadError>;

    /// Removes the blobs of a partition that are neither in `keep` nor were put after `since`. Says how many.
    async fn sweep_blobs(
        &self,
        partition: &Partition,
        keep: &HashSet<BlobHash>,
        since: Timestamp,
    ) -> Result<u64, ReadError>;

    /// All partitions that have blobs.
    async fn blob_spaces(&self) -> Result<Vec<Partition>, ReadError>;
}

/// Carries short messages between the nodes that share a backend. They are hints: one that is lost costs time, nothing else.
#[async_trait]
pub trait Hints: Send + Sync {
    /// Tells every node that listens, this one too. Never part of a commit, which would have to wait for it.
    async fn tell(&self, hint: &str) -> Result<(), ReadError>;

    /// Hears what is told from now on.
    async fn listen(&self) -> Result<Box<dyn Heard>, ReadError>;
}

/// What a node hears.
#[async_trait]
pub trait Heard: Send {
    /// The next hint. After an error nothing more is heard: listen again, and expect to have missed something. Cancel-safe.
    async fn next(&mut self) -> Result<String, ReadError>;
}

/// Views: what logs fold to, kept so that reading a page costs what the page costs. Erased with the session.
///
/// A cache: nothing here is the truth, and all of it can be made again from the log. The store does not know what the
/// items mean; it keeps them together with the position they are true at.
#[async_trait]
pub trait Views: Send + Sync {
    /// Where a session's view stands; `None` if it has none.
    async fn checkpoint(&self, session: SessionId) -> Result<Option<Checkpoint>, ReadError>;

    /// Items by key, in any order, discarded ones too. `None` unless the view is at `at`.
    async fn view_items(
        &self,
        session: SessionId,
        at: Seq,
        keys: &[String],
    ) -> Result<Option<Vec<ViewItem>>, ReadError>;

    /// Items of a list that were not discarded, at most `limit`, the nearest first. `None` unless the view is at `at`.
    async fn view_list(
        &self,
        session: SessionId,
        at: Seq,
        list: &str,
        part: ViewPart,
        limit: u32,
    ) -> Result<Option<Vec<ViewItem>>, ReadError>;

    /// Moves a view from `from` (`None`: there is none yet) to `to` and puts items, all at once. Says whether it did:
    /// not if the view is somewhere else by now, or the session does not exist.
    async fn advance_view(
        &self,
        session: SessionId,
        from: Option<Seq>,
        to: &Checkpoint,
        items: &[ViewItem],
    ) -> Result<bool, ReadError>;

    /// Drops a view that is at `at`, with its items.
    async fn drop_view(&self, session: SessionId, at: Seq) -> Result<(), ReadError>;
}

/// All contracts together, as the rest of the program holds them. A cheap clone.
#[derive(Clone)]
#[expect(missing_docs, reason = "each field is the contract of its type")]
pub struct Store {
    pub log: Arc<dyn EventLog>,
    pub sessions: Arc<dyn Sessions>,
    pub runs: Arc<dyn Runs>,
    pub approvals: Arc<dyn Approvals>,
    pub versions: Arc<dyn Versions>,
    pub replays: Arc<dyn Replays>,
    pub transcripts: Arc<dyn Transcripts>,
    pub leases: Arc<dyn Leases>,
    pub profiles: Arc<dyn Profiles>,
    pub tokens: Arc<dyn Tokens>,
    pub projects: Arc<dyn Projects>,
    pub providers: Arc<dyn Providers>,
    pub blobs: Arc<dyn Blobs>,
    /// `None` where no other node can share the backend.
    pub hints: Option<Arc<dyn Hints>>,
    pub views: Arc<dyn Views>,
}
