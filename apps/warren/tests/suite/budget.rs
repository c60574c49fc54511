//! What a session may spend.

use reqwest::StatusCode;
use serde_json::{Value, json};
use warren_domain::SessionId;
use warren_testkit::{Setup, TestClient, TestServer};

/// The demo model is free, unless the operator says otherwise.
fn with_price() -> Setup {
    Setup::new().config("[models.prices]\n\"warren-demo-1\" = { input = 1.0, output = 5.0 }")
}

async fn session_with(client: &TestClient, budget: Value) -> SessionId {
    let made = client.post("/api/sessions", &json!({"options": {"budget": budget}})).await;
    made.expect(StatusCode::CREATED)["sessionId"].as_str().expect("an id").parse().expect("an id")
}

#[tokio::test]
async fn a_call_that_could_exceed_the_budget_is_refused_before_it_is_made() {
    let server = with_price().start().await;
    let client = server.admin();
    for budget in [json!({"tokens": 20}), json!({"costUsd": 0.000_001})] {
        let session = session_with(&client, budget).await;
        let events = client.run(session, "hello").await;
        let last = events.last().expect("events");
        assert_eq!(
            (last.kind(), &last.json["code"]),
            ("run_failed", &json!("BUDGET_EXCEEDED")),
            "{:#}",
            last.json
        );
        let called =
            events.iter().find(|event| event.kind() == "model_called").expect("the refusal is in the log");
        assert_eq!((&called.json["status"], &called.json["costUSD"]), (&json!(402), &json!(0.0)));

        let raised = json!({"options": {"budget": {"costUsd": 10.0}}});
        client.patch(&format!("/api/sessions/{session}"), &raised).await.expect(StatusCode::OK);
        let events = client.run(session, "hello").await;
        assert_eq!(events.last().expect("events").kind(), "run_completed");
    }
}

#[tokio::test]
async fn what_earlier_runs_spent_counts() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = session_with(&client, json!({"tokens": 12_000})).await;
    let mut endings = Vec::new();
    for _ in 0..12 {
        let events = client.run(session, "big answer 2000").await;
        endings.push(events.last().expect("events").kind().to_owned());
    }
    assert_eq!(endings[0], "run_completed", "{endings:?}");
    assert_eq!(endings[11], "run_failed", "{endings:?}");
}

#[tokio::test]
async fn the_demo_model_is_free_and_no_budget_stops_it() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = session_with(&client, json!({"costUsd": 0.000_001})).await;
    let events = client.run(session, "hello").await;
    let last = events.last().expect("events");
    assert_eq!((last.kind(), &last.json["costUSD"]), ("run_completed", &json!(0.0)), "{:#}", last.json);
}

#[tokio::test]
async fn a_budget_below_nothing_is_refused() {
    let server = TestServer::start().await;
    let refused =
        server.admin().post("/api/sessions", &json!({"options": {"budget": {"costUsd": -1}}})).await;
    assert_eq!(refused.refusal(), (400, "BAD_REQUEST"));
}
