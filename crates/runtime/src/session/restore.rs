//! Going back: an older version becomes the latest once more, or what is in no version is given up.

use std::collections::BTreeMap;

use warren_domain::{Command, Draft, ErrorCode, Rejection, Version, VersionCause};
use warren_guest_api::{DEFAULT_EXCLUDES, FileKind, FileStat};
use warren_sandbox::FilesAt;
use warren_snapshots::{ItemKind, TreeId};
use warren_store::{Change, VersionRecord};

use super::{
    SessionTask,
    files::is_within,
    memory::{self, Memory},
    requests::Failure,
    tree::{counts, in_workspace, length, tree_id},
    versions::Prepared,
};
use crate::{
    api::{SessionError, not_read},
    places::Part,
    recorder::RecordError,
    workspaces::Closed,
};

/// How restored files are recorded in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// By an entry for each that is other than before.
    OneByOne,
    /// By the version that has them.
    ByVersion,
}

/// File events for the log, and their records.
pub(super) type FileNews = (Vec<Draft>, Vec<Change>);

impl SessionTask {
    /// Makes an older version the latest once more.
    pub(super) async fn restore(&mut self, version: Version) -> Result<Version, Failure> {
        let refused = |error| Failure::Refused(error);
        // Both before it is looked at: what is kept then is not collected before it is the latest.
        let hold = self.shared.parts.snapshots.hold(&self.identity.partition);
        let gate = self.shared.gate.clone().read_owned().await;
        let target = self.target(version).await?;
        let prepared = self.again(&target).await.map_err(refused)?.keeping(hold, gate);
        let files = prepared.files;
        // Closed until it is recorded: whoever enters then finds the restored files.
        let ((mut drafts, changes), _closed) = self
            .put_back_files(&target, &format!("restoring version {version}"), Told::OneByOne)
            .await?
            .map_err(refused)?;
        let next = self.recorder.state.version.next();
        let message = format!("Restored version {version}: its files and the agent's memory.");
        drafts.push(self.said(format!("restored-{next}"), message));
        let command = Command::Commit { cause: VersionCause::Restore, files, restored: Some(version) };
        Ok(self.record_put_back((drafts, changes), command, &prepared).await?)
    }

    /// Records files that were put back, and the version that has them.
    pub(super) async fn record_put_back(
        &mut self,
        (mut drafts, mut changes): FileNews,
        command: Command,
        prepared: &Prepared,
    ) -> Result<Version, RecordError> {
        let state = drafts
            .iter()
            .fold(self.recorder.state.clone(), |state, draft| state.apply(draft.run_id, &draft.body));
        drafts.extend(state.decide(command).map_err(RecordError::Rejected)?);
        self.recorder
            .record(drafts, |events| {
                changes.extend(prepared.change(events));
                changes
            })
            .await?;
        Ok(self.recorder.state.version)
    }

    /// The version that is to be the latest once more, if it can be.
    pub(super) async fn target(&self, version: Version) -> Result<VersionRecord, Failure> {
        let refused = |error| Err(Failure::Refused(error));
        if self.recorder.state.phase == warren_domain::Phase::Ended {
            return refused(Rejection::Ended.into());
        }
        let (workspace, session) = (self.identity.workspace, self.identity.session);
        let found = self.shared.parts.store.versions.version(session, version).await;
        match found.map_err(RecordError::Read)? {
            None => refused(SessionError::not_found("version", version)),
            Some(target) if !is_kept(&target) => refused(expired(version)),
            Some(_) if self.shared.workspaces.has_others(workspace, session) => refused(others_are_inside()),
            Some(target) => Ok(target),
        }
    }

    /// The record that makes `target` the latest once more.
    async fn again(&self, target: &VersionRecord) -> Result<Prepared, SessionError> {
        let store = &self.shared.parts.store;
        let latest = store.versions.version(self.identity.session, self.recorder.state.version).await;
        let latest = latest.map_err(|error| SessionError::internal("read the version", error))?;
        let not_a_tree = |error| SessionError::internal("read the version", error);
        let from = latest.as_ref().and_then(|version| version.tree.as_ref());
        let (from, to) =
            (tree_id(from).map_err(not_a_tree)?, tree_id(target.tree.as_ref()).map_err(not_a_tree)?);
        let diff = self.shared.parts.snapshots.diff(&self.identity.partition, from, to, usize::MAX).await;
        // The latest may be what is damaged, and be the reason to go back.
        let files = match diff {
            Ok(diff) => counts(&diff.differences),
            Err(_) => warren_domain::FileCounts::default(),
        };
        let record = VersionRecord {
            tree: target.tree.clone(),
            memory: target.memory.clone(),
            transcripts: target.transcripts.clone(),
            size_bytes: target.size_bytes,
            excluded: target.excluded.clone(),
            skipped: target.skipped.clone(),
            unstable: target.unstable.clone(),
            shared: self.works_with_others().await?,
            ..self.record_after(latest.as_ref())
        };
        Ok(Prepared::again(record, files))
    }

