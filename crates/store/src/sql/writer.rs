//! Group commit: one task takes whatever waits, from however many sessions, and makes it durable in one transaction.
//!
//! While one transaction is being synced to disk, the next one's members gather in the channel. So a lone commit waits for
//! nothing but the disk, and a hundred at once share one sync.
//!
//! A lone line does not even wait for the task: whoever has one writes it, if nobody else is at it.

use std::{error::Error as StdError, sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use warren_domain::{Fence, Seq, SessionId};
use warren_env::{Env, TaskKind, Tasks};

use super::{
    batch::{self, Answer, Work},
    db::{Db, Failed},
};
use crate::{Commit, CommitError, Compaction, ReadError, WriteError};

/// How much may wait or go into one transaction. When the channel is full, senders wait: an agent that writes faster
/// than the disk is slowed down, and nothing is dropped.
const MAX_WAITING: usize = 1024;
/// A batch is closed when it holds this many bytes, so that its memory and its time stay bounded.
const MAX_BATCH_BYTES: usize = 8 << 20;

/// Before each further try of a batch that failed for a reason that may pass.
const PAUSES: [Duration; 3] = [Duration::from_millis(50), Duration::from_millis(250), Duration::from_secs(1)];

/// Hands work to the writer. A cheap clone.
#[derive(Clone)]
pub(crate) struct Handle {
    jobs: mpsc::Sender<Job>,
    db: Arc<Db>,
    turn: Turn,
}

/// Held by whoever is writing. What comes meanwhile gathers in the channel.
type Turn = Arc<Mutex<()>>;

/// The writer is not there any more: its group of tasks was cancelled.
#[derive(Debug, thiserror::Error)]
#[error("the store is closed")]
struct Closed;

struct Job {
    work: Work,
    /// Nobody may be listening any more; the work is done all the same.
    reply: oneshot::Sender<Answer>,
}

struct Writer {
    db: Arc<Db>,
    env: Env,
    inbox: mpsc::Receiver<Job>,
    turn: Turn,
}

/// Starts the writer. When `tasks` is cancelled it finishes what waits, refuses what comes later, and closes the database.
pub(crate) fn start(db: Arc<Db>, env: Env, tasks: &Tasks) -> Handle {
    let (jobs, inbox) = mpsc::channel(MAX_WAITING);
    let turn = Turn::default();
    let writer = Writer { db: Arc::clone(&db), env, inbox, turn: Arc::clone(&turn) };
    tasks.spawn_to_end(TaskKind::LogWriter, writer.run(tasks.token()));
    Handle { jobs, db, turn }
}

impl Handle {
    pub(crate) async fn commit(&self, commit: Commit) -> Result<Seq, CommitError> {
        let session = commit.session;
        if let Some(answer) = self.commit_at_once(&commit).await {
            return answer;
        }
        match self.submit(Work::Commit(commit)).await {
            Ok(Answer::Commit(answer)) => answer,
            Ok(_) | Err(Closed) => Err(CommitError::Backend { session, source: Box::new(Closed) }),
        }
    }

    /// Writes a line if it is one, nobody is writing, and its log is as it expects it. A line is one statement: whoever
    /// waits for it may be dropped, and nothing is left half-way.
    async fn commit_at_once(&self, commit: &Commit) -> Option<Result<Seq, CommitError>> {
        let entry = batch::line(commit).filter(|_| !self.jobs.is_closed())?;
        let _turn = self.turn.try_lock().ok()?;
        match batch::write_line(&self.db, commit, entry).await {
            Ok(is_written) => is_written.then_some(Ok(entry.seq)),
            // The writer tries it again.
            Err(failed) if failed.may_pass() => None,
            Err(failed) => {
                let source = Box::new(source_of(failed));
                Some(Err(CommitError::Backend { session: commit.session, source }))
            }
        }
    }

    pub(crate) async fn write_transcript(
        &self,
        session: SessionId,
        fence: Fence,
        thread: &str,
        offset: u64,
        bytes: Bytes,
    ) -> Result<(), WriteError> {
        let work = Work::Transcript { session, fence, thread: thread.to_owned(), offset, bytes };
        match self.submit(work).await {
            Ok(Answer::Transcript(answer)) => answer,
            Ok(_) | Err(Closed) => {
                Err(ReadError { doing: batch::WRITING_TRANSCRIPT, source: Box::new(Closed) }.into())
            }
        }
    }

    pub(crate) async fn erase(&self, session: SessionId, fence: Fence) -> Result<bool, WriteError> {
        match self.submit(Work::Erase { session, fence }).await {
            Ok(Answer::Erase(answer)) => answer,
            Ok(_) | Err(Closed) => Err(ReadError { doing: batch::ERASING, source: Box::new(Closed) }.into()),
        }
    }

    pub(crate) async fn compact(&self, session: SessionId, piece: Compaction) -> Result<bool, ReadError> {
        match self.submit(Work::Compact { session, piece }).await {
            Ok(Answer::Compact(answer)) => answer,
            Ok(_) | Err(Closed) => Err(ReadError { doing: batch::COMPACTING, source: Box::new(Closed) }),
        }
    }

    async fn submit(&self, work: Work) -> Result<Answer, Closed> {
        let (reply, answer) = oneshot::channel();
        self.jobs.send(Job { work, reply }).await.map_err(|_| Closed)?;
        answer.await.map_err(|_| Closed)
    }
}

impl Writer {
    async fn run(mut self, cancel: CancellationToken) {
        let mut jobs = Vec::new();
        loop {
            tokio::select! {
                n = self.inbox.recv_many(&mut jobs, MAX_WAITING) => if n == 0 { break },
                // From now on senders are refused; `recv_many` gives what still waits, and then 0.
                () = cancel.cancelled(), if !self.inbox.is_closed() => self.inbox.close(),
            }
            let n_answered = jobs.len();
            let is_erasing = jobs.iter().any(|job| matches!(job.work, Work::Erase { .. }));
            while !jobs.is_empty() {
                let turn = self.turn.lock().await;
                let rest = jobs.split_off(batch_len(&jobs));
                self.settle(std::mem::replace(&mut jobs, rest)).await;
                drop(turn);
            }
            if is_erasing && let Err(error) = self.db.forget_erased().await {
                tracing::warn!(
                    error = &error as &dyn StdError,
                    "the database's log keeps what was erased for now"
                );
            }
            if n_answered > 1 {
                self.gather().await;
            }
        }
        self.db.close().await;
    }

    /// Those who were just answered together often have more. Lets them queue while they keep coming, so that the next
    /// transaction takes them all, and not one of them while the others wait for it.
    async fn gather(&self) {
        let mut n_waiting = self.inbox.len();
        let mut quiet = 0;
        while quiet < 2 {
            tokio::task::yield_now().await;
            let before = std::mem::replace(&mut n_waiting, self.inbox.len());
            quiet = if n_waiting > before { 0 } else { quiet + 1 };
        }
    }

    /// Gives every job its answer. A batch that fails as a whole is tried again one by one, so that only the job which
    /// cannot be done fails.
    async fn settle(&self, jobs: Vec<Job>) {
        let (work, replies): (Vec<_>, Vec<_>) = jobs.into_iter().map(|job| (job.work, job.reply)).unzip();
        match self.attempt(&work).await {
            Ok(answers) => {
                replies.into_iter().zip(answers).for_each(|(reply, answer)| answered(reply, answer))
            }
            Err(Failed::Before(source)) if work.len() > 1 => {
                tracing::warn!(
                    error = &source as &dyn StdError,
                    jobs = work.len(),
                    "a batch failed; trying each alone"
                );
                for (work, reply) in work.into_iter().zip(replies) {
                    answered(reply, self.alone(work).await);
                }
            }
            Err(failed) => {
                let source = Arc::new(source_of(failed));
                for (work, reply) in work.iter().zip(replies) {
                    answered(reply, work.failed(Box::new(Arc::clone(&source))));
                }
            }
        }
    }

    /// Carries out a batch. One of which nothing happened, for a reason that may pass, is tried again a few times.
    async fn attempt(&self, work: &[Work]) -> Result<Vec<Answer>, Failed> {
        let mut pauses = PAUSES.iter();
        loop {
            let failed = match batch::attempt(&self.db, self.env.now(), work).await {
                Ok(answers) => return Ok(answers),
                Err(failed) => failed,
            };
            let Some(pause) = pauses.next().filter(|_| failed.may_pass()) else { return Err(failed) };
            tracing::warn!(
                error = &source_of(failed) as &dyn StdError,
                "nothing was committed; it is tried again"
            );
            tokio::time::sleep(*pause).await;
        }
    }

    async fn alone(&self, work: Work) -> Answer {
        let work = [work];
        match self.attempt(&work).await {
            Ok(answers) => answers.into_iter().next().unwrap_or_else(|| work[0].failed(Box::new(Closed))),
            Err(failed) => work[0].failed(Box::new(source_of(failed))),
        }
    }
}

/// How many of `jobs` go into one batch: at least one.
fn batch_len(jobs: &[Job]) -> usize {
    let mut bytes = 0;
    let fitting = jobs.iter().take_while(|job| {
        let fits = bytes < MAX_BATCH_BYTES;
        bytes += job.work.bytes();
        fits
    });
    fitting.count()
}

fn source_of(failed: Failed) -> sqlx::Error {
    match failed {
        Failed::Before(source) | Failed::AtCommit(source) => source,
    }
}

fn answered(reply: oneshot::Sender<Answer>, answer: Answer) {
    if reply.send(answer).is_err() {
        tracing::debug!("whoever asked for a commit did not wait for its answer");
    }
}
