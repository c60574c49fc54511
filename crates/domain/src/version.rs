//! Versions: why they are made, and what they count.

use serde::{Deserialize, Serialize};

/// Why a version was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum VersionCause {
    /// A run was carried out.
    Run,
    /// A run was stopped; what it did until then.
    Interrupt,
    /// A run failed or was cut; what it left, committed by whoever came next.
    Recovered,
    /// Files changed while no run was in progress; kept before the sandbox ended.
    Idle,
    /// Files changed while no run was in progress; kept before the next run, or before an older version was restored.
    Edited,
    /// The files of the template, as the first sandbox of the session got them.
    Template,
    /// Somebody asked for it, or it is what a session starts with.
    Manual,
    /// An older version, once more.
    Restore,
    /// An imported transcript or archive.
    Import,
    /// A version of another session.
    Fork,
}

impl VersionCause {
    const ALL: [VersionCause; 10] = [
        VersionCause::Run,
        VersionCause::Interrupt,
        VersionCause::Recovered,
        VersionCause::Idle,
        VersionCause::Edited,
        VersionCause::Template,
        VersionCause::Manual,
        VersionCause::Restore,
        VersionCause::Import,
        VersionCause::Fork,
    ];

    /// The cause as it is stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            VersionCause::Run => "run",
            VersionCause::Interrupt => "interrupt",
            VersionCause::Recovered => "recovered",
            VersionCause::Idle => "idle",
            VersionCause::Edited => "edited",
            VersionCause::Template => "template",
            VersionCause::Manual => "manual",
            VersionCause::Restore => "restore",
            VersionCause::Import => "import",
            VersionCause::Fork => "fork",
        }
    }

    /// Reads a stored cause.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.as_str() == text)
    }
}

impl std::fmt::Display for VersionCause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The number of files that differ from the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FileCounts {
    /// New files.
    #[serde(default)]
    pub added: u64,
    /// Changed content, mode or kind.
    #[serde(default)]
    pub changed: u64,
    /// Gone.
    #[serde(default)]
    pub removed: u64,
}

/// Where the next run starts if an earlier one left uncommitted changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum RunFrom {
    /// From what is there: it becomes a version of its own first.
    #[default]
    Head,
    /// From the latest version: what is in none is given up.
    Version,
}

/// How a session's current state differs from its latest version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Head {
    /// Not at all.
    #[default]
    Clean,
    /// Files changed while no run was going on.
    Touched,
    /// A run ended without a version.
    Cut,
}
