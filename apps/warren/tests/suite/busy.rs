//! Messages that arrive together.

use reqwest::StatusCode;
use serde_json::json;
use warren_testkit::{TestEvent, TestServer};

use super::session::assert_contiguous;

#[tokio::test]
async fn messages_sent_at_once_run_one_after_the_other() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let sends = (0..8).map(|n| {
        let client = client.clone();
        async move { client.message_send(session, &format!("run: echo {n} >> order.txt")).await.0 }
    });
    let runs = futures::future::join_all(sends).await;
    let mut events = client.events(session, warren_domain::Seq(0)).await;
    let mut left: std::collections::HashSet<_> = runs.into_iter().collect();
    let mut log = Vec::new();
    while !left.is_empty() {
        let event = events.next().await.expect("more events");
        left.retain(|run| !event.ends_run(*run));
        log.push(event);
    }
    assert_contiguous(&log);
    let mut running = None;
    for event in &log {
        match event.kind() {
            "run_started" => assert_eq!(running.replace(event.json["runId"].clone()), None, "one at a time"),
            "run_completed" => assert_eq!(running.take(), Some(event.json["runId"].clone())),
            _ => {}
        }
    }
    let versions: Vec<_> = log
        .iter()
        .filter(|event| event.kind() == "run_completed")
        .map(|e| e.json["version"].clone())
        .collect();
    assert_eq!(versions, (1..=8).map(|n| json!(n)).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_same_key_gives_the_same_run_and_another_message_under_it_is_refused() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let path = format!("/api/sessions/{session}/messages");
    let body = json!({"content": "run: echo once >> once.txt", "idempotencyKey": "k1"});
    let sends = (0..5).map(|_| client.post(&path, &body));
    let answers: Vec<_> = futures::future::join_all(sends)
        .await
        .into_iter()
        .map(|answer| answer.expect(StatusCode::ACCEPTED))
        .collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
    let other = client.post(&path, &json!({"content": "another", "idempotencyKey": "k1"})).await;
    assert_eq!(other.refusal(), (422, "IDEMPOTENCY_MISMATCH"));

    let run = answers[0]["runId"].as_str().unwrap().parse().unwrap();
    let mut events = client.events(session, warren_domain::Seq(0)).await;
    let log = events.until(|event| event.ends_run(run)).await;
    let started = log.iter().filter(|event: &&TestEvent| event.kind() == "run_started").count();
    assert_eq!(started, 1);
}

#[tokio::test]
async fn a_busy_session_queues_steers_or_refuses_as_the_sender_says() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let path = format!("/api/sessions/{session}/messages");
    let (first, seq) = client.message_send(session, "sleep 2").await;
    let mut events = client.events(session, seq).await;
    events.until(|event| event.json["updates"]["status"] == "running").await;

    let refused = client.post(&path, &json!({"content": "no", "whenBusy": "reject"})).await;
    assert_eq!(refused.refusal(), (409, "RUN_IN_PROGRESS"));
    let steered = client.post(&path, &json!({"content": "also this", "whenBusy": "steer"})).await;
    let steered = steered.expect(StatusCode::ACCEPTED);
    let (queued, _) = client.message_send(session, "run: echo queued").await;
    let dropped =
        client.post(&path, &json!({"content": "run: echo never"})).await.expect(StatusCode::ACCEPTED);
    let dropped = format!("/api/sessions/{session}/runs/{}", dropped["runId"].as_str().unwrap());
    client.delete(&dropped).await.expect(StatusCode::NO_CONTENT);

    let all = events.until(|event| event.ends_run(queued)).await;
    let taken_up = format!("msg-{}", steered["runId"].as_str().unwrap());
    let taken = all.iter().find(|event| event.json["block"]["id"] == taken_up).expect("it was taken up");
    assert_eq!(taken.json["runId"], first.to_string(), "by the run that was going on");
    let ends: Vec<_> = all.iter().filter(|event| event.kind() == "run_completed").collect();
    let ended: Vec<_> = ends.iter().map(|event| event.json["runId"].clone()).collect();
    assert_eq!(ended, [steered["runId"].clone(), json!(first), json!(queued)], "it ends with that run");
    assert_eq!(
        [&ends[0].json["version"], &ends[0].json["summary"]],
        [&ends[1].json["version"], &ends[1].json["summary"]]
    );
    assert_eq!((&ends[0].json["costUSD"], &ends[0].json["usage"]["totalTokens"]), (&json!(0.0), &json!(0)));
    let runs = client.get(&format!("/api/sessions/{session}/runs")).await.expect(StatusCode::OK);
    let states: Vec<_> =
        runs["runs"].as_array().unwrap().iter().rev().map(|run| run["status"].clone()).collect();
    assert_eq!(states, ["completed", "steered", "completed", "interrupted"]);
}

