//! The real program, in a directory of its own.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use crate::{Process, TestClient, descendants, wait_until_gone};

/// How long a server may take to be ready, or to end.
const PATIENCE: Duration = Duration::from_secs(30);
/// After a server's end everything of its sandboxes is gone within this time.
const GONE_WITHIN: Duration = Duration::from_secs(1);

/// How a server is started.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    config: String,
    variables: BTreeMap<String, String>,
    has_template: bool,
}

/// `warren up` on a free port. When it is dropped, it is killed, and the test fails if anything of it is left.
pub struct TestServer {
    setup: Setup,
    directory: TempDir,
    /// An empty directory, the template of those who begin with nothing.
    _nothing: TempDir,
    running: Option<Running>,
}

struct Running {
    child: Child,
    pid: u32,
    url: String,
    token: String,
}

impl Setup {
    /// The usual one: no key, and a demo model that does not wait.
    #[must_use]
    pub fn new() -> Self {
        Self::default().variable("WARREN_MODELS_DEMO_DELAY_MILLISECONDS", "0")
    }

    /// With these lines in its `warren.toml`.
    #[must_use]
    pub fn config(mut self, lines: &str) -> Self {
        self.config.push_str(lines);
        self.config.push('\n');
        self
    }

    /// With this variable in its environment, which has nothing else but a search path.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// With the template that comes with the program in new workspaces. Without this they begin with nothing, so that tests count
    /// what they made themselves.
    #[must_use]
    pub fn begin_with_template(mut self) -> Self {
        self.has_template = true;
        self
    }

    /// Starts it in a new directory.
    pub async fn start(self) -> TestServer {
        self.start_after(|_| {}).await
    }

    /// Starts it in a new directory, where it does not start. Gives what it said about that.
    pub async fn start_refused(self) -> String {
        let mut server = self.made(|_| {});
        server.restart_refused().await
    }

    /// Starts it in a new directory that was filled with something first.
    pub async fn start_after(self, fill: impl FnOnce(&Path)) -> TestServer {
        let mut server = self.made(fill);
        server.restart().await;
        server
    }

    /// Not started yet.
    fn made(mut self, fill: impl FnOnce(&Path)) -> TestServer {
        // A server refuses a data directory that others can enter.
        let private = fs::Permissions::from_mode(0o700);
        let directory = tempfile::Builder::new().prefix("warren-test-").permissions(private).tempdir();
        let directory = directory.expect("a directory");
        fill(directory.path());
        fs::write(directory.path().join("warren.toml"), &self.config).expect("the configuration is written");
        let nothing = tempfile::tempdir().expect("a directory");
        if !self.has_template && !self.config.contains("outputs_template_path") {
            let path = nothing.path().display().to_string();
            self = self.variable("WARREN_STORAGE_OUTPUTS_TEMPLATE_PATH", &path);
        }
        TestServer { setup: self, directory, _nothing: nothing, running: None }
    }
}

impl TestServer {
    /// Starts a server in the usual way.
    pub async fn start() -> Self {
        Setup::new().start().await
    }

