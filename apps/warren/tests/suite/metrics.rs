//! What `/metrics` says of sessions, runs, sandboxes, the log, models and egress.

use warren_testkit::{Setup, TestClient};

/// The figure of this name and label.
async fn figure(client: &TestClient, name: &str) -> f64 {
    let answer = client.get("/metrics").await;
    let text = answer.body.as_str().expect("text").to_owned();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no `{name}` in:\n{text}"))
}

#[tokio::test]
async fn figures_say_what_the_log_says() {
    let server = Setup::new()
        .config("[models.prices]\n\"warren-demo-1\" = { input = 1.0, output = 5.0 }")
        .start()
        .await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: curl -s http://example.com; echo done").await;
    let log = client.log(session).await;
    let of_kind = |kind: &str| log.iter().filter(|event| event.kind() == kind).count();

    assert!(figure(&client, "warren_sessions_loaded").await >= 1.0);
    assert!((figure(&client, "warren_sandboxes_ready").await - 1.0).abs() < 0.1);
    assert!(figure(&client, "warren_runs_active").await.abs() < 0.1, "the run is over");
    assert!((figure(&client, "warren_runs_ended_total{outcome=\"completed\"}").await - 1.0).abs() < 0.1);
    assert!(figure(&client, "warren_log_commits_total").await >= 3.0);
    assert!(figure(&client, "warren_log_events_total").await + 0.1 >= log.len() as f64);
    let calls = figure(&client, "warren_model_calls_total{status=\"200\"}").await;
    assert!((calls - of_kind("model_called") as f64).abs() < 0.1, "{calls}");
    assert!(figure(&client, "warren_model_tokens_total{kind=\"output\"}").await > 0.0);
    assert!(figure(&client, "warren_model_cost_microdollars_total").await > 0.0);
    let refused = of_kind("egress_decided");
    assert!(refused >= 1, "what is not allowed is refused, and said");
    let counted = figure(&client, "warren_egress_decisions_total{decision=\"refused\"}").await;
    assert!((counted - refused as f64).abs() < 0.1, "{counted}");
}
