//! What is known of a tree that was seen before: the tree itself, and how its files looked on disk.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use crate::{
    Directory, Entry, Hash, Totals, What,
    node::encode_entries,
    scan::{DirRef, Found, FoundDir, FoundEntry, FoundWhat},
};

/// A tree with all its directories in memory, and what its files looked like when they were last read.
///
/// Directories have numbers; 0 is the one whose entries are the roots. Cheap to clone; a changed directory is a new one,
/// and the others are shared.
#[derive(Debug, Clone, Default)]
pub struct Index {
    dirs: Vec<Arc<KnownDir>>,
    /// In which directory each is, once somebody wanted to know. Shared by all that have the same ones.
    parents: Arc<OnceLock<Vec<u32>>>,
}

/// A directory.
#[derive(Debug, Clone, Default)]
pub struct KnownDir {
    /// What is in it, by name.
    pub entries: Vec<Known>,
    /// The hash of its node.
    pub node: Option<Hash>,
    /// What is in it, all levels together.
    pub totals: Totals,
}

/// One thing in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// As it is kept.
    pub entry: Entry,
    /// What it looked like, if it can be known again by that.
    pub seen: Seen,
    /// The number of the directory, if it is one.
    pub child: u32,
}

/// What tells a file from the one that was there before, besides size and times. All zero matches nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Seen {
    /// Its inode.
    pub inode: u64,
    /// The time of its last change of any kind, which no program can set.
    pub ctime_ns: i64,
}

/// How a tree differs from the one before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes {
    /// Files and links that are new.
    pub added: u64,
    /// Files and links with other content, target or mode.
    pub changed: u64,
    /// Files and links that are gone.
    pub removed: u64,
}

/// A new tree, made of an older one and a scan.
#[derive(Debug)]
pub struct Merged {
    /// The new tree.
    pub index: Index,
    /// How it differs.
    pub changes: Changes,
    /// The nodes that the older one did not have.
    pub nodes: Vec<(Hash, Vec<u8>)>,
}

/// A scan that cannot be true.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid scan: {what}")]
pub struct UnusableScan {
    /// What is wrong.
    pub what: &'static str,
}

/// Deeper than any path the kernel takes.
const MAX_DEPTH: usize = 2100;

impl KnownDir {
    /// What had this name.
    #[must_use]
    pub fn get(&self, name: &[u8]) -> Option<&Known> {
        let at = self.entries.binary_search_by(|known| (*known.entry.name).cmp(name)).ok()?;
        self.entries.get(at)
    }
}

impl Index {
    /// Of directories that refer to each other by their places in the list.
    #[must_use]
    pub fn new(dirs: Vec<Arc<KnownDir>>) -> Self {
        Self { dirs, parents: Arc::default() }
    }

    /// What the tree is known by; nothing if there is no tree.
    #[must_use]
    pub fn tree(&self) -> Option<Hash> {
        self.dirs.first().and_then(|top| top.node)
    }

    /// All its directories. Some may not belong to the tree any more.
    #[must_use]
    pub fn dirs(&self) -> &[Arc<KnownDir>] {
        &self.dirs
    }

    /// Whether this is the very same as another: not compared by what they hold, but by being shared.
    #[must_use]
    pub fn is_same(&self, other: &Index) -> bool {
        self.changed_since(other).is_some_and(|changed| changed.is_empty())
    }

    /// The numbers of the directories that it does not share with an older one; `None` if it has fewer.
    #[must_use]
    pub fn changed_since(&self, older: &Index) -> Option<Vec<u32>> {
        let is_shared = |(number, dir): &(u32, &Arc<KnownDir>)| {
            older.dirs.get(*number as usize).is_some_and(|old| Arc::ptr_eq(old, dir))
        };
        let changed = || (0..).zip(&self.dirs).filter(|dir| !is_shared(dir)).map(|(number, _)| number);
        (self.dirs.len() >= older.dirs.len()).then(|| changed().collect())
    }

    /// The directory of a root.
    #[must_use]
    pub fn root(&self, name: &[u8]) -> Option<u32> {
        let top = self.dirs.first()?;
        top.entries.iter().find(|known| &*known.entry.name == name).map(|known| known.child)
    }

