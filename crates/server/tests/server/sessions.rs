//! Sessions, profiles and the rest, when all is well.

use std::sync::atomic::Ordering;

use axum::{
    body::Body,
    http::{Method, StatusCode, header},
};
use serde_json::json;
use warren_domain::{Block, BlockId, Draft, EventBody, Timestamp};

use crate::support::{TestServer, request};

#[tokio::test]
async fn a_session_is_made_found_changed_and_erased() {
    let server = TestServer::start().await;
    let wanted = json!({
        "name": "Sales", "metadata": {"team": "a"}, "options": {"model": "m", "timeBudget": {"hardSeconds": 60}},
    });
    let made = server.post(&server.owner, "/api/sessions", &wanted.to_string()).await;
    assert_eq!(made.status, StatusCode::CREATED);
    let item = made.json();
    let path = format!("/api/sessions/{}", item["sessionId"].as_str().expect("an id"));
    assert_eq!(made.headers[header::LOCATION], path.as_str());
    for (field, value) in [
        ("type", json!("builtin")),
        ("agentProfileReference", json!("default")),
        ("name", json!("Sales")),
        ("metadata", json!({"team": "a"})),
        ("options", json!({"model": "m", "timeBudget": {"hardSeconds": 60}})),
        ("runtime", json!({"isLoaded": false, "sandbox": null})),
        ("version", json!(0)),
        ("lastSeq", json!(1)),
    ] {
        assert_eq!(item[field], value, "{field}");
    }
    let renamed = server.send(Method::PATCH, &server.owner, &path, r#"{"name": "Costs"}"#).await.json();
    assert_eq!((&renamed["name"], &renamed["metadata"]), (&json!("Costs"), &json!({"team": "a"})));
    let unchanged = server.send(Method::PATCH, &server.owner, &path, "{}").await.json();
    assert_eq!(unchanged["lastSeq"], renamed["lastSeq"], "nothing to change is not recorded");
    assert_eq!(server.send(Method::DELETE, &server.owner, &path, "").await.status, StatusCode::NO_CONTENT);
    assert_eq!(server.get(&server.owner, &path).await.problem(), "NOT_FOUND");
}

#[tokio::test]
async fn a_list_pages_and_filters() {
    let server = TestServer::start().await;
    for name in ["one", "two", "three"] {
        server.post(&server.owner, "/api/sessions", &json!({"name": name}).to_string()).await;
    }
    let names = |page: &serde_json::Value| -> Vec<String> {
        let sessions = page["sessions"].as_array().expect("a list");
        sessions.iter().map(|session| session["name"].as_str().expect("a name").to_owned()).collect()
    };
    let first = server.get(&server.owner, "/api/sessions?limit=2").await.json();
    let cursor = first["nextCursor"].as_str().expect("more");
    let second = server.get(&server.owner, &format!("/api/sessions?limit=2&cursor={cursor}")).await.json();
    assert_eq!((names(&first), names(&second)), (vec!["three".into(), "two".into()], vec!["one".into()]));
    assert_eq!(second.get("nextCursor"), None);
    assert_eq!(names(&server.get(&server.owner, "/api/sessions?q=TW").await.json()), ["two"]);
    assert_eq!(
        names(&server.get(&server.owner, "/api/sessions?type=codex").await.json()),
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn reading_a_session_loads_it_and_makes_no_sandbox() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let block = Block::AssistantText {
        id: BlockId::from("b"),
        timestamp: Timestamp::default(),
        content: "Hi".to_owned(),
        model: None,
    };
    let said = Draft::of_session(EventBody::BlockComplete { block });
    server.runtime.emit(session, vec![said]).await;
    let read_only = server.token("default", "admin:ro").await;
    for path in ["", "/messages", "/events", "/runs", "/sandbox", "/transcript"] {
        let reply = server.get(&read_only, &format!("/api/sessions/{session}{path}")).await;
        assert_eq!(reply.status, StatusCode::OK, "{path}");
    }
    let whole = server.get(&read_only, &format!("/api/sessions/{session}")).await.json();
    assert_eq!(whole["runtime"]["isLoaded"], true);
    assert_eq!(whole["lastSeq"], 2);
    assert_eq!(whole["blocks"][0]["content"], "Hi");
    assert_eq!((&whole["subagents"], &whole["workspaceFiles"]), (&json!([]), &json!([])));
    assert_eq!(server.runtime.n_started.load(Ordering::SeqCst), 0);
    server.post(&server.owner, &format!("/api/sessions/{session}/sandbox/start"), "").await;
    assert_eq!(server.runtime.n_started.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn conversation_pages_from_both_ends_without_a_gap_or_a_duplicate() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let block = |id: &str| Block::AssistantText {
        id: BlockId::from(id),
        timestamp: Timestamp::default(),
        content: "x".repeat(500),
        model: None,
    };
    let said = ["a", "b", "c", "d", "e"].map(|id| EventBody::BlockComplete { block: block(id) });
    server.runtime.emit(session, said.map(Draft::of_session).into()).await;
    let read = async |query: String| {
        server.get(&server.owner, &format!("/api/sessions/{session}/messages?limit=2{query}")).await
    };
    let ids = |page: &serde_json::Value| -> String {
        let blocks = page["blocks"].as_array().expect("blocks");
        blocks.iter().map(|block| block["id"].as_str().expect("an id")).collect()
    };
    let whole = server.get(&server.owner, &format!("/api/sessions/{session}")).await.json();
    for (first, cursor, parameter, expected) in [
        ("", "nextCursor", "after", ["ab", "cd", "e"]),
        ("&order=newest", "previousCursor", "before", ["de", "bc", "a"]),
    ] {
        let (mut query, mut seen) = (first.to_owned(), Vec::new());
        loop {
            let page = read(query).await.json();
            assert_eq!(page["lastSeq"], whole["lastSeq"]);
            seen.push(ids(&page));
            let Some(cursor) = page[cursor].as_str() else { break };
            query = format!("&{parameter}={cursor}");
        }
        assert_eq!(seen, expected);
    }
    let older = read("&before=c&only=[%22d%22,%22b%22,%22z%22]".to_owned()).await.json();
    assert_eq!((ids(&older), older.get("previousCursor")), ("b".to_owned(), None));
    assert_eq!(read("&only=b".to_owned()).await.problem(), "BAD_REQUEST");
    assert_eq!(read("&after=z".to_owned()).await.problem(), "BAD_REQUEST");
    assert_eq!(read("&after=a&before=b".to_owned()).await.problem(), "BAD_REQUEST");
    let newest = server.get(&server.owner, &format!("/api/sessions/{session}?limit=2")).await.json();
    assert_eq!((ids(&newest), &newest["previousCursor"]), ("de".to_owned(), &json!("d")));
    assert_eq!((ids(&whole), whole.get("previousCursor")), ("abcde".to_owned(), None));
}

#[tokio::test]
async fn a_message_is_accepted_with_its_run() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let sent = server
        .post(&server.owner, &format!("/api/sessions/{session}/messages"), r#"{"content": "Go"}"#)
        .await;
    assert_eq!(sent.status, StatusCode::ACCEPTED);
    let accepted = sent.json();
    assert_eq!((&accepted["sessionId"], &accepted["seq"]), (&json!(session), &json!(2)));
    let run =
        server.get(&server.owner, sent.headers[header::LOCATION].to_str().expect("a path")).await.json();
    assert_eq!(
        (&run["runId"], &run["content"], &run["status"]),
        (&accepted["runId"], &json!("Go"), &json!("running"))
    );
    let runs = server.get(&server.owner, &format!("/api/sessions/{session}/runs")).await.json();
    assert_eq!(runs, json!({"runs": [run]}));
}

#[tokio::test]
async fn run_page_sums_up_the_usage_of_earlier_runs_when_asked() {
    let server = TestServer::start().await;
    let session = server.session().await;
    for content in ["one", "two", "three"] {
        let body = json!({ "content": content }).to_string();
        server.post(&server.owner, &format!("/api/sessions/{session}/messages"), &body).await;
    }
    let earlier = async |query: &str| {
        let path = format!("/api/sessions/{session}/runs?{query}");
        server.get(&server.owner, &path).await.json()["earlier"]["costUSD"].as_f64()
    };
    assert_eq!(earlier("limit=1").await, None);
    assert_eq!(earlier("limit=1&sum=earlier").await, Some(0.5));
    assert_eq!(earlier("limit=2&sum=earlier").await, Some(0.25));
    assert_eq!(earlier("limit=3&sum=earlier").await, Some(0.0));
}

#[tokio::test]
async fn what_may_be_left_out_may_be_left_out() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let unload = format!("/api/sessions/{session}/unload");
    let bare = request(Method::POST, &unload, Some(&server.owner)).body(Body::empty()).expect("a request");
    assert_eq!(server.call(bare).await.problem(), "RUN_IN_PROGRESS");
    assert_eq!(server.post(&server.owner, &unload, r#"{"force": true}"#).await.status, StatusCode::OK);
    let interrupt = format!("/api/sessions/{session}/interrupt");
    let bare = request(Method::POST, &interrupt, Some(&server.owner)).body(Body::empty()).expect("a request");
    let reply = server.call(bare).await;
    assert_eq!((reply.status, reply.json()), (StatusCode::ACCEPTED, json!({"runId": null})));
}

#[tokio::test]
async fn a_profile_is_put_under_the_name_of_its_path() {
    let server = TestServer::start().await;
    let put =
        server.send(Method::PUT, &server.owner, "/api/profiles/writer", r#"{"systemPrompt": "Write"}"#).await;
    assert_eq!(put.json(), json!({"id": "writer", "systemPrompt": "Write"}));
    assert_eq!(server.get(&server.owner, "/api/profiles/writer").await.json(), put.json());
    let other = server.send(Method::PUT, &server.owner, "/api/profiles/writer", r#"{"id": "reader"}"#).await;
    assert_eq!(other.problem(), "BAD_REQUEST");
    let profile = json!({"agentProfileReference": "writer"}).to_string();
    assert_eq!(server.post(&server.owner, "/api/sessions", &profile).await.status, StatusCode::CREATED);
    let unknown = json!({"agentProfileReference": "nobodys"}).to_string();
    assert_eq!(server.post(&server.owner, "/api/sessions", &unknown).await.problem(), "NOT_FOUND");
    let gone = server.send(Method::DELETE, &server.owner, "/api/profiles/writer", "").await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let server = TestServer::start().await;
    let session = server.session().await;
    for path in ["/health".to_owned(), "/openapi.json".to_owned(), format!("/api/sessions/{session}/events")]
    {
        let get = server.get(&server.owner, &path).await;
        let head = request(Method::HEAD, &path, Some(&server.owner)).body(Body::empty()).expect("a request");
        let head = server.call(head).await;
        assert_eq!((head.status, head.body.len()), (get.status, 0));
        assert_eq!(head.headers[header::CONTENT_TYPE], get.headers[header::CONTENT_TYPE]);
    }
}

#[tokio::test]
async fn the_machine_answers_for_itself() {
    let server = TestServer::start().await;
    assert_eq!(server.get("", "/health").await.json()["status"], "ok");
    assert_eq!(server.get("", "/ready").await.json(), json!({"status": "ready"}));
    assert_eq!(server.get("", "/openapi.json").await.json()["openapi"], "3.1.0");
    let doctor = server.get(&server.owner, "/api/doctor").await.json();
    assert_eq!(doctor, json!({"isolation": {"usable": true}, "warnings": []}));
    let usage = server.get(&server.owner, "/api/usage?groupBy=model&from=2026-01-01T00:00:00Z").await.json();
    assert_eq!(usage["rows"], json!([]));
    server.tasks.cancel();
    assert_eq!(server.get("", "/ready").await.problem(), "UNAVAILABLE");
    assert_eq!(server.get("", "/health").await.status, StatusCode::OK);
}

#[tokio::test]
async fn one_agent_is_told_by_its_name() {
    let server = TestServer::start().await;
    let found = server.get(&server.owner, "/api/agents/builtin").await.json();
    assert_eq!(found, json!({"name": "builtin", "isAgent": true, "hasEffort": true, "ready": true}));
    let listed = server.get(&server.owner, "/api/agents").await.json();
    assert_eq!(listed["agents"][0], found);
    assert_eq!(server.get(&server.owner, "/api/agents/hal-9000").await.problem(), "NOT_FOUND");
}
