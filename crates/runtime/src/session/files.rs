//! The known state of the workspace's files, and how changes reach the log.

use std::{collections::BTreeMap, time::Duration};

use warren_domain::{BlobHash, Draft, EventBody, FileChange, Head, RunId, SessionId, Timestamp};
use warren_guest_api::{
    Change as SeenChange, DEFAULT_EXCLUDES, FileKind, FilePath, FileStat, ListRequest, MAX_HASHED,
    MAX_HASHED_AT_A_TIME, MAX_LIST, Root,
};
use warren_sandbox::{FilesAt, Guest};
use warren_store::{Change, Store, WorkspaceFile};

use super::{SessionTask, artifacts::hash};
use crate::{
    recorder::RecordError,
    volumes::{Volume, VolumePath},
};

/// Maximum depth of a scan.
const DEPTH: u32 = 64;

/// Timeout of a scan. A guest that takes longer does not hold up the session.
const SCAN: Duration = Duration::from_secs(20);

/// A file as something saw it; `None` if it is gone.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    path: String,
    stat: Option<FileStat>,
    /// Not everyone who sees a file reads it.
    hash: Option<BlobHash>,
}

impl Seen {
    /// A file of the workspace that is there.
    pub(super) fn new(path: String, stat: FileStat) -> Self {
        Self { path, stat: Some(stat), hash: None }
    }
}

/// A change of a session's file by a person.
pub(crate) struct ByHand {
    pub(crate) place: VolumePath,
    /// As far as whoever did it can tell.
    pub(crate) change: FileChange,
    /// The file; `None` if what was there is gone.
    pub(crate) stat: Option<FileStat>,
}

/// Files as the log has them.
#[derive(Debug, Default)]
pub(super) struct KnownFiles(BTreeMap<String, WorkspaceFile>);

impl KnownFiles {
    pub(super) async fn open(store: &Store, session: SessionId) -> Result<Self, RecordError> {
        let files = store.sessions.files(session).await.map_err(RecordError::Read)?;
        Ok(Self(files.into_iter().map(|file| (file.path.clone(), file)).collect()))
    }

    /// Files beneath a directory, by path.
    pub(super) fn beneath(&self, directory: &str) -> impl Iterator<Item = &WorkspaceFile> {
        let from = self.0.range(directory.to_owned()..);
        from.map(|(_, file)| file).take_while(move |file| file.path.starts_with(directory))
    }

    /// That whatever was at a path is gone, as far as it is known.
    fn gone(&self, path: &str) -> Vec<Seen> {
        let is_it = |file: &&WorkspaceFile| matches!(file.path.as_bytes().get(path.len()), None | Some(b'/'));
        let gone = self.beneath(path).filter(is_it);
        gone.map(|file| Seen { path: file.path.clone(), stat: None, hash: None }).collect()
    }

    /// Compares what was seen with what is known, and remembers it. Says what changed.
    fn update(&mut self, seen: Seen) -> Option<(FileChange, Option<WorkspaceFile>, String)> {
        let Some(stat) = seen.stat.filter(|stat| stat.kind != FileKind::Directory) else {
            return self.0.remove(&seen.path).map(|_| (FileChange::Deleted, None, seen.path));
        };
        let known = self.0.get(&seen.path);
        let mut file = workspace_file(seen.path.clone(), stat, seen.hash);
        if file.hash.is_none() {
            file.hash = known.filter(|known| is_as_before(known, &file)).and_then(|known| known.hash.clone());
        }
        match self.0.insert(seen.path.clone(), file.clone()) {
            None => Some((FileChange::Created, Some(file), seen.path)),
            // That it was read now and not before is no news.
            Some(before) if before.hash.is_none() && is_as_before(&before, &file) => None,
            Some(before) if before != file => Some((FileChange::Modified, Some(file), seen.path)),
            Some(_) => None,
        }
    }

