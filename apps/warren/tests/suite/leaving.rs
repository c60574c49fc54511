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

#[tokio::test]
async fn interrupted_import_deletes_its_session_and_exits_with_130() {
    let mut server = TestServer::start().await;
    server.stop().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let local = tempfile::tempdir().expect("a directory");
    fs::write(local.path().join("a.txt"), "a").expect("written");
    let directory = local.path().to_str().expect("text");
    let mut command = server.command(&["run", "hello", "--workspace", directory, "--server", &url]);
    let child = command.stderr(std::process::Stdio::piped()).spawn().expect("started");
    let pid = child.id().and_then(|pid| rustix::process::Pid::from_raw(pid.cast_signed())).expect("it runs");
    let mut asked = Vec::new();
    let serving = async {
        loop {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            while let Some(request) = head(&mut stream).await {
                let line = request.lines().next().unwrap_or_default().to_owned();
                let path = line.trim_end_matches(" HTTP/1.1").to_owned();
                match path.as_str() {
                    "GET /health" => answer(&mut stream, "200 OK", &health().to_string()).await,
                    "POST /api/sessions" => answer(&mut stream, "201 Created", &created().to_string()).await,
                    path if path.ends_with("/fs/import") => {
                        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
                        break;
                    }
                    _ => answer(&mut stream, "200 OK", "{}").await,
                }
                asked.push(path);
            }
        }
    };
    let output = tokio::select! {
        () = serving => unreachable!("it serves for ever"),
        output = child.wait_with_output() => output.expect("the command ends"),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.ends_with("interrupted: nothing was imported\n"), "{said}");
    assert!(asked.contains(&format!("DELETE /api/sessions/{SESSION}")), "{asked:?}");
}

const SESSION: &str = "0199aaaa-0000-7000-8000-000000000001";

fn created() -> Value {
    json!({
        "sessionId": SESSION, "type": "builtin", "agentProfileReference": "default", "createdAt": 0,
        "lastActivity": 0, "options": {}, "projectId": SESSION, "workspaceId": SESSION, "version": 0, "lastSeq": 0,
        "runtime": {"isLoaded": false},
    })
}
