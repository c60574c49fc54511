//! The files at the other end of a stream, with an honest scanner and with one that lies.

use std::{fs, os::unix::net::UnixStream as StdUnixStream, path::PathBuf, thread};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
};
use warren_domain::Partition;
use warren_snapshots::{Changes, Hash, RestoreError, Source, TakeError, TakeRequest, Taken, Target, TreeId};
use warren_tree::{
    File, Piece, Seen,
    scan::{Batch, DirRef, Found, FoundDir, FoundEntry, FoundWhat},
    wire::{HEADER, Message, parse_header, serve_scan, serve_write},
};

use crate::ground::{Ground, look};

/// A thread with the files, and the stream to it.
fn other_end(serve: impl FnOnce(StdUnixStream, StdUnixStream) + Send + 'static) -> UnixStream {
    let (ours, theirs) = StdUnixStream::pair().expect("a pair");
    thread::spawn(move || {
        let output = theirs.try_clone().expect("a clone");
        serve(theirs, output);
    });
    ours.set_nonblocking(true).expect("non-blocking");
    UnixStream::from_std(ours).expect("a socket")
}

fn roots(path: PathBuf) -> Vec<(String, PathBuf)> {
    vec![("workspace".to_owned(), path)]
}

pub(crate) async fn take(ground: &Ground, base: Option<TreeId>) -> Taken {
    let workspace = ground.workspace();
    let stream = other_end(move |input, output| {
        // The host ends the stream when it has all.
        _ = serve_scan(roots(workspace), input, output);
    });
    let request = TakeRequest::new("place", base);
    ground.snapshots.take(&ground.partition, Source::guest(stream), request).await.expect("takes")
}

#[tokio::test]
async fn a_tree_over_a_stream_is_the_same_tree() {
    let ground = Ground::new();
    ground.write("a/b.txt", "hello");
    ground.write("a/same.txt", "hello");
    ground.write("big", (0..3_000_000_u64).map(|n| ((n * n) >> 9) as u8).collect::<Vec<_>>());
    ground.write("node_modules/x", "x");
    let first = take(&ground, None).await;
    assert_eq!((first.n_files, &first.excluded[..]), (3, &["workspace/node_modules".to_owned()][..]));
    let here = Source::directories(roots(ground.workspace()));
    let request = TakeRequest { place: None, ..TakeRequest::new("", None) };
    let local = ground.snapshots.take(&ground.partition, here, request).await.expect("takes");
    assert_eq!((local.tree, local.stored_bytes), (first.tree, 0));

    let again = take(&ground, Some(first.tree)).await;
    assert_eq!((again.tree, again.changes, again.stored_bytes), (first.tree, Changes::default(), 0));
    // A file that is as young as the scan is read once more, but nothing of it is lacking.
    assert_eq!((first.sent_bytes, local.sent_bytes, again.sent_bytes), (3_000_010, 0, 0));
    ground.write("a/b.txt", "changed");
    fs::remove_file(ground.workspace().join("a/same.txt")).expect("removes");
    let second = take(&ground, Some(first.tree)).await;
    assert_eq!(second.changes, Changes { added: 0, changed: 1, removed: 1 });
    assert!(second.stored_bytes < 2_000, "{}", second.stored_bytes);
    assert_eq!(second.sent_bytes, 7, "only what is lacking");
}

#[tokio::test]
async fn a_guest_is_given_no_other_roots_than_those_that_are_meant() {
    let ground = Ground::new();
    ground.write("a", "mine");
    let [home, to] = ["home", "to"].map(|name| ground.directory.path().join(name));
    fs::create_dir_all(&home).expect("makes");
    fs::write(home.join("b"), "yours").expect("writes");
    let both = [roots(ground.workspace()), vec![("home".to_owned(), home)]].concat();
    let request = TakeRequest { place: None, ..TakeRequest::new("", None) };
    let taken = ground.snapshots.take(&ground.partition, Source::directories(both), request).await;
    let taken = taken.expect("takes");
    for name in ["workspace", "home"] {
        fs::create_dir_all(to.join(name)).expect("makes");
    }
    let all = ["workspace", "home"].map(|name| (name.to_owned(), to.join(name))).to_vec();
    let stream = other_end(move |input, output| _ = serve_write(all, input, output));
    let target = Target::guest(stream).only(vec!["home".to_owned()]);
    ground.snapshots.restore(&ground.partition, taken.tree, target, None).await.expect("restores");
    assert_eq!(fs::read(to.join("home/b")).expect("reads"), b"yours");
    assert_eq!(fs::read_dir(to.join("workspace")).expect("lists").count(), 0);
}

