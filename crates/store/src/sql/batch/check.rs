//! Why a commit is refused. Reads only.

use warren_domain::{Seq, SessionId, Version};

use super::{Batch, LogState};
use crate::{
    Change, Commit, CommitError, Key, VersionRecord,
    sql::{
        args::args,
        queries::{KEY_GET, VERSION_GET},
        runs,
    },
};

/// A commit may only change records of its own session.
#[derive(Debug, thiserror::Error)]
#[error("the commit carries a record of session `{0}`")]
struct Foreign(SessionId);

impl Batch<'_> {
    pub(super) async fn check(&mut self, commit: &Commit) -> Result<Result<(), CommitError>, sqlx::Error> {
        let log = self.logs.get(&commit.session).copied().unwrap_or_default();
        if let Err(refusal) = check_shape(commit).and_then(|()| check_log(commit, &log)) {
            return Ok(Err(refusal));
        }
        let mut latest = log.version;
        for change in &commit.changes {
            let verdict = match change {
                Change::PutKey(key) => self.check_key(commit.session, key).await?,
                Change::PutVersion(record) => {
                    let verdict = self.check_version(record, latest).await?;
                    latest = record.version;
                    verdict
                }
                Change::CreateSession(_)
                | Change::UpdateSession(_)
                | Change::PutRun(_)
                | Change::PutApproval(_)
                | Change::Count(_)
                | Change::AddBlobBytes(_)
                | Change::PutFile(_)
                | Change::RemoveFile(_) => Ok(()),
            };
            if verdict.is_err() {
                return Ok(verdict);
            }
        }
        Ok(Ok(()))
    }

    async fn check_key(
        &mut self,
        session: SessionId,
        key: &Key,
    ) -> Result<Result<(), CommitError>, sqlx::Error> {
        let taken = self.tx.read(KEY_GET, args![session, &key.key, self.now]).await?;
        Ok(match taken.first() {
            Some(row) => Err(CommitError::KeyTaken(Box::new(runs::read_key(row)?))),
            None => Ok(()),
        })
    }

    /// A version follows the latest. The first one, v0, follows nothing and can be put once.
    async fn check_version(
        &mut self,
        record: &VersionRecord,
        latest: Version,
    ) -> Result<Result<(), CommitError>, sqlx::Error> {
        let first = record.version == Version(0) && record.base == Version(0) && latest == Version(0);
        let fits = if first {
            self.tx.read(VERSION_GET, args![record.session_id, Version(0)]).await?.is_empty()
        } else {
            record.base == latest && record.version == latest.next()
        };
        let refusal = CommitError::VersionConflict { session: record.session_id, latest };
        Ok(if fits { Ok(()) } else { Err(refusal) })
    }
}

/// What can be seen without knowing the log.
pub(super) fn check_shape(commit: &Commit) -> Result<(), CommitError> {
    let numbers = (1..).map(|n| Seq(commit.expected.0.saturating_add(n)));
    if commit.entries.iter().zip(numbers).any(|(entry, seq)| entry.seq != seq) {
        return Err(CommitError::NotContiguous(commit.session));
    }
    let others = commit.changes.iter().find_map(|change| {
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
            | Change::RemoveFile(_) => return None,
        };
        (owner != commit.session).then_some(owner)
    });
    others.map_or(Ok(()), |owner| {
        Err(CommitError::Backend { session: commit.session, source: Box::new(Foreign(owner)) })
    })
}

/// Whether the writer may write, and knows where the log ends.
fn check_log(commit: &Commit, log: &LogState) -> Result<(), CommitError> {
    let session = commit.session;
    let creates = commit.changes.iter().any(|change| matches!(change, Change::CreateSession(_)));
    match (creates, log.head) {
        (true, Some(_)) => return Err(CommitError::Exists(session)),
        (false, None) => return Err(CommitError::NoSession(session)),
        (true, None) | (false, Some(_)) => {}
    }
    // Before the position: one whose lease is gone must stop, not read and try again.
    if commit.fence < log.fence {
        return Err(CommitError::Fenced { session, ours: commit.fence, current: log.fence });
    }
    let found = log.head.unwrap_or_default();
    if commit.expected != found {
        return Err(CommitError::Conflict { session, expected: commit.expected, found });
    }
    Ok(())
}
