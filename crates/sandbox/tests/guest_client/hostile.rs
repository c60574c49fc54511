//! A guest that lies, floods or stays silent: the client's calls fail, and nothing else happens.

use std::time::Duration;

use bytes::Bytes;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    task::JoinSet,
    time::timeout,
};
use warren_env::Tasks;
use warren_guest_api::{
    DirEntry, EXEC_CREDIT, ExecRequest, FileKind, FilePath, FileStat, Frame, Hello, Landlock, ListEnd,
    ListRequest, Output, PROTOCOL_VERSION, ReadRequest, Request, Root, Started, write_frame,
};
use warren_link::{Options, Role, Stream, start};
use warren_sandbox::guest::{AttachError, CallError, ExecError, Guest};

const PATIENCE: Duration = Duration::from_secs(30);

const STAT: FileStat = FileStat { kind: FileKind::File, size: 3, mode: 0o644, mtime_ns: 0 };

/// A guest that answers hello properly and everything else as `answer` says.
struct Liar {
    guest: Guest,
    _tasks: JoinSet<()>,
}

fn hello(protocol: u32) -> Frame {
    let hello = Hello { protocol, version: "?".into(), pid: 1, uid: 1, landlock: Landlock::Off, cgroups: 0 };
    Frame::reply(&hello).expect("JSON")
}

impl Liar {
    async fn start<A, F>(answer: A) -> Self
    where
        A: Fn(Stream) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let (ours, theirs) = UnixStream::pair().expect("a socketpair");
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let (_opener, mut incoming, driver) = start(theirs, Role::Server, Options::default());
            let mut answers = JoinSet::new();
            let lying = async {
                while let Some((header, mut stream)) = incoming.next().await {
                    match serde_json::from_slice(&header).expect("a request") {
                        Request::Hello => {
                            write_frame(&mut stream, &hello(PROTOCOL_VERSION)).await.expect("sends");
                        }
                        _ => _ = answers.spawn(answer(stream)),
                    }
                }
            };
            _ = tokio::join!(driver, lying);
        });
        let guest = Guest::attach(ours, &Tasks::new()).await.expect("a hello");
        Self { guest, _tasks: tasks }
    }

    /// Answers every request with these frames, and then nothing.
    async fn saying(frames: Vec<Frame>) -> Self {
        Self::start(move |mut stream| {
            let frames = frames.clone();
            async move {
                for frame in frames {
                    // The client may have had enough.
                    _ = write_frame(&mut stream, &frame).await;
                }
                std::future::pending().await
            }
        })
        .await
    }
}

fn at(path: &str) -> FilePath {
    FilePath::new(Root::Workspace, path)
}

fn reply(value: &impl serde::Serialize) -> Frame {
    Frame::reply(value).expect("JSON")
}

#[tokio::test]
async fn a_guest_of_another_protocol_is_refused() {
    let (ours, theirs) = UnixStream::pair().expect("a socketpair");
    let (_opener, mut incoming, driver) = start(theirs, Role::Server, Options::default());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { _ = driver.await });
    let host = Tasks::new();
    let (attached, ()) = tokio::join!(Guest::attach(ours, &host), async {
        let (_, mut stream) = incoming.next().await.expect("a hello");
        write_frame(&mut stream, &hello(999)).await.expect("sends");
    });
    assert!(matches!(attached, Err(AttachError::Version { theirs: 999, .. })), "{attached:?}");
}

#[tokio::test]
async fn something_that_is_no_guest_is_refused_at_once() {
    let (ours, mut theirs) = UnixStream::pair().expect("a socketpair");
    theirs.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.expect("sends");
    let attached = timeout(PATIENCE, Guest::attach(ours, &Tasks::new())).await.expect("in time");
    assert!(matches!(attached, Err(AttachError::Hello(_))), "{attached:?}");
    // And the link is given up.
    let mut rest = Vec::new();
    _ = timeout(PATIENCE, theirs.read_to_end(&mut rest)).await.expect("in time");
}

#[tokio::test]
async fn a_guest_that_ends_instead_of_answering_is_an_error() {
    let (ours, theirs) = UnixStream::pair().expect("a socketpair");
    drop(theirs);
    let attached = timeout(PATIENCE, Guest::attach(ours, &Tasks::new())).await.expect("in time");
    assert!(matches!(attached, Err(AttachError::Hello(_))), "{attached:?}");
}

#[tokio::test]
async fn output_beyond_its_credit_loses_the_program_and_is_not_held() {
    let mut frames = vec![reply(&Started { pid: 7 })];
    for _ in 0..=EXEC_CREDIT / 65536 {
        frames.push(Frame::Output(Output::Stdout, vec![1; 65536].into()));
    }
    let liar = Liar::saying(frames).await;
    let mut exec = liar.guest.exec(ExecRequest::default()).await.expect("starts");
    assert!(matches!(timeout(PATIENCE, exec.wait()).await.expect("in time"), Err(ExecError::Lost)));
    let mut held = Vec::new();
    exec.stdout.read_to_end(&mut held).await.expect_err("was lost");
    assert_eq!(held.len(), EXEC_CREDIT as usize);
}

