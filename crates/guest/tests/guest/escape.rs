//! Every way out of a root that we know of, and that none of them leads anywhere.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use tokio::task::spawn_blocking;
use warren_guest_api::{ErrorCode, FileStat, ListRequest, MoveRequest, ReadRequest, Request, Root, WriteHow};

use crate::{
    files::{read, read_path, write},
    support::{TestGuest, in_workspace},
};

const SECRET: &[u8] = b"the secret beside the root";

/// A guest with a secret beside its roots.
fn with_secret() -> TestGuest {
    let guest = TestGuest::start();
    fs::create_dir(guest.outside().join("private")).expect("makes");
    fs::write(guest.outside().join("private/secret"), SECRET).expect("writes");
    guest
}

/// Asks for a path in every way there is; returns what was answered.
async fn try_everything(guest: &TestGuest, path: &str) -> Vec<ErrorCode> {
    let at = in_workspace(path);
    let list = ListRequest { path: at.clone(), depth: 1, excludes: vec![], limit: 10 };
    let mut codes = vec![
        read_path(guest, path).await.expect_err("reads").code,
        write(guest, path, WriteHow::Replace, b"overwritten").await.expect_err("replaces").code,
        write(guest, path, WriteHow::Append, b"overwritten").await.expect_err("appends").code,
        write(guest, path, WriteHow::At(0), b"overwritten").await.expect_err("overwrites").code,
    ];
    fs::write(guest.workspace("own"), "").expect("writes");
    for request in [
        Request::List(list),
        Request::Move(MoveRequest { from: in_workspace("own"), to: at.clone(), expected: None }),
        Request::Stat { path: at.clone() },
        Request::Remove { path: at.clone(), recursive: true, expected: None },
        Request::Move(MoveRequest { from: at.clone(), to: in_workspace("taken"), expected: None }),
        Request::Mkdir { path: at.clone() },
    ] {
        codes.push(guest.ask::<serde_json::Value>(&request).await.expect_err("answers").code);
    }
    codes
}

fn assert_untouched(guest: &TestGuest) {
    assert_eq!(fs::read(guest.outside().join("private/secret")).expect("reads"), SECRET);
    let names = |path: &Path| fs::read_dir(path).expect("lists").count();
    assert_eq!((names(&guest.outside().join("private")), names(guest.outside())), (1, 4));
}

#[tokio::test]
async fn paths_that_go_up_or_start_at_the_top_are_refused() {
    let guest = with_secret();
    fs::create_dir(guest.workspace("dir")).expect("makes");
    let absolute = guest.outside().join("private/secret");
    let paths = [
        "../private/secret",
        "dir/../../private/secret",
        "..",
        "dir/../dir/../..",
        "/etc/passwd",
        "//etc/passwd",
        absolute.to_str().expect("UTF-8"),
        "/",
    ];
    for path in paths {
        assert_eq!(try_everything(&guest, path).await, [ErrorCode::PathEscapes; 10], "{path}");
    }
    assert_untouched(&guest);
}

#[tokio::test]
async fn links_in_the_middle_of_a_path_are_refused() {
    let guest = with_secret();
    symlink("../private", guest.workspace("relative")).expect("links");
    symlink(guest.outside().join("private"), guest.workspace("absolute")).expect("links");
    symlink("/proc/self/root", guest.workspace("magic")).expect("links");
    symlink("loop", guest.workspace("loop")).expect("links");
    for path in ["relative/secret", "absolute/secret", "magic/etc/passwd", "loop/secret"] {
        assert_eq!(try_everything(&guest, path).await, [ErrorCode::PathEscapes; 10], "{path}");
    }
    assert_untouched(&guest);
}

#[tokio::test]
async fn a_link_at_the_end_is_neither_read_nor_written_through() {
    let guest = with_secret();
    symlink("../private/secret", guest.workspace("link")).expect("links");
    assert_eq!(read_path(&guest, "link").await.expect_err("a link").code, ErrorCode::PathEscapes);
    for how in [WriteHow::Replace, WriteHow::CreateNew, WriteHow::Append, WriteHow::At(0)] {
        let error = write(&guest, "link", how, b"overwritten").await.expect_err("a link");
        assert_eq!(error.code, ErrorCode::PathEscapes, "{how:?}");
    }
    // Removing it removes the link.
    let request = Request::Remove { path: in_workspace("link"), recursive: true, expected: None };
    guest.ask::<()>(&request).await.expect("removes");
    assert_untouched(&guest);
}

