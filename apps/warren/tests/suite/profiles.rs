//! Profiles of projects, with real sandboxes: what one project's profile holds is nowhere in another project's reach.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use warren_domain::SessionId;
use warren_testkit::{Setup, TestClient, TestServer};
use warren_wire::{ROUTES, RouteName};

use super::{input::second_project, session::said};

/// In parts, so that what looks for it does not hold it.
const PARTS: [&str; 2] = ["s3cret-of", "project-a"];

struct Projects {
    server: TestServer,
    admin: TestClient,
    a: TestClient,
    b: TestClient,
}

/// A server with two projects, and somebody who works in each.
async fn projects() -> Projects {
    let mut server = TestServer::start().await;
    server.stop().await;
    let second = second_project(&server).await;
    server.restart().await;
    let admin = server.admin();
    let session = admin.session_create().await;
    let detail = admin.get(&format!("/api/sessions/{session}")).await.expect(StatusCode::OK);
    let first = detail["projectId"].as_str().expect("an id").to_owned();
    let mut people = Vec::new();
    for project in [first, second.to_string()] {
        let token = json!({"name": "t", "scope": format!("project:{project}")});
        let made = admin.post("/api/tokens", &token).await.expect(StatusCode::CREATED);
        people.push(admin.with_token(made["secret"].as_str().expect("a secret")));
    }
    let [a, b] = people.try_into().map_err(|_| "two").expect("two people");
    Projects { server, admin, a, b }
}

async fn session(client: &TestClient, profile: &str) -> SessionId {
    let made = client.post("/api/sessions", &json!({"agentProfileReference": profile})).await;
    made.expect(StatusCode::CREATED)["sessionId"].as_str().expect("an id").parse().expect("an id")
}

async fn run(client: &TestClient, session: SessionId, command: &str) -> String {
    let events = client.run(session, &format!("run: {command}")).await;
    assert_eq!(events.last().unwrap().kind(), "run_completed", "{command}");
    said(&events)
}

/// How often the secret is among the files and the environments of a session's sandbox.
async fn found_in_sandbox(client: &TestClient, session: SessionId) -> String {
    let [one, two] = PARTS;
    let look = format!(
        "k={one}; k=$k-{two}; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' > /tmp/seen; \
         echo environment:$(grep -ac -e $k /tmp/seen); \
         echo files:$(grep -rlas -e $k /home /workspace /instructions /user-input /etc /warren /opt | wc -l)"
    );
    run(client, session, &look).await
}

#[tokio::test]
async fn a_projects_secret_header_is_in_nothing_that_another_projects_token_or_sandbox_reads() {
    let Projects { server, admin, a, b } = projects().await;
    let secret = PARTS.join("-");
    let header = json!({"Authorization": format!("Bearer {secret}")});
    let tools = json!({
        "environmentVariables": {"TOOLS_TOKEN": secret},
        "externalMCPs": [{"name": "far", "url": "https://far.example", "headers": header}],
    });
    a.put("/api/profiles/tools", &tools).await.expect(StatusCode::OK);
    let of_a = session(&a, "tools").await;
    let control = found_in_sandbox(&a, of_a).await;
    assert!(
        !control.contains("environment:0") && !control.contains("files:0"),
        "it is in A's own: {control}"
    );

    let wanted = json!({"agentProfileReference": "tools"});
    assert_eq!(b.post("/api/sessions", &wanted).await.refusal(), (404, "NOT_FOUND"));
    let import = json!({"agentProfileReference": "tools", "type": "builtin", "transcript": ""});
    assert_eq!(b.post("/api/import", &import).await.refusal(), (404, "NOT_FOUND"));
    let own = session(&b, "default").await;
    let fork = format!("/api/sessions/{own}/fork");
    for client in [&b, &admin] {
        assert_eq!(client.post(&fork, &json!({"profile": "tools"})).await.refusal(), (404, "NOT_FOUND"));
    }
    b.put("/api/profiles/tools", &json!({"systemPrompt": "of B"})).await.expect(StatusCode::OK);
    let same_name = session(&b, "tools").await;
    for session in [own, same_name] {
        let output = found_in_sandbox(&b, session).await;
        assert!(output.contains("environment:0") && output.contains("files:0"), "{output}");
    }

    let mut read = 0;
    for subject in [of_a, own, same_name] {
        for path in readable(subject) {
            let answer = b.send(b.request(Method::GET, &path)).await;
            assert!(!answer.body.to_string().contains(&secret), "{path}: {}", answer.body);
            read += u32::from(answer.status == StatusCode::OK);
        }
    }
    assert!(read > 20, "only {read} answers were read");
    // Even A itself, and an administrator, read that there is a value and not what it is.
    for client in [&a, &admin] {
        let listed = client.get("/api/profiles").await.expect(StatusCode::OK);
        assert!(
            !listed.to_string().contains(&secret) && listed.to_string().contains("far.example"),
            "{listed}"
        );
    }
    drop(server);
}

