//! Profiles of projects: who sees, uses and writes which.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use warren_domain::{AgentProfile, ProjectId, SessionId};

use crate::support::{Reply, TestServer};

/// A secret that no answer may hold.
const SECRET: &str = "s3cret-of-a";

struct World {
    server: TestServer,
    a: ProjectId,
    b: ProjectId,
    tokens: [String; 6],
}

/// Whose [`World::tokens`] are.
const WHO: [&str; 6] = ["A", "A:ro", "B", "B:ro", "admin", "admin:ro"];

fn profile(model: &str) -> Value {
    let server = json!({"name": "far", "url": "https://far.example", "headers": {"Authorization": SECRET}});
    json!({"model": model, "environmentVariables": {"TOKEN": SECRET}, "externalMCPs": [server]})
}

/// Project A has `own` and `both`, the partition `wide` and `both`; B has nothing.
async fn world() -> World {
    let server = TestServer::start().await;
    let (a, b) = (server.project("default", "a").await, server.project("default", "b").await);
    let mut tokens = Vec::new();
    for project in [a, b] {
        tokens.push(server.token("default", &format!("project:{project}")).await);
        tokens.push(server.token("default", &format!("project:{project}:ro")).await);
    }
    tokens.push(server.owner.clone());
    tokens.push(server.token("default", "admin:ro").await);
    let world = World { server, a, b, tokens: tokens.try_into().expect("six") };
    for (path, model) in [
        (format!("/api/profiles/own?projectId={a}"), "a"),
        (format!("/api/profiles/both?projectId={a}"), "a"),
        ("/api/profiles/both".to_owned(), "wide"),
        ("/api/profiles/wide".to_owned(), "wide"),
    ] {
        let put =
            world.server.send(Method::PUT, &world.server.owner, &path, &profile(model).to_string()).await;
        assert_eq!(put.status, StatusCode::OK, "{path}: {put:?}");
    }
    world
}

impl World {
    async fn stored(&self, project: Option<ProjectId>, id: &str) -> Option<AgentProfile> {
        self.server.stored_profile_of("default", project, id).await
    }
}

/// What a refusal says, without what differs in every answer.
fn told(reply: &Reply, name: &str) -> String {
    let mut problem = reply.json();
    problem["requestId"] = json!(null);
    problem.to_string().replace(name, "NAME")
}

#[tokio::test]
async fn each_token_reads_the_profiles_of_its_project_and_of_the_partition_and_no_secret() {
    let world = world().await;
    let (a, b) = (world.a, world.b);
    let table = [
        ("/api/profiles/own".to_owned(), ["a", "a", "", "", "", ""]),
        ("/api/profiles/both".to_owned(), ["a", "a", "wide", "wide", "wide", "wide"]),
        ("/api/profiles/wide".to_owned(), ["wide"; 6]),
        (format!("/api/profiles/own?projectId={a}"), ["a", "a", "", "", "a", "a"]),
        (format!("/api/profiles/own?projectId={b}"), [""; 6]),
        (format!("/api/profiles/both?projectId={a}"), ["a", "a", "", "", "a", "a"]),
        (format!("/api/profiles/both?projectId={b}"), ["", "", "wide", "wide", "wide", "wide"]),
    ];
    for (path, expected) in table {
        for ((who, token), model) in WHO.iter().zip(&world.tokens).zip(expected) {
            let reply = world.server.get(token, &path).await;
            assert!(!String::from_utf8_lossy(&reply.body).contains(SECRET), "{who} {path}");
            if model.is_empty() {
                assert_eq!(reply.problem(), "NOT_FOUND", "{who} {path}");
            } else {
                let read = reply.json();
                let owner = if model == "a" { json!(a) } else { json!(null) };
                assert_eq!((&read["model"], &read["projectId"]), (&json!(model), &owner), "{who} {path}");
                assert_eq!(read["externalMCPs"][0]["headers"]["Authorization"], "***kept***", "{who} {path}");
            }
        }
    }
}

#[tokio::test]
async fn each_token_lists_what_it_can_use_and_administrators_list_all() {
    let world = world().await;
    let (a, b) = (world.a, world.b);
    let (of_a, of_b) = (["both a", "default", "own a", "wide"], ["both", "default", "wide"]);
    let all = ["both", "both a", "default", "own a", "wide"];
    let none: [&str; 0] = [];
    let table: [(String, [&[&str]; 3]); 3] = [
        ("/api/profiles".to_owned(), [&of_a, &of_b, &all]),
        (format!("/api/profiles?projectId={a}"), [&of_a, &none, &of_a]),
        (format!("/api/profiles?projectId={b}"), [&none, &of_b, &of_b]),
    ];
    for (path, expected) in table {
        for (place, (who, token)) in WHO.iter().zip(&world.tokens).enumerate() {
            let expected = expected[place / 2];
            let reply = world.server.get(token, &path).await;
            assert!(!String::from_utf8_lossy(&reply.body).contains(SECRET), "{who} {path}");
            if expected.is_empty() {
                assert_eq!(reply.problem(), "NOT_FOUND", "{who} {path}");
                continue;
            }
            let listed = reply.json();
            let name = |one: &Value| {
                let owner = if one["projectId"] == json!(a) { " a" } else { "" };
                format!("{}{owner}", one["id"].as_str().expect("an id"))
            };
            let listed: Vec<String> =
                listed["profiles"].as_array().expect("a list").iter().map(name).collect();
            assert_eq!(listed, expected, "{who} {path}");
        }
    }
}

