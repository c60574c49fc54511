//! The command line, as a user has it.

use std::process::Output;

use serde_json::Value;
use warren_testkit::TestServer;

async fn warren(server: &TestServer, arguments: &[&str]) -> Output {
    server.command(arguments).output().await.expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[tokio::test]
async fn run_shows_what_happens_and_ends_with_files_usage_and_an_exit_code() {
    let server = TestServer::start().await;
    let output = warren(&server, &["run", "Build me a dashboard of our sales"]).await;
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{shown}\n{}", text(&output.stderr));
    for part in ["outputs/dashboard/index.html", "✓", "tokens"] {
        assert!(shown.contains(part), "no `{part}` in:\n{shown}");
    }
    assert!(!shown.contains('\u{1b}'), "no colour in a pipe");
    let failed = warren(&server, &["run", "error 400"]).await;
    assert_eq!(failed.status.code(), Some(1), "{}", text(&failed.stdout));
}

#[tokio::test]
async fn run_with_json_prints_the_entries_as_they_are_recorded() {
    let server = TestServer::start().await;
    let output = warren(&server, &["run", "--json", "run: echo hi"]).await;
    let lines: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.last().expect("entries")["type"], "run_completed");
    let session = lines[0]["sessionId"].as_str().unwrap().parse().unwrap();
    let log: Vec<Value> = server.admin().log(session).await.into_iter().map(|event| event.json).collect();
    assert_eq!(lines, log[log.len() - lines.len()..]);
}

#[tokio::test]
async fn run_works_without_a_server_and_leaves_nothing_behind() {
    let mut server = TestServer::start().await;
    server.stop().await;
    let output = warren(&server, &["run", "run: echo embedded"]).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("embedded"));
}

#[tokio::test]
async fn doctor_says_what_this_machine_gives() {
    let server = TestServer::start().await;
    let output = warren(&server, &["doctor", "--json"]).await;
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(report.to_string().contains("demo"), "{report:#}");
}
