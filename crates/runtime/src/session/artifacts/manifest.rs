//! Keeps the list of artifacts in `outputs/manifest.json` current, for as long as it is nobody else's.

use std::io::Cursor;

use warren_domain::{Artifact, MANIFEST_PATH, is_generated_manifest, manifest_of};
use warren_guest_api::{FilePath, Root, WriteHow, WriteRequest};
use warren_sandbox::{CallError, Guest};
use warren_store::WorkspaceFile;

use super::{LOOK, MAX_TEXT, SessionTask};
use crate::{recorder::RecordError, session::files::Seen};

impl SessionTask {
    /// Writes what a run made into the manifest, at the end of the run: it belongs to what the run leaves. A session without
    /// a manifest gets none, and one that an agent or a person wrote stays as it is.
    pub(in crate::session) async fn keep_manifest(&mut self) -> Result<(), RecordError> {
        let Some(guest) = self.sandbox.ready().map(|ready| ready.sandbox.guest.clone()) else {
            return Ok(());
        };
        let is_manifest = |file: &WorkspaceFile| file.path == MANIFEST_PATH && file.kind == "file";
        if !self.files.beneath(MANIFEST_PATH).any(is_manifest) {
            return Ok(());
        }
        let artifacts: Vec<_> = self.recorder.state.artifacts.values().cloned().collect();
        let seen = match tokio::time::timeout(LOOK, write(&guest, &artifacts)).await {
            Ok(Ok(seen)) => seen,
            // The log has what there is; the next run tries again.
            Ok(Err(error)) => {
                tracing::debug!(error = &error as &dyn std::error::Error, "the manifest was not written");
                None
            }
            Err(_) => None,
        };
        match seen {
            Some(seen) => self.on_files(vec![seen]).await,
            None => Ok(()),
        }
    }
}

/// Writes the manifest, if it is the server's and has another list. Nothing that is written meanwhile is lost.
async fn write(guest: &Guest, artifacts: &[Artifact]) -> Result<Option<Seen>, CallError> {
    let path = FilePath::new(Root::Workspace, MANIFEST_PATH);
    let before = guest.stat(path.clone()).await?;
    let text = guest.read_all(path.clone(), MAX_TEXT).await?;
    if !is_generated_manifest(&text) {
        return Ok(None);
    }
    let Some(text) = manifest_of(artifacts.iter(), &text) else { return Ok(None) };
    let request = WriteRequest { path, how: WriteHow::ReplaceIf(before.look()), mode: None };
    let stat = guest.write(request, Cursor::new(&text)).await?;
    Ok(Some(Seen::new(MANIFEST_PATH.to_owned(), stat)))
}
