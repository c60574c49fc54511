//! Files, artifacts and previews, through the whole server and real sandboxes.

use futures::StreamExt as _;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use warren_domain::SessionId;
use warren_testkit::{Setup, TestClient, TestServer};

use super::session::said;

async fn get(client: &TestClient, session: SessionId, path: &str) -> Value {
    let path = format!("/api/sessions/{session}/{path}");
    client.get(path.trim_end_matches('/')).await.expect(StatusCode::OK)
}

pub(super) async fn artifacts(client: &TestClient, session: SessionId) -> Vec<Value> {
    get(client, session, "artifacts").await["artifacts"].as_array().expect("a list").clone()
}

async fn stop(client: &TestClient, session: SessionId) {
    let path = format!("/api/sessions/{session}/sandbox/stop");
    client.post(&path, &json!({})).await.expect(StatusCode::NO_CONTENT);
}

fn is_asleep(detail: &Value) -> bool {
    detail["runtime"]["sandbox"].is_null()
}

#[tokio::test]
async fn files_are_the_same_from_the_sandbox_and_from_what_it_left_and_reading_wakes_nothing() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let empty = get(&client, session, "fs").await;
    assert_eq!(empty["entries"], json!([]), "a session without a sandbox has no files yet");
    let made =
        "run: mkdir -p a && printf hello > a/b.txt && ln -s /etc/passwd link && mkfifo pipe && echo made";
    client.run(session, made).await;
    let live = (get(&client, session, "fs").await, get(&client, session, "fs?path=a").await);
    stop(&client, session).await;
    let still = (get(&client, session, "fs").await, get(&client, session, "fs?path=a").await);
    assert_eq!(live, still);
    let names: Vec<_> = still.0["entries"].as_array().expect("a list").iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["a", "outputs", "link", "pipe"]);
    let read = async |path: &str| client.get(&format!("/api/sessions/{session}/fs/read?path={path}")).await;
    assert_eq!(read("a/b.txt").await.expect(StatusCode::OK), json!("hello"));
    for path in ["link", "pipe", "a", "../../../../etc/passwd", "/etc/passwd", "/home/agent/.bashrc"] {
        assert_eq!(read(path).await.status, StatusCode::BAD_REQUEST, "{path}");
    }
    assert!(is_asleep(&get(&client, session, "").await), "reading made no sandbox");

    let put = client
        .request(Method::PUT, &format!("/api/sessions/{session}/fs?path=/user-input/x.csv"))
        .body("1,2");
    let put = client.send(put).await;
    assert_eq!((put.status, &put.body["path"]), (StatusCode::OK, &json!("/user-input/x.csv")));
    assert!(!is_asleep(&get(&client, session, "").await), "writing made one");
    let events = client.run(session, "run: cat /user-input/x.csv").await;
    assert!(said(&events).contains("1,2"));
}

#[tokio::test]
async fn what_an_agent_makes_is_told_while_it_is_made_and_belongs_to_its_run() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let command =
        "run: cd outputs && printf '# Hi' > note.md && mkdir -p site && echo '<p>x' > site/index.html";
    let events = client.run(session, command).await;
    let created: Vec<_> = events.iter().filter(|event| event.kind() == "artifact_created").collect();
    let paths: Vec<_> =
        created.iter().map(|event| event.json["artifact"]["path"].as_str().expect("a path")).collect();
    assert_eq!(paths, ["outputs/note.md", "outputs/site/index.html"]);
    let note = &created[0].json;
    assert_eq!(note["runId"], events[0].json["runId"]);
    assert_eq!(note["artifact"]["createdSeq"], note["seq"]);
    assert_eq!(
        (&note["artifact"]["kind"], &note["artifact"]["createdVersion"]),
        (&json!("markdown"), &json!(1))
    );
    let hash = blake3::hash(b"# Hi").to_hex().to_string();
    assert_eq!(note["artifact"]["hash"], json!(hash));

    client.run(session, "run: printf '# Ho' > outputs/note.md; rm -r outputs/site").await;
    let all = artifacts(&client, session).await;
    assert_eq!(all.len(), 1);
    assert_eq!((&all[0]["id"], &all[0]["updatedVersion"]), (&note["artifact"]["id"], &json!(2)));
    let id = all[0]["id"].as_str().expect("an id");
    stop(&client, session).await;
    let content = client.get(&format!("/api/sessions/{session}/artifacts/{id}/content")).await;
    assert_eq!((content.status, &content.body), (StatusCode::OK, &json!("# Ho")));
    assert_eq!(content.headers["content-type"], "text/markdown; charset=utf-8");
    let history = get(&client, session, &format!("artifacts/{id}/versions")).await;
    let changes: Vec<_> =
        history["versions"].as_array().expect("a list").iter().map(|it| &it["change"]).collect();
    assert_eq!(changes, ["updated", "created"]);
}

