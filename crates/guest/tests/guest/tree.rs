//! Whole trees, read and written by the guest's own helper.

use std::fs;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};
use warren_guest_api::{Frame, Request, read_frame};
use warren_link::Stream;
use warren_tree::{
    Entry, File, Hash, Node, Piece, What,
    scan::{Found, FoundWhat},
    wire::{HEADER, Message, parse_header},
};

use crate::support::{PATIENCE, TestGuest};

async fn open(guest: &TestGuest, request: &Request) -> Stream {
    let mut stream = guest.open(request).await;
    let reply = read_frame(&mut stream).await.expect("a frame");
    assert!(matches!(reply, Frame::Reply(_)), "{reply:?}");
    stream
}

async fn say(stream: &mut Stream, message: Message) {
    stream.write_all(&message.encode().expect("encodes")).await.expect("writes");
}

async fn hear(stream: &mut Stream) -> Message {
    let heard = async {
        let mut header = [0; HEADER];
        stream.read_exact(&mut header).await.expect("a header");
        let (kind, length) = parse_header(header).expect("a header");
        let mut payload = vec![0; length];
        stream.read_exact(&mut payload).await.expect("a payload");
        Message::decode(kind, payload).expect("a message")
    };
    timeout(PATIENCE, heard).await.expect("in time")
}

#[tokio::test]
async fn the_roots_are_read_as_one_tree() {
    let guest = TestGuest::start();
    fs::write(guest.workspace("file"), "content").expect("writes");
    std::os::unix::fs::symlink("/etc", guest.workspace("link")).expect("links");
    let mut stream = open(&guest, &Request::ScanTree).await;
    say(&mut stream, Message::Scan { excludes: vec![], max_entries: 100 }).await;
    say(&mut stream, Message::Go { send_all: true }).await;
    let (mut data, mut names) = (Vec::new(), Vec::new());
    loop {
        match hear(&mut stream).await {
            Message::Chunks(batch) => data.extend(batch.data),
            Message::Found(found) => names.extend(found.entries.into_iter().map(|found| match found {
                Found::Entry(entry) => {
                    let kind = match entry.what {
                        FoundWhat::File(_) => "file",
                        FoundWhat::Directory(_) => "directory",
                        FoundWhat::Symlink(_) => "link",
                    };
                    (String::from_utf8_lossy(&entry.name).into_owned(), kind)
                }
                Found::Same(_) => panic!("there is no base"),
            })),
            Message::Done => break,
            message => panic!("{message:?}"),
        }
    }
    names.sort();
    let names: Vec<_> = names.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
    let roots = ["home", "user-input", "workspace"].map(|name| (name, "directory"));
    assert_eq!(names, [("file", "file"), roots[0], ("link", "link"), roots[1], roots[2]]);
    assert_eq!(data, b"content");
}

#[tokio::test]
async fn a_tree_is_written_into_the_roots_and_nowhere_else() {
    let guest = TestGuest::start();
    let content = b"written".to_vec();
    let pieces = vec![Piece::Data { hash: Hash::of(&content), len: 7 }];
    let what = What::File(File { size: 7, pieces });
    let entry = Entry { name: (*b"file").into(), mode: 0o640, mtime_ns: 1_000_000_000, what };
    let node = Node { entries: vec![entry] }.encode();
    let step = |path: &[u8]| Message::Directory {
        root: "workspace".to_owned(),
        path: path.to_vec(),
        mode: 0o755,
        mtime_ns: 0,
        node: node.clone(),
    };
    // Some directories every workspace has from its start.
    fs::create_dir(guest.workspace("there")).expect("made");
    std::os::unix::fs::symlink(guest.outside(), guest.workspace("trap")).expect("links");
    let mut stream = open(&guest, &Request::WriteTree).await;
    for message in [Message::Write, step(b""), step(b"sub"), step(b"there"), Message::PlanEnd] {
        say(&mut stream, message).await;
    }
    let mut seen = Vec::new();
    loop {
        match hear(&mut stream).await {
            Message::Fetch { id, .. } => {
                say(&mut stream, Message::Content { id, data: content.clone() }).await
            }
            Message::Seen { seen: some, .. } => seen.extend(some),
            Message::Done => break,
            message => panic!("{message:?}"),
        }
    }
    for path in ["file", "sub/file", "there/file"] {
        assert_eq!(fs::read(guest.workspace(path)).expect("reads"), content, "{path}");
    }
    assert!(seen.len() == 3 && seen.iter().all(|seen| seen.inode != 0), "{seen:?}");

    for path in [&b"../out"[..], b"/tmp/out", b"sub/../../out", b"..", b"trap", b"file"] {
        let mut stream = open(&guest, &Request::WriteTree).await;
        for message in [Message::Write, step(path), Message::PlanEnd] {
            say(&mut stream, message).await;
        }
        let answer = hear(&mut stream).await;
        assert!(matches!(answer, Message::Failed { .. }), "{answer:?}");
    }
    assert!(!guest.outside().join("out").exists() && !guest.outside().join("file").exists());
}

#[tokio::test]
async fn a_host_that_leaves_takes_the_helper_with_it() {
    let guest = TestGuest::start();
    let stream = open(&guest, &Request::ScanTree).await;
    drop(stream);
    // The guest answers still, and the helper is gone when it does not.
    let left = async {
        let pid = guest.process.id();
        loop {
            guest.ask::<()>(&Request::Ping).await.expect("alive");
            let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("a list");
            if children.trim().is_empty() {
                return;
            }
        }
    };
    timeout(PATIENCE, left).await.expect("the helper ends");
}
