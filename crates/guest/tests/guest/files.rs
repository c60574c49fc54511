//! The file API on ordinary files.

use std::{
    fs,
    os::{fd::OwnedFd, unix::fs::PermissionsExt},
    process::Command,
};

use bytes::Bytes;
use rustix::fs::{Mode, OFlags, mkdirat, openat, symlinkat};
use warren_guest_api::{
    DirEntry, ErrorCode, FileKind, FileLook, FileStat, Frame, FrameReader, GuestError, ListEnd, ListRequest,
    MoveRequest, ReadRequest, Request, WriteHow, WriteRequest, write_frame,
};

use crate::support::{GUEST, TestGuest, in_workspace};

pub(crate) async fn read(guest: &TestGuest, request: ReadRequest) -> Result<Vec<u8>, GuestError> {
    let mut frames = FrameReader::new(guest.open(&Request::Read(request)).await);
    let mut content = Vec::new();
    loop {
        match frames.expect().await.expect("a frame") {
            Frame::Reply(_) => {}
            Frame::Data(data) => content.extend_from_slice(&data),
            Frame::End(_) => return Ok(content),
            Frame::Error(error) => return Err(error),
            frame => panic!("{frame:?}"),
        }
    }
}

pub(crate) async fn read_path(guest: &TestGuest, path: &str) -> Result<Vec<u8>, GuestError> {
    read(guest, ReadRequest { path: in_workspace(path), offset: 0, len: None }).await
}

pub(crate) async fn write(
    guest: &TestGuest,
    path: &str,
    how: WriteHow,
    content: &[u8],
) -> Result<FileStat, GuestError> {
    let request = WriteRequest { path: in_workspace(path), how, mode: None };
    let (reader, mut writer) = tokio::io::split(guest.open(&Request::Write(request)).await);
    for chunk in content.chunks(64 * 1024) {
        // A guest that refuses does not read on.
        _ = write_frame(&mut writer, &Frame::Data(Bytes::copy_from_slice(chunk))).await;
    }
    _ = write_frame(&mut writer, &Frame::End(Bytes::new())).await;
    match FrameReader::new(reader).expect().await.expect("a frame") {
        Frame::Reply(json) => Ok(Frame::parse(&json).expect("a stat")),
        Frame::Error(error) => Err(error),
        frame => panic!("{frame:?}"),
    }
}

async fn list(guest: &TestGuest, request: ListRequest) -> (Vec<String>, ListEnd) {
    let mut frames = FrameReader::new(guest.open(&Request::List(request)).await);
    let mut paths = Vec::new();
    loop {
        match frames.expect().await.expect("a frame") {
            Frame::Reply(json) => {
                let entries: Vec<DirEntry> = Frame::parse(&json).expect("entries");
                paths.extend(entries.into_iter().map(|entry| entry.path));
            }
            Frame::End(json) => {
                paths.sort();
                return (paths, Frame::parse(&json).expect("an end"));
            }
            frame => panic!("{frame:?}"),
        }
    }
}

fn everything(path: &str) -> ListRequest {
    ListRequest { path: in_workspace(path), depth: 10, excludes: vec![], limit: 1000 }
}

#[tokio::test]
async fn what_is_written_is_there_and_can_be_read() {
    let guest = TestGuest::start();
    let content: Vec<u8> = (0..3_000_000u32).map(|n| (n % 251) as u8).collect();
    let stat = write(&guest, "new/directories/big", WriteHow::Replace, &content).await.expect("writes");
    assert_eq!((stat.kind, stat.size, stat.mode), (FileKind::File, 3_000_000, 0o644));
    assert!(fs::read(guest.workspace("new/directories/big")).expect("reads") == content);
    assert!(read_path(&guest, "new/directories/big").await.expect("reads") == content);
    assert!(read_path(&guest, "./new//directories/big").await.expect("reads") == content);
}

#[tokio::test]
async fn a_part_of_a_file_can_be_read() {
    let guest = TestGuest::start();
    fs::write(guest.workspace("file"), "0123456789").expect("writes");
    let part = |offset, len| ReadRequest { path: in_workspace("file"), offset, len };
    let cases = [
        (part(3, Some(4)), "3456"),
        (part(8, Some(100)), "89"),
        (part(5, None), "56789"),
        (part(50, None), ""),
        (part(u64::MAX, None), ""),
        (part(0, Some(0)), ""),
    ];
    for (request, expected) in cases {
        assert_eq!(read(&guest, request).await.expect("reads"), expected.as_bytes());
    }
}

