//! A bridge at work.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::PathBuf,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::server::{Script, Server};

/// Long enough for a busy machine; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running bridge.
pub(crate) struct Bridge {
    home: TempDir,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Receiver<String>,
    stderr: thread::JoinHandle<String>,
}

/// Events that nobody sends.
pub(crate) fn no_events() -> (&'static str, Script) {
    ("/events", Script::Streams(vec![vec![]]))
}

/// A script that says where the server is, then stays.
pub(crate) fn serving(server: &Server) -> String {
    format!("echo up at {}; exec sleep 1000", server.url)
}

impl Bridge {
    /// Starts a bridge before a shell script.
    pub(crate) fn start(script: &str) -> Self {
        Self::start_with(script, &[])
    }

    pub(crate) fn start_with(script: &str, options: &[&str]) -> Self {
        let home = tempfile::tempdir().expect("a directory");
        let mut child = Command::new(env!("CARGO_BIN_EXE_warren-guest"))
            .args([
                "bridge",
                "--ready",
                "up at",
                "--events",
                "/events",
                "--password",
                "SECRET",
                "--user",
                "u",
            ])
            .args(options)
            .args(["--", "/bin/sh", "-c", script])
            .env("HOME", home.path())
            .current_dir(home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the bridge starts");
        let (sender, stdout) = mpsc::channel();
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut pipe = child.stderr.take().expect("a pipe");
        let stderr = thread::spawn(move || {
            let mut text = String::new();
            // What can be read until the end is what was said.
            let _ = pipe.read_to_string(&mut text);
            text
        });
        Self { home, stdin: child.stdin.take(), child, stdout, stderr }
    }

    pub(crate) fn home(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    pub(crate) fn pid(&self) -> String {
        self.child.id().to_string()
    }

    pub(crate) fn ask(&mut self, request: &Value) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        writeln!(stdin, "{request}").expect("the bridge reads");
    }

    pub(crate) fn line(&self) -> String {
        self.stdout.recv_timeout(PATIENCE).expect("a line")
    }

    /// The next answer.
    pub(crate) fn reply(&self) -> Value {
        serde_json::from_str(&self.line()).expect("JSON")
    }

    /// Asks, and gives the status and the body of the answer.
    pub(crate) fn answer(&mut self, request: &Value) -> (i64, Value) {
        self.ask(request);
        let reply = self.reply();
        assert_eq!((&reply["type"], &reply["id"]), (&json!("warren.reply"), &request["id"]));
        (reply["status"].as_i64().expect("a number"), reply["body"].clone())
    }

    /// What a file of the home holds, once it holds something.
    pub(crate) fn wait_for(&self, file: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            match fs::read_to_string(self.home(file)) {
                Ok(text) if !text.is_empty() => return text.trim().to_owned(),
                _ if Instant::now() > until => panic!("{file} never came"),
                _ => thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it runs");
    }

    pub(crate) fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.pid()]).status();
        assert!(status.expect("kill runs").success());
    }

    /// Closes stdin and waits: the exit code, and what was written to the error stream.
    pub(crate) fn close(mut self) -> (Option<i32>, String) {
        drop(self.stdin.take());
        self.wait()
    }

    /// Waits for its end, with stdin open.
    pub(crate) fn wait(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().expect("it ends");
        (status.code(), self.stderr.join().expect("read"))
    }
}

/// Waits until a process is gone.
pub(crate) fn wait_until_gone(pid: &str) {
    let until = Instant::now() + PATIENCE;
    while is_alive(pid) {
        assert!(Instant::now() < until, "process {pid} is still there");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process runs; one that only waits to be waited for does not.
pub(crate) fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}
