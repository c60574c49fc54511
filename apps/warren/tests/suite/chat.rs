//! `warren chat`, in a pipe and on a terminal.

use std::{fs::File, io::Read as _, os::fd::OwnedFd, process::Stdio, time::Duration};

use rustix::{
    fs::{Mode, OFlags},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
};
use tokio::{
    io::AsyncWriteExt as _,
    process::{Child, Command},
};
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
    assert!(said.contains("I'll remember") && said.trim_end().contains("teal"), "{said}");
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
                Ok(n @ 1..) => {
                    let said = String::from_utf8_lossy(&bytes[..n]).into_owned();
                    // As a terminal does that is asked where its cursor is.
                    for _ in 0..said.matches("\u{1b}[6n").count() {
                        self.type_in("\u{1b}[5;1R");
                    }
                    self.seen.push_str(&said);
                }
                Ok(_) | Err(_) => panic!("it ended without `{text}`: {}", self.seen),
            }
        }
    }

    /// The next prompt, and nothing else that could be taken for one.
    fn wait_for_prompt(&mut self) {
        self.wait_for("\u{1b}[?2004h");
        self.wait_for("› ");
    }

    fn type_in(&mut self, text: &str) {
        std::io::Write::write_all(&mut self.terminal, text.as_bytes()).expect("typed");
    }
}

/// Starts the program on a terminal.
fn on_terminal(server: &TestServer, arguments: &[&str]) -> (Screen, Child) {
    let (screen, end) = Screen::new();
    let mut command: Command = server.command(arguments);
    let copy = || Stdio::from(end.try_clone().expect("another end"));
    let child = command
        .env("TERM", "xterm")
        .stdin(copy())
        .stdout(copy())
        .stderr(copy())
        // Should it not say what is waited for, its end ends the waiting.
        .kill_on_drop(true)
        .spawn()
        .expect("the program starts");
    drop((command, end));
    (screen, child)
}

/// Talks, and waits for the program to end.
async fn ended(mut child: Child, talk: impl FnOnce() + Send + 'static) -> Option<i32> {
    let talked = tokio::task::spawn_blocking(talk);
    let talked = tokio::time::timeout(Duration::from_secs(60), talked).await;
    talked.expect("the conversation goes on").expect("all was shown");
    let status = tokio::time::timeout(Duration::from_secs(20), child.wait()).await;
    status.expect("it ends").expect("it was ours").code()
}

/// What people said in the only session.
async fn messages(server: &TestServer) -> Vec<String> {
    let list = server.admin().get("/api/sessions").await.expect(reqwest::StatusCode::OK);
    let id = list["sessions"][0]["sessionId"].as_str().expect("a session").to_owned();
    let page =
        server.admin().get(&format!("/api/sessions/{id}/messages")).await.expect(reqwest::StatusCode::OK);
    let blocks = page["blocks"].as_array().expect("blocks").clone();
    let said = blocks.iter().filter(|block| block["type"] == "user_message");
    said.map(|block| block["content"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn a_conversation_on_a_terminal_asks_shows_colour_and_ends_with_ctrl_d() {
    let server = TestServer::start().await;
    let (mut screen, chat) = on_terminal(&server, &["chat"]);
    let code = ended(chat, move || {
        screen.wait_for("Ctrl-D quits");
        screen.wait_for_prompt();
        screen.type_in("run: echo hello $((40 + 2))\r");
        screen.wait_for("hello 42");
        screen.wait_for("\u{1b}[");
        screen.wait_for_prompt();
        screen.type_in("error 400\r");
        screen.wait_for("✗");
        screen.wait_for_prompt();
        screen.type_in("\u{4}");
    });
    assert_eq!(code.await, Some(0), "whoever sat there saw the failure");
}

#[tokio::test]
async fn lines_are_edited_recalled_pasted_whole_and_commands_stay_here() {
    let server = TestServer::start().await;
    let (mut screen, chat) = on_terminal(&server, &["chat"]);
    let code = ended(chat, move || {
        screen.wait_for_prompt();
        // Left, then a letter; then the line as it is recalled with Up.
        screen.type_in("run: echo ac\u{1b}[Db\r");
        screen.wait_for("demo model");
        screen.wait_for_prompt();
        screen.type_in("\u{1b}[A\r");
        screen.wait_for("demo model");
        screen.wait_for_prompt();
        screen.type_in("\u{1b}[200~one\ntwo\nthree\u{1b}[201~");
        screen.wait_for("three");
        screen.type_in("\r");
        screen.wait_for("demo model");
        screen.wait_for_prompt();
        screen.type_in("/help\r");
        screen.wait_for("Other slash commands go to the agent");
        screen.wait_for_prompt();
        // Ctrl-C drops the line.
        screen.type_in("never sent\u{3}");
        screen.wait_for_prompt();
        screen.type_in("/quit\r");
        screen.wait_for("quit");
    });
    assert_eq!(code.await, Some(0));
    assert_eq!(messages(&server).await, ["run: echo abc", "run: echo abc", "one\ntwo\nthree"]);
    let history = server.directory().join("chat-history");
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&history).expect("kept").permissions());
    assert_eq!(mode & 0o777, 0o600);
    assert!(std::fs::read_to_string(&history).expect("text").starts_with("run: echo abc\n"));
}

#[tokio::test]
async fn keys_typed_before_a_request_do_not_answer_it() {
    let server = TestServer::start().await;
    let (mut screen, run) = on_terminal(&server, &["run", "run: echo asked > it.txt", "--ask"]);
    screen.type_in("y\ry\ry\r");
    let code = ended(run, move || {
        screen.wait_for("Allow it?");
        screen.wait_for("[n]o: ");
        screen.type_in("n not today\r");
        screen.wait_for("denied by");
        screen.wait_for("Continue with:");
    });
    assert_eq!(code.await, Some(0));
}
