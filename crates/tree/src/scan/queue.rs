//! Work for several threads, where work makes more work.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What is to be done, last in, first out: so that it stays small, and close to what was just done.
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    waiting: Vec<T>,
    /// Threads that work, and may add more.
    n_working: usize,
    /// Threads that wait for work.
    n_idle: usize,
    stopped: bool,
}

impl<T> Queue<T> {
    pub(super) fn new(first: Vec<T>) -> Self {
        let state = State { waiting: first, n_working: 0, n_idle: 0, stopped: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(super) fn push(&self, work: T) {
        let mut state = self.lock();
        state.waiting.push(work);
        if state.n_idle > 0 {
            self.changed.notify_one();
        }
    }

    /// Lets everybody end.
    pub(super) fn stop(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    /// Works until there is nothing more to do, or somebody stopped it.
    pub(super) fn work(&self, mut each: impl FnMut(T)) {
        let mut state = self.lock();
        loop {
            if state.stopped {
                return;
            }
            if let Some(work) = state.waiting.pop() {
                state.n_working += 1;
                drop(state);
                each(work);
                state = self.lock();
                state.n_working -= 1;
            } else if state.n_working == 0 {
                self.changed.notify_all();
                return;
            } else {
                state.n_idle += 1;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.n_idle -= 1;
            }
        }
    }

    /// Held for a few lines that do not panic.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
