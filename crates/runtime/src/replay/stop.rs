//! Where a run that was stopped had come to: its replay is stopped there too.

use std::collections::BTreeSet;

use warren_domain::{ErrorCode, Event, EventBody};

/// What had happened when a run was stopped from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StopPoint {
    /// How many blocks had begun.
    n_blocks: usize,
    /// Which files had changed.
    files: BTreeSet<String>,
}

/// How far a replay is on its way there.
#[derive(Debug, Default)]
pub(super) struct Way {
    n_blocks: usize,
    files: BTreeSet<String>,
}

/// How much of the way is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reached {
    No,
    /// All that was said; files are told with some delay.
    Said,
    All,
}

impl StopPoint {
    /// `None` if the run ended by itself, and so does its replay.
    pub(super) fn of(events: &[Event]) -> Option<Self> {
        // What is told of later, such as a call to the model that was given up, is not its end.
        let end = events.iter().rev().find(|event| event.body.ends_run())?;
        let stopped = match &end.body {
            EventBody::RunInterrupted { .. } => true,
            EventBody::RunFailed { code, .. } => matches!(
                code,
                ErrorCode::Timeout
                    | ErrorCode::ServerRestarted
                    | ErrorCode::SandboxError
                    | ErrorCode::DiskLimit
                    | ErrorCode::StorageLimit
                    | ErrorCode::OutOfMemory
            ),
            _ => false,
        };
        let mut way = Way::default();
        events.iter().for_each(|event| way.note(&event.body));
        stopped.then_some(Self { n_blocks: way.n_blocks, files: way.files })
    }

    pub(super) fn reached(&self, way: &Way) -> Reached {
        match (way.n_blocks >= self.n_blocks, self.files.is_subset(&way.files)) {
            (false, _) => Reached::No,
            (true, false) => Reached::Said,
            (true, true) => Reached::All,
        }
    }
}

impl Way {
    pub(super) fn n_blocks(&self) -> usize {
        self.n_blocks
    }

    pub(super) fn note(&mut self, body: &EventBody) {
        match body {
            EventBody::BlockStart { .. } => self.n_blocks += 1,
            EventBody::FileChanged { path, .. } => drop(self.files.insert(path.clone())),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use warren_domain::{
        Block, BlockId, Diagnostics, Draft, ErrorCode, Event, EventBody, FileChange, Seq, Timestamp, Usage,
    };

    use warren_env::Env;

    use super::{Reached, StopPoint, Way};

    fn events(bodies: Vec<EventBody>) -> Vec<Event> {
        let at = Timestamp::from_millis(0);
        let number = |(body, seq)| Draft::of_session(body).numbered(Seq(seq), Env::system().session_id(), at);
        bodies.into_iter().zip(1..).map(number).collect()
    }

    fn block() -> EventBody {
        let (id, timestamp) = (BlockId::from("b"), Timestamp::from_millis(0));
        EventBody::BlockStart {
            block: Block::AssistantText { id, timestamp, content: String::new(), model: None },
        }
    }

    fn file(path: &str) -> EventBody {
        EventBody::FileChanged {
            path: path.to_owned(),
            change: FileChange::Created,
            size_bytes: None,
            hash: None,
        }
    }

    fn failed(code: ErrorCode) -> EventBody {
        let (usage, diagnostics) = (Usage::default(), Diagnostics::default());
        EventBody::RunFailed {
            code,
            message: String::new(),
            recoverable: true,
            usage,
            cost_usd: 0.0,
            diagnostics,
        }
    }

    #[test]
    fn a_run_that_was_stopped_is_stopped_again_when_as_much_has_happened() {
        let point = StopPoint::of(&events(vec![block(), file("a"), block(), failed(ErrorCode::Timeout)]));
        let point = point.expect("it was stopped");
        let mut way = Way::default();
        let mut reached = |body: EventBody| {
            way.note(&body);
            point.reached(&way)
        };
        assert_eq!(reached(block()), Reached::No);
        assert_eq!(reached(block()), Reached::Said);
        assert_eq!(reached(file("b")), Reached::Said);
        assert_eq!(reached(file("a")), Reached::All);
    }

    #[test]
    fn what_is_told_after_the_end_of_a_run_does_not_hide_that_it_was_stopped() {
        let late = EventBody::SessionEnded { reason: "later".to_owned() };
        assert!(StopPoint::of(&events(vec![block(), failed(ErrorCode::ServerRestarted), late])).is_some());
    }

    #[test]
    fn a_run_that_ended_by_itself_is_not_stopped() {
        assert_eq!(StopPoint::of(&events(vec![block(), failed(ErrorCode::LlmError)])), None);
        assert_eq!(StopPoint::of(&[]), None);
    }
}
