//! Forwarded ports.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};
use warren_guest_api::{
    Announcement, ErrorCode, ExecRequest, Exit, Frame, FrameReader, GuestError, Listening, OpenPort, Request,
    read_frame,
};
use warren_link::Stream;

use crate::support::{PATIENCE, TestGuest, bash, until};

async fn listen(guest: &TestGuest, port: u16) -> Result<(u16, FrameReader<Stream>), GuestError> {
    let request = Request::Listen { name: "models".into(), port };
    let mut control = FrameReader::new(guest.open(&request).await);
    match control.expect().await.expect("a frame") {
        Frame::Reply(json) => Ok((Frame::parse::<Listening>(&json).expect("a port").port, control)),
        Frame::Error(error) => Err(error),
        frame => panic!("{frame:?}"),
    }
}

#[tokio::test]
async fn a_connection_inside_arrives_at_the_host_with_its_name() {
    let mut guest = TestGuest::start();
    let (port, _control) = listen(&guest, 0).await.expect("listens");
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; echo question >&3; cat <&3");
    let program = guest.exec(bash(&script)).await.expect("starts");
    let (header, mut stream) = guest.incoming.next().await.expect("a connection");
    let announcement: Announcement = serde_json::from_slice(&header).expect("an announcement");
    assert_eq!(announcement, Announcement::Accepted { name: "models".into() });
    let mut question = [0; 9];
    stream.read_exact(&mut question).await.expect("reads");
    assert_eq!(&question, b"question\n");
    stream.write_all(b"answer").await.expect("writes");
    stream.shutdown().await.expect("half-closes");
    let outcome = program.finish().await;
    assert_eq!((outcome.stdout.as_str(), outcome.exit), ("answer", Exit::Code(0)));
}

#[tokio::test]
async fn many_connections_at_once_do_not_mix() {
    let mut guest = TestGuest::start();
    let (port, _control) = listen(&guest, 0).await.expect("listens");
    let script = format!(
        "for i in $(seq 40); do (exec 3<>/dev/tcp/127.0.0.1/{port}; echo $i >&3; read a <&3; [ $a = $i ] || echo $i: $a) & done; wait"
    );
    let program = guest.exec(bash(&script)).await.expect("starts");
    let echoes = async {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..40 {
            let (_, mut stream) = guest.incoming.next().await.expect("a connection");
            tasks.spawn(async move {
                let mut line = vec![0; 16];
                let n = stream.read(&mut line).await.expect("reads");
                stream.write_all(&line[..n]).await.expect("writes");
                stream.shutdown().await.expect("half-closes");
            });
        }
        tasks.join_all().await;
    };
    let (outcome, ()) = tokio::join!(program.finish(), echoes);
    assert_eq!(outcome.stdout, "");
}

#[tokio::test]
async fn a_port_is_closed_with_its_stream_and_can_be_taken_again() {
    let guest = TestGuest::start();
    let (port, control) = listen(&guest, 0).await.expect("listens");
    assert_eq!(listen(&guest, port).await.expect_err("taken").code, ErrorCode::Port);
    drop(control);
    until("the port is free", || std::net::TcpListener::bind(("127.0.0.1", port)).is_ok()).await;
    listen(&guest, port).await.expect("listens again");
}

#[tokio::test]
async fn the_host_reaches_a_port_inside() {
    let guest = TestGuest::start();
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("listens");
    let port = server.local_addr().expect("an address").port();
    let serving = tokio::task::spawn_blocking(move || {
        use std::io::{Read, Write};
        let (mut connection, _) = server.accept().expect("accepts");
        let mut question = String::new();
        connection.read_to_string(&mut question).expect("reads");
        write!(connection, "answer to {question}").expect("writes");
    });
    let mut stream = guest.open(&Request::Connect { port }).await;
    assert!(matches!(read_frame(&mut stream).await.expect("a frame"), Frame::Reply(_)));
    stream.write_all(b"question").await.expect("writes");
    stream.shutdown().await.expect("half-closes");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("reads to the end");
    assert_eq!(answer, "answer to question");
    serving.await.expect("no panic");
}

#[tokio::test]
async fn a_port_nobody_listens_on_is_an_error() {
    let guest = TestGuest::start();
    let free =
        std::net::TcpListener::bind("127.0.0.1:0").expect("listens").local_addr().expect("an address").port();
    let error = guest.ask::<()>(&Request::Connect { port: free }).await.expect_err("nobody");
    assert_eq!(error.code, ErrorCode::Port);
}

