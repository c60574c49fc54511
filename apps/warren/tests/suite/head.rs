//! What is in no version yet: what people put there, what a failed run left, and what no version ever has.

use reqwest::{Method, StatusCode};
use rustix::process::Signal;
use serde_json::{Value, json};
use warren_domain::{RunId, Seq, SessionId};
use warren_testkit::{Process, Setup, TestAnswer, TestClient, TestEvent, TestServer};

use super::{
    session::said,
    versions::{file, list, of},
};

async fn put(client: &TestClient, session: SessionId, path: &str, text: &'static str) -> Value {
    let request = client.request(Method::PUT, &of(session, &format!("fs?path={path}"))).body(text);
    client.send(request).await.expect(StatusCode::OK)
}

async fn upload(client: &TestClient, session: SessionId, name: &str, text: &str) -> TestAnswer {
    let body = format!(
        "--XX\r\nContent-Disposition: form-data; name=\"f\"; filename=\"{name}\"\r\n\r\n{text}\r\n--XX--\r\n"
    );
    let request = client
        .request(Method::POST, &of(session, "fs/upload"))
        .header("content-type", "multipart/form-data; boundary=XX")
        .body(body);
    client.send(request).await
}

async fn head(client: &TestClient, session: SessionId) -> Value {
    list(client, session).await["head"].clone()
}

/// How often the log says of a path that it changed, and how.
async fn changes(client: &TestClient, session: SessionId, path: &str) -> Vec<Value> {
    let log = client.log(session).await;
    let of_path = log.iter().filter(|event| event.kind() == "file_changed" && event.json["path"] == path);
    of_path.map(|event| event.json["change"].clone()).collect()
}

fn base(run: &[TestEvent]) -> &Value {
    let started = run.iter().find(|event| event.kind() == "run_started");
    &started.expect("a run that started").json["baseVersion"]
}

#[tokio::test]
async fn what_a_person_puts_there_is_in_the_version_that_the_next_run_starts_from() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: echo old > a.txt").await;
    let none = json!({"added": 0, "changed": 0, "removed": 0});

    upload(&client, session, "doc.txt", "hello").await.expect(StatusCode::CREATED);
    assert_eq!(head(&client, session).await, json!({"version": 1, "dirty": true}));
    let run = client.run(session, "run: cat /user-input/doc.txt").await;
    assert!(said(&run).contains("hello"), "{}", said(&run));
    assert_eq!(base(&run), 2);
    let all = list(&client, session).await;
    assert_eq!((&all["versions"][1]["cause"], &all["versions"][0]["files"]), (&json!("edited"), &none));
    assert_eq!(all["versions"][1]["files"], json!({"added": 1, "changed": 0, "removed": 0}));
    assert_eq!(file(&client, session, 2, "/user-input/doc.txt").await, (200, json!("hello")));

    put(&client, session, "a.txt", "new").await;
    assert_eq!(base(&client.run(session, "run: cat a.txt").await), 4);
    client.delete(&of(session, "fs?path=a.txt")).await.expect(StatusCode::NO_CONTENT);
    assert_eq!(head(&client, session).await, json!({"version": 5, "dirty": true}));
    assert_eq!(base(&client.run(session, "run: test ! -e a.txt").await), 6);
    assert_eq!(list(&client, session).await["versions"][0]["files"], none);

    // Asleep too: writing wakes it.
    client.post(&of(session, "sandbox/stop"), &json!({})).await.expect(StatusCode::NO_CONTENT);
    put(&client, session, "outputs/b.md", "# b").await;
    assert_eq!(base(&client.run(session, "run: cat outputs/b.md").await), 8);
    client.delete(&of(session, "fs?path=/user-input/doc.txt")).await.expect(StatusCode::NO_CONTENT);
    assert_eq!(base(&client.run(session, "run: test ! -e /user-input/doc.txt").await), 10);
    assert_eq!(list(&client, session).await["versions"][0]["files"], none);
    for (path, told) in [
        ("a.txt", json!(["created", "modified", "deleted"])),
        ("outputs/b.md", json!(["created"])),
        ("/user-input/doc.txt", json!(["created", "deleted"])),
    ] {
        assert_eq!(json!(changes(&client, session, path).await), told, "{path}: each once");
    }
}

