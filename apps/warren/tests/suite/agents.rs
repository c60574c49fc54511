//! Agents' programs, from the real npm registry into a real sandbox.

use reqwest::StatusCode;
use serde_json::{Value, json};
use warren_testkit::TestServer;

/// The smallest of them, and the one that needs most of the machine: it is run by the machine's own node.
const AGENT: &str = "gemini-cli";

async fn warren(server: &TestServer, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = server.command(arguments).output().await.expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[tokio::test]
async fn an_agent_is_installed_runs_in_a_sandbox_without_network_and_is_removed() {
    let mut server = TestServer::start().await;
    // No server is needed for any of it.
    server.stop().await;
    let (code, shown, steps) = warren(&server, &["agents", "install", AGENT]).await;
    assert_eq!(code, Some(0), "{shown}\n{steps}");
    assert!(shown.contains("✓ gemini-cli 0.61.0"), "{shown}");
    assert!(steps.contains("gemini-cli: downloading @google/gemini-cli@0.61.0\n"), "{steps}");

    let (code, shown, _) = warren(&server, &["agents", "doctor", AGENT, "--json"]).await;
    let found: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!((code, &found["trial"]), (Some(0), &serde_json::json!({ "runs": true, "output": "0.61.0" })));

    let (code, shown, _) = warren(&server, &["agents", "list"]).await;
    let row = shown.lines().find(|line| line.starts_with(AGENT)).expect("a row");
    assert!(code == Some(0) && row.ends_with("yes, 0.61.0"), "{shown}");

    let (_, shown, _) = warren(&server, &["doctor", "--json"]).await;
    let found: Value = serde_json::from_str(&shown).expect("JSON");
    let programs = found["programs"].as_array().expect("a list");
    let here: Vec<_> = programs.iter().filter(|it| it["installed"] == true).map(|it| &it["name"]).collect();
    assert_eq!(here, [AGENT]);

    assert_eq!(warren(&server, &["agents", "remove", AGENT]).await.0, Some(0));
    let (code, _, complaint) = warren(&server, &["agents", "doctor", AGENT]).await;
    assert_eq!(code, Some(1));
    let expect = "error: `gemini-cli` is not installed\nhint: install it with `";
    assert!(complaint.starts_with(expect), "{complaint}");
    assert!(complaint.ends_with("agents install gemini-cli`\n"), "{complaint}");
}

/// An agent that speaks ACP, with what it needs to find the model that is on the sandbox's loopback.
const PACKAGE: [&str; 20] = [
    "agents",
    "install",
    "npm:@zed-industries/codex-acp@0.16.0",
    "--id",
    "mine",
    "--",
    "-c",
    "model_providers.warren={name=\"Warren\", base_url=\"http://127.0.0.1:4103/v1\", env_key=\"OPENAI_API_KEY\", \
     wire_api=\"responses\"}",
    "-c",
    "model_provider=\"warren\"",
    "-c",
    "model=\"gpt-5.5\"",
    "-c",
    "approval_policy=\"never\"",
    "-c",
    "sandbox_mode=\"danger-full-access\"",
    "-c",
    "analytics.enabled=false",
    "-c",
    "web_search=\"disabled\"",
];

#[tokio::test]
async fn package_of_npm_that_speaks_acp_is_an_agent_until_it_is_removed() {
    let mut server = TestServer::start().await;
    let (code, shown, steps) = warren(&server, &PACKAGE).await;
    assert_eq!(code, Some(0), "{shown}\n{steps}");
    assert!(shown.starts_with("✓ mine 0.16.0") && shown.contains("ACP 1"), "{shown}");
    let listed = server.admin().get("/api/agents").await.expect(StatusCode::OK);
    let mine = listed["agents"].as_array().expect("a list").iter().find(|it| it["name"] == "mine");
    let mine = mine.expect("it is listed");
    let found = (&mine["isAgent"], &mine["ready"], &mine["installedVersion"]);
    assert_eq!(found, (&json!(true), &json!(true), &json!("0.16.0")));

    let (code, said, complaint) =
        warren(&server, &["run", "hello", "--agent", "mine", "--name", "by-npm"]).await;
    assert_eq!(code, Some(0), "{said}\n{complaint}");
    server.restart().await;
    let again = ["run", "run: echo marzipan > made.txt", "--session", "by-npm"];
    let (code, said, complaint) = warren(&server, &again).await;
    assert_eq!(code, Some(0), "{said}\n{complaint}");
    assert!(said.contains("made.txt"), "{said}");
    let sessions = server.admin().get("/api/sessions?type=mine").await.expect(StatusCode::OK);
    assert_eq!(sessions["sessions"][0]["type"], "mine");

    // One that is no agent does not take its place.
    let other = ["agents", "install", "npm:semver@7.7.2", "--id", "mine"];
    assert_eq!(warren(&server, &other).await.0, Some(1));
    let (_, shown, _) = warren(&server, &["agents", "list"]).await;
    let row = shown.lines().find(|line| line.starts_with("mine")).expect("a row");
    assert!(row.contains("0.16.0") && row.contains("npm:@zed-industries/codex-acp"), "{shown}");

    assert_eq!(warren(&server, &["agents", "remove", "mine"]).await.0, Some(0));
    let refused = server.admin().post("/api/sessions", &json!({"type": "mine"})).await;
    assert_eq!(refused.refusal(), (400, "AGENT_UNKNOWN"));
    let (code, said, _) = warren(&server, &["run", "hello", "--session", "by-npm"]).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("the agent `mine` is not installed"), "{said}");
}

