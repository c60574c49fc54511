//! Sessions as OpenCode gives them away: `opencode export`, the API's lists of messages, and the two put together.

use serde_json::value::RawValue;

use super::{
    lenient::{Piece, elements, members},
    native::{Message, Session, WithParts, millis},
};

/// Children may hold children; nobody has so many generations.
const MAX_DEPTH: usize = 16;

/// A session and its messages.
#[derive(Default)]
pub(super) struct Export<'a> {
    pub(super) session: Session,
    /// It stands among another's children, whether or not that other one could be read.
    pub(super) is_child: bool,
    pub(super) messages: Vec<Entry<'a>>,
}

/// A message and its parts. What could not be read of it is missing.
pub(super) struct Entry<'a> {
    pub(super) info: Message,
    /// When it was made, in milliseconds.
    pub(super) created: i64,
    pub(super) parts: Vec<&'a RawValue>,
}

/// All sessions in a text, the main one first if it is there. None, if it is no export. What is in it but not understood goes to `lost`.
pub(super) fn read<'a>(text: &'a str, lost: &mut dyn FnMut(&'a str)) -> Vec<Export<'a>> {
    // Some versions say what they do before they do it.
    let begin = text.find(['{', '[']).unwrap_or(text.len());
    let mut found = Vec::new();
    read_session(&text[begin..], 0, &mut found, lost);
    found
}

fn read_session<'a>(text: &'a str, depth: usize, found: &mut Vec<Export<'a>>, lost: &mut dyn FnMut(&'a str)) {
    let mut export = Export { is_child: depth > 0, ..Export::default() };
    let mut children = None;
    let is_list = text.starts_with('[');
    if is_list {
        export.messages = read_messages(text, lost);
    }
    for (name, piece) in members(text) {
        match name {
            "info" | "session" => export.session = serde_json::from_str(piece.text).unwrap_or_default(),
            "messages" => export.messages = read_messages(piece.text, lost),
            "children" => children = Some(piece.text),
            _ => {}
        }
    }
    if export.session.id.is_empty() {
        export.session.id =
            export.messages.first().map(|entry| entry.info.session.clone()).unwrap_or_default();
    }
    if !export.session.id.is_empty() {
        found.push(export);
    }
    if depth < MAX_DEPTH {
        for child in children.into_iter().flat_map(elements) {
            read_session(child.text, depth + 1, found, lost);
        }
    }
}

fn read_messages<'a>(text: &'a str, lost: &mut dyn FnMut(&'a str)) -> Vec<Entry<'a>> {
    elements(text).filter_map(|piece| read_message(piece, lost)).collect()
}

fn read_message<'a>(piece: Piece<'a>, lost: &mut dyn FnMut(&'a str)) -> Option<Entry<'a>> {
    let (info, parts) = match serde_json::from_str::<WithParts<'a>>(piece.text) {
        Ok(message) => (message.info.get(), message.parts.map_or("", RawValue::get)),
        Err(_) => {
            let field = |wanted: &str| members(piece.text).find(|(name, _)| *name == wanted);
            (field("info").map_or("", |(_, it)| it.text), field("parts").map_or("", |(_, it)| it.text))
        }
    };
    let info = serde_json::from_str::<Message>(info).ok().filter(|info| !info.id.is_empty());
    let Some(info) = info else {
        lost(piece.text);
        return None;
    };
    let mut read = Vec::new();
    for part in elements(parts) {
        match serde_json::from_str(part.text) {
            Ok(part) => read.push(part),
            Err(_) => lost(part.text),
        }
    }
    let created = info.time.created.map(millis).unwrap_or_default();
    Some(Entry { info, created, parts: read })
}
