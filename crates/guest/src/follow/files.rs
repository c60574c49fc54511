//! Files that grow, line by line.
//!
//! They are looked at, not watched: a look at a handful of files costs microseconds, needs no setup for directories
//! that appear later, and can be had at the moment when the order matters.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, Metadata},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::output::{FileLine, Output};

/// The longest line that is told whole, and how much is told of a longer one, which nobody can read by half.
const MAX_LINE: usize = 8 * 1024 * 1024;
const TOLD_OF_LONGER: usize = 64 * 1024;

/// How deep and how wide is looked. Beyond it are not the transcripts of an agent.
const MAX_DEPTH: usize = 8;
const MAX_ENTRIES: usize = 10_000;

/// How much is read at a time, and how far back the beginning of an unfinished line is sought.
const CHUNK: usize = 64 * 1024;

/// The files beneath a directory whose names end in one of some ways.
pub(super) struct Files {
    dir: PathBuf,
    suffixes: Vec<String>,
    tails: BTreeMap<PathBuf, Tail>,
}

/// One file, as far as it was read.
#[derive(Debug, Default)]
struct Tail {
    inode: u64,
    read_to: u64,
    /// The beginning of a line whose end is not written yet.
    line: Vec<u8>,
    /// The present line is too long; the rest of it is passed over.
    is_skipping: bool,
    /// The next line is the first of a file that was written anew.
    is_restarted: bool,
}

impl Files {
    /// Follows what is written from now on.
    pub(super) fn from_now(dir: &Path, suffixes: &[String]) -> Self {
        let mut files = Self { dir: dir.to_owned(), suffixes: suffixes.to_vec(), tails: BTreeMap::new() };
        for path in files.found() {
            // A file that cannot be read now is read from its beginning when it can.
            if let Ok(tail) = Tail::at_last_line(&path) {
                files.tails.insert(path, tail);
            }
        }
        files
    }

    /// Removes all there are.
    pub(super) fn clear(dir: &Path, suffixes: &[String]) -> io::Result<()> {
        let files = Self { dir: dir.to_owned(), suffixes: suffixes.to_vec(), tails: BTreeMap::new() };
        files.found().iter().try_for_each(fs::remove_file)
    }

    /// Prints every line that was finished since the last time.
    pub(super) fn print_new<W: Write>(&mut self, output: &mut Output<W>) -> io::Result<()> {
        if !output.is_between_lines() {
            return Ok(());
        }
        let found = self.found();
        self.tails.retain(|path, _| found.contains(path));
        for path in found {
            let shown = path.strip_prefix(&self.dir).unwrap_or(&path).to_string_lossy().into_owned();
            let tail = self.tails.entry(path.clone()).or_default();
            tail.print_new(&path, &shown, output)?;
        }
        output.flush()
    }

    /// The files there are, in the order of their names. Links are not followed.
    fn found(&self) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut n_entries = 0;
        let mut directories = vec![(self.dir.clone(), 0)];
        while let Some((directory, depth)) = directories.pop() {
            // A directory that is not there, or not ours to read, holds nothing to follow.
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                n_entries += 1;
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && depth < MAX_DEPTH => {
                        directories.push((entry.path(), depth + 1))
                    }
                    Ok(kind) if kind.is_file() && self.is_wanted(&entry.file_name().to_string_lossy()) => {
                        found.insert(entry.path());
                    }
                    _ => {}
                }
                if n_entries == MAX_ENTRIES {
                    return found;
                }
            }
        }
        found
    }

    fn is_wanted(&self, name: &str) -> bool {
        self.suffixes.is_empty() || self.suffixes.iter().any(|suffix| name.ends_with(suffix.as_str()))
    }
}

impl Tail {
    /// The beginning of the last line, so that a line whose end comes later is whole.
    fn at_last_line(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        let from = metadata.len().saturating_sub(CHUNK as u64);
        file.seek(SeekFrom::Start(from))?;
        let mut end = Vec::new();
        file.take(CHUNK as u64).read_to_end(&mut end)?;
        let unfinished = end.iter().rev().take_while(|byte| **byte != b'\n').count();
        Ok(Self { inode: metadata.ino(), read_to: from + (end.len() - unfinished) as u64, ..Self::default() })
    }

    fn print_new<W: Write>(&mut self, path: &Path, shown: &str, output: &mut Output<W>) -> io::Result<()> {
        // It may have gone since it was found.
        let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
        self.notice_restart(&metadata);
        if metadata.len() == self.read_to {
            return Ok(());
        }
        let Ok(mut file) = File::open(path) else { return Ok(()) };
        file.seek(SeekFrom::Start(self.read_to))?;
        let mut chunk = vec![0; CHUNK];
        loop {
            let n_read = file.read(&mut chunk)?;
            if n_read == 0 {
                return Ok(());
            }
            self.read_to += n_read as u64;
            self.take(&chunk[..n_read], shown, output)?;
        }
    }

    /// A file that is shorter than before, or another one, begins anew.
    fn notice_restart(&mut self, metadata: &Metadata) {
        let is_new = self.inode == 0;
        if !is_new && (metadata.ino() != self.inode || metadata.len() < self.read_to) {
            *self = Self { is_restarted: true, ..Self::default() };
        }
        self.inode = metadata.ino();
    }

    fn take<W: Write>(&mut self, mut bytes: &[u8], shown: &str, output: &mut Output<W>) -> io::Result<()> {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.grow(&bytes[..end], shown, output)?;
            if !std::mem::take(&mut self.is_skipping) {
                self.print(shown, Whole::Yes, output)?;
            }
            bytes = &bytes[end + 1..];
        }
        self.grow(bytes, shown, output)
    }

    fn grow<W: Write>(&mut self, bytes: &[u8], shown: &str, output: &mut Output<W>) -> io::Result<()> {
        if self.is_skipping {
            return Ok(());
        }
        let room = MAX_LINE - self.line.len();
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room {
            self.is_skipping = true;
            self.line.truncate(TOLD_OF_LONGER);
            self.print(shown, Whole::No, output)?;
        }
        Ok(())
    }

    fn print<W: Write>(&mut self, shown: &str, whole: Whole, output: &mut Output<W>) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.line);
        output.wrote(&FileLine {
            path: shown,
            line: &String::from_utf8_lossy(&bytes),
            restart: std::mem::take(&mut self.is_restarted),
            cut: matches!(whole, Whole::No),
        })
    }
}

/// Whether a line has its end.
enum Whole {
    Yes,
    No,
}

#[cfg(test)]
mod tests;
