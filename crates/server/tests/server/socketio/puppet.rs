//! The official client of Socket.IO, from npm.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test run says by variables what it has"
)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

const CLIENT: &str = "socket.io-client@4.8.1";
/// Nothing in a test takes this long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// One client, and everything it has seen.
pub(crate) struct Puppet {
    _child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Puppet {
    /// `None`, said aloud, where there is no Node.js or no registry; under `WARREN_TEST_REQUIRE` that is a failure.
    pub(crate) fn new() -> Option<Self> {
        let directory = match client() {
            Ok(directory) => directory,
            Err(missing) => {
                assert!(std::env::var_os("WARREN_TEST_REQUIRE").is_none(), "{missing}");
                println!("skipped: {missing}");
                return None;
            }
        };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/socketio/puppet.mjs");
        let mut child = Command::new("node")
            .args([&script, &directory])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("Node.js was there a moment ago");
        let stdin = child.stdin.take().expect("a standard input");
        let lines = BufReader::new(child.stdout.take().expect("a standard output")).lines();
        Some(Self { _child: child, stdin, lines })
    }

    pub(crate) async fn tell(&mut self, command: Value) {
        self.stdin.write_all(format!("{command}\n").as_bytes()).await.expect("it listens");
    }

    pub(crate) async fn connect(&mut self, url: &str, options: Value) {
        self.tell(json!({ "do": "connect", "url": url, "options": options })).await;
    }

    /// The next thing that happens to it.
    pub(crate) async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await.expect("something happens");
        serde_json::from_str(&line.expect("text").expect("it lives")).expect("JSON")
    }

    /// Everything up to the first thing of which `is_last` is true.
    pub(crate) async fn until(&mut self, is_last: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            seen.push(self.next().await);
            if is_last(&seen[seen.len() - 1]) {
                return seen;
            }
        }
    }

    /// The first thing of this kind, or the first event of this name.
    pub(crate) async fn wait_for(&mut self, what: &str) -> Value {
        let seen = self.until(|line| line["is"] == what || line["name"] == what).await;
        seen.into_iter().next_back().expect("the last is the one")
    }
}

/// Where the client is installed. Once for all tests: whoever comes first installs it, the others wait.
fn client() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let directory = root.join(CLIENT);
    let lock = fs::File::create(root.join("socketio.lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    if directory.join("node_modules/socket.io-client/package.json").is_file() {
        return Ok(directory);
    }
    fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
    let installed = std::process::Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--prefix"])
        .arg(&directory)
        .arg(CLIENT)
        .output();
    match installed {
        Ok(output) if output.status.success() => Ok(directory),
        Ok(output) => {
            Err(format!("npm cannot install {CLIENT}: {}", String::from_utf8_lossy(&output.stderr)))
        }
        Err(error) => Err(format!("there is no npm: {error}")),
    }
}