#[tokio::test]
async fn replacing_keeps_the_mode_and_leaves_nothing_beside() {
    let guest = TestGuest::start();
    fs::write(guest.workspace("tool"), "old").expect("writes");
    fs::set_permissions(guest.workspace("tool"), fs::Permissions::from_mode(0o755)).expect("sets");
    let stat = write(&guest, "tool", WriteHow::Replace, b"new").await.expect("writes");
    assert_eq!(
        (stat.mode, fs::read_to_string(guest.workspace("tool")).expect("reads")),
        (0o755, "new".into())
    );
    assert_eq!(list(&guest, everything("")).await.0, ["tool"]);
}

#[tokio::test]
async fn a_write_that_is_cut_off_leaves_the_old_file() {
    let guest = TestGuest::start();
    fs::write(guest.workspace("file"), "old").expect("writes");
    let request = WriteRequest { path: in_workspace("file"), how: WriteHow::Replace, mode: None };
    let mut stream = guest.open(&Request::Write(request)).await;
    write_frame(&mut stream, &Frame::Data(Bytes::from_static(b"half"))).await.expect("sends");
    drop(stream);
    crate::support::until("the temporary file is gone", || {
        fs::read_dir(guest.workspace("")).expect("lists").count() == 1
    })
    .await;
    assert_eq!(fs::read_to_string(guest.workspace("file")).expect("reads"), "old");
}

#[tokio::test]
async fn the_ways_to_write_do_what_they_say() {
    let guest = TestGuest::start();
    let code = |result: Result<FileStat, GuestError>| result.expect_err("fails").code;
    write(&guest, "f", WriteHow::CreateNew, b"0123456789").await.expect("writes");
    assert_eq!(code(write(&guest, "f", WriteHow::CreateNew, b"x").await), ErrorCode::AlreadyExists);
    write(&guest, "f", WriteHow::At(3), b"abc").await.expect("writes");
    write(&guest, "f", WriteHow::Append, b"!").await.expect("writes");
    assert_eq!(read_path(&guest, "f").await.expect("reads"), b"012abc6789!");
    assert_eq!(code(write(&guest, "none", WriteHow::At(0), b"x").await), ErrorCode::NotFound);
    write(&guest, "log", WriteHow::Append, b"first").await.expect("writes");
    assert_eq!(read_path(&guest, "log").await.expect("reads"), b"first");
    fs::create_dir(guest.workspace("dir")).expect("makes");
    assert_eq!(code(write(&guest, "dir", WriteHow::Replace, b"x").await), ErrorCode::WrongKind);
    assert_eq!(code(write(&guest, "f/below", WriteHow::Replace, b"x").await), ErrorCode::WrongKind);
    assert_eq!(code(write(&guest, "", WriteHow::Replace, b"x").await), ErrorCode::InvalidRequest);
}

#[tokio::test]
async fn a_file_is_replaced_only_if_it_looks_as_expected_when_all_has_come() {
    let guest = TestGuest::start();
    let look = write(&guest, "f", WriteHow::Replace, b"one").await.expect("writes").look();
    let how = WriteHow::ReplaceIf(look);
    let request = WriteRequest { path: in_workspace("f"), how, mode: None };
    let (reader, mut writer) = tokio::io::split(guest.open(&Request::Write(request)).await);
    write_frame(&mut writer, &Frame::Data(Bytes::from_static(b"half"))).await.expect("sends");
    let overtaking = write(&guest, "f", how, b"two").await.expect("nothing changed yet");
    write_frame(&mut writer, &Frame::End(Bytes::new())).await.expect("sends");
    match FrameReader::new(reader).expect().await.expect("a frame") {
        Frame::Error(error) => assert_eq!(error.code, ErrorCode::Changed),
        frame => panic!("{frame:?}"),
    }
    assert_eq!(read_path(&guest, "f").await.expect("reads"), b"two");
    write(&guest, "f", WriteHow::ReplaceIf(overtaking.look()), b"three").await.expect("it is still so");
    let gone = write(&guest, "none", WriteHow::ReplaceIf(look), b"x").await.expect_err("nothing is there");
    assert_eq!(gone.code, ErrorCode::Changed);
    assert_eq!(list(&guest, everything("")).await.0, ["f"]);
}

