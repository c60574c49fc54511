//! How often an error was given, for errors that go away after a number of tries.
//!
//! A retry is the same request again, and nothing in it tells which one it is: this is the only thing that the demo
//! model remembers from one request to the next.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

/// How many errors are remembered. The oldest is forgotten for a new one, and then comes more often than asked.
const MAX: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Attempts {
    given: Mutex<VecDeque<(blake3::Hash, u64)>>,
}

impl Attempts {
    /// Whether this try fails: the first `n_failing` of a request do, and then it begins anew.
    pub(super) fn fails(&self, request: blake3::Hash, n_failing: u64) -> bool {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let at = given.iter().position(|(known, _)| *known == request);
        let n_given = at.and_then(|at| given.remove(at)).map_or(0, |(_, n_given)| n_given);
        if n_given >= n_failing {
            return false;
        }
        if given.len() == MAX {
            given.pop_front();
        }
        given.push_back((request, n_given + 1));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{Attempts, MAX};

    #[test]
    fn an_error_comes_as_often_as_asked_and_then_begins_anew() {
        let attempts = Attempts::default();
        let request = blake3::hash(b"a");
        let tries = || (0..6).map(|_| attempts.fails(request, 2)).collect::<Vec<_>>();
        assert_eq!(tries(), [true, true, false, true, true, false]);
        assert!(!attempts.fails(request, 0));
    }

    #[test]
    fn it_remembers_no_more_than_its_bound() {
        let attempts = Attempts::default();
        for n in 0..3 * MAX as u64 {
            assert!(attempts.fails(blake3::hash(&n.to_le_bytes()), 1));
        }
        assert_eq!(attempts.given.lock().expect("a lock").len(), MAX);
    }
}
