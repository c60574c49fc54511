//! A runtime without agents and sandboxes: sessions and logs are real, in a real store; what would be done is noted.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::{Value, json};
use warren_domain::{
    ApprovalDecision, ApprovalId, ApprovalKind, ApprovalRequest, ApprovalResolution, BlobHash, Block,
    BlockId, ConversationId, Conversations, Draft, ErrorCode, EventBody, Fence, Rejection, Replay, ReplayId,
    ReplayOutcome, ReplayStatus, RunId, RunInput, RunStatus, Seq, SessionChanges, SessionId,
    SessionRuntimeState, Usage, Version, WorkspaceId,
};
use warren_env::Env;
use warren_runtime::api::{
    AgentSummary, Agents, ApprovalQuery, ApprovalRecord, Approvals, ArtifactRecords, Changes, Documents,
    Files, Follow, Force, Imports, Knowledge, LogEntry, MessagePart, Messages, ModelCatalogue,
    ModelProviders, NewMessage, NewSession, Page, Previews, ProviderSummary, ProviderTest, ProviderWish,
    Records, ReplayWhat, Replays, RunChange, RunRecord, Runs, Runtime, SandboxReport, Sandboxes, Sent,
    SessionDetail, SessionError, SessionQuery, SessionRecord, SessionSummary, Sessions, StateFilter,
    Transcripts, UsageQuery, UsageRow, VersionFiles, Versions,
};
use warren_store::{Change, Commit, CommitError, EventLog, Live, SessionUpdate, Store};

use crate::fake_files::FakeFiles;

pub(crate) struct FakeRuntime {
    pub(crate) store: Store,
    live: Live,
    env: Env,
    loaded: Mutex<Vec<SessionId>>,
    /// Files, the same for every session.
    pub(crate) files: FakeFiles,
    /// How many sandboxes were started.
    pub(crate) n_started: AtomicUsize,
}

impl FakeRuntime {
    pub(crate) fn new(store: Store, live: Live, env: Env) -> Self {
        let files = FakeFiles::default();
        Self { store, live, env, loaded: Mutex::default(), files, n_started: AtomicUsize::new(0) }
    }

    /// Records what an agent would have said.
    pub(crate) async fn emit(&self, session: SessionId, drafts: Vec<Draft>) -> Seq {
        self.commit(session, drafts, Vec::new()).await
    }

    /// Says that a session's state in memory is another one.
    pub(crate) fn tell_runtime(&self, session: SessionId) {
        self.live.runtime_changed(session);
    }

    async fn commit(&self, session: SessionId, drafts: Vec<Draft>, changes: Vec<Change>) -> Seq {
        let expected = self.store.log.head(session).await.expect("a head").unwrap_or_default();
        let entries = drafts.into_iter().zip(expected.0 + 1..).map(|(draft, seq)| {
            LogEntry::of(&draft.numbered(Seq(seq), session, self.env.now())).expect("JSON")
        });
        let entries = entries.collect();
        let commit = Commit { session, fence: Fence(0), expected, entries, changes };
        self.live.commit(commit).await.expect("a commit")
    }

    async fn record(&self, session: SessionId) -> Result<SessionRecord, SessionError> {
        let found = self.store.sessions.session(session).await.expect("the store");
        found.ok_or_else(|| SessionError::NotFound { kind: "session", id: session.to_string() })
    }

    fn summary(&self, record: SessionRecord) -> SessionSummary {
        let is_loaded = self.loaded.lock().expect("a lock").contains(&record.session_id);
        SessionSummary { record, runtime: SessionRuntimeState { is_loaded, sandbox: None }, running: None }
    }

    async fn report(&self, session: SessionId) -> Result<SandboxReport, SessionError> {
        let state = self.summary(self.record(session).await?).runtime;
        Ok(SandboxReport {
            session_id: session,
            state,
            isolation: None,
            resources: None,
            limits: None,
            log: Vec::new(),
        })
    }
}

