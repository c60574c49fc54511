//! Making, finding and ending sessions.

use std::{collections::HashSet, sync::Arc};

use async_trait::async_trait;
use warren_agents::Adapter;
use warren_domain::{
    AgentType, Command, ErrorCode, Fence, ForkedFrom, RunStatus, SessionChanges, SessionId, Timestamp,
    WorkspaceId,
};
use warren_sandbox::FilesAt;
use warren_store::{Change, Page, SessionQuery, SessionRecord, WorkspaceRecord};

use super::SessionManager;
use crate::{
    api::{Force, NewSession, SessionError, SessionSummary, Sessions, StateFilter},
    options::Programs,
    places::Places,
    recorder::{RecordError, Recorder},
    session::{
        Leave, Request, accepted, check_effort, check_model, first_version, is_shared, latest_of_workspace,
    },
    spaces,
};

#[async_trait]
impl Sessions for SessionManager {
    async fn session_create(&self, new: NewSession) -> Result<SessionSummary, SessionError> {
        self.create(new, None, First::Now).await
    }

    async fn session_list(
        &self,
        query: SessionQuery,
        state: Option<StateFilter>,
    ) -> Result<Page<SessionSummary>, SessionError> {
        let only = state.map(|state| {
            self.roster.matching(|status| match state {
                StateFilter::Running => status.running.is_some(),
                StateFilter::Loaded => status.runtime.is_loaded,
                StateFilter::Sandboxed => status.runtime.sandbox.is_some(),
            })
        });
        // By any of an agent's names. One that nobody has is a mistake, and no empty list.
        let programs = self.shared.parts.programs.as_ref();
        let find = |agent: &AgentType| find_adapter(agent, programs).map(|(_, agent)| agent);
        let agent_type = query.agent_type.as_ref().map(find).transpose()?;
        let query = SessionQuery { only: only.or(query.only), agent_type, ..query };
        let page = self.shared.parts.store.sessions.sessions(&query).await;
        let page = page.map_err(|error| SessionError::internal("list the sessions", error))?;
        let items = page.items.into_iter().map(|record| self.summary(record)).collect();
        Ok(Page { items, more: page.more })
    }

    async fn session_get(&self, session: SessionId) -> Result<SessionSummary, SessionError> {
        Ok(self.summary(self.record(session).await?))
    }

    async fn session_last_run(&self, session: SessionId) -> Result<Option<RunStatus>, SessionError> {
        let latest = self.shared.parts.store.runs.runs(session, None, 1).await;
        let latest = latest.map_err(|error| SessionError::internal("read the latest run", error))?;
        Ok(latest.items.first().map(|run| run.status))
    }

    async fn session_load(&self, session: SessionId) -> Result<SessionSummary, SessionError> {
        let record = self.record(session).await?;
        self.roster.load(session);
        Ok(self.summary(record))
    }

    async fn session_unload(&self, session: SessionId, force: Force) -> Result<SessionSummary, SessionError> {
        let record = self.record(session).await?;
        match self.roster.unload_unowned(session) {
            Some(recorder) => self.give_back(session, recorder.fence).await?,
            // By its owner, or by one that takes over the lease that an earlier process or a failed unload left.
            None if self.roster.is_owned(session) || self.is_holder(session).await? => {
                self.ask_to_leave(session, Leave::Unload(force)).await?;
            }
            None => {}
        }
        self.shared.parts.live.runtime_changed(session);
        Ok(self.summary(record))
    }

    async fn session_update(
        &self,
        session: SessionId,
        changes: SessionChanges,
    ) -> Result<SessionSummary, SessionError> {
        self.ask(session, |reply| Request::Update(changes, reply)).await?;
        self.session_get(session).await
    }

    async fn session_end(&self, session: SessionId, reason: String) -> Result<SessionSummary, SessionError> {
        self.ask_to_leave(session, Leave::End(reason)).await?;
        self.session_get(session).await
    }

    async fn session_erase(&self, session: SessionId) -> Result<(), SessionError> {
        let record = self.record(session).await?;
        self.check_heirs(&record).await?;
        self.replays.cancel(Some(session)).await;
        // By its owner, which holds the lease: nobody works on it, here or on another server, when it goes.
        match self.ask_to_leave(session, Leave::Erase).await {
            // Its log cannot be read, so that nobody can own it.
            Err(SessionError::Internal { doing, source }) => {
                tracing::warn!(%session, error = &*source as &dyn std::error::Error, doing, "a session is erased unread");
                self.erase_unread(session).await?;
            }
            erased => erased?,
        }
        self.erase_blobs(&record).await?;
        self.erase_directories(&record).await
    }
}

