//! Sessions, runs and versions: what commits have made, read.

use std::collections::{BTreeMap, HashSet};

use async_trait::async_trait;
use warren_domain::{ApprovalId, Fence, Partition, RunId, SessionId, Timestamp, Usage, Version};
use warren_store::{
    ApprovalQuery, ApprovalRecord, Approvals, Key, Page, Pending, ReadError, Root, RunRecord, Runs,
    SessionQuery, SessionRecord, Sessions, StoredBytes, UsageGroup, UsageQuery, UsageRow, VersionRecord,
    Versions, WorkspaceFile, WriteError,
};

use crate::{Memory, Session, Spent, page};

#[async_trait]
impl Sessions for Memory {
    async fn session(&self, session: SessionId) -> Result<Option<SessionRecord>, ReadError> {
        Ok(self.state().sessions.get(&session).map(|session| session.record.clone()))
    }

    async fn sessions(&self, query: &SessionQuery) -> Result<Page<SessionRecord>, ReadError> {
        let state = self.state();
        let newest_first = state.sessions.values().rev().map(|session| &session.record);
        Ok(page(newest_first.filter(|record| matches(query, record)).cloned(), query.limit))
    }

    async fn erase(&self, session: SessionId, fence: Fence) -> Result<bool, WriteError> {
        let mut state = self.state();
        state.check_fence(session, fence)?;
        state.leases.remove(&session);
        let Some(erased) = state.sessions.remove(&session) else { return Ok(false) };
        state.erased.extend(spent(&erased).map(|spent| Spent { session: None, ..spent }));
        Ok(true)
    }

    async fn stored(&self, session: SessionId) -> Result<Option<StoredBytes>, ReadError> {
        let state = self.state();
        let bytes = |session: &Session| {
            session.entries.iter().map(|entry| entry.json.len() as u64).sum::<u64>() + session.blob_bytes
        };
        Ok(state.sessions.get(&session).map(|own| {
            let project = own.record.project_id;
            let others = state.sessions.values().filter(|other| other.record.project_id == project);
            StoredBytes { session: bytes(own), project: others.map(bytes).sum() }
        }))
    }

    async fn files(&self, session: SessionId) -> Result<Vec<WorkspaceFile>, ReadError> {
        let state = self.state();
        Ok(state
            .sessions
            .get(&session)
            .map_or_else(Vec::new, |session| session.files.values().cloned().collect()))
    }
}

#[async_trait]
impl Runs for Memory {
    async fn run(&self, session: SessionId, run: RunId) -> Result<Option<RunRecord>, ReadError> {
        Ok(self.state().sessions.get(&session).and_then(|session| session.runs.get(&run).cloned()))
    }

    async fn runs(
        &self,
        session: SessionId,
        before: Option<RunId>,
        limit: u32,
    ) -> Result<Page<RunRecord>, ReadError> {
        let state = self.state();
        let runs = state.sessions.get(&session).into_iter().flat_map(|session| session.runs.values().rev());
        Ok(page(runs.filter(|run| before.is_none_or(|before| run.run_id < before)).cloned(), limit))
    }

    async fn unfinished(&self) -> Result<Vec<RunRecord>, ReadError> {
        let state = self.state();
        let runs = state.sessions.values().flat_map(|session| session.runs.values());
        let mut unfinished: Vec<_> = runs.filter(|run| !run.status.is_over()).cloned().collect();
        unfinished.sort_by_key(|run| run.run_id);
        Ok(unfinished)
    }

    async fn key(&self, session: SessionId, key: &str, now: Timestamp) -> Result<Option<Key>, ReadError> {
        let state = self.state();
        let key = state.sessions.get(&session).and_then(|session| session.keys.get(key));
        Ok(key.filter(|key| key.expires_at > now).cloned())
    }

    async fn usage(&self, query: &UsageQuery) -> Result<Vec<UsageRow>, ReadError> {
        let state = self.state();
        let is_wanted = |spent: &Spent| {
            query.partition.as_ref().is_none_or(|wanted| *wanted == spent.partition)
                && query.project.is_none_or(|wanted| wanted == spent.project)
                && query.from.is_none_or(|from| spent.ended_at >= from)
                && query.to.is_none_or(|to| spent.ended_at < to)
        };
        let all = state.sessions.values().flat_map(spent).chain(state.erased.iter().cloned());
        let mut groups: BTreeMap<String, Vec<Usage>> = BTreeMap::new();
        for spent in all.filter(is_wanted) {
            groups.entry(group_of(query.group_by, &spent)).or_default().push(spent.usage);
        }
        Ok(groups.into_iter().map(|(group, spent)| sum(group, &spent)).collect())
    }
}

#[async_trait]
impl Approvals for Memory {
    async fn approval(&self, approval: ApprovalId) -> Result<Option<ApprovalRecord>, ReadError> {
        let state = self.state();
        Ok(state.sessions.values().find_map(|session| session.approvals.get(&approval).cloned()))
    }

