//! From a client's path to a place in a project's knowledge.

use std::fmt;

use warren_domain::ErrorCode;

use super::{MAX_DEPTH, is_hidden};
use crate::{
    api::SessionError,
    volumes::{Volume, VolumePath},
};

/// A place in a project's knowledge: names that nobody is tricked by, at least one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnowledgePath(String);

impl KnowledgePath {
    /// Understands a path: relative to `/knowledge`, or beginning with it.
    pub(crate) fn parse(text: &str) -> Result<Self, SessionError> {
        let path = names(text)?;
        if path.is_empty() {
            return Err(refused(format!("`{}` is not a file path", text.escape_debug())));
        }
        if path.split('/').count() > MAX_DEPTH {
            return Err(refused(format!("files can be at most {MAX_DEPTH} directories deep")));
        }
        Ok(Self(path))
    }

    /// A file of this name in a directory; the empty one is `/knowledge` itself.
    pub(crate) fn within(directory: &str, name: &str) -> Result<Self, SessionError> {
        if name.contains('/') || matches!(name, "" | "." | "..") {
            return Err(refused(format!("`{}` cannot be a file's name", name.escape_debug())));
        }
        let directory = names(directory)?;
        if directory.is_empty() { Self::parse(name) } else { Self::parse(&format!("{directory}/{name}")) }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The directory it lies in, unless that is `/knowledge` itself.
    pub(super) fn parent(&self) -> Option<&str> {
        self.0.rsplit_once('/').map(|(parent, _)| parent)
    }

    pub(super) fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }
}

impl fmt::Display for KnowledgePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The names of a path, with `/` between them.
fn names(text: &str) -> Result<String, SessionError> {
    let place = if text.starts_with('/') {
        VolumePath::parse(text)?
    } else {
        VolumePath::parse(&format!("/knowledge/{text}"))?
    };
    if place.volume != Volume::Knowledge {
        return Err(refused(format!("`{}` is not in `/knowledge`", text.escape_debug())));
    }
    let is_odd = |name: &str| is_hidden(name) || name.contains(|c: char| c.is_control() || c == '\\');
    if place.path.split('/').any(is_odd) {
        return Err(refused(format!("`{}` has a hidden name or invalid characters", text.escape_debug())));
    }
    Ok(place.path)
}

fn refused(message: String) -> SessionError {
    SessionError::Invalid {
        code: ErrorCode::BadRequest,
        message,
        hint: Some("a path is relative to `/knowledge`, as `guides/setup.md`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::KnowledgePath;

    #[test]
    fn a_path_is_relative_to_the_knowledge_or_begins_with_it() {
        for (text, path) in [
            ("a.md", "a.md"),
            ("a/./b//c.md", "a/b/c.md"),
            ("/knowledge/a.md", "a.md"),
            ("knowledge/a.md", "knowledge/a.md"),
            ("ü b.txt", "ü b.txt"),
        ] {
            assert_eq!(KnowledgePath::parse(text).expect(text).as_str(), path);
        }
        assert_eq!(KnowledgePath::within("", "a").expect("a name").as_str(), "a");
        assert_eq!(KnowledgePath::within("/knowledge/x/", "a").expect("a name").as_str(), "x/a");
    }

    #[test]
    fn what_leads_out_hides_or_tricks_is_refused() {
        let (long, deep) = ("x".repeat(256), "d/".repeat(16) + "f");
        for text in [
            "",
            ".",
            "/",
            "/knowledge",
            "..",
            "a/../b",
            "../a",
            "/etc/passwd",
            "/workspace/a",
            "/outputs/a",
            "a\0b",
            "a\nb",
            "a\\b",
            ".env",
            "a/.git/config",
            ".incoming/x",
            "a\u{7f}",
            &long,
            &deep,
        ] {
            KnowledgePath::parse(text).expect_err(text);
        }
        for name in ["", ".", "..", "a/b", "/a", "../a", ".hidden", "a\\b", "a\0b", &long] {
            KnowledgePath::within("x", name).expect_err(name);
        }
        for directory in ["..", "/etc", "a/../..", ".hidden", "/instructions"] {
            KnowledgePath::within(directory, "a").expect_err(directory);
        }
    }
}
