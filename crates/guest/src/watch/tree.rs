//! The directories that are watched, and the files that are known to be in them.

use std::{
    collections::{HashMap, HashSet},
    os::fd::OwnedFd,
};

use rustix::{
    fs::{
        Dir, FileType, OFlags,
        inotify::{ReadFlags, WatchFlags, add_watch, remove_watch},
    },
    io::Errno,
};
use tokio::task::yield_now;
use warren_guest_api::{
    Change, FileKind, FilePath, FileStat, MAX_HASHED, MAX_HASHED_AT_A_TIME, WatchRequest,
};

use super::changes::{Before, Changes};
use crate::files::{Roots, TEMPORARY_PREFIX, hash, proc_path, stat};

/// Directories that are watched at most, and files that are known at most, over all roots of a watch.
const MAX_DIRECTORIES: usize = 8 * 1024;
const MAX_FILES: usize = 128 * 1024;

const WATCHED: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::EXCL_UNLINK);

pub(super) struct Tree<'a> {
    roots: &'a Roots,
    request: WatchRequest,
    directories: HashMap<i32, Directory>,
    /// The same by their paths.
    watches: HashMap<FilePath, i32>,
    n_files: usize,
}

/// A watched directory.
struct Directory {
    path: FilePath,
    /// What is in it besides directories.
    files: HashSet<String>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(roots: &'a Roots, request: WatchRequest) -> Self {
        Self { roots, request, directories: HashMap::new(), watches: HashMap::new(), n_files: 0 }
    }

    /// Watches all roots from the start, silently. Returns what could not be watched, if anything.
    pub(super) async fn scan_roots(&mut self, inotify: &OwnedFd) -> Option<String> {
        for (watch, _) in self.directories.drain() {
            // A watch that is already gone is what we want.
            _ = remove_watch(inotify, watch);
        }
        self.watches.clear();
        self.n_files = 0;
        let mut full = None;
        for root in self.request.roots.clone() {
            let (_, stopped) = self.scan(inotify, FilePath::new(root, "")).await;
            full = full.or(stopped);
        }
        full
    }

    /// Watches a directory that has appeared. Whatever is in it is new.
    pub(super) async fn scan_new(
        &mut self,
        inotify: &OwnedFd,
        path: FilePath,
        changes: &mut Changes,
    ) -> Option<String> {
        let (found, full) = self.scan(inotify, path).await;
        for path in found {
            changes.touch(path, Before::NotThere);
        }
        full
    }

    /// Takes one event. Returns a directory that has to be scanned.
    pub(super) fn on_event(
        &mut self,
        inotify: &OwnedFd,
        watch: i32,
        events: ReadFlags,
        name: Option<&[u8]>,
        changes: &mut Changes,
    ) -> Option<FilePath> {
        if events.contains(ReadFlags::IGNORED) {
            self.forget(watch);
            return None;
        }
        let directory = self.directories.get(&watch)?;
        let name = std::str::from_utf8(name?).ok()?;
        if name.starts_with(TEMPORARY_PREFIX) {
            return None;
        }
        let path = join(&directory.path, name);
        if events.contains(ReadFlags::ISDIR) {
            return self.on_directory(inotify, path, events, changes);
        }
        let known = directory.files.contains(name);
        changes.touch(path, if known { Before::There } else { Before::NotThere });
        None
    }

    /// Asks what became of the files that were touched, and remembers it.
    pub(super) async fn settle(&mut self, changes: Changes) -> Vec<Change> {
        let mut settled = Vec::new();
        let mut left = MAX_HASHED_AT_A_TIME;
        for (n, (path, before)) in changes.into_touched().enumerate() {
            let now = stat(self.roots, &path).ok().filter(|stat| stat.kind != FileKind::Directory);
            self.remember(&path, now.is_some());
            if let Some(change) = before.change(now.is_some()) {
                let is_read =
                    |stat: &FileStat| stat.kind == FileKind::File && stat.size <= left.min(MAX_HASHED);
                let hash = now.filter(is_read).and_then(|_| hash(self.roots, &path).ok());
                left -= now.filter(|_| hash.is_some()).map_or(0, |stat| stat.size);
                settled.push(Change { path, change, stat: now, hash });
            }
            if n % 64 == 63 {
                yield_now().await;
            }
        }
        settled
    }

