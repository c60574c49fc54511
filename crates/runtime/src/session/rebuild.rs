//! Directories that are not what the latest version says are written anew before a sandbox is used.
//!
//! A small file beside them says which version they hold. It is written after a commit and taken away before anything that
//! replaces them, so that whatever is cut half-way is not believed.

use std::sync::Arc;

use warren_domain::{ErrorCode, Head, Version};
use warren_snapshots::{Target, TreeId};
use warren_store::{ReadError, SessionQuery, VersionRecord};

use super::{
    Identity,
    memory::{self, Memory},
    start::{StartFailure, chain},
    tree::tree_id,
};
use crate::{options::Shared, places::Places};

/// Whether files come from a version, or are those that new sessions are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilesFrom {
    Version,
    Nothing,
}

/// Sees to it that the directories are what the latest version says. Nothing may use them yet.
pub(super) async fn rebuild(
    identity: &Identity,
    shared: &Arc<Shared>,
    places: &Places,
    head: Head,
    uid: u32,
) -> Result<FilesFrom, StartFailure> {
    let latest = latest(identity, shared).await.map_err(|error| failed(&error))?;
    let Some(latest) = latest else { return Ok(FilesFrom::Nothing) };
    let from = if latest.tree.is_some() { FilesFrom::Version } else { FilesFrom::Nothing };
    // What a session starts with; it is cleared only where somebody went back to it.
    let is_known = latest.tree.is_some() || latest.restored.is_some();
    let is_stale = places.version() != Some(latest.version);
    // What an earlier run left is all there is of it.
    let keeps_what_is_there = !is_known || (!is_stale && (places.are_there() || head != Head::Clean));
    if keeps_what_is_there {
        return note(places, latest.version).await.map(|()| from);
    }
    if places.workspace.exists() && is_shared(identity, shared).await.map_err(|error| failed(&error))? {
        // Others work in it; what the agent remembers is put back all the same.
        return note(places, latest.version).await.map(|()| from);
    }
    let forget = places.clone();
    blocking(move || forget.forget_version()).await?;
    put_memory(identity, shared, &latest).await?;
    match &latest.tree {
        Some(tree) => {
            let tree = tree_id(Some(tree)).map_err(|error| failed(&error))?;
            write(identity, shared, places, (latest.version, tree), uid).await?;
        }
        None => {
            let discard = places.clone();
            blocking(move || discard.discard()).await?;
        }
    }
    note(places, latest.version).await.map(|()| from)
}

/// Writes a tree into new directories, which then take the place of the old ones. What is in those already is moved, and
/// not written again: nobody believes them from here on, whatever happens.
async fn write(
    identity: &Identity,
    shared: &Shared,
    places: &Places,
    (version, tree): (Version, TreeId),
    uid: u32,
) -> Result<(), StartFailure> {
    let make = places.clone();
    let new = tokio::task::spawn_blocking(move || make.make_new()).await;
    let new = new.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
    let target = Target::directories(new).in_place_of(places.roots()).owned_by(uid);
    let place = shared.place(identity.session);
    let restored = shared.parts.snapshots.restore(&identity.partition, tree, target, place.as_deref());
    restored.await.map_err(|error| StartFailure {
        code: ErrorCode::DataDamaged,
        message: format!("version {version} could not be put back: {}", chain(&error)),
        hint: Some("restore another version of the session, or fork one".to_owned()),
    })?;
    let take = places.clone();
    blocking(move || take.take_new(uid)).await
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
async fn put_memory(
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

async fn latest(identity: &Identity, shared: &Shared) -> Result<Option<VersionRecord>, ReadError> {
    let store = &shared.parts.store;
    match store.sessions.session(identity.session).await? {
        Some(record) => store.versions.version(identity.session, record.version).await,
        None => Ok(None),
    }
}

async fn is_shared(identity: &Identity, shared: &Shared) -> Result<bool, ReadError> {
    let query = SessionQuery { workspace: Some(identity.workspace), limit: 2, ..SessionQuery::default() };
    Ok(shared.parts.store.sessions.sessions(&query).await?.items.len() > 1)
}

fn failed(error: &(dyn std::error::Error + 'static)) -> StartFailure {
    StartFailure::new(ErrorCode::SandboxError, error)
}