#[tokio::test]
async fn messages_that_wait_run_in_the_order_they_are_put_into() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let (first, seq) = client.message_send(session, "sleep 600").await;
    let mut events = client.events(session, seq).await;
    events.until(|event| event.json["updates"]["status"] == "running").await;
    let mut waiting = Vec::new();
    for name in ["one", "two", "three"] {
        waiting.push(client.message_send(session, &format!("run: echo {name} >> order.txt")).await.0);
    }
    let path = |run: &warren_domain::RunId| format!("/api/sessions/{session}/runs/{run}");
    client.patch(&path(&waiting[2]), &json!({"position": 1})).await.expect(StatusCode::OK);
    // Beyond the end is the end.
    client.patch(&path(&waiting[0]), &json!({"position": 99})).await.expect(StatusCode::OK);
    let nowhere = client.patch(&path(&waiting[1]), &json!({"position": "first"})).await;
    assert_eq!(nowhere.refusal().0, 400);
    let late = client.patch(&path(&first), &json!({"position": 1})).await;
    assert_eq!(late.refusal().0, 409, "it runs already");
    assert_contiguous(&client.log(session).await);

    client.post(&format!("/api/sessions/{session}/interrupt"), &json!({})).await.expect(StatusCode::ACCEPTED);
    events.until(|event| event.ends_run(first)).await;
    // A stop stops: what waits is held, also by the next server, until somebody resumes it.
    let detail = format!("/api/sessions/{session}");
    let held = client.get(&detail).await.expect(StatusCode::OK);
    assert_eq!((&held["queueHeld"], held["queue"].as_array().map(Vec::len)), (&json!(true), Some(3)));
    assert_eq!(held["name"], "sleep 600", "the first message names the session");
    client.patch(&detail, &json!({"queueHeld": false})).await.expect(StatusCode::OK);
    events.until(|event| event.ends_run(waiting[0])).await;
    let order = client.get(&format!("/api/sessions/{session}/fs/read?path=order.txt")).await;
    assert_eq!(order.body, json!("three\ntwo\none\n"));
    let late = client.patch(&path(&waiting[0]), &json!({"position": 1})).await;
    assert_eq!(late.refusal().0, 409, "it has run");
    let released = client.get(&detail).await.expect(StatusCode::OK);
    assert_eq!(released["queueHeld"], false);
}

#[tokio::test]
async fn a_name_that_a_person_gave_is_never_replaced_by_a_message() {
    let server = TestServer::start().await;
    let client = server.admin();
    let made = client.post("/api/sessions", &json!({"name": "Mine"})).await.expect(StatusCode::CREATED);
    let session = made["sessionId"].as_str().expect("an id").parse().expect("an id");
    client.run(session, "hello").await;
    let kept = client.get(&format!("/api/sessions/{session}")).await.expect(StatusCode::OK);
    assert_eq!(kept["name"], "Mine");
}

#[tokio::test]
async fn long_output_is_cut_in_the_list_and_whole_as_one_block() {
    let server = TestServer::start().await;
    let client = server.admin();
    let long: String = (0..60_000).map(|n| format!("{n}\n")).collect();
    let line = |value: serde_json::Value| format!("{value}\n");
    let of = |kind: &str, uuid: &str, message: serde_json::Value| {
        line(json!({
            "type": kind, "uuid": uuid, "parentUuid": null, "sessionId": "11111111-1111-4111-8111-111111111111",
            "timestamp": "2026-01-01T00:00:00.000Z", "isSidechain": false, "message": message,
        }))
    };
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "seq"}});
    let answer = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": long, "is_error": false});
    let transcript = of("user", "a", json!({"role": "user", "content": "count"}))
        + &of(
            "assistant",
            "b",
            json!({"role": "assistant", "id": "m1", "model": "claude-x", "content": [call]}),
        )
        + &of("user", "c", json!({"role": "user", "content": [answer]}));
    let wanted = json!({"type": "claude-code", "transcript": transcript});
    let made = client.post("/api/import", &wanted).await.expect(StatusCode::CREATED);
    let path = format!("/api/sessions/{}/messages", made["sessionId"].as_str().unwrap());
    let all = client.get(&path).await.expect(StatusCode::OK);
    let found = all["blocks"].as_array().unwrap().iter().find(|block| block["type"] == "tool_result");
    let cut = found.expect("an answer");
    let length = |block: &serde_json::Value| block["output"].to_string().len();
    assert!(length(cut) < 40_000, "{}", length(cut));
    let whole = client.get(&format!("{path}/{}", cut["id"].as_str().unwrap())).await.expect(StatusCode::OK);
    assert_eq!(whole["id"], cut["id"]);
    assert!(whole["output"].to_string().contains("59999"), "the last line is there");
    let gone = client.get(&format!("{path}/nobody")).await;
    assert_eq!(gone.refusal(), (404, "NOT_FOUND"));
}
