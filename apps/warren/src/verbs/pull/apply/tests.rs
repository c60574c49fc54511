use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt as _, path::Path};

use warren_domain::Timestamp;
use warren_wire::{PathChange, TreeChange, TreeEntry};

use super::{Placing, Step, half_done, staged, unchanged};
use crate::{
    report::hint,
    verbs::pull::local::{Local, Root},
};

fn entry(path: &str, kind: &str) -> TreeEntry {
    TreeEntry {
        name: path.to_owned(),
        path: path.to_owned(),
        kind: kind.to_owned(),
        size_bytes: 3,
        mode: 0o755,
        modified_at: Timestamp::default(),
        hash: None,
        target: (kind == "symlink").then(|| "there".to_owned()),
    }
}

fn change(path: &str, before: Option<&str>, after: Option<&str>) -> PathChange {
    PathChange {
        path: path.to_owned(),
        change: TreeChange::Changed,
        before: before.map(|kind| entry(path, kind)),
        after: after.map(|kind| entry(path, kind)),
    }
}

/// Every path with its mode and content.
fn state(directory: &Path) -> BTreeMap<String, (u32, String)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![directory.to_owned()];
    while let Some(at) = waiting.pop() {
        for entry in fs::read_dir(at).expect("a directory") {
            let path = entry.expect("an entry").path();
            let looked = fs::symlink_metadata(&path).expect("there");
            let content = if looked.is_symlink() {
                fs::read_link(&path).expect("a link").display().to_string()
            } else if looked.is_dir() {
                waiting.push(path.clone());
                String::new()
            } else {
                fs::read_to_string(&path).expect("a file")
            };
            let name = path.strip_prefix(directory).expect("beneath").display().to_string();
            found.insert(name, (looked.permissions().mode(), content));
        }
    }
    found
}

/// A directory, and changes of every kind; content for all but the last.
struct Case {
    local: tempfile::TempDir,
    staging: tempfile::TempDir,
    changes: Vec<PathChange>,
}

impl Case {
    fn new() -> Self {
        let local = tempfile::tempdir().expect("a directory");
        let staging = tempfile::tempdir().expect("a directory");
        let at = |path: &str| local.path().join(path);
        fs::create_dir_all(at("gone/deep")).expect("made");
        fs::set_permissions(at("gone/deep"), fs::Permissions::from_mode(0o750)).expect("a mode");
        for path in ["gone/deep/f", "replaced", "becomes_directory", "becomes_link", "z"] {
            fs::write(at(path), "old").expect("written");
        }
        let changes = vec![
            change("becomes_directory", Some("file"), Some("directory")),
            change("becomes_directory/in", None, Some("file")),
            change("becomes_link", Some("file"), Some("symlink")),
            change("gone", Some("directory"), None),
            change("gone/deep", Some("directory"), None),
            change("gone/deep/f", Some("file"), None),
            change("made/deep/f", None, Some("file")),
            change("replaced", Some("file"), Some("file")),
            change("z", Some("file"), Some("file")),
        ];
        for n in [1, 6, 7, 8] {
            fs::write(staged(staging.path(), n), "new").expect("written");
        }
        Self { local, staging, changes }
    }

    fn root(&self) -> Root {
        Root::open(self.local.path()).expect("opened")
    }

    fn looks(&self) -> Vec<Local> {
        self.changes.iter().map(|it| self.root().look(it.path.as_bytes()).expect("looked at")).collect()
    }
}

fn steps<'a>(changes: &'a [PathChange], looks: &'a [Local]) -> Vec<Step<'a>> {
    let each = changes.iter().zip(looks);
    each.map(|(change, local)| Step { path: change.path.as_bytes(), change, local }).collect()
}

#[test]
fn pull_that_fails_midway_changes_everything_back() {
    let case = Case::new();
    let before = state(case.local.path());
    let (root, looks) = (case.root(), case.looks());
    fs::remove_file(staged(case.staging.path(), 8)).expect("its content is lost");
    let mut placing = Placing::new(&root, case.staging.path());
    let error = placing.all(&steps(&case.changes, &looks)).expect_err("the last file has no content");
    assert_eq!(placing.undo(), Vec::<Vec<u8>>::new());
    assert_eq!(state(case.local.path()), before);
    let said = format!("{:#}", unchanged(error));
    assert!(said.starts_with("failed to write `z`: ") && said.ends_with("; nothing was changed"), "{said}");
}

#[test]
fn pull_that_cannot_be_undone_says_what_was_changed_and_where_the_old_files_are() {
    let case = Case::new();
    let (root, looks) = (case.root(), case.looks());
    fs::remove_file(staged(case.staging.path(), 8)).expect("its content is lost");
    let mut placing = Placing::new(&root, case.staging.path());
    let error = placing.all(&steps(&case.changes, &looks)).expect_err("the last file has no content");
    // Somebody else puts a directory in the way meanwhile.
    fs::remove_file(case.local.path().join("replaced")).expect("removed");
    fs::create_dir(case.local.path().join("replaced")).expect("made");
    let stuck = placing.undo();
    assert_eq!(stuck, [b"replaced".to_vec()]);
    let told = half_done(error, &stuck, case.staging.path());
    assert!(format!("{told:#}").ends_with("could not be changed back:\n  replaced"), "{told:#}");
    assert!(hint(&told).is_some_and(|hint| hint.contains(&case.staging.path().display().to_string())));
    assert_eq!(fs::read_to_string(staged(case.staging.path(), 7)).expect("the old file"), "old");
}

#[test]
fn pull_that_succeeds_leaves_exactly_the_new_files() {
    let case = Case::new();
    let (root, looks) = (case.root(), case.looks());
    let kept = Placing::new(&root, case.staging.path()).all(&steps(&case.changes, &looks)).expect("done");
    assert_eq!(kept, Vec::<String>::new());
    let found: Vec<(String, String)> =
        state(case.local.path()).into_iter().map(|(path, (_, content))| (path, content)).collect();
    let expect = [
        ("becomes_directory", ""),
        ("becomes_directory/in", "new"),
        ("becomes_link", "there"),
        ("made", ""),
        ("made/deep", ""),
        ("made/deep/f", "new"),
        ("replaced", "new"),
        ("z", "new"),
    ];
    assert_eq!(found, expect.map(|(path, content)| (path.to_owned(), content.to_owned())));
}
