//! Directories of this machine that are not what the latest version says are written anew before a sandbox is used.
//!
//! A small file beside them says which version they hold. It is written after a commit and taken away before anything that
//! replaces them, so that whatever is cut half-way is not believed. Nothing is synced for it: until the sandbox has ended and
//! its files are on the disk, it is believed only as long as the machine runs.

use std::sync::Arc;

use warren_domain::{ErrorCode, Head, Version};
use warren_snapshots::{Target, TreeId};
use warren_store::{ReadError, VersionRecord, WriteError};

use super::{
    Identity, is_shared, latest_of_workspace,
    memory::{self, Memory},
    start::{StartFailure, chain},
    tree::tree_id,
};
use crate::{
    options::Shared,
    places::{Belief, Part, Places},
};

/// Whether a workspace already has files, or gets those of a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Workspace {
    New,
    Known,
}

/// The directories that are rebuilt, and for whom.
pub(super) struct Rebuild<'a> {
    pub(super) identity: &'a Identity,
    pub(super) shared: &'a Shared,
    pub(super) places: &'a Places,
    pub(super) head: Head,
    pub(super) uid: u32,
}

impl Rebuild<'_> {
    /// Sees to it that the directories are what the latest version says. Nothing may use them yet.
    pub(super) async fn run(&self) -> Result<Workspace, StartFailure> {
        let rebuilt = self.bring_up_to_date().await?;
        let believe = self.places.clone();
        blocking(move || believe.believe_workspace()).await?;
        Ok(rebuilt)
    }

    async fn bring_up_to_date(&self) -> Result<Workspace, StartFailure> {
        let Rebuild { identity, shared, places, .. } = self;
        let there = || if places.has_workspace() { Workspace::Known } else { Workspace::New };
        let latest = latest(identity, shared).await.map_err(|error| failed(&error))?;
        let Some(latest) = latest else { return Ok(there()) };
        if is_shared(&shared.parts.store, identity.workspace).await.map_err(|error| failed(&error))? {
            self.workspace().await?;
            self.part(&latest, Part::Own).await?;
            return Ok(there());
        }
        self.part(&latest, Part::All).await?;
        Ok(if latest.tree.is_some() { Workspace::Known } else { there() })
    }

    /// A workspace that others work in too stays as it is. One that is gone, or was given up, is what was committed last,
    /// whoever did that.
    async fn workspace(&self) -> Result<(), StartFailure> {
        if self.places.are_there(Part::Workspace) {
            return Ok(());
        }
        let latest = latest_of_workspace(&self.shared.parts.store, self.identity.workspace).await;
        let latest = latest.map_err(|error| failed(&error))?;
        let Some(latest) = latest.filter(|latest| latest.tree.is_some()) else { return Ok(()) };
        let tree = tree_id(latest.tree.as_ref()).map_err(|error| failed(&error))?;
        self.write((latest.version, tree), Part::Workspace, Belief::Certain).await
    }

    /// Sees to it that these directories are what a version says.
    async fn part(&self, latest: &VersionRecord, part: Part) -> Result<(), StartFailure> {
        let places = self.places;
        // What a session starts with; it is cleared only where somebody went back to it.
        let is_known = latest.tree.is_some() || latest.restored.is_some();
        let held = places.held();
        let is_stale = held.map(|held| held.version) != Some(latest.version);
        let belief = held.map_or(Belief::Certain, |held| held.belief);
        let is_there = belief == Belief::Certain && places.are_there(part);
        // What an earlier run left is all there is of it.
        if !is_known || (!is_stale && (is_there || self.head != Head::Clean)) {
            return note(places, latest.version).await;
        }
        let forget = places.clone();
        blocking(move || forget.forget_version()).await?;
        put_memory(self.identity, self.shared, latest).await?;
        match &latest.tree {
            Some(tree) => {
                let tree = tree_id(Some(tree)).map_err(|error| failed(&error))?;
                self.write((latest.version, tree), part, belief).await?;
            }
            None => {
                let discard = places.clone();
                blocking(move || discard.discard(part)).await?;
            }
        }
        note(places, latest.version).await
    }

    /// Writes these directories of a tree anew, which then take the place of the old ones. What is in those already is
    /// moved, and not written again, unless it may be half lost: nobody believes them from here on, whatever happens.
    async fn write(
        &self,
        (version, tree): (Version, TreeId),
        part: Part,
        belief: Belief,
    ) -> Result<(), StartFailure> {
        let (places, uid) = (self.places, self.uid);
        let (make, backend) = (places.clone(), Arc::clone(&self.shared.parts.backend));
        let make_new = move || {
            let new = make.make_new(part)?;
            // Before anything is in them: what is made there counts for the same quota from the start.
            new.iter().for_each(|(_, directory)| backend.adopt(directory, uid));
            Ok(new)
        };
        let new = tokio::task::spawn_blocking(make_new).await;
        let new = new.map_err(|error| failed(&error))?.map_err(|error: std::io::Error| failed(&error))?;
        let before = match belief {
            Belief::Certain => places.roots(part),
            Belief::Unsure => Vec::new(),
        };
        let target = Target::directories(new).in_place_of(before).owned_by(uid);
        let place = self.shared.place(self.identity.session);
        let snapshots = &self.shared.parts.snapshots;
        let restored = snapshots.restore(&self.identity.partition, tree, target, place.as_deref());
        restored.await.map_err(|error| StartFailure {
            code: ErrorCode::DataDamaged,
            message: format!("version {version} could not be restored: {}", chain(&error)),
            hint: Some("restore another version of the session, or fork one".to_owned()),
        })?;
        let take = places.clone();
        blocking(move || take.take_new(part, uid)).await
    }
}

/// Notes for good which version the directories of a session hold whose sandbox has ended, once they are on the disk.
pub(super) async fn make_lasting(identity: Identity, shared: Arc<Shared>, version: Version) {
    let places = Places::of(&shared.options.directory, identity.session, identity.workspace);
    let sync = places.clone();
    let synced = blocking(move || sync.sync()).await;
    // Whoever comes meanwhile changes the files: then there is nothing to note, or something else.
    let closed = shared.workspaces.close(identity.workspace).await;
    let noted = match synced {
        Ok(()) if closed.is_empty() => blocking(move || places.note_for_good(version)).await,
        other => other,
    };
    if let Err(error) = noted {
        // After a loss of power they are then written anew from the version.
        tracing::warn!(session = %identity.session, error = error.message, "files were not brought to the disk");
    }
}

async fn note(places: &Places, version: Version) -> Result<(), StartFailure> {
    if places.held().is_some_and(|held| held.version == version) {
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
    let putting: Result<(), WriteError> = async {
        let memory = Memory::open(&identity.partition, latest.memory.as_ref(), store.blobs.as_ref()).await?;
        let contents = memory.contents(&identity.partition, store.blobs.as_ref()).await?;
        memory::put(identity.session, identity.fence, contents, store.transcripts.as_ref()).await
    }
    .await;
    putting.map_err(|error| failed(&error))
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
