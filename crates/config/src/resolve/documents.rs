//! `[documents]`: what converts them.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use super::invalid;
use crate::{ConfigError, raw::RawDocuments};

/// How documents are converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Documents {
    /// What converts them.
    pub libreoffice: Office,
    /// The longest that one conversion may take.
    pub timeout: Duration,
}

/// Which LibreOffice converts documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Office {
    /// The installed one.
    Auto,
    /// None.
    Off,
    /// The one at this path.
    At(PathBuf),
}

pub(super) fn documents(raw: RawDocuments, directory: &Path) -> Result<Documents, ConfigError> {
    let libreoffice = match raw.libreoffice.as_deref() {
        None | Some("auto") => Office::Auto,
        Some("off") => Office::Off,
        Some("") => return Err(invalid("documents.libreoffice", "", "write `auto`, `off` or a path")),
        Some(path) => Office::At(directory.join(path)),
    };
    let seconds = raw.timeout_seconds.unwrap_or(60);
    if !(1..=3600).contains(&seconds) {
        return Err(invalid("documents.timeout_seconds", seconds, "write a number from 1 to 3600"));
    }
    Ok(Documents { libreoffice, timeout: Duration::from_secs(seconds) })
}
