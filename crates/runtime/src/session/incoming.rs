//! Files of an archive, put into the workspace as a version of their own.
//!
//! Nothing is written into a directory that programs use: the files are a tree already, which is put over the latest
//! version's. The result is committed, and the next sandbox begins with it. So an import is done whole or not at all.

use warren_domain::{BlobHash, Command, ErrorCode, Phase, Rejection, Version, VersionCause};
use warren_snapshots::{Hold, Overlaid, OverlayError, TreeId};
use warren_store::VersionRecord;

use super::{
    SessionTask,
    requests::Failure,
    restore::{Told, others_are_inside},
    tree::{counts, outward, tree_id},
    versions::Prepared,
};
use crate::{
    api::{SessionError, not_read},
    recorder::RecordError,
};

/// A tree of files that is to be put into the workspace.
pub(crate) struct Incoming {
    pub(crate) tree: TreeId,
    /// Directories that were left out, because no version has them.
    pub(crate) excluded: Vec<String>,
    /// Other skipped files, and why.
    pub(crate) skipped: Vec<(String, String)>,
    /// Keeps the tree until the version is committed.
    pub(crate) _hold: Hold,
}

impl SessionTask {
    /// Whether files can be imported now, as far as that is known before anything is begun for it.
    pub(super) fn can_import(&self) -> Result<(), Failure> {
        let refused = |error| Err(Failure::Refused(error));
        let (workspace, session) = (self.identity.workspace, self.identity.session);
        if self.recorder.state.phase == Phase::Ended {
            return refused(Rejection::Ended.into());
        }
        if self.shared.workspaces.has_others(workspace, session) {
            return refused(others_are_inside());
        }
        Ok(())
    }

    /// Puts files over those of the latest version. The same import again is the same version.
    pub(super) async fn import_files(&mut self, incoming: Incoming) -> Result<Version, Failure> {
        let refused = |error| Failure::Refused(error);
        let gate = self.shared.gate.clone().read_owned().await;
        let (session, version) = (self.identity.session, self.recorder.state.version);
        let latest = self.shared.parts.store.versions.version(session, version).await;
        let latest = latest.map_err(RecordError::Read)?;
        let from = tree_id(latest.as_ref().and_then(|latest| latest.tree.as_ref()));
        let from = from.map_err(|error| refused(SessionError::internal("read the version", error)))?;
        let overlaid = self.overlay(from, incoming.tree).await.map_err(refused)?;
        let snapshots = &self.shared.parts.snapshots;
        let changes = snapshots.changes(&self.identity.partition, from, overlaid.tree).await;
        let changes = changes.map_err(|error| refused(not_read(error)))?;
        let is_known = latest.as_ref().is_some_and(|latest| latest.cause == VersionCause::Import);
        if changes.is_empty() && is_known {
            return Ok(version);
        }
        let diff = snapshots.diff(&self.identity.partition, from, overlaid.tree, usize::MAX).await;
        let files = counts(&diff.map_err(|error| refused(not_read(error)))?.differences);
        let record = VersionRecord {
            tree: Some(BlobHash(overlaid.tree.to_string())),
            size_bytes: overlaid.size_bytes,
            excluded: incoming.excluded.clone(),
            skipped: incoming.skipped.clone(),
            unstable: Vec::new(),
            shared: self.is_shared().await.map_err(RecordError::Read)?,
            ..self.record_after(latest.as_ref())
        };
        let prepared = Prepared::again(record.clone(), files).keeping(overlaid.hold, gate);
        self.commit_import(&record, &prepared).await
    }

    async fn commit_import(
        &mut self,
        record: &VersionRecord,
        prepared: &Prepared,
    ) -> Result<Version, Failure> {
        let next = record.version;
        // Closed until it is recorded: whoever enters then finds the imported files.
        let ((mut drafts, changes), _closed) =
            // A repository has more files than a log wants entries.
            self.put_back_files(record, "importing files", Told::ByVersion).await?.map_err(Failure::Refused)?;
        let files = prepared.files;
        drafts.push(self.said(format!("imported-{next}"), said(files.added, files.changed)));
        let command = Command::Commit { cause: VersionCause::Import, files, restored: None };
        let made = self.record_put_back((drafts, changes), command, prepared).await?;
        self.show_status();
        Ok(made)
    }

    async fn overlay(&self, base: TreeId, over: TreeId) -> Result<Overlaid, SessionError> {
        let overlaid = self.shared.parts.snapshots.overlay(&self.identity.partition, base, over).await;
        overlaid.map_err(|error| match error {
            OverlayError::Conflict { path } => SessionError::Invalid {
                code: ErrorCode::Conflict,
                message: format!(
                    "`{}` is a directory in the workspace and not in the archive, or the other way round",
                    outward(&path)
                ),
                hint: Some("remove or rename it in the session first".to_owned()),
            },
            OverlayError::Read(error) => not_read(error),
            OverlayError::Keep(error) => SessionError::internal("keep the files", error),
        })
    }
}

fn said(added: u64, changed: u64) -> String {
    let files = |n: u64| if n == 1 { "1 file".to_owned() } else { format!("{n} files") };
    match changed {
        0 => format!("Imported {}.", files(added)),
        _ => format!("Imported {}, {changed} of them replaced existing files.", files(added + changed)),
    }
}
