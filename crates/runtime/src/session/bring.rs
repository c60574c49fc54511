//! Files that are in a sandbox alone: its guest is given those of the latest version before anything else uses them.
//!
//! Such a sandbox begins empty and takes its files with it. So nothing is noted beside directories here, and nothing of what
//! an earlier sandbox held is to be had but what is in a version.

use std::sync::Arc;

use warren_domain::{ErrorCode, Head};
use warren_sandbox::Guest;
use warren_snapshots::{RestoreError, Target};
use warren_store::{ReadError, VersionRecord};

use super::{
    Identity, is_shared, latest_of_workspace,
    rebuild::{Workspace, failed, latest, put_memory},
    start::{StartFailure, chain},
    tree::{HOME_ROOT, USER_INPUT_ROOT, WORKSPACE_ROOT, tree_id},
};
use crate::{options::Shared, workspaces::Closed};

/// Some of the roots that belong to a version.
const SHARED: [&str; 1] = [WORKSPACE_ROOT];
const OWN: [&str; 2] = [USER_INPUT_ROOT, HOME_ROOT];

/// Refuses to start a sandbox beside another one: neither would see what the other does.
pub(super) fn alone(closed: &Closed, identity: &Identity) -> Result<(), StartFailure> {
    if !closed.has_others(identity.session) {
        return Ok(());
    }
    Err(StartFailure {
        code: ErrorCode::Conflict,
        message: "another session is active in the same workspace, and the files are local to its sandbox"
            .to_owned(),
        hint: Some("send the message again when its sandbox has stopped, or stop it first".to_owned()),
    })
}

/// Gives a new sandbox the files of the latest version.
pub(super) async fn bring(
    identity: &Identity,
    shared: &Arc<Shared>,
    guest: &Guest,
    head: Head,
) -> Result<Workspace, StartFailure> {
    let latest = latest(identity, shared).await.map_err(|error| failed(&error))?;
    let Some(latest) = latest else { return Ok(Workspace::New) };
    if !remembers(identity, shared, &latest, head).await.map_err(|error| failed(&error))? {
        put_memory(identity, shared, &latest).await?;
    }
    if !is_shared(&shared.parts.store, identity.workspace).await.map_err(|error| failed(&error))? {
        write(identity, shared, guest, &latest, &[SHARED.as_slice(), &OWN].concat()).await?;
        return Ok(known(&latest));
    }
    let of_all = latest_of_workspace(&shared.parts.store, identity.workspace).await;
    let of_all = of_all.map_err(|error| failed(&error))?;
    if let Some(of_all) = &of_all {
        write(identity, shared, guest, of_all, &SHARED).await?;
    }
    write(identity, shared, guest, &latest, &OWN).await?;
    Ok(of_all.as_ref().map_or(Workspace::New, known))
}

fn known(version: &VersionRecord) -> Workspace {
    if version.tree.is_some() { Workspace::Known } else { Workspace::New }
}

/// Whether the transcripts are those of the latest version. After a run that was cut they are not, whatever their lengths.
async fn remembers(
    identity: &Identity,
    shared: &Shared,
    latest: &VersionRecord,
    head: Head,
) -> Result<bool, ReadError> {
    let mut saved = shared.parts.store.transcripts.transcripts(identity.session).await?;
    let mut wanted = latest.transcripts.clone();
    for all in [&mut saved, &mut wanted] {
        all.retain(|(_, len)| *len > 0);
        all.sort();
    }
    Ok(head != Head::Cut && saved == wanted)
}

/// Has the guest write what a version has in these roots.
async fn write(
    identity: &Identity,
    shared: &Shared,
    guest: &Guest,
    version: &VersionRecord,
    roots: &[&str],
) -> Result<(), StartFailure> {
    let Some(tree) = &version.tree else { return Ok(()) };
    let tree = tree_id(Some(tree)).map_err(|error| failed(&error))?;
    let stream = guest.write_tree().await.map_err(|error| failed(&error))?;
    let target = Target::guest(stream).only(roots.iter().map(|root| (*root).to_owned()).collect());
    let place = shared.place(identity.session);
    let restored = shared.parts.snapshots.restore(&identity.partition, tree, target, place.as_deref());
    restored.await.map(drop).map_err(|error| {
        let message = format!("version {} could not be restored: {}", version.version, chain(&error));
        match error {
            RestoreError::Read { .. } => StartFailure {
                code: ErrorCode::DataDamaged,
                message,
                hint: Some("restore another version of the session, or fork one".to_owned()),
            },
            _ => StartFailure { code: ErrorCode::SandboxError, message, hint: None },
        }
    })
}