#[tokio::test]
async fn magic_links_are_refused_even_where_a_root_holds_them() {
    let guest = TestGuest::start_with(&["--landlock", "off"]);
    // A second guest whose workspace is the first one's directory in /proc: the worst place a root could be.
    let proc = format!("workspace=/proc/{}", std::process::id());
    let mut command = std::process::Command::new(crate::support::GUEST);
    command.arg("--landlock").arg("off");
    let worst = TestGuest::start_last(command, &["--root", &proc]);
    for path in ["cwd/Cargo.toml", "root/etc/passwd", "exe", "fd/0"] {
        assert_eq!(read_path(&worst, path).await.expect_err("magic").code, ErrorCode::PathEscapes, "{path}");
    }
    drop(guest);
}

#[tokio::test]
async fn what_is_not_a_regular_file_is_not_opened_and_nobody_waits() {
    let guest = with_secret();
    rustix::fs::mknodat(
        CWD,
        guest.workspace("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .expect("a fifo");
    let _socket = std::os::unix::net::UnixListener::bind(guest.workspace("socket")).expect("a socket");
    for path in ["fifo", "socket", ""] {
        assert_eq!(
            read_path(&guest, path).await.expect_err("not a file").code,
            ErrorCode::WrongKind,
            "{path}"
        );
    }
    for path in ["fifo", "socket"] {
        let error = write(&guest, path, WriteHow::Append, b"x").await.expect_err("not a file");
        assert_eq!(error.code, ErrorCode::WrongKind, "{path}");
    }
}

#[tokio::test]
async fn paths_that_are_no_paths_are_refused() {
    let guest = with_secret();
    let long = "x/".repeat(3000);
    for path in ["a\0b", long.as_str(), &"n".repeat(300)] {
        let error = read_path(&guest, path).await.expect_err("no path");
        assert_eq!(error.code, ErrorCode::InvalidRequest);
    }
    let request =
        ReadRequest { path: warren_guest_api::FilePath::new(Root::Home, "x"), offset: 0, len: None };
    assert_eq!(read(&guest, request).await.expect_err("empty home").code, ErrorCode::NotFound);
}

#[tokio::test]
async fn a_directory_swapped_for_a_link_again_and_again_never_leaks() {
    let guest = with_secret();
    fs::create_dir(guest.workspace("dir")).expect("makes");
    fs::write(guest.workspace("dir/secret"), "what may be read").expect("writes");
    symlink(guest.outside().join("private"), guest.workspace("link")).expect("links");

    let stop = Arc::new(AtomicBool::new(false));
    let swapper = {
        let (stop, workspace) = (stop.clone(), guest.workspace(""));
        spawn_blocking(move || {
            let (dir, link) = (workspace.join("dir"), workspace.join("link"));
            let mut n_swaps = 0;
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &dir, CWD, &link, RenameFlags::EXCHANGE).expect("swaps");
                n_swaps += 1;
            }
            n_swaps
        })
    };
    let mut n_read = 0;
    for round in 0..2000 {
        match read_path(&guest, "dir/secret").await {
            Ok(content) => {
                assert_eq!(content, b"what may be read");
                n_read += 1;
            }
            Err(error) => assert_eq!(error.code, ErrorCode::PathEscapes, "{error}"),
        }
        if round % 4 == 0 {
            // May succeed inside, must never land outside.
            _ = write(&guest, "dir/planted", WriteHow::Replace, b"planted").await;
            let request =
                Request::Remove { path: in_workspace("dir/planted"), recursive: true, expected: None };
            _ = guest.ask::<()>(&request).await;
            _ = guest.ask::<FileStat>(&Request::Stat { path: in_workspace("dir/secret") }).await;
        }
    }
    stop.store(true, Ordering::Relaxed);
    let n_swaps = swapper.await.expect("no panic");
    println!("{n_read} of 2000 reads succeeded during {n_swaps} swaps");
    assert_untouched(&guest);
}
