//! Replaces text in a file.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::{files, input};

#[derive(Deserialize)]
struct Input {
    path: String,
    old_text: String,
    new_text: String,
    #[serde(default)]
    replace_all: bool,
}

pub(super) fn run(cwd: &Path, value: Value) -> Result<String, String> {
    let input: Input = input(value)?;
    if input.old_text.is_empty() {
        return Err("`old_text` is empty: use write to make a file".to_owned());
    }
    if input.old_text == input.new_text {
        return Err("`old_text` and `new_text` are the same".to_owned());
    }
    let path = files::resolve(cwd, &input.path);
    let text = files::read_text(&path)?;
    let n_found = text.matches(&input.old_text).count();
    match n_found {
        0 => return Err(format!("`old_text` is not in `{}`: read the file again", input.path)),
        2.. if !input.replace_all => {
            let hint = "give more of its surroundings, or set `replace_all`";
            return Err(format!("`old_text` is {n_found} times in `{}`: {hint}", input.path));
        }
        _ => files::write(&path, &text.replace(&input.old_text, &input.new_text))?,
    }
    let times = if n_found == 1 { "once".to_owned() } else { format!("{n_found} times") };
    Ok(format!("Replaced {times} in `{}`", input.path))
}