    fn on_directory(
        &mut self,
        inotify: &OwnedFd,
        path: FilePath,
        events: ReadFlags,
        changes: &mut Changes,
    ) -> Option<FilePath> {
        if events.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM) {
            self.forget_beneath(inotify, &path, changes);
        }
        let appeared = events.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
        let name = path.path.rsplit('/').next().unwrap_or_default();
        (appeared && !self.is_excluded(name)).then_some(path)
    }

    /// Watches a directory and all beneath it. Returns the files found, and why it had to stop, if it had to.
    async fn scan(&mut self, inotify: &OwnedFd, top: FilePath) -> (Vec<FilePath>, Option<String>) {
        let mut found = Vec::new();
        let mut waiting = vec![top];
        while let Some(path) = waiting.pop() {
            if self.directories.len() >= MAX_DIRECTORIES {
                return (found, Some(format!("more than {MAX_DIRECTORIES} directories")));
            }
            if self.n_files >= MAX_FILES {
                return (found, Some(format!("more than {MAX_FILES} files")));
            }
            match self.scan_one(inotify, path, &mut found) {
                Ok(directories) => waiting.extend(directories),
                Err(Errno::NOSPC | Errno::NOMEM) => {
                    return (found, Some("the kernel grants no more watches".to_owned()));
                }
                // Gone, replaced by something else, or not ours to read.
                Err(_) => {}
            }
            yield_now().await;
        }
        (found, None)
    }

    /// Watches one directory and notes the files in it. Returns the directories in it.
    fn scan_one(
        &mut self,
        inotify: &OwnedFd,
        path: FilePath,
        found: &mut Vec<FilePath>,
    ) -> Result<Vec<FilePath>, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let directory = self.roots.open(&path, flags).map_err(|_| Errno::NOENT)?;
        // The watch first: what comes between it and the listing is seen twice rather than never.
        let watch = add_watch(inotify, proc_path(&directory), WATCHED)?;
        let mut files = HashSet::new();
        let mut directories = Vec::new();
        for entry in Dir::new(directory)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            match entry.file_type() {
                _ if matches!(name, "." | "..") || name.starts_with(TEMPORARY_PREFIX) => {}
                FileType::Directory if self.is_excluded(name) => {}
                FileType::Directory => directories.push(join(&path, name)),
                _ => {
                    found.push(join(&path, name));
                    files.insert(name.to_owned());
                }
            }
        }
        // The kernel gives the same number for the same directory: then it was scanned before, under this path or another.
        self.forget(watch);
        self.n_files += files.len();
        self.watches.insert(path.clone(), watch);
        self.directories.insert(watch, Directory { path, files });
        Ok(directories)
    }

    /// A directory is gone with all beneath it, or has moved: it is then scanned anew where it appears.
    fn forget_beneath(&mut self, inotify: &OwnedFd, path: &FilePath, changes: &mut Changes) {
        let beneath = format!("{}/", path.path);
        let gone: Vec<i32> = self
            .directories
            .iter()
            .filter(|(_, directory)| directory.path.root == path.root)
            .filter(|(_, directory)| {
                directory.path.path == path.path || directory.path.path.starts_with(&beneath)
            })
            .map(|(watch, _)| *watch)
            .collect();
        for watch in gone {
            // The watch of a directory that was deleted is gone already.
            _ = remove_watch(inotify, watch);
            if let Some(directory) = self.forget(watch) {
                for name in &directory.files {
                    changes.touch(join(&directory.path, name), Before::There);
                }
            }
        }
    }

    fn forget(&mut self, watch: i32) -> Option<Directory> {
        let directory = self.directories.remove(&watch)?;
        self.watches.remove(&directory.path);
        self.n_files -= directory.files.len();
        Some(directory)
    }

    fn remember(&mut self, path: &FilePath, there: bool) {
        let (parent, name) = path.path.rsplit_once('/').unwrap_or(("", &path.path));
        let watch = self.watches.get(&FilePath::new(path.root, parent));
        let Some(directory) = watch.and_then(|watch| self.directories.get_mut(watch)) else { return };
        if there && directory.files.insert(name.to_owned()) {
            self.n_files += 1;
        } else if !there && directory.files.remove(name) {
            self.n_files -= 1;
        }
    }

    fn is_excluded(&self, name: &str) -> bool {
        self.request.excludes.iter().any(|exclude| exclude == name)
    }
}

fn join(directory: &FilePath, name: &str) -> FilePath {
    let path = if directory.path.is_empty() { name.to_owned() } else { format!("{}/{name}", directory.path) };
    FilePath::new(directory.root, path)
}
