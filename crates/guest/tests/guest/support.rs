//! A guest under test, and a host that only does what it is told.

use std::{
    collections::BTreeMap,
    fs,
    os::{fd::OwnedFd, unix::net::UnixStream as StdUnixStream},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde::de::DeserializeOwned;
use tempfile::TempDir;
use tokio::{
    net::UnixStream,
    task::{JoinSet, spawn_blocking},
    time::timeout,
};
use warren_guest_api::{
    ExecRequest, Exit, FilePath, Frame, FrameReader, GuestError, Output, Request, Root, Started, write_frame,
};
use warren_link::{Incoming, LinkError, Opener, Options, Role, Stream, start};

/// For what must happen, however slow the machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct TestGuest {
    pub(crate) opener: Opener,
    pub(crate) incoming: Incoming,
    pub(crate) process: Child,
    driver: JoinSet<Result<(), LinkError>>,
    directory: TempDir,
}

impl TestGuest {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    pub(crate) fn start_with(options: &[&str]) -> Self {
        let mut command = Command::new(GUEST);
        command.args(options);
        Self::start_as(command)
    }

    /// Starts a guest by any command line; the roots are added to it.
    pub(crate) fn start_as(command: Command) -> Self {
        Self::start_last(command, &[])
    }

    /// Likewise, with options that come after the roots and so have the last word.
    pub(crate) fn start_last(mut command: Command, last: &[&str]) -> Self {
        let directory = TempDir::new().expect("a directory");
        for root in Root::ALL {
            let path = directory.path().join(root.name());
            fs::create_dir(&path).expect("a root");
            command.arg("--root").arg(format!("{}={}", root.name(), path.display()));
        }
        command.args(last);
        let (ours, theirs) = StdUnixStream::pair().expect("a socketpair");
        let process = command.stdin(OwnedFd::from(theirs)).spawn().expect("the guest starts");
        // The command holds the guest's end too, which would keep the link up after the guest's death.
        drop(command);
        ours.set_nonblocking(true).expect("non-blocking");
        let ours = UnixStream::from_std(ours).expect("a socket");
        let (opener, incoming, driver) = start(ours, Role::Client, Options::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(driver);
        Self { opener, incoming, process, driver: tasks, directory }
    }

    /// A path outside of the guest, beneath its workspace.
    pub(crate) fn workspace(&self, path: &str) -> PathBuf {
        self.directory.path().join("workspace").join(path)
    }

    /// What lies beside the roots, where nothing should ever be written or read.
    pub(crate) fn outside(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) async fn open(&self, request: &Request) -> Stream {
        self.opener.open(&serde_json::to_vec(request).expect("JSON")).await.expect("opens")
    }

    /// A request with one reply.
    pub(crate) async fn ask<T: DeserializeOwned>(&self, request: &Request) -> Result<T, GuestError> {
        let stream = self.open(request).await;
        match timeout(PATIENCE, FrameReader::new(stream).expect()).await.expect("in time").expect("a frame") {
            Frame::Reply(json) => Ok(Frame::parse(&json).expect("the right reply")),
            Frame::Error(error) => Err(error),
            frame => panic!("{frame:?} is no reply"),
        }
    }

    /// Starts a program.
    pub(crate) async fn exec(&self, request: ExecRequest) -> Result<Running, GuestError> {
        let stream = self.open(&Request::Exec(request)).await;
        let mut frames = FrameReader::new(stream);
        match frames.expect().await.expect("a frame") {
            Frame::Reply(json) => {
                let Started { pid } = Frame::parse(&json).expect("the right reply");
                Ok(Running { pid, frames })
            }
            Frame::Error(error) => Err(error),
            frame => panic!("{frame:?} is no reply"),
        }
    }

    /// Runs a shell script to its end.
    pub(crate) async fn shell(&self, script: &str) -> Outcome {
        self.exec(shell(script)).await.expect("starts").finish().await
    }

    /// Waits for the guest's own end.
    pub(crate) async fn ended(mut self) -> ExitStatus {
        let waiting = spawn_blocking(move || self.process.wait().expect("waits"));
        timeout(PATIENCE, waiting).await.expect("in time").expect("no panic")
    }

    /// Ends the link, as a host does that goes away.
    pub(crate) fn hang_up(&mut self) {
        self.driver.abort_all();
    }
}

impl Drop for TestGuest {
    fn drop(&mut self) {
        // Without a PID namespace, what programs left behind outlives the guest unless it is killed before.
        let pid = self.process.id();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        for child in children.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)) {
            _ = kill_process_group(child, Signal::KILL);
            _ = kill_process(child, Signal::KILL);
        }
        // It may have ended by itself.
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

pub(crate) const GUEST: &str = env!("CARGO_BIN_EXE_warren-guest");

/// A program that runs.
pub(crate) struct Running {
    pub(crate) pid: u32,
    pub(crate) frames: FrameReader<Stream>,
}

/// What a program did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit: Exit,
}

impl Running {
    pub(crate) async fn next(&mut self) -> Frame {
        timeout(PATIENCE, self.frames.expect()).await.expect("in time").expect("a frame")
    }

    /// Reads stdout until it contains `text`.
    pub(crate) async fn says(&mut self, text: &str) {
        let mut said = String::new();
        while !said.contains(text) {
            match self.next().await {
                Frame::Output(Output::Stdout, data) => said.push_str(&String::from_utf8_lossy(&data)),
                frame => panic!("{frame:?} instead of `{text}`, after `{said}`"),
            }
        }
    }

    pub(crate) async fn send(&mut self, frame: Frame) {
        write_frame(self.frames.get_mut(), &frame).await.expect("sends");
    }

    pub(crate) async fn finish(mut self) -> Outcome {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        loop {
            match self.next().await {
                Frame::Output(output, data) => {
                    let credit = u32::try_from(data.len()).expect("short");
                    match output {
                        Output::Stdout => stdout.extend_from_slice(&data),
                        Output::Stderr => stderr.extend_from_slice(&data),
                    }
                    // The program may have ended meanwhile.
                    _ = write_frame(self.frames.get_mut(), &Frame::Credit(output, credit)).await;
                }
                Frame::StdinCredit(_) | Frame::OutputEnd(_) => {}
                Frame::Exit(exit) => {
                    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
                    return Outcome { stdout: text(stdout), stderr: text(stderr), exit };
                }
                frame => panic!("{frame:?} of a program"),
            }
        }
    }
}

pub(crate) fn shell(script: &str) -> ExecRequest {
    ExecRequest {
        argv: vec!["/bin/sh".into(), "-c".into(), script.into()],
        env: BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]),
        ..ExecRequest::default()
    }
}

pub(crate) fn bash(script: &str) -> ExecRequest {
    let mut request = shell(script);
    request.argv[0] = "/bin/bash".into();
    request
}

pub(crate) fn in_workspace(path: &str) -> FilePath {
    FilePath::new(Root::Workspace, path)
}

/// Waits until a condition holds, which it must.
pub(crate) async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, waiting).await.unwrap_or_else(|_| panic!("never came true: {what}"));
}

/// Whether a process is there and not a zombie.
pub(crate) fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.starts_with(" Z"))
}
