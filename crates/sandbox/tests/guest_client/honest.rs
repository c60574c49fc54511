//! The real guest as an ordinary process: what the client makes of it.

use std::{
    collections::BTreeMap,
    fs,
    os::{fd::OwnedFd, unix::net::UnixStream as StdUnixStream},
    path::PathBuf,
    process::{Child, Command},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    time::timeout,
};
use warren_env::Tasks;
use warren_guest_api::{
    ChangeKind, ErrorCode, ExecRequest, Exit, FilePath, ListRequest, ReadRequest, Root, WatchEvent,
    WatchRequest, WriteHow, WriteRequest,
};
use warren_sandbox::guest::{CallError, Exec, ExecError, Guest};

const PATIENCE: Duration = Duration::from_secs(30);

struct Host {
    guest: Guest,
    process: Process,
    directory: TempDir,
}

/// Killed when dropped, if it has not ended by itself.
struct Process(Child);

impl Host {
    async fn start() -> Self {
        let directory = TempDir::new().expect("a directory");
        let (ours, theirs) = StdUnixStream::pair().expect("a socketpair");
        let mut command = Command::new(env!("WARREN_GUEST"));
        for root in Root::ALL {
            let path = directory.path().join(root.name());
            fs::create_dir(&path).expect("a root");
            command.arg("--root").arg(format!("{}={}", root.name(), path.display()));
        }
        let process = command.stdin(OwnedFd::from(theirs)).spawn().expect("the guest starts");
        drop(command);
        ours.set_nonblocking(true).expect("non-blocking");
        let io = UnixStream::from_std(ours).expect("a socket");
        let guest = Guest::attach(io, &Tasks::new()).await.expect("the guest says hello");
        Self { guest, process: Process(process), directory }
    }

    fn workspace(&self, path: &str) -> PathBuf {
        self.directory.path().join("workspace").join(path)
    }

    async fn shell(&self, script: &str) -> Exec {
        self.guest.exec(shell(script)).await.expect("starts")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Without a PID namespace, programs outlive a guest that is killed.
        let pid = self.0.id();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        for child in children.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)) {
            _ = kill_process_group(child, Signal::KILL);
        }
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn shell(script: &str) -> ExecRequest {
    ExecRequest {
        argv: vec!["/bin/bash".into(), "-c".into(), script.into()],
        env: BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]),
        ..ExecRequest::default()
    }
}

fn at(path: &str) -> FilePath {
    FilePath::new(Root::Workspace, path)
}

fn write_to(path: &str) -> WriteRequest {
    WriteRequest { path: at(path), how: WriteHow::Replace, mode: None }
}

#[tokio::test]
async fn a_program_is_run_with_stdin_outputs_and_exit() {
    let host = Host::start().await;
    let request = ExecRequest { stdin: true, ..shell("cat; echo oops >&2; exit 3") };
    let mut exec = host.guest.exec(request).await.expect("starts");
    exec.stdin.take().expect("a stdin").write_all(b"hello").await.expect("writes");
    let (mut stdout, mut stderr) = (String::new(), String::new());
    exec.stdout.read_to_string(&mut stdout).await.expect("reads");
    exec.stderr.read_to_string(&mut stderr).await.expect("reads");
    let exit = exec.wait().await.expect("ends");
    assert_eq!((stdout.as_str(), stderr.as_str(), exit), ("hello", "oops\n", Exit::Code(3)));
    assert_eq!(exec.wait().await.expect("may be asked again"), Exit::Code(3));
}

#[tokio::test]
async fn megabytes_flow_through_a_program() {
    let host = Host::start().await;
    let mut exec = host.guest.exec(ExecRequest { stdin: true, ..shell("cat") }).await.expect("starts");
    let sent: Vec<u8> = (0..8_000_000u32).map(|n| (n % 253) as u8).collect();
    let mut stdin = exec.stdin.take().expect("a stdin");
    let writing = async {
        stdin.write_all(&sent).await.expect("writes");
        stdin.shutdown().await.expect("ends");
    };
    let mut received = Vec::new();
    let (_, read) = tokio::join!(writing, exec.stdout.read_to_end(&mut received));
    read.expect("reads");
    assert!(received == sent);
    assert_eq!(exec.wait().await.expect("ends"), Exit::Code(0));
}

