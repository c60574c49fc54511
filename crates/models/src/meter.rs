//! Counts what an answer used, while it goes by.

use crate::{
    format::Metered,
    sse::{Event, Reader},
};

/// Reads the usage of one answer. Unreadable answers have used nothing, as far as anyone can tell.
pub(crate) struct Meter {
    /// `None` when the answer is one JSON text, which is read from the recording at the end.
    events: Option<Reader>,
    tally: Box<dyn Tally>,
    progress: Progress,
}

/// What a wire format says about usage. Fed with the events of a stream, or once with a whole answer.
pub(crate) trait Tally: Send {
    /// Takes the next event of a stream, and says how far the answer is.
    fn on_event(&mut self, event: &Event) -> Progress;

    /// Takes an answer that is not streamed.
    fn on_whole(&mut self, body: &[u8]);

    /// What was used in all.
    fn total(&self) -> Metered;
}

/// How far an answer is, by its own words. Agents go when they have read its end, and do not wait for the connection's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Progress {
    /// More must come.
    Going,
    /// Nothing more must come, so whoever leaves now was answered; usage may still follow.
    Finished,
    /// Nothing more can come.
    Over,
}

impl Meter {
    pub(crate) fn new(content_type: Option<&str>, tally: Box<dyn Tally>) -> Self {
        let streamed = content_type.is_some_and(|text| text.starts_with("text/event-stream"));
        Self { events: streamed.then(Reader::new), tally, progress: Progress::Going }
    }

    /// Looks at the next piece of the answer.
    pub(crate) fn saw(&mut self, piece: &[u8]) {
        let Some(reader) = &mut self.events else { return };
        reader.feed(piece, |event| self.progress = self.progress.max(self.tally.on_event(&event)));
    }

    pub(crate) fn progress(&self) -> Progress {
        self.progress
    }

    /// What was used in all. `recorded` is the answer as far as it was recorded.
    pub(crate) fn total(mut self, recorded: &[u8]) -> Metered {
        if self.events.is_none() {
            self.tally.on_whole(recorded);
        }
        self.tally.total()
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Meter, Progress};
    use crate::{Format, format::Metered};

    /// Meters an answer that arrives in pieces of `size` bytes.
    pub(crate) fn read(format: Format, content_type: &str, text: &str, size: usize) -> Metered {
        let mut meter = format.meter(Some(content_type));
        text.as_bytes().chunks(size).for_each(|piece| meter.saw(piece));
        meter.total(text.as_bytes())
    }

    /// Checks that a stream is metered alike wherever its pieces break, and also with CR LF at the ends of its lines.
    pub(crate) fn check_stream(format: Format, stream: &str, expected: &Metered) {
        let crlf = stream.replace("\r\n", "\n").replace('\n', "\r\n");
        for text in [stream, crlf.as_str()] {
            for size in [1, 2, 3, 7, 64, 1000, text.len()] {
                let found = read(format, "text/event-stream; charset=utf-8", text, size);
                assert_eq!(&found, expected, "pieces of {size}");
            }
        }
    }

    /// How far an answer is after this much of it.
    pub(crate) fn progress(format: Format, stream: &str) -> Progress {
        let mut meter: Meter = format.meter(Some("text/event-stream"));
        meter.saw(stream.as_bytes());
        meter.progress()
    }
}