impl Runtime for FakeRuntime {
    fn sessions(&self) -> &dyn Sessions {
        self
    }
    fn runs(&self) -> &dyn Runs {
        self
    }
    fn records(&self) -> &dyn Records {
        self
    }
    fn sandboxes(&self) -> &dyn Sandboxes {
        self
    }
    fn approvals(&self) -> &dyn Approvals {
        self
    }
    fn imports(&self) -> &dyn Imports {
        self
    }
    fn agents(&self) -> &dyn Agents {
        self
    }
    fn versions(&self) -> &dyn Versions {
        self
    }
    fn version_files(&self) -> &dyn VersionFiles {
        self
    }
    fn files(&self) -> &dyn Files {
        &self.files
    }
    fn documents(&self) -> &dyn Documents {
        &self.files
    }
    fn artifacts(&self) -> &dyn ArtifactRecords {
        &self.files
    }
    fn previews(&self) -> &dyn Previews {
        &self.files
    }
    fn knowledge(&self) -> &dyn Knowledge {
        &self.files
    }
    fn replays(&self) -> &dyn Replays {
        self
    }
    fn providers(&self) -> &dyn ModelProviders {
        self
    }
}

/// No provider at all.
#[async_trait]
impl ModelProviders for FakeRuntime {
    async fn provider_list(&self) -> Result<Vec<ProviderSummary>, SessionError> {
        Ok(Vec::new())
    }

    async fn provider_set(&self, provider: &str, _: ProviderWish) -> Result<ProviderSummary, SessionError> {
        Err(SessionError::NotFound { kind: "model provider", id: provider.to_owned() })
    }

    async fn provider_unset(&self, provider: &str) -> Result<(), SessionError> {
        Err(SessionError::NotFound { kind: "model provider", id: provider.to_owned() })
    }

    async fn provider_test(&self, provider: &str) -> Result<ProviderTest, SessionError> {
        Err(SessionError::NotFound { kind: "model provider", id: provider.to_owned() })
    }

    async fn model_list(&self) -> ModelCatalogue {
        ModelCatalogue::default()
    }
}

/// Begins replays and forgets them.
#[async_trait]
impl Replays for FakeRuntime {
    async fn replay_start(&self, session: SessionId, what: ReplayWhat) -> Result<Replay, SessionError> {
        self.record(session).await?;
        Ok(Replay {
            replay_id: ReplayId(self.env.uuid()),
            session_id: session,
            run_id: match what {
                ReplayWhat::Run(run) => Some(run),
                ReplayWhat::Session => None,
            },
            status: ReplayStatus::Running,
            outcome: ReplayOutcome::default(),
            runs: Vec::new(),
            started_at: self.env.now(),
            ended_at: None,
        })
    }

    async fn replay_wait(&self, session: SessionId, replay: ReplayId) -> Result<Replay, SessionError> {
        self.replay_get(session, replay).await
    }

    async fn replay_end(&self, session: SessionId, replay: ReplayId) -> Result<Replay, SessionError> {
        self.replay_get(session, replay).await
    }

    async fn replay_get(&self, _: SessionId, replay: ReplayId) -> Result<Replay, SessionError> {
        Err(SessionError::NotFound { kind: "replay", id: replay.to_string() })
    }

    async fn replay_list(
        &self,
        session: SessionId,
        _: Option<ReplayId>,
        _: u32,
    ) -> Result<Page<Replay>, SessionError> {
        self.record(session).await?;
        Ok(Page { items: Vec::new(), more: false })
    }

    async fn replay_events_read(
        &self,
        session: SessionId,
        replay: ReplayId,
        _: Seq,
        _: u32,
        _: Option<Duration>,
    ) -> Result<(Vec<LogEntry>, Seq), SessionError> {
        self.replay_get(session, replay).await.map(|_| (Vec::new(), Seq(0)))
    }

    async fn replay_events_follow(
        &self,
        session: SessionId,
        replay: ReplayId,
        after: Seq,
    ) -> Result<(Follow, Option<Seq>), SessionError> {
        self.replay_get(session, replay).await.map(|_| (self.live.follow(session, after), None))
    }
}

#[async_trait]
impl Agents for FakeRuntime {
    async fn agent_list(&self) -> Vec<AgentSummary> {
        let name = "builtin".to_owned();
        vec![AgentSummary { name, is_agent: true, has_effort: true, needs_program: false, program: None }]
    }

    async fn agent_install(&self, name: &str) -> Result<AgentSummary, SessionError> {
        Err(SessionError::NotFound { kind: "agent", id: name.to_owned() })
    }

