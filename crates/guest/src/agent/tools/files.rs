//! What the file tools share.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// Files longer than this are not taken into memory whole.
pub(super) const MAX_WHOLE: u64 = 16 * 1024 * 1024;

/// A path of the model's, from the working directory.
pub(super) fn resolve(cwd: &Path, path: &str) -> PathBuf {
    cwd.join(path)
}

/// Opens a file to read it. Pipes and devices, which might never end, are refused.
pub(super) fn open(path: &Path) -> Result<File, String> {
    let kind = fs::metadata(path).map_err(|error| failed("open", path, &error))?;
    if kind.is_dir() {
        return Err(format!("`{}` is a directory: list it with glob, or with ls", path.display()));
    }
    if !kind.is_file() {
        return Err(format!("`{}` is not a regular file", path.display()));
    }
    File::open(path).map_err(|error| failed("open", path, &error))
}

/// A whole file as text.
pub(super) fn read_text(path: &Path) -> Result<String, String> {
    let file = open(path)?;
    let length = file.metadata().map_err(|error| failed("read", path, &error))?.len();
    if length > MAX_WHOLE {
        return Err(format!("`{}` is too long for this ({length} bytes)", path.display()));
    }
    io::read_to_string(file).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => format!("`{}` is not text", path.display()),
        _ => failed("read", path, &error),
    })
}

/// Writes a whole file, and makes the directories above it.
pub(super) fn write(path: &Path, content: &str) -> Result<(), String> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| failed("make the directory of", path, &error))?;
    }
    fs::write(path, content).map_err(|error| failed("write", path, &error))
}

pub(super) fn failed(what: &str, path: &Path, error: &io::Error) -> String {
    format!("failed to {what} `{}`: {error}", path.display())
}