#[tokio::test]
async fn what_a_restored_version_does_not_have_is_not_shown_any_more() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: mkdir -p outputs && printf a > outputs/a.md").await;
    client.run(session, "run: printf b > outputs/a.md.md && printf c > outputs/c.md").await;
    let paths = async || -> Vec<Value> {
        artifacts(&client, session).await.iter().map(|artifact| artifact["path"].clone()).collect()
    };
    assert_eq!(paths().await.len(), 3);
    let restore = format!("/api/sessions/{session}/restore");
    client.post(&restore, &json!({"version": 1})).await.expect(StatusCode::OK);
    assert_eq!(paths().await, ["outputs/a.md"]);
    client.run(session, "run: true").await;
    assert_eq!(paths().await, ["outputs/a.md"]);
    client.post(&restore, &json!({"version": 2})).await.expect(StatusCode::OK);
    client.run(session, "run: touch outputs").await;
    assert_eq!(paths().await.len(), 3, "found again by who looks");
}

#[tokio::test]
async fn files_come_from_the_version_when_the_directories_are_gone_and_nothing_wakes() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let made = "run: mkdir -p a/b outputs && printf 0123456789 > a/b/c.txt && printf '# Hi' > outputs/note.md && \
                printf x > /user-input/in.txt && ln -s a link";
    client.run(session, made).await;
    stop(&client, session).await;
    let left = get(&client, session, "fs").await;
    assert_eq!(left["source"], "live");
    for place in ["sessions", "workspaces"] {
        std::fs::remove_dir_all(server.directory().join(place).join(session.to_string())).expect("removed");
    }
    let kept = get(&client, session, "fs").await;
    let names = |listing: &Value| -> Vec<(Value, Value)> {
        let entries = listing["entries"].as_array().expect("a list").iter();
        entries.map(|it| (it["path"].clone(), it["kind"].clone())).collect()
    };
    assert_eq!((&kept["source"], names(&kept)), (&json!("version"), names(&left)));
    let deep = get(&client, session, "fs?path=a/b").await;
    assert_eq!(names(&deep), [(json!("a/b/c.txt"), json!("file"))]);
    assert_eq!(names(&get(&client, session, "fs?path=/user-input").await).len(), 1);

    let path = format!("/api/sessions/{session}/fs/read?path=a/b/c.txt");
    let whole = client.get(&path).await;
    assert_eq!(whole.status, StatusCode::OK);
    assert_eq!(whole.headers["content-length"], "10");
    let part = client.send(client.request(Method::GET, &path).header("range", "bytes=2-4")).await;
    assert_eq!((part.status, &part.body), (StatusCode::PARTIAL_CONTENT, &json!(234)));
    assert_eq!(part.headers["content-range"], "bytes 2-4/10");
    let id = artifacts(&client, session).await[0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(get(&client, session, &format!("artifacts/{id}/content")).await, json!("# Hi"));
    let absent = client.get(&format!("/api/sessions/{session}/fs/read?path=a/absent")).await;
    assert_eq!(absent.refusal(), (404, "NOT_FOUND"));
    for path in ["a", "link", "link/b/c.txt"] {
        let refused = client.get(&format!("/api/sessions/{session}/fs/read?path={path}")).await;
        assert!(refused.status.is_client_error(), "{path}: {}", refused.status);
    }
    assert!(is_asleep(&get(&client, session, "").await), "reading made no sandbox");

    // What is there and older than the version is not believed either.
    let events = client.run(session, "run: printf new > a/b/c.txt; cat /user-input/in.txt").await;
    assert!(said(&events).contains('x'));
    stop(&client, session).await;
    let note = server.directory().join("sessions").join(session.to_string()).join("version");
    std::fs::write(&note, "1").expect("written");
    assert_eq!(get(&client, session, "fs").await["source"], "version");
    assert_eq!(get(&client, session, "fs/read?path=a/b/c.txt").await, json!("new"));
}

