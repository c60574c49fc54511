//! Watching.

use std::fs;

use tokio::time::timeout;
use warren_guest_api::{
    ChangeKind, DEFAULT_EXCLUDES, FileKind, Frame, FrameReader, Request, Root, WatchEvent, WatchRequest,
};
use warren_link::Stream;

use crate::support::{PATIENCE, TestGuest};

struct Watch {
    frames: FrameReader<Stream>,
}

impl Watch {
    async fn start(guest: &TestGuest) -> Self {
        let request = WatchRequest {
            roots: vec![Root::Workspace, Root::UserInput],
            excludes: DEFAULT_EXCLUDES.iter().map(|name| (*name).to_owned()).collect(),
        };
        let mut frames = FrameReader::new(guest.open(&Request::Watch(request)).await);
        assert!(matches!(frames.expect().await.expect("a frame"), Frame::Reply(_)));
        Self { frames }
    }

    async fn event(&mut self) -> WatchEvent {
        match timeout(PATIENCE, self.frames.expect()).await.expect("in time").expect("a frame") {
            Frame::Reply(json) => Frame::parse(&json).expect("an event"),
            frame => panic!("{frame:?}"),
        }
    }

    /// Changes as they come, until as many as are expected have come.
    async fn sees(&mut self, expected: &[(&str, ChangeKind)]) {
        let mut seen = Vec::new();
        while seen.len() < expected.len() {
            match self.event().await {
                WatchEvent::Changes { changes } => seen.extend(changes.into_iter().map(|change| {
                    assert_eq!(change.stat.is_none(), change.change == ChangeKind::Deleted, "{change:?}");
                    let is_file = change.stat.is_some_and(|stat| stat.kind == FileKind::File);
                    assert_eq!(change.hash.is_some(), is_file, "{change:?}");
                    (change.path.path, change.change)
                })),
                event => panic!("{event:?}"),
            }
        }
        seen.sort_by(|a, b| a.0.cmp(&b.0));
        let expected: Vec<_> = expected.iter().map(|(path, change)| ((*path).to_owned(), *change)).collect();
        assert_eq!(seen, expected);
    }
}

use ChangeKind::{Created, Deleted, Modified};

#[tokio::test]
async fn a_file_is_created_modified_and_deleted() {
    let guest = TestGuest::start();
    fs::create_dir(guest.workspace("dir")).expect("makes");
    fs::write(guest.workspace("dir/old"), "1").expect("writes");
    let mut watch = Watch::start(&guest).await;
    fs::write(guest.workspace("new"), "1").expect("writes");
    fs::write(guest.workspace("dir/old"), "22").expect("writes");
    watch.sees(&[("dir/old", Modified), ("new", Created)]).await;
    fs::remove_file(guest.workspace("new")).expect("removes");
    watch.sees(&[("new", Deleted)]).await;
}

#[tokio::test]
async fn a_file_replaced_by_another_was_modified_and_the_one_beside_it_never_was() {
    let guest = TestGuest::start();
    fs::write(guest.workspace("file"), "1").expect("writes");
    let mut watch = Watch::start(&guest).await;
    fs::write(guest.workspace("file.tmp"), "2").expect("writes");
    fs::rename(guest.workspace("file.tmp"), guest.workspace("file")).expect("renames");
    watch.sees(&[("file", Modified)]).await;
}

#[tokio::test]
async fn directories_that_appear_are_watched_with_all_that_is_in_them() {
    let guest = TestGuest::start();
    let mut watch = Watch::start(&guest).await;
    fs::create_dir_all(guest.workspace("a/b/c")).expect("makes");
    fs::write(guest.workspace("a/b/c/deep"), "1").expect("writes");
    fs::write(guest.workspace("a/file"), "1").expect("writes");
    watch.sees(&[("a/b/c/deep", Created), ("a/file", Created)]).await;
    fs::write(guest.workspace("a/b/c/deep"), "2").expect("writes");
    watch.sees(&[("a/b/c/deep", Modified)]).await;
}

#[tokio::test]
async fn a_directory_that_moves_takes_its_files_along() {
    let guest = TestGuest::start();
    fs::create_dir_all(guest.workspace("old/sub")).expect("makes");
    fs::write(guest.workspace("old/sub/file"), "1").expect("writes");
    let mut watch = Watch::start(&guest).await;
    fs::rename(guest.workspace("old"), guest.workspace("new")).expect("renames");
    watch.sees(&[("new/sub/file", Created), ("old/sub/file", Deleted)]).await;
    fs::write(guest.workspace("new/sub/file"), "22").expect("writes");
    watch.sees(&[("new/sub/file", Modified)]).await;
    fs::remove_dir_all(guest.workspace("new")).expect("removes");
    watch.sees(&[("new/sub/file", Deleted)]).await;
}

#[tokio::test]
async fn what_is_excluded_is_not_told() {
    let guest = TestGuest::start();
    fs::create_dir_all(guest.workspace("node_modules")).expect("makes");
    let mut watch = Watch::start(&guest).await;
    fs::write(guest.workspace("node_modules/x"), "1").expect("writes");
    fs::create_dir_all(guest.workspace("app/.git")).expect("makes");
    fs::write(guest.workspace("app/.git/HEAD"), "1").expect("writes");
    fs::write(guest.workspace("app/main.rs"), "1").expect("writes");
    watch.sees(&[("app/main.rs", Created)]).await;
}

#[tokio::test]
async fn a_link_to_elsewhere_is_a_change_and_not_a_way() {
    let guest = TestGuest::start();
    let mut watch = Watch::start(&guest).await;
    std::os::unix::fs::symlink("/etc", guest.workspace("link")).expect("links");
    watch.sees(&[("link", Created)]).await;
}

#[tokio::test]
async fn more_changes_than_can_be_told_are_an_overflow_and_the_watch_goes_on() {
    let guest = TestGuest::start();
    let mut watch = Watch::start(&guest).await;
    fs::create_dir(guest.outside().join("many")).expect("makes");
    for n in 0..20_000 {
        fs::write(guest.outside().join(format!("many/{n}")), "").expect("writes");
    }
    // All at once.
    fs::rename(guest.outside().join("many"), guest.workspace("many")).expect("renames");
    while !matches!(watch.event().await, WatchEvent::Overflow { .. }) {}
    fs::write(guest.workspace("many/7"), "changed").expect("writes");
    watch.sees(&[("many/7", Modified)]).await;
}

#[tokio::test]
async fn a_root_that_is_not_there_does_not_disturb_the_others() {
    let guest = TestGuest::start();
    fs::remove_dir(guest.outside().join("user-input")).expect("removes");
    let mut watch = Watch::start(&guest).await;
    fs::write(guest.workspace("file"), "1").expect("writes");
    watch.sees(&[("file", Created)]).await;
}