#[tokio::test]
async fn an_output_nobody_reads_does_not_hold_up_the_other_one() {
    let host = Host::start().await;
    let mut exec = host.shell("echo out; exec 1>&2; head -c 1000000 /dev/zero").await;
    let mut stdout = String::new();
    timeout(PATIENCE, exec.stdout.read_to_string(&mut stdout)).await.expect("in time").expect("reads");
    assert_eq!(stdout, "out\n");
    let mut stderr = Vec::new();
    exec.stderr.read_to_end(&mut stderr).await.expect("reads");
    assert_eq!((stderr.len(), exec.wait().await.expect("ends")), (1_000_000, Exit::Code(0)));
}

#[tokio::test]
async fn an_output_that_is_dropped_does_not_hold_up_the_program() {
    let host = Host::start().await;
    let mut exec = host.shell("head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >&2; exit 4").await;
    let stdout = std::mem::replace(&mut exec.stdout, host.shell("true").await.stdout);
    drop(stdout);
    let mut stderr = Vec::new();
    exec.stderr.read_to_end(&mut stderr).await.expect("reads");
    assert_eq!((stderr.len(), exec.wait().await.expect("ends")), (5_000_000, Exit::Code(4)));
}

#[tokio::test]
async fn a_signal_ends_a_program_and_dropping_it_kills_it() {
    let host = Host::start().await;
    let mut exec = host.shell("sleep 1000").await;
    exec.kill(15).await;
    assert_eq!(exec.wait().await.expect("ends"), Exit::Signal(15));
    exec.kill(15).await;

    let exec = host.shell("trap '' TERM; sleep 1000").await;
    let pid = exec.pid();
    drop(exec);
    let gone = async {
        while PathBuf::from(format!("/proc/{pid}")).exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, gone).await.expect("it is killed");
}

#[tokio::test]
async fn a_program_that_cannot_start_is_a_refusal_with_a_code() {
    let host = Host::start().await;
    let request = ExecRequest { argv: vec!["/no/such".into()], ..ExecRequest::default() };
    let error = host.guest.exec(request).await.expect_err("is not there");
    assert_eq!(error.code(), Some(ErrorCode::NotFound));
}

#[tokio::test]
async fn files_go_in_and_out() {
    let host = Host::start().await;
    let content: Vec<u8> = (0..2_000_000u32).map(|n| (n % 255) as u8).collect();
    let stat = host.guest.write(write_to("a/b/file"), &content[..]).await.expect("writes");
    assert_eq!((stat.size, stat), (2_000_000, host.guest.stat(at("a/b/file")).await.expect("stats")));
    assert!(host.guest.read_all(at("a/b/file"), 3_000_000).await.expect("reads") == content);
    let error = host.guest.read_all(at("a/b/file"), 1000).await.expect_err("too long");
    assert!(matches!(error, CallError::TooLong { max: 1000 }));

    let request = ReadRequest { path: at("a/b/file"), offset: 10, len: Some(5) };
    let mut reader = host.guest.read(request).await.expect("opens");
    assert_eq!(reader.next().await.expect("reads").as_deref(), Some(&content[10..15]));
    assert_eq!(reader.next().await.expect("reads"), None);

    host.guest.mkdir(at("empty")).await.expect("makes");
    let request = ListRequest { path: at(""), depth: 9, excludes: vec![], limit: 100 };
    let listing = host.guest.list(request).await.expect("lists");
    let paths: Vec<_> = listing.entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(paths, ["a", "a/b", "a/b/file", "empty"]);

    assert_eq!(host.guest.remove(at("a")).await.expect_err("not empty").code(), Some(ErrorCode::NotEmpty));
    host.guest.remove_all(at("a"), None).await.expect("removes");
    host.guest.remove(at("empty")).await.expect("removes");
    assert_eq!(fs::read_dir(host.workspace("")).expect("lists").count(), 0);
}

#[tokio::test]
async fn a_write_that_is_refused_says_why_however_much_there_is_to_send() {
    let host = Host::start().await;
    let endless = tokio::io::repeat(7);
    let error = timeout(PATIENCE, host.guest.write(write_to("../out"), endless)).await.expect("in time");
    assert_eq!(error.expect_err("escapes").code(), Some(ErrorCode::PathEscapes));
}