#[tokio::test]
async fn each_token_writes_its_own_projects_profiles_only() {
    // Who writes `own`, into which project, the status, and whose profile is the new one. A has one of that name already.
    let table = [
        ("A", "", 200, Some("a")),
        ("A:ro", "", 403, None),
        ("B", "", 200, Some("b")),
        ("B:ro", "", 403, None),
        ("admin", "", 200, Some("")),
        ("admin:ro", "", 403, None),
        ("A", "a", 200, Some("a")),
        ("A", "b", 404, None),
        ("A:ro", "b", 403, None),
        ("B", "a", 404, None),
        ("B:ro", "a", 403, None),
        ("admin", "a", 200, Some("a")),
        ("admin", "b", 200, Some("b")),
        ("admin:ro", "a", 403, None),
    ];
    for in_body in [false, true] {
        for (who, asked, status, written) in table {
            let world = world().await;
            let token = &world.tokens[WHO.iter().position(|one| *one == who).expect("known")];
            let project = |name: &str| match name {
                "a" => Some(world.a),
                "b" => Some(world.b),
                _ => None,
            };
            let mut body = json!({"model": "new"});
            let mut path = "/api/profiles/own".to_owned();
            match project(asked) {
                Some(asked) if in_body => body["projectId"] = json!(asked),
                Some(asked) => path = format!("{path}?projectId={asked}"),
                None => {}
            }
            let put = world.server.send(Method::PUT, token, &path, &body.to_string()).await;
            let case = format!("{who} writes {path} {body}");
            assert_eq!(put.status.as_u16(), status, "{case}: {put:?}");
            for owner in ["", "a", "b"] {
                let model = world.stored(project(owner), "own").await.and_then(|stored| stored.model);
                let before = (owner == "a").then_some("a");
                let expected = if written == Some(owner) { Some("new") } else { before };
                assert_eq!(model.as_deref(), expected, "{case}: that of `{owner}`");
            }
        }
    }
}

#[tokio::test]
async fn each_token_removes_its_own_projects_profiles_only() {
    let table = [
        ("A", "own", 204),
        ("A:ro", "own", 403),
        ("B", "own", 404),
        ("B:ro", "own", 403),
        ("admin", "own", 404),
        ("B", "absent", 404),
        // It is the partition's, which everybody sees.
        ("A", "wide", 403),
        ("B", "both", 403),
        ("admin", "wide", 204),
        ("admin:ro", "wide", 403),
    ];
    for (who, id, status) in table {
        let world = world().await;
        let token = &world.tokens[WHO.iter().position(|one| *one == who).expect("known")];
        let removed = world.server.send(Method::DELETE, token, &format!("/api/profiles/{id}"), "").await;
        assert_eq!(removed.status.as_u16(), status, "{who} removes {id}: {removed:?}");
        let left = [
            world.stored(Some(world.a), "own").await.is_some(),
            world.stored(None, "wide").await.is_some(),
            world.stored(None, "both").await.is_some(),
        ];
        let gone = |one: &str| status == 204 && id == one;
        assert_eq!(left, [!gone("own"), !gone("wide"), true], "{who} removes {id}");
    }
}

#[tokio::test]
async fn another_projects_profile_looks_like_one_that_is_not_there() {
    let world = world().await;
    let absent = ProjectId(uuid::Uuid::from_u128(7));
    for token in &world.tokens[2..4] {
        for (method, body) in [(Method::GET, ""), (Method::DELETE, "")] {
            let mut answers = Vec::new();
            for id in ["own", "nobodys"] {
                let path = format!("/api/profiles/{id}");
                answers.push(told(&world.server.send(method.clone(), token, &path, body).await, id));
            }
            assert_eq!(answers[0], answers[1], "{method}");
        }
        for (method, body) in [(Method::GET, ""), (Method::PUT, "{}"), (Method::DELETE, "")] {
            let mut answers = Vec::new();
            for project in [world.a, absent] {
                let path = format!("/api/profiles/own?projectId={project}");
                let reply = world.server.send(method.clone(), token, &path, body).await;
                answers.push(told(&reply, &project.to_string()));
            }
            assert_eq!(answers[0], answers[1], "{method}");
        }
    }
}

