//! The time, for the blocks.

use std::time::{SystemTime, UNIX_EPOCH};

use warren_domain::Timestamp;

/// Now.
#[expect(
    clippy::disallowed_methods,
    reason = "a program of its own in the sandbox, which no test's clock reaches"
)]
pub(super) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Milliseconds since `start`.
pub(super) fn elapsed_ms(start: std::time::Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}
