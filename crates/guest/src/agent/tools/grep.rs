//! Finds lines by a regular expression.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::Value;

use super::{files, input, walk};

const USUAL_RESULTS: usize = 200;
const MAX_CONTEXT: usize = 20;
const MAX_LINE: usize = 500;

#[derive(Deserialize)]
struct Input {
    pattern: String,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    glob: Option<String>,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    context: usize,
    #[serde(default)]
    output: Show,
    #[serde(default)]
    limit: Option<usize>,
}

/// What is shown of what was found.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Show {
    #[default]
    Lines,
    Files,
    Count,
}

/// What was found so far.
struct Found {
    lines: Vec<String>,
    limit: usize,
}

pub(super) fn run(cwd: &Path, value: Value) -> Result<String, String> {
    let input: Input = input(value)?;
    let regex = RegexBuilder::new(&input.pattern).case_insensitive(input.ignore_case).build();
    let regex = regex.map_err(|error| format!("the pattern cannot be used: {error}"))?;
    let mut found = Found { lines: Vec::new(), limit: input.limit.unwrap_or(USUAL_RESULTS).max(1) };
    let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    for path in searched(&cwd, &input)? {
        if found.is_full() {
            found.lines.push("[there may be more: narrow the search, or raise `limit`]".to_owned());
            break;
        }
        if let Some(text) = searchable(&path) {
            search(&text, &regex, &input, &walk::shown(&path, &cwd), &mut found);
        }
    }
    Ok(if found.lines.is_empty() { "No matches found".to_owned() } else { found.lines.join("\n") })
}

fn searched(cwd: &Path, input: &Input) -> Result<Vec<PathBuf>, String> {
    let root = files::resolve(cwd, input.path.as_deref().unwrap_or("."));
    let root = root.canonicalize().map_err(|error| files::failed("look into", &root, &error))?;
    let matcher = input.glob.as_deref().map(walk::matcher).transpose()?;
    let is_meant = |path: &PathBuf| {
        let below = path.strip_prefix(&root).unwrap_or(path);
        below.as_os_str().is_empty() || matcher.as_ref().is_none_or(|matcher| matcher.is_match(below))
    };
    let mut paths: Vec<PathBuf> = walk::files(&root).filter(is_meant).collect();
    paths.sort();
    Ok(paths)
}

/// A file's text; `None` for what is not text, too long, or cannot be read.
fn searchable(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    if file.metadata().ok()?.len() > files::MAX_WHOLE {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(files::MAX_WHOLE).read_to_end(&mut bytes).ok()?;
    let is_text = !bytes.iter().take(8_192).any(|byte| *byte == 0);
    is_text.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

fn search(text: &str, regex: &Regex, input: &Input, name: &str, found: &mut Found) {
    let lines: Vec<&str> = text.lines().collect();
    let mut hits = lines.iter().enumerate().filter(|(_, line)| regex.is_match(line)).map(|(index, _)| index);
    match input.output {
        Show::Files => found.lines.extend(hits.next().map(|_| name.to_owned())),
        Show::Count => match hits.count() {
            0 => {}
            n_hits => found.lines.push(format!("{name}:{n_hits}")),
        },
        Show::Lines => show_lines(&lines, hits, input.context.min(MAX_CONTEXT), name, found),
    }
}

/// Lines that match with `:` after their number, those around them with `-`.
fn show_lines(
    lines: &[&str],
    hits: impl Iterator<Item = usize>,
    context: usize,
    name: &str,
    found: &mut Found,
) {
    let hits: Vec<usize> = hits.collect();
    let mut next = 0;
    for hit in &hits {
        if found.is_full() {
            return;
        }
        let from = hit.saturating_sub(context).max(next);
        let to = (hit + context).min(lines.len() - 1);
        if context > 0 && from > next && next > 0 {
            found.lines.push("--".to_owned());
        }
        for (index, line) in lines.iter().enumerate().take(to + 1).skip(from) {
            let mark = if hits.binary_search(&index).is_ok() { ':' } else { '-' };
            found.lines.push(format!("{name}:{}{mark}{}", index + 1, cut(line)));
        }
        next = next.max(to + 1);
    }
}

fn cut(line: &str) -> &str {
    &line[..line.floor_char_boundary(MAX_LINE)]
}

impl Found {
    fn is_full(&self) -> bool {
        self.lines.len() >= self.limit
    }
}
