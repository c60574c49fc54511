//! Reading Rust source without a compiler: enough of a lexer to tell code from comments and strings.

/// `text` with every comment, string and character literal turned into spaces.
///
/// Bytes keep their places and lines their numbers, so that what is found here can be looked up in the original.
pub(crate) fn blank(text: &str) -> String {
    let mut blanked = text.as_bytes().to_vec();
    let mut at = 0;
    while at < text.len() {
        let end = literal_end(text, at);
        match end {
            Some(end) => {
                wipe(&mut blanked[at..end]);
                at = end;
            }
            None => at = skip_word(text.as_bytes(), at),
        }
    }
    String::from_utf8_lossy(&blanked).into_owned()
}

fn wipe(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().filter(|byte| **byte != b'\n') {
        *byte = b' ';
    }
}

/// The position after the word or single byte at `at`; a word is skipped whole, so that the `r` of `for"` or the
/// `b` of `verb'` never looks like a literal's prefix.
fn skip_word(bytes: &[u8], at: usize) -> usize {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    match bytes[at..].iter().take_while(|byte| is_word(byte)).count() {
        0 => at + 1,
        length => at + length,
    }
}

/// Where the comment or literal that starts at `at` ends; `None` if none starts there.
fn literal_end(text: &str, at: usize) -> Option<usize> {
    let rest = &text.as_bytes()[at..];
    let length = match rest {
        [b'/', b'/', ..] => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
        [b'/', b'*', ..] => block_comment(rest),
        [b'"', ..] => string(rest, 1),
        [b'b' | b'c', b'"', ..] => string(rest, 2),
        [b'r', b'"' | b'#', ..] => raw_string(rest, 1)?,
        [b'b' | b'c', b'r', b'"' | b'#', ..] => raw_string(rest, 2)?,
        [b'\'', ..] => character(&text[at + 1..])? + 1,
        [b'b', b'\'', ..] => character(&text[at + 2..])? + 2,
        _ => return None,
    };
    Some(at + length)
}

fn block_comment(rest: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while at < rest.len() {
        match &rest[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth.saturating_sub(1)),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn string(rest: &[u8], open: usize) -> usize {
    let mut at = open;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// `None` for `r#name`, which is an identifier.
fn raw_string(rest: &[u8], prefix: usize) -> Option<usize> {
    let hashes = rest[prefix..].iter().take_while(|byte| **byte == b'#').count();
    let open = prefix + hashes;
    if rest.get(open) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.resize(1 + hashes, b'#');
    let body = &rest[open + 1..];
    let end = body.windows(close.len()).position(|window| window == close);
    Some(end.map_or(rest.len(), |end| open + 1 + end + close.len()))
}

/// The length of a character literal after its opening quote; `None` for a lifetime.
fn character(after_quote: &str) -> Option<usize> {
    let mut characters = after_quote.char_indices();
    let (_, first) = characters.next()?;
    if first == '\\' {
        // The escaped character itself may be a quote.
        characters.next()?;
        return characters.find(|(_, character)| *character == '\'').map(|(at, _)| at + 1);
    }
    characters.next().filter(|(_, second)| *second == '\'').map(|(at, _)| at + 1)
}

/// One function: where it is and how long.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// Line of the `fn`, from 1.
    pub(crate) line: usize,
    /// Lines from the `fn` to its closing brace.
    pub(crate) n_lines: usize,
}

/// Every function with a body, up to the file's `#[cfg(test)]` module.
pub(crate) fn functions(text: &str) -> Vec<Function> {
    let blanked = blank(text);
    let code = blanked.split("#[cfg(test)]\nmod ").next().unwrap_or(&blanked);
    let words = words(code);
    let starts = words.windows(2).filter(|pair| pair[0].text == "fn");
    starts.filter_map(|pair| function(code, &pair[1])).collect()
}

fn function(code: &str, name: &Word<'_>) -> Option<Function> {
    let after = &code[name.at..];
    let open = after.find(['{', ';']).filter(|open| after[*open..].starts_with('{'))?;
    let mut depth = 0_usize;
    let close = after[open..].find(|character| {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    let line = 1 + code[..name.at].matches('\n').count();
    let n_lines = 1 + after[..open + close].matches('\n').count();
    Some(Function { name: name.text.to_owned(), line, n_lines })
}

/// A word of code or a single mark (`{`, `;`, `#`, …) and the byte it starts at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
}

/// Splits blanked code into words and marks.
pub(crate) fn words(code: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let end = skip_word(code.as_bytes(), at);
        let text = &code[at..end];
        if !text.trim().is_empty() {
            words.push(Word { text, at });
        }
        at = end;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_blank(text: &str, expect: &str) {
        assert_eq!(blank(text), expect);
    }

    #[test]
    fn comments_and_literals_become_spaces_and_code_stays() {
        check_blank("a // b\nc", "a     \nc");
        check_blank("a /* b /* c */ d */ e", "a                   e");
        check_blank(r#"f("mod x;")"#, "f(        )");
        check_blank(r#"f("\"mod x;")"#, "f(          )");
        check_blank(r##"f(r#"a"b"#)"##, "f(        )");
        check_blank("f(b\"x\", c)", "f(    , c)");
        check_blank("let é = 'é';", "let é =     ;");
    }

    #[test]
    fn a_quote_opens_a_character_or_a_lifetime() {
        check_blank("f('{', '\\'', '\\u{1}')", "f(   ,     ,        )");
        check_blank("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}");
        check_blank("r#mod + br", "r#mod + br");
    }

    #[test]
    fn functions_are_measured_from_their_name_to_their_closing_brace() {
        let text = "fn a() {\n    \"}\";\n}\n\ntrait T { fn b(); }\n#[cfg(test)]\nmod tests { fn c() {} }\n";
        assert_eq!(functions(text), [Function { name: "a".to_owned(), line: 1, n_lines: 3 }]);
    }
}
