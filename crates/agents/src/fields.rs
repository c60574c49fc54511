//! Fields of JSON that others wrote, read without trusting its shape: what is not there or is of another type is absent.

use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;
use warren_domain::Timestamp;

/// A field that is text.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// A field that is a list; else nothing.
pub(crate) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The texts of a list.
pub(crate) fn texts(value: &Value, key: &str) -> Vec<String> {
    list(value, key).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A field that is a number of something.
pub(crate) fn number(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or_default()
}

/// A field that is milliseconds since 1970.
pub(crate) fn millis(value: &Value, key: &str) -> Option<Timestamp> {
    value.get(key)?.as_i64().map(Timestamp::from_millis)
}

/// A field that is seconds since 1970.
pub(crate) fn seconds(value: &Value, key: &str) -> Option<Timestamp> {
    value.get(key)?.as_i64().map(|seconds| Timestamp::from_millis(seconds.saturating_mul(1000)))
}

/// A field that is there and is not null.
pub(crate) fn present<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|field| !field.is_null())
}

/// Takes a field that is there and is not null.
pub(crate) fn taken(value: &mut Value, key: &str) -> Option<Value> {
    value.get_mut(key).map(Value::take).filter(|field| !field.is_null())
}

/// A field that counts as absent if it is not what it should be, for `deserialize_with`.
pub(crate) fn lax<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(from: D) -> Result<T, D::Error> {
    let value = Value::deserialize(from)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

/// What an error says, without the JSON a provider may have wrapped it in.
pub(crate) fn error_text(message: &str) -> String {
    let inner = serde_json::from_str::<Value>(message).ok();
    let inner = inner.as_ref().and_then(|body| {
        body.pointer("/error/message").or_else(|| body.get("message")).or_else(|| body.get("detail"))
    });
    inner.and_then(Value::as_str).unwrap_or(message).to_owned()
}