#[tokio::test]
async fn a_program_that_opens_connections_without_end_does_not_harm_the_guest() {
    let mut guest = TestGuest::start();
    let (port, _control) = listen(&guest, 0).await.expect("listens");
    let script = format!(
        "for i in $(seq 150); do exec {{fd}}<>/dev/tcp/127.0.0.1/{port}; done; echo open; sleep 1000"
    );
    let mut program = guest.exec(bash(&script)).await.expect("starts");
    program.says("open").await;
    // Some are forwarded, the others wait in the kernel's queue.
    let mut held = Vec::new();
    for _ in 0..64 {
        held.push(guest.incoming.next().await.expect("a connection"));
    }
    guest.ask::<()>(&Request::Ping).await.expect("lives");
    assert_eq!(guest.shell("echo still here").await.stdout, "still here\n");
}

#[tokio::test]
async fn a_port_is_told_of_while_something_listens_on_it_and_with_whose_it_is() {
    let guest = TestGuest::start();
    let script = "import os, socket, sys; s = socket.create_server(('127.0.0.1', 0)); \
                  print(s.getsockname()[1], flush=True); sys.stdin.read()";
    let directory = guest.workspace("");
    let request = ExecRequest {
        argv: vec!["python3".into(), "-c".into(), script.into()],
        cwd: Some(directory.display().to_string()),
        stdin: true,
        ..bash("")
    };
    let mut ports = PortWatch::start(&guest).await;
    let mut program = guest.exec(request).await.expect("starts");
    let Frame::Output(_, line) = program.next().await else { panic!("it says its port") };
    let port: u16 = String::from_utf8_lossy(&line).trim().parse().expect("a port");
    let open = ports.until_open(port).await;
    assert_eq!(open.group, Some(program.pid));
    let directory = directory.canonicalize().expect("a directory").display().to_string();
    assert_eq!(open.directory.as_deref(), Some(directory.trim_end_matches('/')));
    drop(program);
    ports.until_closed(port).await;
}

#[tokio::test]
async fn port_of_a_process_left_behind_is_reported_when_it_opens_and_when_it_closes() {
    let guest = TestGuest::start();
    let mut ports = PortWatch::start(&guest).await;
    // It listens only once its program has ended, and says where by a file.
    let script = "import os, socket, sys; go = open('go').read(); s = socket.create_server(('127.0.0.1', 0)); \
                  open('new', 'w').write(str(s.getsockname()[1])); os.rename('new', 'port'); open('end').read()";
    let start = format!("mkfifo go end; setsid python3 -c \"{script}\" > log 2>&1 &");
    let directory = guest.workspace("").display().to_string();
    let request = ExecRequest { cwd: Some(directory), ..bash(&start) };
    assert_eq!(guest.exec(request).await.expect("starts").finish().await.exit, Exit::Code(0));
    std::fs::write(guest.workspace("go"), "").expect("the process goes on");
    until("it listens", || guest.workspace("port").exists()).await;
    let port = std::fs::read_to_string(guest.workspace("port")).expect("a file").parse().expect("a port");
    ports.until_open(port).await;
    std::fs::write(guest.workspace("end"), "").expect("the process goes on");
    ports.until_closed(port).await;
}

#[tokio::test]
async fn guest_without_processes_does_not_wake_while_ports_are_watched() {
    let guest = TestGuest::start();
    let _ports = PortWatch::start(&guest).await;
    assert_eq!(guest.shell("sleep 1000 & kill $!; wait; echo gone").await.stdout, "gone\n");
    // What was asked before may still be tidied up. A guest that looks at anything by the clock is never still.
    let pid = guest.process.id();
    let mut before = None;
    for _ in 0..10 {
        let now = Some(n_wake_ups(pid));
        if now == before {
            return;
        }
        before = now;
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    panic!("the guest wakes although nothing runs");
}

/// The watch of a guest for ports.
struct PortWatch(FrameReader<Stream>);

impl PortWatch {
    async fn start(guest: &TestGuest) -> Self {
        let mut frames = FrameReader::new(guest.open(&Request::Ports { ignore: Vec::new() }).await);
        assert!(matches!(frames.expect().await, Ok(Frame::Reply(_))), "the watch begins");
        Self(frames)
    }

    async fn until_open(&mut self, port: u16) -> OpenPort {
        loop {
            if let Some(open) = self.find(port).await {
                return open;
            }
        }
    }

    async fn until_closed(&mut self, port: u16) {
        while self.find(port).await.is_some() {}
    }

    /// The port in the next report. The test's own machine has others, which come and go.
    async fn find(&mut self, port: u16) -> Option<OpenPort> {
        let frame = timeout(PATIENCE, self.0.expect()).await.expect("in time");
        let Ok(Frame::Reply(json)) = frame else { panic!("the watch ended") };
        let ports: Vec<OpenPort> = Frame::parse(&json).expect("ports");
        ports.into_iter().find(|open| open.port == port)
    }
}

/// How often a process has gone to sleep and was woken.
fn n_wake_ups(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it lives");
    let n = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    n.and_then(|n| n.trim().parse().ok()).expect("a number")
}