    /// Ends the sandbox and sees to it that the next one finds files and transcripts of `target`. Says what is then new, and
    /// keeps others out of the workspace meanwhile.
    pub(super) async fn put_back_files(
        &mut self,
        target: &VersionRecord,
        why: &str,
        told: Told,
    ) -> Result<Result<(FileNews, Closed), SessionError>, RecordError> {
        // All of it is looked at before anything is given up.
        let (listed, contents) = match self.of_version(target).await {
            Ok(found) => found,
            Err(error) => return Ok(Err(error)),
        };
        let outputs = match self.outputs_of(Some(target)).await {
            Ok(outputs) => outputs,
            Err(error) => return Ok(Err(error)),
        };
        let (workspace, session) = (self.identity.workspace, self.identity.session);
        if self.shared.workspaces.has_others(workspace, session) {
            return Ok(Err(others_are_inside()));
        }
        // First: a sandbox that starts goes through the same door.
        self.stop_sandbox(why).await?;
        let closed = self.shared.workspaces.close(workspace).await;
        if closed.has_others(session) {
            return Ok(Err(others_are_inside()));
        }
        if let Err(error) = self.give_up_files(target).await {
            return Ok(Err(error));
        }
        let transcripts = self.shared.parts.store.transcripts.as_ref();
        let put = memory::put(session, self.identity.fence, contents, transcripts).await;
        put.map_err(RecordError::Write)?;
        let (mut drafts, changes) = self.files.become_these(&listed);
        if told == Told::ByVersion {
            drafts.clear();
        }
        let next = self.recorder.state.version.next();
        drafts.extend(self.artifacts_become(outputs, drafts.len(), next));
        Ok(Ok(((drafts, changes), closed)))
    }

    /// From here on the directories are not believed: whatever happens, the next sandbox begins with the version.
    async fn give_up_files(&self, target: &VersionRecord) -> Result<(), SessionError> {
        if self.files_at() == FilesAt::Guest {
            // They went with their sandbox.
            return Ok(());
        }
        let places = self.places();
        let has_tree = target.tree.is_some();
        blocking(move || {
            // Whoever comes first writes what was committed last, and may be another session by then.
            places.give_up_workspace()?;
            places.forget_version()?;
            if has_tree { Ok(()) } else { places.discard(Part::All) }
        })
        .await
        .map_err(|error| SessionError::internal("give up the files", error))
    }

    async fn works_with_others(&self) -> Result<bool, SessionError> {
        self.is_shared().await.map_err(|error| SessionError::internal("list the sessions", error))
    }

    /// Files of the workspace, and transcripts.
    async fn of_version(
        &self,
        target: &VersionRecord,
    ) -> Result<(BTreeMap<String, FileStat>, Vec<(String, bytes::Bytes)>), SessionError> {
        if !is_kept(target) {
            return Err(expired(target.version));
        }
        let (partition, parts) = (&self.identity.partition, &self.shared.parts);
        let memory = Memory::open(partition, target.memory.as_ref(), parts.store.blobs.as_ref()).await;
        let memory = memory.map_err(not_read)?;
        let contents = memory.contents(partition, parts.store.blobs.as_ref()).await.map_err(not_read)?;
        let tree = tree_id(target.tree.as_ref())
            .map_err(|error| SessionError::internal("read the version", error))?;
        let listed = workspace_files(&parts.snapshots, partition, tree).await?;
        Ok((listed, contents))
    }

    /// Records what is new of files, and what goes with it.
    pub(super) async fn record_files(&mut self, news: FileNews, more: Vec<Draft>) -> Result<(), RecordError> {
        let (mut drafts, changes) = news;
        drafts.extend(more);
        self.recorder.record(drafts, |_| changes).await?;
        Ok(())
    }
}

/// Whether the files of a version are available.
fn is_kept(version: &VersionRecord) -> bool {
    let is_known = version.tree.is_some() || version.version == Version(0) || version.restored.is_some();
    is_known && !version.expired
}

/// Refusal: the restore would undo the work of other active sessions.
pub(super) fn others_are_inside() -> SessionError {
    SessionError::Invalid {
        code: ErrorCode::Conflict,
        message: "other sessions are active in the same workspace".to_owned(),
        hint: Some(
            "fork the version (a fork has its own workspace), or stop the other sandboxes first".to_owned(),
        ),
    }
}

/// A version whose files are not kept.
pub(crate) fn expired(version: Version) -> SessionError {
    SessionError::Invalid {
        code: ErrorCode::Conflict,
        message: format!("the files of version {version} have been deleted"),
        hint: Some(
            "labelled versions are kept forever; `retention` in `warren.toml` sets how long others are kept"
                .to_owned(),
        ),
    }
}

/// Files of a tree's workspace, as a listing would have them.
pub(crate) async fn workspace_files(
    snapshots: &warren_snapshots::Snapshots,
    partition: &warren_domain::Partition,
    tree: TreeId,
) -> Result<BTreeMap<String, FileStat>, SessionError> {
    let all = snapshots.diff(partition, TreeId::empty(), tree, usize::MAX).await.map_err(not_read)?;
    let files = all.differences.into_iter().filter_map(|difference| {
        let path = in_workspace(&difference.path).filter(|path| !is_within(path, DEFAULT_EXCLUDES))?;
        let item = difference.after?;
        let kind = match item.kind {
            ItemKind::File => FileKind::File,
            ItemKind::Symlink => FileKind::Symlink,
            ItemKind::Directory => return None,
        };
        let stat = FileStat { kind, size: length(&item), mode: item.mode, mtime_ns: item.mtime_ns };
        Some((path, stat))
    });
    Ok(files.collect())
}

async fn blocking(work: impl FnOnce() -> std::io::Result<()> + Send + 'static) -> Result<(), std::io::Error> {
    tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other)?
}
