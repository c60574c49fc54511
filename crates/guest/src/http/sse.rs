//! Splits a stream of bytes into the data of server-sent events.

/// No event of an answer is near this long; a stream without line ends must not fill the memory.
const MAX_EVENT: usize = 16 * 1024 * 1024;

/// Bytes of a stream that are not yet an event.
#[derive(Debug, Default)]
pub(crate) struct Splitter {
    buffer: Vec<u8>,
    /// How much of the buffer was looked through for a line's end.
    searched: usize,
    data: Vec<u8>,
    /// `data` holds at least one line, perhaps an empty one.
    has_data: bool,
}

/// An event is longer than any that makes sense.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Splitter {
    /// Takes more bytes in.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() + self.data.len() > MAX_EVENT { Err(TooLong) } else { Ok(()) }
    }

    /// The data of the next whole event. Names, ids and comments are of no interest: the data says what it is.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        while let Some(line) = self.line() {
            match line.strip_prefix(b"data:") {
                Some(data) => self.add(data.strip_prefix(b" ").unwrap_or(data)),
                None if line.is_empty() && self.has_data => {
                    self.has_data = false;
                    return Some(std::mem::take(&mut self.data));
                }
                None => {}
            }
        }
        None
    }

    fn add(&mut self, data: &[u8]) {
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(data);
    }

    fn line(&mut self) -> Option<Vec<u8>> {
        let Some(found) = self.buffer[self.searched..].iter().position(|byte| *byte == b'\n') else {
            self.searched = self.buffer.len();
            return None;
        };
        let end = self.searched + found;
        let mut line: Vec<u8> = self.buffer.drain(..=end).collect();
        self.searched = 0;
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_EVENT, Splitter, TooLong};

    fn events(stream: &[u8], piece: usize) -> Vec<String> {
        let (mut splitter, mut all) = (Splitter::default(), Vec::new());
        for bytes in stream.chunks(piece) {
            splitter.push(bytes).expect("short");
            while let Some(data) = splitter.next() {
                all.push(String::from_utf8(data).expect("text"));
            }
        }
        all
    }

    #[test]
    fn events_are_the_same_however_the_stream_is_cut() {
        let stream = "event: a\r\ndata: {\"é\":1}\r\n\r\n: ping\n\ndata:x\ndata: y\n\nid: 1\n\ndata: torn";
        for piece in 1..=stream.len() {
            assert_eq!(events(stream.as_bytes(), piece), ["{\"é\":1}", "x\ny"], "pieces of {piece}");
        }
    }

    #[test]
    fn a_stream_without_an_end_is_refused() {
        let mut splitter = Splitter::default();
        assert_eq!(splitter.push(&vec![b'x'; MAX_EVENT]), Ok(()));
        assert_eq!(splitter.push(b"x"), Err(TooLong));
    }
}
