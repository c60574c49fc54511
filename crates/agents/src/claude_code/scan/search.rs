//! The next byte that matters.
//!
//! Most strings are keys and ids, so that a search made for long ones would take longer to begin than to find: what is
//! near is looked for by itself, sixteen bytes at a time where the machine can.

#[cfg(target_arch = "x86_64")]
use memchr::arch::x86_64::sse2::memchr::Two;
use memchr::{memchr, memchr2};

/// How far is near.
const NEAR: usize = 64;

/// How long a string is whose beginning is behind its first quote, and whether anything in it is escaped. `None` if it
/// does not end.
pub(super) fn quote(bytes: &[u8]) -> Option<(usize, bool)> {
    let near = &bytes[..bytes.len().min(NEAR)];
    match quote_or_escape(near) {
        Some(found) if near[found] == b'"' => Some((found, false)),
        Some(found) => escaped_end(bytes, found).map(|end| (end, true)),
        None => far_end(bytes, near.len()),
    }
}

#[cfg(target_arch = "x86_64")]
fn quote_or_escape(near: &[u8]) -> Option<usize> {
    Two::new(b'"', b'\\').map_or_else(|| memchr2(b'"', b'\\', near), |search| search.find(near))
}

#[cfg(not(target_arch = "x86_64"))]
fn quote_or_escape(near: &[u8]) -> Option<usize> {
    memchr2(b'"', b'\\', near)
}

/// The end of a long string.
fn far_end(bytes: &[u8], from: usize) -> Option<(usize, bool)> {
    let found = from + memchr2(b'"', b'\\', bytes.get(from..)?)?;
    if bytes[found] == b'"' { Some((found, false)) } else { escaped_end(bytes, found).map(|end| (end, true)) }
}

/// The end of a string with an escape at `at`. Texts have many: only the quotes are looked for.
fn escaped_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut from = at + 2;
    loop {
        let found = from + memchr(b'"', bytes.get(from..)?)?;
        let n_slashes = bytes[at..found].iter().rev().take_while(|byte| **byte == b'\\').count();
        // After an odd number of them the quote belongs to the string.
        if n_slashes % 2 == 0 {
            return Some(found);
        }
        from = found + 1;
    }
}

/// The place of the first byte that opens or closes something: a quote, a brace or a bracket.
pub(super) fn mark(bytes: &[u8]) -> Option<usize> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let (mut rest, mut passed) = (bytes, 0);
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*word);
        // A bracket and its brace differ in one bit.
        let folded = word | (EACH * 0x20);
        let found = zero_bytes(word ^ (EACH * 0x22))
            | zero_bytes(folded ^ (EACH * 0x7b))
            | zero_bytes(folded ^ (EACH * 0x7d));
        if found != 0 {
            return Some(passed + found.trailing_zeros() as usize / 8);
        }
        (rest, passed) = (after, passed + 8);
    }
    let is_mark = |byte: &u8| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']');
    rest.iter().position(is_mark).map(|found| passed + found)
}

/// The high bit of the lowest byte that is zero; above it anything.
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(0x0101_0101_0101_0101) & !word & 0x8080_8080_8080_8080
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn a_mark_is_found_wherever_it_stands() {
        for mark in *b"\"{}[]" {
            for place in 0..20 {
                let mut bytes = *b"\x1b\x3b\x3d;=\xfb\xfd\xdbabcdefghijklm";
                bytes[place] = mark;
                assert_eq!(super::mark(&bytes), Some(place), "{}", mark as char);
            }
        }
        assert_eq!(super::mark(b"nothing of that kind: 1, 2"), None);
    }

    #[test]
    fn the_end_of_a_string_is_found_wherever_it_stands_and_whatever_is_escaped() {
        for place in 0..200 {
            let plain = "x".repeat(place);
            assert_eq!(quote(format!("{plain}\"tail").as_bytes()), Some((place, false)));
            for escaped in [r#"\""#, r"\\", r"\n", r#"\\\""#, r"\\\\", r#"\"\"\\"#] {
                let text = format!("{plain}{escaped}{plain}");
                assert_eq!(quote(format!("{text}\"tail").as_bytes()), Some((text.len(), true)), "{text}");
            }
            let endless =
                [plain.clone(), format!(r"{plain}\"), format!(r#"{plain}\""#), format!(r#"\"{plain}"#)];
            assert_eq!(endless.map(|text| quote(text.as_bytes())), [None; 4]);
        }
    }
}
