//! A store in memory: what writing a backend of one's own takes.
//!
//! Implements every contract of `warren-store` from outside its workspace, and passes the same suite as the backends
//! inside (`tests/conformance.rs`). One lock holds everything, so each operation is atomic by itself; nothing is
//! durable, which is the one promise a real backend must add.
//! Start with [`store`], then `log.rs`, where the rules of a commit are.

mod blobs;
mod leases;
mod log;
mod projects;
mod records;
mod replays;
mod settings;
mod transcripts;
mod views;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use warren_domain::{
    AgentProfile, AgentType, ApprovalId, BlobHash, Fence, NodeId, Partition, ProfileId, ProjectId, ReplayId,
    RunId, Seq, SessionId, Timestamp, TokenId, Usage, Version,
};
use warren_env::Env;
use warren_store::{
    ApprovalRecord, Checkpoint, Key, LogEntry, Page, ProjectRecord, ProviderRecord, ReadError, ReplayRecord, RunRecord,
    SessionRecord, Store, TokenRecord, VersionRecord, ViewItem, WorkspaceFile, WorkspaceRecord, WriteError,
};

/// An empty store.
pub fn store(env: Env) -> Store {
    let memory = Arc::new(Memory { env, state: Mutex::default() });
    Store {
        log: memory.clone(),
        sessions: memory.clone(),
        runs: memory.clone(),
        approvals: memory.clone(),
        versions: memory.clone(),
        replays: memory.clone(),
        transcripts: memory.clone(),
        leases: memory.clone(),
        profiles: memory.clone(),
        tokens: memory.clone(),
        projects: memory.clone(),
        providers: memory.clone(),
        blobs: memory.clone(),
        views: memory,
        // Nobody else can reach this memory.
        hints: None,
    }
}

struct Memory {
    /// Says when an idempotency key or a lease has expired.
    env: Env,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sessions: BTreeMap<SessionId, Session>,
    /// What runs of erased sessions spent.
    erased: Vec<Spent>,
    /// Messages, by account and since when they are counted.
    counts: HashMap<(String, Timestamp), u64>,
    /// Apart from the sessions: the lease on upkeep belongs to none.
    leases: HashMap<SessionId, Lease>,
    /// The id of the blob storage that was claimed.
    storage: Option<String>,
    /// By partition, id and project, which is the order of a list.
    profiles: BTreeMap<(Partition, ProfileId, Option<ProjectId>), AgentProfile>,
    tokens: BTreeMap<TokenId, TokenRecord>,
    projects: Vec<ProjectRecord>,
    workspaces: Vec<WorkspaceRecord>,
    providers: BTreeMap<String, ProviderRecord>,
    /// With the time at which each was put.
    blobs: HashMap<(Partition, BlobHash), (Bytes, Timestamp)>,
}

/// What a run that ended has spent, and on whose account.
#[derive(Clone)]
struct Spent {
    partition: Partition,
    project: ProjectId,
    agent: AgentType,
    /// `None`: it was erased.
    session: Option<SessionId>,
    ended_at: Timestamp,
    usage: Usage,
}

/// Everything under a session's name.
struct Session {
    record: SessionRecord,
    entries: Vec<LogEntry>,
    /// Of fields that were put as blobs.
    blob_bytes: u64,
    runs: BTreeMap<RunId, RunRecord>,
    approvals: BTreeMap<ApprovalId, ApprovalRecord>,
    versions: BTreeMap<Version, VersionRecord>,
    replays: BTreeMap<ReplayId, ReplayRecord>,
    keys: HashMap<String, Key>,
    files: BTreeMap<String, WorkspaceFile>,
    transcripts: BTreeMap<String, Vec<u8>>,
    checkpoint: Option<Checkpoint>,
    /// Items of its view, by key.
    view: HashMap<String, ViewItem>,
}

#[derive(Default)]
struct Lease {
    fence: Fence,
    holder: Option<(NodeId, Timestamp)>,
}

/// Why something is refused that the contracts have no word for.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("session `{0}` does not exist")]
    NoSession(SessionId),
    #[error("it ends at {end}, so nothing can begin at {offset}")]
    Hole { end: usize, offset: u64 },
    #[error("the commit carries a record of session `{0}`")]
    Foreign(SessionId),
    #[error("there is one already")]
    Duplicate,
    #[error("what it belongs to does not exist")]
    Absent,
}

impl State {
    /// Whether the lease under which something is written is the newest.
    fn check_fence(&self, session: SessionId, ours: Fence) -> Result<(), WriteError> {
        match self.leases.get(&session).map(|lease| lease.fence) {
            Some(current) if ours < current => Err(WriteError::Fenced { session, ours, current }),
            Some(_) | None => Ok(()),
        }
    }
}

impl Session {
    /// Whether its view is where the caller believes it to be; `None`: there is none.
    fn is_viewed_at(&self, at: Option<Seq>) -> bool {
        self.checkpoint.as_ref().map(|checkpoint| checkpoint.seq) == at
    }
}

impl Memory {
    /// Nothing panics while it is held, so a poisoned lock still guards good data.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Refusal {
    fn while_doing(self, doing: &'static str) -> ReadError {
        ReadError { doing, source: Box::new(self) }
    }
}

/// At most `limit` items, and whether there are more.
fn page<T>(items: impl Iterator<Item = T>, limit: u32) -> Page<T> {
    let limit = limit as usize;
    let mut items: Vec<T> = items.take(limit + 1).collect();
    let more = items.len() > limit;
    items.truncate(limit);
    Page { items, more }
}
