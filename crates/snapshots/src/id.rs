//! What a tree is known by.

use std::{fmt, str::FromStr};

use warren_tree::{Hash, Node, ParseHashError};

/// A tree: the hash of the node whose entries are its roots. The same files give the same id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeId(pub Hash);

impl TreeId {
    /// The tree without any root.
    #[must_use]
    pub fn empty() -> Self {
        Self(Hash::of(&Node::default().encode()))
    }
}

impl fmt::Display for TreeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for TreeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TreeId({})", self.0)
    }
}

impl FromStr for TreeId {
    type Err = ParseHashError;

    fn from_str(text: &str) -> Result<Self, ParseHashError> {
        text.parse().map(Self)
    }
}
