//! What of the workspace is not as in the latest version: from the records of its files, so that it is the same for everyone
//! who asks, whenever they ask. Never makes a sandbox.

use std::collections::{BTreeMap, HashMap};

use warren_domain::{FileChange, SessionId, Timestamp};
use warren_store::{Change, WorkspaceFile};

use super::files::tree_of;
use crate::{
    api::{SessionError, UnsavedChange, UnsavedChanges, Versions as _},
    manager::SessionManager,
    session::{known_files, workspace_files},
};

impl SessionManager {
    pub(super) async fn unsaved(&self, session: SessionId) -> Result<UnsavedChanges, SessionError> {
        let record = self.record(session).await?;
        let latest = self.version_get(session, record.version).await?;
        let kept =
            workspace_files(&self.shared.parts.snapshots, &record.partition, tree_of(&latest)?).await?;
        let there = self.shared.parts.store.sessions.files(session).await;
        let there = there.map_err(|error| SessionError::internal("read the files", error))?;
        let kept = known_files(&kept).into_iter().filter_map(|change| match change {
            Change::PutFile(file) => Some(file),
            _ => None,
        });
        Ok(UnsavedChanges { version: latest.version, changes: changes(kept, there) })
    }
}

/// What one set of files has that the other does not, by path. A file that is gone here and new there is one that was moved.
fn changes(
    before: impl IntoIterator<Item = WorkspaceFile>,
    after: impl IntoIterator<Item = WorkspaceFile>,
) -> Vec<UnsavedChange> {
    let by_path = |file: WorkspaceFile| (file.path.clone(), file);
    let mut before: BTreeMap<String, WorkspaceFile> = before.into_iter().map(by_path).collect();
    let mut changes = Vec::new();
    let mut created = Vec::new();
    for file in after {
        match before.remove(&file.path) {
            None => created.push(file),
            Some(old) if looks(&old) == looks(&file) => {}
            Some(_) => changes.push(change(file.path, FileChange::Modified, None)),
        }
    }
    let mut gone: HashMap<Looks, Vec<String>> = HashMap::new();
    for (path, file) in before.into_iter().rev() {
        gone.entry(looks(&file)).or_default().push(path);
    }
    for file in created {
        // Empty files look all alike.
        let from = gone.get_mut(&looks(&file)).filter(|_| file.size_bytes > 0).and_then(Vec::pop);
        changes.push(change(file.path, FileChange::Created, from));
    }
    let gone = gone.into_values().flatten();
    changes.extend(gone.map(|path| change(path, FileChange::Deleted, None)));
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    changes
}

/// What a file is to someone who does not read it.
type Looks = (String, u64, u32, Timestamp);

fn looks(file: &WorkspaceFile) -> Looks {
    (file.kind.clone(), file.size_bytes, file.mode, file.modified_at)
}

fn change(path: String, change: FileChange, moved_from: Option<String>) -> UnsavedChange {
    UnsavedChange { path, change, moved_from }
}

#[cfg(test)]
mod tests {
    use warren_domain::Timestamp;
    use warren_store::WorkspaceFile;

    use super::changes;

    fn file(path: &str, size_bytes: u64, at: i64) -> WorkspaceFile {
        WorkspaceFile {
            path: path.to_owned(),
            kind: "file".to_owned(),
            size_bytes,
            mode: 0o644,
            modified_at: Timestamp::from_millis(at),
            hash: None,
        }
    }

    fn told(before: Vec<WorkspaceFile>, after: Vec<WorkspaceFile>) -> Vec<String> {
        let told = changes(before, after).into_iter().map(|found| match found.moved_from {
            Some(from) => format!("{from} → {}", found.path),
            None => format!("{:?} {}", found.change, found.path),
        });
        told.collect()
    }

    #[test]
    fn a_rename_is_one_change_and_what_looks_the_same_is_none() {
        let before = vec![file("a", 1, 1), file("b", 2, 2), file("c", 3, 3), file("same", 4, 4)];
        let after = vec![file("b", 2, 9), file("d", 3, 3), file("new", 1, 9), file("same", 4, 4)];
        assert_eq!(told(before, after), ["Deleted a", "Modified b", "c → d", "Created new"]);
    }

    #[test]
    fn copies_that_look_alike_are_moved_one_each_and_empty_files_are_not() {
        let before = vec![file("a", 1, 1), file("b", 1, 1), file("empty", 0, 1)];
        let after = vec![file("x", 1, 1), file("y", 1, 1), file("z", 1, 1), file("nothing", 0, 1)];
        let expected = ["Deleted empty", "Created nothing", "a → x", "b → y", "Created z"];
        assert_eq!(told(before, after), expected);
    }
}
