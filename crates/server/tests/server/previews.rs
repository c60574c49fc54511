//! Previews: who is let in, what goes in, what comes out.

use std::sync::atomic::Ordering;

use axum::{
    body::Body,
    http::{HeaderMap, Method, StatusCode, header},
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use warren_domain::{ArtifactKind, SessionId};
use warren_server::{ServeOptions, serve};

use crate::{
    fake_files::artifact,
    support::{Reply, TestServer, request},
};

/// A browser on the host of a preview.
async fn visit(
    server: &TestServer,
    host: &str,
    path: &str,
    method: Method,
    headers: &[(&str, &str)],
) -> Reply {
    let mut request = request(method, path, None);
    request.headers_mut().expect("headers").insert(header::HOST, host.parse().expect("a host"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    server.call(request.body(Body::empty()).expect("a request")).await
}

/// Asks for a way in; gives its host and its path.
pub(crate) async fn grant(
    server: &TestServer,
    secret: &str,
    session: SessionId,
    path: &str,
    kind: ArtifactKind,
) -> (String, String) {
    let id = artifact(session, path, kind).id;
    let reply = server.post(secret, &format!("/api/sessions/{session}/artifacts/{id}/preview"), "").await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    let url = reply.json()["url"].as_str().expect("a URL").to_owned();
    let rest = url.strip_prefix("http://").expect("http");
    let (host, path) = rest.split_once('/').expect("a path");
    (host.to_owned(), format!("/{path}"))
}

/// Goes in, and gives the cookie.
pub(crate) async fn enter(server: &TestServer, host: &str, path: &str) -> (HeaderMap, String) {
    let entered = visit(server, host, path, Method::GET, &[]).await;
    assert_eq!(entered.status, StatusCode::SEE_OTHER, "{entered:?}");
    let cookie = entered.headers[header::SET_COOKIE].to_str().expect("text").to_owned();
    let pair = cookie.split(';').next().expect("a pair").to_owned();
    (entered.headers, pair)
}

#[tokio::test]
async fn an_app_is_seen_by_who_was_let_in_and_sees_nothing_of_the_pages() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let (host, path) = grant(&server, &server.owner, session, "outputs/web", ArtifactKind::WebApp).await;
    assert_eq!(host, format!("3000-{session}.localhost:7777"));
    assert_eq!(visit(&server, &host, "/", Method::GET, &[]).await.status, StatusCode::UNAUTHORIZED);
    let (headers, cookie) = enter(&server, &host, &path).await;
    assert_eq!(headers[header::LOCATION], "/");
    let set = headers[header::SET_COOKIE].to_str().expect("text");
    assert!(set.contains("HttpOnly") && set.contains("Partitioned") && !set.contains("Domain"), "{set}");
    let again = visit(&server, &host, &path, Method::GET, &[]).await;
    assert_eq!(again.status, StatusCode::UNAUTHORIZED, "a grant works once");

    let cookies = format!("{cookie}; warren_session={}; own=1", server.owner);
    let bearer = format!("Bearer {}", server.owner);
    let sent = [("cookie", cookies.as_str()), ("authorization", &bearer), ("x-own", "2")];
    let reply = visit(&server, &host, "/a/b?c=d", Method::DELETE, &sent).await;
    assert_eq!((reply.status, reply.body.as_slice()), (StatusCode::OK, &b"DELETE /a/b?c=d HTTP/1.1"[..]));
    let set: Vec<_> = reply.headers.get_all(header::SET_COOKIE).iter().collect();
    assert_eq!(set, ["app=1"], "an app's cookies are its host's own");
    assert_eq!(reply.headers.get("x-frame-options"), None);
    let heard = server.runtime.files.heard.lock().expect("a lock").join("\n").to_lowercase();
    assert!(
        heard.contains("cookie: own=1\r\n")
            && heard.contains("x-own: 2")
            && heard.contains("host: localhost:3000")
    );
    assert!(
        !heard.contains("wrn_") && !heard.contains("warren_") && !heard.contains("authorization"),
        "{heard}"
    );
}

#[tokio::test]
async fn a_way_in_is_good_for_its_own_host_and_as_long_as_its_token() {
    let server = TestServer::start().await;
    let (session, other) = (server.session().await, server.session().await);
    let secret = server.token("default", "admin").await;
    let (host, path) = grant(&server, &secret, session, "outputs/web", ArtifactKind::WebApp).await;
    let (_, cookie) = enter(&server, &host, &path).await;
    let sent = [("cookie", cookie.as_str())];
    assert_eq!(visit(&server, &host, "/", Method::GET, &sent).await.status, StatusCode::OK);
    for foreign in [
        format!("3001-{session}.localhost:7777"),
        format!("files-{session}.localhost:7777"),
        format!("3000-{other}.localhost:7777"),
    ] {
        let reply = visit(&server, &foreign, "/", Method::GET, &sent).await;
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED, "{foreign}");
    }
    assert_eq!(
        visit(&server, "localhost:7777", "/api/sessions", Method::GET, &sent).await.problem(),
        "UNAUTHORIZED"
    );

    let tokens = server.get(&server.owner, "/api/tokens").await.json();
    let token = tokens["tokens"]
        .as_array()
        .expect("tokens")
        .iter()
        .find(|token| token["name"] == "admin")
        .expect("it");
    let path = format!("/api/tokens/{}", token["tokenId"].as_str().expect("an id"));
    assert_eq!(server.send(Method::DELETE, &server.owner, &path, "").await.status, StatusCode::NO_CONTENT);
    assert_eq!(visit(&server, &host, "/", Method::GET, &sent).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn who_may_only_read_looks_and_wakes_nothing() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let reader = server.token("default", "admin:ro").await;
    let (host, path) = grant(&server, &reader, session, "outputs/web", ArtifactKind::WebApp).await;
    let (_, cookie) = enter(&server, &host, &path).await;
    assert_eq!(visit(&server, &host, "/", Method::GET, &[("cookie", &cookie)]).await.status, StatusCode::OK);
    assert_eq!(server.runtime.files.n_woken.load(Ordering::SeqCst), 0);
    grant(&server, &server.owner, session, "outputs/web", ArtifactKind::WebApp).await;
    assert_eq!(server.runtime.files.n_woken.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn who_may_only_read_changes_nothing_that_an_app_keeps() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let reader = server.token("default", "admin:ro").await;
    let (host, path) = grant(&server, &reader, session, "outputs/web", ArtifactKind::WebApp).await;
    let (_, cookie) = enter(&server, &host, &path).await;
    let sent = [("cookie", cookie.as_str())];
    for (method, status) in [
        (Method::GET, 200),
        (Method::HEAD, 200),
        (Method::OPTIONS, 200),
        (Method::POST, 403),
        (Method::PUT, 403),
        (Method::PATCH, 403),
        (Method::DELETE, 403),
    ] {
        let reply = visit(&server, &host, "/", method.clone(), &sent).await;
        assert_eq!(reply.status.as_u16(), status, "{method}");
    }
    assert_eq!(server.runtime.files.heard.lock().expect("a lock").len(), 3, "the app hears of no other");
}

#[tokio::test]
async fn only_who_gets_a_way_in_uses_it_up() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let (host, path) = grant(&server, &server.owner, session, "outputs/web", ArtifactKind::WebApp).await;
    for method in [Method::HEAD, Method::OPTIONS, Method::POST] {
        let reply = visit(&server, &host, &path, method.clone(), &[]).await;
        assert_eq!(reply.status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert_eq!(reply.headers.get(header::SET_COOKIE), None);
    }
    enter(&server, &host, &path).await;
}

#[tokio::test]
async fn a_page_of_another_origin_cannot_use_the_browsers_way_in() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let (host, path) = grant(&server, &server.owner, session, "outputs/web", ArtifactKind::WebApp).await;
    let (_, cookie) = enter(&server, &host, &path).await;
    let own = format!("http://{host}");
    for (origin, status) in
        [(own.as_str(), 200), ("https://evil.example", 403), ("null", 403), ("http://localhost:7777", 403)]
    {
        let sent = [("cookie", cookie.as_str()), ("origin", origin)];
        let reply = visit(&server, &host, "/", Method::POST, &sent).await;
        assert_eq!(reply.status.as_u16(), status, "{origin}");
    }
}

#[tokio::test]
async fn a_page_of_files_is_on_a_host_of_its_own_and_only_outputs_are_there() {
    let server = TestServer::start().await;
    let session = server.session().await;
    server.runtime.files.put("outputs/page.html", b"<p>hi</p>");
    server.runtime.files.put("secret.txt", b"no");
    let (host, path) = grant(&server, &server.owner, session, "outputs/page.html", ArtifactKind::Html).await;
    assert_eq!(host, format!("files-{session}.localhost:7777"));
    let (headers, cookie) = enter(&server, &host, &path).await;
    assert_eq!(headers[header::LOCATION], "/outputs/page.html");
    let sent = [("cookie", cookie.as_str())];
    let page = visit(&server, &host, "/outputs/page.html", Method::GET, &sent).await;
    assert_eq!((page.status, page.body.as_slice()), (StatusCode::OK, &b"<p>hi</p>"[..]));
    let policy = page.headers["content-security-policy"].to_str().expect("text");
    assert!(policy.contains("allow-scripts allow-same-origin"), "it may run, for it runs alone: {policy}");
    for path in ["/secret.txt", "/", "/outputs/none.html", "/%2e%2e/secret.txt", "/api/sessions"] {
        assert_eq!(
            visit(&server, &host, path, Method::GET, &sent).await.status,
            StatusCode::NOT_FOUND,
            "{path}"
        );
    }
    let reply = visit(&server, &host, "/outputs/page.html", Method::PUT, &sent).await;
    assert_eq!(reply.status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn a_directory_of_pages_is_its_index_and_has_a_slash_at_its_end() {
    let server = TestServer::start().await;
    let session = server.session().await;
    server.runtime.files.put("outputs/page.html", b"<p>hi</p>");
    server.runtime.files.put("outputs/my site/index.html", b"<p>site</p>");
    let (host, path) = grant(&server, &server.owner, session, "outputs/page.html", ArtifactKind::Html).await;
    let (_, cookie) = enter(&server, &host, &path).await;
    let sent = [("cookie", cookie.as_str())];
    let reply = visit(&server, &host, "/outputs/my%20site?a=b", Method::GET, &sent).await;
    assert_eq!(reply.status, StatusCode::TEMPORARY_REDIRECT, "{reply:?}");
    assert_eq!(reply.headers[header::LOCATION], "/outputs/my%20site/?a=b");
    let page = visit(&server, &host, "/outputs/my%20site/", Method::GET, &sent).await;
    assert_eq!((page.status, page.body.as_slice()), (StatusCode::OK, &b"<p>site</p>"[..]));
}

#[tokio::test]
async fn where_nothing_listens_a_page_says_so_and_looks_again() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let host = warren_runtime::api::PreviewHost { session, behind: warren_runtime::api::Behind::Port(3000) };
    let (name, path) = grant(&server, &server.owner, session, "outputs/web", ArtifactKind::WebApp).await;
    assert_eq!(name, format!("{host}.localhost:7777"));
    let (_, _cookie) = enter(&server, &name, &path).await;
    // A port of its own has a way in of its own, which nobody is given here.
    let closed = format!("9999-{session}.localhost:7777");
    let reply = visit(&server, &closed, "/", Method::GET, &[("accept", "text/html")]).await;
    assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
    assert!(String::from_utf8_lossy(&reply.body).contains("open the preview from its session"));
}

/// Opens a socket with an app that greets and then says whatever it hears.
pub(crate) async fn socket(server: &TestServer, host: &str, cookie: &str) -> tokio::net::TcpStream {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let serving = serve(listener, server.router.clone(), server.tasks.clone(), ServeOptions::default());
    server.tasks.spawn(warren_env::TaskKind::Connection, serving);
    let mut socket = tokio::net::TcpStream::connect(address).await.expect("a connection");
    let ask = format!(
        "GET /hmr HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}\r\norigin: http://{host}\r\nconnection: Upgrade\r\n\
         upgrade: websocket\r\nsec-websocket-key: k\r\nsec-websocket-version: 13\r\n\r\n"
    );
    socket.write_all(ask.as_bytes()).await.expect("sent");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.expect("a head"));
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    assert!(head.starts_with("http/1.1 101") && head.contains("upgrade: websocket"), "{head}");
    socket
}

#[tokio::test]
async fn a_socket_goes_both_ways() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let (host, path) = grant(&server, &server.owner, session, "outputs/web", ArtifactKind::WebApp).await;
    let (_, cookie) = enter(&server, &host, &path).await;
    let mut socket = socket(&server, &host, &cookie).await;
    socket.write_all(b"ping over a socket").await.expect("sent");
    let mut echo = [0; 23];
    socket.read_exact(&mut echo).await.expect("an echo");
    assert_eq!(&echo, b"helloping over a socket");
    drop(socket);
    server.tasks.cancel();
}

#[tokio::test]
async fn over_a_socket_who_may_only_read_hears_and_is_not_heard() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let reader = server.token("default", "admin:ro").await;
    let (host, path) = grant(&server, &reader, session, "outputs/web", ArtifactKind::WebApp).await;
    let (_, cookie) = enter(&server, &host, &path).await;
    let mut socket = socket(&server, &host, &cookie).await;
    let mut greeting = [0; 5];
    socket.read_exact(&mut greeting).await.expect("a greeting");
    assert_eq!(&greeting, b"hello");
    socket.write_all(b"do something").await.expect("sent");
    socket.shutdown().await.expect("shut");
    let mut echo = Vec::new();
    socket.read_to_end(&mut echo).await.expect("all of it");
    assert_eq!(String::from_utf8_lossy(&echo), "");
    server.tasks.cancel();
}