#[tokio::test]
async fn a_form_of_files_goes_into_a_real_sandbox_all_of_it_or_nothing() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let part = |name: &str, content: &str| {
        format!(
            "--XX\r\ncontent-disposition: form-data; name=\"f\"; filename=\"{name}\"\r\n\r\n{content}\r\n"
        )
    };
    let upload = async |to: &str, parts: &[(&str, &str)]| {
        let body: String = parts.iter().map(|(name, content)| part(name, content)).collect();
        let request = client
            .request(Method::POST, &format!("/api/sessions/{session}/fs/upload{to}"))
            .header("content-type", "multipart/form-data; boundary=XX")
            .body(format!("{body}--XX--\r\n"));
        client.send(request).await
    };
    let long = "0123456789".repeat(30_000);
    let taken = upload("", &[("a.csv", "1,2"), ("ü b.txt", &long)]).await.expect(StatusCode::CREATED);
    assert_eq!(taken["files"][1]["sizeBytes"], 300_000);
    let events =
        client.run(session, "run: wc -c < '/user-input/ü b.txt'; id -u; stat -c %u /user-input/a.csv").await;
    let told = said(&events);
    assert!(told.contains("300000"), "{told}");

    let refused = upload("", &[("new.txt", "x"), ("a.csv", "y")]).await;
    assert_eq!(refused.refusal(), (409, "CONFLICT"));
    let elsewhere = upload("?path=data/in", &[("c.txt", "here")]).await.expect(StatusCode::CREATED);
    assert_eq!(elsewhere["files"][0]["path"], "data/in/c.txt");
    let refused = upload("?path=data/in", &[("d.txt", "x"), ("c.txt", "y")]).await;
    assert_eq!(refused.refusal(), (409, "CONFLICT"));
    let listed =
        [get(&client, session, "fs?path=/user-input").await, get(&client, session, "fs?path=data/in").await];
    let counts = listed.map(|it| it["entries"].as_array().expect("a list").len());
    assert_eq!(counts, [2, 1], "nothing of a refused form stays");
    let nowhere = upload("?path=/knowledge", &[("k.txt", "x")]).await;
    assert_eq!(nowhere.refusal(), (403, "FORBIDDEN"));
}

#[tokio::test]
async fn what_is_put_beside_uploads_counts_as_one_and_what_it_replaces_does_not() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let put = async |name: &str, body: Vec<u8>| {
        let path = format!("/api/sessions/{session}/fs?path=/user-input/{name}");
        client.send(client.request(Method::PUT, &path).body(body)).await
    };
    for n in 0..20 {
        put(&format!("{n}.txt"), b"small".to_vec()).await.expect(StatusCode::OK);
    }
    assert_eq!(put("20.txt", b"one more".to_vec()).await.refusal(), (413, "TOO_LARGE"));
    put("19.txt", b"another".to_vec()).await.expect(StatusCode::OK);
    let read = get(&client, session, "fs/read?path=/user-input/19.txt").await;
    assert_eq!(read, json!("another"), "what is replaced makes room for it");
    let path = format!("/api/sessions/{session}/fs?path=/user-input/./19.txt");
    let large = client.request(Method::PUT, &path).body(vec![0; 50_000_001]).send().await;
    // Who is still sending may not hear why.
    assert!(large.is_err() || large.is_ok_and(|answer| answer.status() == StatusCode::PAYLOAD_TOO_LARGE));
    let read = get(&client, session, "fs/read?path=/user-input/19.txt").await;
    assert_eq!(read, json!("another"), "and it is as it was");
}

/// Asks for a preview and goes in, as a browser does; gives the host and the cookie.
pub(super) async fn enter(server: &TestServer, session: SessionId, id: &str) -> (String, String) {
    let client = server.admin();
    let path = format!("/api/sessions/{session}/artifacts/{id}/preview");
    let link = client.post(&path, &json!({})).await.expect(StatusCode::OK);
    let url = link["url"].as_str().expect("a URL").strip_prefix("http://").expect("http").to_owned();
    let (host, path) = url.split_once('/').expect("a path");
    let entered = browse(server, host, &format!("/{path}"), None).await;
    assert_eq!(entered.status, StatusCode::SEE_OTHER);
    let cookie =
        entered.headers["set-cookie"].to_str().expect("text").split(';').next().expect("a pair").to_owned();
    (host.to_owned(), cookie)
}

