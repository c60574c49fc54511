use std::{
    fs,
    io::Cursor,
    os::unix::fs::{PermissionsExt as _, symlink},
};

use warren_domain::{ErrorCode, ProjectId, Timestamp};

use super::{KnowledgeDirectory, KnowledgePath, Staged};
use crate::api::SessionError;

/// Far more than any test has.
const MUCH: u64 = 1_000_000;

struct Ground {
    _base: tempfile::TempDir,
    directory: KnowledgeDirectory,
}

impl Ground {
    fn new() -> Self {
        let base = tempfile::tempdir().expect("a directory");
        let directory = KnowledgeDirectory::new(&base.path().join("here"), ProjectId(uuid::Uuid::nil()));
        directory.make_ready().expect("made");
        Self { _base: base, directory }
    }

    async fn stage(&self, path: &str, content: &str) -> Result<Staged, SessionError> {
        let incoming = self.directory.incoming(Timestamp::default()).expect("a place");
        let (path, name) = (KnowledgePath::parse(path)?, path.replace('/', "-"));
        incoming.take(path, name, Box::new(Cursor::new(content.to_owned())), MUCH).await
    }

    async fn put(&self, files: &[(&str, &str)], max_bytes: u64) -> Result<Vec<String>, SessionError> {
        let mut staged = Vec::new();
        for (path, content) in files {
            staged.push(self.stage(path, content).await?);
        }
        let put = self.directory.put(&staged, max_bytes)?;
        Ok(put.into_iter().map(|entry| entry.path).collect())
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.directory.root().join(path)).expect(path)
    }

    fn paths(&self) -> Vec<String> {
        self.directory.list().expect("listed").files.into_iter().map(|entry| entry.path).collect()
    }

    /// What is on its way, or was left there.
    fn incoming(&self) -> usize {
        fs::read_dir(&self.directory.incoming).map_or(0, Iterator::count)
    }
}

fn code(result: Result<impl std::fmt::Debug, SessionError>) -> ErrorCode {
    result.expect_err("it is refused").code()
}

#[tokio::test]
async fn files_get_their_places_and_the_index_tells_of_them() {
    let ground = Ground::new();
    let put = ground
        .put(&[("guides/a.md", "intro\n## How to\tstart\n"), ("data.csv", "\n\nx,y\n1,2\n")], MUCH)
        .await;
    assert_eq!(put.expect("put"), ["guides/a.md", "data.csv"]);
    let index = ground.text("INDEX.md");
    let (mark, told) = index.split_once('\n').expect("lines");
    assert!(mark.starts_with("<!-- warren:index "), "{mark}");
    assert_eq!(
        told,
        "# What is here\n\n2 files, 32 B. This list is updated whenever they change.\n\n\
         - `data.csv` (10 B): x,y\n- `guides/a.md` (22 B): How to start\n"
    );
    assert_eq!(ground.paths(), ["data.csv", "guides/a.md"], "the index is not one of the files");
    assert_eq!(ground.incoming(), 0);
    for path in ["data.csv", "guides/a.md", "INDEX.md"] {
        let mode = fs::metadata(ground.directory.root().join(path)).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o644, "{path}");
    }
}

#[tokio::test]
async fn an_index_follows_what_is_done_by_hand_and_leaves_somebodys_own_alone() {
    let ground = Ground::new();
    let root = ground.directory.root().to_owned();
    ground.directory.make_ready().expect("ready");
    assert!(!root.join("INDEX.md").exists(), "nothing to tell of");
    fs::write(root.join("by-hand.txt"), [0xff, 0xfe, 0]).expect("written");
    fs::create_dir(root.join(".git")).expect("made");
    fs::write(root.join(".git/config"), "hidden").expect("written");
    symlink("/etc/passwd", root.join("link")).expect("linked");
    ground.directory.make_ready().expect("ready");
    let index = ground.text("INDEX.md");
    assert!(index.ends_with("- `by-hand.txt` (3 B)\n"), "{index}");
    let before = fs::metadata(root.join("INDEX.md")).expect("there").modified().expect("a time");
    ground.directory.make_ready().expect("ready");
    let after = fs::metadata(root.join("INDEX.md")).expect("there").modified().expect("a time");
    assert_eq!(before, after, "what is right already is not written again");

    fs::write(root.join("INDEX.md"), "# My own\n").expect("written");
    ground.put(&[("new.md", "# New")], MUCH).await.expect("put");
    assert_eq!(ground.text("INDEX.md"), "# My own\n");
    assert_eq!(ground.paths(), ["INDEX.md", "by-hand.txt", "new.md"]);
    ground.directory.remove(&path("INDEX.md"), "x").expect("one's own can be removed");
    assert!(ground.text("INDEX.md").contains("`new.md` (5 B): New"));
    assert_eq!(code(ground.directory.remove(&path("INDEX.md"), "x")), ErrorCode::Conflict);
}

