//! Directories of this machine that are not what the latest version says are written anew before a sandbox is used.
//!
//! A small file beside them says which version they hold. It is written after a commit and taken away before anything that
//! replaces them, so that whatever is cut half-way is not believed.

use std::sync::Arc;

use warren_domain::{ErrorCode, Head, Version};
use warren_snapshots::{Target, TreeId};
use warren_store::{ReadError, VersionRecord};

use super::{
    Identity, is_shared, latest_of_workspace,
    memory::{self, Memory},
    start::{StartFailure, chain},
    tree::tree_id,
};
use crate::{
    options::Shared,
    places::{Part, Places},
};

/// Whether a workspace has files of its own, or is to be given those of new ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Workspace {
    New,
    Known,
}

/// Sees to it that the directories are what the latest version says. Nothing may use them yet.
pub(super) async fn rebuild(
    identity: &Identity,
    shared: &Arc<Shared>,
    places: &Places,
    head: Head,
    uid: u32,
) -> Result<Workspace, StartFailure> {
    let there = || if places.workspace.exists() { Workspace::Known } else { Workspace::New };
    let latest = latest(identity, shared).await.map_err(|error| failed(&error))?;
    let Some(latest) = latest else { return Ok(there()) };
    if is_shared(&shared.parts.store, identity.workspace).await.map_err(|error| failed(&error))? {
        rebuild_workspace(identity, shared, places, uid).await?;
        rebuild_part(identity, shared, places, (&latest, Part::Own), head, uid).await?;
        return Ok(there());
    }
    rebuild_part(identity, shared, places, (&latest, Part::All), head, uid).await?;
    Ok(if latest.tree.is_some() { Workspace::Known } else { there() })
}

/// A workspace that others work in too stays as it is. One that is gone is what was committed last, whoever did that.
async fn rebuild_workspace(
    identity: &Identity,
    shared: &Shared,
    places: &Places,
    uid: u32,
) -> Result<(), StartFailure> {
    if places.are_there(Part::Workspace) {
        return Ok(());
    }
    let latest = latest_of_workspace(&shared.parts.store, identity.workspace).await;
    let Some(latest) = latest.map_err(|error| failed(&error))?.filter(|latest| latest.tree.is_some()) else {
        return Ok(());
    };
    let tree = tree_id(latest.tree.as_ref()).map_err(|error| failed(&error))?;
    write(identity, shared, places, (latest.version, tree), (Part::Workspace, uid)).await
}

/// Sees to it that these directories are what a version says.
async fn rebuild_part(
    identity: &Identity,
    shared: &Shared,
    places: &Places,
    (latest, part): (&VersionRecord, Part),
    head: Head,
    uid: u32,
) -> Result<(), StartFailure> {
    // What a session starts with; it is cleared only where somebody went back to it.
    let is_known = latest.tree.is_some() || latest.restored.is_some();
    let is_stale = places.version() != Some(latest.version);
    // What an earlier run left is all there is of it.
    let keeps_what_is_there = !is_known || (!is_stale && (places.are_there(part) || head != Head::Clean));
    if keeps_what_is_there {
        return note(places, latest.version).await;
    }
    let forget = places.clone();
    blocking(move || forget.forget_version()).await?;
    put_memory(identity, shared, latest).await?;
    match &latest.tree {
        Some(tree) => {
            let tree = tree_id(Some(tree)).map_err(|error| failed(&error))?;
            write(identity, shared, places, (latest.version, tree), (part, uid)).await?;
        }
        None => {
            let discard = places.clone();
            blocking(move || discard.discard(part)).await?;
        }
    }
    note(places, latest.version).await
}

/// Writes these directories of a tree anew, which then take the place of the old ones. What is in those already is
/// moved, and not written again: nobody believes them from here on, whatever happens.
async fn write(
    identity: &Identity,
    shared: &Shared,
    places: &Places,
    (version, tree): (Version, TreeId),
    (part, uid): (Part, u32),
) -> Result<(), StartFailure> {
    let make = places.clone();
    let new = tokio::task::spawn_blocking(move || make.make_new(part)).await;
    let new = new.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
    let target = Target::directories(new).in_place_of(places.roots(part)).owned_by(uid);
    let place = shared.place(identity.session);
    let restored = shared.parts.snapshots.restore(&identity.partition, tree, target, place.as_deref());
    restored.await.map_err(|error| StartFailure {
        code: ErrorCode::DataDamaged,
        message: format!("version {version} could not be put back: {}", chain(&error)),
        hint: Some("restore another version of the session, or fork one".to_owned()),
    })?;
    let take = places.clone();
    blocking(move || take.take_new(part, uid)).await
}

async fn note(places: &Places, version: Version) -> Result<(), StartFailure> {
    if places.version() == Some(version) {
        return Ok(());
    }
    let places = places.clone();
    blocking(move || places.note_version(version)).await
}

async fn blocking(work: impl FnOnce() -> std::io::Result<()> + Send + 'static) -> Result<(), StartFailure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| failed(&error))?.map_err(|error| failed(&error))
}

/// Only where the directories are replaced: else what is in the store may be newer than the version.
pub(super) async fn put_memory(
    identity: &Identity,
    shared: &Shared,
    latest: &VersionRecord,
) -> Result<(), StartFailure> {
    let store = &shared.parts.store;
    let putting = async {
        let memory = Memory::open(&identity.partition, latest.memory.as_ref(), store.blobs.as_ref()).await?;
        let contents = memory.contents(&identity.partition, store.blobs.as_ref()).await?;
        memory::put(identity.session, contents, store.transcripts.as_ref()).await
    };
    putting.await.map_err(|error| failed(&error))
}

pub(super) async fn latest(identity: &Identity, shared: &Shared) -> Result<Option<VersionRecord>, ReadError> {
    let store = &shared.parts.store;
    match store.sessions.session(identity.session).await? {
        Some(record) => store.versions.version(identity.session, record.version).await,
        None => Ok(None),
    }
}

pub(super) fn failed(error: &(dyn std::error::Error + 'static)) -> StartFailure {
    StartFailure::new(ErrorCode::SandboxError, error)
}