    /// Takes these for all there is. Says what the log has to say of it.
    pub(super) fn become_these(&mut self, listed: &BTreeMap<String, FileStat>) -> (Vec<Draft>, Vec<Change>) {
        let seen = self.against(listed);
        self.news(seen, None)
    }

    fn news(&mut self, seen: Vec<Seen>, run: Option<RunId>) -> (Vec<Draft>, Vec<Change>) {
        let news = seen.into_iter().filter_map(|seen| self.update(seen));
        news.map(|(change, file, path)| {
            let draft = changed(run, change, file.as_ref(), path.clone());
            (draft, file.map_or(Change::RemoveFile(path), Change::PutFile))
        })
        .unzip()
    }

    /// The changes in a complete listing.
    fn news_of(&self, listed: &BTreeMap<String, FileStat>) -> Vec<Seen> {
        let mut seen = self.against(listed);
        seen.retain(|seen| match (self.0.get(&seen.path), seen.stat) {
            (Some(known), Some(stat)) => !is_as_before(known, &workspace_file(seen.path.clone(), stat, None)),
            (known, _) => known.is_some() || seen.stat.is_some(),
        });
        seen
    }

    /// Applies a complete listing: everything in it, and everything missing from it.
    fn against(&self, listed: &BTreeMap<String, FileStat>) -> Vec<Seen> {
        let gone = self.0.keys().filter(|path| !listed.contains_key(*path));
        let gone = gone.map(|path| Seen { path: path.clone(), stat: None, hash: None });
        let there = listed.iter().map(|(path, stat)| Seen::new(path.clone(), *stat));
        there.chain(gone).collect()
    }
}

fn workspace_file(path: String, stat: FileStat, hash: Option<BlobHash>) -> WorkspaceFile {
    WorkspaceFile {
        path,
        kind: match stat.kind {
            FileKind::Symlink => "symlink",
            FileKind::Other => "other",
            FileKind::File | FileKind::Directory => "file",
        }
        .to_owned(),
        size_bytes: stat.size,
        mode: stat.mode,
        modified_at: Timestamp::from_millis(stat.mtime_ns / 1_000_000),
        hash,
    }
}

/// Whether a file's metadata is unchanged.
fn is_as_before(known: &WorkspaceFile, seen: &WorkspaceFile) -> bool {
    let looks = |file: &WorkspaceFile| (file.kind.clone(), file.size_bytes, file.mode, file.modified_at);
    looks(known) == looks(seen)
}

/// The records of a session that knows these files, and has nothing to tell of them.
pub(crate) fn known_files(listed: &BTreeMap<String, FileStat>) -> Vec<Change> {
    KnownFiles::default().become_these(listed).1
}

/// Events of the watcher that concern the workspace.
pub(super) fn seen(changes: Vec<SeenChange>) -> Vec<Seen> {
    let of_workspace = changes.into_iter().filter(|change| change.path.root == Root::Workspace);
    of_workspace
        .map(|change| Seen { path: change.path.path, stat: change.stat, hash: change.hash.map(BlobHash) })
        .collect()
}

impl SessionTask {
    pub(super) async fn on_files(&mut self, seen: Vec<Seen>) -> Result<(), RecordError> {
        let run = self.recorder.state.running();
        self.tell_files(seen, run).await
    }

    /// Tells of files that are no run's work, even if one waits for them.
    pub(super) async fn on_given(&mut self, seen: Vec<Seen>) -> Result<(), RecordError> {
        self.tell_files(seen, None).await
    }

