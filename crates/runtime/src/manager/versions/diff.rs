//! How two versions differ: files, line by line where they are text, and what was said in between.

use std::{
    ops::ControlFlow,
    time::{Duration, Instant},
};

use similar::{DiffOp, TextDiff};
use tokio::sync::Semaphore;
use warren_domain::{Block, ConversationId, Conversations, Partition, Seq, SessionId, block_key};
use warren_snapshots::{Difference, Item, ItemKind, TreeId};
use warren_store::VersionRecord;

use super::files::{entry, tree_of};
use crate::{
    api::{DiffFiles, DiffLines, DiffWanted, FileDiff, LineCounts, SessionError, VersionDiff, not_read},
    manager::SessionManager,
    recorder::for_each_event_after,
    session::tree::{is_peoples, outward},
    views,
};

/// At most this many files are told of with their lines, or with counts of them; and without.
const MOST_FILES: usize = 500;
const MOST_LISTED: usize = 20_000;

/// A longer file is not compared line by line.
const LONGEST_FILE: u64 = 512 << 10;

/// The lines of one file are cut here.
const LONGEST_DIFF: usize = 64 << 10;

/// The lines of one file that is asked for alone: all of them, for files that are compared at all.
const LONGEST_ALONE: usize = 2 << 20;

/// The lines of all files together: those after it are told of without lines.
const LONGEST_ALL: usize = 2 << 20;

/// A file with a zero byte so near its beginning is not text.
const LOOKED_AT: usize = 8 << 10;

/// How long lines are compared for one file, and for one answer: files after it are told of without lines.
const LONGEST_LOOK: Duration = Duration::from_secs(1);
const LONGEST_LOOKS: Duration = Duration::from_secs(2);

/// So many files are compared at once, whoever asked: it is all work, and others want the machine too.
static PLACES: Semaphore = Semaphore::const_new(2);

/// What an answer may still cost.
struct Room {
    lines: DiffLines,
    /// Of all files, and of one.
    bytes: usize,
    most_bytes: usize,
    time: Duration,
    /// When a part of the counts ends, though more could be counted: reading takes time too.
    until: Instant,
}

