//! Takes JSON apart without understanding it, so that what is torn or too deep costs no more than itself.
//!
//! Nothing here recurses, and every step looks at each byte once.

/// A value, or as much of it as is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    /// Its end is there.
    pub(super) is_whole: bool,
}

/// The fields of an object. Nothing, if the text is no object.
pub(super) fn members(text: &str) -> impl Iterator<Item = (&str, Piece<'_>)> {
    let mut rest = inside(text, '{');
    std::iter::from_fn(move || {
        let key = value(rest)?;
        let name = key.text.strip_prefix('"')?.strip_suffix('"')?;
        let after = after(rest, key).trim_start().strip_prefix(':')?;
        let found = value(after)?;
        rest = next(self::after(after, found));
        Some((name, found))
    })
}

/// The elements of an array. Nothing, if the text is no array.
pub(super) fn elements(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = inside(text, '[');
    std::iter::from_fn(move || {
        let found = value(rest)?;
        rest = next(after(rest, found));
        Some(found)
    })
}

fn inside(text: &str, bracket: char) -> &str {
    text.trim_start().strip_prefix(bracket).unwrap_or_default()
}

fn next(rest: &str) -> &str {
    rest.trim_start().strip_prefix(',').unwrap_or_default()
}

/// What follows a piece of `text` that begins it, but for white space.
fn after<'a>(text: &'a str, piece: Piece<'_>) -> &'a str {
    let skipped = text.len() - text.trim_start().len();
    &text[skipped + piece.text.len()..]
}

/// The value that the text begins with.
fn value(text: &str) -> Option<Piece<'_>> {
    let text = text.trim_start();
    let (end, is_whole) = match text.as_bytes().first()? {
        b'{' | b'[' => nested(text.as_bytes()),
        b'"' => string(text.as_bytes(), 1),
        b',' | b']' | b'}' | b':' => return None,
        _ => {
            let end = text.find([',', ']', '}', ' ', '\n', '\r', '\t']);
            (end.unwrap_or(text.len()), end.is_some())
        }
    };
    Some(Piece { text: &text[..end], is_whole })
}

/// Where an object or array ends.
fn nested(bytes: &[u8]) -> (usize, bool) {
    let (mut place, mut depth) = (0, 0_usize);
    while place < bytes.len() {
        match bytes[place] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let (end, is_whole) = string(bytes, place + 1);
                if !is_whole {
                    return (end, false);
                }
                place = end;
                continue;
            }
            _ => {}
        }
        place += 1;
        if depth == 0 {
            return (place, true);
        }
    }
    (bytes.len(), false)
}

/// Where a string ends whose first byte is at `place`.
fn string(bytes: &[u8], mut place: usize) -> (usize, bool) {
    while place < bytes.len() {
        match bytes[place] {
            b'"' => return (place + 1, true),
            b'\\' => place += 2,
            _ => place += 1,
        }
    }
    (bytes.len(), false)
}

#[cfg(test)]
mod tests {
    use super::{elements, members};

    fn fields(text: &str) -> Vec<(&str, &str, bool)> {
        members(text).map(|(name, piece)| (name, piece.text, piece.is_whole)).collect()
    }

    fn items(text: &str) -> Vec<(&str, bool)> {
        elements(text).map(|piece| (piece.text, piece.is_whole)).collect()
    }

    #[test]
    fn whole_json_comes_apart() {
        let text = r#" { "a" : [1, {"]": "}"}] , "b\"":"x\\" ,"c": null}"#;
        let expected = [("a", r#"[1, {"]": "}"}]"#, true), ("b\\\"", r#""x\\""#, true), ("c", "null", true)];
        assert_eq!(fields(text), expected);
        assert_eq!(
            items(r#"[1, "a,]" , {} ,[]]"#),
            [("1", true), ("\"a,]\"", true), ("{}", true), ("[]", true)]
        );
    }

    #[test]
    fn torn_json_comes_apart_as_far_as_it_goes() {
        assert_eq!(fields(r#"{"a":1,"b":[{"x":1},{"y"#), [("a", "1", true), ("b", r#"[{"x":1},{"y"#, false)]);
        assert_eq!(items(r#"[{"x":1},{"y"#), [(r#"{"x":1}"#, true), (r#"{"y"#, false)]);
        assert_eq!(items("[tru"), [("tru", false)]);
        assert_eq!(items(r#"["a\"#), [(r#""a\"#, false)]);
    }

    #[test]
    fn what_is_no_json_gives_nothing_and_no_harm() {
        for text in ["", "x", "{", "[", "}", "{:", "{\"a\"", "{\"a\":", "[,", "[}", "{\"a\":}"] {
            assert!(items(text).len() <= 1 && fields(text).is_empty(), "{text}");
        }
        let deep = "[".repeat(1_000_000);
        assert_eq!(items(&deep).len(), 1);
    }
}
