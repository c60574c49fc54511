//! Finds files by their paths.

use std::{path::Path, time::SystemTime};

use serde::Deserialize;
use serde_json::Value;

use super::{files, input, walk};

const MAX_FILES: usize = 200;

#[derive(Deserialize)]
struct Input {
    pattern: String,
    #[serde(default)]
    path: Option<String>,
}

pub(super) fn run(cwd: &Path, value: Value) -> Result<String, String> {
    let input: Input = input(value)?;
    let root = files::resolve(cwd, input.path.as_deref().unwrap_or("."));
    let root = root.canonicalize().map_err(|error| files::failed("look into", &root, &error))?;
    let matcher = walk::matcher(&input.pattern)?;
    let found =
        walk::files(&root).filter(|path| path.strip_prefix(&root).is_ok_and(|path| matcher.is_match(path)));
    let mut found: Vec<_> = found.map(|path| (modified(&path), path)).collect();
    if found.is_empty() {
        return Ok("No files found".to_owned());
    }
    // Newest first: what was worked on last is most likely meant. Names decide between equals.
    found.sort_by(|(a_time, a), (b_time, b)| b_time.cmp(a_time).then_with(|| a.cmp(b)));
    let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    let lines = found.iter().take(MAX_FILES).map(|(_, path)| walk::shown(path, &cwd));
    let mut text = lines.collect::<Vec<_>>().join("\n");
    if found.len() > MAX_FILES {
        text.push_str(&format!("\n[{} more: narrow the pattern]", found.len() - MAX_FILES));
    }
    Ok(text)
}

fn modified(path: &Path) -> SystemTime {
    path.metadata().and_then(|meta| meta.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}
