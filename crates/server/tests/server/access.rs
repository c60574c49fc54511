//! Who may do what, for every row of the table.

use axum::{
    body::Body,
    http::{Method, StatusCode, header},
};
use serde_json::json;
use warren_domain::SessionId;
use warren_wire::{Access, ROUTES, RouteName, Subject};

use crate::support::{TestServer, request, row};

fn with_token(route: &warren_wire::Route, session: SessionId, secret: &str) -> axum::http::Request<Body> {
    let request = row(route, session).header(header::AUTHORIZATION, format!("Bearer {secret}"));
    request.body(Body::from("{}")).expect("a request")
}

#[tokio::test]
async fn every_route_refuses_a_stranger() {
    // Not on loopback, so that the figures need a token too.
    let server = TestServer::listening_on("0.0.0.0:7777").await;
    let session = server.session().await;
    let almost = format!("wrn_{}", "0".repeat(64));
    for route in ROUTES.iter().filter(|route| route.access != Access::Public) {
        for (name, value) in [
            (header::ACCEPT, "*/*".to_owned()),
            (header::AUTHORIZATION, format!("Bearer {almost}")),
            (header::AUTHORIZATION, "Bearer ".to_owned()),
            (header::AUTHORIZATION, format!("Basic {}", server.owner)),
            (header::AUTHORIZATION, server.owner.clone()),
            (header::COOKIE, format!("warren_session={almost}")),
            (header::COOKIE, "warren_session=".to_owned()),
        ] {
            let stranger = row(route, session).header(&name, &value).body(Body::from("{}"));
            let reply = server.call(stranger.expect("a request")).await;
            assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{} {name}: {value}", route.name);
            assert_eq!(reply.problem(), "UNAUTHORIZED");
            assert_eq!(reply.headers[header::WWW_AUTHENTICATE], "Bearer");
        }
    }
}

#[tokio::test]
async fn public_routes_answer_a_stranger() {
    let server = TestServer::start().await;
    let session = server.session().await;
    for route in ROUTES.iter().filter(|route| route.access == Access::Public) {
        let reply = server.call(row(route, session).body(Body::empty()).expect("a request")).await;
        let expect = match route.name {
            // A sign-in that shows nothing is refused, but not for want of a token.
            RouteName::AuthSignIn => 401,
            RouteName::AuthSignInToken => 400,
            // There is no such file, whoever asks.
            RouteName::PageFile => 404,
            _ => 200,
        };
        assert_eq!(reply.status.as_u16(), expect, "{}", route.name);
    }
}

