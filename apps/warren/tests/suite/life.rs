//! How a server begins and ends.

use std::{fs, os::unix::fs::PermissionsExt as _, time::Duration};

use reqwest::StatusCode;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use warren_domain::Seq;
use warren_testkit::{TestServer, wait_until_gone};

use super::session::said;

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

#[tokio::test]
async fn messages_that_waited_when_the_server_was_killed_are_carried_out_when_it_is_back() {
    let mut server = TestServer::start().await;
    let admin = server.admin();
    let session = admin.session_create().await;
    let (cut, seq) = admin.message_send(session, "sleep 600").await;
    admin.events(session, seq).await.until(|event| event.json["updates"]["status"] == "running").await;
    let (first, _) = admin.message_send(session, "run: echo first >> order.txt").await;
    let (second, _) = admin.message_send(session, "run: echo second >> order.txt; cat order.txt").await;

    server.kill().await;
    server.restart().await;
    let mut events = server.admin().events(session, Seq(0)).await;
    let log = events.until(|event| event.ends_run(second)).await;
    let ends: Vec<_> = log
        .iter()
        .filter(|event| [cut, first, second].iter().any(|run| event.ends_run(*run)))
        .map(|event| (event.json["runId"].clone(), event.kind().to_owned()))
        .collect();
    let expected = [(cut, "run_failed"), (first, "run_completed"), (second, "run_completed")];
    assert_eq!(ends, expected.map(|(run, kind)| (json!(run), kind.to_owned())));
    assert!(said(&log).contains("first\nsecond"), "{}", said(&log));
}

#[tokio::test]
async fn a_second_ctrl_c_ends_a_server_at_once_and_nothing_of_it_is_left() {
    let server = TestServer::start().await;
    let admin = server.admin();
    let session = admin.session_create().await;
    let (_, seq) = admin.message_send(session, "sleep 600").await;
    admin.events(session, seq).await.until(|event| event.json["updates"]["status"] == "running").await;
    // A request that is never finished keeps the server from ending in good order.
    let address = server.url().trim_start_matches("http://");
    let mut unfinished = TcpStream::connect(address).await.expect("connected");
    let head = format!(
        "POST /api/sessions HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: 100\r\nexpect: 100-continue\r\n\r\n",
        server.token()
    );
    unfinished.write_all(head.as_bytes()).await.expect("sent");
    // The server asks for the body: it has taken the request up.
    let mut answer = [0; 12];
    unfinished.read_exact(&mut answer).await.expect("an answer");
    assert_eq!(&answer, b"HTTP/1.1 100");
    let processes = server.processes();
    let ended = server.interrupt_twice().await;
    assert_eq!(ended.code(), Some(130));
    assert_eq!(wait_until_gone(&processes, Duration::from_secs(1)).await, []);
}