#[tokio::test]
async fn a_tree_is_written_over_a_stream_and_known_again_afterwards() {
    let ground = Ground::new();
    ground.write("a/b.txt", "hello");
    ground.write("big", (0..5_000_000_u64).map(|n| ((n * n) >> 9) as u8).collect::<Vec<_>>());
    fs::create_dir(ground.workspace().join("empty")).expect("makes");
    let taken = ground.take(None).await;
    let path = ground.directory.path().join("new");
    fs::create_dir(&path).expect("a directory");
    let to = path.clone();
    let stream = other_end(move |input, output| _ = serve_write(roots(to), input, output));
    let restore = ground.snapshots.restore(&ground.partition, taken.tree, Target::guest(stream), Some("new"));
    let restored = restore.await.expect("restores");
    assert_eq!(restored.n_files, 2);
    assert_eq!(look(&path), look(&ground.workspace()));
    let request = TakeRequest::new("new", Some(taken.tree));
    let again = ground.snapshots.take(&ground.partition, Source::directories(roots(path)), request).await;
    let again = again.expect("takes");
    assert_eq!((again.tree, again.stored_bytes), (taken.tree, 0));
}

#[tokio::test]
async fn a_place_that_is_not_empty_is_refused_with_the_reason() {
    let ground = Ground::new();
    ground.write("a", "x");
    let taken = ground.take(None).await;
    let workspace = ground.workspace();
    let stream = other_end(move |input, output| _ = serve_write(roots(workspace), input, output));
    let restored = ground.snapshots.restore(&ground.partition, taken.tree, Target::guest(stream), None).await;
    let Err(RestoreError::Refused { message }) = restored else { panic!("{restored:?}") };
    assert!(message.contains("workspace/a"), "{message}");
}

/// A scanner that says whatever the test wants after the host's part.
async fn lie(ground: &Ground, partition: &Partition, lies: Vec<Message>) -> TakeError {
    let (ours, mut theirs) = tokio::io::duplex(1 << 20);
    let liar = async move {
        loop {
            let mut header = [0; HEADER];
            theirs.read_exact(&mut header).await.expect("a message");
            let (kind, length) = parse_header(header).expect("a header");
            let mut payload = vec![0; length];
            theirs.read_exact(&mut payload).await.expect("a payload");
            if matches!(Message::decode(kind, payload), Ok(Message::Go { .. })) {
                break;
            }
        }
        for lie in lies {
            // The host may have had enough already.
            _ = theirs.write_all(&lie.encode().expect("encodes")).await;
        }
        theirs
    };
    let take = ground.snapshots.take(partition, Source::guest(ours), TakeRequest::default());
    let (taken, _theirs) = tokio::join!(take, liar);
    taken.map(|taken| taken.tree).expect_err("a lie")
}

fn file(hash: Hash, len: u32) -> Vec<Message> {
    let entry = |name: &[u8], what| {
        Found::Entry(FoundEntry { name: name.into(), mode: 0o644, mtime_ns: 0, seen: Seen::default(), what })
    };
    let content = File { size: len.into(), pieces: vec![Piece::Data { hash, len }] };
    vec![
        Message::Found(FoundDir {
            at: DirRef::Base(0),
            entries: vec![entry(b"workspace", FoundWhat::Directory(DirRef::New(0)))],
        }),
        Message::Found(FoundDir {
            at: DirRef::New(0),
            entries: vec![entry(b"loot", FoundWhat::File(content))],
        }),
        Message::Done,
    ]
}

