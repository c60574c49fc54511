//! Records to try a backend with. Ids are fresh; everything else says something, so that a field which is lost is seen.

use serde_json::json;
use uuid::Uuid;
use warren_domain::{
    AgentProfile, AgentType, ApprovalDecision, ApprovalId, ApprovalKind, ApprovalRequest, BlobHash, Content,
    Draft, EventBody, Fence, FileCounts, ForkedFrom, NodeId, Partition, ProfileId, ProfileOwner, ProfileRef,
    ProjectId, ReplayId, RunFrom, RunId, RunInput, RunOptions, RunStatus, Seq, SessionId, Timestamp, TokenId,
    Usage, Version, VersionCause, WorkspaceId,
};

use crate::{
    ApprovalRecord, Change, Commit, Key, LogEntry, ProjectRecord, ReplayRecord, RunRecord, SessionRecord,
    TokenRecord, VersionRecord, WorkspaceFile, WorkspaceRecord,
};

/// Milliseconds after some morning in 2026.
#[must_use]
pub fn time(millis: u64) -> Timestamp {
    Timestamp::from_millis(1_794_700_800_000).plus_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}

/// A session of a partition, project and workspace that nothing else is in.
#[must_use]
pub fn session() -> SessionRecord {
    let id = Uuid::now_v7();
    SessionRecord {
        session_id: SessionId(id),
        partition: Partition(format!("partition {id}")),
        project_id: ProjectId(Uuid::now_v7()),
        workspace_id: WorkspaceId(Uuid::now_v7()),
        agent_type: AgentType::from("builtin"),
        profile: ProfileRef { owner: ProfileOwner::Project, id: ProfileId::from("default") },
        name: Some("Überblick \"50%\" of a_b\\c\n".to_owned()),
        metadata: [("z".to_owned(), json!([1, null, "ü"])), ("a".to_owned(), json!({}))]
            .into_iter()
            .collect(),
        options: json!({ "model": "m", "budget": { "costUsd": 1.5 } }),
        forked_from: Some(ForkedFrom { session_id: SessionId(Uuid::now_v7()), version: Version(3) }),
        made_by: Some("ada".to_owned()),
        created_at: time(1),
        last_activity: time(1),
        head: Seq(1),
        version: Version(0),
    }
}

/// The commit that makes a session, with its first entry.
#[must_use]
pub fn create(record: &SessionRecord) -> Commit {
    Commit {
        session: record.session_id,
        fence: Fence(0),
        expected: Seq(0),
        entries: entries(record.session_id, Seq(0), 1),
        changes: vec![Change::CreateSession(Box::new(record.clone()))],
    }
}

/// A replay that has ended.
#[must_use]
pub fn replay(session_id: SessionId) -> ReplayRecord {
    ReplayRecord {
        replay_id: ReplayId(Uuid::now_v7()),
        session_id,
        node: NodeId::from("node"),
        started_at: time(5),
        ended_at: Some(time(9)),
        report: json!({ "status": "done", "differences": ["ü"] }),
        log: Some(BlobHash("f".repeat(64))),
    }
}

/// A question of a session that waits until then.
#[must_use]
pub fn approval(session: SessionId, expires_at: Timestamp) -> ApprovalRecord {
    ApprovalRecord {
        session_id: session,
        run_id: Some(RunId(Uuid::now_v7())),
        request: ApprovalRequest {
            approval_id: ApprovalId(Uuid::now_v7()),
            kind: ApprovalKind::Permission,
            tool_use_id: Some("call 1".to_owned()),
            title: "Run `ls` ü".to_owned(),
            detail: json!({"toolName": "bash", "input": {"command": "ls"}}),
            options: vec![ApprovalDecision::Allow, ApprovalDecision::Deny],
            rules: Vec::new(),
            expires_at,
        },
        requested_at: time(5),
        resolution: None,
    }
}

/// `n` entries after `head`.
#[must_use]
pub fn entries(session: SessionId, head: Seq, n: u64) -> Vec<LogEntry> {
    (head.0 + 1..=head.0 + n).map(|seq| entry(session, Seq(seq))).collect()
}

/// An entry whose bytes are its own.
#[must_use]
pub fn entry(session: SessionId, seq: Seq) -> LogEntry {
    let body = EventBody::SessionEnded { reason: format!("entry {seq} \u{0} \"ü\" \u{1F407}") };
    let event = Draft::of_session(body).numbered(seq, session, time(seq.0));
    LogEntry { seq, json: serde_json::to_vec(&event).unwrap_or_default().into() }
}

/// A commit of `n` entries and nothing else.
#[must_use]
pub fn append(session: SessionId, head: Seq, n: u64) -> Commit {
    Commit {
        session,
        fence: Fence(0),
        expected: head,
        entries: entries(session, head, n),
        changes: Vec::new(),
    }
}

/// A commit of changes and no entries.
#[must_use]
pub fn change(session: SessionId, head: Seq, changes: Vec<Change>) -> Commit {
    Commit { session, fence: Fence(0), expected: head, entries: Vec::new(), changes }
}

