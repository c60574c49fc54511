//! Profiles: what is secret in them is written and never read, and what no session could start with is not kept.

use axum::http::{Method, StatusCode};
use serde_json::json;

use crate::support::TestServer;

#[tokio::test]
async fn nobody_reads_the_secrets_of_a_profile_and_sending_it_back_keeps_them() {
    let server = TestServer::start().await;
    let project = server.project("default", "mine").await;
    let reader = server.token("default", &format!("project:{project}:ro")).await;
    let profile = json!({
        "environmentVariables": {"TOKEN": "s3cret-1"},
        "externalMCPs": [{"name": "far", "url": "https://far.example", "headers": {"Authorization": "Bearer s3cret-2"}}],
    });
    let path = "/api/profiles/with-mcp";
    let put = server.send(Method::PUT, &server.owner, path, &profile.to_string()).await;
    assert_eq!(put.status, StatusCode::OK, "{put:?}");
    let mut read = Vec::new();
    for secret in [&server.owner, &reader] {
        for path in [path, "/api/profiles"] {
            let reply = server.get(secret, path).await;
            assert_eq!(reply.status, StatusCode::OK, "{path}");
            read.push(reply);
        }
    }
    for reply in read.iter().chain([&put]) {
        let text = String::from_utf8_lossy(&reply.body);
        assert!(!text.contains("s3cret") && text.contains("***kept***"), "{text}");
    }
    let mut sent = read[0].json();
    sent["description"] = json!("changed");
    let again = server.send(Method::PUT, &server.owner, path, &sent.to_string()).await;
    assert_eq!((again.status, &again.json()["description"]), (StatusCode::OK, &json!("changed")));
    let stored = server.stored_profile("default", "with-mcp").await;
    assert_eq!(stored.environment_variables["TOKEN"], "s3cret-1");
    assert_eq!(stored.external_mcps[0].settings["headers"]["Authorization"], "Bearer s3cret-2");

    let nothing = json!({"environmentVariables": {"NEW": "***kept***"}}).to_string();
    let refused = server.send(Method::PUT, &server.owner, path, &nothing).await;
    assert_eq!(refused.problem(), "BAD_REQUEST");
    assert!(refused.json()["hint"].is_string());
}

#[tokio::test]
async fn a_profile_that_no_session_could_start_with_is_refused_when_it_is_saved() {
    let server = TestServer::start().await;
    let wrong = json!({"egressAllow": ["http://a.example/path"]}).to_string();
    let refused = server.send(Method::PUT, &server.owner, "/api/profiles/wrong", &wrong).await;
    assert_eq!(refused.problem(), "BAD_REQUEST");
    let problem = refused.json();
    assert!(
        problem["detail"].as_str().is_some_and(|detail| detail.contains("http://a.example/path")),
        "{problem}"
    );
    assert!(problem["hint"].is_string(), "{problem}");
    assert_eq!(
        server.get(&server.owner, "/api/profiles/wrong").await.problem(),
        "NOT_FOUND",
        "it is not kept"
    );
}
