//! What a pull would do: decided whole, before anything is changed.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use futures::{StreamExt as _, stream};
use warren_domain::Version;
use warren_snapshots::{hash_content, unescape};
use warren_wire::{PathChange, TreeChange, TreeEntry, VersionPage, VersionPlace};

use super::{
    Changes, content_path,
    fetch::N_AT_ONCE,
    is_git,
    local::{Local, Root},
};
use crate::{
    client::{CallError, Client},
    render::one_line,
};

/// Newest versions, and versions before the target, whose files count as the session's own.
const N_BETWEEN: u32 = 100;

/// A file shorter than a page has no holes, and its hash is that of its bytes.
const PAGE: u64 = 4096;

/// What is to be done, and what stands in the way.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Paths that get what the version has, and what was found there.
    pub(super) ready: BTreeMap<Vec<u8>, Local>,
    /// Paths where something else is than the session ever had.
    pub(super) conflicts: Vec<Vec<u8>>,
    /// Links that lead out of the directory.
    pub(super) left_out: Vec<Vec<u8>>,
}

impl Plan {
    pub(super) async fn make(client: &Client, changes: &mut Changes, root: &Root) -> Result<Self> {
        let mut plan = Self::default();
        for (path, change) in &changes.paths {
            plan.add(client, changes, root, (&path[..], change)).await?;
        }
        for earlier in earlier(client, changes).await? {
            plan.forgive_pulled(client, &earlier, root).await?;
            plan.take_back_pulled(client, changes, &earlier, root).await?;
        }
        Ok(plan)
    }

    /// Decides what is done at one path.
    async fn add(
        &mut self,
        client: &Client,
        changes: &Changes,
        root: &Root,
        (path, change): (&[u8], &PathChange),
    ) -> Result<()> {
        if change.after.as_ref().is_some_and(|after| leads_out(path, after)) {
            self.left_out.push(path.to_vec());
            return Ok(());
        }
        let shown = || format!("failed to look at `{}`", one_line(&change.path));
        let local = root.look(path).with_context(shown)?;
        let look = Look { client, root, path, local: &local };
        if look.is(change.after.as_ref(), &changes.to).await? {
            return Ok(());
        }
        let is_as_before = look.is(change.before.as_ref(), &changes.from).await?;
        let is_ready = match &local {
            Local::Blocked => is_made_way_for(changes, path),
            Local::Directory if change.after.is_some() => {
                is_as_before && holds_nothing_else(changes, root, path)?
            }
            _ => is_as_before,
        };
        if is_ready {
            self.ready.insert(path.to_vec(), local);
        } else {
            self.conflicts.push(path.to_vec());
        }
        Ok(())
    }

    /// Files that will be other than they are.
    pub(super) fn files<'a>(&self, changes: &'a Changes) -> Vec<&'a PathChange> {
        let found = self.ready.keys().filter_map(|path| changes.paths.get(path));
        let is_file =
            |entry: &Option<TreeEntry>| entry.as_ref().is_some_and(|entry| entry.kind != "directory");
        found.filter(|change| is_file(&change.before) || is_file(&change.after)).collect()
    }

    /// A file that an earlier pull brought is no conflict: it is what that version has.
    async fn forgive_pulled(&mut self, client: &Client, earlier: &Changes, root: &Root) -> Result<()> {
        for path in std::mem::take(&mut self.conflicts) {
            let local = root.look(&path)?;
            let look = Look { client, root, path: &path, local: &local };
            let is_pulled = match earlier.paths.get(&path) {
                Some(change) => look.is(change.after.as_ref(), &earlier.to).await?,
                None => false,
            };
            if is_pulled {
                self.ready.insert(path, local);
            } else {
                self.conflicts.push(path);
            }
        }
        Ok(())
    }

    /// What an earlier pull brought, and the target does not have, is given up here too. What the target has in its place is
    /// only known if both are compared with the same import.
    async fn take_back_pulled(
        &mut self,
        client: &Client,
        changes: &mut Changes,
        earlier: &Changes,
        root: &Root,
    ) -> Result<()> {
        if earlier.from != changes.from {
            return Ok(());
        }
        for (path, change) in earlier.paths.iter().filter(|(path, _)| !is_git(path)) {
            if changes.paths.contains_key(path) {
                continue;
            }
            let local = root.look(path)?;
            let look = Look { client, root, path, local: &local };
            // The target has what the base has there.
            let is_settled = look.is(change.before.as_ref(), &changes.to).await?;
            if !is_settled && look.is(change.after.as_ref(), &earlier.to).await? {
                let (before, after) = (change.after.clone(), change.before.clone());
                let kind = match (&before, &after) {
                    (None, _) => TreeChange::Added,
                    (_, None) => TreeChange::Removed,
                    _ => TreeChange::Changed,
                };
                let back = PathChange { path: change.path.clone(), change: kind, before, after };
                changes.paths.insert(path.clone(), back);
                self.ready.insert(path.clone(), local);
            }
        }
        Ok(())
    }
}

