//! Keeps events small: long fields go to blobs, the event keeps their beginning.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{BlobHash, Event};

/// No event is longer than this.
pub const MAX_EVENT_BYTES: usize = 256 * 1024;

/// Length of a spilled field's beginning that stays in the event.
pub const INLINE_PART: usize = 16 * 1024;

/// A long field that is stored as a blob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Spilled {
    /// JSON pointer of the field inside the event.
    pub pointer: String,
    /// The size of the full text in bytes.
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

/// Fields that may hold any JSON, so that a text can stand in for it.
const FREE: [&str; 7] = [
    "/block/input",
    "/block/output",
    "/input",
    "/output",
    "/updates",
    "/block/metadata",
    "/changes/metadata",
];

/// Cuts texts of the event's body that are longer than [`INLINE_PART`]; if that is not enough, shorter ones too, and then
/// what is not text, of which the blob holds the JSON. Call it for events over the limit.
#[must_use]
pub fn spill(event: Event) -> Spill {
    let Ok(whole) = serde_json::to_value(&event.body) else { return Spill { event, blobs: Vec::new() } };
    let mut best = None;
    for (inline, fold) in [(INLINE_PART, false), (INLINE_PART / 16, false), (INLINE_PART / 256, true)] {
        let (mut body, mut cutter) =
            (whole.clone(), Cutter { inline, spilled: Vec::new(), blobs: Vec::new() });
        if fold {
            FREE.iter().for_each(|pointer| cutter.fold(&mut body, pointer));
        }
        cutter.cut(&mut body, &mut String::new());
        let Ok(body) = serde_json::from_value(body) else { break };
        let cut = Event { body, spilled: cutter.spilled, ..event.clone() };
        let fits = serde_json::to_vec(&cut).is_ok_and(|json| json.len() <= MAX_EVENT_BYTES);
        best = Some(Spill { event: cut, blobs: cutter.blobs });
        if fits {
            break;
        }
    }
    best.unwrap_or(Spill { event, blobs: Vec::new() })
}

/// Puts whole texts in place of those that were cut, as far as `whole` has them. Of what was not text it puts the JSON.
#[must_use]
pub fn unspill(event: Event, whole: impl Fn(&BlobHash) -> Option<String>) -> Event {
    let Ok(mut body) = serde_json::to_value(&event.body) else { return event };
    let mut left = event.spilled.clone();
    left.retain(|field| match (body.pointer_mut(&field.pointer), whole(&field.blob)) {
        (Some(value), Some(text)) => {
            *value = Value::String(text);
            false
        }
        _ => true,
    });
    match serde_json::from_value(body) {
        Ok(body) => Event { body, spilled: left, ..event },
        Err(_) => event,
    }
}

struct Cutter {
    /// How much of a text stays.
    inline: usize,
    spilled: Vec<Spilled>,
    blobs: Vec<(BlobHash, Vec<u8>)>,
}

impl Cutter {
    fn cut(&mut self, value: &mut Value, pointer: &mut String) {
        match value {
            Value::String(text) if text.len() > self.inline => self.cut_text(text, pointer),
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.cut_inside(item, &index.to_string(), pointer);
                }
            }
            Value::Object(fields) => {
                for (key, field) in fields.iter_mut() {
                    self.cut_inside(field, &escaped(key), pointer);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn cut_inside(&mut self, value: &mut Value, step: &str, pointer: &mut String) {
        let outer = pointer.len();
        pointer.push('/');
        pointer.push_str(step);
        self.cut(value, pointer);
        pointer.truncate(outer);
    }

    /// Cuts the JSON of what is at `pointer` in `body`, or of each of its fields where only those are free.
    fn fold(&mut self, body: &mut Value, pointer: &str) {
        let Some(value) = body.pointer_mut(pointer) else { return };
        match value {
            Value::Object(fields) if pointer.ends_with("/updates") || pointer.ends_with("/metadata") => {
                for (key, field) in fields.iter_mut().filter(|(_, field)| !field.is_string()) {
                    self.fold_one(field, &format!("{pointer}/{}", escaped(key)));
                }
            }
            Value::Array(_) | Value::Object(_) => self.fold_one(value, pointer),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn fold_one(&mut self, value: &mut Value, pointer: &str) {
        let mut text = value.to_string();
        if text.len() > self.inline {
            self.cut_text(&mut text, pointer);
            *value = Value::String(text);
        }
    }

    fn cut_text(&mut self, text: &mut String, pointer: &str) {
        let blob = BlobHash(blake3::hash(text.as_bytes()).to_hex().to_string());
        let size_bytes = text.len() as u64;
        self.spilled.push(Spilled { pointer: pointer.to_owned(), size_bytes, blob: blob.clone() });
        let keep = text.floor_char_boundary(self.inline);
        let whole = std::mem::replace(text, text[..keep].to_owned());
        self.blobs.push((blob, whole.into_bytes()));
    }
}

/// A step of a JSON pointer.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{INLINE_PART, MAX_EVENT_BYTES, spill, unspill};
    use crate::{Draft, EventBody, Seq, SessionId, Timestamp};

    #[test]
    fn an_event_fits_whatever_a_tool_answered() {
        let texts = |n: usize, len: usize| Value::from(vec!["\u{1}".repeat(len); n]);
        for output in [texts(64, INLINE_PART), texts(2_000, 1_000), json!(vec![7; MAX_EVENT_BYTES])] {
            let block = json!({"type":"tool_result","id":"r","timestamp":"2026-01-01T00:00:00.000Z","toolUseId":"u","output":output,"isError":false});
            let draft: Draft =
                serde_json::from_value(json!({"type":"block_complete","block":block})).expect("a draft");
            let spill = spill(draft.numbered(Seq(1), SessionId(uuid::Uuid::nil()), Timestamp::default()));
            assert!(serde_json::to_vec(&spill.event).expect("JSON").len() <= MAX_EVENT_BYTES);
            assert_eq!(spill.blobs.len(), spill.event.spilled.len());
        }
    }

    #[test]
    fn a_long_output_keeps_its_beginning_and_names_its_blob() {
        let long = "é".repeat(MAX_EVENT_BYTES);
        let draft = Draft::of_session(EventBody::Unrecognized { agent: "x".into(), raw: long.clone() });
        let event = draft.numbered(Seq(1), SessionId(uuid::Uuid::nil()), Timestamp::default());
        let spill = spill(event.clone());
        assert!(serde_json::to_vec(&spill.event).expect("JSON").len() < MAX_EVENT_BYTES);
        let EventBody::Unrecognized { raw, .. } = &spill.event.body else { panic!("still the same event") };
        assert_eq!(raw.len(), INLINE_PART);
        let [noted] = spill.event.spilled.as_slice() else { panic!("one field") };
        assert_eq!((noted.pointer.as_str(), noted.size_bytes), ("/raw", long.len() as u64));
        assert_eq!(spill.blobs, [(noted.blob.clone(), long.clone().into_bytes())]);
        assert_eq!(unspill(spill.event.clone(), |_| None), spill.event, "what is gone stays cut");
        let again = unspill(spill.event, |blob| (*blob == spill.blobs[0].0).then(|| long.clone()));
        assert_eq!(again, event, "what is there is whole");
    }
}
