//! `INDEX.md`: what there is to read, made from the files, so that an agent need not open each to find one.

use std::{
    fmt::Write as _,
    fs,
    io::{self, Read as _},
    os::fd::OwnedFd,
    path::Path,
};

use rustix::{
    fs::{AtFlags, RenameFlags, renameat, renameat_with, unlinkat},
    io::Errno,
};

use super::{FILE_MODE, Incoming, Shelf};
use crate::{api::FileEntry, volumes::Still};

/// Its name.
pub(super) const NAME: &str = "INDEX.md";

/// How the first line of an index of ours begins. One without it is somebody's own, and is left alone.
const MARK: &str = "<!-- warren:index ";

/// The most files it names.
const NAMED: usize = 1000;

/// How much of a file is looked at, and the longest summary in characters.
const LOOKED_AT: u64 = 4096;
const LONGEST: usize = 120;

/// Whether the index is one of ours.
pub(super) fn is_ours(root: &Path) -> bool {
    first_bytes(root, NAME).is_ok_and(|bytes| bytes.starts_with(MARK.as_bytes()))
}

/// Makes the index what the files are, unless it is that already, or somebody's own. Without files there is none.
pub(super) fn refresh(root: &Path, directory: &OwnedFd, incoming: &Path, shelf: &Shelf) -> io::Result<()> {
    let mark = format!("{MARK}{} -->\n", fingerprint(shelf));
    let there = match first_bytes(root, NAME) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    match there {
        Some(bytes) if !bytes.starts_with(MARK.as_bytes()) => Ok(()),
        Some(_) if shelf.files.is_empty() => Ok(unlinkat(directory, NAME, AtFlags::empty())?),
        Some(bytes) if bytes.starts_with(mark.as_bytes()) => Ok(()),
        None if shelf.files.is_empty() => Ok(()),
        there => write(directory, incoming, &format!("{mark}{}", text(root, shelf)), there.is_some()),
    }
}

/// Puts the new index into the place of the old one, and back again if the old one turns out to be somebody's own.
fn write(directory: &OwnedFd, incoming: &Path, text: &str, is_there: bool) -> io::Result<()> {
    let beside = Incoming::open(incoming)?;
    let name = tempfile_name(directory)?;
    let at = incoming.join(&name);
    let written = write_new(&at, text).and_then(|()| {
        let how = if is_there { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
        match renameat_with(beside.directory(), &name, directory, NAME, how) {
            // Somebody put one there just now: it is theirs.
            Err(Errno::EXIST | Errno::NOENT) => return Ok(()),
            // Not every file system can do this.
            Err(Errno::INVAL | Errno::NOSYS) => {
                return Ok(renameat(beside.directory(), &name, directory, NAME)?);
            }
            moved => moved?,
        }
        if is_there && !fs::read(&at)?.starts_with(MARK.as_bytes()) {
            renameat_with(beside.directory(), &name, directory, NAME, RenameFlags::EXCHANGE)?;
        }
        rustix::fs::fsync(directory).map_err(io::Error::from)
    });
    // The old one, or the new one that got no place.
    let removed = fs::remove_file(&at);
    written?;
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// A name that only whoever holds the directory's lock uses.
fn tempfile_name(directory: &OwnedFd) -> io::Result<String> {
    let stat = rustix::fs::fstat(directory)?;
    Ok(format!("index-{:x}-{:x}", stat.st_dev, stat.st_ino))
}

fn write_new(at: &Path, text: &str) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut file = fs::File::create(at)?;
    io::Write::write_all(&mut file, text.as_bytes())?;
    file.set_permissions(fs::Permissions::from_mode(FILE_MODE))?;
    file.sync_all()
}

/// Tells two states of the files apart.
fn fingerprint(shelf: &Shelf) -> String {
    let mut hasher = blake3::Hasher::new();
    for file in &shelf.files {
        hasher.update(file.path.as_bytes());
        hasher.update(format!("\0{}\0{}\0", file.size_bytes, file.modified_ns).as_bytes());
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

fn text(root: &Path, shelf: &Shelf) -> String {
    let n_files = shelf.files.len();
    let mut text = format!(
        "# What is here\n\n{n_files} {}, {}. This list is updated whenever they change.\n\n",
        if n_files == 1 { "file" } else { "files" },
        size(shelf.size_bytes()),
    );
    for file in shelf.files.iter().take(NAMED) {
        let summary = summary(root, file).map(|summary| format!(": {summary}")).unwrap_or_default();
        // Writing to a text cannot fail.
        let _ = writeln!(text, "- `{}` ({}){summary}", clean(&file.path), size(file.size_bytes));
    }
    if n_files > NAMED || shelf.is_truncated {
        text.push_str("\nThere are more: `find /knowledge -type f` lists them all.\n");
    }
    text
}

/// The first heading of a document, else the first line of a text.
fn summary(root: &Path, file: &FileEntry) -> Option<String> {
    let bytes = first_bytes(root, &file.path).ok()?;
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) => text,
        // A sign that is cut in two is no reason to think that it is no text.
        Err(error) if bytes.len() - error.valid_up_to() < 4 => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    if text.contains('\0') {
        return None;
    }
    let lines = || text.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphanumeric));
    let is_document = [".md", ".markdown"].iter().any(|end| file.path.to_ascii_lowercase().ends_with(end));
    let heading = lines().filter(|_| is_document).find(|line| line.starts_with('#'));
    let line = heading.or_else(|| lines().next())?.trim_start_matches('#').trim();
    Some(shortened(&clean(line))).filter(|line| !line.is_empty())
}

fn shortened(line: &str) -> String {
    if line.chars().count() <= LONGEST {
        return line.to_owned();
    }
    let kept: String = line.chars().take(LONGEST - 1).collect();
    format!("{}…", kept.trim_end())
}

/// What is one line stays one line, whatever is in it.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{}.{} kB", bytes / 1000, bytes % 1000 / 100),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

fn first_bytes(root: &Path, path: &str) -> io::Result<Vec<u8>> {
    let (file, _) = Still::new(root).file(path)?;
    let mut bytes = Vec::new();
    file.take(LOOKED_AT).read_to_end(&mut bytes)?;
    Ok(bytes)
}
