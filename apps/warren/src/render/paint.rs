//! Colours, and text that cannot play tricks on a terminal.

/// Whether and how text is coloured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Not at all: in a pipe, or because the user wants none.
    #[default]
    Plain,
    /// With escape sequences.
    Ansi,
}

impl Paint {
    pub(crate) fn dim(self, text: &str) -> String {
        self.sequence("2", text)
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.sequence("1", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.sequence("31", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.sequence("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.sequence("33", text)
    }

    pub(crate) fn cyan(self, text: &str) -> String {
        self.sequence("36", text)
    }

    /// Text between the escape sequence of these codes and the one that ends it.
    pub(super) fn sequence(self, code: &str, text: &str) -> String {
        match self {
            Paint::Ansi if !text.is_empty() => format!("\x1b[{code}m{text}\x1b[0m"),
            Paint::Ansi | Paint::Plain => text.to_owned(),
        }
    }
}

/// Text of an agent without control characters: what it writes must not move the cursor, change the title or fill the
/// clipboard of whoever reads it. Line ends and tabs stay.
pub(crate) fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// A name on a line of its own: one with a line end in it would else be lines of its own making.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{Paint, clean};

    #[test]
    fn an_agents_escape_sequences_do_not_reach_the_terminal() {
        assert_eq!(clean("a\x1b]0;title\x07b\u{9b}31m\r\n\tc"), "a]0;titleb31m\n\tc");
    }

    #[test]
    fn plain_text_has_no_escape_sequences() {
        assert_eq!(Paint::Plain.red("x"), "x");
        assert_eq!(Paint::Ansi.red("x"), "\x1b[31mx\x1b[0m");
    }
}