#[tokio::test]
async fn changes_are_seen() {
    let host = Host::start().await;
    let request = WatchRequest { roots: vec![Root::Workspace], excludes: vec![] };
    let mut watch = host.guest.watch(request).await.expect("watches");
    fs::write(host.workspace("file"), "12345").expect("writes");
    let event = timeout(PATIENCE, watch.next()).await.expect("in time").expect("an event");
    let WatchEvent::Changes { changes } = event else { panic!("{event:?}") };
    let seen: Vec<_> = changes.iter().map(|c| (&c.path, c.change, c.stat.map(|stat| stat.size))).collect();
    assert_eq!(seen, [(&at("file"), ChangeKind::Created, Some(5))]);
}

#[tokio::test]
async fn programs_reach_the_host_by_a_port_and_the_host_reaches_programs() {
    let host = Host::start().await;
    let mut listener = host.guest.listen("models", 0).await.expect("listens");
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{}; echo hi >&3; cat <&3", listener.port());
    let mut exec = host.shell(&script).await;
    let mut inside = listener.accept().await.expect("a connection");
    let mut hi = [0; 3];
    inside.read_exact(&mut hi).await.expect("reads");
    inside.write_all(&hi).await.expect("writes");
    inside.shutdown().await.expect("ends");
    let mut echoed = String::new();
    exec.stdout.read_to_string(&mut echoed).await.expect("reads");
    assert_eq!(echoed, "hi\n");

    let mut outside = host.guest.connect(listener.port()).await.expect("connects");
    let mut inside = listener.accept().await.expect("a connection");
    outside.write_all(b"round trip").await.expect("writes");
    outside.shutdown().await.expect("ends");
    let mut text = String::new();
    inside.read_to_string(&mut text).await.expect("reads");
    assert_eq!(text, "round trip");

    let port = listener.port();
    drop(listener);
    let refused = async { while host.guest.connect(port).await.is_ok() {} };
    timeout(PATIENCE, refused).await.expect("the port closes");
}

#[tokio::test]
async fn a_guest_that_dies_is_noticed_by_everything() {
    let mut host = Host::start().await;
    let mut exec = host.shell("sleep 1000").await;
    let mut listener = host.guest.listen("models", 0).await.expect("listens");
    host.process.0.kill().expect("kills");
    timeout(PATIENCE, host.guest.closed()).await.expect("the link ends");
    assert!(matches!(exec.wait().await, Err(ExecError::Lost)));
    exec.stdout.read_u8().await.expect_err("an error, not an end");
    assert!(listener.accept().await.is_none());
    assert!(matches!(host.guest.ping().await, Err(CallError::Reach(_))));
    if let Some(pid) = Pid::from_raw(exec.pid().cast_signed()) {
        // Without a PID namespace nobody else does it.
        kill_process_group(pid, Signal::KILL).expect("kills");
    }
}

#[tokio::test]
async fn a_guest_that_is_told_to_go_goes() {
    let mut host = Host::start().await;
    host.guest.shutdown().await.expect("obeys");
    timeout(PATIENCE, host.guest.closed()).await.expect("the link ends");
    assert!(host.process.0.wait().expect("waits").success());
}

#[tokio::test]
async fn a_guest_nobody_holds_ends_and_a_program_holds_it() {
    let host = Host::start().await;
    let mut exec = host.shell("cat; echo lived").await;
    let Host { guest, mut process, directory: _directory } = host;
    drop(guest);
    let mut stdout = String::new();
    exec.stdout.read_to_string(&mut stdout).await.expect("reads");
    assert_eq!(stdout, "lived\n");
    drop(exec);
    let waiting = tokio::task::spawn_blocking(move || process.0.wait().expect("waits"));
    assert!(timeout(PATIENCE, waiting).await.expect("in time").expect("no panic").success());
}

#[tokio::test]
async fn a_thousand_pings_take_a_moment() {
    let host = Host::start().await;
    let started = std::time::Instant::now();
    for _ in 0..1000 {
        timeout(PATIENCE, host.guest.ping()).await.expect("in time").expect("answers");
    }
    println!("a ping takes {:?}", started.elapsed() / 1000);
}
