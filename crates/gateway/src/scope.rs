//! What a token may do, as it is written.

use std::{fmt, str::FromStr};

use warren_domain::ProjectId;

/// What a token may do. Whatever it is, it ends at the token's partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Everything of the partition, and the server itself.
    Admin(Rights),
    /// One project.
    Project(ProjectId, Rights),
}

/// Whether a token may change what it may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// It may.
    ReadWrite,
    /// It may only look.
    ReadOnly,
}

/// Why a text is not a scope.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// Nobody knows what it means.
    #[error("`{0}` is not a scope")]
    Unknown(String),
    /// It will mean something: only the server gives such tokens, to sessions.
    #[error("`session:` scopes cannot be assigned manually")]
    Reserved,
}

impl Scope {
    /// Whether it may change things.
    #[must_use]
    pub fn rights(self) -> Rights {
        match self {
            Scope::Admin(rights) | Scope::Project(_, rights) => rights,
        }
    }

    /// The one project it is confined to.
    #[must_use]
    pub fn project(self) -> Option<ProjectId> {
        match self {
            Scope::Admin(_) => None,
            Scope::Project(project, _) => Some(project),
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::Admin(_) => f.write_str("admin")?,
            Scope::Project(project, _) => write!(f, "project:{project}")?,
        }
        match self.rights() {
            Rights::ReadWrite => Ok(()),
            Rights::ReadOnly => f.write_str(":ro"),
        }
    }
}

impl FromStr for Scope {
    type Err = ScopeError;

    fn from_str(text: &str) -> Result<Self, ScopeError> {
        if text.starts_with("session:") {
            return Err(ScopeError::Reserved);
        }
        let (what, rights) = match text.strip_suffix(":ro") {
            Some(what) => (what, Rights::ReadOnly),
            None => (text, Rights::ReadWrite),
        };
        if what == "admin" {
            return Ok(Scope::Admin(rights));
        }
        what.strip_prefix("project:")
            .and_then(|id| id.parse().ok())
            .map(|project| Scope::Project(project, rights))
            .ok_or_else(|| ScopeError::Unknown(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Scope, ScopeError};

    #[test]
    fn a_scope_reads_back_as_it_is_written() {
        let project = "018f0000-0000-7000-8000-000000000001";
        for text in ["admin", "admin:ro", &format!("project:{project}"), &format!("project:{project}:ro")] {
            assert_eq!(text.parse::<Scope>().expect(text).to_string(), text);
        }
    }

    #[test]
    fn what_is_almost_a_scope_is_none() {
        for text in ["", "Admin", "admin:rw", "admin:ro:ro", "project:", "project:x", "project", " admin"] {
            assert_eq!(text.parse::<Scope>(), Err(ScopeError::Unknown(text.to_owned())), "{text}");
        }
        assert_eq!("session:1".parse::<Scope>(), Err(ScopeError::Reserved));
    }
}
