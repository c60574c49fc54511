//! Events of the API's own stream.

use std::borrow::Cow;

use super::{Message, Part, Tokens};
use crate::claude_code::scan::{Cursor, Malformed, Progress, number};

/// One event.
#[derive(Default)]
pub(in crate::claude_code) struct StreamEvent<'a> {
    pub(in crate::claude_code) kind: &'a [u8],
    pub(in crate::claude_code) index: u64,
    /// Seldom there, and large; so is the next.
    pub(in crate::claude_code) message: Option<Box<Message<'a>>>,
    pub(in crate::claude_code) content_block: Option<Box<Part<'a>>>,
    /// What a block grows by.
    pub(in crate::claude_code) delta: Cow<'a, str>,
    pub(in crate::claude_code) usage: Option<Tokens>,
}

impl<'a> StreamEvent<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let (mut event, mut progress) = (Self::default(), Progress::default());
        while let Some(key) = cursor.next_key(&mut progress)? {
            match key {
                b"type" => event.kind = cursor.word()?,
                b"index" => event.index = number(cursor.value()?).ok_or(Malformed)?,
                b"message" => event.message = cursor.attempt(Message::read)?.map(Box::new),
                b"content_block" => event.content_block = cursor.attempt(Part::read)?.map(Box::new),
                b"delta" => event.delta = delta(cursor)?,
                b"usage" => event.usage = cursor.attempt(Tokens::read)?,
                _ => drop(cursor.value()?),
            }
        }
        Ok(event)
    }
}

/// The text of a delta; other deltas have none.
fn delta<'a>(cursor: &mut Cursor<'a>) -> Result<Cow<'a, str>, Malformed> {
    let (mut grown, mut progress) = (Cow::default(), Progress::default());
    while let Some(key) = cursor.next_key(&mut progress)? {
        match key {
            b"text" | b"thinking" => grown = cursor.text()?,
            _ => drop(cursor.value()?),
        }
    }
    Ok(grown)
}
