//! Events of the API's own stream.

use std::borrow::Cow;

use super::{
    Tokens,
    message::{each_field, string},
};
use crate::claude_code::scan::read;

/// One event.
#[derive(Default)]
pub(in crate::claude_code) struct StreamEvent<'a> {
    pub(in crate::claude_code) kind: Cow<'a, str>,
    pub(in crate::claude_code) index: u64,
    pub(in crate::claude_code) message: Option<&'a [u8]>,
    pub(in crate::claude_code) content_block: Option<&'a [u8]>,
    /// What a block grows by.
    pub(in crate::claude_code) delta: Cow<'a, str>,
    pub(in crate::claude_code) usage: Option<Tokens>,
}

impl<'a> StreamEvent<'a> {
    pub(in crate::claude_code) fn read(raw: &'a [u8]) -> Option<Self> {
        let mut event = Self::default();
        each_field(raw, |key, value| {
            match key {
                b"type" => event.kind = string(value)?,
                b"index" => event.index = read(value)?,
                b"message" => event.message = Some(value),
                b"content_block" => event.content_block = Some(value),
                b"delta" => event.delta = delta(value)?,
                b"usage" => event.usage = read(value),
                _ => {}
            }
            Some(())
        })?;
        Some(event)
    }
}

/// The text of a delta; other deltas have none.
fn delta(raw: &[u8]) -> Option<Cow<'_, str>> {
    let mut grown = Cow::default();
    each_field(raw, |key, value| {
        if matches!(key, b"text" | b"thinking") {
            grown = string(value)?;
        }
        Some(())
    })?;
    Some(grown)
}