#[tokio::test]
async fn figures_are_open_on_loopback_only() {
    let metrics = || request(Method::GET, "/metrics", None).body(Body::empty()).expect("a request");
    let local = TestServer::start().await.call(metrics()).await;
    assert_eq!((local.status, local.body), (StatusCode::OK, b"warren_up 1\n".to_vec()));
    let server = TestServer::listening_on("0.0.0.0:7777").await;
    assert_eq!(server.call(metrics()).await.problem(), "UNAUTHORIZED");
    assert_eq!(server.get(&server.owner, "/metrics").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_read_only_token_changes_nothing() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let project =
        server.get(&server.owner, &format!("/api/sessions/{session}")).await.json()["projectId"].clone();
    let scope = format!("project:{}:ro", project.as_str().expect("an id"));
    for secret in [server.token("default", "admin:ro").await, server.token("default", &scope).await] {
        for route in ROUTES
            .iter()
            .filter(|route| matches!(route.access, Access::Write | Access::Admin | Access::Operator))
        {
            let reply = server.call(with_token(route, session, &secret)).await;
            assert_eq!(reply.status, StatusCode::FORBIDDEN, "{}", route.name);
            assert_eq!(reply.problem(), "FORBIDDEN");
        }
        assert_eq!(server.get(&secret, &format!("/api/sessions/{session}")).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn a_projects_token_is_no_administrators() {
    let server = TestServer::listening_on("0.0.0.0:7777").await;
    let session = server.session().await;
    let project = server.project("default", "mine").await;
    let secret = server.token("default", &format!("project:{project}")).await;
    let admins = |access| !matches!(access, Access::Public | Access::Read | Access::Write);
    for route in ROUTES.iter().filter(|route| admins(route.access)) {
        let reply = server.call(with_token(route, session, &secret)).await;
        assert_eq!(
            (reply.status, reply.problem().as_str()),
            (StatusCode::FORBIDDEN, "FORBIDDEN"),
            "{}",
            route.name
        );
    }
}

#[tokio::test]
async fn an_administrator_of_another_partition_does_not_change_the_whole_server() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let tenant = server.token("another", "admin").await;
    let routes: Vec<_> = ROUTES.iter().filter(|route| route.access == Access::Operator).collect();
    let names: Vec<_> = routes.iter().map(|route| route.name).collect();
    let shared = [
        RouteName::AgentInstall,
        RouteName::AgentRemove,
        RouteName::ProviderPut,
        RouteName::ProviderRemove,
        RouteName::ProviderTest,
    ];
    assert_eq!(names, shared, "what all partitions share");
    for route in routes {
        let reply = server.call(with_token(route, session, &tenant)).await;
        assert_eq!(
            (reply.status, reply.problem().as_str()),
            (StatusCode::FORBIDDEN, "FORBIDDEN"),
            "{}",
            route.name
        );
        assert!(
            reply.json()["hint"].as_str().is_some_and(|hint| hint.contains("first start")),
            "{}",
            route.name
        );
        let own = server.call(with_token(route, session, &server.owner)).await;
        assert_ne!(own.status, StatusCode::FORBIDDEN, "{}: the owner is an operator", route.name);
    }
    // In its own partition it is an administrator all the same.
    assert_eq!(server.get(&tenant, "/api/tokens").await.status, StatusCode::OK);
}

#[tokio::test]
async fn someone_elses_session_looks_like_one_that_is_not_there() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let absent = SessionId(warren_env::Env::system().uuid());
    let project = server.project("default", "mine").await;
    let mine = server.token("default", &format!("project:{project}")).await;
    let mine_read_only = server.token("default", &format!("project:{project}:ro")).await;
    let elsewhere = server.token("another", "admin").await;
    for secret in [mine, mine_read_only, elsewhere] {
        for route in
            ROUTES.iter().filter(|route| matches!(route.subject, Subject::Session | Subject::Approval))
        {
            let mut told = Vec::new();
            for id in [session, absent] {
                let reply = server.call(with_token(route, id, &secret)).await;
                assert_eq!(reply.problem(), "NOT_FOUND", "{}", route.name);
                let mut problem = reply.json();
                problem["requestId"] = json!(null);
                told.push(problem.to_string().replace(&id.to_string(), "ID"));
            }
            assert_eq!(told[0], told[1], "{}", route.name);
        }
    }
}

#[tokio::test]
async fn someone_elses_project_looks_like_one_that_is_not_there() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let (mine, other) = (server.project("default", "mine").await, server.project("default", "other").await);
    let absent = warren_env::Env::system().uuid().to_string();
    let own = server.token("default", &format!("project:{mine}")).await;
    let own_read_only = server.token("default", &format!("project:{mine}:ro")).await;
    let elsewhere = server.token("another", "admin").await;
    let call = async |route: &warren_wire::Route, id: &str, secret: &str| {
        let path = route.path.replace("{projectId}", id);
        let method = Method::from_bytes(route.method.as_str().as_bytes()).expect("a method");
        let request = request(method, &path, Some(secret)).header(header::CONTENT_TYPE, "application/json");
        server.call(request.body(Body::from("{}")).expect("a request")).await
    };
    for route in ROUTES.iter().filter(|route| route.subject == Subject::Project) {
        for secret in [&own, &own_read_only, &elsewhere] {
            let mut told = Vec::new();
            for id in [&other.to_string(), &absent] {
                let reply = call(route, id, secret).await;
                assert_eq!(reply.problem(), "NOT_FOUND", "{}", route.name);
                let mut problem = reply.json();
                problem["requestId"] = json!(null);
                told.push(problem.to_string().replace(id.as_str(), "ID"));
            }
            assert_eq!(told[0], told[1], "{}", route.name);
        }
        assert_eq!(call(route, "not-an-id", &own).await.problem(), "NOT_FOUND", "{}", route.name);
    }
    let list = format!("/api/projects/{mine}/knowledge");
    let own_list = server.get(&own_read_only, &list).await;
    assert_eq!((own_list.status, own_list.json()["files"].clone()), (StatusCode::OK, json!([])));
    // Without a wish it is the token's own project, and for an administrator the default one.
    for secret in [&own, &server.owner] {
        let default = server.get(secret, "/api/projects/default/knowledge").await;
        assert_eq!(default.status, StatusCode::OK, "{session}");
    }
}

#[tokio::test]
async fn lists_and_new_sessions_stay_in_the_tokens_project() {
    let server = TestServer::start().await;
    server.session().await;
    let (mine, other) = (server.project("default", "mine").await, server.project("default", "other").await);
    let secret = server.token("default", &format!("project:{mine}")).await;
    let made = server.post(&secret, "/api/sessions", "{}").await.json();
    assert_eq!(made["projectId"], mine.to_string());
    let listed = server.get(&secret, "/api/sessions").await.json();
    assert_eq!(listed, json!({"sessions": [made]}));
    let elsewhere = server.post(&secret, "/api/sessions", &json!({"projectId": other}).to_string()).await;
    assert_eq!(elsewhere.problem(), "NOT_FOUND");
    assert_eq!(server.get(&secret, &format!("/api/sessions?projectId={other}")).await.problem(), "NOT_FOUND");
    assert_eq!(server.get(&secret, &format!("/api/usage?projectId={other}")).await.problem(), "NOT_FOUND");
    let all = server.get(&server.owner, "/api/sessions").await.json();
    assert_eq!(all["sessions"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn sandboxes_of_another_partition_are_not_listed() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let stranger = server.token("another", "admin").await;
    assert_eq!(server.get(&stranger, "/api/sandboxes").await.json(), json!({"sandboxes": []}));
    let own = server.get(&server.owner, "/api/sandboxes").await.json();
    assert_eq!(own["sandboxes"][0]["sessionId"], session.to_string());
}

#[tokio::test]
async fn a_browser_signs_in_by_link_and_needs_the_header_to_change_things() {
    let server = TestServer::start().await;
    let link = server.post(&server.owner, "/api/auth/link", "").await.json();
    let path = link["path"].as_str().expect("a path");
    let enter = || request(Method::GET, path, None).body(Body::empty()).expect("a request");
    let entered = server.call(enter()).await;
    assert_eq!(
        (entered.status, &entered.headers[header::LOCATION]),
        (StatusCode::SEE_OTHER, &"/".parse().expect("a header"))
    );
    assert_eq!(server.call(enter()).await.problem(), "UNAUTHORIZED");

    let cookies: Vec<_> = entered
        .headers
        .get_all(header::SET_COOKIE)
        .iter()
        .map(|value| value.to_str().expect("text"))
        .collect();
    assert!(
        cookies[0].starts_with("warren_session=wrn_") && cookies[0].ends_with("; HttpOnly"),
        "{cookies:?}"
    );
    assert!(cookies.iter().all(|cookie| cookie.contains("; SameSite=Strict")), "{cookies:?}");
    let value = |cookie: &str| cookie.split(';').next().expect("a pair").to_owned();
    let (session, csrf) = (value(cookies[0]), value(cookies[1]).replace("warren_csrf=", ""));

    let call = |method, path: &str, csrf: Option<&str>| {
        let mut request =
            request(method, path, None).header(header::COOKIE, format!("theme=dark; {session}"));
        if let Some(csrf) = csrf {
            request = request.header("x-warren-csrf", csrf);
        }
        let request = request.header(header::CONTENT_TYPE, "application/json");
        server.call(request.body(Body::from("{}")).expect("a request"))
    };
    let me = call(Method::GET, "/api/auth", None).await.json();
    assert_eq!((&me["name"], &me["scope"], &me["csrf"]), (&json!("browser"), &json!("admin"), &json!(csrf)));
    assert_eq!(call(Method::POST, "/api/sessions", None).await.problem(), "FORBIDDEN");
    assert_eq!(call(Method::POST, "/api/sessions", Some(&"0".repeat(64))).await.problem(), "FORBIDDEN");
    assert_eq!(call(Method::POST, "/api/sessions", Some(&csrf)).await.status, StatusCode::CREATED);
    assert_eq!(call(Method::POST, "/api/auth/sign-out", Some(&csrf)).await.status, StatusCode::NO_CONTENT);
    assert_eq!(call(Method::GET, "/api/auth", None).await.problem(), "UNAUTHORIZED");
}

#[tokio::test]
async fn signing_out_does_not_revoke_a_token_that_was_shown_in_a_header() {
    let server = TestServer::start().await;
    assert_eq!(server.post(&server.owner, "/api/auth/sign-out", "").await.problem(), "BAD_REQUEST");
    assert_eq!(server.get(&server.owner, "/api/auth").await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_token_is_made_shown_once_and_revoked() {
    let server = TestServer::start().await;
    let wanted = json!({"name": "ci", "scope": "admin:ro"}).to_string();
    let mut made = server.post(&server.owner, "/api/tokens", &wanted).await.json();
    let secret = made.as_object_mut().expect("an object").remove("secret").expect("a secret");
    let secret = secret.as_str().expect("text");
    assert_eq!(server.get(secret, "/api/tokens").await.json()["tokens"][1], made);
    let path = format!("/api/tokens/{}", made["tokenId"].as_str().expect("an id"));
    assert_eq!(server.get(&server.owner, &path).await.json(), made);
    assert_eq!(server.send(Method::DELETE, &server.owner, &path, "").await.status, StatusCode::NO_CONTENT);
    assert_eq!(server.get(secret, "/api/tokens").await.problem(), "UNAUTHORIZED");
    assert_eq!(server.get(&server.owner, &path).await.problem(), "NOT_FOUND");
    let reserved = json!({"name": "x", "scope": "session:1"}).to_string();
    assert_eq!(server.post(&server.owner, "/api/tokens", &reserved).await.problem(), "BAD_REQUEST");
    assert_eq!(server.owner_identity().await.name, "owner");
}

#[tokio::test]
async fn a_web_page_cannot_drive_the_server() {
    let server = TestServer::start().await;
    let post = |host: &str, origin: Option<&str>| {
        let mut request = axum::http::Request::builder()
            .method(Method::POST)
            .uri("/api/sessions")
            .header(header::HOST, host)
            .header(header::AUTHORIZATION, format!("Bearer {}", server.owner))
            .header(header::CONTENT_TYPE, "application/json");
        if let Some(origin) = origin {
            request = request.header(header::ORIGIN, origin);
        }
        server.call(request.body(Body::from("{}")).expect("a request"))
    };
    assert_eq!(post("rebound.example:7777", None).await.problem(), "MISDIRECTED");
    let foreign = post("localhost:7777", Some("https://evil.example")).await;
    assert_eq!(foreign.problem(), "FORBIDDEN");
    assert_eq!(foreign.headers.get(header::ACCESS_CONTROL_ALLOW_ORIGIN), None);
    assert_eq!(post("localhost:7777", Some("http://localhost:7777")).await.status, StatusCode::CREATED);
    let preflight =
        request(Method::OPTIONS, "/api/sessions", None).header(header::ORIGIN, "https://evil.example");
    let preflight = server.call(preflight.body(Body::empty()).expect("a request")).await;
    assert_eq!(preflight.headers.get(header::ACCESS_CONTROL_ALLOW_ORIGIN), None);
    assert!(!preflight.status.is_success());
}
