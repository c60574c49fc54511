//! Tasks that somebody answers for.

use std::{future::Future, time::Duration};

use tokio::task::JoinHandle;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// What a task is, and so what its end means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskKind {
    /// The log's writer: everything stops when it does.
    LogWriter,
    /// Owner of one session.
    Session,
    /// One sandbox: its link, its watchers, its forwarded connections.
    Sandbox,
    /// One client's connection or stream.
    Connection,
    /// Something that looks after the whole server now and then.
    Housekeeping,
}

/// Where tasks run, and how their owner ends them: a cheap clone.
#[derive(Clone, Default)]
pub struct Tasks {
    tracker: TaskTracker,
    cancel: CancellationToken,
}

impl Tasks {
    /// An empty group.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A group that is cancelled with this one and waited for by it.
    #[must_use]
    pub fn child(&self) -> Tasks {
        Tasks { tracker: self.tracker.clone(), cancel: self.cancel.child_token() }
    }

    /// Runs a task until it ends or the group is cancelled, whichever is first.
    ///
    /// A task that must finish something on cancel watches [`Tasks::token`] itself: use [`Tasks::spawn_to_end`].
    pub fn spawn<F>(&self, kind: TaskKind, task: F) -> JoinHandle<Option<F::Output>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let cancel = self.cancel.clone();
        self.spawn_to_end(kind, async move { cancel.run_until_cancelled_owned(task).await })
    }

    /// Runs a task that ends by itself, also after a cancel.
    #[expect(clippy::disallowed_methods, reason = "the one place that spawns")]
    pub fn spawn_to_end<F>(&self, kind: TaskKind, task: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        tokio::spawn(self.tracker.track_future(async move {
            tracing::trace!(?kind, "task starts");
            let output = task.await;
            tracing::trace!(?kind, "task ends");
            output
        }))
    }

    /// Cancelled when the group is.
    #[must_use]
    pub fn token(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Asks all tasks to end.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Waits until all tasks ended, or for `patience`. Says whether they did.
    pub async fn wait(&self, patience: Duration) -> bool {
        self.tracker.close();
        tokio::time::timeout(patience, self.tracker.wait()).await.is_ok()
    }
}
