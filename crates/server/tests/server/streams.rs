//! Reading logs and news, in parts and as they come.

use axum::{
    body::Body,
    http::{Method, StatusCode, header},
};
use serde_json::json;
use warren_domain::{
    Block, BlockId, Content, ConversationId, Diagnostics, Draft, EventBody, RunId, SessionId, Timestamp,
    Usage,
};

use crate::support::{Stream, TestServer, request};

fn said(text: &str) -> Draft {
    Draft::of_session(delta(text))
}

fn delta(text: &str) -> EventBody {
    EventBody::TextDelta { block_id: BlockId::from("b"), delta: text.to_owned() }
}

fn ended() -> EventBody {
    EventBody::RunInterrupted {
        version: None,
        usage: Usage::default(),
        cost_usd: 0.0,
        by: "test".to_owned(),
        diagnostics: Diagnostics::default(),
    }
}

async fn session_with(server: &TestServer, n: usize) -> (SessionId, String) {
    let session = server.session().await;
    // The session's own first event is number 1.
    let drafts = (2..=n).map(|seq| said(&format!("event {seq}"))).collect();
    server.runtime.emit(session, drafts).await;
    (session, format!("/api/sessions/{session}/events"))
}

#[tokio::test]
async fn a_log_is_read_in_parts_without_a_gap_or_a_duplicate() {
    let server = TestServer::start().await;
    let (_, path) = session_with(&server, 1100).await;
    let mut seen = Vec::new();
    loop {
        let after = seen.last().copied().unwrap_or(0);
        let part = server.get(&server.owner, &format!("{path}?after={after}&limit=700")).await.json();
        let events = part["events"].as_array().expect("events");
        seen.extend(events.iter().map(|event| event["seq"].as_u64().expect("a number")));
        assert_eq!(part["head"], 1100);
        assert_eq!(part["lastSeq"].as_u64(), seen.last().copied(), "never past what was given out");
        if part["lastSeq"] == part["head"] {
            break;
        }
    }
    assert_eq!(seen, (1..=1100).collect::<Vec<u64>>());
    let past = server.get(&server.owner, &format!("{path}?after=1100")).await;
    assert_eq!(past.body, br#"{"events":[],"lastSeq":1100,"head":1100}"#);
    assert_eq!(server.get(&server.owner, &format!("{path}?limit=0")).await.json()["head"], 1100);
}

#[tokio::test]
async fn a_number_that_the_log_has_not_reached_is_refused() {
    let server = TestServer::start().await;
    let (_, path) = session_with(&server, 3).await;
    assert_eq!(server.get(&server.owner, &format!("{path}?after=4")).await.problem(), "BAD_REQUEST");
    assert_eq!(server.stream(&path, &[("last-event-id", "4")]).await.status, StatusCode::BAD_REQUEST);
    assert_eq!(server.stream(&path, &[("last-event-id", "3")]).await.status, StatusCode::OK);
}

#[tokio::test]
async fn long_entries_make_short_parts() {
    let server = TestServer::start().await;
    let (session, path) = session_with(&server, 1).await;
    let long = "x".repeat(250_000);
    server.runtime.emit(session, (0..100).map(|_| said(&long)).collect()).await;
    let part = server.get(&server.owner, &format!("{path}?limit=5000")).await.json();
    let n_events = part["events"].as_array().expect("events").len();
    assert_eq!((n_events, &part["lastSeq"], &part["head"]), (64, &json!(64), &json!(101)));
}

#[tokio::test]
async fn waiting_ends_with_the_first_event() {
    let server = TestServer::start().await;
    let (session, path) = session_with(&server, 3).await;
    let path = format!("{path}?after=3&wait=60");
    let (part, _) = tokio::join!(server.get(&server.owner, &path), async {
        tokio::task::yield_now().await;
        server.runtime.emit(session, vec![said("late")]).await
    });
    assert_eq!(part.json()["events"][0]["delta"], "late");
}

#[tokio::test]
async fn waiting_readers_are_sent_away_when_the_server_stops() {
    let server = TestServer::start().await;
    let (_, path) = session_with(&server, 3).await;
    let path = format!("{path}?after=3&wait=60");
    let (reply, ()) = tokio::join!(server.get(&server.owner, &path), async { server.tasks.cancel() });
    assert_eq!(reply.problem(), "UNAVAILABLE");
}

#[tokio::test]
async fn a_stream_gives_what_was_and_then_what_comes() {
    let server = TestServer::start().await;
    let (session, path) = session_with(&server, 300).await;
    let mut stream = server.stream(&path, &[]).await;
    assert_eq!(stream.status, StatusCode::OK);
    assert_eq!(stream.ids(300).await, (1..=300).collect::<Vec<u64>>());
    server.runtime.emit(session, vec![said("now"), said("and now")]).await;
    let (id, data) = stream.next().await.expect("a message");
    assert_eq!(
        (id, &data["seq"], &data["type"], &data["delta"]),
        (Some(301), &json!(301), &json!("text_delta"), &json!("now"))
    );
    assert_eq!(stream.ids(1).await, [302]);
}

#[tokio::test]
async fn a_reader_that_comes_back_resumes_where_it_was() {
    let server = TestServer::start().await;
    let (session, path) = session_with(&server, 10).await;
    let mut first = server.stream(&format!("{path}?after=2"), &[]).await;
    assert_eq!(first.ids(4).await, [3, 4, 5, 6]);
    drop(first);
    server.runtime.emit(session, vec![said("meanwhile")]).await;
    // A browser repeats the address it began with; what it says in the header is newer.
    let mut second = server.stream(&format!("{path}?after=2"), &[("last-event-id", "6")]).await;
    assert_eq!(second.ids(5).await, [7, 8, 9, 10, 11]);
}

#[tokio::test]
async fn a_slow_reader_misses_nothing() {
    let server = TestServer::start().await;
    let (session, path) = session_with(&server, 1).await;
    let mut slow = server.stream(&path, &[]).await;
    assert_eq!(slow.ids(1).await, [1]);
    // Far more commits than a follower may be behind, while nobody reads.
    for _ in 0..400 {
        server.runtime.emit(session, vec![said("a"), said("b")]).await;
    }
    assert_eq!(slow.ids(800).await, (2..=801).collect::<Vec<u64>>());
}

#[tokio::test]
async fn line_ends_in_what_an_agent_says_stay_inside_the_message() {
    let server = TestServer::start().await;
    let (session, path) = session_with(&server, 1).await;
    let text = "one\n\ndata: forged\r\nid: 99\n\n";
    server.runtime.emit(session, vec![said(text), said(&text.repeat(500))]).await;
    let mut stream = server.stream(&format!("{path}?after=1"), &[]).await;
    assert_eq!(stream.next().await.expect("a message"), (Some(2), stream_event(&server, &path, 2).await));
    assert_eq!(stream.next().await.expect("a message"), (Some(3), stream_event(&server, &path, 3).await));
}

async fn stream_event(server: &TestServer, path: &str, seq: u64) -> serde_json::Value {
    server.get(&server.owner, &format!("{path}?after={}&limit=1", seq - 1)).await.json()["events"][0].clone()
}

#[tokio::test]
async fn a_stream_ends_when_its_session_is_erased_or_the_server_stops() {
    let server = TestServer::start().await;
    let (session, path) = session_with(&server, 1).await;
    let mut stream = server.stream(&path, &[]).await;
    assert_eq!(stream.ids(1).await, [1]);
    server.send(Method::DELETE, &server.owner, &format!("/api/sessions/{session}"), "").await;
    assert_eq!(stream.next().await, None);

    let (_, path) = session_with(&server, 1).await;
    let mut stream = server.stream(&path, &[]).await;
    assert_eq!(stream.ids(1).await, [1]);
    server.tasks.cancel();
    assert_eq!(stream.next().await, None);
}

async fn send_streaming(server: &TestServer, session: SessionId) -> (Stream, RunId) {
    let request = request(Method::POST, &format!("/api/sessions/{session}/messages"), Some(&server.owner))
        .header(header::ACCEPT, "text/event-stream")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(r#"{"content": "Go"}"#))
        .expect("a request");
    let response = server.open(request).await;
    let run = response.headers()["x-warren-run-id"].to_str().expect("text").parse().expect("an id");
    (Stream::new(response), run)
}

#[tokio::test]
async fn a_message_can_be_answered_with_its_runs_events_until_it_ends() {
    let server = TestServer::start().await;
    let (session, path) = session_with(&server, 5).await;
    let (mut stream, run) = send_streaming(&server, session).await;
    let other = RunId(uuid_of(1));
    server
        .runtime
        .emit(
            session,
            vec![
                said("of no run"),
                Draft::of_run(other, delta("of another")),
                Draft::of_run(run, delta("ours")),
                Draft::of_run(run, delta("a subagent's")).within(ConversationId::from("s")),
                Draft::of_run(other, ended()),
                Draft::of_run(run, ended()),
                Draft::of_run(run, delta("after the end")),
            ],
        )
        .await;
    assert_eq!(stream.ids(4).await, [6, 9, 10, 12]);
    assert_eq!(stream.next().await, None);
    assert_eq!(server.get(&server.owner, &path).await.json()["head"], 13);
}

#[tokio::test]
async fn a_message_that_a_run_took_up_is_followed_to_that_runs_end() {
    let server = TestServer::start().await;
    let (session, _) = session_with(&server, 1).await;
    let (mut stream, run) = send_streaming(&server, session).await;
    let carrier = RunId(uuid_of(1));
    let message = Block::UserMessage {
        id: BlockId::of_message(run),
        timestamp: Timestamp::default(),
        content: Content::from("Go"),
    };
    server
        .runtime
        .emit(
            session,
            vec![
                Draft::of_run(carrier, delta("before")),
                Draft::of_run(carrier, EventBody::BlockComplete { block: message }),
                Draft::of_run(carrier, delta("about it")),
                Draft::of_run(carrier, ended()),
            ],
        )
        .await;
    assert_eq!(stream.ids(4).await, [2, 4, 5, 6]);
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn who_stops_listening_does_not_stop_the_run() {
    let server = TestServer::start().await;
    let (session, _) = session_with(&server, 1).await;
    let (stream, run) = send_streaming(&server, session).await;
    drop(stream);
    let path = format!("/api/sessions/{session}/runs/{run}");
    assert_eq!(server.get(&server.owner, &path).await.json()["status"], "running");
}

#[tokio::test]
async fn news_of_the_list_reach_those_who_may_see_the_session() {
    let server = TestServer::start().await;
    let project = server.project("default", "mine").await;
    let secret = server.token("default", &format!("project:{project}:ro")).await;
    let mut confined = Stream::new(
        server
            .open(request(Method::GET, "/api/events", Some(&secret)).body(Body::empty()).expect("a request"))
            .await,
    );
    let mut all = server.stream("/api/events", &[]).await;
    let other = server.session().await;
    let mine =
        server.post(&server.owner, "/api/sessions", &json!({"projectId": project}).to_string()).await.json();
    let path = format!("/api/sessions/{}", mine["sessionId"].as_str().expect("an id"));
    server.send(Method::PATCH, &server.owner, &path, r#"{"name": "New"}"#).await;
    server.send(Method::DELETE, &server.owner, &path, "").await;

    let mut told = Vec::new();
    for stream in [&mut all, &mut confined] {
        let mut news = Vec::new();
        loop {
            let (id, data) = stream.next().await.expect("news");
            assert_eq!((id, &data["type"]), (None, &json!("sessions_changed")));
            let is_last = data["change"] == "erased";
            news.push((data["change"].clone(), data["sessionId"].clone()));
            if is_last {
                break;
            }
        }
        told.push(news);
    }
    assert_eq!(told[0].first(), Some(&(json!("created"), json!(other))));
    assert!(told[1].iter().all(|(_, session)| *session == mine["sessionId"]), "{told:?}");
    assert_eq!(told[1].last(), Some(&(json!("erased"), mine["sessionId"].clone())));
}

fn uuid_of(n: u128) -> uuid::Uuid {
    uuid::Uuid::from_u128(n)
}