pub(super) async fn browse(
    server: &TestServer,
    host: &str,
    path: &str,
    cookie: Option<&str>,
) -> warren_testkit::TestAnswer {
    let client = server.anonymous();
    let mut request = client.request(Method::GET, path).header("host", host).header("accept", "text/html");
    if let Some(cookie) = cookie {
        request = request.header("cookie", cookie);
    }
    client.send(request).await
}

const APP: &str = "run: mkdir -p outputs/app && cd outputs/app && printf '{\"artifacts\":[{\"type\":\"web_app\",\"name\":\"Clock\",\
    \"path\":\"app\",\"command\":\"python3 -m http.server $PORT --bind 127.0.0.1\"}]}' > ../manifest.json && \
    printf 'it works' > index.html";

#[tokio::test]
async fn an_app_is_started_when_somebody_looks_and_again_after_the_session_slept() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, APP).await;
    let all = artifacts(&client, session).await;
    let app = all.iter().find(|it| it["kind"] == "web_app").expect("an app");
    assert_eq!((&app["name"], &app["path"]), (&json!("Clock"), &json!("outputs/app")));
    assert_eq!(app["port"], 3000, "where it will listen as soon as somebody looks");
    let (host, cookie) = enter(&server, session, app["id"].as_str().expect("an id")).await;
    assert!(host.starts_with(&format!("3000-{session}.localhost:")), "{host}");
    let page = until_ok(&server, &host, &cookie).await;
    assert_eq!(page, json!("it works"));
    let log = client.log(session).await;
    assert!(log.iter().any(|event| event.kind() == "port_opened" && event.json["port"] == 3000));
    assert_eq!(browse(&server, &host, "/", None).await.status, StatusCode::UNAUTHORIZED);

    stop(&client, session).await;
    let log = client.log(session).await;
    assert!(log.iter().any(|event| event.kind() == "port_closed" && event.json["port"] == 3000));
    let waking = browse(&server, &host, "/", Some(&cookie)).await;
    assert_eq!(waking.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(waking.body.as_str().expect("a page").contains("Starting"), "{waking:?}");
    assert_eq!(until_ok(&server, &host, &cookie).await, json!("it works"));
}

#[tokio::test]
async fn who_looks_at_an_app_keeps_its_session_awake_and_an_app_nobody_looks_at_does_not() {
    let server = Setup::new().config("[sandbox]\nidle_timeout_seconds = 5").start().await;
    let client = server.admin();
    let mut apps = Vec::new();
    for _ in 0..2 {
        let session = client.session_create().await;
        client.run(session, APP).await;
        let app = artifacts(&client, session).await.remove(0);
        let (host, cookie) = enter(&server, session, app["id"].as_str().expect("an id")).await;
        until_ok(&server, &host, &cookie).await;
        apps.push((session, host, cookie));
    }
    let (watched, host, cookie) = apps.remove(0);
    let (other, ..) = apps.remove(0);
    // The watched one began earlier, so it would be asleep before the other, if looking did not count.
    while !is_asleep(&get(&client, other, "").await) {
        assert_eq!(until_ok(&server, &host, &cookie).await, json!("it works"));
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
    let ended = |log: &[warren_testkit::TestEvent]| {
        log.iter().any(|event| event.json["runtime"]["sandbox"]["status"] == "terminated")
    };
    assert!(!ended(&client.log(watched).await), "it was looked at all the time");
    let mut events = client.events(watched, warren_domain::Seq(0)).await;
    events.until(|event| event.json["runtime"]["sandbox"]["status"] == "terminated").await;
}

/// Looks again, as the page that waits does.
async fn until_ok(server: &TestServer, host: &str, cookie: &str) -> Value {
    for _ in 0..300 {
        let page = browse(server, host, "/", Some(cookie)).await;
        if page.status == StatusCode::OK {
            return page.body;
        }
        assert_eq!(page.status, StatusCode::SERVICE_UNAVAILABLE, "{page:?}");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("it never listened");
}

#[tokio::test]
async fn the_ports_of_the_models_and_of_the_proxy_are_no_previews() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, APP).await;
    let log = client.log(session).await;
    let opened: Vec<_> =
        log.iter().filter(|event| event.kind() == "port_opened").map(|event| &event.json["port"]).collect();
    assert_eq!(opened, Vec::<&Value>::new(), "the host's own ports are nobody's business");
}

