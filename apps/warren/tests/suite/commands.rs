//! What a user relies on when typing commands: exit codes, hints, Ctrl-C, and a server that comes and goes with them.

use std::{
    process::{Output, Stdio},
    time::Duration,
};

use reqwest::StatusCode;
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpListener,
};
use warren_testkit::{Setup, TestServer, descendants, wait_until_gone};

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

async fn output(server: &TestServer, arguments: &[&str]) -> Output {
    server.command(arguments).output().await.expect("the command ends")
}

/// A directory whose server has ended, so that commands must bring their own.
async fn without_server() -> TestServer {
    let mut server = TestServer::start().await;
    server.stop().await;
    server
}

#[tokio::test]
async fn run_uses_the_running_server() {
    let server = TestServer::start().await;
    let run = output(&server, &["run", "create file notes.md with a haiku", "--name", "poetry"]).await;
    let said = text(&run.stdout);
    assert!(said.contains("✓ Write  notes.md") && said.contains("Files\n  notes.md  "), "{said}");
    let list = server.admin().get("/api/sessions").await.expect(StatusCode::OK);
    assert_eq!(list["sessions"][0]["name"], "poetry");
    assert_eq!(list["sessions"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_session_goes_on_over_commands_that_each_bring_their_own_server() {
    let directory = without_server().await;
    let first = output(&directory, &["run", "create file a.txt"]).await;
    assert!(text(&first.stderr).contains("demo model answers"), "{}", text(&first.stderr));
    let second = output(&directory, &["run", "list the files", "--session", "last"]).await;
    assert_eq!(second.status.code(), Some(0), "{}", text(&second.stderr));
    let shown = text(&output(&directory, &["sessions", "show", "last"]).await.stdout);
    assert!(shown.contains("› create file a.txt") && shown.contains("› list the files"), "{shown}");
    assert!(!directory.directory().join("server.json").exists());
}

#[tokio::test]
async fn two_runs_at_once_share_the_server_that_one_of_them_brought() {
    let directory = without_server().await;
    let (first, second) =
        tokio::join!(output(&directory, &["run", "hello"]), output(&directory, &["run", "hello"]));
    for run in [first, second] {
        assert_eq!(run.status.code(), Some(0), "{}{}", text(&run.stdout), text(&run.stderr));
    }
}

#[tokio::test]
async fn ctrl_c_interrupts_the_run_and_the_exit_code_says_so() {
    for server in [TestServer::start().await, without_server().await] {
        let mut command = server.command(&["run", "count to 100000", "--json"]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("started");
        let pid = child.id().expect("it runs");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        while let Some(line) = lines.next_line().await.expect("text") {
            if line.contains("\"text_delta\"") {
                break;
            }
        }
        let processes = descendants(pid);
        kill_process(i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a number"), Signal::INT)
            .expect("told");
        let mut last = String::new();
        while let Some(line) = lines.next_line().await.expect("text") {
            last = line;
        }
        assert!(last.contains("\"run_interrupted\""), "{last}");
        assert_eq!(child.wait().await.expect("ended").code(), Some(130));
        assert_eq!(wait_until_gone(&processes, Duration::from_secs(1)).await, []);
    }
}

#[tokio::test]
async fn what_goes_wrong_is_told_by_the_exit_code_and_a_hint() {
    let server = TestServer::start().await;
    let cases: [(&[&str], i32, &str); 5] = [
        (&["run", "hi", "--server", "http://127.0.0.1:1"], 3, "hint: start it with `warren up`"),
        (&["run", "hi", "--session", "nobody"], 1, "hint: `warren sessions list` shows the ids"),
        (&["run", "hi", "--agent", "nobody"], 1, "AGENT_UNKNOWN"),
        (&["run", " "], 1, "hint: say what the agent shall do"),
        (&["fly"], 2, "unrecognized subcommand"),
    ];
    for (arguments, code, said) in cases {
        let run = output(&server, arguments).await;
        let complained = text(&run.stderr);
        let found = (run.status.code(), complained.contains(said));
        assert_eq!(found, (Some(code), true), "{arguments:?}: {complained}");
    }
}

#[tokio::test]
async fn sessions_are_listed_and_removed() {
    let server = TestServer::start().await;
    output(&server, &["run", "hello", "--name", "greeting"]).await;
    let listed = text(&output(&server, &["sessions", "list"]).await.stdout);
    assert!(listed.lines().nth(1).is_some_and(|line| line.ends_with("greeting")), "{listed}");
    let removed = output(&server, &["sessions", "rm", "last"]).await;
    assert!(text(&removed.stdout).starts_with("removed "));
    let listed = text(&output(&server, &["sessions", "list", "--json"]).await.stdout);
    assert_eq!(listed, "{\"sessions\":[]}\n");
}

#[tokio::test]
async fn a_token_that_was_made_works_until_it_is_removed() {
    let server = TestServer::start().await;
    let made = text(&output(&server, &["tokens", "create", "reader", "--scope", "admin:ro"]).await.stdout);
    let reader = server.anonymous().with_token(made.trim());
    let me = reader.get("/api/auth").await.expect(StatusCode::OK);
    assert_eq!((me["name"].as_str(), me["scope"].as_str()), (Some("reader"), Some("admin:ro")));
    let id = me["tokenId"].as_str().expect("an id");
    assert_eq!(output(&server, &["tokens", "rm", id]).await.status.code(), Some(0));
    assert_eq!(reader.get("/api/auth").await.refusal(), (401, "UNAUTHORIZED"));
}

#[tokio::test]
async fn doctor_works_without_a_server_and_says_what_is_missing() {
    let directory = without_server().await;
    let doctor = output(&directory, &["doctor", "--json"]).await;
    let found: serde_json::Value = serde_json::from_slice(&doctor.stdout).expect("JSON");
    assert_eq!(doctor.status.code(), Some(0), "{found:#}");
    assert_eq!(
        (&found["isolation"]["usable"], &found["models"][0]["key"]),
        (&true.into(), &"missing".into())
    );
    let programs = found["programs"].as_array().expect("a list");
    let codex = programs.iter().find(|program| program["name"] == "codex").expect("a program");
    assert_eq!((&codex["installed"], &codex["version"]), (&false.into(), &serde_json::Value::Null));
    let problems = found["problems"].as_array().expect("a list");
    assert!(
        problems.iter().any(|problem| problem["hint"] == "export ANTHROPIC_API_KEY=… before `warren up`")
    );
}

#[tokio::test]
async fn a_wrong_configuration_is_refused_with_the_key_that_was_meant() {
    let server = TestServer::start().await;
    std::fs::write(server.directory().join("warren.toml"), "lisen = '127.0.0.1:1'").expect("written");
    let checked = output(&server, &["config", "check"]).await;
    let said = text(&checked.stderr);
    assert_eq!(checked.status.code(), Some(1));
    assert!(said.contains("unknown key `lisen`") && said.contains("hint: did you mean `listen`?"), "{said}");
}

#[tokio::test]
async fn a_key_of_the_configuration_reaches_the_server() {
    let server = Setup::new().config("server.body_limit = \"1KiB\"").start().await;
    let long = serde_json::json!({ "name": "x".repeat(2000) });
    assert_eq!(server.admin().post("/api/sessions", &long).await.refusal(), (413, "TOO_LARGE"));
}

#[tokio::test]
async fn token_of_the_data_directory_goes_to_its_own_server_only() {
    let server = TestServer::start().await;
    let own = output(&server, &["sessions", "list", "--server", server.url()]).await;
    assert_eq!(own.status.code(), Some(0), "{}", text(&own.stderr));
    let stranger = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
    let url = format!("http://{}", stranger.local_addr().expect("an address"));
    let heard = async {
        let (mut stream, _) = stranger.accept().await.expect("a connection");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.expect("a request"));
        }
        let answer = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        stream.write_all(answer).await.expect("answered");
        String::from_utf8(head).expect("text").to_lowercase()
    };
    let arguments = ["sessions", "list", "--server", url.as_str()];
    let (head, _) = tokio::join!(heard, output(&server, &arguments));
    assert!(head.starts_with("get /health "), "{head}");
    assert!(!head.contains("authorization") && !head.contains(&server.token().to_lowercase()), "{head}");
}
