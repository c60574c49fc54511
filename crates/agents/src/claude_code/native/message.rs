//! Messages of the API. They are most of a transcript, so they are read by hand: each text is copied once, and what
//! nobody asks for is not looked at.

use std::borrow::Cow;

use serde_json::Value;

use super::Line;
use crate::claude_code::scan::{Fields, Items, is_true, read, text};

/// What the API says, or what it is told.
#[derive(Default)]
pub(in crate::claude_code) struct Message<'a> {
    pub(in crate::claude_code) id: Cow<'a, str>,
    pub(in crate::claude_code) model: Cow<'a, str>,
    pub(in crate::claude_code) content: Body<'a>,
    pub(in crate::claude_code) usage: Option<&'a [u8]>,
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
    pub(in crate::claude_code) kind: Cow<'a, str>,
    pub(in crate::claude_code) text: Cow<'a, str>,
    pub(in crate::claude_code) thinking: Cow<'a, str>,
    pub(in crate::claude_code) id: Cow<'a, str>,
    pub(in crate::claude_code) name: Cow<'a, str>,
    pub(in crate::claude_code) input: Value,
    pub(in crate::claude_code) tool_use_id: Cow<'a, str>,
    /// Of a tool's result.
    pub(in crate::claude_code) content: Value,
    pub(in crate::claude_code) is_error: bool,
    pub(in crate::claude_code) source: Option<Source<'a>>,
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
    pub(in crate::claude_code) fn read(raw: &'a [u8]) -> Option<Self> {
        let mut message = Self::default();
        each_field(raw, |key, value| {
            match key {
                b"id" => message.id = string(value)?,
                b"model" => message.model = string(value)?,
                b"content" => message.content = Body::read(value)?,
                b"usage" => message.usage = Some(value),
                _ => {}
            }
            Some(())
        })?;
        Some(message)
    }

    /// Its id, or the line's where it has none.
    pub(in crate::claude_code) fn name(&self, line: &Line<'a>) -> Cow<'a, str> {
        if self.id.is_empty() { line.uuid().unwrap_or_default() } else { self.id.clone() }
    }
}

impl<'a> Body<'a> {
    fn read(raw: &'a [u8]) -> Option<Self> {
        match raw.first()? {
            b'"' => text(raw).map(Body::Text),
            b'[' => {
                let (mut items, mut parts) = (Items::of(raw), Vec::with_capacity(1));
                while let Some(item) = items.next().ok()? {
                    parts.push(Part::read(item)?);
                }
                Some(Body::Parts(parts))
            }
            _ => Some(Body::Nothing),
        }
    }

    pub(in crate::claude_code) fn into_parts(self) -> Vec<Part<'a>> {
        match self {
            Body::Parts(parts) => parts,
            Body::Text(text) => vec![Part { kind: "text".into(), text, ..Part::default() }],
            Body::Nothing => Vec::new(),
        }
    }
}

impl<'a> Part<'a> {
    pub(in crate::claude_code) fn read(raw: &'a [u8]) -> Option<Self> {
        let mut part = Self::default();
        // A text may stand for itself.
        if raw.first() == Some(&b'"') {
            return Some(Self { kind: "text".into(), text: text(raw)?, ..part });
        }
        each_field(raw, |key, value| {
            match key {
                b"type" => part.kind = string(value)?,
                b"text" => part.text = string(value)?,
                b"thinking" => part.thinking = string(value)?,
                b"id" => part.id = string(value)?,
                b"name" => part.name = string(value)?,
                b"input" => part.input = read(value)?,
                b"tool_use_id" => part.tool_use_id = string(value)?,
                b"content" => part.content = any(value)?,
                b"is_error" => part.is_error = is_true(value),
                b"source" => part.source = Source::read(value),
                _ => {}
            }
            Some(())
        })?;
        Some(part)
    }
}

impl<'a> Source<'a> {
    fn read(raw: &'a [u8]) -> Option<Self> {
        let mut source = Self::default();
        each_field(raw, |key, value| {
            match key {
                b"media_type" => source.media_type = string(value)?,
                b"data" => source.data = string(value)?,
                b"url" => source.url = string(value)?,
                _ => {}
            }
            Some(())
        })?;
        Some(source)
    }
}

impl<'a> Attachment<'a> {
    pub(in crate::claude_code) fn read(raw: &'a [u8]) -> Option<Self> {
        let mut attachment = Self::default();
        each_field(raw, |key, value| {
            match key {
                b"type" => attachment.kind = string(value)?,
                b"prompt" => attachment.prompt = Body::read(value)?,
                b"source_uuid" => attachment.source_uuid = string(value)?,
                b"commandMode" => attachment.command_mode = string(value)?,
                b"isMeta" => attachment.is_meta = is_true(value),
                _ => {}
            }
            Some(())
        })?;
        Some(attachment)
    }
}

/// Gives each field of an object to `take`, until it fails or the object turns out to be none.
pub(super) fn each_field<'a>(
    raw: &'a [u8],
    mut take: impl FnMut(&[u8], &'a [u8]) -> Option<()>,
) -> Option<()> {
    let mut fields = Fields::of(raw);
    while let Some((key, value)) = fields.next().ok()? {
        take(key, value)?;
    }
    Some(())
}

/// A text. Whatever else stands in its place counts as empty: a field that changed its type must not cost the line.
pub(super) fn string(raw: &[u8]) -> Option<Cow<'_, str>> {
    if raw.first() == Some(&b'"') { text(raw) } else { Some(Cow::default()) }
}

/// Any value; texts, which are the long ones, the quick way.
fn any(raw: &[u8]) -> Option<Value> {
    if raw.first() == Some(&b'"') {
        text(raw).map(|text| Value::String(text.into_owned()))
    } else {
        read(raw)
    }
}