/// What came of comparing two texts.
#[derive(Debug, Default, PartialEq, Eq)]
struct Compared {
    diff: Option<String>,
    is_cut: bool,
    counts: Option<LineCounts>,
}

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
        wanted: &DiffWanted,
    ) -> Result<VersionDiff, SessionError> {
        let partition = self.record(session).await?.partition;
        let trees = (tree_of(from)?, tree_of(to)?);
        let found = self.differences(&partition, from, to).await?;
        let found: Vec<Difference> = found.into_iter().filter_map(Difference::of_files).collect();
        let peoples = found.iter().filter(|difference| is_peoples(difference)).collect();
        let mut all = chosen(peoples, &wanted.files)?.into_iter().peekable();
        let mut files = Vec::new();
        let mut room = Room::of(wanted);
        let most = if wanted.lines == DiffLines::None { MOST_LISTED } else { MOST_FILES };
        let most = wanted.limit.map_or(most, |limit| limit.min(most));
        while files.len() < most
            && !room.is_over()
            && let Some(difference) = all.next()
        {
            files.push(self.file_diff(&partition, trees, difference, &mut room).await?);
        }
        let is_truncated = all.peek().is_some();
        // What was said belongs to the beginning, and not to every part.
        let blocks = match wanted.files {
            DiffFiles::All => self.blocks_between(session, from.seq, to.seq).await?,
            DiffFiles::After(_) | DiffFiles::One(_) => Vec::new(),
        };
        Ok(VersionDiff { from: from.version, to: to.version, files, is_truncated, blocks })
    }

    async fn file_diff(
        &self,
        partition: &Partition,
        trees: (TreeId, TreeId),
        difference: &Difference,
        room: &mut Room,
    ) -> Result<FileDiff, SessionError> {
        let (path, look) = (outward(&difference.path), |item: &Option<Item>| item.as_ref().map(entry));
        let told = FileDiff {
            before: look(&difference.before),
            after: look(&difference.after),
            path,
            is_binary: false,
            diff: None,
            is_truncated: false,
            counts: None,
        };
        if room.lines == DiffLines::None {
            return Ok(told);
        }
        // What cannot be compared any more is only looked at.
        let most = if room.is_full() { 0 } else { LONGEST_FILE };
        let before = self.side(partition, trees.0, difference.before.as_ref(), most).await?;
        let after = self.side(partition, trees.1, difference.after.as_ref(), most).await?;
        let is_binary = matches!(before, Side::Binary) || matches!(after, Side::Binary);
        let compared = match (before, after) {
            (Side::Text(before), Side::Text(after)) if before == after => {
                Compared { counts: Some(LineCounts::default()), ..Compared::default() }
            }
            (Side::Text(before), Side::Text(after)) if !room.is_full() => {
                let before = difference.before.is_some().then_some(before);
                let after = difference.after.is_some().then_some(after);
                room.compare(shown(&told.path), before, after).await?
            }
            _ => Compared { is_cut: !is_binary && !has_same_content(difference), ..Compared::default() },
        };
        let Compared { diff, is_cut, counts } = compared;
        Ok(FileDiff { is_binary, diff, is_truncated: is_cut, counts, ..told })
    }

    async fn side(
        &self,
        partition: &Partition,
        tree: TreeId,
        item: Option<&Item>,
        most: u64,
    ) -> Result<Side, SessionError> {
        let Some(item) = item else { return Ok(Side::Text(String::new())) };
        match item.kind {
            ItemKind::Symlink => {
                return Ok(Side::Text(item.target.clone().unwrap_or_default()));
            }
            ItemKind::Directory => return Ok(Side::Text(String::new())),
            ItemKind::File => {}
        }
        let snapshots = &self.shared.parts.snapshots;
        let read = snapshots.read_all(partition, tree, &item.path, most).await;
        let Some(bytes) = read.map_err(not_read)? else {
            let is_binary = self.begins_binary(partition, tree, item).await?;
            return Ok(if is_binary { Side::Binary } else { Side::TooLong });
        };
        if bytes[..bytes.len().min(LOOKED_AT)].contains(&0) {
            return Ok(Side::Binary);
        }
        Ok(String::from_utf8(bytes.to_vec()).map_or(Side::Binary, Side::Text))
    }

    /// Whether a file that is too long to be compared begins like one that is not text.
    async fn begins_binary(
        &self,
        partition: &Partition,
        tree: TreeId,
        item: &Item,
    ) -> Result<bool, SessionError> {
        let beginning = Some(0..LOOKED_AT as u64);
        let reader = self.shared.parts.snapshots.read(partition, tree, &item.path, beginning).await;
        let mut reader = reader.map_err(not_read)?;
        let mut bytes = Vec::new();
        while let Some(piece) = reader.next().await.map_err(not_read)? {
            bytes.extend_from_slice(&piece);
        }
        // A character that is cut at the end is no sign of anything.
        let is_text = std::str::from_utf8(&bytes).err().is_none_or(|error| error.error_len().is_none());
        Ok(bytes.contains(&0) || !is_text)
    }

    /// Blocks of the main conversation that are new after `from` and there at `to`. Reads no more of the log than lies between.
    async fn blocks_between(
        &self,
        session: SessionId,
        from: Seq,
        to: Seq,
    ) -> Result<Vec<Block>, SessionError> {
        let parts = &self.shared.parts;
        let unread = |error| SessionError::internal("read the log", error);
        let mut all = Conversations::default();
        let read = for_each_event_after(parts.store.log.as_ref(), session, from, |event| {
            if event.seq > to {
                return ControlFlow::Break(());
            }
            all.apply(&event);
            ControlFlow::Continue(())
        });
        read.await.map_err(unread)?;
        // An entry about an older block does not make it a new one.
        let key = |block: &Block| block_key(&ConversationId::main(), block.id());
        let keys: Vec<String> = all.main().iter().map(key).collect();
        let began = views::beginnings(parts.source(), session, &keys).await.map_err(unread)?;
        let is_new = |key: &String| began.get(key).is_none_or(|began| *began > from);
        let new = all.main().iter().zip(&keys).filter(|(_, key)| is_new(key));
        Ok(new.map(|(block, _)| block.clone()).collect())
    }
}

