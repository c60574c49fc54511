//! One transaction of many jobs: each is checked against what the earlier ones leave, then carried out or refused.
//!
//! A refusal is found before anything of that job is written, so it needs no undoing and harms no other job.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use warren_domain::{Seq, SessionId, Timestamp};

use self::state::LogState;
use super::{
    args::args,
    db::{Db, Tx},
    queries::{
        ENTRY_INSERT, LOG_LOCK, LOG_MOVE, TRANSCRIPT_APPEND, TRANSCRIPT_CUT, TRANSCRIPT_LAST, TRANSCRIPT_TRIM,
    },
    row::to_json,
};
use crate::{Backend, Commit, CommitError, LogEntry, ReadError};

mod apply;
mod check;
mod state;

pub(super) const WRITING_TRANSCRIPT: &str = "write the transcript";

/// Something to make durable.
pub(super) enum Work {
    Commit(Commit),
    Transcript { session: SessionId, thread: String, offset: u64, bytes: Bytes },
}

/// What became of it.
pub(super) enum Answer {
    Commit(Result<Seq, CommitError>),
    Transcript(Result<(), ReadError>),
}

/// Why a whole batch failed.
pub(super) enum Failed {
    /// Nothing of it happened.
    Before(sqlx::Error),
    /// The database was told to commit and did not say that it had: nobody knows, so nothing may be tried again.
    AtCommit(sqlx::Error),
}

/// The transcript would have a hole, or belongs to no session.
#[derive(Debug, thiserror::Error)]
enum TranscriptRefusal {
    #[error("session `{0}` does not exist")]
    NoSession(SessionId),
    #[error("it ends at {end}, so nothing can begin at {offset}")]
    Hole { end: u64, offset: u64 },
}

/// The batch on its way: the logs as they will be, and the entries to write at the end in one statement.
struct Batch<'a> {
    now: Timestamp,
    tx: Tx,
    logs: HashMap<SessionId, LogState>,
    /// With the log's name.
    entries: Vec<(i64, &'a [LogEntry])>,
}

/// Carries out one batch. The answers are in the order of the work and hold only if this returns `Ok`.
pub(super) async fn attempt(db: &Db, now: Timestamp, work: &[Work]) -> Result<Vec<Answer>, Failed> {
    let (tx, answers) = prepare(db, now, work).await.map_err(Failed::Before)?;
    tx.commit().await.map_err(Failed::AtCommit)?;
    Ok(answers)
}

async fn prepare(db: &Db, now: Timestamp, work: &[Work]) -> Result<(Tx, Vec<Answer>), sqlx::Error> {
    let mut batch = Batch::begin(db, now, work).await?;
    let mut answers = Vec::with_capacity(work.len());
    for work in work {
        answers.push(match work {
            Work::Commit(commit) => Answer::Commit(batch.commit(commit).await?),
            Work::Transcript { session, thread, offset, bytes } => {
                Answer::Transcript(batch.transcript(*session, thread, *offset, bytes).await?)
            }
        });
    }
    Ok((batch.flush().await?, answers))
}

impl Work {
    /// Roughly how much it writes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Work::Commit(commit) => commit.entries.iter().map(|entry| entry.json.len()).sum(),
            Work::Transcript { bytes, .. } => bytes.len(),
        }
    }

    /// The answer when the database failed.
    pub(super) fn failed(&self, source: Backend) -> Answer {
        match self {
            Work::Commit(commit) => {
                Answer::Commit(Err(CommitError::Backend { session: commit.session, source }))
            }
            Work::Transcript { .. } => {
                Answer::Transcript(Err(ReadError { doing: WRITING_TRANSCRIPT, source }))
            }
        }
    }
}

impl Failed {
    pub(super) fn into_source(self) -> sqlx::Error {
        match self {
            Failed::Before(source) | Failed::AtCommit(source) => source,
        }
    }
}

impl<'a> Batch<'a> {
    /// Begins a transaction, locks the logs it is about, and reads where they stand.
    async fn begin(db: &Db, now: Timestamp, work: &[Work]) -> Result<Self, sqlx::Error> {
        let mut tx = db.begin().await?;
        let sessions: HashSet<SessionId> = work
            .iter()
            .filter_map(|work| match work {
                Work::Commit(commit) => Some(commit.session),
                Work::Transcript { .. } => None,
            })
            .collect();
        let mut logs = HashMap::with_capacity(sessions.len());
        if !sessions.is_empty() {
            for row in tx.read(LOG_LOCK, args![to_json(&sessions)?]).await? {
                logs.insert(row.id(0)?, LogState::read(&row)?);
            }
        }
        Ok(Self { now, tx, logs, entries: Vec::new() })
    }

    /// Carries out one commit, or says why not.
    async fn commit(&mut self, commit: &'a Commit) -> Result<Result<Seq, CommitError>, sqlx::Error> {
        if let Err(refusal) = self.check(commit).await? {
            return Ok(Err(refusal));
        }
        self.apply(commit).await?;
        let log = self.logs.entry(commit.session).or_default();
        let head = Seq(commit.expected.0 + commit.entries.len() as u64);
        log.advance(commit, head);
        self.entries.push((log.log, &commit.entries));
        Ok(Ok(head))
    }

    async fn transcript(
        &mut self,
        session: SessionId,
        thread: &str,
        offset: u64,
        bytes: &Bytes,
    ) -> Result<Result<(), ReadError>, sqlx::Error> {
        let refused = |refusal: TranscriptRefusal| {
            Ok(Err(ReadError { doing: WRITING_TRANSCRIPT, source: Box::new(refusal) }))
        };
        let last = self.tx.read(TRANSCRIPT_LAST, args![session, thread]).await?;
        let Some(last) = last.first() else { return refused(TranscriptRefusal::NoSession(session)) };
        let end = last.number("ends")?;
        if offset > end {
            return refused(TranscriptRefusal::Hole { end, offset });
        }
        // Only the chunk that starts at 0 may be empty; it says that there is a transcript.
        if offset < end || offset == 0 {
            self.tx.write(TRANSCRIPT_CUT, args![session, thread, offset]).await?;
            self.tx.write(TRANSCRIPT_TRIM, args![session, thread, offset]).await?;
        }
        if offset == 0 || !bytes.is_empty() {
            self.tx.write(TRANSCRIPT_APPEND, args![session, thread, offset, bytes.to_vec()]).await?;
        }
        Ok(Ok(()))
    }

    /// Writes what was put off: all entries in one statement, all heads in another.
    async fn flush(mut self) -> Result<Tx, sqlx::Error> {
        let mut places = Vec::new();
        let mut bytes = Vec::new();
        for (log, entries) in &self.entries {
            for entry in *entries {
                // The database counts places from 1.
                places.push((log, entry.seq, bytes.len() + 1, entry.json.len()));
                bytes.extend_from_slice(&entry.json);
            }
        }
        if !places.is_empty() {
            self.tx.write(ENTRY_INSERT, args![to_json(&places)?, bytes]).await?;
        }
        let moved: Vec<_> = self.logs.values().filter(|log| log.is_moved()).map(LogState::row).collect();
        if !moved.is_empty() {
            self.tx.write(LOG_MOVE, args![to_json(&moved)?]).await?;
        }
        Ok(self.tx)
    }
}