#[tokio::test]
async fn sessions_imports_and_forks_use_profiles_of_their_own_project_only() {
    let world = world().await;
    let (server, [a, _, b, _, admin, _]) = (&world.server, &world.tokens);
    let cases = [
        (a, "own", None, 201),
        (a, "wide", None, 201),
        (b, "wide", None, 201),
        (b, "own", None, 404),
        (b, "nobodys", None, 404),
        (admin, "own", None, 404),
        (admin, "own", Some(world.a), 201),
        (admin, "own", Some(world.b), 404),
        (admin, "both", Some(world.b), 201),
    ];
    for (token, id, project, status) in cases {
        let mut wanted = json!({"agentProfileReference": id});
        if let Some(project) = project {
            wanted["projectId"] = json!(project);
        }
        let made = server.post(token, "/api/sessions", &wanted.to_string()).await;
        assert_eq!(made.status.as_u16(), status, "{wanted}: {made:?}");
        wanted["type"] = json!("builtin");
        wanted["transcript"] = json!("{}");
        let imported = server.post(token, "/api/import", &wanted.to_string()).await;
        if status == 404 {
            assert_eq!(imported.problem(), "NOT_FOUND", "{wanted}");
            assert!(imported.json()["detail"].as_str().is_some_and(|text| text.contains("profile")));
        } else {
            assert_ne!(imported.status, StatusCode::NOT_FOUND, "{wanted}: {imported:?}");
        }
    }
    // A fork stays where its origin is: what the administrator names is looked up there.
    for (project, id, is_there) in [
        (world.b, "own", false),
        (world.b, "nobodys", false),
        (world.a, "own", true),
        (world.b, "both", true),
    ] {
        let made = server.post(admin, "/api/sessions", &json!({"projectId": project}).to_string()).await;
        let session: SessionId = made.json()["sessionId"].as_str().expect("an id").parse().expect("an id");
        let path = format!("/api/sessions/{session}/fork");
        let forked = server.post(admin, &path, &json!({"profile": id}).to_string()).await;
        let says_profile = String::from_utf8_lossy(&forked.body).contains(&format!("no profile `{id}`"));
        assert_eq!(says_profile, !is_there, "{id} in {project}: {forked:?}");
    }
}

#[tokio::test]
async fn a_session_stays_with_the_profile_it_was_created_with() {
    let world = world().await;
    let (server, [a, _, b, ..]) = (&world.server, &world.tokens);
    let wanted = json!({"agentProfileReference": "wide"}).to_string();
    let made = server.post(b, "/api/sessions", &wanted).await.json();
    let session: SessionId = made["sessionId"].as_str().expect("an id").parse().expect("an id");
    let put = server.send(Method::PUT, b, "/api/profiles/wide", r#"{"model": "b"}"#).await;
    assert_eq!(put.status, StatusCode::OK);
    assert_eq!(server.bound_profile(session).await, (None, "wide".to_owned()), "it is not rebound");
    let later = server.post(b, "/api/sessions", &wanted).await.json();
    let later: SessionId = later["sessionId"].as_str().expect("an id").parse().expect("an id");
    assert_eq!(server.bound_profile(later).await, (Some(world.b), "wide".to_owned()));
    let own =
        server.post(a, "/api/sessions", &json!({"agentProfileReference": "own"}).to_string()).await.json();
    let own: SessionId = own["sessionId"].as_str().expect("an id").parse().expect("an id");
    assert_eq!(server.bound_profile(own).await, (Some(world.a), "own".to_owned()));
}

#[tokio::test]
async fn a_profile_whose_query_and_body_name_two_projects_is_refused() {
    let world = world().await;
    let path = format!("/api/profiles/x?projectId={}", world.a);
    let body = json!({"projectId": world.b}).to_string();
    let refused = world.server.send(Method::PUT, &world.server.owner, &path, &body).await;
    assert_eq!(refused.problem(), "BAD_REQUEST");
}

#[tokio::test]
async fn an_invalid_profile_is_refused_when_it_is_saved_and_the_field_is_named() {
    let server = TestServer::start().await;
    for (profile, field) in [
        (json!({"egressAllow": ["a.example", "http://a.example/path"]}), "egressAllow[1]"),
        (json!({"command": []}), "command"),
        (json!({"environmentVariables": {"A=B": ""}}), "environmentVariables.A=B"),
        (json!({"externalMCPs": [{"name": "x", "url": "ftp://x"}]}), "externalMCPs[0].url"),
        (
            json!({"defaultWorkspaceFiles": [{"path": "../x", "content": ""}]}),
            "defaultWorkspaceFiles[0].path",
        ),
        (json!({"bundledMCPs": [{"command": "x"}]}), "name"),
        (json!({"projectId": "x"}), "projectId"),
        (json!({"unheardOf": 1}), "unheardOf"),
    ] {
        let refused =
            server.send(Method::PUT, &server.owner, "/api/profiles/wrong", &profile.to_string()).await;
        assert_eq!(refused.problem(), "BAD_REQUEST", "{profile}");
        let problem = refused.json();
        assert!(problem["detail"].as_str().is_some_and(|text| text.contains(field)), "{profile}: {problem}");
        assert_eq!(
            server.get(&server.owner, "/api/profiles/wrong").await.problem(),
            "NOT_FOUND",
            "{profile}"
        );
    }
}