/// What some work cost.
#[must_use]
pub fn usage(tokens: u64) -> Usage {
    Usage {
        input_tokens: tokens,
        output_tokens: 2 * tokens,
        cache_read_tokens: 3 * tokens,
        cache_write_tokens: 4 * tokens,
        thinking_tokens: tokens,
        estimated_tokens: 5 * tokens,
        total_tokens: 0,
        cost_usd: 0.25,
        model: Some("some-model".to_owned()),
    }
    .totalled()
}

/// A run that ended.
#[must_use]
pub fn run(session: SessionId) -> RunRecord {
    RunRecord {
        run_id: RunId(Uuid::now_v7()),
        session_id: session,
        status: RunStatus::Failed,
        input: RunInput {
            content: Content::from("do it\u{0}"),
            options: RunOptions { model: Some("m".to_owned()), ..RunOptions::default() },
            base_version: Some(Version(4)),
            from: RunFrom::Version,
        },
        created_at: time(10),
        started_at: Some(time(20)),
        ended_at: Some(time(30)),
        base_version: Some(Version(4)),
        version: Some(Version(5)),
        seq: Seq(6),
        usage: usage(7),
        error: Some(("TIMEOUT".to_owned(), "it took too long".to_owned())),
    }
}

/// A run that waits.
#[must_use]
pub fn queued(session: SessionId) -> RunRecord {
    RunRecord {
        status: RunStatus::Queued,
        started_at: None,
        ended_at: None,
        base_version: None,
        version: None,
        usage: Usage::default(),
        error: None,
        ..run(session)
    }
}

/// A version that follows `base`.
#[must_use]
pub fn version(session: SessionId, base: Version) -> VersionRecord {
    VersionRecord {
        session_id: session,
        version: base.next(),
        base,
        cause: VersionCause::Run,
        run_id: Some(RunId(Uuid::now_v7())),
        seq: Seq(1),
        created_at: time(40),
        tree: Some(BlobHash(blake3::hash(b"tree").to_hex().to_string())),
        memory: Some(BlobHash(blake3::hash(b"memory").to_hex().to_string())),
        transcripts: vec![(String::new(), 12), ("sub".to_owned(), 34)],
        size_bytes: 1 << 40,
        files: FileCounts { added: 1, changed: 2, removed: 3 },
        blocks: 9,
        excluded: vec!["web/node_modules".to_owned()],
        skipped: vec![("web/pipe".to_owned(), "special".to_owned())],
        unstable: vec!["web/log".to_owned()],
        shared: true,
        restored: Some(Version(0)),
        expired: false,
        usage: usage(8),
        label: Some("before the change".to_owned()),
    }
}

/// A key that expires at `expires_at`.
#[must_use]
pub fn key(text: &str, expires_at: Timestamp) -> Key {
    Key {
        key: text.to_owned(),
        request: BlobHash(blake3::hash(text.as_bytes()).to_hex().to_string()),
        run_id: RunId(Uuid::now_v7()),
        seq: Seq(2),
        expires_at,
    }
}

/// A file at `path`.
#[must_use]
pub fn file(path: &str, size_bytes: u64) -> WorkspaceFile {
    WorkspaceFile {
        path: path.to_owned(),
        kind: "file".to_owned(),
        size_bytes,
        mode: 0o644,
        modified_at: time(50),
        hash: Some(BlobHash(blake3::hash(path.as_bytes()).to_hex().to_string())),
    }
}

/// A profile named `id`.
#[must_use]
pub fn profile(id: &str) -> AgentProfile {
    serde_json::from_value(json!({
        "id": id,
        "systemPrompt": "Be brief.\u{0}",
        "environmentVariables": { "A": "b" },
        "command": ["agent", "--acp"],
    }))
    .unwrap_or_else(|error| unreachable!("the sample is a profile: {error}"))
}

/// A profile named `id` that belongs to a project.
#[must_use]
pub fn project_profile(id: &str, project: ProjectId) -> AgentProfile {
    AgentProfile { project_id: Some(project), ..profile(id) }
}

/// A token with this hash.
#[must_use]
pub fn token(hash: &str) -> TokenRecord {
    TokenRecord {
        token_id: TokenId(Uuid::now_v7()),
        partition: Partition(format!("partition {}", Uuid::now_v7())),
        hash: hash.to_owned(),
        scope: "admin:ro".to_owned(),
        name: "a token".to_owned(),
        created_at: time(60),
        expires_at: Some(time(70)),
        owner: Some("an owner".to_owned()),
        plan: Some("paid".to_owned()),
        parent: None,
    }
}

/// A project of this name in a partition.
#[must_use]
pub fn project(partition: &Partition, name: &str) -> ProjectRecord {
    ProjectRecord {
        project_id: ProjectId(Uuid::now_v7()),
        partition: partition.clone(),
        name: name.to_owned(),
        options: json!({ "z": 1, "a": [true] }),
        created_at: time(80),
    }
}

/// A workspace of a project.
#[must_use]
pub fn workspace(project: &ProjectRecord) -> WorkspaceRecord {
    WorkspaceRecord {
        workspace_id: WorkspaceId(Uuid::now_v7()),
        partition: project.partition.clone(),
        project_id: project.project_id,
        uid: 0,
        created_at: time(90),
    }
}
