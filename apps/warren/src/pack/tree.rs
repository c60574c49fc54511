//! What is in a directory, and what of it is sent.

use std::{
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use ignore::{DirEntry, WalkBuilder};
use warren_snapshots::{DEFAULT_EXCLUDES, escape};

use super::Packing;

/// Something to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    /// Relative to the directory.
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    Link,
}

/// Everything in a directory.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) items: Vec<Item>,
    /// Bytes of all files.
    pub(super) bytes: u64,
    /// What is not sent, and why.
    pub(super) left_out: Vec<(String, &'static str)>,
}

type LeftOut = Arc<Mutex<Vec<(String, &'static str)>>>;

pub(super) fn look(root: &Path, packing: &Packing) -> Found {
    let left_out = LeftOut::default();
    let mut found = Found::default();
    for entry in walk(root, packing, &left_out).build() {
        match entry {
            Ok(entry) if entry.depth() == 0 => {}
            Ok(entry) => add(root, &entry, &mut found),
            Err(error) => found.left_out.push((unread(root, &error), "it cannot be read")),
        }
    }
    let mut excluded = std::mem::take(&mut *left_out.lock().unwrap_or_else(PoisonError::into_inner));
    found.left_out.append(&mut excluded);
    found.left_out.sort();
    found
}

fn walk(root: &Path, packing: &Packing, left_out: &LeftOut) -> WalkBuilder {
    let mut walk = WalkBuilder::new(root);
    walk.standard_filters(false).follow_links(false).sort_by_file_name(std::ffi::OsStr::cmp);
    if packing.respects_ignore {
        // The directory's own files, and those of the repository it is in; not those of this machine.
        walk.ignore(true).git_ignore(true).git_exclude(true).parents(true).require_git(false);
    }
    let (at, packing, left_out) = (root.to_owned(), packing.clone(), Arc::clone(left_out));
    walk.filter_entry(move |entry| {
        let why = is_left_out(entry, &packing);
        if let Some(why) = why {
            let shown = shown(&at, entry.path());
            left_out.lock().unwrap_or_else(PoisonError::into_inner).push((shown, why));
        }
        why.is_none()
    });
    walk
}

/// Why a directory is not even looked into, if so.
fn is_left_out(entry: &DirEntry, packing: &Packing) -> Option<&'static str> {
    if entry.depth() == 0 {
        return None;
    }
    if packing.without_git && entry.file_name() == ".git" {
        return Some("as asked");
    }
    if entry.file_name() == ".warren" || entry.path() == packing.data {
        return Some("data of Warren");
    }
    let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
    let is_named = |name: &&str| entry.file_name().as_bytes() == name.as_bytes();
    let is_cache = || DEFAULT_EXCLUDES.iter().any(is_named) || is_tagged(entry.path());
    (is_directory && is_cache()).then_some("excluded from versions")
}

fn is_tagged(directory: &Path) -> bool {
    directory.join("CACHEDIR.TAG").is_file()
}

fn add(root: &Path, entry: &DirEntry, found: &mut Found) {
    let kind = match entry.file_type() {
        Some(kind) if kind.is_dir() => Kind::Directory,
        Some(kind) if kind.is_symlink() => Kind::Link,
        Some(kind) if kind.is_file() => {
            found.bytes += entry.metadata().map_or(0, |metadata| metadata.len());
            if rustix::fs::access(entry.path(), rustix::fs::Access::READ_OK).is_err() {
                found.left_out.push((shown(root, entry.path()), "it cannot be read"));
                return;
            }
            Kind::File
        }
        _ => {
            found.left_out.push((shown(root, entry.path()), "a device, pipe or socket"));
            return;
        }
    };
    let path = entry.path().strip_prefix(root).unwrap_or(entry.path()).to_owned();
    found.items.push(Item { path, kind });
}

fn shown(root: &Path, path: &Path) -> String {
    escape(path.strip_prefix(root).unwrap_or(path).as_os_str().as_bytes())
}

/// The path of something that could not be looked at, as far as it is known.
fn unread(root: &Path, error: &ignore::Error) -> String {
    match error {
        ignore::Error::WithPath { path, .. } => shown(root, path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => unread(root, err),
        other => other.to_string(),
    }
}
