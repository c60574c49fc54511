//! Readers that are slow, drop and come back.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::json;
use warren_domain::Seq;
use warren_testkit::{TestEvent, TestServer};

use super::session::assert_contiguous;

#[tokio::test]
async fn a_reader_that_drops_again_and_again_misses_nothing_and_sees_nothing_twice() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let (run, _) = client.message_send(session, "Build me a dashboard of our sales").await;
    let mut seen: Vec<TestEvent> = Vec::new();
    while !seen.last().is_some_and(|event| event.ends_run(run)) {
        let after = seen.last().map_or(Seq(0), |event| event.seq);
        let mut events = client.events(session, after).await;
        // A connection lasts for three entries.
        for _ in 0..3 {
            let event = events.next().await.expect("more entries");
            let is_last = event.ends_run(run);
            seen.push(event);
            if is_last {
                break;
            }
        }
    }
    assert_contiguous(&seen);
    assert_eq!(client.log(session).await[..seen.len()], seen[..]);
}

/// How many readers there are that do not read: so many that what the server kept for each would be far more than what an
/// allocator holds back by chance.
const IDLE_READERS: usize = 80;

#[tokio::test]
async fn a_reader_that_does_not_read_costs_the_server_little_and_gets_everything_later() {
    const ANSWER: &str = "big answer 8000";
    let server = TestServer::start().await;
    let client = server.admin();
    // The answer itself costs memory while it is made, and the allocator keeps some of that for a while. Both are the same
    // without readers: that is measured first, and takes place twice, because the first answer also warms the server up.
    let mut alone = 0;
    for _ in 0..2 {
        client.run(client.session_create().await, ANSWER).await;
        alone = alone.max(resident(server.pid()));
    }
    let session = client.session_create().await;
    let mut idle = Vec::new();
    for _ in 0..IDLE_READERS {
        idle.push(client.events(session, Seq(0)).await);
    }
    client.run(session, ANSWER).await;
    let grown = resident(server.pid()).saturating_sub(alone);
    // The 8 MB of each would be 640 MB; a quarter of them is too much as well.
    assert!(grown < 160 << 20, "{IDLE_READERS} readers that do not read took {} MiB", grown >> 20);
    let log = client.log(session).await;
    for mut events in idle.into_iter().take(2) {
        let last = log.last().unwrap().seq;
        assert_eq!(events.until(|event| event.seq == last).await, log);
    }
}

fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the server runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    line.trim().trim_end_matches("kB").trim().parse::<u64>().expect("a number") * 1024
}

#[tokio::test]
async fn a_message_can_be_sent_and_followed_in_one_request() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let path = format!("/api/sessions/{session}/messages");
    let request = client.request(Method::POST, &path).header("Accept", "text/event-stream");
    let answer = request.json(&json!({"content": "run: echo hi"})).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let text = answer.text().await.unwrap();
    let data: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("data:")).collect();
    let kind = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["type"].clone();
    assert_eq!(kind(data.first().unwrap()), "run_started");
    assert_eq!(kind(data.last().unwrap()), "run_completed");
}

#[tokio::test]
async fn dropping_the_connection_of_a_message_does_not_cancel_its_run() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let path = format!("/api/sessions/{session}/messages");
    let request = client.request(Method::POST, &path).header("Accept", "text/event-stream");
    let answer = request.json(&json!({"content": "sleep 1"})).send().await.unwrap();
    drop(answer);
    let mut events = client.events(session, Seq(0)).await;
    let all = events.until(|event| event.kind().starts_with("run_") && event.kind() != "run_started").await;
    assert_eq!(all.last().unwrap().kind(), "run_completed");
}

#[tokio::test]
async fn a_reader_can_wait_for_the_next_entry() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let path = format!("/api/sessions/{session}/events?after=1&wait=20");
    let (answer, ()) = tokio::join!(client.get(&path), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        client
            .patch(&format!("/api/sessions/{session}"), &json!({"name": "new"}))
            .await
            .expect(StatusCode::OK);
    });
    let page = answer.expect(StatusCode::OK);
    assert_eq!((&page["events"][0]["type"], &page["lastSeq"]), (&json!("session_updated"), &json!(2)));
}