#[tokio::test]
async fn a_scanner_cannot_name_what_another_partition_has() {
    let ground = Ground::new();
    ground.write("secret", "of another");
    ground.take(None).await;
    let secret = Hash::of(b"of another");
    let stranger = Partition("stranger".to_owned());
    let error = lie(&ground, &stranger, file(secret, 10)).await;
    assert!(matches!(error, TakeError::Protocol { .. }), "{error:?}");
    // Nor is it told whether somebody has it: it is asked to bring it, and it cannot.
    let mut lies = vec![Message::Ask { id: 0, chunks: vec![(secret, 10)] }];
    lies.extend(file(secret, 10));
    let error = lie(&ground, &stranger, lies).await;
    assert!(matches!(error, TakeError::Protocol { .. }), "{error:?}");
}

#[tokio::test]
async fn a_scan_that_cannot_be_true_is_refused() {
    let ground = Ground::new();
    let hash = Hash::of(b"right");
    let batch = |hash, data: &[u8]| {
        Message::Chunks(Batch { chunks: vec![(hash, data.len() as u32)], data: data.to_vec() })
    };
    let dir = |at, entries| Message::Found(FoundDir { at, entries });
    let nested = |name: &[u8], at| {
        let what = FoundWhat::Directory(at);
        Found::Entry(FoundEntry { name: name.into(), mode: 0, mtime_ns: 0, seen: Seen::default(), what })
    };
    let cases: Vec<Vec<Message>> = vec![
        vec![batch(hash, b"wrong")],
        vec![Message::Lacking { id: 0, marks: vec![] }],
        vec![dir(DirRef::Base(0), vec![Found::Same(7)]), Message::Done],
        vec![dir(DirRef::Base(0), vec![nested(b"a", DirRef::Base(0))]), Message::Done],
        vec![dir(DirRef::Base(0), vec![nested(b"a", DirRef::New(0))]), Message::Done],
        vec![
            dir(DirRef::Base(0), vec![nested(b"a", DirRef::New(0))]),
            dir(DirRef::New(0), vec![nested(b"b", DirRef::New(0))]),
            Message::Done,
        ],
        vec![
            dir(DirRef::Base(0), vec![nested(b"b", DirRef::New(0)), nested(b"a", DirRef::New(1))]),
            dir(DirRef::New(0), vec![]),
            dir(DirRef::New(1), vec![]),
            Message::Done,
        ],
        vec![dir(DirRef::New(5), vec![]), Message::Done],
        vec![dir(DirRef::New(5), vec![]), dir(DirRef::New(5), vec![]), Message::Done],
        vec![Message::Ask { id: 0, chunks: vec![(hash, 5)] }, Message::Done],
        vec![Message::Ask { id: 0, chunks: vec![(hash, 5); 20_000] }],
    ];
    for (n, lies) in cases.into_iter().enumerate() {
        let error = lie(&ground, &ground.partition, lies).await;
        assert!(matches!(error, TakeError::Protocol { .. } | TakeError::Untrue(_)), "case {n}: {error:?}");
    }
}

#[tokio::test]
async fn a_writer_gets_nothing_that_is_not_in_its_tree() {
    let ground = Ground::new();
    ground.write("secret", "of another version");
    ground.take(None).await;
    fs::remove_file(ground.workspace().join("secret")).expect("removes");
    ground.write("mine", "x");
    let mine = ground.take(None).await;
    let (ours, mut theirs) = tokio::io::duplex(1 << 20);
    let fetch = Message::Fetch { id: 0, chunks: vec![(Hash::of(b"of another version"), 18)] };
    theirs.write_all(&fetch.encode().expect("encodes")).await.expect("writes");
    let restored = ground.snapshots.restore(&ground.partition, mine.tree, Target::guest(ours), None).await;
    assert!(matches!(restored, Err(RestoreError::Protocol { .. })), "{restored:?}");
}