    /// What a person did is no run's work either. It is told before they hear that it is done, so that their next message
    /// starts from a version that has it; the watcher, who comes later, has nothing to add then.
    pub(super) async fn on_changed_by_hand(&mut self, by_hand: ByHand) -> Result<(), RecordError> {
        let ByHand { place, change, stat } = by_hand;
        // What was removed or moved may be such a directory itself.
        let is_file = stat.is_some_and(|stat| stat.kind != FileKind::Directory);
        let led = if is_file { place.path.clone() } else { format!("{}/", place.path) };
        let is_watched = place.volume == Volume::Workspace && !is_within(&led, DEFAULT_EXCLUDES);
        if is_watched {
            let seen = match stat {
                None => self.files.gone(&place.path),
                Some(stat) if stat.kind == FileKind::Directory => self.brought(&place.path).await,
                Some(stat) => vec![Seen::new(place.path.clone(), stat)],
            };
            let seen = match self.sandbox.ready() {
                Some(ready) => read(&ready.sandbox.guest, seen).await,
                None => seen,
            };
            self.on_given(seen).await?;
        }
        let state = &self.recorder.state;
        let is_told = is_watched && (state.head != Head::Clean || state.running().is_some());
        // What nobody watches, such as uploads, and directories without a file.
        if !is_told && !is_within(&led, &self.shared.options.excludes) {
            let body = EventBody::FileChanged {
                path: place.shown(),
                change,
                size_bytes: stat.map(|stat| stat.size),
                hash: None,
            };
            self.recorder.record(vec![Draft::of_session(body)], |_| Vec::new()).await?;
        }
        self.show_status();
        Ok(())
    }

    /// What came with a directory. What cannot be told now, the watcher tells later.
    async fn brought(&self, directory: &str) -> Vec<Seen> {
        let Some(ready) = self.sandbox.ready() else { return Vec::new() };
        let listed = list(&ready.sandbox.guest, directory).await.unwrap_or_default();
        listed.into_iter().map(|(path, stat)| Seen::new(format!("{directory}/{path}"), stat)).collect()
    }

    async fn tell_files(&mut self, seen: Vec<Seen>, run: Option<RunId>) -> Result<(), RecordError> {
        let (drafts, changes) = self.files.news(seen, run);
        if drafts.is_empty() {
            return Ok(());
        }
        let in_outputs = |draft: &Draft| matches!(&draft.body, EventBody::FileChanged { path, .. } if path.starts_with("outputs/"));
        let is_shown = drafts.iter().any(in_outputs);
        self.recorder.record(drafts, |_| changes).await?;
        if is_shown {
            self.outputs_changed();
        }
        Ok(())
    }

    /// What others did in the same workspace while this session slept is in no version of its yet.
    pub(super) async fn look_at_others_work(&mut self) -> Result<(), RecordError> {
        if self.is_shared().await.map_err(RecordError::Read)? { self.rescan().await } else { Ok(()) }
    }

    /// Looks at the whole workspace, so that nothing the watcher missed stays unsaid.
    pub(super) async fn rescan(&mut self) -> Result<(), RecordError> {
        let seen = self.look_around().await;
        self.on_files(seen).await
    }

    /// What is not as it was in the whole workspace, as far as that can be told.
    async fn look_around(&self) -> Vec<Seen> {
        let Some(ready) = self.sandbox.ready() else { return Vec::new() };
        let guest = &ready.sandbox.guest;
        match list(guest, "").await {
            Some(listed) => read(guest, self.files.news_of(&listed)).await,
            None => Vec::new(),
        }
    }

    /// Where files are in the sandbox alone, those that were in no version went with the one before: says so.
    pub(super) async fn look_at_what_was_brought(&mut self) -> Result<(), RecordError> {
        let is_shared = self.is_shared().await.map_err(RecordError::Read)?;
        if self.files_at() == FilesAt::Host || is_shared {
            return Ok(());
        }
        let seen = self.look_around().await;
        let Some(id) = self.sandbox.ready().map(|ready| ready.sandbox.id.clone()) else { return Ok(()) };
        if seen.is_empty() {
            return Ok(());
        }
        self.on_given(seen).await?;
        let version = self.recorder.state.version;
        let message = format!(
            "Uncommitted changes were lost with the sandbox; the session continues from version {version}."
        );
        let said = self.said(format!("lost-{id}"), message);
        self.recorder.record(vec![said], |_| Vec::new()).await?;
        Ok(())
    }
}

