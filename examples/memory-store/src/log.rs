//! The log: a commit is checked whole, then carried out whole, under the one lock.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use warren_domain::{Seq, SessionId, Timestamp, Version};
use warren_store::{
    Change, Commit, CommitError, Compaction, Count, EventLog, LogEntry, ReadError, SessionRecord,
};

use crate::{Memory, Refusal, Session, State};

#[async_trait]
impl EventLog for Memory {
    async fn commit(&self, commit: Commit) -> Result<Seq, CommitError> {
        let now = self.env.now();
        let mut state = self.state();
        check_shape(&commit)?;
        check_log(&state, &commit)?;
        check_changes(state.sessions.get(&commit.session), &commit, now)?;
        count(&mut state, &commit)?;
        Ok(apply(&mut state, commit))
    }

    async fn read(&self, session: SessionId, after: Seq, limit: u32) -> Result<Vec<LogEntry>, ReadError> {
        let state = self.state();
        let Some(session) = state.sessions.get(&session) else { return Ok(Vec::new()) };
        let skipped = session.entries.partition_point(|entry| entry.seq <= after);
        Ok(session.entries.iter().skip(skipped).take(limit as usize).cloned().collect())
    }

    async fn head(&self, session: SessionId) -> Result<Option<Seq>, ReadError> {
        Ok(self.state().sessions.get(&session).map(|session| session.record.head))
    }

    async fn compact(&self, session: SessionId, piece: Compaction) -> Result<bool, ReadError> {
        let mut state = self.state();
        if state.leases.get(&piece.lease).map(|lease| lease.fence) != Some(piece.fence) {
            return Ok(false);
        }
        let Some(session) = state.sessions.get_mut(&session) else { return Ok(false) };
        let first = session.entries.partition_point(|entry| entry.seq < piece.from);
        let end = session.entries.partition_point(|entry| entry.seq <= piece.entry.seq);
        let is_whole = first < end && (end - first) as u64 == piece.entry.seq.0 - piece.from.0 + 1;
        if is_whole {
            session.entries.splice(first..end, [piece.entry]);
        }
        Ok(is_whole)
    }
}

/// What can be seen without knowing the log.
fn check_shape(commit: &Commit) -> Result<(), CommitError> {
    let numbers = (1..).map(|n| Seq(commit.expected.0 + n));
    if commit.entries.iter().zip(numbers).any(|(entry, seq)| entry.seq != seq) {
        return Err(CommitError::NotContiguous(commit.session));
    }
    for change in &commit.changes {
        let owner = match change {
            Change::CreateSession(record) => record.session_id,
            Change::PutRun(record) => record.session_id,
            Change::PutApproval(record) => record.session_id,
            Change::PutVersion(record) => record.session_id,
            Change::UpdateSession(_)
            | Change::PutKey(_)
            | Change::Count(_)
            | Change::AddBlobBytes(_)
            | Change::PutFile(_)
            | Change::RemoveFile(_) => continue,
        };
        if owner != commit.session {
            let source = Box::new(Refusal::Foreign(owner));
            return Err(CommitError::Backend { session: commit.session, source });
        }
    }
    Ok(())
}

/// Whether the writer may write, and knows where the log ends.
fn check_log(state: &State, commit: &Commit) -> Result<(), CommitError> {
    let session = commit.session;
    let creates = commit.changes.iter().any(|change| matches!(change, Change::CreateSession(_)));
    let found = match (creates, state.sessions.get(&session)) {
        (true, Some(_)) => return Err(CommitError::Exists(session)),
        (false, None) => return Err(CommitError::NoSession(session)),
        (true, None) => Seq(0),
        (false, Some(existing)) => existing.record.head,
    };
    let current = state.leases.get(&session).map_or_else(Default::default, |lease| lease.fence);
    if commit.fence < current {
        return Err(CommitError::Fenced { session, ours: commit.fence, current });
    }
    if commit.expected != found {
        return Err(CommitError::Conflict { session, expected: commit.expected, found });
    }
    Ok(())
}

