//! Writes a whole file.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::{files, input};

#[derive(Deserialize)]
struct Input {
    path: String,
    content: String,
}

pub(super) fn run(cwd: &Path, value: Value) -> Result<String, String> {
    let input: Input = input(value)?;
    let path = files::resolve(cwd, &input.path);
    let verb = if path.exists() { "Replaced" } else { "Created" };
    files::write(&path, &input.content)?;
    Ok(format!("{verb} `{}` ({} lines)", input.path, input.content.lines().count()))
}