    /// Makes the tree that a scan over this one found.
    pub fn merge(&self, found: Vec<FoundDir>) -> Result<Merged, UnusableScan> {
        if found.is_empty() && self.tree().is_some() {
            return Ok(Merged { index: self.clone(), changes: Changes::default(), nodes: Vec::new() });
        }
        let n_found = found.len();
        let found: HashMap<DirRef, FoundDir> = found.into_iter().map(|dir| (dir.at, dir)).collect();
        if found.len() != n_found {
            return Err(UnusableScan { what: "a directory was told of twice" });
        }
        let mut merge = Merge {
            dirty: self.dirty(&found),
            base: self,
            found,
            dirs: self.dirs.clone(),
            changes: Changes::default(),
            nodes: Vec::new(),
            is_reshaped: false,
        };
        if merge.dirs.is_empty() {
            merge.dirs.push(Arc::default());
            merge.is_reshaped = true;
        }
        let changed = self.tree().is_none() || merge.dirty.first().copied().unwrap_or(true);
        if changed {
            merge.directory(DirRef::Base(0), 0)?;
        }
        if !merge.found.is_empty() {
            return Err(UnusableScan { what: "a directory is nowhere in the tree" });
        }
        let index = if merge.is_reshaped {
            Index::new(merge.dirs).compacted()
        } else {
            Index { dirs: merge.dirs, parents: self.parents.clone() }
        };
        Ok(Merged { index, changes: merge.changes, nodes: merge.nodes })
    }

    /// Which directories have to be made anew: those told of, and all above them.
    fn dirty(&self, found: &HashMap<DirRef, FoundDir>) -> Vec<bool> {
        let parents = self.parents.get_or_init(|| self.find_parents());
        let mut dirty = vec![false; self.dirs.len()];
        for at in found.keys() {
            let DirRef::Base(mut number) = *at else { continue };
            while let Some(is_dirty) = dirty.get_mut(number as usize)
                && !*is_dirty
            {
                *is_dirty = true;
                number = parents[number as usize];
            }
        }
        dirty
    }

    fn find_parents(&self) -> Vec<u32> {
        let mut parents = vec![0_u32; self.dirs.len()];
        for (number, dir) in (0_u32..).zip(&self.dirs) {
            for known in &dir.entries {
                if let (What::Directory(_), Some(parent)) =
                    (&known.entry.what, parents.get_mut(known.child as usize))
                {
                    *parent = number;
                }
            }
        }
        parents
    }

    /// Without the directories that no longer belong to the tree, once they are many.
    fn compacted(self) -> Self {
        let reachable = self.count_reachable();
        if self.dirs.len() < reachable * 5 / 4 + 64 {
            return self;
        }
        let mut dirs = vec![self.dirs[0].clone()];
        let mut at = 0;
        while at < dirs.len() {
            let mut dir = KnownDir::clone(&dirs[at]);
            for known in dir.entries.iter_mut().filter(|known| matches!(known.entry.what, What::Directory(_)))
            {
                dirs.push(self.dirs[known.child as usize].clone());
                known.child = (dirs.len() - 1) as u32;
            }
            dirs[at] = Arc::new(dir);
            at += 1;
        }
        Self::new(dirs)
    }

    fn count_reachable(&self) -> usize {
        let mut waiting = vec![0_u32];
        let mut n = 0;
        while let Some(number) = waiting.pop() {
            n += 1;
            let entries = self.dirs.get(number as usize).map(|dir| &dir.entries[..]).unwrap_or_default();
            let is_dir = |known: &&Known| matches!(known.entry.what, What::Directory(_));
            waiting.extend(entries.iter().filter(is_dir).map(|known| known.child));
        }
        n
    }
}

/// A merge on its way.
struct Merge<'a> {
    base: &'a Index,
    found: HashMap<DirRef, FoundDir>,
    dirty: Vec<bool>,
    dirs: Vec<Arc<KnownDir>>,
    changes: Changes,
    nodes: Vec<(Hash, Vec<u8>)>,
    /// Directories came or went.
    is_reshaped: bool,
}