    async fn agent_remove(&self, name: &str) -> Result<(), SessionError> {
        Err(SessionError::NotFound { kind: "agent", id: name.to_owned() })
    }
}

#[async_trait]
impl Imports for FakeRuntime {
    async fn session_import(
        &self,
        new: NewSession,
        _past: Transcripts,
    ) -> Result<SessionSummary, SessionError> {
        self.session_create(new).await
    }
}

/// Every session asks one thing, under its own name.
#[async_trait]
impl Approvals for FakeRuntime {
    async fn approval_list(&self, query: ApprovalQuery) -> Result<Page<ApprovalRecord>, SessionError> {
        Ok(self.store.approvals.approvals(&query).await.expect("the store"))
    }

    async fn approval_get(&self, approval: ApprovalId) -> Result<ApprovalRecord, SessionError> {
        let not_found = |_| SessionError::NotFound { kind: "approval", id: approval.to_string() };
        let record = self.record(SessionId(approval.0)).await.map_err(not_found)?;
        Ok(ApprovalRecord {
            session_id: record.session_id,
            run_id: None,
            request: ApprovalRequest {
                approval_id: approval,
                kind: ApprovalKind::Permission,
                tool_use_id: None,
                title: "May I?".to_owned(),
                detail: json!({}),
                options: vec![ApprovalDecision::Allow],
                rules: Vec::new(),
                expires_at: self.env.now().plus_millis(60_000),
            },
            requested_at: record.created_at,
            resolution: None,
        })
    }

    async fn approval_resolve(&self, resolution: ApprovalResolution) -> Result<ApprovalRecord, SessionError> {
        let asked = self.approval_get(resolution.approval_id).await?;
        Ok(ApprovalRecord { resolution: Some((resolution, self.env.now())), ..asked })
    }

    async fn approval_rule_withdraw(
        &self,
        approval: ApprovalId,
        _by: String,
    ) -> Result<ApprovalRecord, SessionError> {
        self.approval_get(approval).await
    }
}

#[async_trait]
impl Sessions for FakeRuntime {
    async fn session_create(&self, new: NewSession) -> Result<SessionSummary, SessionError> {
        let (session_id, now) = (self.env.session_id(), self.env.now());
        let record = SessionRecord {
            session_id,
            partition: new.partition,
            project_id: new.project,
            workspace_id: new.workspace.unwrap_or(WorkspaceId(self.env.uuid())),
            agent_type: new.agent_type.clone(),
            profile: new.profile.clone(),
            name: new.name.clone(),
            metadata: new.metadata,
            options: serde_json::to_value(new.options).expect("JSON"),
            forked_from: None,
            made_by: new.made_by,
            created_at: now,
            last_activity: now,
            head: Seq(1),
            version: Version(0),
        };
        let created = EventBody::SessionCreated {
            agent_type: new.agent_type,
            profile: new.profile.id,
            name: new.name,
            forked_from: None,
            options: Some(record.options.clone()),
        };
        let change = Change::CreateSession(Box::new(record.clone()));
        self.commit(session_id, vec![Draft::of_session(created)], vec![change]).await;
        Ok(self.summary(record))
    }

    async fn session_list(
        &self,
        query: SessionQuery,
        _: Option<StateFilter>,
    ) -> Result<Page<SessionSummary>, SessionError> {
        let page = self.store.sessions.sessions(&query).await.expect("the store");
        let items = page.items.into_iter().map(|record| self.summary(record)).collect();
        Ok(Page { items, more: page.more })
    }

    async fn session_get(&self, session: SessionId) -> Result<SessionSummary, SessionError> {
        Ok(self.summary(self.record(session).await?))
    }

    async fn session_last_run(&self, _: SessionId) -> Result<Option<RunStatus>, SessionError> {
        Ok(None)
    }

    async fn session_load(&self, session: SessionId) -> Result<SessionSummary, SessionError> {
        let record = self.record(session).await?;
        self.loaded.lock().expect("a lock").push(session);
        Ok(self.summary(record))
    }

    async fn session_unload(&self, session: SessionId, force: Force) -> Result<SessionSummary, SessionError> {
        if force == Force::No {
            return Err(SessionError::Rejected(Rejection::Busy));
        }
        self.loaded.lock().expect("a lock").retain(|loaded| *loaded != session);
        self.session_get(session).await
    }

