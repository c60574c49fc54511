//! A command finds the server of another command, which ends before it has taken the run.

use std::{
    fs::{self, File},
    process::Output,
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use warren_testkit::TestServer;

/// How long the command may take to come.
const PATIENCE: Duration = Duration::from_secs(30);

/// How it takes its leave from whoever wants something of it.
#[derive(Clone, Copy)]
enum Leave {
    Refuse,
    HangUp,
}

/// Holds the directory as a server does, says that it is well, and leaves at the first request that means work.
async fn leaving_server(directory: std::path::PathBuf, leave: Leave) {
    let lock = File::options().write(true).open(directory.join("lock")).expect("the lock is there");
    lock.try_lock().expect("nobody has it");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let place = directory.join("server.json");
    fs::write(&place, json!({"url": url, "pid": std::process::id()}).to_string()).expect("announced");
    loop {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        while let Some(request) = head(&mut stream).await {
            if request.starts_with("GET /health") {
                answer(&mut stream, "200 OK", &health().to_string()).await;
                continue;
            }
            fs::remove_file(&place).expect("withdrawn");
            drop(lock);
            if let Leave::Refuse = leave {
                answer(&mut stream, "503 Service Unavailable", &problem().to_string()).await;
            }
            return;
        }
    }
}

fn health() -> Value {
    json!({"status": "ok", "version": "0"})
}

fn problem() -> Value {
    json!({"type": "about:blank", "title": "Unavailable", "status": 503, "code": "UNAVAILABLE",
        "detail": "the server is ending", "requestId": "r", "instance": "/"})
}

/// The head of the next request, or `None` when there is none.
async fn head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()
}

async fn answer(stream: &mut TcpStream, status: &str, body: &str) {
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(format!("{head}{body}").as_bytes()).await.expect("answered");
}

async fn run_at(server: &TestServer, leave: Leave, arguments: &[&str]) -> Output {
    let leaving = leaving_server(server.directory().to_owned(), leave);
    let run = async {
        while !server.directory().join("server.json").exists() {
            tokio::task::yield_now().await;
        }
        server.command(arguments).output().await.expect("the command ends")
    };
    let (output, ()) = tokio::join!(run, async {
        tokio::time::timeout(PATIENCE, leaving).await.expect("somebody wants something of it");
    });
    output
}

#[tokio::test]
async fn a_run_whose_server_leaves_before_it_was_taken_brings_its_own() {
    let mut server = TestServer::start().await;
    let session = server.admin().session_create().await.to_string();
    server.stop().await;
    for leave in [Leave::Refuse, Leave::HangUp] {
        let new: &[&str] = &["run", "run: echo new"];
        let known: &[&str] = &["run", "run: echo known", "--session", &session];
        for (arguments, said) in [(new, "new"), (known, "known")] {
            let output = run_at(&server, leave, arguments).await;
            let shown = String::from_utf8_lossy(&output.stdout);
            let complained = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{shown}\n{complained}");
            assert!(shown.contains(said), "{shown}");
        }
    }
    server.restart().await;
    let list = server.admin().get("/api/sessions").await.expect(reqwest::StatusCode::OK);
    assert_eq!(list["sessions"].as_array().map(Vec::len), Some(3), "one made by hand, one for each new run");
}

#[tokio::test]
async fn a_server_that_was_named_is_not_replaced() {
    let mut server = TestServer::start().await;
    server.stop().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let refusing = async {
        loop {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            while let Some(request) = head(&mut stream).await {
                let well = request.starts_with("GET /health");
                let status = if well { "200 OK" } else { "503 Service Unavailable" };
                let body = if well { health() } else { problem() };
                answer(&mut stream, status, &body.to_string()).await;
                if !well {
                    break;
                }
            }
        }
    };
    let mut command = server.command(&["run", "run: echo never", "--server", &url]);
    let output = tokio::select! {
        () = refusing => unreachable!("it serves for ever"),
        output = command.output() => output.expect("the command ends"),
    };
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
}