impl Room {
    fn of(wanted: &DiffWanted) -> Self {
        let is_alone = matches!(wanted.files, DiffFiles::One(_));
        Self {
            lines: wanted.lines,
            bytes: LONGEST_ALL,
            most_bytes: if is_alone { LONGEST_ALONE } else { LONGEST_DIFF },
            time: LONGEST_LOOKS,
            until: Instant::now() + LONGEST_LOOKS,
        }
    }

    fn is_full(&self) -> bool {
        self.bytes == 0 || self.time.is_zero()
    }

    /// Whether the rest is for the next part: a list has room for every file, whatever is told of it, but files that could
    /// not be counted any more would never be.
    fn is_over(&self) -> bool {
        self.lines == DiffLines::Counts && (self.is_full() || Instant::now() >= self.until)
    }

    /// Compares two texts, on a thread where nobody waits for it.
    async fn compare(
        &mut self,
        path: String,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<Compared, SessionError> {
        // Closed never: it is static.
        let _place = PLACES.acquire().await.ok();
        let bytes = (self.lines == DiffLines::All).then(|| self.bytes.min(self.most_bytes));
        let time = self.time.min(LONGEST_LOOK);
        let compared = tokio::task::spawn_blocking(move || {
            let began = Instant::now();
            let compared = lines(&path, before.as_deref(), after.as_deref(), bytes, began + time);
            (compared, began.elapsed())
        });
        let (compared, took) =
            compared.await.map_err(|error| SessionError::internal("compare two versions", error))?;
        self.bytes = self.bytes.saturating_sub(compared.diff.as_ref().map_or(0, String::len));
        self.time = self.time.saturating_sub(took);
        Ok(compared)
    }
}

/// The files that are asked for, in their order.
fn chosen<'a>(all: Vec<&'a Difference>, wanted: &DiffFiles) -> Result<Vec<&'a Difference>, SessionError> {
    let at = |path: &str| {
        let found = all.iter().position(|difference| outward(&difference.path) == path);
        found.ok_or_else(|| SessionError::not_found("file that differs", path))
    };
    match wanted {
        DiffFiles::All => Ok(all),
        DiffFiles::After(path) => Ok(all[at(path)? + 1..].to_vec()),
        DiffFiles::One(path) => Ok(vec![all[at(path)?]]),
    }
}

/// Whether only a file's mode is another.
fn has_same_content(difference: &Difference) -> bool {
    let hash = |item: &Option<Item>| item.as_ref().and_then(|item| item.hash);
    hash(&difference.before).is_some() && hash(&difference.before) == hash(&difference.after)
}

/// A unified diff, if there is `room` for one, and how many lines differ. `None` is a file that is not there. What differs
/// after `until` is told as one.
fn lines(
    path: &str,
    before: Option<&str>,
    after: Option<&str>,
    room: Option<usize>,
    until: Instant,
) -> Compared {
    let name = |text: Option<&str>, side| text.map_or("/dev/null".to_owned(), |_| format!("{side}/{path}"));
    let (before_name, after_name) = (name(before, "a"), name(after, "b"));
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let diff = TextDiff::configure().deadline(until).diff_lines(before, after);
    let counts = Some(count(diff.ops()));
    let Some(room) = room else { return Compared { counts, ..Compared::default() } };
    let mut text = diff.unified_diff().context_radius(3).header(&before_name, &after_name).to_string();
    let is_cut = text.len() > room;
    if is_cut {
        let end = text.floor_char_boundary(room);
        text.truncate(text[..end].rfind('\n').map_or(end, |newline| newline + 1));
    }
    Compared { diff: Some(text), is_cut, counts }
}

