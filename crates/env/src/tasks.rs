//! Tasks that somebody answers for.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{runtime::Handle, task::JoinHandle};
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

/// Something that goes on if whoever awaits it does not; see [`Tasks::finish`].
pub struct Finish<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tasks: Tasks,
    kind: TaskKind,
    /// `None` once it has ended.
    rest: Option<Pin<Box<F>>>,
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

    /// Runs something in place. If it is dropped before its end, the rest runs as a task, also after a cancel.
    ///
    /// What must not be left half-done then costs no task, and no turn between threads, as long as its caller stays.
    pub fn finish<F>(&self, kind: TaskKind, work: F) -> Finish<F>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Finish { tasks: self.clone(), kind, rest: Some(Box::pin(work)) }
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

impl<F> Future for Finish<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Some(rest) = &mut self.rest else { return Poll::Pending };
        let polled = rest.as_mut().poll(cx);
        if polled.is_ready() {
            self.rest = None;
        }
        polled
    }
}

impl<F> Drop for Finish<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn drop(&mut self) {
        // Outside of a runtime everything has ended, and there is nobody left to do it for.
        if let Some(rest) = self.rest.take()
            && Handle::try_current().is_ok()
        {
            self.tasks.spawn_to_end(self.kind, rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::{TaskKind, Tasks};

    #[tokio::test]
    async fn what_is_to_be_finished_is_finished_when_nobody_waits_for_it() {
        let tasks = Tasks::new();
        let (go, gone) = oneshot::channel::<()>();
        let (done, is_done) = oneshot::channel();
        let mut work = tasks.finish(TaskKind::LogWriter, async move {
            gone.await.expect("told to go");
            done.send(()).expect("somebody wants to know");
        });
        tokio::select! {
            biased;
            () = &mut work => panic!("it was not told to go"),
            () = std::future::ready(()) => {}
        }
        drop(work);
        tasks.cancel();
        go.send(()).expect("it still waits");
        assert!(tasks.wait(Duration::from_secs(10)).await);
        assert_eq!(is_done.await, Ok(()));
    }

    #[tokio::test]
    async fn what_was_awaited_to_its_end_is_not_begun_again() {
        let tasks = Tasks::new();
        assert_eq!(tasks.finish(TaskKind::LogWriter, async { 7 }).await, 7);
        assert!(tasks.wait(Duration::ZERO).await, "no task was left");
    }
}
