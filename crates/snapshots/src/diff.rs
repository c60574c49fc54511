//! How two trees differ.

use warren_domain::Partition;
use warren_tree::{Changes, Entry, Hash, Node, What};

use crate::{Item, ItemKind, ReadTreeError, Snapshots, TreeId, escape};

/// How two trees differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// Files and links, by path; as many as were asked for.
    pub differences: Vec<Difference>,
    /// How many there are, also those that are not listed.
    pub changes: Changes,
}

/// A file or link that differs. Directories are not told of, only what is in them; times alone do not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where, see [`crate::escape`].
    pub path: String,
    /// What happened to it.
    pub change: Change,
    /// What it was.
    pub before: Option<Item>,
    /// What it is.
    pub after: Option<Item>,
}

/// Ways to differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Change {
    Added,
    Removed,
    Changed,
}

/// Directories of both trees at one path.
struct Pair {
    path: String,
    before: Option<Hash>,
    after: Option<Hash>,
}

impl Snapshots {
    /// What is different in `to`, seen from `from`. Lists at most `limit` differences, and counts all.
    ///
    /// Reads only directories that differ.
    pub async fn diff(
        &self,
        partition: &Partition,
        from: TreeId,
        to: TreeId,
        limit: usize,
    ) -> Result<Diff, ReadTreeError> {
        let mut diff = Diff::default();
        self.compare_trees(partition, from, to, |path, before, after| diff.note(limit, path, before, after))
            .await?;
        diff.differences.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(diff)
    }

    /// What must be done to `from` to get `to`: like [`Snapshots::diff`], and with the directories that only one of them
    /// has. Sorted by path, so that a directory comes before what is in it.
    pub async fn changes(
        &self,
        partition: &Partition,
        from: TreeId,
        to: TreeId,
    ) -> Result<Vec<Difference>, ReadTreeError> {
        let mut changes = Vec::new();
        self.compare_trees(partition, from, to, |path, before, after| {
            changes.extend(Difference::of(path, before, after));
        })
        .await?;
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(changes)
    }

    /// Calls `each` with all entries that differ. Reads only directories that differ.
    async fn compare_trees(
        &self,
        partition: &Partition,
        from: TreeId,
        to: TreeId,
        mut each: impl FnMut(&str, Option<&Entry>, Option<&Entry>),
    ) -> Result<(), ReadTreeError> {
        let hold = self.hold(partition);
        hold.keep(from);
        hold.keep(to);
        let mut waiting = vec![Pair { path: String::new(), before: Some(from.0), after: Some(to.0) }];
        while let Some(pair) = waiting.pop() {
            if pair.before == pair.after {
                continue;
            }
            let before = self.node_or_nothing(partition, pair.before).await?;
            let after = self.node_or_nothing(partition, pair.after).await?;
            compare(&pair.path, &before, &after, &mut |path, before, after| {
                each(path, before, after);
                waiting.extend(Pair::of(path, before, after));
            });
        }
        Ok(())
    }

    async fn node_or_nothing(
        &self,
        partition: &Partition,
        hash: Option<Hash>,
    ) -> Result<Node, ReadTreeError> {
        match hash {
            Some(hash) => self.node(partition, &hash).await,
            None => Ok(Node::default()),
        }
    }
}

/// Calls `each` with the entries of both sides, name by name.
fn compare(
    parent: &str,
    before: &Node,
    after: &Node,
    each: &mut impl FnMut(&str, Option<&Entry>, Option<&Entry>),
) {
    let (mut before, mut after) = (before.entries.iter().peekable(), after.entries.iter().peekable());
    loop {
        let order = match (before.peek(), after.peek()) {
            (None, None) => return,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(before), Some(after)) => before.name.cmp(&after.name),
        };
        let old = if order.is_le() { before.next() } else { None };
        let new = if order.is_ge() { after.next() } else { None };
        if let Some(either) = old.or(new)
            && old != new
        {
            let name = escape(&either.name);
            let path = if parent.is_empty() { name } else { format!("{parent}/{name}") };
            each(&path, old, new);
        }
    }
}

impl Pair {
    /// The directories of an entry, if it is one on either side.
    fn of(path: &str, before: Option<&Entry>, after: Option<&Entry>) -> Option<Self> {
        let node = |entry: Option<&Entry>| match entry.map(|entry| &entry.what) {
            Some(What::Directory(directory)) => Some(directory.node),
            _ => None,
        };
        let (before, after) = (node(before), node(after));
        (before.is_some() || after.is_some()).then(|| Pair { path: path.to_owned(), before, after })
    }
}

impl Diff {
    fn note(&mut self, limit: usize, path: &str, before: Option<&Entry>, after: Option<&Entry>) {
        let is_file = |entry: &&Entry| !matches!(entry.what, What::Directory(_));
        let Some(found) = Difference::of(path, before.filter(is_file), after.filter(is_file)) else { return };
        *match found.change {
            Change::Added => &mut self.changes.added,
            Change::Removed => &mut self.changes.removed,
            Change::Changed => &mut self.changes.changed,
        } += 1;
        if self.differences.len() < limit {
            self.differences.push(found);
        }
    }
}

impl Difference {
    /// What differs of files and links alone. `None` for a directory that only one side has.
    #[must_use]
    pub fn of_files(self) -> Option<Self> {
        let is_file = |item: &Item| item.kind != ItemKind::Directory;
        let (before, after) = (self.before.filter(is_file), self.after.filter(is_file));
        let change = match (&before, &after) {
            (None, None) => return None,
            (None, Some(_)) => Change::Added,
            (Some(_), None) => Change::Removed,
            (Some(_), Some(_)) => Change::Changed,
        };
        Some(Self { path: self.path, change, before, after })
    }

    /// `None` if nothing differs but times, or the mode of a directory.
    fn of(path: &str, before: Option<&Entry>, after: Option<&Entry>) -> Option<Self> {
        let change = match (before.map(|it| (&it.what, it.mode)), after.map(|it| (&it.what, it.mode))) {
            (None, None) | (Some((What::Directory(_), _)), Some((What::Directory(_), _))) => return None,
            (Some(before), Some(after)) if before == after => return None,
            (Some(_), Some(_)) => Change::Changed,
            (None, Some(_)) => Change::Added,
            (Some(_), None) => Change::Removed,
        };
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        let item = |entry: Option<&Entry>| entry.map(|entry| Item::of(entry, parent));
        Some(Self { path: path.to_owned(), change, before: item(before), after: item(after) })
    }
}
