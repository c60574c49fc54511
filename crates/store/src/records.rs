//! What is kept.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use warren_domain::{
    AgentType, ApprovalId, ApprovalRequest, ApprovalResolution, BlobHash, Event, Fence, FileCounts,
    ForkedFrom, NodeId, Partition, ProfileRef, ProjectId, ReplayId, RunId, RunInput, RunStatus, Seq,
    SessionId, Timestamp, TokenId, Usage, Version, VersionCause, WorkspaceId,
};

/// One entry of a log: its number and the event, serialised once. The same bytes go to the disk and to every reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Its place.
    pub seq: Seq,
    /// The event as JSON.
    pub json: Bytes,
}

impl LogEntry {
    /// Serialises an event.
    ///
    /// # Errors
    /// Never for events that were made by code; the type allows it.
    pub fn of(event: &Event) -> Result<Self, serde_json::Error> {
        Ok(Self { seq: event.seq, json: Bytes::from(event.to_json()?) })
    }

    /// Reads the event back.
    ///
    /// # Errors
    /// When the bytes are not an event this version knows.
    pub fn event(&self) -> Result<Event, serde_json::Error> {
        Event::from_json(&self.json)
    }
}

/// Everything that becomes true at once: entries of one session's log, and the records they imply.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    /// Whose log.
    pub session: SessionId,
    /// The writer's lease; an older one is refused.
    pub fence: Fence,
    /// The head of the log as the writer knows it; the first entry is the one after it.
    pub expected: Seq,
    /// New entries, contiguous. May be empty when only records change.
    pub entries: Vec<LogEntry>,
    /// Records that change with them, all of this session.
    pub changes: Vec<Change>,
}

/// A record that changes together with the log.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The session begins to exist. Only in its first commit, with `expected` 0. Its head and version follow from that
    /// commit, whatever the record says.
    CreateSession(Box<SessionRecord>),
    /// Some of its data changes.
    UpdateSession(SessionUpdate),
    /// A run begins to exist or changes; whole.
    PutRun(Box<RunRecord>),
    /// Something is asked, or answered; whole.
    PutApproval(Box<ApprovalRecord>),
    /// A version is published; refused unless it follows the latest, which is its base. v0 may be put once, before v1.
    PutVersion(Box<VersionRecord>),
    /// An idempotency key is used; refused if it is taken.
    PutKey(Key),
    /// One more message; refused if there are as many as there may be. At most one in a commit.
    Count(Count),
    /// A file of the workspace is known to be so.
    PutFile(WorkspaceFile),
    /// A file of the workspace is gone.
    RemoveFile(String),
    /// So many bytes of the entries' fields were put as blobs: they count as the log's.
    AddBlobBytes(u64),
}

/// How many bytes logs take: their entries, and the long fields of these that are blobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoredBytes {
    /// The session's own.
    pub session: u64,
    /// Those of all sessions of its project.
    pub project: u64,
}

/// A session as it is listed. No status: that is derived.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRecord {
    /// Its name for ever.
    pub session_id: SessionId,
    /// Keeps it apart from others.
    pub partition: Partition,
    /// The project it belongs to.
    pub project_id: ProjectId,
    /// The workspace it works in.
    pub workspace_id: WorkspaceId,
    /// The agent it talks to.
    pub agent_type: AgentType,
    /// What the agent is given.
    pub profile: ProfileRef,
    /// A name for people.
    pub name: Option<String>,
    /// The client's own data.
    pub metadata: Map<String, Value>,
    /// Options of its runs, as the client set them.
    pub options: Value,
    /// Where it was forked from.
    pub forked_from: Option<ForkedFrom>,
    /// On whose behalf it was made, in the words of whoever keeps users. `None`: a service's.
    pub made_by: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When something last happened in it.
    pub last_activity: Timestamp,
    /// The head of its log.
    pub head: Seq,
    /// Its latest version.
    pub version: Version,
}

/// What of a session's record changes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionUpdate {
    /// Its new name.
    pub name: Option<String>,
    /// Its new metadata, whole.
    pub metadata: Option<Map<String, Value>>,
    /// Its new options, whole.
    pub options: Option<Value>,
    /// When something last happened.
    pub last_activity: Option<Timestamp>,
}

/// One message carried out, or to be.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// Its name.
    pub run_id: RunId,
    /// Whose run.
    pub session_id: SessionId,
    /// Where it stands.
    pub status: RunStatus,
    /// Everything it needs to begin.
    pub input: RunInput,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// The version it began from.
    pub base_version: Option<Version>,
    /// The version it published.
    pub version: Option<Version>,
    /// The entry that announced it.
    pub seq: Seq,
    /// What was spent.
    pub usage: Usage,
    /// Code and message, if it failed.
    pub error: Option<(String, String)>,
}

