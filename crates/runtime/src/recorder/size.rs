//! How many bytes a session's log takes, counted as it grows.

use warren_domain::{LOG_PER_PROJECT, LOG_PER_RUN, LOG_PER_SESSION};
use warren_store::StoredBytes;

use crate::{limit::Use, options::LogLimits};

/// After so many bytes the store is asked again what the project takes: other sessions grow meanwhile.
const MAX_UNCHECKED: u64 = 16 << 20;

/// What is recorded, each entry with its fields that are blobs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LogSize {
    /// Since the latest run began.
    run: u64,
    stored: StoredBytes,
    /// Since the store was asked.
    unchecked: u64,
}

impl LogSize {
    pub(super) fn add(&mut self, bytes: u64) {
        self.run += bytes;
        self.unchecked += bytes;
    }

    /// Counts the entries of a new run.
    pub(crate) fn begin_run(&mut self) {
        self.run = 0;
    }

    /// Whether the store has to be asked before it is known which limits are reached.
    pub(crate) fn is_stale(&self) -> bool {
        self.unchecked >= MAX_UNCHECKED
    }

    /// Takes what the store says.
    pub(crate) fn checked(&mut self, stored: StoredBytes) {
        (self.stored, self.unchecked) = (stored, 0);
    }

    /// The limit that keeps a run from going on, if there is one.
    pub(crate) fn reached_by_run(&self, limits: &LogLimits) -> Option<Use> {
        let of_run = Use::new(LOG_PER_RUN, "run", self.run, limits.per_run);
        Some(of_run).filter(|limit| limit.left() == 0).or_else(|| self.reached(limits))
    }

    /// The limit that keeps a run from beginning, if there is one.
    pub(crate) fn reached(&self, limits: &LogLimits) -> Option<Use> {
        let StoredBytes { session, project } = self.stored;
        let of_session = Use::new(LOG_PER_SESSION, "session", session + self.unchecked, limits.per_session);
        let of_project = Use::new(LOG_PER_PROJECT, "project", project + self.unchecked, limits.per_project);
        [of_session, of_project].into_iter().find(|limit| limit.left() == 0)
    }
}

#[cfg(test)]
mod tests {
    use warren_store::StoredBytes;

    use super::{LogSize, MAX_UNCHECKED};
    use crate::options::LogLimits;

    #[test]
    fn a_limit_is_reached_by_what_is_stored_and_what_was_added_since() {
        let limits = LogLimits { per_run: 100, per_session: 1_000, per_project: 5_000 };
        let scope = |size: &LogSize| size.reached_by_run(&limits).map(|limit| limit.scope);
        let mut size = LogSize::default();
        size.checked(StoredBytes { session: 850, project: 4_000 });
        size.add(99);
        assert_eq!(scope(&size), None);
        size.add(1);
        assert_eq!(scope(&size), Some("run"));
        assert!(size.reached(&limits).is_none(), "another run may begin");
        size.begin_run();
        size.add(50);
        assert_eq!(
            (scope(&size), size.reached(&limits).map(|limit| limit.used)),
            (Some("session"), Some(1_000))
        );
        size.checked(StoredBytes { session: 10, project: 5_000 });
        assert_eq!(scope(&size), Some("project"), "others reached it");
    }

    #[test]
    fn the_store_is_asked_again_only_after_much_was_added() {
        let mut size = LogSize::default();
        size.add(MAX_UNCHECKED - 1);
        assert!(!size.is_stale());
        size.add(1);
        assert!(size.is_stale());
        size.checked(StoredBytes::default());
        assert!(!size.is_stale());
    }
}
