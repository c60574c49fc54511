//! Reads a range of a file's lines, or shows the model a picture or a document.

use std::{
    fmt::Write,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use serde::Deserialize;
use serde_json::Value;

use super::{Output, files, input, look};

const USUAL_LINES: usize = 2_000;
const MAX_LINE: usize = 2_000;

/// What is read in one call: more would fill the model's window with one file.
const MAX_BYTES: usize = 64 * 1024;

#[derive(Deserialize)]
struct Input {
    path: String,
    #[serde(default)]
    offset: Option<usize>,
    #[serde(default)]
    limit: Option<usize>,
}

pub(super) fn run(cwd: &Path, value: Value) -> Output {
    let input: Input = match input(value) {
        Ok(input) => input,
        Err(problem) => return Output::failed(problem),
    };
    let path = files::resolve(cwd, &input.path);
    match look::look_at(&path) {
        Ok(Some(output)) => output,
        Ok(None) => read_lines(&path, &input).into(),
        Err(problem) => Output::failed(problem),
    }
}

fn read_lines(path: &Path, input: &Input) -> Result<String, String> {
    let first = input.offset.unwrap_or(1).max(1);
    let end = first.saturating_add(input.limit.unwrap_or(USUAL_LINES));
    let mut lines = Lines { reader: BufReader::new(files::open(path)?), n_read: 0 };
    let mut text = String::new();
    while let Some(line) = lines.next().map_err(|error| files::failed("read", path, &error))? {
        if line.contains(&0) {
            return Err(format!("`{}` is not text", path.display()));
        }
        if lines.n_read < first {
            continue;
        }
        if lines.n_read >= end || text.len() > MAX_BYTES {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "[there is more: go on with offset {}]", lines.n_read);
            return Ok(text);
        }
        let _ = writeln!(text, "{}\t{}", lines.n_read, shown(&line));
    }
    match lines.n_read {
        0 => Ok("(the file is empty)".to_owned()),
        n_lines if text.is_empty() => Err(format!("the file has only {n_lines} lines")),
        _ => Ok(text),
    }
}

/// Lines of any length, in bounded memory.
struct Lines<R> {
    reader: R,
    n_read: usize,
}

impl<R: BufRead> Lines<R> {
    /// The next line, at most one byte longer than is shown of it.
    fn next(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let n_bytes = self.reader.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line)?;
        if n_bytes == 0 {
            return Ok(None);
        }
        self.n_read += 1;
        if line.pop_if(|last| *last == b'\n').is_none() {
            self.reader.skip_until(b'\n')?;
        }
        line.pop_if(|last| *last == b'\r');
        Ok(Some(line))
    }
}

fn shown(line: &[u8]) -> String {
    if line.len() <= MAX_LINE {
        return String::from_utf8_lossy(line).into_owned();
    }
    format!("{}… [line cut]", String::from_utf8_lossy(&line[..MAX_LINE]).trim_end_matches('\u{fffd}'))
}