#[tokio::test]
async fn package_that_speaks_no_acp_is_refused_and_leaves_nothing() {
    let mut server = TestServer::start().await;
    server.stop().await;
    let (code, _, complaint) = warren(&server, &["agents", "install", "npm:semver@7.7.2"]).await;
    assert_eq!(code, Some(1));
    assert!(complaint.contains("error: `semver@7.7.2` does not speak ACP: it did not answer"), "{complaint}");
    assert!(complaint.contains("agents install npm:semver@7.7.2 -- --acp`"), "{complaint}");
    let (_, shown, _) = warren(&server, &["agents", "list"]).await;
    assert!(!shown.contains("semver"), "{shown}");
    let (code, _, complaint) =
        warren(&server, &["agents", "install", "npm:@warren-test/there-is-none"]).await;
    assert_eq!(code, Some(1));
    assert!(complaint.contains("the registry has no `@warren-test/there-is-none@latest`"), "{complaint}");
}

#[tokio::test]
async fn an_agent_that_does_not_exist_is_refused() {
    let mut server = TestServer::start().await;
    server.stop().await;
    let (code, _, complaint) = warren(&server, &["agents", "install", "hal-9000"]).await;
    assert_eq!(code, Some(1));
    let expect = "error: there is no agent `hal-9000` to install\nhint: `";
    assert!(complaint.starts_with(expect), "{complaint}");
    assert!(complaint.ends_with(" agents list` lists agents\n"), "{complaint}");
}

#[tokio::test]
async fn the_api_lists_agents_installs_one_and_removes_it() {
    let server = TestServer::start().await;
    let client = server.admin();
    let list = client.get("/api/agents").await.expect(StatusCode::OK);
    let names: Vec<_> =
        list["agents"].as_array().expect("agents").iter().map(|agent| &agent["name"]).collect();
    assert_eq!(names[..6], ["builtin", "claude-code", AGENT, "opencode", "codex", "acp"]);
    let of = |list: &Value| {
        list["agents"].as_array().expect("agents").iter().find(|it| it["name"] == AGENT).cloned()
    };
    let expected = serde_json::json!({
        "name": AGENT, "isAgent": true, "hasEffort": false, "ready": false, "pinnedVersion": "0.61.0"
    });
    assert_eq!(of(&list), Some(expected));

    let installed = client.post(&format!("/api/agents/{AGENT}"), &serde_json::json!({})).await;
    let installed = installed.expect(StatusCode::OK);
    assert_eq!((&installed["ready"], &installed["installedVersion"]), (&true.into(), &"0.61.0".into()));
    assert_eq!(of(&client.get("/api/agents").await.expect(StatusCode::OK)), Some(installed));
    assert_eq!(client.delete(&format!("/api/agents/{AGENT}")).await.status, StatusCode::NO_CONTENT);
    assert_eq!(client.delete(&format!("/api/agents/{AGENT}")).await.refusal(), (404, "NOT_FOUND"));
    assert_eq!(
        client.post("/api/agents/hal-9000", &serde_json::json!({})).await.refusal(),
        (404, "NOT_FOUND")
    );
}

#[tokio::test]
async fn what_gemini_cli_could_only_ignore_is_refused_before_it_starts() {
    let server = TestServer::start().await;
    let client = server.admin();
    let asking = json!({"type": "gemini-cli", "options": {"permissionMode": "ask"}});
    let refused = client.post("/api/sessions", &asking).await;
    assert_eq!(refused.refusal(), (400, "BAD_REQUEST"));
    assert!(
        refused.body["hint"].as_str().expect("a hint").contains("gemini-cli --acp"),
        "{:#}",
        refused.body
    );

    let made = client.post("/api/sessions", &json!({"type": "gemini-cli"})).await.expect(StatusCode::CREATED);
    let session = made["sessionId"].as_str().expect("an id");
    let path = format!("/api/sessions/{session}");
    let changed = client.patch(&path, &json!({"options": {"permissionMode": "ask"}})).await;
    assert_eq!(changed.refusal(), (400, "BAD_REQUEST"));
    let image = json!([{"text": "what is this?"}, {"image": "aGk=", "mediaType": "image/png"}]);
    let refused = client.post(&format!("{path}/messages"), &json!({"content": image})).await;
    assert_eq!(refused.refusal(), (400, "BAD_REQUEST"));
    let title = refused.body.to_string();
    assert!(title.contains("agent `gemini-cli` does not accept images in messages"), "{title}");
}
