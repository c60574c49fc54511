//! The usual batch: commits that add entries and nothing else, as when agents talk.
//!
//! It is one turn with the database, where the careful way takes two or more: what it would read first is a condition
//! of what is written. Whatever does not meet its condition is
//! left as it is, and goes the careful way, which finds out why.

use std::collections::HashSet;

use warren_domain::{Seq, SessionId, Timestamp};

use super::{Answer, Work, carefully, check::check_shape};
use crate::{
    Change, Commit, LogEntry, SessionUpdate,
    sql::{
        args::args,
        db::{Db, Failed},
        queries::{LINE_WRITE, PLAIN_WRITE},
        row::{Row, to_json},
    },
};

/// The work's commits, if all of the work is such and no two are of one session.
pub(super) fn commits(work: &[Work]) -> Option<Vec<&Commit>> {
    let mut sessions = HashSet::with_capacity(work.len());
    let commits = work.iter().map(|work| match work {
        Work::Commit(commit) if is_plain(commit) && sessions.insert(commit.session) => Some(commit),
        Work::Commit(_) | Work::Erase { .. } | Work::Transcript { .. } | Work::Compact { .. } => None,
    });
    commits.collect()
}

/// Carries out the work whose commits these are. As [`super::attempt`].
pub(super) async fn attempt(
    db: &Db,
    now: Timestamp,
    work: &[Work],
    commits: &[&Commit],
) -> Result<Vec<Answer>, Failed> {
    let written = write(db, commits).await?;
    let mut answers = Vec::with_capacity(work.len());
    for (work, commit) in work.iter().zip(commits) {
        answers.push(if written.contains(&commit.session) {
            Answer::Commit(Ok(Seq(commit.expected.0 + commit.entries.len() as u64)))
        } else {
            alone(db, now, work).await
        });
    }
    Ok(answers)
}

/// One job by itself. It must not spoil what was written before it, so its failure is its answer.
async fn alone(db: &Db, now: Timestamp, work: &Work) -> Answer {
    match carefully(db, now, std::slice::from_ref(work)).await {
        Ok(answers) => {
            answers.into_iter().next().unwrap_or_else(|| work.failed("nothing was answered".into()))
        }
        Err(Failed::Before(source) | Failed::AtCommit(source)) => work.failed(Box::new(source)),
    }
}

/// Writes the commits that find their log as they expect it. Says whose they were.
async fn write(db: &Db, commits: &[&Commit]) -> Result<HashSet<SessionId>, Failed> {
    if let [commit] = commits
        && let Some(entry) = line(commit)
    {
        let is_written = write_line(db, commit, entry).await?;
        return Ok(is_written.then_some(commit.session).into_iter().collect());
    }
    let written = write_many(db, commits).await?;
    written.iter().map(|row| row.id(0)).collect::<Result<_, _>>().map_err(Failed::AtCommit)
}

/// The entry of a commit that is nothing else.
pub(in crate::sql) fn line(commit: &Commit) -> Option<&LogEntry> {
    commit.entries.first().filter(|_| commit.entries.len() == 1 && is_plain(commit))
}

/// Writes a [`line`], and says whether its log was as it expects it. A lone entry needs no JSON to be told what to write,
/// which counts after a pause, when nothing of SQLite is in the processor's caches.
pub(in crate::sql) async fn write_line(db: &Db, commit: &Commit, entry: &LogEntry) -> Result<bool, Failed> {
    let Commit { session, fence, expected, .. } = commit;
    let activity = last_activity(commit);
    db.write_line(LINE_WRITE, args![session, *fence, *expected, activity, entry.json.to_vec()]).await
}

async fn write_many(db: &Db, commits: &[&Commit]) -> Result<Vec<Row>, Failed> {
    let mut bytes = Vec::new();
    let rows: Vec<_> = commits.iter().map(|commit| row(commit, &mut bytes)).collect();
    let rows = to_json(&rows).map_err(Failed::Before)?;
    db.transact(PLAIN_WRITE, args![rows, bytes]).await
}

type Places = Vec<(usize, usize)>;

/// One commit for the statement, which finds its entries' bytes in `bytes`.
fn row(commit: &Commit, bytes: &mut Vec<u8>) -> (SessionId, u64, Seq, Option<i64>, Places, u64) {
    let places = commit.entries.iter().map(|entry| {
        // The database counts places from 1.
        let place = (bytes.len() + 1, entry.json.len());
        bytes.extend_from_slice(&entry.json);
        place
    });
    let places: Places = places.collect();
    let added = places.iter().map(|(_, length)| *length as u64).sum();
    let activity = last_activity(commit).map(Timestamp::as_millis);
    (commit.session, commit.fence.0, commit.expected, activity, places, added)
}

fn last_activity(commit: &Commit) -> Option<Timestamp> {
    commit.changes.iter().filter_map(activity).next_back()
}

fn is_plain(commit: &Commit) -> bool {
    check_shape(commit).is_ok() && commit.changes.iter().all(|change| activity(change).is_some())
}

/// When there was activity, if a change says nothing else.
fn activity(change: &Change) -> Option<Timestamp> {
    match change {
        Change::UpdateSession(SessionUpdate { name: None, metadata: None, options: None, last_activity }) => {
            *last_activity
        }
        _ => None,
    }
}