#[tokio::test]
async fn no_two_contents_written_one_after_the_other_look_the_same() {
    let guest = TestGuest::start();
    let mut before = 0;
    for n in 0..50u8 {
        let stat = write(&guest, "f", WriteHow::Replace, &[n]).await.expect("writes");
        assert!(stat.mtime_ns > before, "{n}");
        before = stat.mtime_ns;
    }
}

#[tokio::test]
async fn a_listing_goes_as_deep_as_asked_and_not_into_what_is_excluded() {
    let guest = TestGuest::start();
    for path in ["a/b/c/d.txt", "node_modules/x/y.js", "top.txt"] {
        fs::create_dir_all(guest.workspace(path).parent().expect("a parent")).expect("makes");
        fs::write(guest.workspace(path), path).expect("writes");
    }
    std::os::unix::fs::symlink("a", guest.workspace("link")).expect("links");
    let request = |depth, limit| ListRequest {
        path: in_workspace(""),
        depth,
        excludes: vec!["node_modules".into()],
        limit,
    };
    let whole = ListEnd { truncated: false, skipped: 0 };
    assert_eq!(
        list(&guest, request(1, 100)).await,
        (vec!["a".into(), "link".into(), "node_modules".into(), "top.txt".into()], whole)
    );
    assert_eq!(
        list(&guest, request(9, 100)).await.0,
        ["a", "a/b", "a/b/c", "a/b/c/d.txt", "link", "node_modules", "top.txt"]
    );
    let (paths, end) = list(&guest, request(9, 3)).await;
    assert_eq!((paths.len(), end), (3, ListEnd { truncated: true, skipped: 0 }));
}

#[tokio::test]
async fn a_name_that_is_not_text_is_counted_not_told() {
    use std::os::unix::ffi::OsStrExt;
    let guest = TestGuest::start();
    fs::write(guest.workspace("").join(std::ffi::OsStr::from_bytes(b"bad\xff")), "").expect("writes");
    assert_eq!(list(&guest, everything("")).await, (vec![], ListEnd { truncated: false, skipped: 1 }));
}

#[tokio::test]
async fn a_long_listing_arrives_whole() {
    let guest = TestGuest::start();
    let names: Vec<String> = (0..5000).map(|n| format!("{n:04}-{}", "\u{1}".repeat(100))).collect();
    for name in &names {
        fs::write(guest.workspace(name), "").expect("writes");
    }
    let request = ListRequest { limit: 10_000, ..everything("") };
    assert!(list(&guest, request).await.0 == names);
}

#[tokio::test]
async fn stat_tells_what_is_there() {
    let guest = TestGuest::start();
    fs::write(guest.workspace("file"), "12345").expect("writes");
    std::os::unix::fs::symlink("/etc/passwd", guest.workspace("link")).expect("links");
    let stat = async |path: &str| guest.ask::<FileStat>(&Request::Stat { path: in_workspace(path) }).await;
    let file = stat("file").await.expect("is there");
    assert_eq!((file.kind, file.size), (FileKind::File, 5));
    assert_eq!(stat("link").await.expect("is there").kind, FileKind::Symlink);
    assert_eq!(stat("").await.expect("is there").kind, FileKind::Directory);
    assert_eq!(stat("none").await.expect_err("is not").code, ErrorCode::NotFound);
}

#[tokio::test]
async fn removing_takes_what_was_named_and_no_more() {
    let guest = TestGuest::start();
    fs::create_dir_all(guest.workspace("tree/deep/deeper")).expect("makes");
    fs::write(guest.workspace("tree/deep/file"), "").expect("writes");
    fs::write(guest.outside().join("precious"), "").expect("writes");
    std::os::unix::fs::symlink("../..", guest.workspace("tree/up")).expect("links");
    let remove = async |path: &str, recursive| {
        guest
            .ask::<()>(&Request::Remove { path: in_workspace(path), recursive, expected: None })
            .await
            .map_err(|e| e.code)
    };
    assert_eq!(remove("tree", false).await, Err(ErrorCode::NotEmpty));
    assert_eq!(remove("tree", true).await, Ok(()));
    assert_eq!(remove("tree", true).await, Err(ErrorCode::NotFound));
    assert_eq!(remove("", true).await, Err(ErrorCode::InvalidRequest));
    assert!(guest.outside().join("precious").exists());
}