/// Something a person was asked, and the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRecord {
    /// Whose.
    pub session_id: SessionId,
    /// The run that asked.
    pub run_id: Option<RunId>,
    /// What it asked.
    pub request: ApprovalRequest,
    /// When it asked.
    pub requested_at: Timestamp,
    /// What became of it, and when.
    pub resolution: Option<(ApprovalResolution, Timestamp)>,
}

/// Which approvals to list; an absent field means any.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApprovalQuery {
    /// Of this partition.
    pub partition: Option<Partition>,
    /// Of this project.
    pub project: Option<ProjectId>,
    /// Of this session.
    pub session: Option<SessionId>,
    /// Only those that wait for an answer at this time, or only the others.
    pub pending: Option<(Pending, Timestamp)>,
    /// Older than this one.
    pub before: Option<ApprovalId>,
    /// At most this many.
    pub limit: u32,
}

/// Whether an answer is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pending {
    /// It is.
    Yes,
    /// It was given, or its time is up.
    No,
}

/// A version: everything, at one position of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionRecord {
    /// Whose.
    pub session_id: SessionId,
    /// Its number.
    pub version: Version,
    /// The one it was made from.
    pub base: Version,
    /// Why it was made.
    pub cause: VersionCause,
    /// The run that made it.
    pub run_id: Option<RunId>,
    /// The last entry of the log that belongs to it.
    pub seq: Seq,
    /// When it was committed.
    pub created_at: Timestamp,
    /// Root of its tree of files. `None`: those a new session starts with, unless it has expired.
    pub tree: Option<BlobHash>,
    /// The blob that says where the contents of its transcripts are.
    pub memory: Option<BlobHash>,
    /// Lengths of the transcripts at this version: (thread, bytes); the main thread is the empty text.
    pub transcripts: Vec<(String, u64)>,
    /// Bytes of all its files.
    pub size_bytes: u64,
    /// What happened to files since its base.
    pub files: FileCounts,
    /// How many blocks are new since its base.
    pub blocks: u64,
    /// Paths that are not in the tree, though they were there.
    pub excluded: Vec<String>,
    /// What is not in the tree because it could not be: (path, why).
    pub skipped: Vec<(String, String)>,
    /// Files that changed every time they were read: they are in the tree as they were at some moment.
    pub unstable: Vec<String>,
    /// Another session worked in the same workspace meanwhile.
    pub shared: bool,
    /// The older version it is once more.
    pub restored: Option<Version>,
    /// Retention has let go of its files and its transcripts; the rest stays for ever.
    pub expired: bool,
    /// What the session had spent.
    pub usage: Usage,
    /// A name for people; keeps it for ever.
    pub label: Option<String>,
}

/// Entries of a log that one stands for from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction {
    /// The first that goes. From it to the last, every number must still have its entry.
    pub from: Seq,
    /// What stands for them, in the place of the last.
    pub entry: LogEntry,
    /// The lease under which this is done. It need not be the session's own: compacting changes nothing that its owner reads.
    pub lease: SessionId,
    /// The lease's fence. If it was taken over, nothing happens.
    pub fence: Fence,
}

/// Where a session's view stands: its items are folded up to here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The last entry that is in it.
    pub seq: Seq,
    /// What its bytes and those of its items mean.
    pub format: u64,
    /// Hash of everything else in it.
    pub hash: BlobHash,
    /// What is known besides the items.
    pub state: Bytes,
}

/// One item of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewItem {
    /// Its name; unique in its session. No text of a stranger.
    pub key: String,
    /// The list it is in.
    pub list: String,
    /// Its place there; `None`: it was discarded.
    pub place: Option<Seq>,
    /// The first entry that named it.
    pub first: Seq,
    /// What it is; empty if it was discarded.
    pub body: Bytes,
}

/// Which part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewPart {
    /// Before this place, the last first; before the end if absent.
    Before(Option<Seq>),
    /// After this place, the first first.
    After(Seq),
}

/// What a version keeps alive.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Root {
    /// Its tree of files.
    pub tree: Option<BlobHash>,
    /// The blob that says where its transcripts are.
    pub memory: Option<BlobHash>,
}

/// A run, or a whole session, carried out once more. Its log is no session's.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayRecord {
    /// Its name; the newer sort after the older.
    pub replay_id: ReplayId,
    /// What is replayed.
    pub session_id: SessionId,
    /// Who carries it out.
    pub node: NodeId,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// What it came to so far.
    pub report: Value,
    /// Its own log, once it has ended: lines of JSON.
    pub log: Option<BlobHash>,
}

