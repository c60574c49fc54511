//! Paths as text: names are bytes, and most of them are UTF-8.

/// A path as text from which the bytes can be had again: what is not UTF-8 becomes `\xNN`, and a backslash two.
#[must_use]
pub fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for part in bytes.utf8_chunks() {
        for c in part.valid().chars() {
            if c == '\\' {
                text.push('\\');
            }
            text.push(c);
        }
        part.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    text
}

/// The bytes of a path that was made by [`escape`]; `None` if it was not.
#[must_use]
pub fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    loop {
        rest = match rest {
            [] => return Some(bytes),
            [b'\\', b'\\', rest @ ..] => {
                bytes.push(b'\\');
                rest
            }
            [b'\\', b'x', high, low, rest @ ..] => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest
            }
            [b'\\', ..] => return None,
            [byte, rest @ ..] => {
                bytes.push(*byte);
                rest
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::{escape, unescape};

    #[test]
    fn what_is_utf_8_looks_like_itself() {
        assert_eq!(escape("workspace/ä b.txt".as_bytes()), "workspace/ä b.txt");
        assert_eq!(escape(b"a\xffb\\c"), "a\\xffb\\\\c");
        assert_eq!(unescape("a\\q"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(bytes in any::<Vec<u8>>()) {
            prop_assert_eq!(unescape(&escape(&bytes)), Some(bytes));
        }
    }
}