    /// Its data directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Where it can be reached. Another address after each restart.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.running().url
    }

    /// The administrator's token.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.running().token
    }

    /// Its process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.running().pid
    }

    /// The administrator.
    #[must_use]
    pub fn admin(&self) -> TestClient {
        TestClient::new(self.url(), Some(self.token()))
    }

    /// A stranger.
    #[must_use]
    pub fn anonymous(&self) -> TestClient {
        TestClient::new(self.url(), None)
    }

    /// Everything that runs on its behalf: the launcher and what is in its sandboxes.
    #[must_use]
    pub fn processes(&self) -> Vec<Process> {
        descendants(self.pid())
    }

    /// Another command of the same program on the same directory.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.program();
        command.args(arguments);
        command
    }

    /// Ends it as Ctrl-C does and waits. The test fails if it ends badly, or leaves anything behind.
    pub async fn stop(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        let processes = descendants(running.pid);
        signal(running.pid, Signal::INT);
        let ended = tokio::time::timeout(PATIENCE, running.child.wait()).await;
        let status = ended.expect("the server ends").expect("the server was ours");
        assert!(status.success(), "the server ended with {status}\n{}", self.stderr());
        assert_eq!(wait_until_gone(&processes, GONE_WITHIN).await, [], "left behind by a server that ended");
    }

    /// Ends it as two Ctrl-C do, the second as soon as it says that it heard the first. Says how it ended.
    pub async fn interrupt_twice(mut self) -> ExitStatus {
        let mut running = self.running.take().expect("the server runs");
        signal(running.pid, Signal::INT);
        let withdrawn = async {
            while self.directory.path().join("server.json").exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, withdrawn).await.expect("the server begins to end");
        signal(running.pid, Signal::INT);
        let ended = tokio::time::timeout(PATIENCE, running.child.wait()).await;
        ended.expect("the server ends").expect("the server was ours")
    }

    /// Kills it without warning, as a failure of the machine would, and waits. Nothing may be left after a second.
    pub async fn kill(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        let processes = descendants(running.pid);
        signal(running.pid, Signal::KILL);
        running.child.wait().await.expect("the server was ours");
        assert_eq!(
            wait_until_gone(&processes, GONE_WITHIN).await,
            [],
            "left behind by a server that was killed"
        );
    }

    /// Ends it if it runs, and starts it again on the same directory.
    pub async fn restart(&mut self) {
        self.stop().await;
        let mut child = self
            .program()
            .args(["up", "--listen", "127.0.0.1:0", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::from(fs::File::create(self.stderr_path()).expect("a file for complaints")))
            .kill_on_drop(true)
            .spawn()
            .expect("the program starts");
        let stdout = child.stdout.take().expect("it has a standard output");
        let mut lines = BufReader::new(stdout).lines();
        let line =
            tokio::time::timeout(PATIENCE, lines.next_line()).await.expect("the server is ready in time");
        let Some(line) = line.expect("its output is text") else {
            panic!("the server did not start\n{}", self.stderr())
        };
        let ready: Value = serde_json::from_str(&line).expect("one line of JSON");
        let text = |key: &str| ready[key].as_str().expect("a text").to_owned();
        let pid = child.id().expect("it runs");
        self.running = Some(Running { child, pid, url: text("url"), token: text("token") });
    }

    /// Ends it if it runs. The test fails unless it refuses to start again; gives what it said about that.
    pub async fn restart_refused(&mut self) -> String {
        self.stop().await;
        let mut command = self.program();
        command.args(["up", "--listen", "127.0.0.1:0", "--json"]).kill_on_drop(true);
        let ended = tokio::time::timeout(PATIENCE, command.output()).await;
        let output = ended.expect("the server does not start").expect("the program starts");
        assert!(!output.status.success(), "the server ended with {}", output.status);
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// What it complained about since it was last started.
    #[must_use]
    pub fn stderr(&self) -> String {
        fs::read_to_string(self.stderr_path()).unwrap_or_default()
    }

    fn running(&self) -> &Running {
        self.running.as_ref().expect("the server runs")
    }

    fn stderr_path(&self) -> PathBuf {
        self.directory.path().join("stderr.log")
    }

    /// The program with the directory and the environment of this server.
    fn program(&self) -> Command {
        let mut command = Command::new(program());
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.directory.path())
            .env("WARREN_HOME", self.directory.path())
            .envs(&self.setup.variables)
            .stdin(Stdio::null());
        command
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        let processes = descendants(running.pid);
        signal(running.pid, Signal::KILL);
        let deadline = std::time::Instant::now() + GONE_WITHIN;
        while processes.iter().any(Process::is_alive) && std::time::Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        let left: Vec<_> = processes.into_iter().filter(Process::is_alive).collect();
        // A test that has failed already has said what matters.
        if !std::thread::panicking() {
            assert_eq!(left, [], "left behind by a server that was killed");
        }
    }
}

/// The program beside the test: cargo builds it for the tests of its own package.
pub fn program() -> PathBuf {
    let own = std::env::current_exe().expect("the test knows its file");
    // Tests are in target/PROFILE/deps, the bench in target/PROFILE.
    let beside = own.ancestors().skip(1).take(2).map(|directory| directory.join("warren"));
    beside.into_iter().find(|program| program.is_file()).expect("the program was built beside the tests")
}

fn signal(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process's number");
    // It may have ended by itself.
    let _ = kill_process(pid, signal);
}