    async fn session_update(
        &self,
        session: SessionId,
        changes: SessionChanges,
    ) -> Result<SessionSummary, SessionError> {
        let update = Change::UpdateSession(SessionUpdate {
            name: changes.name.clone(),
            metadata: changes.metadata.clone(),
            options: changes.options.clone(),
            last_activity: None,
        });
        let updated = Draft::of_session(EventBody::SessionUpdated { changes });
        self.commit(session, vec![updated], vec![update]).await;
        self.session_get(session).await
    }

    async fn session_end(&self, _: SessionId, reason: String) -> Result<SessionSummary, SessionError> {
        panic!("{reason}");
    }

    async fn session_erase(&self, session: SessionId) -> Result<(), SessionError> {
        self.live.erase(session, warren_domain::Fence(0)).await.expect("the store");
        Ok(())
    }
}

#[async_trait]
impl Runs for FakeRuntime {
    async fn run_send(&self, session: SessionId, message: NewMessage) -> Result<Sent, SessionError> {
        let run = self.env.run_id();
        let started = EventBody::RunStarted {
            input: message.content.clone(),
            base_version: Version(0),
            grant: None,
            toggles: None,
        };
        let head = self.store.log.head(session).await.expect("the store").unwrap_or_default();
        let record = RunRecord {
            run_id: run,
            session_id: session,
            status: RunStatus::Running,
            input: RunInput {
                content: message.content,
                options: message.options,
                base_version: None,
                from: message.from,
            },
            created_at: self.env.now(),
            started_at: None,
            ended_at: None,
            base_version: None,
            version: None,
            seq: head.next(),
            usage: Usage { cost_usd: 0.25, ..Usage::default() },
            error: None,
        };
        let mut changes = vec![Change::PutRun(Box::new(record))];
        changes.extend(message.count.map(Change::Count));
        let seq = head.next();
        let event = Draft::of_run(run, started).numbered(seq, session, self.env.now());
        let entries = vec![LogEntry::of(&event).expect("JSON")];
        let commit = Commit { session, fence: Fence(0), expected: head, entries, changes };
        match self.live.commit(commit).await {
            Ok(_) => Ok(Sent { run, seq, retries: 0 }),
            Err(CommitError::LimitReached { .. }) => Err(SessionError::Invalid {
                code: ErrorCode::MessageLimit,
                message: "enough".to_owned(),
                hint: None,
            }),
            Err(error) => panic!("{error}"),
        }
    }

    async fn run_interrupt(&self, _: SessionId, _: String) -> Result<Option<RunId>, SessionError> {
        Ok(None)
    }

    async fn run_get(&self, session: SessionId, run: RunId) -> Result<RunRecord, SessionError> {
        let found = self.store.runs.run(session, run).await.expect("the store");
        found.ok_or_else(|| SessionError::NotFound { kind: "run", id: run.to_string() })
    }

    async fn run_list(
        &self,
        session: SessionId,
        before: Option<RunId>,
        limit: u32,
    ) -> Result<Page<RunRecord>, SessionError> {
        Ok(self.store.runs.runs(session, before, limit).await.expect("the store"))
    }

    async fn run_update(&self, _: SessionId, run: RunId, _: RunChange) -> Result<RunRecord, SessionError> {
        Err(SessionError::Rejected(Rejection::NotQueued(run)))
    }

    async fn run_drop(&self, _: SessionId, run: RunId, _: String) -> Result<(), SessionError> {
        Err(SessionError::Rejected(Rejection::NotQueued(run)))
    }

    async fn usage(&self, query: UsageQuery) -> Result<Vec<UsageRow>, SessionError> {
        Ok(self.store.runs.usage(&query).await.expect("the store"))
    }
}

#[async_trait]
impl Records for FakeRuntime {
    async fn session_detail(
        &self,
        session: SessionId,
        limit: Option<u32>,
    ) -> Result<SessionDetail, SessionError> {
        let summary = self.session_get(session).await?;
        let entries = self.store.log.read(session, Seq(0), 10_000).await.expect("the store");
        let mut conversations = Conversations::default();
        entries.iter().for_each(|entry| conversations.apply(&entry.event().expect("an event")));
        let n_older = limit.map_or(0, |limit| conversations.main().len().saturating_sub(limit as usize));
        let newest = conversations.main()[n_older..].to_vec();
        Ok(SessionDetail {
            last_seq: summary.record.head,
            summary,
            more: n_older > 0,
            conversations: Conversations::of_threads(newest, Vec::new()),
            files: Vec::new(),
            queue: Vec::new(),
            queue_held: false,
        })
    }