    async fn approvals(&self, query: &ApprovalQuery) -> Result<Page<ApprovalRecord>, ReadError> {
        let state = self.state();
        let sessions = state.sessions.values().filter(|session| {
            let record = &session.record;
            query.partition.as_ref().is_none_or(|wanted| *wanted == record.partition)
                && query.project.is_none_or(|wanted| wanted == record.project_id)
                && query.session.is_none_or(|wanted| wanted == record.session_id)
        });
        let mut found: Vec<_> = sessions.flat_map(|session| session.approvals.values()).collect();
        found.sort_by_key(|approval| std::cmp::Reverse(approval.request.approval_id));
        let found = found.into_iter().filter(|approval| {
            let is_pending = |now| approval.resolution.is_none() && approval.request.expires_at > now;
            query.before.is_none_or(|before| approval.request.approval_id < before)
                && query.pending.is_none_or(|(pending, now)| is_pending(now) == (pending == Pending::Yes))
        });
        Ok(page(found.cloned(), query.limit))
    }
}

#[async_trait]
impl Versions for Memory {
    async fn version(
        &self,
        session: SessionId,
        version: Version,
    ) -> Result<Option<VersionRecord>, ReadError> {
        Ok(self.state().sessions.get(&session).and_then(|session| session.versions.get(&version).cloned()))
    }

    async fn versions(
        &self,
        session: SessionId,
        before: Option<Version>,
        limit: u32,
    ) -> Result<Page<VersionRecord>, ReadError> {
        let state = self.state();
        let versions =
            state.sessions.get(&session).into_iter().flat_map(|session| session.versions.values().rev());
        Ok(page(versions.filter(|v| before.is_none_or(|before| v.version < before)).cloned(), limit))
    }

    async fn label_version(
        &self,
        session: SessionId,
        version: Version,
        label: Option<&str>,
    ) -> Result<bool, ReadError> {
        let mut state = self.state();
        let found = state.sessions.get_mut(&session).and_then(|session| session.versions.get_mut(&version));
        let Some(found) = found.filter(|version| !version.expired) else { return Ok(false) };
        found.label = label.map(str::to_owned);
        Ok(true)
    }

    async fn expire_version(&self, session: SessionId, version: Version) -> Result<bool, ReadError> {
        let mut state = self.state();
        let Some(session) = state.sessions.get_mut(&session) else { return Ok(false) };
        let latest = session.record.version;
        let found = session.versions.get_mut(&version);
        let goes = |v: &&mut VersionRecord| !v.expired && v.label.is_none() && v.version < latest;
        let Some(found) = found.filter(goes) else { return Ok(false) };
        (found.tree, found.memory, found.expired) = (None, None, true);
        Ok(true)
    }

    async fn version_roots(&self, partition: &Partition) -> Result<Vec<Root>, ReadError> {
        let state = self.state();
        let ours = state.sessions.values().filter(|session| session.record.partition == *partition);
        let roots = ours.flat_map(|session| session.versions.values()).filter_map(|version| {
            let root = Root { tree: version.tree.clone(), memory: version.memory.clone() };
            (root.tree.is_some() || root.memory.is_some()).then_some(root)
        });
        Ok(roots.collect::<HashSet<_>>().into_iter().collect())
    }
}

fn matches(query: &SessionQuery, record: &SessionRecord) -> bool {
    query.partition.as_ref().is_none_or(|wanted| *wanted == record.partition)
        && query.project.is_none_or(|wanted| wanted == record.project_id)
        && query.workspace.is_none_or(|wanted| wanted == record.workspace_id)
        && query.agent_type.as_ref().is_none_or(|wanted| *wanted == record.agent_type)
        && query.text.as_ref().is_none_or(|text| contains(record, &text.to_lowercase()))
        && query.only.as_ref().is_none_or(|only| only.contains(&record.session_id))
        && query.before.is_none_or(|before| record.session_id < before)
}

fn contains(record: &SessionRecord, text: &str) -> bool {
    let name = record.name.as_deref().unwrap_or_default().to_lowercase();
    name.contains(text) || record.session_id.to_string().contains(text)
}

/// What the runs of a session that ended have spent.
fn spent(session: &Session) -> impl Iterator<Item = Spent> {
    let record = &session.record;
    session.runs.values().filter_map(move |run| {
        Some(Spent {
            partition: record.partition.clone(),
            project: record.project_id,
            agent: record.agent_type.clone(),
            session: Some(record.session_id),
            ended_at: run.ended_at?,
            usage: run.usage.clone(),
        })
    })
}

fn group_of(group_by: UsageGroup, spent: &Spent) -> String {
    match group_by {
        UsageGroup::Day => spent.ended_at.to_string()[.."2026-11-15".len()].to_owned(),
        UsageGroup::Model => spent.usage.model.clone().unwrap_or_else(|| "unknown".to_owned()),
        UsageGroup::Session => spent.session.map_or_else(|| "erased".to_owned(), |id| id.to_string()),
        UsageGroup::Agent => spent.agent.to_string(),
        UsageGroup::Project => spent.project.to_string(),
    }
}

/// The model is named if all runs agree on it.
fn sum(group: String, spent: &[Usage]) -> UsageRow {
    let mut usage = Usage::default();
    for one in spent {
        usage.add(one);
    }
    let model = spent.first().and_then(|first| first.model.clone());
    usage.model = model.filter(|model| spent.iter().all(|one| one.model.as_ref() == Some(model)));
    UsageRow { group, runs: spent.len() as u64, usage }
}
