//! Keeps everything: each session's log, and the records that must change together with it.
//!
//! In: [`Commit`]s from whoever holds a session's lease. Out: entries in order, to readers and followers, only after
//! they are durable. Backends: SQLite and PostgreSQL, behind one set of contracts that anyone may implement.
//! **Invariant:** nothing here knows HTTP, agents or what a partition stands for; an entry's bytes are never rewritten.
//! Start with [`EventLog`], then [`Store`], then [`open`] and [`Live`].

mod contract;
mod records;

mod blobs;
mod defaults;
mod live;
mod open;
mod sql;
mod storage;

#[cfg(feature = "conformance")]
pub mod conformance;

pub use blobs::{DamagedBlob, blobs_on, local_objects};
pub use contract::{
    AcquireError, Approvals, Backend, Blobs, CommitError, EventLog, Heard, Hints, Leases, Profiles, Projects,
    Providers, ReadError, Replays, Runs, Sessions, Store, Tokens, Transcripts, UPKEEP, Versions, Views,
    WriteError,
};
pub use defaults::ensure_defaults;
pub use live::{Changes, Follow, ListChange, Live};
pub use open::{Database, OpenError, Options, open, scratch};
pub use records::{
    ApprovalQuery, ApprovalRecord, Change, Checkpoint, Commit, Compaction, Count, Granted, Key, LogEntry,
    Page, Pending, ProjectRecord, ProviderRecord, ReplayRecord, Root, RunRecord, SessionQuery, SessionRecord,
    SessionUpdate, StoredBytes, TokenRecord, UsageGroup, UsageQuery, UsageRow, VersionRecord, ViewItem,
    ViewPart, WorkspaceFile, WorkspaceRecord,
};
pub use storage::{StorageError, claim_storage};