/// Every GET of the table that ends, about this session.
fn readable(session: SessionId) -> Vec<String> {
    let ends = ROUTES.iter().filter(|route| route.method.as_str() == "GET");
    let ends = ends.filter(|route| route.name != RouteName::SessionChanges);
    let path = |path: &str| {
        path.replace("{id}", &session.to_string())
            .replace("{profileId}", "tools")
            .replace("{projectId}", "default")
            .replace("{version}", "1")
            .replace("{agent}", "builtin")
    };
    ends.map(|route| path(route.path)).collect()
}

#[tokio::test]
async fn a_session_keeps_the_profile_it_was_created_with_when_its_project_gets_one_of_the_same_name() {
    let Projects { server, admin, a, .. } = projects().await;
    let words = |whose: &str| json!({"systemPrompt": format!("Words of the {whose}.")});
    let look = "grep -o 'of the [a-z]*' /instructions/agent.json || echo nobody";
    admin.put("/api/profiles/poet", &words("partition")).await.expect(StatusCode::OK);
    let early = session(&a, "poet").await;
    a.put("/api/profiles/poet", &words("project")).await.expect(StatusCode::OK);
    let late = session(&a, "poet").await;
    assert!(run(&a, early, look).await.contains("of the partition"));
    assert!(run(&a, late, look).await.contains("of the project"));
    let forked: Value =
        a.post(&format!("/api/sessions/{early}/fork"), &json!({})).await.expect(StatusCode::CREATED);
    let forked: SessionId = forked["sessionId"].as_str().expect("an id").parse().expect("an id");
    assert!(run(&a, forked, look).await.contains("of the partition"), "a fork has its origin's");
    // What was removed is not replaced by another one of the same name.
    a.delete("/api/profiles/poet").await.expect(StatusCode::NO_CONTENT);
    a.post(&format!("/api/sessions/{late}/sandbox/stop"), &json!({})).await.expect(StatusCode::NO_CONTENT);
    assert!(run(&a, late, look).await.contains("nobody"));
    drop(server);
}

#[tokio::test]
async fn parts_of_a_profile_that_the_agent_ignores_are_named_once_in_a_session() {
    let server = TestServer::start().await;
    let client = server.admin();
    let skill = json!({"name": "charts", "description": "d", "skillMd": "# c", "npmDependencies": ["d3"]});
    client.put("/api/profiles/p", &json!({"skills": [skill]})).await.expect(StatusCode::OK);
    let session = session(&client, "p").await;
    run(&client, session, "echo one").await;
    run(&client, session, "echo two").await;
    let log = client.log(session).await;
    let notes: Vec<&Value> = log
        .iter()
        .filter(|event| event.json["block"]["id"] == "ignored-parts-of-profile")
        .map(|event| &event.json["block"]["message"])
        .collect();
    let note = "The agent `builtin` does not support these parts of its profile and ignores them: \
                npm packages of skills (d3).";
    assert_eq!(notes, [note]);
}

/// What the model gateway answers to a call from inside that offers the model a web search.
async fn searches(client: &TestClient, session: SessionId) -> String {
    let tool = json!({"type": "web_search_20250305", "name": "web_search"});
    let message = json!({"role": "user", "content": "hello"});
    let call = json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "tools": [tool], "messages": [message]});
    let to = "-H 'content-type: application/json' http://127.0.0.1:4100/v1/messages";
    run(client, session, &format!("curl -s --noproxy '*' -w '\nstatus:%{{http_code}}' -d '{call}' {to}"))
        .await
}

#[tokio::test]
async fn provider_tools_are_refused_unless_the_profile_or_the_configuration_grants_them() {
    let server = TestServer::start().await;
    let client = server.admin();
    let refused = searches(&client, client.session_create().await).await;
    assert!(refused.contains("not granted to this run") && refused.contains("`providerTools`"), "{refused}");
    client.put("/api/profiles/searching", &json!({"providerTools": true})).await.expect(StatusCode::OK);
    let answered = searches(&client, session(&client, "searching").await).await;
    assert!(answered.contains("status:200"), "{answered}");

    let server = Setup::new().config("[models]\nprovider_tools = true").start().await;
    let client = server.admin();
    let answered = searches(&client, client.session_create().await).await;
    assert!(answered.contains("status:200"), "{answered}");
}
