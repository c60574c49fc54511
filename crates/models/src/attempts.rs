//! Which attempt a call is: agents repeat a request word for word when it failed.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use warren_domain::{BlobHash, RunId};

/// The requests that failed lately. A cheap clone.
#[derive(Clone, Default)]
pub(crate) struct Attempts(Arc<Mutex<VecDeque<Failure>>>);

struct Failure {
    run: RunId,
    request: BlobHash,
    n_failed: u32,
}

/// Beyond it the oldest is forgotten, and its repetition counts as a first attempt.
const REMEMBERED: usize = 256;

impl Attempts {
    /// Which attempt a call with this request would be, from 1.
    pub(crate) fn next(&self, run: RunId, request: &BlobHash) -> u32 {
        let failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = failures.iter().find(|known| known.run == run && known.request == *request);
        known.map_or(1, |known| known.n_failed.saturating_add(1))
    }

    pub(crate) fn ended(&self, run: RunId, request: &BlobHash, attempt: u32, failed: bool) {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !failed && failures.is_empty() {
            return;
        }
        failures.retain(|known| known.run != run || known.request != *request);
        if failed {
            failures.push_back(Failure { run, request: request.clone(), n_failed: attempt });
        }
        if failures.len() > REMEMBERED {
            failures.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;
    use warren_domain::{BlobHash, RunId};

    use super::{Attempts, REMEMBERED};

    #[test]
    fn a_request_counts_up_until_it_succeeds_and_each_run_for_itself() {
        let attempts = Attempts::default();
        let (run, other) = (RunId(Uuid::from_u128(1)), RunId(Uuid::from_u128(2)));
        let request = BlobHash("a".to_owned());
        for n in 1..=3 {
            assert_eq!(attempts.next(run, &request), n);
            attempts.ended(run, &request, n, true);
        }
        assert_eq!((attempts.next(run, &request), attempts.next(other, &request)), (4, 1));
        attempts.ended(run, &request, 4, false);
        assert_eq!(attempts.next(run, &request), 1);
    }

    #[test]
    fn only_the_latest_failures_are_remembered() {
        let attempts = Attempts::default();
        let run = RunId(Uuid::from_u128(1));
        let hash = |n: usize| BlobHash(n.to_string());
        (0..=REMEMBERED).for_each(|n| attempts.ended(run, &hash(n), 1, true));
        assert_eq!(attempts.next(run, &hash(0)), 1);
        assert_eq!(attempts.next(run, &hash(1)), 2);
    }
}