/// The agent of this name or alias, and the name that is recorded.
pub(super) fn find_adapter(
    agent: &AgentType,
    programs: &dyn Programs,
) -> Result<(&'static dyn Adapter, AgentType), SessionError> {
    crate::agents::find(agent, &programs.installed()).ok_or_else(|| {
        let all = warren_agents::adapters().iter().map(|agent| agent.agent_type().0);
        let own = programs.known().into_iter().filter(|it| it.is_agent).map(|it| it.name);
        let all: Vec<String> = all.chain(own).collect();
        SessionError::Invalid {
            code: ErrorCode::AgentUnknown,
            message: format!("there is no agent `{agent}`"),
            hint: Some(format!("`type` is one of {}; the default is the first", all.join(", "))),
        }
    })
}

/// When a session gets its first version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// With its first entry: it begins without anything.
    Now,
    /// When its past is there. Until then it is [being made](SessionManager::begin_making).
    Later,
}

impl SessionManager {
    /// Makes a session.
    pub(super) async fn create(
        &self,
        new: NewSession,
        forked_from: Option<ForkedFrom>,
        first: First,
    ) -> Result<SessionSummary, SessionError> {
        let (_, agent_type) = find_adapter(&new.agent_type, self.shared.parts.programs.as_ref())?;
        let new = NewSession { agent_type, ..new };
        accepted(&new.agent_type, new.options.permission_mode.unwrap_or_default(), None)?;
        if forked_from.is_none() {
            check_effort(&self.shared, &new.agent_type, new.options.effort)?;
            check_model(&self.shared, &new.agent_type, new.options.model.as_deref()).await?;
        }
        let env = &self.shared.parts.env;
        let session = env.session_id();
        let workspace = self.workspace_for(session, &new).await?;
        if first == First::Later {
            self.begin_making(session).await?;
        }
        let mut recorder = Recorder::unborn(session, new.partition.clone(), self.shared.clone());
        let mut record = SessionRecord { forked_from, ..new_record(session, workspace, new)? };
        let command = Command::Create {
            agent_type: record.agent_type.clone(),
            profile: record.profile.id.clone(),
            name: record.name.clone(),
            forked_from,
            options: Some(record.options.clone()),
        };
        recorder
            .carry_out(command, |events| {
                if let Some(event) = events.first() {
                    (record.created_at, record.last_activity) = (event.timestamp, event.timestamp);
                    record.head = event.seq;
                }
                let first = events
                    .first()
                    .filter(|_| first == First::Now)
                    .map(|event| Change::PutVersion(Box::new(first_version(session, event))));
                [Change::CreateSession(Box::new(record.clone()))].into_iter().chain(first).collect()
            })
            .await
            .map_err(|error| SessionError::internal("make the session", error))?;
        self.roster.load(session);
        self.shared.parts.live.runtime_changed(session);
        Ok(self.summary(record))
    }

    /// The workspace the session shares, or one of its own: it then has the session's own number.
    async fn workspace_for(&self, session: SessionId, new: &NewSession) -> Result<WorkspaceId, SessionError> {
        let projects = &self.shared.parts.store.projects;
        let failed = |error| SessionError::internal("find the workspace", error);
        if let Some(shared) = new.workspace {
            let found = projects.workspace(shared).await.map_err(failed)?;
            let ours = found.filter(|workspace| {
                workspace.partition == new.partition && workspace.project_id == new.project
            });
            return ours
                .map(|workspace| workspace.workspace_id)
                .ok_or_else(|| SessionError::not_found("workspace", shared));
        }
        let wanted = WorkspaceRecord {
            workspace_id: WorkspaceId(session.0),
            partition: new.partition.clone(),
            project_id: new.project,
            uid: 0,
            created_at: self.shared.parts.env.now(),
        };
        let options = &self.shared.options;
        let made = projects.make_workspace(&wanted, options.first_uid).await.map_err(failed)?;
        if made.uid > options.last_uid {
            // It belongs to another server of this host, or to nobody.
            projects.remove_workspace(made.workspace_id).await.map_err(failed)?;
            let problem = format!(
                "all UIDs from {} to {} belong to workspaces; set a larger range in `sandbox.uid_range`, or erase sessions",
                options.first_uid, options.last_uid
            );
            return Err(SessionError::internal("make a workspace", problem));
        }
        Ok(made.workspace_id)
    }

    /// Gives a lease back. It does not expire by itself if that fails: this server renews all leases under its name.
    async fn give_back(&self, session: SessionId, fence: Fence) -> Result<(), SessionError> {
        let (leases, node) = (&self.shared.parts.store.leases, &self.shared.options.node);
        let released = leases.release(session, node, fence).await;
        released.map_err(|error| SessionError::internal("give the lease back", error))
    }

    /// Whether this server holds the lease of a session.
    async fn is_holder(&self, session: SessionId) -> Result<bool, SessionError> {
        let holder = self.shared.parts.store.leases.holder(session).await;
        let holder = holder.map_err(|error| SessionError::internal("read who holds the lease", error))?;
        Ok(holder.as_ref() == Some(&self.shared.options.node))
    }