fn count(steps: &[DiffOp]) -> LineCounts {
    let mut counts = LineCounts::default();
    for step in steps {
        let (added, removed) = match *step {
            DiffOp::Equal { .. } => (0, 0),
            DiffOp::Delete { old_len, .. } => (0, old_len),
            DiffOp::Insert { new_len, .. } => (new_len, 0),
            DiffOp::Replace { old_len, new_len, .. } => (new_len, old_len),
        };
        counts.added += added as u64;
        counts.removed += removed as u64;
    }
    counts
}

/// A path in one line: a name with a line end in it would else be lines of a diff.
fn shown(path: &str) -> String {
    let mut shown = String::with_capacity(path.len());
    for c in path.chars() {
        if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Compared, LineCounts, Room, lines, shown};
    use crate::api::DiffWanted;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    #[test]
    fn a_diff_is_unified_names_what_is_absent_and_is_cut_at_a_line() {
        let counts = |added, removed| Some(LineCounts { added, removed });
        let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n".to_owned();
        assert_eq!(
            lines("a.txt", Some("one\ntwo\n"), Some("one\n2\n"), Some(1000), soon()),
            Compared { diff: Some(diff), is_cut: false, counts: counts(1, 1) }
        );
        let added = lines("a.txt", None, Some("x\n"), Some(1000), soon()).diff.expect("a diff");
        assert!(added.starts_with("--- /dev/null\n+++ b/a.txt\n"), "{added}");
        let long: String = (0..1000).map(|n| format!("{n}\n")).collect();
        let Compared { diff, is_cut, counts: all } = lines("a.txt", None, Some(&long), Some(200), soon());
        let cut = diff.expect("a diff");
        assert!(is_cut && cut.len() <= 200 && cut.ends_with('\n'), "{cut}");
        assert_eq!(all, counts(1000, 0), "all lines are counted, also those that were cut");
        assert_eq!(
            lines("a.txt", Some(&long), None, None, soon()),
            Compared { diff: None, is_cut: false, counts: counts(0, 1000) }
        );
    }

    #[test]
    fn a_name_forges_no_lines_of_a_diff() {
        let name = shown("a\n+++ b/etc/passwd\n@@ -1 +1 @@\u{1b}[2J ü");
        assert_eq!(name, "a\\n+++ b/etc/passwd\\n@@ -1 +1 @@\\u{1b}[2J ü");
        let diff = lines(&name, Some("1\n"), Some("2\n"), Some(1000), soon()).diff.expect("a diff");
        assert_eq!(diff.lines().count(), 5, "{diff}");
    }

    /// Short lines of few kinds are what takes longest.
    fn noise(seed: u64, n_lines: u64) -> String {
        let mut state = seed;
        let mut line = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("{}\n", (state >> 33) % 1000)
        };
        (0..n_lines).map(|_| line()).collect()
    }

    #[tokio::test]
    async fn files_share_the_time_of_an_answer_and_nobody_else_waits_meanwhile() {
        let mut room = Room::of(&DiffWanted::default());
        let (before, after) = (noise(1, 100_000), noise(2, 100_000));
        let mut n_compared = 0;
        let compared = async {
            while !room.is_full() && n_compared < 30 {
                let texts = (Some(before.clone()), Some(after.clone()));
                room.compare("a".to_owned(), texts.0, texts.1).await.expect("compared");
                n_compared += 1;
            }
        };
        let mut n_ticks = 0;
        let ticking = async {
            loop {
                tokio::time::sleep(Duration::from_millis(10)).await;
                n_ticks += 1;
            }
        };
        tokio::select! {
            () = compared => {}
            () = ticking => {}
        }
        assert!(n_compared < 30, "each took as long as it liked");
        assert!(n_ticks > 10, "the thread of everybody was taken: {n_ticks}");
        assert!(room.is_full());
    }
}
