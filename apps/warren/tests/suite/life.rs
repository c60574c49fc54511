//! How a server begins and ends.

use std::{fs, os::unix::fs::PermissionsExt as _};

use reqwest::StatusCode;
use serde_json::json;
use warren_domain::Seq;
use warren_testkit::TestServer;

#[tokio::test]
async fn a_started_server_answers_and_keeps_its_token_over_a_restart() {
    let mut server = TestServer::start().await;
    let token = server.token().to_owned();
    assert_eq!(server.anonymous().get("/health").await.expect(StatusCode::OK)["status"], "ok");
    let kept = server.directory().join("token");
    assert_eq!(fs::read_to_string(&kept).expect("kept").trim(), token);
    assert_eq!(fs::metadata(&kept).expect("kept").permissions().mode() & 0o777, 0o600);
    let session = server.admin().session_create().await;

    server.restart().await;
    assert_eq!(server.token(), token);
    let list = server.admin().get("/api/sessions").await.expect(StatusCode::OK);
    assert_eq!(list["sessions"][0]["sessionId"], json!(session));
}

#[tokio::test]
async fn a_server_that_ends_records_what_was_running_and_leaves_nothing() {
    let mut server = TestServer::start().await;
    let admin = server.admin();
    let session = admin.session_create().await;
    let (run, _) = admin.message_send(session, "count to 200").await;
    admin.events(session, Seq(0)).await.until(|event| event.kind() == "text_delta").await;
    assert!(!server.processes().is_empty());

    server.stop().await;
    assert!(!server.directory().join("server.json").exists());
    server.restart().await;
    let log = server.admin().log(session).await;
    let ended: Vec<_> =
        log.iter().filter(|event| event.ends_run(run)).map(|event| event.kind().to_owned()).collect();
    assert_eq!(ended, ["run_interrupted"], "{log:#?}");
}

#[tokio::test]
async fn a_killed_server_leaves_no_process_and_its_run_is_recorded_as_cut_when_it_is_back() {
    let mut server = TestServer::start().await;
    let admin = server.admin();
    let session = admin.session_create().await;
    let (run, _) = admin.message_send(session, "count to 200").await;
    let mut events = admin.events(session, Seq(0)).await;
    let seen = events.until(|event| event.kind() == "text_delta").await;

    server.kill().await;
    server.restart().await;
    let log = server.admin().log(session).await;
    assert_eq!(log[..seen.len()], seen[..], "what a client saw is still there");
    let numbers: Vec<u64> = log.iter().map(|event| event.seq.0).collect();
    assert_eq!(numbers, (1..=log.len() as u64).collect::<Vec<_>>());
    let cut: Vec<_> =
        log.iter().filter(|event| event.ends_run(run)).map(|event| event.json["code"].clone()).collect();
    assert_eq!(cut, ["SERVER_RESTARTED"]);
    let next = server.admin().run(session, "hello").await;
    assert_eq!(next.last().map(|event| event.kind().to_owned()), Some("run_completed".to_owned()));
}
