//! The time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use warren_domain::Timestamp;

/// The clock by which the agent waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    /// A second of waiting takes this fraction of a second: tests of long waits do not wait.
    speed: u32,
}

impl Clock {
    pub(super) fn new(speed: u32) -> Self {
        Self { speed: speed.max(1) }
    }

    pub(super) async fn sleep(self, duration: Duration) {
        tokio::time::sleep(duration / self.speed).await;
    }
}

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