/// What other versions since an import had, newest first: an earlier pull may have brought it. Older and newer ones than the
/// target: who pulls v3 and then v1 has files of v3.
async fn earlier(client: &Client, changes: &Changes) -> Result<Vec<Changes>> {
    let VersionPlace { session_id, version, .. } = changes.to;
    let list = async |cursor: &str| -> Result<VersionPage, CallError> {
        client.get(&format!("/api/sessions/{session_id}/versions?limit={N_BETWEEN}{cursor}")).await
    };
    let newest = list("").await?;
    let mut items = newest.versions;
    if items.iter().all(|item| item.version >= version) {
        items.extend(list(&format!("&cursor={version}")).await?.versions);
    }
    let is_after_base =
        |version: Version| changes.from.session_id != session_id || version > changes.from.version;
    let wanted = items
        .into_iter()
        .filter(|it| !it.expired && it.version != version && is_after_base(it.version))
        .map(|it| Changes::read(client, session_id, it.version));
    let read: Vec<Result<Changes>> = stream::iter(wanted).buffered(N_AT_ONCE).collect().await;
    let mut found = Vec::new();
    for earlier in read {
        match earlier {
            Ok(earlier) => found.push(earlier),
            // Its files are not kept any more.
            Err(error) if matches!(error.downcast_ref(), Some(CallError::Refused(_))) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Something local that is compared.
struct Look<'a> {
    client: &'a Client,
    root: &'a Root,
    path: &'a [u8],
    local: &'a Local,
}

impl Look<'_> {
    /// Whether it is what a version has. Of a mode only whether it can be run counts: the rest is this machine's matter.
    async fn is(&self, entry: Option<&TreeEntry>, place: &VersionPlace) -> Result<bool> {
        let Some(entry) = entry else { return Ok(*self.local == Local::Absent) };
        Ok(match (self.local, entry.kind.as_str()) {
            (Local::Directory, "directory") => true,
            (Local::Link(target), "symlink") => {
                entry.target.as_deref().and_then(unescape).as_ref() == Some(target)
            }
            (Local::File(stamp), "file") => {
                stamp.size == entry.size_bytes
                    && is_runnable(stamp.mode) == is_runnable(entry.mode)
                    && self.has_content(entry, place).await?
            }
            _ => false,
        })
    }

    async fn has_content(&self, entry: &TreeEntry, place: &VersionPlace) -> Result<bool> {
        let content = self.root.read(self.path)?;
        let hash = hash_content(&content).to_string();
        if entry.hash.as_ref().is_some_and(|known| known.as_str() == hash) {
            return Ok(true);
        }
        // A file with holes has another hash than the same bytes without.
        if entry.size_bytes < PAGE {
            return Ok(false);
        }
        Ok(self.client.bytes(&content_path(place, entry)).await? == content)
    }
}

pub(super) fn is_runnable(mode: u32) -> bool {
    mode & 0o100 != 0
}

fn is_directory(entry: Option<&TreeEntry>) -> bool {
    entry.is_some_and(|entry| entry.kind == "directory")
}

/// Whether something above the path becomes a directory by this pull. Whether it may is looked at there.
fn is_made_way_for(changes: &Changes, path: &[u8]) -> bool {
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    ends.filter_map(|end| changes.paths.get(&path[..end])).any(|above| is_directory(above.after.as_ref()))
}

/// Whether everything in a local directory goes with it.
fn holds_nothing_else(changes: &Changes, root: &Root, path: &[u8]) -> Result<bool> {
    let gone: BTreeSet<&Vec<u8>> =
        changes.paths.iter().filter(|(_, change)| change.after.is_none()).map(|(path, _)| path).collect();
    let mut waiting = vec![path.to_vec()];
    while let Some(directory) = waiting.pop() {
        for name in root.names(&directory)? {
            let inside = [&directory[..], &name[..]].join(&b'/');
            if !gone.contains(&inside) {
                return Ok(false);
            }
            if root.look(&inside)? == Local::Directory {
                waiting.push(inside);
            }
        }
    }
    Ok(true)
}

/// Whether an entry is a link out of the directory.
pub(super) fn leads_out(path: &[u8], entry: &TreeEntry) -> bool {
    let Some(target) = entry.target.as_deref().and_then(unescape) else { return entry.kind == "symlink" };
    if target.starts_with(b"/") {
        return true;
    }
    let mut depth = path.iter().filter(|byte| **byte == b'/').count();
    target.split(|byte| *byte == b'/').any(|name| match name {
        b"" | b"." => false,
        b".." if depth == 0 => true,
        b".." => {
            depth -= 1;
            false
        }
        _ => {
            depth += 1;
            false
        }
    })
}

#[cfg(test)]
mod tests {
    use warren_domain::Timestamp;
    use warren_wire::TreeEntry;

    use super::leads_out;
    use crate::verbs::pull::{is_git, is_plain};

    #[test]
    fn link_leads_out_if_its_target_is_absolute_or_above_the_directory() {
        let link = |target: &str| TreeEntry {
            name: "l".to_owned(),
            path: "a/b/l".to_owned(),
            kind: "symlink".to_owned(),
            size_bytes: 0,
            mode: 0o777,
            modified_at: Timestamp::default(),
            hash: None,
            target: Some(target.to_owned()),
        };
        for (target, out) in [
            ("x", false),
            ("../x", false),
            ("../../x", false),
            ("../../../x", true),
            ("/etc/passwd", true),
            ("c/../../../..", true),
            ("./", false),
        ] {
            assert_eq!(leads_out(b"a/b/l", &link(target)), out, "{target}");
        }
    }

    #[test]
    fn only_plain_paths_outside_of_git_are_written() {
        for (path, plain, git) in [
            (&b"a/b"[..], true, false),
            (b"a/../b", false, false),
            (b"/etc/passwd", false, false),
            (b"", false, false),
            (b".git/hooks/pre-commit", true, true),
            (b"sub/.GIT/config", true, true),
            (b".gitignore", true, false),
            (b"\xff", true, false),
        ] {
            assert_eq!((is_plain(path), is_git(path)), (plain, git), "{path:?}");
        }
    }
}
