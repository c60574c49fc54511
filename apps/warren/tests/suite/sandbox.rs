//! What an agent can and cannot do, seen through the whole server.

use std::{fs::Permissions, os::unix::fs::PermissionsExt as _};

use reqwest::StatusCode;
use serde_json::json;
use warren_testkit::{Setup, TestClient, TestServer};

use super::session::said;

const KEY: &str = "sk-ant-test-0123456789-never-inside";

/// The output of a command that the agent runs in its sandbox.
async fn shell(client: &TestClient, command: &str) -> String {
    let session = client.session_create().await;
    let events = client.run(session, &format!("run: {command}")).await;
    assert_eq!(events.last().unwrap().kind(), "run_completed");
    said(&events)
}

#[tokio::test]
async fn no_key_and_no_token_is_in_any_environment_file_or_mount_of_a_sandbox() {
    // A key is there, but the model at that address is the demo one.
    let upstream = demo_upstream().await;
    let server = Setup::new()
        .variable("ANTHROPIC_API_KEY", KEY)
        .variable("ANTHROPIC_BASE_URL", &upstream)
        .start()
        .await;
    let client = server.admin();
    // The command must not hold what it looks for, or it would find itself; and what it surely can find proves that it looks.
    let look = concat!(
        "k=0123456789; k=$k-never-inside; w=wrn; ",
        "cat /proc/*/environ /proc/*/cmdline /proc/self/mountinfo 2>/dev/null | tr '\\0' '\\n' > /tmp/seen; ",
        "echo control:$(grep -c '=warren-placeholder' /tmp/seen); ",
        "echo seen:$(grep -ac -e $k -e ${w}_[0-9a-f] /tmp/seen); ",
        "echo files:$(grep -rlas -e $k -e ${w}_[0-9a-f] ",
        "/home /workspace /instructions /user-input /tmp /etc /warren /dev/shm /opt | wc -l)",
    );
    let output = shell(&client, look).await;
    assert!(output.contains("seen:0") && output.contains("files:0"), "{output}");
    assert!(!output.contains("control:0") && output.contains("control:"), "{output}");
}

#[tokio::test]
async fn files_of_the_server_are_private_and_a_data_directory_open_to_others_is_refused() {
    let mut server = TestServer::start().await;
    let output = shell(&server.admin(), "umask; touch made; stat -c %a made").await;
    assert!(output.contains("0022\n644"), "{output}");
    let readable: Vec<_> = ["warren.db", "warren.db-wal", "blobs", "trees", "sessions", "workspaces"]
        .into_iter()
        .map(|name| server.directory().join(name))
        .filter(|path| std::fs::metadata(path).expect("is there").permissions().mode() & 0o077 != 0)
        .collect();
    assert_eq!(readable, <[std::path::PathBuf; 0]>::default());

    server.stop().await;
    std::fs::set_permissions(server.directory(), Permissions::from_mode(0o755)).expect("a mode");
    let refused =
        server.command(&["up", "--listen", "127.0.0.1:0"]).output().await.expect("the program runs");
    let complained = String::from_utf8(refused.stderr).expect("text");
    assert_eq!(refused.status.code(), Some(1), "{complained}");
    let hint = format!("hint: run `chmod 700 {}`", server.directory().display());
    assert!(complained.contains("has mode 0755") && complained.contains(&hint), "{complained}");
}

/// The demo model behind a listener, as a provider that wants a key.
/// A server that has a key for every provider, and the demo model at each one's address: it answers under any name.
pub(super) async fn with_keys(setup: Setup, key: &str) -> Setup {
    let upstream = demo_upstream().await;
    let keys = ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"];
    let setup = keys.iter().fold(setup, |setup, name| setup.variable(name, key));
    let addresses = ["ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "OPENAI_BASE_URL"];
    addresses.iter().fold(setup, |setup, name| setup.variable(name, &upstream))
}

pub(super) async fn demo_upstream() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let tasks = warren_env::Tasks::new();
    let inner = tasks.clone();
    tasks.spawn(warren_env::TaskKind::Connection, async move {
        warren_models::demo::serve(listener, warren_models::Pace::NONE, &inner).await.expect("it serves");
    });
    format!("http://{address}")
}

#[tokio::test]
async fn one_sessions_agent_sees_nothing_of_another_session_or_of_the_server() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: echo my secret > /workspace/secret.txt").await;
    let directory = server.directory().display().to_string();
    let look = format!(
        "cat /etc/shadow; ls {directory}; cat {directory}/token; find / -name secret.txt 2>/dev/null; ls /root; echo done"
    );
    let output = shell(&client, &look).await;
    assert!(output.contains("done"), "{output}");
    assert!(
        !output.contains("secret.txt") && !output.contains("root:") && !output.contains("wrn_"),
        "{output}"
    );
    assert_eq!(
        output.matches("No such file").count() + output.matches("Permission denied").count(),
        4,
        "{output}"
    );
}

