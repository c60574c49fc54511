//! One transaction of many jobs: each is checked against what the earlier ones leave, then carried out or refused.
//!
//! A refusal is found before anything of that job is written, so it needs no undoing and harms no other job.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use warren_domain::{Fence, Seq, SessionId, Timestamp};

use self::state::LogState;
use super::{
    args::args,
    db::{Db, Failed, Tx},
    queries::{
        BATCH_BEGIN, BATCH_COMMIT, ENTRY_COUNT, ENTRY_DROP, ENTRY_ERASE, ENTRY_REPLACE, LOG_ERASE,
        LOG_SHRINK, RUN_KEEP, SESSION_ERASE, TRANSCRIPT_APPEND, TRANSCRIPT_CUT, TRANSCRIPT_LAST,
        TRANSCRIPT_TRIM,
    },
    row::to_json,
};
use crate::{Backend, Commit, CommitError, Compaction, LogEntry, ReadError, WriteError};

mod apply;
mod check;
mod count;
mod plain;
mod state;

pub(super) use plain::{line, write_line};

pub(super) const WRITING_TRANSCRIPT: &str = "write the transcript";
pub(super) const ERASING: &str = "erase the session";
pub(super) const COMPACTING: &str = "compact the log";

/// Something to make durable.
pub(super) enum Work {
    Commit(Commit),
    Erase { session: SessionId, fence: Fence },
    Transcript { session: SessionId, fence: Fence, thread: String, offset: u64, bytes: Bytes },
    Compact { session: SessionId, piece: Compaction },
}

/// What became of it.
pub(super) enum Answer {
    Commit(Result<Seq, CommitError>),
    Erase(Result<bool, WriteError>),
    Transcript(Result<(), WriteError>),
    Compact(Result<bool, ReadError>),
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
    tx: Tx<'a>,
    logs: HashMap<SessionId, LogState>,
    /// With the log's name.
    entries: Vec<(i64, &'a [LogEntry])>,
}

/// Carries out one batch. The answers are in the order of the work and hold only if this returns `Ok`.
pub(super) async fn attempt(db: &Db, now: Timestamp, work: &[Work]) -> Result<Vec<Answer>, Failed> {
    match plain::commits(work) {
        Some(commits) => plain::attempt(db, now, work, &commits).await,
        None => carefully(db, now, work).await,
    }
}

/// Reads where the logs stand, then checks and carries out job by job.
async fn carefully(db: &Db, now: Timestamp, work: &[Work]) -> Result<Vec<Answer>, Failed> {
    let mut batch = Batch::begin(db, now, work).await.map_err(Failed::Before)?;
    match batch.carry_out(work).await {
        Ok(answers) => batch.commit_all().await.map(|()| answers),
        Err(error) => {
            batch.tx.rollback().await;
            Err(Failed::Before(error))
        }
    }
}

impl Work {
    /// Roughly how much it writes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Work::Commit(commit) => commit.entries.iter().map(|entry| entry.json.len()).sum(),
            Work::Transcript { bytes, .. } => bytes.len(),
            Work::Compact { piece, .. } => piece.entry.json.len(),
            Work::Erase { .. } => 0,
        }
    }

    /// The answer when the database failed.
    pub(super) fn failed(&self, source: Backend) -> Answer {
        match self {
            Work::Commit(commit) => {
                Answer::Commit(Err(CommitError::Backend { session: commit.session, source }))
            }
            Work::Transcript { .. } => {
                Answer::Transcript(Err(ReadError { doing: WRITING_TRANSCRIPT, source }.into()))
            }
            Work::Erase { .. } => Answer::Erase(Err(ReadError { doing: ERASING, source }.into())),
            Work::Compact { .. } => Answer::Compact(Err(ReadError { doing: COMPACTING, source })),
        }
    }
}

impl<'a> Batch<'a> {
    /// Begins a transaction, locks the logs it is about, and reads where they stand.
    async fn begin(db: &'a Db, now: Timestamp, work: &[Work]) -> Result<Self, sqlx::Error> {
        let sessions: HashSet<SessionId> = work
            .iter()
            .flat_map(|work| match work {
                Work::Commit(commit) => vec![commit.session],
                Work::Erase { session, .. } | Work::Transcript { session, .. } => vec![*session],
                Work::Compact { session, piece } => vec![*session, piece.lease],
            })
            .collect();
        let (tx, rows) = db.begin(BATCH_BEGIN, args![to_json(&sessions)?]).await?;
        let mut batch = Self { now, tx, logs: HashMap::with_capacity(rows.len()), entries: Vec::new() };
        for row in &rows {
            match LogState::read(row) {
                Ok((session, log)) => batch.logs.insert(session, log),
                Err(error) => {
                    batch.tx.rollback().await;
                    return Err(error);
                }
            };
        }
        Ok(batch)
    }