    /// Erases a session that nobody can own, under a lease taken for that alone.
    async fn erase_unread(&self, session: SessionId) -> Result<(), SessionError> {
        let granted = self.roster.lease(session).await?;
        self.roster.unload_unowned(session);
        let erased = self.shared.parts.live.erase(session, granted.fence).await;
        erased.map(drop).map_err(|error| SessionError::internal("erase the session", error))
    }

    /// Whether more than one session works in the same workspace.
    pub(super) async fn is_shared(&self, record: &SessionRecord) -> Result<bool, SessionError> {
        let shared = is_shared(&self.shared.parts.store, record.workspace_id).await;
        shared.map_err(|error| SessionError::internal("list the sessions", error))
    }

    /// Refuses to erase the files of a workspace that others work in too: where no directory of the host has them, they are in
    /// this session's sandbox or in its versions, and nowhere else.
    async fn check_heirs(&self, record: &SessionRecord) -> Result<(), SessionError> {
        let parts = &self.shared.parts;
        if parts.backend.files() == FilesAt::Host || !self.is_shared(record).await? {
            return Ok(());
        }
        let latest = latest_of_workspace(&parts.store, record.workspace_id).await;
        let latest = latest.map_err(|error| SessionError::internal("read the versions", error))?;
        let has_latest = latest.is_some_and(|latest| latest.session_id == record.session_id);
        if !has_latest && self.guest(record.session_id).await?.is_none() {
            return Ok(());
        }
        Err(SessionError::Invalid {
            code: ErrorCode::Conflict,
            message:
                "the files of the workspace, in which other sessions work too, are this session's to keep"
                    .to_owned(),
            hint: Some(
                "stop its sandbox and send a message to another session of the workspace: then that has them"
                    .to_owned(),
            ),
        })
    }

    /// Whether no session works in a workspace any more. Else its directory stays, with its user number.
    async fn is_abandoned(&self, workspace: WorkspaceId) -> Result<bool, SessionError> {
        let query = SessionQuery { workspace: Some(workspace), limit: 1, ..SessionQuery::default() };
        let page = self.shared.parts.store.sessions.sessions(&query).await;
        let page = page.map_err(|error| SessionError::internal("list the sessions", error))?;
        Ok(page.items.is_empty())
    }

    /// Removes what only this session's log spoke of. What is left when that is cut, upkeep finds.
    async fn erase_blobs(&self, record: &SessionRecord) -> Result<(), SessionError> {
        let (blobs, session) = (&self.shared.parts.store.blobs, record.session_id);
        for space in
            [spaces::of_log(&record.partition, session), spaces::of_calls(&record.partition, session)]
        {
            let swept = blobs.sweep_blobs(&space, &HashSet::new(), Timestamp::from_millis(i64::MAX)).await;
            swept.map_err(|error| SessionError::internal("erase what the log spoke of", error))?;
        }
        Ok(())
    }

    async fn erase_directories(&self, record: &SessionRecord) -> Result<(), SessionError> {
        let places = Places::of(&self.shared.options.directory, record.session_id, record.workspace_id);
        let is_last = self.is_abandoned(record.workspace_id).await?;
        let workspace = self.shared.parts.store.projects.workspace(record.workspace_id).await;
        let workspace = workspace.map_err(|error| SessionError::internal("find the workspace", error))?;
        let (backend, directory) =
            (Arc::clone(&self.shared.parts.backend), self.shared.options.directory.clone());
        let removed = tokio::task::spawn_blocking(move || {
            places.remove_session()?;
            if is_last {
                places.remove_workspace()?;
                workspace.into_iter().for_each(|workspace| backend.release(&directory, workspace.uid));
            }
            Ok(())
        });
        let removed = removed.await.map_err(|error| SessionError::internal("erase the files", error))?;
        removed.map_err(|error: std::io::Error| SessionError::internal("erase the files", error))?;
        if is_last {
            // Only now: the user number is free once nothing of it is on disk.
            let forgotten = self.shared.parts.store.projects.remove_workspace(record.workspace_id).await;
            forgotten.map_err(|error| SessionError::internal("forget the workspace", error))?;
        }
        Ok(())
    }
}

fn new_record(
    session_id: SessionId,
    workspace_id: WorkspaceId,
    new: NewSession,
) -> Result<SessionRecord, SessionError> {
    let options = serde_json::to_value(&new.options)
        .map_err(|error| SessionError::internal("write the options", RecordError::Serialise(error)))?;
    Ok(SessionRecord {
        session_id,
        partition: new.partition,
        project_id: new.project,
        workspace_id,
        agent_type: new.agent_type,
        profile: new.profile,
        name: new.name,
        metadata: new.metadata,
        options,
        forked_from: None,
        made_by: new.made_by,
        created_at: warren_domain::Timestamp::default(),
        last_activity: warren_domain::Timestamp::default(),
        head: warren_domain::Seq(0),
        version: warren_domain::Version(0),
    })
}
