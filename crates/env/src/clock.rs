//! Time, ids and randomness.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use uuid::Uuid;
use warren_domain::{RunId, SessionId, Timestamp};

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// Time, ids and randomness, as a cheap clone.
#[derive(Clone)]
pub struct Env {
    clock: Arc<dyn Clock>,
}

/// Why there is no randomness.
#[derive(Debug)]
pub struct RandomError(getrandom::Error);

impl std::fmt::Display for RandomError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the operating system gave no randomness: {}", self.0)
    }
}

impl std::error::Error for RandomError {}

/// A clock that a test moves.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

struct SystemClock;

impl Env {
    /// The machine's own.
    #[must_use]
    pub fn system() -> Self {
        Self { clock: Arc::new(SystemClock) }
    }

    /// With another clock.
    #[must_use]
    pub fn with_clock(clock: Arc<dyn Clock>) -> Self {
        Self { clock }
    }

    /// Now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A new id that sorts after those made before.
    #[must_use]
    pub fn uuid(&self) -> Uuid {
        Uuid::now_v7()
    }

    /// A new session's id.
    #[must_use]
    pub fn session_id(&self) -> SessionId {
        SessionId(self.uuid())
    }

    /// A new run's id.
    #[must_use]
    pub fn run_id(&self) -> RunId {
        RunId(self.uuid())
    }

    /// Bytes nobody can guess.
    ///
    /// # Errors
    /// When the operating system gives none; there is no weaker fallback.
    pub fn random<const N: usize>(&self) -> Result<[u8; N], RandomError> {
        let mut bytes = [0; N];
        getrandom::fill(&mut bytes).map_err(RandomError)?;
        Ok(bytes)
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

impl ManualClock {
    /// A clock that stands still at `start`.
    #[must_use]
    pub fn at(start: Timestamp) -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(start.as_millis())))
    }

    /// Moves it forward.
    pub fn advance_millis(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}
