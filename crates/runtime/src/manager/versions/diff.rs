//! How two versions differ: files, line by line where they are text, and what was said in between.

use similar::TextDiff;
use warren_domain::{Block, Conversations, Partition, Seq, SessionId};
use warren_snapshots::{Difference, Item, ItemKind, TreeId};
use warren_store::VersionRecord;

use super::files::{entry, tree_of};
use crate::{
    api::{FileDiff, SessionError, VersionDiff, damaged},
    manager::SessionManager,
    recorder::for_each_event,
    session::tree::{is_peoples, outward},
};

/// At most this many files are told of.
const MOST_FILES: usize = 500;

/// A longer file is not compared line by line.
const LONGEST_FILE: u64 = 512 << 10;

/// The lines of one file are cut here.
const LONGEST_DIFF: usize = 64 << 10;

/// The lines of all files together: those after it are told of without lines.
const LONGEST_ALL: usize = 2 << 20;

/// A file with a zero byte so near its beginning is not text.
const LOOKED_AT: usize = 8 << 10;

/// What is there of one side of a file.
enum Side {
    Text(String),
    Binary,
    TooLong,
}

impl SessionManager {
    pub(super) async fn diff(
        &self,
        session: SessionId,
        from: &VersionRecord,
        to: &VersionRecord,
    ) -> Result<VersionDiff, SessionError> {
        let partition = self.record(session).await?.partition;
        let trees = (tree_of(from)?, tree_of(to)?);
        let found = self.shared.parts.snapshots.diff(&partition, trees.0, trees.1, usize::MAX).await;
        let found = found.map_err(damaged)?.differences;
        let mut all = found.iter().filter(|difference| is_peoples(difference));
        let mut files = Vec::new();
        let mut room = LONGEST_ALL;
        for difference in all.by_ref().take(MOST_FILES) {
            let file = self.file_diff(&partition, trees, difference, room).await?;
            room = room.saturating_sub(file.diff.as_ref().map_or(0, String::len));
            files.push(file);
        }
        let is_truncated = all.next().is_some();
        let blocks = self.blocks_between(session, from.seq, to.seq).await?;
        Ok(VersionDiff { from: from.version, to: to.version, files, is_truncated, blocks })
    }

    async fn file_diff(
        &self,
        partition: &Partition,
        trees: (TreeId, TreeId),
        difference: &Difference,
        room: usize,
    ) -> Result<FileDiff, SessionError> {
        let before = self.side(partition, trees.0, difference.before.as_ref()).await?;
        let after = self.side(partition, trees.1, difference.after.as_ref()).await?;
        let path = outward(&difference.path);
        let is_binary = matches!(before, Side::Binary) || matches!(after, Side::Binary);
        let (diff, is_truncated) = match (&before, &after) {
            (Side::Text(before), Side::Text(after)) if room > 0 => {
                let names = (difference.before.as_ref(), difference.after.as_ref());
                lines(&path, (names.0.is_some(), before), (names.1.is_some(), after), room.min(LONGEST_DIFF))
            }
            _ => (None, !is_binary),
        };
        let look = |item: &Option<Item>| item.as_ref().map(entry);
        Ok(FileDiff {
            before: look(&difference.before),
            after: look(&difference.after),
            path,
            is_binary,
            diff,
            is_truncated,
        })
    }

    async fn side(
        &self,
        partition: &Partition,
        tree: TreeId,
        item: Option<&Item>,
    ) -> Result<Side, SessionError> {
        let Some(item) = item else { return Ok(Side::Text(String::new())) };
        match item.kind {
            ItemKind::Symlink => {
                return Ok(Side::Text(item.target.clone().unwrap_or_default()));
            }
            ItemKind::Directory => return Ok(Side::Text(String::new())),
            ItemKind::File => {}
        }
        let read = self.shared.parts.snapshots.read_all(partition, tree, &item.path, LONGEST_FILE).await;
        let Some(bytes) = read.map_err(damaged)? else { return Ok(Side::TooLong) };
        if bytes[..bytes.len().min(LOOKED_AT)].contains(&0) {
            return Ok(Side::Binary);
        }
        Ok(String::from_utf8(bytes.to_vec()).map_or(Side::Binary, Side::Text))
    }

    /// Blocks of the main conversation that are new after `from` and there at `to`.
    async fn blocks_between(
        &self,
        session: SessionId,
        from: Seq,
        to: Seq,
    ) -> Result<Vec<Block>, SessionError> {
        let log = self.shared.parts.store.log.as_ref();
        let (mut known, mut all) = (0, Conversations::default());
        let read = for_each_event(log, session, |event| {
            if event.seq <= to {
                all.apply(&event);
            }
            if event.seq <= from {
                known = all.main().len();
            }
        });
        read.await.map_err(|error| SessionError::internal("read the log", error))?;
        Ok(all.main().get(known..).unwrap_or_default().to_vec())
    }
}

/// A unified diff, and whether it was cut.
fn lines(path: &str, before: (bool, &str), after: (bool, &str), room: usize) -> (Option<String>, bool) {
    if before.1 == after.1 {
        return (None, false);
    }
    let name = |(is_there, _): (bool, &str), side| {
        if is_there { format!("{side}/{path}") } else { "/dev/null".to_owned() }
    };
    let diff = TextDiff::configure().timeout(std::time::Duration::from_secs(1)).diff_lines(before.1, after.1);
    let mut text =
        diff.unified_diff().context_radius(3).header(&name(before, "a"), &name(after, "b")).to_string();
    let is_cut = text.len() > room;
    if is_cut {
        let end = text.floor_char_boundary(room);
        text.truncate(text[..end].rfind('\n').map_or(end, |newline| newline + 1));
    }
    (Some(text), is_cut)
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn a_diff_is_unified_names_what_is_absent_and_is_cut_at_a_line() {
        let (diff, is_cut) = lines("a.txt", (true, "one\ntwo\n"), (true, "one\n2\n"), 1000);
        assert_eq!(
            (diff.as_deref(), is_cut),
            (Some("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"), false)
        );
        let (added, _) = lines("a.txt", (false, ""), (true, "x\n"), 1000);
        assert!(added.is_some_and(|added| added.starts_with("--- /dev/null\n+++ b/a.txt\n")));
        let long: String = (0..1000).map(|n| format!("{n}\n")).collect();
        let (cut, is_cut) = lines("a.txt", (false, ""), (true, &long), 200);
        let cut = cut.expect("a diff");
        assert!(is_cut && cut.len() <= 200 && cut.ends_with('\n'), "{cut}");
        assert_eq!(lines("a.txt", (true, "same"), (true, "same"), 10), (None, false));
    }
}
