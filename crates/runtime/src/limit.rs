//! Limits that are configured, and how much of them is used.

use warren_domain::EventBody;

/// How much of a limit is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Use {
    /// The configuration key of the limit.
    pub(crate) limit: &'static str,
    /// What it holds for: a run, a session or a project.
    pub(crate) scope: &'static str,
    pub(crate) used: u64,
    pub(crate) allowed: u64,
}

impl Use {
    pub(crate) fn new(limit: &'static str, scope: &'static str, used: u64, allowed: u64) -> Self {
        Self { limit, scope, used, allowed }
    }

    pub(crate) fn left(self) -> u64 {
        self.allowed.saturating_sub(self.used)
    }

    pub(crate) fn reached(self) -> EventBody {
        let Self { limit, scope, used, allowed } = self;
        EventBody::LimitReached {
            limit: limit.to_owned(),
            scope: scope.to_owned(),
            used,
            allowed,
            resets_at: None,
        }
    }
}