#[tokio::test]
async fn what_is_too_much_changes_nothing() {
    let ground = Ground::new();
    ground.put(&[("a", "12345"), ("b", "12345")], 10).await.expect("just fits");
    assert_eq!(code(ground.put(&[("a", "123"), ("c", "123")], 10).await), ErrorCode::TooLarge);
    assert_eq!(
        (ground.paths(), ground.text("a")),
        (vec!["a".to_owned(), "b".to_owned()], "12345".to_owned())
    );
    ground.put(&[("a", "1"), ("c", "1234")], 10).await.expect("what is replaced makes room");
    let incoming = ground.directory.incoming(Timestamp::default()).expect("a place");
    let long = Box::new(Cursor::new("x".repeat(11)));
    assert_eq!(code(incoming.take(path("d"), "d".to_owned(), long, 10).await), ErrorCode::TooLarge);
    assert_eq!(ground.incoming(), 0, "nothing of it stays");
}

#[tokio::test]
async fn nothing_is_written_or_removed_through_a_link_or_a_file() {
    let ground = Ground::new();
    let root = ground.directory.root().to_owned();
    let outside = tempfile::tempdir().expect("a directory");
    fs::write(outside.path().join("secret"), "kept").expect("written");
    symlink(outside.path(), root.join("out")).expect("linked");
    symlink(outside.path().join("secret"), root.join("file")).expect("linked");
    fs::create_dir(root.join("directory")).expect("made");
    fs::write(root.join("plain"), "x").expect("written");
    for (target, expected) in [
        ("out/secret", ErrorCode::BadRequest),
        ("out/new", ErrorCode::BadRequest),
        ("plain/x", ErrorCode::BadRequest),
        ("file", ErrorCode::Conflict),
        ("directory", ErrorCode::Conflict),
    ] {
        let put = ground.put(&[("good", "1"), (target, "changed")], MUCH).await;
        assert_eq!(code(put), expected, "{target}");
        assert!(!root.join("good").exists(), "{target}: all or none");
    }
    for target in ["out/secret", "plain/x", "absent", "absent/x"] {
        code(ground.directory.remove(&path(target), "x"));
    }
    ground.directory.remove(&path("out"), "x").expect("the link itself can be removed");
    assert_eq!(fs::read_to_string(outside.path().join("secret")).expect("there"), "kept");
    assert_eq!(fs::read_dir(outside.path()).expect("there").count(), 1);
}

#[tokio::test]
async fn a_directory_is_removed_with_all_in_it_and_the_index_with_the_last_file() {
    let ground = Ground::new();
    ground.put(&[("a/b/c", "1"), ("a/d", "2")], MUCH).await.expect("put");
    ground.directory.remove(&path("a"), "aside").expect("removed");
    assert_eq!((ground.paths(), ground.incoming()), (Vec::new(), 0));
    assert!(!ground.directory.root().join("INDEX.md").exists());
}

#[tokio::test]
async fn what_a_killed_server_left_is_removed_a_day_later() {
    let ground = Ground::new();
    let left = ground.directory.incoming.join("left");
    ground.directory.incoming(Timestamp::default()).expect("a place");
    fs::write(&left, "half").expect("written");
    let modified = fs::metadata(&left).expect("there").modified().expect("a time");
    let modified = modified.duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_millis();
    let at = |millis: i64| Timestamp::from_millis(i64::try_from(modified).expect("a time") + millis);
    ground.directory.incoming(at(3_600_000)).expect("a place");
    assert!(left.exists(), "it may still come");
    ground.directory.incoming(at(25 * 3_600_000)).expect("a place");
    assert!(!left.exists());
}

fn path(text: &str) -> KnowledgePath {
    KnowledgePath::parse(text).expect(text)
}
