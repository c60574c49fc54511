//! What is known of the workspace's files, and how the log learns of changes.

use std::{collections::BTreeMap, time::Duration};

use warren_domain::{Draft, EventBody, FileChange, RunId, SessionId, Timestamp};
use warren_guest_api::{
    Change as SeenChange, DEFAULT_EXCLUDES, FileKind, FilePath, FileStat, ListRequest, MAX_LIST, Root,
};
use warren_sandbox::Guest;
use warren_store::{Change, Store, WorkspaceFile};

use super::SessionTask;
use crate::recorder::RecordError;

/// How deep a scan looks.
const DEPTH: u32 = 64;

/// How long a scan may take. A guest that takes longer does not hold up the session.
const SCAN: Duration = Duration::from_secs(20);

/// A file as something saw it; `None` if it is gone.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    path: String,
    stat: Option<FileStat>,
}

impl Seen {
    /// A file of the workspace that is there.
    pub(super) fn new(path: String, stat: FileStat) -> Self {
        Self { path, stat: Some(stat) }
    }
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

    /// Compares what was seen with what is known, and remembers it. Says what changed.
    fn update(&mut self, seen: Seen) -> Option<(FileChange, Option<WorkspaceFile>, String)> {
        let Some(stat) = seen.stat.filter(|stat| stat.kind != FileKind::Directory) else {
            return self.0.remove(&seen.path).map(|_| (FileChange::Deleted, None, seen.path));
        };
        let file = WorkspaceFile {
            path: seen.path.clone(),
            kind: if stat.kind == FileKind::Symlink { "symlink" } else { "file" }.to_owned(),
            size_bytes: stat.size,
            mode: stat.mode,
            modified_at: Timestamp::from_millis(stat.mtime_ns / 1_000_000),
            hash: None,
        };
        match self.0.insert(seen.path.clone(), file.clone()) {
            None => Some((FileChange::Created, Some(file), seen.path)),
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

    /// What a whole listing means: everything in it, and everything that is missing from it.
    fn against(&self, listed: &BTreeMap<String, FileStat>) -> Vec<Seen> {
        let gone = self.0.keys().filter(|path| !listed.contains_key(*path));
        let gone = gone.map(|path| Seen { path: path.clone(), stat: None });
        let there = listed.iter().map(|(path, stat)| Seen { path: path.clone(), stat: Some(*stat) });
        there.chain(gone).collect()
    }
}

/// The records of a session that knows these files, and has nothing to tell of them.
pub(crate) fn known_files(listed: &BTreeMap<String, FileStat>) -> Vec<Change> {
    KnownFiles::default().become_these(listed).1
}

/// What the watcher says, as far as it is about the workspace.
pub(super) fn seen(changes: Vec<SeenChange>) -> Vec<Seen> {
    let of_workspace = changes.into_iter().filter(|change| change.path.root == Root::Workspace);
    of_workspace.map(|change| Seen { path: change.path.path, stat: change.stat }).collect()
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

    /// Looks at the whole workspace, so that nothing the watcher missed stays unsaid.
    pub(super) async fn rescan(&mut self) -> Result<(), RecordError> {
        let Some(guest) = self.sandbox.ready().map(|ready| ready.sandbox.guest.clone()) else {
            return Ok(());
        };
        match list(&guest).await {
            Some(listed) => {
                let seen = self.files.against(&listed);
                self.on_files(seen).await
            }
            None => Ok(()),
        }
    }
}

/// Everything in the workspace, or `None` if it cannot be told whole.
async fn list(guest: &Guest) -> Option<BTreeMap<String, FileStat>> {
    let request = ListRequest {
        path: FilePath::new(Root::Workspace, ""),
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

fn changed(run: Option<RunId>, change: FileChange, file: Option<&WorkspaceFile>, path: String) -> Draft {
    let body =
        EventBody::FileChanged { path, change, size_bytes: file.map(|file| file.size_bytes), hash: None };
    Draft { run_id: run, ..Draft::of_session(body) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use warren_domain::FileChange;
    use warren_guest_api::{FileKind, FileStat};

    use super::KnownFiles;

    fn stat(size: u64) -> FileStat {
        FileStat { kind: FileKind::File, size, mode: 0o644, mtime_ns: 1_000_000 }
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
