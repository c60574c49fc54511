//! Strings as they are meant.

use std::borrow::Cow;

use memchr::memchr;

/// The text that stands between two quotes; `None` if it is none. Half of a pair of surrogates, which no text can
/// hold, becomes a replacement character.
pub(in crate::claude_code) fn unescaped(raw: &[u8]) -> Option<Cow<'_, str>> {
    let Some(first) = memchr(b'\\', raw) else { return plain(raw) };
    let mut bytes = Vec::with_capacity(raw.len());
    let (mut rest, mut found) = (raw, Some(first));
    while let Some(place) = found {
        bytes.extend_from_slice(&rest[..place]);
        rest = escape(&rest[place + 1..], &mut bytes)?;
        // Escapes often follow each other closely: the next few bytes are looked at one by one.
        let near = rest.iter().take(NEAR).position(|byte| *byte == b'\\');
        found = near.or_else(|| memchr(b'\\', rest.get(NEAR..)?).map(|place| place + NEAR));
    }
    bytes.extend_from_slice(rest);
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// A text without escapes.
pub(super) fn plain(raw: &[u8]) -> Option<Cow<'_, str>> {
    std::str::from_utf8(raw).ok().map(Cow::Borrowed)
}

const NEAR: usize = 8;

/// Writes what stands for the escape that `rest` begins with, and gives what follows.
fn escape<'a>(rest: &'a [u8], bytes: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (kind, rest) = rest.split_first()?;
    let byte = match kind {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        b'"' | b'\\' | b'/' => *kind,
        b'u' => return code_point(rest, bytes),
        _ => return None,
    };
    bytes.push(byte);
    Some(rest)
}

fn code_point<'a>(rest: &'a [u8], bytes: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (unit, after) = hex(rest)?;
    let second = after.strip_prefix(b"\\u").and_then(hex);
    let (point, rest) = match (unit, second) {
        (0xd800..=0xdbff, Some((low @ 0xdc00..=0xdfff, rest))) => {
            (0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00), rest)
        }
        _ => (unit, after),
    };
    let point = char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER);
    bytes.extend_from_slice(point.encode_utf8(&mut [0; 4]).as_bytes());
    Some(rest)
}

fn hex(rest: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = rest.split_at_checked(4)?;
    let digit = |number: u32, byte: &u8| Some(number << 4 | char::from(*byte).to_digit(16)?);
    digits.iter().try_fold(0, digit).map(|unit| (unit, rest))
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn escapes_become_what_they_stand_for() {
        let raw = br#"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00 a long tail without any escape at all \n"#;
        let text = "a\"\\/\u{8}\u{c}\n\r\t\u{e9}\u{1f600} a long tail without any escape at all \n";
        assert_eq!(unescaped(raw).as_deref(), Some(text));
    }

    #[test]
    fn half_a_pair_is_replaced_and_what_is_no_escape_is_refused() {
        assert_eq!(unescaped(br"\ud83d!\udc00").as_deref(), Some("\u{fffd}!\u{fffd}"));
        let wrong: [&[u8]; 5] = [br"\x", br"\", br"\u12", br"\u12g4", b"\xff"];
        assert_eq!(wrong.map(unescaped), [const { None }; 5]);
    }
}