    /// Does each job in turn.
    async fn carry_out(&mut self, work: &'a [Work]) -> Result<Vec<Answer>, sqlx::Error> {
        let mut answers = Vec::with_capacity(work.len());
        for work in work {
            answers.push(match work {
                Work::Commit(commit) => Answer::Commit(self.commit(commit).await?),
                Work::Erase { session, fence } => {
                    let erased = match self.check_fence(*session, *fence) {
                        Ok(()) => Ok(self.erase(*session).await?),
                        Err(fenced) => Err(fenced),
                    };
                    Answer::Erase(erased)
                }
                Work::Transcript { session, fence, thread, offset, bytes } => {
                    let written = match self.check_fence(*session, *fence) {
                        Ok(()) => self.transcript(*session, thread, *offset, bytes).await?,
                        Err(fenced) => Err(fenced),
                    };
                    Answer::Transcript(written)
                }
                Work::Compact { session, piece } => {
                    Answer::Compact(Ok(self.compact(*session, piece).await?))
                }
            });
        }
        Ok(answers)
    }

    /// Carries out one commit, or says why not.
    async fn commit(&mut self, commit: &'a Commit) -> Result<Result<Seq, CommitError>, sqlx::Error> {
        if let Err(refusal) = self.check(commit).await? {
            return Ok(Err(refusal));
        }
        if let Err(refusal) = self.count(commit).await? {
            return Ok(Err(refusal));
        }
        self.apply(commit).await?;
        let log = self.logs.entry(commit.session).or_default();
        let head = Seq(commit.expected.0 + commit.entries.len() as u64);
        log.advance(commit, head);
        self.entries.push((log.log, &commit.entries));
        Ok(Ok(head))
    }

    /// Erases a session with what this batch was about to write for it. Says whether it existed.
    async fn erase(&mut self, session: SessionId) -> Result<bool, sqlx::Error> {
        if let Some(erased) = self.logs.remove(&session) {
            self.entries.retain(|(log, _)| *log != erased.log);
        }
        self.tx.overwrite_what_is_deleted().await?;
        self.tx.write(RUN_KEEP, args![session]).await?;
        for log in self.tx.read(LOG_ERASE, args![session]).await? {
            self.tx.write(ENTRY_ERASE, args![log.int(0)?]).await?;
        }
        Ok(self.tx.write(SESSION_ERASE, args![session]).await? > 0)
    }

    /// Puts one entry in the place of a piece that is whole, under a lease that nobody took over. Says whether it did.
    ///
    /// The log's row is locked, so no other server compacts it between the look and the writing.
    async fn compact(&mut self, session: SessionId, piece: &Compaction) -> Result<bool, sqlx::Error> {
        let (from, to) = (piece.from, piece.entry.seq);
        let fence = self.logs.get(&piece.lease).map(|lease| lease.fence);
        let (Some(log), true) = (self.logs.get(&session), fence == Some(piece.fence)) else {
            return Ok(false);
        };
        let log = log.log;
        let n_wanted = to.0.checked_sub(from.0).map(|n| n + 1);
        let counted = self.tx.read(ENTRY_COUNT, args![log, from, to]).await?;
        let n_found = counted.first().map(|row| row.number(0)).transpose()?;
        let removed = counted.first().map_or(Ok(0), |row| row.int(1))?;
        if n_wanted.is_none() || n_found != n_wanted {
            return Ok(false);
        }
        self.tx.write(ENTRY_DROP, args![log, from, to]).await?;
        self.tx.write(ENTRY_REPLACE, args![log, to, piece.entry.json.to_vec()]).await?;
        let freed = removed.saturating_sub(i64::try_from(piece.entry.json.len()).unwrap_or(i64::MAX));
        self.tx.write(LOG_SHRINK, args![log, freed]).await?;
        Ok(true)
    }

    /// Whether the lease under which something is written is the newest.
    fn check_fence(&self, session: SessionId, ours: Fence) -> Result<(), WriteError> {
        match self.logs.get(&session).map(|log| log.fence) {
            Some(current) if ours < current => Err(WriteError::Fenced { session, ours, current }),
            Some(_) | None => Ok(()),
        }
    }

    async fn transcript(
        &mut self,
        session: SessionId,
        thread: &str,
        offset: u64,
        bytes: &Bytes,
    ) -> Result<Result<(), WriteError>, sqlx::Error> {
        let refused = |refusal: TranscriptRefusal| {
            Ok(Err(ReadError { doing: WRITING_TRANSCRIPT, source: Box::new(refusal) }.into()))
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

    /// Writes what was put off, all entries and all heads at once, and makes everything durable.
    async fn commit_all(self) -> Result<(), Failed> {
        let mut places = Vec::new();
        let mut bytes = Vec::new();
        for (log, entries) in &self.entries {
            for entry in *entries {
                // The database counts places from 1.
                places.push((log, entry.seq, bytes.len() + 1, entry.json.len()));
                bytes.extend_from_slice(&entry.json);
            }
        }
        let moved: Vec<_> = self.logs.values().filter(|log| log.is_moved()).map(LogState::row).collect();
        match (to_json(&places), to_json(&moved)) {
            (Ok(places), Ok(moved)) => self.tx.commit(BATCH_COMMIT, args![places, bytes, moved]).await,
            (Err(error), _) | (_, Err(error)) => {
                self.tx.rollback().await;
                Err(Failed::Before(error))
            }
        }
    }
}
