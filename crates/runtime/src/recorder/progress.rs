//! How far a session's view is behind its log, as the log's writer knows.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use warren_domain::Seq;

use crate::views::EVERY;

/// Where the view is, and whether it is being moved.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The checkpoint, as last heard of.
    known: Seq,
    /// The head of the log when it was last tried.
    tried: Seq,
    shared: Arc<Moved>,
}

#[derive(Debug, Default)]
struct Moved {
    to: AtomicU64,
    is_busy: AtomicBool,
}

/// The view is being moved until this is dropped.
pub(super) struct Moving(Arc<Moved>);

impl Progress {
    pub(super) fn at(base: Seq) -> Self {
        let shared = Arc::new(Moved { to: AtomicU64::new(base.0), is_busy: AtomicBool::new(false) });
        Self { known: base, tried: base, shared }
    }

    /// The checkpoint, if it was moved.
    pub(super) fn news(&mut self) -> Option<Seq> {
        let to = Seq(self.shared.to.load(Ordering::Acquire));
        (to > self.known).then(|| {
            self.known = to;
            to
        })
    }

    /// Says whether the view is to be moved now. What did not pay is tried again when there is twice as much.
    pub(super) fn begin(&mut self, head: Seq) -> Option<Moving> {
        let left = self.tried.0.saturating_sub(self.known.0);
        let is_far = head.0.saturating_sub(self.tried.0) >= EVERY.max(left);
        if !is_far || self.shared.is_busy.swap(true, Ordering::AcqRel) {
            return None;
        }
        self.tried = head;
        Some(Moving(self.shared.clone()))
    }
}

impl Moving {
    pub(super) fn done(self, base: Option<Seq>) {
        self.0.to.fetch_max(base.unwrap_or_default().0, Ordering::AcqRel);
    }
}

impl Drop for Moving {
    fn drop(&mut self) {
        self.0.is_busy.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use warren_domain::Seq;

    use super::Progress;
    use crate::views::EVERY;

    #[test]
    fn view_is_moved_every_so_often_by_one_at_a_time() {
        let mut progress = Progress::at(Seq(0));
        assert!(progress.begin(Seq(EVERY - 1)).is_none());
        let moving = progress.begin(Seq(EVERY)).expect("it is time");
        assert!(progress.begin(Seq(3 * EVERY)).is_none(), "it is being moved");
        moving.done(Some(Seq(EVERY)));
        assert_eq!((progress.news(), progress.news()), (Some(Seq(EVERY)), None));
        drop(progress.begin(Seq(3 * EVERY)).expect("it is time again"));
        // It did not pay: the next try is when there is twice as much.
        assert!(progress.begin(Seq(4 * EVERY)).is_none());
        assert!(progress.begin(Seq(5 * EVERY)).is_some());
    }
}
