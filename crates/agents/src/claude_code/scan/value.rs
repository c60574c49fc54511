//! Values of any shape.

use serde_json::{Map, Value};

use super::{Cursor, Malformed, Progress, read, unescaped};

/// How deep a value may be.
const DEEPEST: usize = 127;

/// Any value, read in one go.
pub(in crate::claude_code) fn any(cursor: &mut Cursor<'_>) -> Result<Value, Malformed> {
    within(cursor, DEEPEST)
}

fn within(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Malformed> {
    match cursor.peek() {
        Some(b'"') => cursor.text().map(|text| Value::String(text.into_owned())),
        Some(b'{') => object(cursor, depth.checked_sub(1).ok_or(Malformed)?),
        Some(b'[') => list(cursor, depth.checked_sub(1).ok_or(Malformed)?),
        _ => simple(cursor.value()?),
    }
}

fn object(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Malformed> {
    let (mut fields, mut progress) = (Map::new(), Progress::default());
    while let Some(key) = cursor.next_key(&mut progress)? {
        let key = unescaped(key).ok_or(Malformed)?.into_owned();
        fields.insert(key, within(cursor, depth)?);
    }
    Ok(Value::Object(fields))
}

fn list(cursor: &mut Cursor<'_>, depth: usize) -> Result<Value, Malformed> {
    let (mut items, mut progress) = (Vec::new(), Progress::default());
    while cursor.next_item(&mut progress)? {
        items.push(within(cursor, depth)?);
    }
    Ok(Value::Array(items))
}

fn simple(raw: &[u8]) -> Result<Value, Malformed> {
    match raw {
        b"true" => Ok(Value::Bool(true)),
        b"false" => Ok(Value::Bool(false)),
        b"null" => Ok(Value::Null),
        _ => number(raw).map(Value::from).or_else(|| read(raw)).ok_or(Malformed),
    }
}

/// A raw value as a whole number, if it is one that is written as usual.
pub(in crate::claude_code) fn number(raw: &[u8]) -> Option<u64> {
    let is_usual = matches!(raw, [_] | [b'1'..=b'9', ..]) && raw.len() <= 18;
    let digit = |number: u64, byte: &u8| byte.is_ascii_digit().then(|| number * 10 + u64::from(byte - b'0'));
    raw.iter().try_fold(0, digit).filter(|_| is_usual)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{Cursor, DEEPEST, any};

    fn read(text: &str) -> Option<Value> {
        any(&mut Cursor::new(text.as_bytes())).ok()
    }

    #[test]
    fn any_value_is_read_as_the_library_reads_it() {
        let texts = [
            r#"{"a":[1,-2,3.5,1e3,{"\u00e9\n":"\ud83d\ude00"}],"b":{},"a":[]," c ":[ true , false,null ]}"#,
            "18446744073709551615",
            "999999999999999999",
            "0",
            "\"\"",
            "[[[]]]",
        ];
        for text in texts {
            assert_eq!(read(text), serde_json::from_str(text).ok(), "{text}");
        }
    }

    #[test]
    fn what_is_no_value_is_refused() {
        for text in ["", "01", "+1", "tru", "[1,]", "{\"a\"}", "[", "{\"a\":1", r#""\x""#, "1x"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_too_deep_is_refused() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(read(&nested(DEEPEST)).is_some() && read(&nested(DEEPEST + 1)).is_none());
        assert_eq!(read(&nested(1_000_000)), None);
    }
}