#[tokio::test]
async fn what_a_person_put_there_can_be_given_up() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: echo old > a.txt").await;
    put(&client, session, "a.txt", "new").await;
    upload(&client, session, "doc.txt", "hello").await.expect(StatusCode::CREATED);
    let body = json!({"content": "run: cat a.txt; ls /user-input", "from": "version"});
    let sent = client.post(&of(session, "messages"), &body).await.expect(StatusCode::ACCEPTED);
    let run: RunId = sent["runId"].as_str().unwrap().parse().unwrap();
    let mut events = client.events(session, Seq(sent["seq"].as_u64().unwrap() - 1)).await;
    let events = events.until(|event| event.ends_run(run)).await;
    assert_eq!(base(&events), 1);
    let said = said(&events);
    assert!(said.contains("old") && !said.contains("doc.txt"), "{said}");
}

#[tokio::test]
async fn whoever_sees_a_run_fail_is_told_that_there_is_more_than_the_latest_version() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: echo 1 > a").await;
    let (run, seq) = client.message_send(session, "run: echo 2 > a; sleep 100").await;
    let is_written = |event: &TestEvent| event.kind() == "file_changed" && event.json["path"] == "a";
    client.events(session, seq).await.until(is_written).await;
    let is_agent = |process: &Process| process.command().starts_with("/warren/guest agent");
    let processes = server.processes();
    processes.iter().find(|process| is_agent(process)).expect("the agent runs").signal(Signal::KILL);
    loop {
        let record = client.get(&of(session, &format!("runs/{run}"))).await.expect(StatusCode::OK);
        if record["status"] == "failed" {
            break;
        }
        assert_ne!(record["status"], "completed", "{record:#}");
    }
    assert_eq!(head(&client, session).await, json!({"version": 1, "dirty": true}));
}

#[tokio::test]
async fn what_changes_only_where_no_version_looks_is_settled_when_a_version_is_asked_for() {
    let server = Setup::new().config("[versions]\nexclude = [\"build\"]").start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let tag = "Signature: 8a477f597d28d172789f06886806bc55";
    let later = format!(
        "run: mkdir -p build cached; echo '{tag}' > cached/CACHEDIR.TAG; echo 0 > cached/log; \
         (until [ -e build/go ]; do sleep 0.05; done; echo 1 >> cached/log) > /dev/null 2>&1 &"
    );
    let first = client.run(session, &later).await;
    let mut events = client.events(session, first.last().unwrap().seq).await;
    put(&client, session, "build/go", "1").await;
    events.until(|event| event.kind() == "file_changed" && event.json["path"] == "cached/log").await;
    assert_eq!(head(&client, session).await["dirty"], true);
    client.post(&of(session, "snapshot"), &json!({})).await.expect(StatusCode::OK);
    assert_eq!(head(&client, session).await["dirty"], false, "a version by hand");
    put(&client, session, "build/a.o", "1").await;
    // A run that starts says the same: it needs no version of its own.
    let before = head(&client, session).await["version"].clone();
    assert_eq!(*base(&client.run(session, "run: cat build/a.o").await), before);
    put(&client, session, "build/a.o", "2").await;
    client.post(&of(session, "sandbox/stop"), &json!({})).await.expect(StatusCode::NO_CONTENT);
    assert_eq!(head(&client, session).await["dirty"], false, "asleep");
    put(&client, session, "build/a.o", "3").await;
    client.post(&of(session, "unload"), &json!({})).await.expect(StatusCode::OK);
    assert_eq!(head(&client, session).await["dirty"], false, "by its log");
}