/// Of the policy's words, every one that names another place than the preview's own host.
fn elsewhere(policy: &str, host: &str) -> Vec<String> {
    let (own, socket) = (format!("http://{host}"), format!("ws://{host}"));
    let places = policy.split([' ', ';']).filter(|word| word.contains("://") || word.contains('*'));
    places.filter(|place| *place != own && *place != socket).map(str::to_owned).collect()
}

#[tokio::test]
async fn whatever_a_preview_answers_keeps_its_page_to_its_own_host() {
    let server = TestServer::start().await;
    let session = server.session().await;
    server.runtime.files.put("outputs/page.html", b"<p>hi</p>");
    for (artifact, kind, path) in [
        ("outputs/page.html", ArtifactKind::Html, "/outputs/page.html"),
        ("outputs/page.html", ArtifactKind::Html, "/outputs/none.html"),
        ("outputs/web", ArtifactKind::WebApp, "/"),
    ] {
        let (host, way_in) = grant(&server, &server.owner, session, artifact, kind).await;
        let (_, cookie) = enter(&server, &host, &way_in).await;
        let reply = visit(&server, &host, path, Method::GET, &[("cookie", &cookie)]).await;
        let policies: Vec<_> = reply.headers.get_all("content-security-policy").iter().collect();
        let ours = policies.last().expect("a policy").to_str().expect("text");
        for wanted in ["default-src 'self'", "form-action 'self'", "frame-src 'self'", "sandbox "] {
            assert!(ours.contains(wanted), "{path}: {ours}");
        }
        assert!(ours.contains(&format!("connect-src 'self' data: blob: ws://{host}")), "hot reload: {ours}");
        assert_eq!(elsewhere(ours, &host), Vec::<String>::new(), "{path}");
    }
}
