//! Workspaces that sessions share: one tree, whoever changed it last.

use warren_domain::WorkspaceId;
use warren_store::{ReadError, SessionQuery, Store, VersionRecord};

/// Sessions that are read at a time.
const AT_ONCE: u32 = 500;

/// Whether more than one session works in a workspace.
pub(crate) async fn is_shared(store: &Store, workspace: WorkspaceId) -> Result<bool, ReadError> {
    let query = SessionQuery { workspace: Some(workspace), limit: 2, ..SessionQuery::default() };
    Ok(store.sessions.sessions(&query).await?.items.len() > 1)
}

/// The version that was committed last of all the sessions that work in a workspace: what its files are, as far as they are
/// in any version.
pub(crate) async fn latest_of_workspace(
    store: &Store,
    workspace: WorkspaceId,
) -> Result<Option<VersionRecord>, ReadError> {
    let mut query = SessionQuery { workspace: Some(workspace), limit: AT_ONCE, ..SessionQuery::default() };
    let mut latest: Option<VersionRecord> = None;
    loop {
        let page = store.sessions.sessions(&query).await?;
        for record in &page.items {
            let version = store.versions.version(record.session_id, record.version).await?;
            // What a session starts with in a workspace of others is theirs.
            let known = version.filter(|version| version.tree.is_some() || version.restored.is_some());
            let order = |version: &VersionRecord| (version.created_at, version.session_id);
            latest = latest.into_iter().chain(known).max_by_key(order);
        }
        query.before = page.items.last().map(|last| last.session_id);
        if !page.more {
            return Ok(latest);
        }
    }
}
