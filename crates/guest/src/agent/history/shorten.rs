//! Makes what is kept of a thread shorter.

use serde_json::Value;

use super::{Item, text};

/// Stands where a picture or a document was.
const LEFT_OUT: &str =
    "[a picture or document was left out here to save space; read it again if you need it]";

impl Item {
    /// Leaves out the middle of long texts, and pictures. Thoughts and inputs of calls stay as the provider knows them.
    pub(super) fn shorten(&mut self, max_text: usize) {
        match self {
            Item::User { content, .. } => content.iter_mut().for_each(|piece| shorten_piece(piece, max_text)),
            Item::Said { content, .. } => match content["type"].as_str() {
                Some("text") => shorten_piece(content, max_text),
                Some("tool_use") => shorten_input(&mut content["input"], max_text),
                _ => {}
            },
            Item::Result { output: Value::String(said), .. } => *said = shortened(said, max_text),
            Item::Result { output, .. } => {
                output.as_array_mut().into_iter().flatten().for_each(|piece| shorten_piece(piece, max_text));
            }
            Item::Summary(summary) => *summary = shortened(summary, max_text.saturating_mul(4)),
        }
    }
}

impl Item {
    pub(super) fn has_media(&self) -> bool {
        self.pieces().iter().any(is_media)
    }

    pub(super) fn drop_media(&mut self) {
        let pieces = match self {
            Item::User { content, .. } => content.as_mut_slice(),
            Item::Result { output: Value::Array(pieces), .. } => pieces.as_mut_slice(),
            Item::Result { .. } | Item::Said { .. } | Item::Summary(_) => &mut [],
        };
        pieces.iter_mut().filter(|piece| is_media(piece)).for_each(|piece| *piece = text(LEFT_OUT));
    }

    fn pieces(&self) -> &[Value] {
        match self {
            Item::User { content, .. } => content,
            Item::Result { output: Value::Array(pieces), .. } => pieces,
            Item::Result { .. } | Item::Said { .. } | Item::Summary(_) => &[],
        }
    }
}

fn is_media(piece: &Value) -> bool {
    matches!(piece["type"].as_str(), Some("image" | "document"))
}

fn shorten_piece(piece: &mut Value, max_text: usize) {
    match piece["type"].as_str() {
        Some("text") => {
            let said = shortened(piece["text"].as_str().unwrap_or_default(), max_text);
            piece["text"] = Value::String(said);
        }
        Some("image" | "document") => *piece = text(LEFT_OUT),
        _ => {}
    }
}

/// The texts in the input of a call, such as the content of a file that was written.
fn shorten_input(input: &mut Value, max_text: usize) {
    match input {
        Value::String(said) => *said = shortened(said, max_text),
        Value::Array(values) => values.iter_mut().for_each(|value| shorten_input(value, max_text)),
        Value::Object(fields) => fields.values_mut().for_each(|value| shorten_input(value, max_text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The two ends of a text, and how much is missing between them.
pub(super) fn shortened(said: &str, max_text: usize) -> String {
    if said.len() <= max_text {
        return said.to_owned();
    }
    let head = &said[..said.floor_char_boundary(max_text * 2 / 3)];
    let tail = &said[said.ceil_char_boundary(said.len() - max_text / 3)..];
    let n_missing = said.len() - head.len() - tail.len();
    format!("{head}\n[… {n_missing} bytes left out …]\n{tail}")
}