#[tokio::test]
async fn a_move_takes_what_was_named_replaces_nothing_and_leaves_nothing_if_it_fails() {
    let guest = TestGuest::start();
    fs::create_dir_all(guest.workspace("tree/deep")).expect("makes");
    fs::write(guest.workspace("tree/deep/file"), "here").expect("writes");
    fs::write(guest.workspace("other"), "").expect("writes");
    std::os::unix::fs::symlink("other", guest.workspace("link")).expect("links");
    let relocate = async |from: &str, to: &str, expected: Option<FileLook>| {
        let request = MoveRequest { from: in_workspace(from), to: in_workspace(to), expected };
        guest.ask::<FileStat>(&Request::Move(request)).await.map(|stat| stat.kind).map_err(|error| error.code)
    };
    assert_eq!(relocate("tree", "other", None).await, Err(ErrorCode::AlreadyExists));
    assert_eq!(relocate("tree", "other/tree", None).await, Err(ErrorCode::WrongKind));
    assert_eq!(relocate("none", "new/none", None).await, Err(ErrorCode::NotFound));
    assert_eq!(relocate("tree", "", None).await, Err(ErrorCode::InvalidRequest));
    assert_eq!(relocate("", "new/all", None).await, Err(ErrorCode::InvalidRequest));
    assert!(!guest.workspace("new").exists(), "no directory was made for what did not come");
    let old = FileLook { size: 1, mtime_ns: 1 };
    assert_eq!(relocate("other", "new/other", Some(old)).await, Err(ErrorCode::Changed));
    let stat = guest.ask::<FileStat>(&Request::Stat { path: in_workspace("other") }).await.expect("is there");
    assert_eq!(relocate("other", "new/other", Some(stat.look())).await, Ok(FileKind::File));
    assert_eq!(relocate("tree", "new/tree", None).await, Ok(FileKind::Directory));
    assert_eq!(relocate("link", "new/link", None).await, Ok(FileKind::Symlink));
    assert_eq!(fs::read(guest.workspace("new/tree/deep/file")).expect("reads"), b"here");
    assert!(!guest.workspace("tree").exists());
    let remove = Request::Remove { path: in_workspace("new/other"), recursive: true, expected: Some(old) };
    assert_eq!(guest.ask::<()>(&remove).await.expect_err("another").code, ErrorCode::Changed);
}

#[tokio::test]
async fn a_tree_is_removed_however_deep_it_is() {
    let guest = TestGuest::start();
    fs::write(guest.workspace("beside"), "").expect("writes");
    fs::create_dir(guest.workspace("deep")).expect("makes");
    let mut level: OwnedFd = fs::File::open(guest.workspace("deep")).expect("opens").into();
    // Deeper than a path can be long, and than descriptors can be had: each step is made from where the last one led.
    for _ in 0..1500 {
        symlinkat("..", &level, "up").expect("links");
        mkdirat(&level, "other", Mode::RWXU).expect("makes");
        mkdirat(&level, "a-longer-name", Mode::RWXU).expect("makes");
        level = openat(&level, "a-longer-name", OFlags::DIRECTORY, Mode::empty()).expect("opens");
    }
    let remove = Request::Remove { path: in_workspace("deep"), recursive: true, expected: None };
    guest.ask::<()>(&remove).await.expect("removes");
    assert_eq!(list(&guest, everything("")).await.0, ["beside"]);
}

#[tokio::test]
async fn directories_are_made_with_those_above_them() {
    let guest = TestGuest::start();
    let mkdir = async |path: &str| {
        guest.ask::<()>(&Request::Mkdir { path: in_workspace(path) }).await.map_err(|e| e.code)
    };
    assert_eq!(mkdir("a/b/c").await, Ok(()));
    assert_eq!(mkdir("a/b/c").await, Ok(()));
    assert!(guest.workspace("a/b/c").is_dir());
    fs::write(guest.workspace("file"), "").expect("writes");
    assert_eq!(mkdir("file/sub").await, Err(ErrorCode::WrongKind));
}

#[tokio::test]
async fn a_file_too_big_for_the_guest_is_an_error_and_not_its_end() {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("ulimit -f 8; exec {GUEST} \"$@\""), "guest"]);
    let guest = TestGuest::start_as(command);
    let error = write(&guest, "big", WriteHow::Replace, &vec![0; 1_000_000]).await.expect_err("too big");
    assert_eq!(error.code, ErrorCode::NoSpace, "{error}");
    assert_eq!(list(&guest, everything("")).await.0, Vec::<String>::new());
}