#[tokio::test]
async fn an_app_that_ends_says_why() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let broken = "run: mkdir -p outputs/bad && cd outputs/bad && \
        printf '{\"name\":\"bad\",\"scripts\":{\"dev\":\"x\"}}' > package.json && \
        printf '{\"artifacts\":[{\"type\":\"web_app\",\"path\":\"bad\",\"command\":\"echo no dice; exit 3\"}]}' > ../manifest.json";
    client.run(session, broken).await;
    let all = artifacts(&client, session).await;
    let (host, cookie) = enter(&server, session, all[0]["id"].as_str().expect("an id")).await;
    // It may still be on its way to its end.
    let mut page = browse(&server, &host, "/", Some(&cookie)).await;
    for _ in 0..300 {
        if page.status != StatusCode::SERVICE_UNAVAILABLE {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        page = browse(&server, &host, "/", Some(&cookie)).await;
    }
    assert_eq!(page.status, StatusCode::BAD_GATEWAY, "{page:?}");
    assert!(page.body.as_str().expect("a page").contains("<pre>no dice"), "{page:?}");
}

#[tokio::test]
async fn a_session_reads_what_its_project_knows_and_cannot_change_it() {
    let knowledge = tempfile::tempdir().expect("a directory");
    let line = format!("[knowledge]\nbase_path = '{}'\n", knowledge.path().display());
    let server = Setup::new().config(&line).start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let project = get(&client, session, "").await["projectId"].as_str().expect("an id").to_owned();
    let own = knowledge.path().join("default").join(project);
    std::fs::create_dir_all(&own).expect("made");
    std::fs::write(own.join("facts.md"), "the sky is blue").expect("written");
    open_to_all(knowledge.path());
    let events =
        client.run(session, "run: cat /knowledge/facts.md; touch /knowledge/x || echo read-only").await;
    let said = said(&events);
    assert!(said.contains("the sky is blue") && said.contains("read-only"), "{said}");
    let read = client.get(&format!("/api/sessions/{session}/fs/read?path=/knowledge/facts.md")).await;
    assert_eq!(read.expect(StatusCode::OK), json!("the sky is blue"));
    let put = client.request(Method::PUT, &format!("/api/sessions/{session}/fs?path=/knowledge/x")).body("x");
    assert_eq!(client.send(put).await.status, StatusCode::FORBIDDEN);
}

/// A temporary directory is its maker's alone; knowledge is read by other users.
fn open_to_all(directory: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o755)).expect("opened");
}

#[tokio::test]
async fn who_may_only_read_wakes_nothing() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, APP).await;
    let app = artifacts(&client, session).await.remove(0);
    stop(&client, session).await;
    let new = json!({"name": "reader", "scope": "admin:ro"});
    let token = client.post("/api/tokens", &new).await.expect(StatusCode::CREATED);
    let reader = client.with_token(token["secret"].as_str().expect("a secret"));
    let path = format!("/api/sessions/{session}/artifacts/{}/preview", app["id"].as_str().expect("an id"));
    assert_eq!(reader.post(&path, &json!({})).await.status, StatusCode::CONFLICT);
    let listed = get(&reader, session, "fs?path=outputs/app").await;
    assert_eq!(listed["entries"][0]["name"], "index.html");
    assert!(is_asleep(&get(&client, session, "").await));
}

/// A body of which the rest comes when it is told.
fn halting(first: &'static str, rest: &'static str) -> (reqwest::Body, tokio::sync::oneshot::Sender<()>) {
    let (go_on, told) = tokio::sync::oneshot::channel();
    let rest = futures::stream::once(async move {
        told.await.expect("somebody tells");
        Ok(rest)
    });
    let pieces = futures::stream::iter([Ok::<_, std::io::Error>(first)]).chain(rest);
    (reqwest::Body::wrap_stream(pieces), go_on)
}

#[tokio::test]
async fn who_was_overtaken_while_sending_replaces_nothing() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let path = format!("/api/sessions/{session}/fs?path=a.txt");
    let put = |tag: &str| client.request(Method::PUT, &path).header("if-match", tag);
    let made = client.send(client.request(Method::PUT, &path).body("one")).await.expect(StatusCode::OK);
    let tag = made["etag"].as_str().expect("a state").to_owned();
    let (body, go_on) = halting("a slow ", "writer");
    let slow = client.send(put(&tag).body(body));
    let quick = async {
        let quick = client.send(put(&tag).body("two")).await;
        go_on.send(()).expect("it still sends");
        quick
    };
    let (slow, quick) = tokio::join!(slow, quick);
    assert_eq!((quick.status, slow.refusal()), (StatusCode::OK, (412, "PRECONDITION_FAILED")));
    assert_eq!(get(&client, session, "fs/read?path=a.txt").await, json!("two"));

    let tag = quick.body["etag"].as_str().expect("a state").to_owned();
    let all = (0..10).map(|n| client.send(put(&tag).body(n.to_string())));
    let all = futures::future::join_all(all).await;
    assert_eq!(all.iter().filter(|answer| answer.status == StatusCode::OK).count(), 1);
}

