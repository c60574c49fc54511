//! Keeps events small: long fields go to blobs, the event keeps their beginning.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{BlobHash, Event};

/// No event is longer than this.
pub const MAX_EVENT_BYTES: usize = 256 * 1024;

/// How much of a spilled field stays in the event.
pub const INLINE_PART: usize = 16 * 1024;

/// A field that was cut, and where the whole of it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Spilled {
    /// JSON pointer of the field inside the event.
    pub pointer: String,
    /// Bytes of the whole text.
    pub size_bytes: u64,
    /// The blob that holds it.
    pub blob: BlobHash,
}

/// An event that fits, and the blobs that must be stored before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Spill {
    /// The event, with its `spilled` list filled.
    pub event: Event,
    /// Hash and bytes of each blob.
    pub blobs: Vec<(BlobHash, Vec<u8>)>,
}

/// Cuts every text of the event's body that is longer than [`INLINE_PART`]. Call it for events over the limit.
#[must_use]
pub fn spill(event: Event) -> Spill {
    let mut blobs = Vec::new();
    let mut spilled = Vec::new();
    let Ok(mut body) = serde_json::to_value(&event.body) else { return Spill { event, blobs } };
    cut(&mut body, &mut String::new(), &mut spilled, &mut blobs);
    match serde_json::from_value(body) {
        Ok(body) => Spill { event: Event { body, spilled, ..event }, blobs },
        Err(_) => Spill { event, blobs: Vec::new() },
    }
}

fn cut(
    value: &mut Value,
    pointer: &mut String,
    spilled: &mut Vec<Spilled>,
    blobs: &mut Vec<(BlobHash, Vec<u8>)>,
) {
    match value {
        Value::String(text) if text.len() > INLINE_PART => {
            let blob = BlobHash(blake3::hash(text.as_bytes()).to_hex().to_string());
            spilled.push(Spilled {
                pointer: pointer.clone(),
                size_bytes: text.len() as u64,
                blob: blob.clone(),
            });
            let keep = text.floor_char_boundary(INLINE_PART);
            let whole = std::mem::replace(text, text[..keep].to_owned());
            blobs.push((blob, whole.into_bytes()));
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                cut_inside(item, &index.to_string(), pointer, spilled, blobs);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields.iter_mut() {
                cut_inside(field, &key.replace('~', "~0").replace('/', "~1"), pointer, spilled, blobs);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn cut_inside(
    value: &mut Value,
    step: &str,
    pointer: &mut String,
    spilled: &mut Vec<Spilled>,
    blobs: &mut Vec<(BlobHash, Vec<u8>)>,
) {
    let outer = pointer.len();
    pointer.push('/');
    pointer.push_str(step);
    cut(value, pointer, spilled, blobs);
    pointer.truncate(outer);
}

#[cfg(test)]
mod tests {
    use super::{INLINE_PART, MAX_EVENT_BYTES, spill};
    use crate::{Draft, EventBody, Seq, SessionId, Timestamp};

    #[test]
    fn a_long_output_keeps_its_beginning_and_names_its_blob() {
        let long = "é".repeat(MAX_EVENT_BYTES);
        let draft = Draft::of_session(EventBody::Unrecognized { agent: "x".into(), raw: long.clone() });
        let event = draft.numbered(Seq(1), SessionId(uuid::Uuid::nil()), Timestamp::default());
        let spill = spill(event);
        assert!(serde_json::to_vec(&spill.event).expect("JSON").len() < MAX_EVENT_BYTES);
        let EventBody::Unrecognized { raw, .. } = &spill.event.body else { panic!("still the same event") };
        assert_eq!(raw.len(), INLINE_PART);
        let [noted] = spill.event.spilled.as_slice() else { panic!("one field") };
        assert_eq!((noted.pointer.as_str(), noted.size_bytes), ("/raw", long.len() as u64));
        assert_eq!(spill.blobs, [(noted.blob.clone(), long.into_bytes())]);
    }
}