#[tokio::test]
async fn a_sandbox_says_what_isolation_it_got() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let path = format!("/api/sessions/{session}/sandbox");
    client.post(&format!("{path}/start"), &json!({})).await.expect(StatusCode::OK);
    let report = client.get(&path).await.expect(StatusCode::OK);
    assert_eq!(report["runtime"]["sandbox"]["status"], "ready");
    assert!(report["isolation"].is_object() && report["resources"].is_object(), "{report:#}");
    client.post(&format!("{path}/stop"), &json!({})).await.expect(StatusCode::NO_CONTENT);
    let report = client.get(&path).await.expect(StatusCode::OK);
    assert_eq!(report["runtime"]["sandbox"], json!(null));
}

#[tokio::test]
async fn an_agent_that_fork_bombs_or_eats_memory_hurts_only_itself() {
    let config = "[sandbox.resource_limits]\nmemory = \"256MiB\"\npids = 64";
    let server = Setup::new().config(config).start().await;
    let client = server.admin();
    let session = client.session_create().await;
    for command in [":(){ :|:& };:", "perl -e '$x = \"a\" x (1 << 30); print length $x'"] {
        let quoted = command.replace('\'', "'\\''");
        let events = client.run(session, &format!("run: timeout 20 bash -c '{quoted}'")).await;
        let last = events.last().unwrap();
        assert!(["run_completed", "run_failed"].contains(&last.kind()), "{command}: {:#}", last.json);
        assert!(!said(&events).contains("1073741824"), "{command}: {}", said(&events));
        client.get("/health").await.expect(StatusCode::OK);
    }
    let fresh = client.session_create().await;
    assert_eq!(client.run(fresh, "run: echo well").await.last().unwrap().kind(), "run_completed");
}

#[tokio::test]
async fn an_agent_that_fills_its_disk_is_stopped_and_the_next_one_can_clean_up() {
    let server = Setup::new().config("[sandbox.resource_limits]\ndisk = \"64MiB\"").start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let fill = "run: i=0; while true; do i=$((i+1)); head -c 4M /dev/zero > /workspace/f$i; sleep 0.01; done";
    let events = client.run(session, fill).await;
    let last = events.last().unwrap();
    assert_eq!((last.kind(), &last.json["code"]), ("run_failed", &json!("DISK_LIMIT")), "{:#}", last.json);
    let events = client.run(session, "run: rm /workspace/f*; sleep 2; echo cleaned").await;
    assert!(said(&events).contains("cleaned"), "{}", said(&events));

    // What is left behind by a run that ended may not fill it either.
    let fill =
        "run: (while true; do head -c 4M /dev/zero >> /workspace/g; sleep 0.1; done) > /dev/null 2>&1 &";
    let events = client.run(session, fill).await;
    let mut events = client.events(session, events.last().unwrap().seq).await;
    let ended = events.until(|event| event.json["runtime"]["sandbox"]["status"] == "terminated").await;
    let why = ended.last().unwrap().json["runtime"]["sandbox"]["statusMessage"].clone();
    assert!(why.as_str().unwrap().contains("bytes of disk"), "{why}");
}

#[tokio::test]
async fn a_workspace_that_is_shared_outlives_the_session_that_made_it() {
    let server = TestServer::start().await;
    let client = server.admin();
    let first = client.session_create().await;
    client.run(first, "run: echo ours > shared.txt").await;
    let second =
        client.post("/api/sessions", &json!({ "workspaceId": first })).await.expect(StatusCode::CREATED);
    let second = second["sessionId"].as_str().unwrap().parse().unwrap();
    client.delete(&format!("/api/sessions/{first}")).await.expect(StatusCode::NO_CONTENT);
    let events = client.run(second, "run: cat shared.txt").await;
    assert!(said(&events).contains("ours"), "{}", said(&events));
}

#[tokio::test]
async fn a_killed_guest_fails_the_run_clearly_and_the_next_message_goes_on() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let (run, seq) = client.message_send(session, "sleep 60").await;
    let mut events = client.events(session, seq).await;
    events.until(|event| event.json["updates"]["status"] == "running").await;
    for process in server.processes().iter().filter(|process| process.name.contains("guest")) {
        process.signal(rustix::process::Signal::KILL);
    }
    let end = events.until(|event| event.ends_run(run)).await;
    let last = end.last().unwrap();
    assert_eq!((last.kind(), &last.json["code"]), ("run_failed", &json!("SANDBOX_ERROR")), "{:#}", last.json);
    assert_eq!(client.run(session, "run: echo again").await.last().unwrap().kind(), "run_completed");
}

#[tokio::test]
async fn a_sandbox_that_does_not_answer_is_restarted_and_counted() {
    let server = Setup::new().config("[sandbox]\nhealth_interval_seconds = 1").start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: echo well").await;
    for process in server.processes().iter().filter(|process| process.name.contains("guest")) {
        process.signal(rustix::process::Signal::STOP);
    }
    let mut events = client.events(session, warren_domain::Seq(0)).await;
    let restarted = |event: &warren_testkit::TestEvent| {
        let sandbox = &event.json["runtime"]["sandbox"];
        sandbox["status"] == "ready" && sandbox["restartCount"] == 1
    };
    let all = events.until(restarted).await;
    let history: Vec<_> =
        all.iter().filter_map(|event| event.json["runtime"]["sandbox"]["status"].as_str()).collect();
    assert_eq!(history, ["starting", "ready", "unhealthy", "terminated", "starting", "ready"]);
    assert_eq!(client.run(session, "run: echo again").await.last().unwrap().kind(), "run_completed");
}
