//! A server on this store does what a server does: a message is answered, and what happened can be read.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

/// A server of its own, which ends with the test.
struct Server {
    child: Child,
    address: String,
    token: String,
}

impl Server {
    fn start(directory: &std::path::Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_memory-store"))
            .arg(directory)
            .env("WARREN_LISTEN", "127.0.0.1:0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut lines = BufReader::new(child.stdout.take().expect("standard output")).lines();
        let mut line = || lines.next().expect("a line").expect("text");
        let (url, token) = (line(), line());
        let address = url.strip_prefix("http://").expect("an address").to_owned();
        Self { child, address, token }
    }

    /// One request; gives the status and the rest of the answer, whole.
    fn call(&self, method: &str, path: &str, accept: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\naccept: {accept}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            self.address,
            self.token,
            body.len()
        )
        .expect("it is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        (status, answer)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It ends with its standard input, and its sandboxes with it.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// The value of a text field of JSON, the first of its name.
fn text<'a>(json: &'a str, name: &str) -> &'a str {
    let begin = json.find(&format!("\"{name}\":\"")).expect("the field") + name.len() + 4;
    json[begin..].split('"').next().expect("a value")
}

#[test]
fn a_message_is_answered_in_a_sandbox_and_kept_in_memory() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::start(directory.path());
    let (status, made) = server.call("POST", "/api/sessions", "application/json", "{}");
    assert_eq!(status, 201, "{made}");
    let session = text(&made, "sessionId").to_owned();
    let path = format!("/api/sessions/{session}/messages");
    // The stream ends with the run.
    let (status, events) =
        server.call("POST", &path, "text/event-stream", r#"{"content": "run: echo from-a-sandbox"}"#);
    assert_eq!(status, 200, "{events}");
    assert!(events.contains("from-a-sandbox") && events.contains("run_completed"), "{events}");
    let (status, kept) = server.call("GET", &format!("/api/sessions/{session}"), "application/json", "");
    assert!(status == 200 && kept.contains("from-a-sandbox"), "{kept}");
    assert!(!directory.path().join("warren.db").exists(), "nothing is in a database");
    let (status, _) = server.call("DELETE", &format!("/api/sessions/{session}"), "application/json", "");
    assert_eq!(status, 204);
}
