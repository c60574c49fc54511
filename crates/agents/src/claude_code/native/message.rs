//! Messages of the API. They are most of a transcript, so they are read by hand: each text is copied once, and what
//! nobody asks for is not looked at.

use std::borrow::Cow;

use serde_json::Value;

use super::{Line, Tokens};
use crate::claude_code::scan::{Cursor, Malformed, Progress, any, is_true};

/// What the API says, or what it is told.
#[derive(Default)]
pub(in crate::claude_code) struct Message<'a> {
    pub(in crate::claude_code) id: Cow<'a, str>,
    pub(in crate::claude_code) model: Cow<'a, str>,
    pub(in crate::claude_code) content: Body<'a>,
    pub(in crate::claude_code) usage: Option<Tokens>,
}

/// The content of a message: a text, or parts.
#[derive(Default)]
pub(in crate::claude_code) enum Body<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

/// One block of a message; a union of all kinds.
#[derive(Default)]
pub(in crate::claude_code) struct Part<'a> {
    pub(in crate::claude_code) kind: &'a [u8],
    pub(in crate::claude_code) text: Cow<'a, str>,
    pub(in crate::claude_code) thinking: Cow<'a, str>,
    pub(in crate::claude_code) id: Cow<'a, str>,
    pub(in crate::claude_code) name: Cow<'a, str>,
    pub(in crate::claude_code) input: Value,
    pub(in crate::claude_code) tool_use_id: Cow<'a, str>,
    /// Of a tool's result.
    pub(in crate::claude_code) content: Value,
    pub(in crate::claude_code) is_error: bool,
    /// Of a document.
    pub(in crate::claude_code) title: Cow<'a, str>,
    /// Of a text: where it is from.
    pub(in crate::claude_code) citations: Value,
    /// Rare, and large.
    pub(in crate::claude_code) source: Option<Box<Source<'a>>>,
}

/// Where a picture is.
#[derive(Default)]
pub(in crate::claude_code) struct Source<'a> {
    pub(in crate::claude_code) media_type: Cow<'a, str>,
    pub(in crate::claude_code) data: Cow<'a, str>,
    pub(in crate::claude_code) url: Cow<'a, str>,
}

/// What stands beside the conversation in a transcript.
#[derive(Default)]
pub(in crate::claude_code) struct Attachment<'a> {
    pub(in crate::claude_code) kind: Cow<'a, str>,
    pub(in crate::claude_code) prompt: Body<'a>,
    pub(in crate::claude_code) source_uuid: Cow<'a, str>,
    pub(in crate::claude_code) command_mode: Cow<'a, str>,
    pub(in crate::claude_code) is_meta: bool,
}

impl<'a> Message<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let (mut message, mut progress) = (Self::default(), Progress::default());
        while let Some(key) = cursor.next_key(&mut progress)? {
            match key {
                b"id" => message.id = cursor.text()?,
                b"model" => message.model = cursor.text()?,
                b"content" => message.content = Body::read(cursor)?,
                b"usage" => message.usage = cursor.attempt(Tokens::read)?,
                _ => drop(cursor.value()?),
            }
        }
        Ok(message)
    }

    /// Its id, or the line's where it has none.
    pub(in crate::claude_code) fn name(&self, line: &Line<'a>) -> Cow<'a, str> {
        if self.id.is_empty() { line.uuid().unwrap_or_default() } else { self.id.clone() }
    }
}

impl<'a> Body<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        match cursor.peek() {
            Some(b'"') => cursor.text().map(Body::Text),
            Some(b'[') => {
                let (mut parts, mut progress) = (Vec::new(), Progress::default());
                while cursor.next_item(&mut progress)? {
                    // Most have one.
                    parts.reserve_exact(1);
                    parts.push(Part::read(cursor)?);
                }
                Ok(Body::Parts(parts))
            }
            _ => cursor.value().map(|_| Body::Nothing),
        }
    }

    pub(in crate::claude_code) fn into_parts(self) -> Vec<Part<'a>> {
        match self {
            Body::Parts(parts) => parts,
            Body::Text(text) => vec![Part::of_text(text)],
            Body::Nothing => Vec::new(),
        }
    }
}

impl<'a> Part<'a> {
    fn of_text(text: Cow<'a, str>) -> Self {
        Self { kind: b"text", text, ..Self::default() }
    }

    pub(super) fn read(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        // A text may stand for itself.
        if cursor.peek() == Some(b'"') {
            return cursor.text().map(Self::of_text);
        }
        let (mut part, mut progress) = (Self::default(), Progress::default());
        while let Some(key) = cursor.next_key(&mut progress)? {
            match key {
                b"type" => part.kind = cursor.word()?,
                b"text" => part.text = cursor.text()?,
                b"thinking" => part.thinking = cursor.text()?,
                b"id" => part.id = cursor.text()?,
                b"name" => part.name = cursor.text()?,
                b"input" => part.input = any(cursor)?,
                b"tool_use_id" => part.tool_use_id = cursor.text()?,
                b"content" => part.content = any(cursor)?,
                b"is_error" => part.is_error = is_true(cursor.value()?),
                b"title" => part.title = cursor.text()?,
                b"citations" => part.citations = any(cursor)?,
                b"source" => part.source = cursor.attempt(Source::read)?.map(Box::new),
                _ => drop(cursor.value()?),
            }
        }
        Ok(part)
    }
}

impl<'a> Source<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let (mut source, mut progress) = (Self::default(), Progress::default());
        while let Some(key) = cursor.next_key(&mut progress)? {
            match key {
                b"media_type" => source.media_type = cursor.text()?,
                b"data" => source.data = cursor.text()?,
                b"url" => source.url = cursor.text()?,
                _ => drop(cursor.value()?),
            }
        }
        Ok(source)
    }
}

impl<'a> Attachment<'a> {
    /// The attachment that a raw value is.
    pub(in crate::claude_code) fn of(raw: &'a [u8]) -> Option<Self> {
        Self::read(&mut Cursor::new(raw)).ok()
    }

    fn read(cursor: &mut Cursor<'a>) -> Result<Self, Malformed> {
        let (mut attachment, mut progress) = (Self::default(), Progress::default());
        while let Some(key) = cursor.next_key(&mut progress)? {
            match key {
                b"type" => attachment.kind = cursor.text()?,
                b"prompt" => attachment.prompt = Body::read(cursor)?,
                b"source_uuid" => attachment.source_uuid = cursor.text()?,
                b"commandMode" => attachment.command_mode = cursor.text()?,
                b"isMeta" => attachment.is_meta = is_true(cursor.value()?),
                _ => drop(cursor.value()?),
            }
        }
        Ok(attachment)
    }
}
