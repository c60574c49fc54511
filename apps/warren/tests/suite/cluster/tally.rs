//! What clients saw: answers and time, by operation.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use tokio::time::Instant;
use warren_testkit::TestAnswer;

/// What a client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Operation {
    Create,
    Message,
    Follow,
    Fork,
    Versions,
    Restore,
    Snapshot,
    Unload,
    Erase,
}

/// Counts answers. A cheap clone.
#[derive(Clone)]
pub(super) struct Tally(Arc<Mutex<Counts>>);

struct Counts {
    began: Instant,
    answers: BTreeMap<(Operation, String), Count>,
    minutes: BTreeMap<u64, Minute>,
}

/// The runs of one minute.
#[derive(Default)]
struct Minute {
    n_accepted: u32,
    /// Those that a client saw end, and how long they took.
    ended: Count,
}

#[derive(Default)]
struct Count {
    times: u32,
    waited: Duration,
    longest: Duration,
}

impl Tally {
    pub(super) fn new() -> Self {
        let counts = Counts { began: Instant::now(), answers: BTreeMap::new(), minutes: BTreeMap::new() };
        Self(Arc::new(Mutex::new(counts)))
    }

    /// Counts what came of a request that was sent at `sent`.
    pub(super) fn note(&self, operation: Operation, sent: Instant, outcome: &Result<TestAnswer, Lack>) {
        let outcome = match outcome {
            Ok(answer) => match answer.refusal() {
                (status, "") => status.to_string(),
                (status, code) => format!("{status} {code}"),
            },
            Err(lack) => format!("{lack:?}"),
        };
        self.counts().answers.entry((operation, outcome)).or_default().add(sent.elapsed());
    }

    /// Counts an accepted run.
    pub(super) fn note_accepted(&self) {
        self.counts().minute().n_accepted += 1;
    }

    /// Counts a run that a client saw end so long after it was accepted.
    pub(super) fn note_ended(&self, took: Duration) {
        self.counts().minute().ended.add(took);
    }

    #[expect(clippy::print_stdout, reason = "the report is what people read of this test")]
    pub(super) fn print(&self) {
        let counts = self.counts();
        println!("| operation | answer | times | mean wait | longest wait |\n|---|---|---|---|---|");
        for ((operation, outcome), count) in &counts.answers {
            println!("| {operation:?} | {outcome} | {count} |");
        }
        println!(
            "| minute | accepted runs | seen to end | mean wait | longest wait |\n|---|---|---|---|---|"
        );
        for (minute, Minute { n_accepted, ended }) in &counts.minutes {
            println!("| {minute} | {n_accepted} | {ended} |");
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().expect("no test panicked with it")
    }
}

impl Counts {
    fn minute(&mut self) -> &mut Minute {
        let minute = self.began.elapsed().as_secs() / 60;
        self.minutes.entry(minute).or_default()
    }
}

impl Count {
    fn add(&mut self, waited: Duration) {
        self.times += 1;
        self.waited += waited;
        self.longest = self.longest.max(waited);
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mean = self.waited / self.times.max(1);
        write!(f, "{} | {mean:.2?} | {:.2?}", self.times, self.longest)
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    /// The server is down.
    Down,
    /// Nothing came in time: it is stopped.
    Stopped,
    /// Nothing came in time, though it is not stopped.
    TimedOut,
    /// The connection broke: it was killed meanwhile.
    Broken,
}
