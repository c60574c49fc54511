//! Who works in which workspace right now.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use tokio::sync::OwnedMutexGuard;
use warren_domain::{SessionId, WorkspaceId};

/// The workspaces that sandboxes of this server use.
#[derive(Default)]
pub(crate) struct Workspaces {
    doors: Mutex<HashMap<WorkspaceId, Weak<Door>>>,
}

/// Whoever changes a workspace as a whole holds its door closed; whoever has a sandbox in it is counted.
#[derive(Default)]
struct Door {
    held: Arc<tokio::sync::Mutex<()>>,
    inside: Mutex<Vec<SessionId>>,
}

/// Nobody enters the workspace as long as this is held.
pub(crate) struct Closed {
    door: Arc<Door>,
    _held: OwnedMutexGuard<()>,
}

/// A session has a sandbox in the workspace as long as this is held.
pub(crate) struct Inside {
    door: Arc<Door>,
    session: SessionId,
}

impl Workspaces {
    /// Closes a workspace's door, as soon as nobody else holds it.
    pub(crate) async fn close(&self, workspace: WorkspaceId) -> Closed {
        let door = self.door(workspace);
        let held = door.held.clone().lock_owned().await;
        Closed { door, _held: held }
    }

    /// Whether another session has a sandbox in a workspace.
    pub(crate) fn has_others(&self, workspace: WorkspaceId, session: SessionId) -> bool {
        self.door(workspace).has_others(session)
    }

    fn door(&self, workspace: WorkspaceId) -> Arc<Door> {
        let mut doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(door) = doors.get(&workspace).and_then(Weak::upgrade) {
            return door;
        }
        doors.retain(|_, door| door.strong_count() > 0);
        let door = Arc::<Door>::default();
        doors.insert(workspace, Arc::downgrade(&door));
        door
    }
}

impl Closed {
    /// Whether another session has a sandbox in it.
    pub(crate) fn has_others(&self, session: SessionId) -> bool {
        self.door.has_others(session)
    }

    /// Whether no session has a sandbox in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.door.inside().is_empty()
    }

    /// Goes in, and leaves the door open.
    pub(crate) fn enter(self, session: SessionId) -> Inside {
        self.door.inside().push(session);
        Inside { door: self.door, session }
    }
}

impl Door {
    fn inside(&self) -> MutexGuard<'_, Vec<SessionId>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_others(&self, session: SessionId) -> bool {
        self.inside().iter().any(|inside| *inside != session)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let mut inside = self.door.inside();
        if let Some(at) = inside.iter().position(|inside| *inside == self.session) {
            inside.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use warren_domain::{SessionId, WorkspaceId};

    use super::Workspaces;

    #[tokio::test]
    async fn who_is_inside_is_known_and_nobody_enters_while_the_door_is_closed() {
        let workspaces = Workspaces::default();
        let (workspace, elsewhere) = (WorkspaceId(uuid::Uuid::nil()), WorkspaceId(uuid::Uuid::max()));
        let [one, two] = [1, 2].map(|n| SessionId(uuid::Uuid::from_u128(n)));
        let inside = workspaces.close(workspace).await.enter(one);
        assert!(workspaces.has_others(workspace, two));
        assert!(!workspaces.has_others(workspace, one), "oneself is no other");
        assert!(!workspaces.has_others(elsewhere, two));

        let closed = workspaces.close(workspace).await;
        assert!(closed.has_others(two));
        let mut waits = Box::pin(workspaces.close(workspace));
        assert!((&mut waits).now_or_never().is_none(), "it is closed");
        drop(closed);
        let second = waits.await.enter(two);
        drop(inside);
        assert!(!workspaces.has_others(workspace, two));
        assert!(workspaces.has_others(workspace, one));
        drop(second);
        assert!(!workspaces.has_others(workspace, one));
    }
}
