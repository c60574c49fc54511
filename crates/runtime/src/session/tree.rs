//! The files of a session as a tree: its workspace, what people uploaded, and the agent's home.
//!
//! People see paths of the workspace as relative ones, and the others as they are in the sandbox.

use warren_domain::{BlobHash, FileCounts};
use warren_snapshots::{Change, Difference, Item, TreeId, unescape};

/// The roots of a tree, and where a sandbox has them.
pub(crate) const ROOTS: [(&str, &str); 3] =
    [(WORKSPACE_ROOT, "/workspace"), (USER_INPUT_ROOT, "/user-input"), (HOME_ROOT, "/home/agent")];

pub(crate) const WORKSPACE_ROOT: &str = "workspace";
pub(crate) const USER_INPUT_ROOT: &str = "user-input";
pub(crate) const HOME_ROOT: &str = "home";

/// A record names a tree in a way that nobody here writes.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not the hash of a tree")]
pub(crate) struct NotATree(String);

/// The tree that a record names; the one without any files if it names none.
pub(crate) fn tree_id(hash: Option<&BlobHash>) -> Result<TreeId, NotATree> {
    hash.map_or_else(
        || Ok(TreeId::empty()),
        |hash| hash.as_str().parse().map_err(|_| NotATree(hash.to_string())),
    )
}

/// A path of a tree as people see it.
#[must_use]
pub fn outward(path: &str) -> String {
    if let Some(relative) = path.strip_prefix("workspace/") {
        return relative.to_owned();
    }
    let (root, rest) = path.split_once('/').unwrap_or((path, ""));
    match ROOTS.iter().find(|(name, _)| *name == root) {
        Some((WORKSPACE_ROOT, _)) => String::new(),
        Some((_, place)) if rest.is_empty() => (*place).to_owned(),
        Some((_, place)) => format!("{place}/{rest}"),
        None => path.to_owned(),
    }
}

/// A path of a tree's workspace as a sandbox has it. `None` if it is none of those, or not UTF-8: a sandbox tells of no such files.
pub(crate) fn in_workspace(path: &str) -> Option<String> {
    let path = path.strip_prefix(WORKSPACE_ROOT)?.strip_prefix('/')?;
    String::from_utf8(unescape(path)?).ok()
}

/// The length of a file, and of a link as a file system has it.
pub(crate) fn length(item: &Item) -> u64 {
    let target = item.target.as_deref().and_then(unescape);
    target.map_or(item.size_bytes, |target| target.len() as u64)
}

/// A path as people write it, as one of the tree. `None` if it can be none.
pub(crate) fn inward(path: &str) -> Option<String> {
    let path = path.trim_end_matches('/');
    let (root, rest) = if path.is_empty() || !path.starts_with('/') {
        (WORKSPACE_ROOT, path)
    } else {
        ROOTS.iter().find_map(|(root, place)| {
            let rest = path.strip_prefix(place)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| (*root, rest.trim_start_matches('/')))
        })?
    };
    let is_plain =
        rest.split('/').all(|part| !matches!(part, "." | "..") && (rest.is_empty() || !part.is_empty()));
    is_plain.then(|| if rest.is_empty() { root.to_owned() } else { format!("{root}/{rest}") })
}

/// Whether people count it: what an agent keeps in its home changes with every run.
pub(crate) fn is_peoples(difference: &Difference) -> bool {
    !difference.path.starts_with("home/")
}

/// Number of changed files, as people count them.
pub(crate) fn counts(differences: &[Difference]) -> FileCounts {
    let mut counts = FileCounts::default();
    for difference in differences.iter().filter(|difference| is_peoples(difference)) {
        match difference.change {
            Change::Added => counts.added += 1,
            Change::Changed => counts.changed += 1,
            Change::Removed => counts.removed += 1,
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::{in_workspace, inward, outward};

    #[test]
    fn a_path_of_a_tree_is_one_that_people_write_and_back() {
        for (tree, people) in [
            ("workspace/src/a.rs", "src/a.rs"),
            ("workspace", ""),
            ("user-input/data.csv", "/user-input/data.csv"),
            ("home", "/home/agent"),
            ("home/.claude/x", "/home/agent/.claude/x"),
        ] {
            assert_eq!(outward(tree), people);
            assert_eq!(inward(people).as_deref(), Some(tree));
        }
        assert_eq!(inward("/workspace/a/").as_deref(), Some("workspace/a"));
    }

    #[test]
    fn a_sandbox_has_no_escapes_in_its_paths_and_no_names_that_are_not_utf_8() {
        for (tree, path) in [
            ("workspace/a/b.txt", Some("a/b.txt")),
            (r"workspace/back\\slash", Some(r"back\slash")),
            (r"workspace/na\xffme", None),
            ("user-input/x", None),
            ("workspaces/x", None),
            ("workspace", None),
        ] {
            assert_eq!(in_workspace(tree).as_deref(), path, "{tree}");
        }
    }

    #[test]
    fn no_path_leaves_its_root() {
        for path in ["..", "a/../../x", "/etc/passwd", "/workspace/../x", "a//b", "./a", "/user-inputs/x"] {
            assert_eq!(inward(path), None, "{path}");
        }
    }
}
