//! More sessions than sandboxes.

use reqwest::StatusCode;
use serde_json::json;
use warren_domain::{Seq, SessionId};
use warren_testkit::{Setup, TestClient, TestEvents};

/// Sends a message and waits until the session says that it waits for a sandbox.
async fn queued(client: &TestClient, text: &str, message: &str) -> (SessionId, TestEvents) {
    let session = client.session_create().await;
    client.message_send(session, text).await;
    let mut events = client.events(session, Seq(0)).await;
    events.until(|event| event.json["runtime"]["sandbox"]["statusMessage"] == message).await;
    (session, events)
}

#[tokio::test]
async fn runs_beyond_the_maximum_of_sandboxes_wait_in_order_and_can_be_interrupted() {
    let server = Setup::new().config("sandbox.max_concurrent = 1").start().await;
    let client = server.admin();
    let first = client.session_create().await;
    let wait = "run: while [ ! -e go ]; do sleep 0.05; done; echo first";
    let (first_run, seq) = client.message_send(first, wait).await;
    let mut first_events = client.events(first, seq).await;
    first_events.until(|event| event.json["runtime"]["sandbox"]["status"] == "ready").await;

    let (second, mut second_events) =
        queued(&client, "run: echo second", "Waiting for a free sandbox: position 1 of 1").await;
    let (third, mut third_events) =
        queued(&client, "run: echo third", "Waiting for a free sandbox: position 2 of 2").await;
    let (_fourth, mut fourth_events) =
        queued(&client, "run: echo fourth", "Waiting for a free sandbox: position 3 of 3").await;

    let interrupted = client.post(&format!("/api/sessions/{third}/interrupt"), &json!({})).await;
    interrupted.expect(StatusCode::ACCEPTED);
    third_events.until(|event| event.kind() == "run_interrupted").await;
    // The next one moves up.
    let moved = "Waiting for a free sandbox: position 2 of 2";
    fourth_events.until(|event| event.json["runtime"]["sandbox"]["statusMessage"] == moved).await;

    // The first sandbox is idle then, and ends long before its idle timeout.
    let go = client.request(reqwest::Method::PUT, &format!("/api/sessions/{first}/fs?path=go")).body("go");
    client.send(go).await.expect(StatusCode::OK);
    first_events.until(|event| event.ends_run(first_run)).await;
    let why = "idle, and another session needed a sandbox";
    first_events.until(|event| event.json["runtime"]["sandbox"]["statusMessage"] == why).await;
    second_events.until(|event| event.kind() == "run_completed").await;
    fourth_events.until(|event| event.kind() == "run_completed").await;

    // What was interrupted can go on, and a sandbox that dies frees its place.
    let events = client.run(third, "run: echo again").await;
    assert_eq!(events.last().expect("events").kind(), "run_completed");
    let events = client.run(second, "run: echo again").await;
    assert_eq!(events.last().expect("events").kind(), "run_completed");
}