#[tokio::test]
async fn frames_that_are_not_due_lose_the_program() {
    for frame in [Frame::Data(Bytes::new()), Frame::StdinEnd, Frame::Signal(9), reply(&1)] {
        let liar = Liar::saying(vec![reply(&Started { pid: 7 }), frame.clone()]).await;
        let mut exec = liar.guest.exec(ExecRequest::default()).await.expect("starts");
        let lost = timeout(PATIENCE, exec.wait()).await.expect("in time");
        assert!(matches!(lost, Err(ExecError::Lost)), "{frame:?}");
    }
}

#[tokio::test]
async fn a_listing_that_leads_out_is_not_believed() {
    for path in ["../x", "/etc/passwd", "a//b", "", "a/../../b"] {
        let entries = vec![DirEntry { path: path.into(), stat: STAT }];
        let liar = Liar::saying(vec![reply(&entries)]).await;
        let request = ListRequest { path: at(""), depth: 1, excludes: vec![], limit: 10 };
        let listed = liar.guest.list(request).await;
        assert!(matches!(listed, Err(CallError::Protocol(_))), "{path}: {listed:?}");
    }
}

#[tokio::test]
async fn a_listing_without_end_is_cut_off() {
    let liar = Liar::start(|mut stream| async move {
        let entries = vec![DirEntry { path: "x".into(), stat: STAT }; 100];
        while write_frame(&mut stream, &reply(&entries)).await.is_ok() {}
    })
    .await;
    let request = ListRequest { path: at(""), depth: 1, excludes: vec![], limit: 1000 };
    let listed = timeout(PATIENCE, liar.guest.list(request)).await.expect("in time");
    assert!(matches!(listed, Err(CallError::Protocol(_))));
}

#[tokio::test]
async fn a_file_that_goes_on_past_what_was_asked_for_or_breaks_off_is_an_error() {
    let data = || Frame::Data(Bytes::from_static(b"12345"));
    let liar = Liar::saying(vec![reply(&STAT), data(), data()]).await;
    let mut reader =
        liar.guest.read(ReadRequest { path: at("f"), offset: 0, len: Some(7) }).await.expect("opens");
    reader.next().await.expect("within what was asked for");
    assert!(matches!(reader.next().await, Err(CallError::Protocol(_))));

    let liar = Liar::start(move |mut stream| async move {
        write_frame(&mut stream, &reply(&STAT)).await.expect("sends");
        write_frame(&mut stream, &data()).await.expect("sends");
        stream.shutdown().await.expect("ends");
    })
    .await;
    let read = liar.guest.read_all(at("f"), 100).await;
    assert!(matches!(read, Err(CallError::Protocol(_))), "{read:?}");
}

#[tokio::test]
async fn a_reply_that_is_not_json_or_of_another_type_is_an_error() {
    for frame in [Frame::Reply(Bytes::from_static(b"{")), reply(&"text"), Frame::End(Bytes::new())] {
        let liar = Liar::saying(vec![frame.clone()]).await;
        let answered = liar.guest.stat(at("f")).await;
        assert!(matches!(answered, Err(CallError::Protocol(_))), "{frame:?}: {answered:?}");
    }
}

#[tokio::test]
async fn a_listing_end_without_json_is_an_error() {
    let liar = Liar::saying(vec![Frame::End(Bytes::new())]).await;
    let request = ListRequest { path: at(""), depth: 1, excludes: vec![], limit: 10 };
    assert!(matches!(liar.guest.list(request).await, Err(CallError::Protocol(_))));
    let end = serde_json::to_vec(&ListEnd::default()).expect("JSON");
    let liar = Liar::saying(vec![Frame::End(end.into())]).await;
    let request = ListRequest { path: at(""), depth: 1, excludes: vec![], limit: 10 };
    assert_eq!(liar.guest.list(request).await.expect("lists").entries, []);
}

#[tokio::test]
async fn streams_nobody_asked_for_are_reset() {
    let (ours, theirs) = UnixStream::pair().expect("a socketpair");
    let (opener, mut incoming, driver) = start(theirs, Role::Server, Options::default());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { _ = driver.await });
    tasks.spawn(async move {
        while let Some((_, mut stream)) = incoming.next().await {
            write_frame(&mut stream, &hello(PROTOCOL_VERSION)).await.expect("sends");
        }
    });
    let _guest = Guest::attach(ours, &Tasks::new()).await.expect("a hello");
    for header in [&b"nonsense"[..], br#"{"announcement":"accepted","name":"nobody"}"#] {
        let mut stream = opener.open(header).await.expect("opens");
        timeout(PATIENCE, stream.read_u8()).await.expect("in time").expect_err("is reset");
    }
}