    async fn messages(
        &self,
        session: SessionId,
        thread: &ConversationId,
        part: MessagePart,
        only: Option<&[BlockId]>,
        limit: u32,
    ) -> Result<Option<Messages>, SessionError> {
        let detail = self.session_detail(session, None).await?;
        let blocks = if thread.is_main() { detail.conversations.main().to_vec() } else { Vec::new() };
        let at = |id: &BlockId| blocks.iter().position(|block| block.id() == id);
        let limit = limit as usize;
        let place = |id: Option<BlockId>, or: usize| id.map_or(Some(or), |id| at(&id));
        let (range, more) = match part {
            MessagePart::After(id) => {
                let is_first = id.is_none();
                let Some(place) = place(id, 0) else { return Ok(None) };
                let start = if is_first { place } else { place + 1 };
                let end = blocks.len().min(start + limit);
                (start..end, end < blocks.len())
            }
            MessagePart::Before(id) => {
                let Some(end) = place(id, blocks.len()) else { return Ok(None) };
                let start = end.saturating_sub(limit);
                (start..end, start > 0)
            }
        };
        let is_wanted = |block: &Block| only.is_none_or(|ids| ids.contains(block.id()));
        let blocks = blocks[range].iter().filter(|block| is_wanted(block)).cloned().collect();
        Ok(Some(Messages { blocks, more: more && only.is_none(), seq: detail.last_seq }))
    }

    async fn events_read(
        &self,
        session: SessionId,
        after: Seq,
        limit: u32,
        wait: Option<Duration>,
    ) -> Result<(Vec<LogEntry>, Seq), SessionError> {
        let head = self.store.log.head(session).await.expect("the store").unwrap_or_default();
        if let (true, Some(wait)) = (head <= after, wait) {
            // Whether something came or not, the log is read below.
            let _ = tokio::time::timeout(wait, self.live.follow(session, after).next()).await;
        }
        let entries = self.store.log.read(session, after, limit).await.expect("the store");
        let head = self.store.log.head(session).await.expect("the store").unwrap_or_default();
        Ok((entries, head))
    }

    async fn events_follow(&self, session: SessionId, after: Seq) -> Result<Follow, SessionError> {
        Ok(self.live.follow(session, after))
    }

    async fn transcript(&self, _: SessionId, thread: &str) -> Result<Bytes, SessionError> {
        Ok(Bytes::from(format!("transcript of `{thread}`")))
    }

    async fn message(&self, _: SessionId, _: &ConversationId, id: &BlockId) -> Result<Block, SessionError> {
        Err(SessionError::NotFound { kind: "message", id: id.to_string() })
    }

    async fn blob(&self, _: SessionId, hash: &BlobHash) -> Result<Bytes, SessionError> {
        Err(SessionError::NotFound { kind: "blob", id: hash.to_string() })
    }

    fn changes(&self) -> Changes {
        self.live.changes()
    }
}

#[async_trait]
impl Sandboxes for FakeRuntime {
    async fn sandbox_start(&self, session: SessionId) -> Result<SandboxReport, SessionError> {
        self.n_started.fetch_add(1, Ordering::SeqCst);
        self.report(session).await
    }

    async fn sandbox_stop(&self, _: SessionId, _: Force) -> Result<(), SessionError> {
        Ok(())
    }

    async fn sandbox_get(&self, session: SessionId) -> Result<SandboxReport, SessionError> {
        self.report(session).await
    }

    async fn sandbox_list(&self) -> Vec<SandboxReport> {
        let query = SessionQuery { limit: 100, ..SessionQuery::default() };
        let sessions = self.store.sessions.sessions(&query).await.expect("the store").items;
        let reports = sessions.into_iter().map(|record| self.report(record.session_id));
        futures::future::join_all(reports).await.into_iter().flatten().collect()
    }

    async fn probe(&self) -> Value {
        json!({"isolation": {"usable": true}})
    }
}