/// An idempotency key, and what it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The client's text; at most 255 bytes.
    pub key: String,
    /// Hash of the request it came with.
    pub request: BlobHash,
    /// The run it made.
    pub run_id: RunId,
    /// The entry that announced the run.
    pub seq: Seq,
    /// When it may be forgotten.
    pub expires_at: Timestamp,
}

/// One more message on an account's behalf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// Who pays for it. Opaque: whoever stores it never learns what it stands for.
    pub account: String,
    /// Since when messages are counted.
    pub since: Timestamp,
    /// There may be as many since then, this one among them; `None`: any number.
    pub most: Option<u64>,
}

/// A file of the workspace as last seen. Never its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceFile {
    /// Relative to the workspace.
    pub path: String,
    /// `file`, `directory` or `symlink`.
    pub kind: String,
    /// Its length.
    pub size_bytes: u64,
    /// Permission bits.
    pub mode: u32,
    /// When it was last changed.
    pub modified_at: Timestamp,
    /// BLAKE3 of its content, where it is known.
    pub hash: Option<BlobHash>,
}

/// A group of sessions and workspaces.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectRecord {
    /// Its name for ever.
    pub project_id: ProjectId,
    /// Keeps it apart from others.
    pub partition: Partition,
    /// A name for people; unique in its partition.
    pub name: String,
    /// Settings.
    pub options: Value,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What was set for a model provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderRecord {
    /// Its name.
    pub provider: String,
    /// Where its API begins; `None`: where the configuration says.
    pub base_url: Option<String>,
    /// Its key, as ciphertext that only the holder of the server's key file can open; `None`: it needs none.
    pub sealed_key: Option<String>,
    /// When it was set.
    pub updated_at: Timestamp,
}

/// A directory tree that sessions work in.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkspaceRecord {
    /// Its name for ever.
    pub workspace_id: WorkspaceId,
    /// Keeps it apart from others.
    pub partition: Partition,
    /// The project it belongs to.
    pub project_id: ProjectId,
    /// The number of the user it is worked in as: never another workspace's while this record exists.
    pub uid: u32,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A token. Its secret is not here, only the hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRecord {
    /// Its public name.
    pub token_id: TokenId,
    /// What it may see.
    pub partition: Partition,
    /// BLAKE3 of the secret, in hexadecimal.
    pub hash: String,
    /// What it may do: `admin`, `admin:ro`, `project:<id>`, `project:<id>:ro`.
    pub scope: String,
    /// A name for people.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops working.
    pub expires_at: Option<Timestamp>,
    /// Whose it is; several tokens of one owner share what it may send. `None`: it stands for itself.
    pub owner: Option<String>,
    /// How much its owner may send, by name; `None`: what its scope is given.
    pub plan: Option<String>,
    /// The token that it was made from, and ends with; `None`: it stands by itself.
    pub parent: Option<TokenId>,
}

/// A lease that was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Granted {
    /// Goes into every commit.
    pub fence: Fence,
    /// Until when nobody else gets it, by the clock of the backend.
    pub until: Timestamp,
}

/// Which sessions to list: newest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionQuery {
    /// Only this partition.
    pub partition: Option<Partition>,
    /// Only this project.
    pub project: Option<ProjectId>,
    /// Only those that work in this workspace.
    pub workspace: Option<WorkspaceId>,
    /// Only this agent.
    pub agent_type: Option<AgentType>,
    /// Only names or ids that contain this text, in any case.
    pub text: Option<String>,
    /// Only these; for states that are derived from memory.
    pub only: Option<Vec<SessionId>>,
    /// Only older than this one.
    pub before: Option<SessionId>,
    /// At most this many.
    pub limit: u32,
}

/// Part of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The part.
    pub items: Vec<T>,
    /// There is more after it.
    pub more: bool,
}

/// How to group what was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageGroup {
    /// By UTC day, `2026-11-15`.
    Day,
    /// By model.
    Model,
    /// By session.
    Session,
    /// By agent.
    Agent,
    /// By project.
    Project,
}

/// What was spent, when and where.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageQuery {
    /// Only this partition.
    pub partition: Option<Partition>,
    /// Only this project.
    pub project: Option<ProjectId>,
    /// Runs that ended at or after this.
    pub from: Option<Timestamp>,
    /// Runs that ended before this.
    pub to: Option<Timestamp>,
    /// How to group.
    pub group_by: UsageGroup,
}

/// What one group spent.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageRow {
    /// The group's name.
    pub group: String,
    /// How many runs.
    pub runs: u64,
    /// What they spent.
    pub usage: Usage,
}
