//! What the log says of the recordings of model calls: the latest ones, and how many bytes they take.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::{BlobHash, Event, EventBody, RunId, Timestamp};

/// How many of the latest recordings are tried as a base when an owner takes up a session.
pub const MAX_RECENT_RECORDINGS: usize = 4;

/// Runs whose calls may still end.
const MAX_RUNS: usize = 4;

const DAY: i64 = 24 * 3600 * 1000;

/// The recordings of a session, as its log says.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RecordedCalls {
    /// The last one first.
    latest: VecDeque<BlobHash>,
    /// Bytes by the day on which they were recorded.
    days: BTreeMap<i64, u64>,
    /// The last one first.
    runs: VecDeque<RecordedRun>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RecordedRun {
    run: RunId,
    bytes: u64,
    has_reached_limit: bool,
}

impl RecordedCalls {
    /// Folds one entry.
    pub fn apply(&mut self, event: &Event) {
        match (&event.body, event.run_id) {
            (EventBody::ModelCalled(called), Some(run)) => {
                let Some(hash) = &called.recording else { return };
                let bytes = called.recording_bytes.unwrap_or_default();
                self.latest.truncate(MAX_RECENT_RECORDINGS - 1);
                self.latest.push_front(hash.clone());
                *self.days.entry(event.timestamp.as_millis().div_euclid(DAY)).or_default() += bytes;
                self.run(run).bytes += bytes;
            }
            (EventBody::LimitReached { limit, .. }, Some(run)) if is_recording_limit(limit) => {
                self.run(run).has_reached_limit = true;
            }
            _ => {}
        }
    }

    /// The latest recordings, the last one first.
    #[must_use]
    pub fn latest(&self) -> Vec<BlobHash> {
        self.latest.iter().cloned().collect()
    }

    /// How many bytes the recordings of a run take.
    #[must_use]
    pub fn bytes_of_run(&self, run: RunId) -> u64 {
        self.runs.iter().find(|known| known.run == run).map_or(0, |known| known.bytes)
    }

    /// How many bytes those take that are not older than `since`.
    #[must_use]
    pub fn bytes_since(&self, since: Timestamp) -> u64 {
        self.days.range(since.as_millis().div_euclid(DAY)..).map(|(_, bytes)| bytes).sum()
    }

    /// Whether a run reached a limit of recordings, so that nothing more of it is recorded.
    #[must_use]
    pub fn has_reached_limit(&self, run: RunId) -> bool {
        self.runs.iter().any(|known| known.run == run && known.has_reached_limit)
    }

    fn run(&mut self, run: RunId) -> &mut RecordedRun {
        let place = self.runs.iter().position(|known| known.run == run).unwrap_or_else(|| {
            self.runs.truncate(MAX_RUNS - 1);
            self.runs.push_front(RecordedRun { run, bytes: 0, has_reached_limit: false });
            0
        });
        &mut self.runs[place]
    }
}

/// Whether the limit of an event `limit_reached` is one of recordings.
#[must_use]
pub fn is_recording_limit(limit: &str) -> bool {
    [RECORDED_PER_RUN, RECORDED_PER_SESSION].contains(&limit)
}

/// The configuration key of the limit for a run's recordings.
pub const RECORDED_PER_RUN: &str = "models.max_recorded_bytes_per_run";
/// The configuration key of the limit for a session's recordings.
pub const RECORDED_PER_SESSION: &str = "models.max_recorded_bytes_per_session";

#[cfg(test)]
mod tests {
    use super::{DAY, RECORDED_PER_RUN, RecordedCalls};
    use crate::{BlobHash, Draft, EventBody, ModelCalled, RunId, Seq, SessionId, Timestamp, Usage};

    fn called(recorded: &mut RecordedCalls, run: RunId, day: i64, bytes: u64) {
        let called = ModelCalled {
            call_id: None,
            model: "m".to_owned(),
            request_hash: BlobHash(String::new()),
            status: 200,
            ms: 1,
            attempt: 1,
            usage: Usage::default(),
            cost_usd: 0.0,
            recording: Some(BlobHash(format!("{day}"))),
            recording_bytes: Some(bytes),
        };
        apply(recorded, run, day, EventBody::ModelCalled(called));
    }

    fn apply(recorded: &mut RecordedCalls, run: RunId, day: i64, body: EventBody) {
        let at = Timestamp::from_millis(day * DAY + 5);
        recorded.apply(&Draft::of_run(run, body).numbered(Seq(1), SessionId(uuid::Uuid::nil()), at));
    }

    #[test]
    fn recorded_bytes_are_counted_by_run_and_until_they_expire() {
        let (mut recorded, [first, second]) =
            (RecordedCalls::default(), [1, 2].map(|n| RunId(uuid::Uuid::from_u128(n))));
        called(&mut recorded, first, 1, 10);
        called(&mut recorded, second, 9, 20);
        called(&mut recorded, first, 9, 5);
        assert_eq!((recorded.bytes_of_run(first), recorded.bytes_of_run(second)), (15, 20));
        let since = |day: i64| recorded.bytes_since(Timestamp::from_millis(day * DAY + DAY / 2));
        assert_eq!((since(0), since(2), since(10)), (35, 25, 0));
        assert_eq!(recorded.latest(), ["9", "9", "1"].map(|hash| BlobHash(hash.to_owned())));

        assert!(!recorded.has_reached_limit(first));
        let limit = |limit: &str| EventBody::LimitReached {
            limit: limit.to_owned(),
            scope: "run".to_owned(),
            used: 15,
            allowed: 15,
            resets_at: None,
        };
        apply(&mut recorded, first, 9, limit("another.limit"));
        assert!(!recorded.has_reached_limit(first));
        apply(&mut recorded, first, 9, limit(RECORDED_PER_RUN));
        assert_eq!((recorded.has_reached_limit(first), recorded.has_reached_limit(second)), (true, false));
    }
}