#[tokio::test]
async fn a_file_that_was_read_from_a_version_is_replaced_in_the_sandbox() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: printf one > a.txt").await;
    let fork = client.post(&format!("/api/sessions/{session}/fork"), &json!({})).await;
    let fork = fork.expect(StatusCode::CREATED)["sessionId"].as_str().expect("an id").parse().expect("an id");
    assert_eq!(get(&client, fork, "fs").await["source"], "version");
    let read = client.get(&format!("/api/sessions/{fork}/fs/read?path=a.txt")).await;
    let tag = read.headers["etag"].to_str().expect("text").to_owned();
    let put = async |body: &'static str| {
        let request = client.request(Method::PUT, &format!("/api/sessions/{fork}/fs?path=a.txt"));
        client.send(request.header("if-match", &tag).body(body)).await
    };
    put("two").await.expect(StatusCode::OK);
    assert_eq!(put("three").await.refusal(), (412, "PRECONDITION_FAILED"));
    assert_eq!(get(&client, fork, "fs/read?path=a.txt").await, json!("two"));
}

#[tokio::test]
async fn nothing_is_uploaded_where_it_would_not_be_counted_or_kept() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let put = async |path: &str| {
        let path = format!("/api/sessions/{session}/fs?path=/user-input/{path}");
        client.send(client.request(Method::PUT, &path).body("x")).await
    };
    assert_eq!(put("node_modules/a.txt").await.refusal(), (400, "BAD_REQUEST"));
    assert_eq!(put("a/.venv/b/c.txt").await.refusal(), (400, "BAD_REQUEST"));
    assert_eq!(put(&format!("{}file", "d/".repeat(64))).await.refusal(), (400, "BAD_REQUEST"));
    let body = "--XX\r\ncontent-disposition: form-data; name=\"f\"; filename=\"a\"\r\n\r\nx\r\n--XX--\r\n";
    let upload = client
        .request(Method::POST, &format!("/api/sessions/{session}/fs/upload?path=/user-input/node_modules"))
        .header("content-type", "multipart/form-data; boundary=XX")
        .body(body);
    assert_eq!(client.send(upload).await.refusal(), (400, "BAD_REQUEST"));
    put("node_modules").await.expect(StatusCode::OK);

    let made = "run: cd /user-input && rm node_modules && mkdir node_modules && touch node_modules/$(seq -s ' node_modules/' 20)";
    client.run(session, made).await;
    assert_eq!(put("one-more.txt").await.refusal(), (413, "TOO_LARGE"), "what an agent put there counts too");
}

#[tokio::test]
async fn outputs_stay_a_directory() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let change = async |method: Method, path: &str| {
        let path = format!("/api/sessions/{session}/fs?path={path}");
        client.send(client.request(method, &path).body("x")).await
    };
    for path in ["/outputs", "outputs", "/outputs/", "/workspace/outputs", "/", "/user-input"] {
        assert_eq!(change(Method::DELETE, path).await.refusal(), (400, "BAD_REQUEST"), "{path}");
        assert_eq!(change(Method::PUT, path).await.refusal(), (400, "BAD_REQUEST"), "{path}");
    }
    change(Method::PUT, "/outputs/a.txt").await.expect(StatusCode::OK);
    let events = client.run(session, "run: cat /outputs/a.txt; touch /outputs/b.txt && echo made").await;
    let told = said(&events);
    assert!(told.contains("xmade"), "{told}");
    assert_eq!(change(Method::DELETE, "/outputs/a.txt").await.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn one_file_that_may_not_be_read_does_not_break_an_archive() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: mkdir d && echo a > d/a && echo b > d/b && chmod 000 d/a").await;
    let path = format!("/api/sessions/{session}/fs/archive?path=d");
    let answer = client.request(Method::GET, &path).send().await.expect("an answer");
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(!answer.bytes().await.expect("all of it").is_empty());
}
