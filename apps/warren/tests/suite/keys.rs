//! Keys and base URLs of providers, set while the server runs, and the models to choose from.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Stdio};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use warren_domain::{Seq, SessionId};
use warren_testkit::{Setup, TestClient, TestProvider, TestServer};

use super::session::said;

const KEY: &str = "sk-ant-0123456789-only-sealed";
const OTHER: &str = "sk-ant-9876543210-another-one";

async fn set(client: &TestClient, key: &str, url: &str) -> Value {
    let put = json!({"apiKey": key, "baseUrl": url});
    client.put("/api/providers/anthropic", &put).await.expect(StatusCode::OK)
}

async fn test(client: &TestClient) -> Value {
    client.post("/api/providers/anthropic/test", &json!({})).await.expect(StatusCode::OK)
}

/// What answered a message in a new session.
async fn model_of_a_run(client: &TestClient) -> Value {
    let session = client.session_create().await;
    let events = client.run(session, "hello").await;
    assert_eq!(events.last().expect("events").kind(), "run_completed", "{}", said(&events));
    let called = events.iter().find(|event| event.kind() == "model_called").expect("a call");
    called.json["model"].clone()
}

/// Files below a directory that hold a text.
fn files_with(directory: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let kind = fs::symlink_metadata(&path).expect("it is there").file_type();
        if kind.is_dir() {
            found.extend(files_with(&path, text));
        } else if kind.is_file() {
            let bytes = fs::read(&path).expect("it is read");
            if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[tokio::test]
async fn key_set_in_the_page_counts_for_the_next_call_until_it_is_removed() {
    let provider = TestProvider::start(KEY).await;
    let server = TestServer::start().await;
    let client = server.admin();
    assert_eq!(model_of_a_run(&client).await, "warren-demo-1");

    let expected = json!({
        "name": "anthropic", "label": "Anthropic", "baseUrl": provider.url, "hasKey": true,
        "keySource": "page", "keyEnding": "aled", "isSet": true, "isDemo": false, "variable": "ANTHROPIC_API_KEY",
    });
    assert_eq!(set(&client, KEY, &provider.url).await, expected);
    let tested = json!({"status": "ok", "models": 2, "message": "Anthropic answers and offers 2 models"});
    assert_eq!(test(&client).await, tested);
    assert_eq!(model_of_a_run(&client).await, "claude-sonnet-4-5");
    assert!(provider.n_answered() > 0);

    // The provider's key changes, and then the server's.
    provider.change_key(OTHER);
    let refused = test(&client).await;
    assert_eq!(refused["status"], "wrongKey", "{refused:#}");
    assert_eq!(refused["message"], "the provider refuses the key (HTTP 401)");
    set(&client, OTHER, &provider.url).await;
    assert_eq!(test(&client).await["status"], "ok");

    client.delete("/api/providers/anthropic").await.expect(StatusCode::NO_CONTENT);
    assert_eq!(client.delete("/api/providers/anthropic").await.refusal(), (404, "NOT_FOUND"));
    assert_eq!(test(&client).await["status"], "noKey");
    assert_eq!(model_of_a_run(&client).await, "warren-demo-1");
}

#[tokio::test]
async fn stored_key_survives_a_restart_and_is_nowhere_in_plain_text() {
    let provider = TestProvider::start(OTHER).await;
    let setup = Setup::new().variable("WARREN_LOG", "trace").variable("GEMINI_API_KEY", "g");
    let mut server = setup.start().await;
    let client = server.admin();
    let mut told = vec![set(&client, KEY, &provider.url).await.to_string()];
    // A provider that repeats the key it refuses, a body that has the key in a wrong place, and an address with it.
    told.push(test(&client).await.to_string());
    for body in [json!(KEY), json!({KEY: 1}), json!({"apiKey": [KEY]}), json!({"apiKey": KEY, "x": KEY})] {
        let refused = client.put("/api/providers/anthropic", &body).await;
        assert_eq!(refused.refusal().0, 400, "{}", refused.body);
        told.push(refused.body.to_string());
    }
    let url = format!("https://{KEY}@example.com");
    let refused = client.put("/api/providers/anthropic", &json!({"apiKey": KEY, "baseUrl": url})).await;
    assert_eq!(refused.refusal(), (400, "BAD_REQUEST"));
    told.push(refused.body.to_string());
    provider.change_key(KEY);
    assert_eq!(model_of_a_run(&client).await, "claude-sonnet-4-5");
    for path in ["/api/providers", "/api/doctor", "/api/models", "/metrics", "/api/sessions"] {
        told.push(client.get(path).await.body.to_string());
    }
    let told = told.join("\n");
    assert!(!told.contains("0123456789"), "{told}");

    let log = server.stderr();
    server.restart().await;
    let client = server.admin();
    assert_eq!(model_of_a_run(&client).await, "claude-sonnet-4-5");
    server.stop().await;
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "the log was asked to say everything");
    assert!(!log.contains("0123456789") && !server.stderr().contains("0123456789"));
    assert_eq!(files_with(server.directory(), "0123456789-only"), Vec::<String>::new());
    assert_ne!(
        files_with(server.directory(), &provider.url),
        Vec::<String>::new(),
        "the search finds things"
    );
    let mode =
        fs::metadata(server.directory().join("providers.key")).expect("a key file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn only_administrators_see_providers_and_only_who_may_change_the_server_sets_keys() {
    let provider = TestProvider::start(KEY).await;
    let server = TestServer::start().await;
    let client = server.admin();
    let project = client.get("/api/sessions").await.expect(StatusCode::OK);
    assert!(project["sessions"].is_array());
    let session = client.session_create().await;
    let session = client.get(&format!("/api/sessions/{session}")).await.expect(StatusCode::OK);
    let project = session["projectId"].as_str().expect("a project");
    for scope in ["admin:ro", &format!("project:{project}"), &format!("project:{project}:ro")] {
        let made = client.post("/api/tokens", &json!({"name": "t", "scope": scope})).await;
        let other = client.with_token(made.expect(StatusCode::CREATED)["secret"].as_str().expect("a secret"));
        let put = json!({"apiKey": KEY, "baseUrl": provider.url});
        let path = "/api/providers/anthropic";
        for (method, path, body) in [
            (Method::PUT, path, Some(&put)),
            (Method::DELETE, path, None),
            (Method::POST, "/api/providers/anthropic/test", None),
        ] {
            let request = other.request(method.clone(), path);
            let request = match body {
                Some(body) => request.json(body),
                None => request,
            };
            assert_eq!(other.send(request).await.refusal(), (403, "FORBIDDEN"), "{scope} {method} {path}");
        }
        let listed = other.get("/api/providers").await.status;
        let may_list = if scope == "admin:ro" { StatusCode::OK } else { StatusCode::FORBIDDEN };
        assert_eq!(listed, may_list, "{scope}");
        // Models may be chosen by whoever may see sessions.
        other.get("/api/models").await.expect(StatusCode::OK);
    }
    assert_eq!(provider.n_refused() + provider.n_listed(), 0);
}

#[tokio::test]
async fn models_are_those_that_providers_offer_and_sandboxes_may_ask_for() {
    let provider = TestProvider::start(KEY).await;
    let prices = "[models.prices]\n\"claude-test\" = { input = 1.5, output = 6 }\n[models.openai]\nbase_url = \"http://127.0.0.1:9\"";
    let server = Setup::new().config(prices).start().await;
    let client = server.admin();
    let list = client.get("/api/models").await.expect(StatusCode::OK);
    let demo = json!([{
        "id": "warren-demo-1", "provider": "demo", "displayName": "Demo model", "contextWindow": 200_000,
        "price": {"input": 0.0, "output": 0.0, "cacheRead": 0.0},
        "agents": list["models"][0]["agents"],
    }]);
    assert_eq!(list["models"], demo);
    assert!(list["models"][0]["agents"].as_array().expect("agents").contains(&json!("builtin")), "{list:#}");
    let problems = list["problems"].as_array().expect("problems");
    assert_eq!(problems.len(), 1, "{list:#}");
    assert_eq!(problems[0]["provider"], "openai");
    assert_eq!(problems[0]["message"], "the provider cannot be reached: the connection failed");

    set(&client, KEY, &provider.url).await;
    let list = client.get("/api/models").await.expect(StatusCode::OK);
    let large = &list["models"][0];
    assert_eq!(large["id"], "claude-test-large", "{list:#}");
    assert_eq!(large["agents"], json!(["builtin", "claude-code", "opencode", "acp"]));
    let mut expected = large.clone();
    for (field, value) in [
        ("provider", json!("anthropic")),
        ("displayName", json!("CLAUDE-TEST-LARGE")),
        ("contextWindow", json!(200_000)),
        ("price", json!({"input": 1.5, "output": 6.0, "cacheRead": 0.15})),
    ] {
        expected[field] = value;
    }
    let near = (large["price"]["cacheRead"].as_f64().expect("a price") - 0.15).abs() < 1e-9;
    assert!(near, "{large:#}");
    expected["price"]["cacheRead"] = large["price"]["cacheRead"].clone();
    assert_eq!(*large, expected);
    // One that searches by itself is not offered, and the list is asked for once.
    assert!(!list.to_string().contains("claude-embed-search"), "{list:#}");
    client.get("/api/models").await.expect(StatusCode::OK);
    assert_eq!(provider.n_listed(), 1);
}

#[tokio::test]
async fn commands_store_list_test_and_remove_a_key_that_is_never_an_argument() {
    let provider = TestProvider::start(KEY).await;
    let server = TestServer::start().await;
    let run = async |arguments: &[&str], input: &str| {
        let mut command = server.command(arguments);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut stdin = child.stdin.take().expect("an input");
        stdin.write_all(input.as_bytes()).await.expect("written");
        drop(stdin);
        let output = child.wait_with_output().await.expect("it ends");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let set = run(&["keys", "set", "anthropic", "--base-url", &provider.url], &format!("{KEY}\n")).await;
    let said = format!("Set anthropic at {}\nAnthropic answers and offers 2 models\n", provider.url);
    assert_eq!(set, (Some(0), said, String::new()));
    let (code, listed, _) = run(&["keys", "list"], "").await;
    assert!(code == Some(0) && listed.contains("…aled") && !listed.contains("0123"), "{listed}");
    let (code, models, _) = run(&["models", "--agent", "claude-code"], "").await;
    assert!(code == Some(0) && models.contains("claude-test-small"), "{models}");
    provider.change_key(OTHER);
    let (code, _, complained) = run(&["keys", "test", "anthropic"], "").await;
    assert!(code == Some(1) && complained.contains("refuses the key"), "{complained}");
    let removed = run(&["keys", "rm", "anthropic"], "").await;
    assert_eq!(removed.0, Some(0), "{removed:?}");
    let (code, _, complained) = run(&["keys", "set", "anthropic"], "\n").await;
    assert!(code == Some(1) && complained.contains("empty"), "{complained}");
}

/// The detail and the hint of a refusal.
fn refusal(answer: &warren_testkit::TestAnswer) -> (u16, String, String) {
    let text = |field: &str| answer.body[field].as_str().unwrap_or_default().to_owned();
    (answer.status.as_u16(), text("detail"), text("hint"))
}

fn no_key(model: &str, label: &str, name: &str) -> (u16, String, String) {
    let detail = format!(
        "the model `{model}` cannot answer: the agent `builtin` asks {label} for it, and there is no key for {label}"
    );
    let hint = format!(
        "store a key in the page under Settings or with `warren keys set {name}`, or choose a model from \
         `warren models --agent builtin`"
    );
    (400, detail, hint)
}

#[tokio::test]
async fn chosen_model_without_a_key_is_refused_at_once_and_the_demo_model_answers_by_its_name() {
    let server = TestServer::start().await;
    let client = server.admin();
    let create =
        async |model: &str| client.post("/api/sessions", &json!({"options": {"model": model}})).await;
    for (model, label, name) in [
        ("claude-opus-4-7", "Anthropic", "anthropic"),
        ("nosuchmodel", "Anthropic", "anthropic"),
        ("gpt-5.5", "OpenAI", "openai"),
        ("gemini-2.5-pro", "Gemini", "gemini"),
    ] {
        assert_eq!(refusal(&create(model).await), no_key(model, label, name));
    }
    let output = server.command(&["run", "-m", "nosuchmodel", "hello"]).output().await.expect("it runs");
    let complained = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && complained.contains("`nosuchmodel` cannot answer"), "{complained}");
    assert!(complained.contains("keys set anthropic"), "{complained}");
    let sessions = client.get("/api/sessions").await.expect(StatusCode::OK);
    assert_eq!(sessions["sessions"], json!([]), "nothing is left of what was refused");

    // A message's own model, and that of a profile.
    let session = client.session_create().await;
    let messages = format!("/api/sessions/{session}/messages");
    let sent = client.post(&messages, &json!({"content": "hello", "model": "gpt-5.5"})).await;
    assert_eq!(refusal(&sent), no_key("gpt-5.5", "OpenAI", "openai"));
    client.put("/api/profiles/large", &json!({"model": "claude-opus-4-7"})).await.expect(StatusCode::OK);
    let made = client
        .post("/api/sessions", &json!({"agentProfileReference": "large"}))
        .await
        .expect(StatusCode::CREATED);
    let path = format!("/api/sessions/{}/messages", made["sessionId"].as_str().expect("an id"));
    let sent = client.post(&path, &json!({"content": "hello"})).await;
    assert_eq!(refusal(&sent), no_key("claude-opus-4-7", "Anthropic", "anthropic"));

    // By its name the demo model answers, even where there is a key.
    let provider = TestProvider::start(KEY).await;
    set(&client, KEY, &provider.url).await;
    let made = create("warren-demo-1").await.expect(StatusCode::CREATED);
    let session = made["sessionId"].as_str().expect("an id").parse().expect("an id");
    let events = client.run(session, "hello").await;
    assert_eq!(events.last().expect("events").kind(), "run_completed", "{}", said(&events));
    assert_eq!(provider.n_answered(), 0);
}

#[tokio::test]
async fn session_whose_key_was_removed_is_refused_and_so_is_a_message_that_waits() {
    let provider = TestProvider::start(KEY).await;
    let server = TestServer::start().await;
    let client = server.admin();
    set(&client, KEY, &provider.url).await;
    let made = client.post("/api/sessions", &json!({"options": {"model": "claude-test-large"}})).await;
    let made = made.expect(StatusCode::CREATED);
    let session: SessionId = made["sessionId"].as_str().expect("an id").parse().expect("an id");
    let path = format!("/api/sessions/{session}");
    let (first, _) =
        client.message_send(session, "bash: touch began; while [ ! -e go ]; do sleep 0.05; done").await;
    let mut events = client.events(session, Seq(0)).await;
    events.until(|event| event.kind() == "file_changed" && event.json["path"] == "began").await;
    let (waiting, _) = client.message_send(session, "hello").await;
    client.delete("/api/providers/anthropic").await.expect(StatusCode::NO_CONTENT);

    let refused = no_key("claude-test-large", "Anthropic", "anthropic");
    let sent = client.post(&format!("{path}/messages"), &json!({"content": "hello"})).await;
    assert_eq!(refusal(&sent), refused);
    // Whoever changes something else is not stopped.
    let options = json!({"options": {"model": "claude-test-large", "permissionMode": "ask"}});
    client.patch(&path, &options).await.expect(StatusCode::OK);
    let sent = client.patch(&path, &json!({"options": {"model": "claude-test-small"}})).await;
    assert_eq!(refusal(&sent), no_key("claude-test-small", "Anthropic", "anthropic"));

    let put = client.request(Method::PUT, &format!("{path}/fs?path=go")).body("");
    assert!(client.send(put).await.status.is_success());
    let log = events.until(|event| event.ends_run(waiting)).await;
    let failed = |run| log.iter().find(|event| event.ends_run(run)).expect("its end").json.clone();
    // The running one was cut from its model, the waiting one never got that far.
    assert_eq!(failed(first)["type"], "run_failed");
    assert!(
        failed(first)["message"].as_str().is_some_and(|it| it.contains("`claude-test-large` cannot answer"))
    );
    assert_eq!(failed(waiting)["message"], format!("{}; hint: {}", refused.1, refused.2));
    assert!(log.iter().all(|event| event.json["model"] != "warren-demo-1"), "{}", said(&log));
}

#[tokio::test]
async fn model_of_a_provider_that_the_agent_does_not_speak_to_is_refused_with_the_agents_that_do() {
    let provider = TestProvider::start(KEY).await;
    let server = TestServer::start().await;
    let client = server.admin();
    let put = json!({"apiKey": KEY, "baseUrl": provider.url});
    client.put("/api/providers/openai", &put).await.expect(StatusCode::OK);
    let made = client.post("/api/sessions", &json!({"options": {"model": "claude-test-large"}})).await;
    let detail = "the agent `builtin` cannot use the model `claude-test-large` of OpenAI".to_owned();
    let hint =
        "use one of the agents that can (codex, acp), or choose a model from `warren models --agent builtin`";
    assert_eq!(refusal(&made), (400, detail, hint.to_owned()));
}