impl<'a> Merge<'a> {
    /// Makes a directory, and those below it first. Returns its number.
    fn directory(&mut self, at: DirRef, depth: usize) -> Result<u32, UnusableScan> {
        let old: &'a [Known] = match at {
            DirRef::Base(number) => {
                self.base.dirs.get(number as usize).map(|dir| &dir.entries[..]).unwrap_or_default()
            }
            DirRef::New(_) => &[],
        };
        if let DirRef::Base(number) = at
            && !self.dirty.get(number as usize).copied().unwrap_or(number == 0)
        {
            return Ok(number);
        }
        if depth > MAX_DEPTH {
            return Err(UnusableScan { what: "it is too deep" });
        }
        let mut entries = match self.found.remove(&at) {
            Some(found) => resolve(found, old)?,
            None if matches!(at, DirRef::Base(_)) => {
                old.iter().map(|known| (known.clone(), DirRef::Base(known.child))).collect()
            }
            None => return Err(UnusableScan { what: "a new directory was not told of" }),
        };
        for (known, child) in &mut entries {
            if let What::Directory(directory) = &mut known.entry.what {
                known.child = self.directory(*child, depth + 1)?;
                let made = &self.dirs[known.child as usize];
                let node = made.node.ok_or(UnusableScan { what: "a directory is in itself" })?;
                *directory = Directory { node, totals: made.totals };
            }
        }
        let entries: Vec<Known> = entries.into_iter().map(|(known, _)| known).collect();
        self.compare(old, &entries);
        Ok(self.keep(at, entries))
    }

    fn keep(&mut self, at: DirRef, entries: Vec<Known>) -> u32 {
        let bytes = encode_entries(entries.iter().map(|known| &known.entry));
        let node = Hash::of(&bytes);
        let mut totals = Totals::default();
        entries.iter().for_each(|known| totals += known.entry.totals());
        let dir = Arc::new(KnownDir { entries, node: Some(node), totals });
        let number = match at {
            DirRef::Base(number) => {
                self.dirs[number as usize] = dir;
                number
            }
            DirRef::New(_) => {
                self.is_reshaped = true;
                self.dirs.push(dir);
                (self.dirs.len() - 1) as u32
            }
        };
        self.nodes.push((node, bytes));
        number
    }

    /// Counts what became of the files of one directory; those of the ones below it are counted by themselves.
    fn compare(&mut self, old: &[Known], new: &[Known]) {
        let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => return,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(old), Some(new)) => old.entry.name.cmp(&new.entry.name),
            };
            let before = if order.is_le() { old.next() } else { None };
            let after = if order.is_ge() { new.next() } else { None };
            self.count(before.map(|known| &known.entry), after.map(|known| &known.entry));
        }
    }

    fn count(&mut self, before: Option<&Entry>, after: Option<&Entry>) {
        let is_directory =
            |entry: Option<&Entry>| matches!(entry, Some(Entry { what: What::Directory(_), .. }));
        self.is_reshaped |= is_directory(before) != is_directory(after);
        // A directory that is new was counted when it was made; one that is gone never is.
        let gone = |entry: &Entry| entry.totals().files;
        let come = |entry: &Entry| u64::from(!matches!(entry.what, What::Directory(_)));
        match (before, after) {
            (Some(before), Some(after)) => match (&before.what, &after.what) {
                (What::Directory(_), What::Directory(_)) => {}
                (What::File(_) | What::Symlink(_), What::File(_) | What::Symlink(_)) => {
                    let same = before.what == after.what && before.mode == after.mode;
                    self.changes.changed += u64::from(!same);
                }
                _ => {
                    self.changes.removed += gone(before);
                    self.changes.added += come(after);
                }
            },
            (Some(before), None) => self.changes.removed += gone(before),
            (None, Some(after)) => self.changes.added += come(after),
            (None, None) => {}
        }
    }
}

/// From what a scan says of a directory to its entries, with the directories below still to be made.
fn resolve(found: FoundDir, old: &[Known]) -> Result<Vec<(Known, DirRef)>, UnusableScan> {
    let mut entries: Vec<(Known, DirRef)> = Vec::with_capacity(found.entries.len());
    for found in found.entries {
        let resolved = match found {
            Found::Same(at) => {
                let known = old.get(at as usize);
                let known = known.ok_or(UnusableScan { what: "it names an entry that is not there" })?;
                (known.clone(), DirRef::Base(known.child))
            }
            Found::Entry(found) => resolve_entry(found, old)?,
        };
        if entries.last().is_some_and(|(last, _)| last.entry.name >= resolved.0.entry.name) {
            return Err(UnusableScan { what: "names are not in order" });
        }
        entries.push(resolved);
    }
    Ok(entries)
}

fn resolve_entry(found: FoundEntry, old: &[Known]) -> Result<(Known, DirRef), UnusableScan> {
    let (what, child) = match found.what {
        FoundWhat::File(file) => (What::File(file), DirRef::Base(0)),
        FoundWhat::Symlink(target) => (What::Symlink(target), DirRef::Base(0)),
        FoundWhat::Directory(child) => (What::Directory(nothing()), child),
    };
    if let (What::Directory(_), DirRef::Base(number)) = (&what, child) {
        // Only the directory that had this name before: so no directory is in two places, or in itself.
        let before = old.binary_search_by(|known| known.entry.name.cmp(&found.name)).ok().map(|at| &old[at]);
        let is_it = |known: &Known| known.child == number && matches!(known.entry.what, What::Directory(_));
        if !before.is_some_and(is_it) {
            return Err(UnusableScan { what: "a directory is not where it was" });
        }
    }
    let entry = Entry { name: found.name, mode: found.mode, mtime_ns: found.mtime_ns, what };
    Ok((Known { entry, seen: found.seen, child: 0 }, child))
}

/// Stands in until the directory is made.
fn nothing() -> Directory {
    Directory { node: Hash::from_bytes([0; 32]), totals: Totals::default() }
}
