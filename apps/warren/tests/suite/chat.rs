//! `warren chat`, in a pipe and on a terminal.

use std::{fs::File, io::Read as _, os::fd::OwnedFd, process::Stdio};

use rustix::{
    fs::{Mode, OFlags},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
};
use tokio::{io::AsyncWriteExt as _, process::Command};
use warren_testkit::TestServer;

#[tokio::test]
async fn a_conversation_in_a_pipe_is_one_session_and_its_exit_code_is_the_last_runs() {
    let server = TestServer::start().await;
    let talk = async |lines: &str| {
        let mut chat = server
            .command(&["chat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut input = chat.stdin.take().expect("a pipe");
        input.write_all(lines.as_bytes()).await.expect("it listens");
        drop(input);
        let output = chat.wait_with_output().await.expect("it ends");
        (output.status.code(), String::from_utf8(output.stdout).expect("text"))
    };
    let (code, said) = talk("remember that I like teal\n\nwhat did I say?\n").await;
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("I will remember") && said.trim_end().contains("teal"), "{said}");
    assert!(!said.contains('\u{1b}') && !said.contains('›'), "nobody is asked in a pipe: {said}");
    let list = server.admin().get("/api/sessions").await.expect(reqwest::StatusCode::OK);
    assert_eq!(list["sessions"].as_array().map(Vec::len), Some(1), "one session for all of it");

    let (code, said) = talk("hello\nerror 400\nerror 400\n").await;
    let n_failed = said.matches("✗ failed").count();
    assert_eq!((code, n_failed), (Some(1), 2), "a run that fails does not end the conversation: {said}");
}

/// What a person at a terminal sees and types.
struct Screen {
    terminal: File,
    seen: String,
}

impl Screen {
    /// A terminal, and its other end for a program.
    fn new() -> (Self, OwnedFd) {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&terminal).expect("it is ours");
        unlockpt(&terminal).expect("it opens");
        let name = ptsname(&terminal, Vec::new()).expect("it has a name");
        let end = rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty());
        (Self { terminal: terminal.into(), seen: String::new() }, end.expect("it opens"))
    }

    /// Reads until this was shown, after all that was waited for before.
    fn wait_for(&mut self, text: &str) {
        loop {
            if let Some(at) = self.seen.find(text) {
                self.seen.drain(..at + text.len());
                return;
            }
            let mut bytes = [0; 4096];
            match self.terminal.read(&mut bytes) {
                Ok(n @ 1..) => self.seen.push_str(&String::from_utf8_lossy(&bytes[..n])),
                Ok(_) | Err(_) => panic!("it ended without `{text}`: {}", self.seen),
            }
        }
    }

    fn type_in(&mut self, text: &str) {
        std::io::Write::write_all(&mut self.terminal, text.as_bytes()).expect("typed");
    }
}

#[tokio::test]
async fn a_conversation_on_a_terminal_asks_shows_colour_and_ends_with_ctrl_d() {
    let server = TestServer::start().await;
    let (mut screen, end) = Screen::new();
    let mut command: Command = server.command(&["chat"]);
    let copy = || Stdio::from(end.try_clone().expect("another end"));
    let mut chat = command
        .env("TERM", "xterm")
        .stdin(copy())
        .stdout(copy())
        .stderr(copy())
        // Should it not say what is waited for, its end ends the waiting.
        .kill_on_drop(true)
        .spawn()
        .expect("the program starts");
    drop((command, end));
    let talked = tokio::task::spawn_blocking(move || {
        screen.wait_for("Ctrl-D ends");
        screen.wait_for("› ");
        screen.type_in("run: echo hello $((40 + 2))\n");
        screen.wait_for("hello 42");
        screen.wait_for("\u{1b}[");
        screen.wait_for("› ");
        screen.type_in("error 400\n");
        screen.wait_for("✗");
        screen.wait_for("› ");
        screen.type_in("\u{4}");
        screen
    });
    let screen = tokio::time::timeout(std::time::Duration::from_secs(60), talked).await;
    screen.expect("the conversation goes on").expect("all was shown");
    let status = tokio::time::timeout(std::time::Duration::from_secs(20), chat.wait()).await;
    assert_eq!(
        status.expect("it ends").expect("it was ours").code(),
        Some(0),
        "whoever sat there saw the failure"
    );
}
