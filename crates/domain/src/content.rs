//! Content of messages.

use serde::{Deserialize, Serialize};

/// A message: plain text, or parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Text, images and files in order.
    Parts(Vec<ContentPart>),
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum ContentPart {
    /// Plain text.
    Text {
        /// The text itself.
        text: String,
    },
    /// An image, as base64.
    Image {
        /// The image's bytes as base64.
        image: String,
        /// Its MIME type.
        media_type: String,
    },
    /// A file of the session, by path (uploaded earlier, under `user-input/`).
    File {
        /// Path relative to the sandbox's root of uploads.
        file: String,
    },
}

impl Content {
    /// The text of all parts; what is not text is named in brackets.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Content::Text(text) => text.clone(),
            Content::Parts(parts) => parts.iter().map(ContentPart::to_text).collect::<Vec<_>>().join("\n"),
        }
    }

    /// A name for a session that begins with it: the first line of text, or the name of its first file.
    #[must_use]
    pub fn title(&self) -> Option<String> {
        let text = match self {
            Content::Text(text) => text.as_str(),
            Content::Parts(parts) => parts.iter().find_map(ContentPart::text).unwrap_or_default(),
        };
        let line = text.lines().map(plain).find(|line| !line.is_empty());
        line.or_else(|| self.first_file()).map(|line| shortened(&line)).filter(|title| !title.is_empty())
    }

    fn first_file(&self) -> Option<String> {
        let Content::Parts(parts) = self else { return None };
        parts.iter().find_map(|part| match part {
            ContentPart::File { file } => file.rsplit('/').next().map(plain),
            ContentPart::Text { .. } | ContentPart::Image { .. } => None,
        })
    }

    /// Whether a picture is in it.
    #[must_use]
    pub fn has_image(&self) -> bool {
        match self {
            Content::Text(_) => false,
            Content::Parts(parts) => parts.iter().any(|part| matches!(part, ContentPart::Image { .. })),
        }
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        match self {
            Content::Text(text) => text.trim().is_empty(),
            Content::Parts(parts) => parts.iter().all(|part| part.to_text().trim().is_empty()),
        }
    }
}

/// At most this many characters of a message become a name.
const TITLE_CHARS: usize = 60;

/// One line without Markdown's marks at its start, control characters and runs of space.
fn plain(line: &str) -> String {
    let words = line.trim_start_matches(|c: char| c.is_whitespace() || "#>*`-".contains(c));
    let spaced: String = words.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cut at a word, where there is one.
fn shortened(line: &str) -> String {
    if line.chars().count() <= TITLE_CHARS {
        return line.to_owned();
    }
    let start: String = line.chars().take(TITLE_CHARS - 1).collect();
    let ends_a_word = line[start.len()..].starts_with(' ');
    let cut = start.rfind(' ').filter(|at| *at > 0 && !ends_a_word).unwrap_or(start.len());
    format!("{}…", &start[..cut])
}

impl ContentPart {
    fn text(&self) -> Option<&str> {
        match self {
            ContentPart::Text { text } if !text.trim().is_empty() => Some(text),
            _ => None,
        }
    }

    fn to_text(&self) -> String {
        match self {
            ContentPart::Text { text } => text.clone(),
            ContentPart::Image { media_type, .. } => format!("[image {media_type}]"),
            ContentPart::File { file } => format!("[file {file}]"),
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Content::Text(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: impl Into<Content>, title: Option<&str>) {
        assert_eq!(content.into().title().as_deref(), title);
    }

    #[test]
    fn title_is_the_first_line_without_its_marks() {
        check("  \n## Fix   the login\nIt fails.", Some("Fix the login"));
        check("run: echo hi", Some("run: echo hi"));
        check("\u{1b}[31mred", Some("[31mred"));
        check(" \n---\n", None);
    }

    #[test]
    fn long_title_is_cut_at_a_word() {
        let words = "word ".repeat(20);
        check(words.as_str(), Some(&format!("{}…", "word ".repeat(11) + "word")));
        check("ß".repeat(80).as_str(), Some(&format!("{}…", "ß".repeat(59))));
    }

    #[test]
    fn message_of_files_alone_is_named_after_the_first() {
        let file = |file: &str| ContentPart::File { file: file.to_owned() };
        let text = |text: &str| ContentPart::Text { text: text.to_owned() };
        check(Content::Parts(vec![file("/user-input/sales.csv"), file("b.txt")]), Some("sales.csv"));
        check(Content::Parts(vec![file("a.csv"), text("Chart it")]), Some("Chart it"));
        check(Content::Parts(Vec::new()), None);
    }
}