/// Whether its keys are free and its versions follow each other.
fn check_changes(existing: Option<&Session>, commit: &Commit, now: Timestamp) -> Result<(), CommitError> {
    let session = commit.session;
    let mut latest = existing.map_or(Version(0), |session| session.record.version);
    let mut has_first = existing.is_some_and(|session| session.versions.contains_key(&Version(0)));
    let mut keys: HashMap<_, _> = existing.map(|session| session.keys.iter().collect()).unwrap_or_default();
    keys.retain(|_, key| key.expires_at > now);
    for change in &commit.changes {
        match change {
            Change::PutVersion(record) => {
                let first = (record.version, record.base, latest) == (Version(0), Version(0), Version(0));
                let follows = record.base == latest && record.version == latest.next();
                if !(follows || first && !has_first) {
                    return Err(CommitError::VersionConflict { session, latest });
                }
                has_first |= first;
                latest = record.version;
            }
            Change::PutKey(key) => {
                if let Some(taken) = keys.insert(&key.key, key) {
                    return Err(CommitError::KeyTaken(Box::new(taken.clone())));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Counts what is limited, last of all: nothing is counted of what is refused.
fn count(state: &mut State, commit: &Commit) -> Result<(), CommitError> {
    for change in &commit.changes {
        if let Change::Count(Count { account, since, most }) = change {
            let used = state.counts.get(&(account.clone(), *since)).copied().unwrap_or(0);
            match most {
                Some(most) if used >= *most => return Err(CommitError::LimitReached { most: *most }),
                _ => drop(state.counts.insert((account.clone(), *since), used + 1)),
            }
        }
    }
    Ok(())
}

fn apply(state: &mut State, commit: Commit) -> Seq {
    let Commit { session, entries, changes, .. } = commit;
    for change in &changes {
        if let Change::CreateSession(record) = change {
            state.sessions.insert(session, Session::new((**record).clone()));
        }
    }
    // `check_log` has seen it, or it was just made.
    let Some(session) = state.sessions.get_mut(&session) else { return Seq(0) };
    session.entries.extend(entries);
    session.record.head = session.entries.last().map_or(Seq(0), |entry| entry.seq);
    for change in changes {
        session.apply(change);
    }
    session.record.head
}

impl Session {
    fn new(record: SessionRecord) -> Self {
        Self {
            record: SessionRecord { head: Seq(0), version: Version(0), ..record },
            entries: Vec::new(),
            blob_bytes: 0,
            runs: BTreeMap::new(),
            versions: BTreeMap::new(),
            replays: BTreeMap::new(),
            approvals: BTreeMap::new(),
            keys: HashMap::new(),
            files: BTreeMap::new(),
            transcripts: BTreeMap::new(),
            checkpoint: None,
            view: HashMap::new(),
        }
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::CreateSession(_) | Change::Count(_) => {}
            Change::AddBlobBytes(bytes) => self.blob_bytes = self.blob_bytes.saturating_add(bytes),
            Change::UpdateSession(update) => {
                let record = &mut self.record;
                record.name = update.name.or(record.name.take());
                record.metadata = update.metadata.unwrap_or_else(|| std::mem::take(&mut record.metadata));
                record.options = update.options.unwrap_or_else(|| record.options.take());
                record.last_activity = update.last_activity.unwrap_or(record.last_activity);
            }
            Change::PutRun(mut run) => {
                // As the contract says: other backends cannot keep it.
                let words = run.error.iter_mut().map(|(_, message)| message).chain(&mut run.usage.model);
                words.for_each(|text| *text = text.replace('\0', "\u{fffd}"));
                self.runs.insert(run.run_id, *run);
            }
            Change::PutApproval(approval) => {
                drop(self.approvals.insert(approval.request.approval_id, *approval));
            }
            Change::PutVersion(version) => {
                self.record.version = version.version;
                self.versions.insert(version.version, *version);
            }
            Change::PutKey(key) => drop(self.keys.insert(key.key.clone(), key)),
            Change::PutFile(file) => drop(self.files.insert(file.path.clone(), file)),
            Change::RemoveFile(path) => drop(self.files.remove(&path)),
        }
    }
}
