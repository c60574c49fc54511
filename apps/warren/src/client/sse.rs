//! Server-sent events: bytes in, messages out.

/// The longest line that is taken; the server's longest event is far below.
const MAX_LINE: usize = 16 << 20;

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Message {
    /// The `id` that was in force; the number of a log entry.
    pub(crate) id: String,
    /// The lines of `data`, as they came.
    pub(crate) data: String,
}

/// Why a stream cannot be read on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ParseError {
    /// It is no text.
    #[error("the server sent a line that is not UTF-8")]
    NotText,
    /// It never ends.
    #[error("the server sent a line of more than {MAX_LINE} bytes")]
    TooLong,
}

/// Takes bytes in any pieces; lines and messages may be cut anywhere.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// The last line ended with CR: a LF right after it belongs to it.
    after_cr: bool,
    id: String,
    data: Option<String>,
    /// The message says why the server ends the stream. Whoever comes back for more is told the same, as an answer.
    is_problem: bool,
}

impl Parser {
    /// Takes the next bytes and appends the messages they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8], out: &mut Vec<Message>) -> Result<(), ParseError> {
        let mut rest = bytes;
        if std::mem::take(&mut self.after_cr) && rest.first() == Some(&b'\n') {
            rest = &rest[1..];
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.extend_from_slice(&rest[..end]);
            let length = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
            self.after_cr = rest[end] == b'\r' && end + 1 == rest.len();
            rest = &rest[end + length..];
            let line = std::mem::take(&mut self.line);
            self.end_line(std::str::from_utf8(&line).map_err(|_| ParseError::NotText)?, out);
        }
        self.line.extend_from_slice(rest);
        if self.line.len() > MAX_LINE { Err(ParseError::TooLong) } else { Ok(()) }
    }

    fn end_line(&mut self, line: &str, out: &mut Vec<Message>) {
        if line.is_empty() {
            let is_problem = std::mem::take(&mut self.is_problem);
            if let Some(data) = self.data.take()
                && !is_problem
            {
                out.push(Message { id: self.id.clone(), data });
            }
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => value.clone_into(&mut self.id),
            "event" => self.is_problem = value == "problem",
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // Comments (an empty field) keep the connection alive; `retry` tells us nothing we need.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Message, ParseError, Parser};

    fn parse(pieces: &[&[u8]]) -> Vec<Message> {
        let mut parser = Parser::default();
        let mut out = Vec::new();
        for piece in pieces {
            parser.feed(piece, &mut out).expect("readable");
        }
        out
    }

    fn message(id: &str, data: &str) -> Message {
        Message { id: id.to_owned(), data: data.to_owned() }
    }

    const STREAM: &[u8] = b": hello\n\nid: 1\ndata: {\"a\":1}\n\nid:2\r\nevent: message\r\ndata:x\r\ndata: \xc3\xbc\r\n\r\n\rdata\r\rid: 3\n\n: end";

    fn expected() -> Vec<Message> {
        vec![message("1", "{\"a\":1}"), message("2", "x\n\u{fc}"), message("2", "")]
    }

    #[test]
    fn messages_are_read_whatever_ends_their_lines() {
        assert_eq!(parse(&[STREAM]), expected());
    }

    #[test]
    fn a_stream_may_be_cut_at_every_place() {
        for at in 0..=STREAM.len() {
            let (left, right) = STREAM.split_at(at);
            assert_eq!(parse(&[left, right]), expected(), "cut at {at}");
        }
        let bytes: Vec<&[u8]> = STREAM.chunks(1).collect();
        assert_eq!(parse(&bytes), expected());
    }

    #[test]
    fn a_message_that_has_not_ended_is_not_given() {
        assert_eq!(parse(&[b"id: 1\ndata: x\n"]), []);
    }

    #[test]
    fn what_is_no_text_or_never_ends_is_refused() {
        let mut parser = Parser::default();
        assert!(matches!(parser.feed(b"data: \xff\n", &mut Vec::new()), Err(ParseError::NotText)));
        let mut parser = Parser::default();
        let long = vec![b'x'; super::MAX_LINE + 1];
        assert!(matches!(parser.feed(&long, &mut Vec::new()), Err(ParseError::TooLong)));
    }

    #[test]
    fn why_a_stream_ends_is_no_message() {
        let told = b"id: 1\ndata: {}\n\nevent: problem\ndata: {\"status\":401}\n\ndata: x\n\n";
        let data: Vec<_> = parse(&[told]).into_iter().map(|message| message.data).collect();
        assert_eq!(data, ["{}", "x"]);
    }
}
