//! Reads server-sent events from pieces that break anywhere.

/// Cuts a stream of bytes into events.
pub(crate) struct Reader {
    line: Vec<u8>,
    name: String,
    data: Vec<u8>,
    /// The event is longer than is kept, so it is passed over.
    overlong: bool,
}

/// One event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its `event:` field; empty if it has none.
    pub(crate) name: String,
    /// Its `data:` fields, joined by line feeds.
    pub(crate) data: Vec<u8>,
}

/// Longer events are passed over: a hostile answer must not fill the memory. Generous, because the event with the usage of
/// a response holds all of that response, and a piece of Gemini's may hold a picture.
const MAX_EVENT: usize = 8 * 1024 * 1024;

impl Reader {
    pub(crate) fn new() -> Self {
        Self { line: Vec::new(), name: String::new(), data: Vec::new(), overlong: false }
    }

    /// Takes the next piece and gives each event that it completes.
    pub(crate) fn feed(&mut self, mut piece: &[u8], mut each: impl FnMut(Event)) {
        while let Some(end) = piece.iter().position(|&byte| byte == b'\n') {
            self.keep(&piece[..end]);
            piece = &piece[end + 1..];
            if let Some(event) = self.end_line() {
                each(event);
            }
        }
        self.keep(piece);
    }

    fn keep(&mut self, part: &[u8]) {
        self.overlong |= self.line.len() + self.data.len() + part.len() > MAX_EVENT;
        if !self.overlong {
            self.line.extend_from_slice(part);
        } else if self.line.is_empty() && !matches!(part, b"" | b"\r") {
            // An overlong event ends at the next empty line; one byte is enough to know that this line is not empty.
            self.line.push(b':');
        }
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        if line.is_empty() {
            return self.end_event();
        }
        if self.overlong {
            return None;
        }
        if let Some(name) = field(line, b"event") {
            self.name = String::from_utf8_lossy(name).into_owned();
        } else if let Some(data) = field(line, b"data") {
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data);
        }
        None
    }

    fn end_event(&mut self) -> Option<Event> {
        let event = Event { name: std::mem::take(&mut self.name), data: std::mem::take(&mut self.data) };
        let whole = !std::mem::replace(&mut self.overlong, false);
        (whole && !event.data.is_empty()).then_some(event)
    }
}

fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let value = line.strip_prefix(name)?.strip_prefix(b":")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::{Event, MAX_EVENT, Reader};

    fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Event> {
        let mut reader = Reader::new();
        let mut events = Vec::new();
        pieces.for_each(|piece| reader.feed(piece, |event| events.push(event)));
        events
    }

    fn event(name: &str, data: &str) -> Event {
        Event { name: name.to_owned(), data: data.as_bytes().to_vec() }
    }

    #[test]
    fn events_are_the_same_wherever_the_pieces_break() {
        let text = b"event: a\ndata: {\"x\":1}\n\n: comment\nid: 7\r\nevent: b\r\ndata:1\r\ndata: 2\r\n\r\nevent: c\n\ndata: tail";
        let expected = [event("a", "{\"x\":1}"), event("b", "1\n2")];
        for size in 1..=text.len() {
            assert_eq!(read(text.chunks(size)), expected, "pieces of {size}");
        }
    }

    #[test]
    fn an_overlong_event_is_passed_over_and_the_next_is_read() {
        let long = format!("event: a\ndata: {}\ndata: more\n\nevent: b\ndata: 1\n\n", "x".repeat(MAX_EVENT));
        for size in [100_000, long.len()] {
            assert_eq!(read(long.as_bytes().chunks(size)), [event("b", "1")]);
        }
    }
}