/// Adds what is in them, as far as that is quickly read.
async fn read(guest: &Guest, mut seen: Vec<Seen>) -> Vec<Seen> {
    let mut left = MAX_HASHED_AT_A_TIME;
    for file in &mut seen {
        let is_read = |stat: &FileStat| stat.kind == FileKind::File && stat.size <= left.min(MAX_HASHED);
        if let Some(stat) = file.stat.filter(is_read) {
            file.hash = hash(guest, &file.path, stat.size).await;
            left -= stat.size;
        }
    }
    seen
}

/// Everything in a directory of the workspace, or `None` if it cannot be told whole.
async fn list(guest: &Guest, directory: &str) -> Option<BTreeMap<String, FileStat>> {
    let request = ListRequest {
        path: FilePath::new(Root::Workspace, directory),
        depth: DEPTH,
        excludes: DEFAULT_EXCLUDES.iter().map(|name| (*name).to_owned()).collect(),
        limit: MAX_LIST,
    };
    let listing = tokio::time::timeout(SCAN, guest.list(request)).await.ok()?.ok()?;
    if listing.end.truncated {
        return None;
    }
    let files = listing.entries.into_iter().filter(|entry| entry.stat.kind != FileKind::Directory);
    Some(files.map(|entry| (entry.path, entry.stat)).collect())
}

/// Whether a path contains a directory with one of these names.
pub(super) fn is_within(path: &str, names: &[impl AsRef<str>]) -> bool {
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    directory.split('/').any(|part| names.iter().any(|name| name.as_ref() == part))
}

fn changed(run: Option<RunId>, change: FileChange, file: Option<&WorkspaceFile>, path: String) -> Draft {
    let (size_bytes, hash) = (file.map(|file| file.size_bytes), file.and_then(|file| file.hash.clone()));
    let body = EventBody::FileChanged { path, change, size_bytes, hash };
    Draft { run_id: run, ..Draft::of_session(body) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use warren_domain::{BlobHash, FileChange};
    use warren_guest_api::{FileKind, FileStat};

    use super::{KnownFiles, Seen};

    fn stat(size: u64) -> FileStat {
        FileStat { kind: FileKind::File, size, mode: 0o644, mtime_ns: 1_000_000 }
    }

    #[test]
    fn a_file_that_was_read_later_is_no_news_and_another_content_is() {
        let mut known = KnownFiles::default();
        let mut see = |hash: Option<&str>| {
            let seen = Seen { hash: hash.map(BlobHash::from), ..Seen::new("a".to_owned(), stat(1)) };
            known.update(seen).map(|(change, file, _)| (change, file.and_then(|file| file.hash)))
        };
        assert_eq!(see(None), Some((FileChange::Created, None)));
        assert_eq!(see(Some("x")), None);
        assert_eq!(see(None), None, "it looks the same");
        assert_eq!(see(Some("y")), Some((FileChange::Modified, Some("y".into()))));
        let listed = BTreeMap::from([("a".to_owned(), stat(1)), ("b".to_owned(), stat(1))]);
        let news: Vec<String> = known.news_of(&listed).into_iter().map(|seen| seen.path).collect();
        assert_eq!(news, ["b"]);
    }

    #[test]
    fn a_scan_says_only_what_is_different_from_what_is_known() {
        let mut known = KnownFiles::default();
        let mut scan = |files: &[(&str, u64)]| {
            let listed: BTreeMap<_, _> =
                files.iter().map(|(path, size)| ((*path).to_owned(), stat(*size))).collect();
            let seen = known.against(&listed);
            seen.into_iter()
                .filter_map(|seen| known.update(seen))
                .map(|(change, _, path)| (path, change))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            scan(&[("a", 1), ("b", 1)]),
            [("a".to_owned(), FileChange::Created), ("b".to_owned(), FileChange::Created)]
        );
        assert_eq!(scan(&[("a", 1), ("b", 1)]), []);
        assert_eq!(
            scan(&[("a", 2)]),
            [("a".to_owned(), FileChange::Modified), ("b".to_owned(), FileChange::Deleted)]
        );
    }
}
