//! Sessions that share a workspace: one directory, one user, one line of trees.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use warren_domain::{Seq, SessionId};
use warren_testkit::{Setup, TestAnswer, TestClient, TestServer};

use super::{
    session::said,
    versions::{file, list, of},
};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Two sessions in one workspace.
async fn pair(client: &TestClient) -> (SessionId, SessionId) {
    let one = client.session_create().await;
    let detail = client.get(&format!("/api/sessions/{one}")).await.expect(StatusCode::OK);
    let made = client.post("/api/sessions", &json!({"workspaceId": detail["workspaceId"]})).await;
    let made = made.expect(StatusCode::CREATED);
    (one, made["sessionId"].as_str().expect("an id").parse().expect("an id"))
}

async fn stop(client: &TestClient, session: SessionId) {
    client.post(&of(session, "sandbox/stop"), &json!({})).await.expect(StatusCode::NO_CONTENT);
}

/// Causes of a session's versions, newest first, and whether each is marked as one of a shared workspace.
async fn causes(client: &TestClient, session: SessionId) -> Vec<(String, bool)> {
    let all = list(client, session).await;
    let of_version = |version: &Value| {
        let cause = version["cause"].as_str().expect("a cause").to_owned();
        (cause, version["shared"].as_bool().unwrap_or(false))
    };
    all["versions"].as_array().expect("versions").iter().map(of_version).collect()
}

fn cause(cause: &str, shared: bool) -> (String, bool) {
    (cause.to_owned(), shared)
}

async fn look(client: &TestClient, session: SessionId) -> String {
    said(&client.run(session, "run: cat *.txt; id -u; id -g").await)
}

#[tokio::test]
async fn what_one_does_the_other_finds_and_every_run_starts_from_a_version_that_has_it() {
    let server = TestServer::start().await;
    let client = server.admin();
    let (one, two) = pair(&client).await;
    let first = said(&client.run(one, "run: echo from one > one.txt; id -u; id -g").await);
    let told = look(&client, two).await;
    assert!(told.contains("from one"), "{told}");
    let numbers = |told: &str| -> Vec<String> {
        told.lines().filter(|line| line.parse::<u32>().is_ok()).map(str::to_owned).collect()
    };
    assert_eq!(numbers(&first), numbers(&told), "one user, one group: {first} {told}");
    // What was there is a version of its own before the run that found it.
    assert_eq!(
        causes(&client, two).await,
        [cause("run", true), cause("edited", true), cause("manual", false)],
    );
    assert_eq!(file(&client, two, 1, "one.txt").await, (200, json!("from one\n")));
    let diff = client.get(&of(two, "versions/2/diff")).await.expect(StatusCode::OK);
    assert_eq!(diff["files"], json!([]), "it only looked");

    // One sleeps, the other goes on; whoever wakes finds what was done last.
    stop(&client, one).await;
    client.run(two, "run: echo from two > two.txt; echo changed > one.txt").await;
    let told = look(&client, one).await;
    assert!(told.contains("from two") && told.contains("changed") && !told.contains("from one"), "{told}");
    let events = client.log(one).await;
    let found = events.iter().filter(|event| event.kind() == "file_changed" && event.json["runId"].is_null());
    let found: Vec<_> = found.map(|event| event.json["path"].as_str().expect("a path").to_owned()).collect();
    assert_eq!(found, ["one.txt", "two.txt"], "others' work is no run's of this session");
    assert_eq!(causes(&client, one).await[..2], [cause("run", true), cause("edited", true)]);
}

#[tokio::test]
async fn a_workspace_that_is_gone_is_what_was_committed_last_by_whomever() {
    let server = TestServer::start().await;
    let client = server.admin();
    let (one, two) = pair(&client).await;
    client.run(one, "run: echo old > a.txt; echo mine > ~/mine").await;
    client.run(two, "run: echo new > a.txt; echo two > b.txt").await;
    stop(&client, one).await;
    stop(&client, two).await;
    std::fs::remove_dir_all(server.directory().join("workspaces").join(one.to_string())).expect("removed");
    let read = client.get(&of(one, "fs/read?path=a.txt")).await;
    assert_eq!(read.expect(StatusCode::OK), json!("new\n"), "without a sandbox");
    let told = said(&client.run(one, "run: cat a.txt b.txt ~/mine").await);
    assert!(told.contains("new\ntwo\nmine"), "{told}");
}

#[tokio::test]
async fn a_restore_is_refused_while_others_are_active_and_replaces_the_files_of_all_once_they_sleep() {
    let server = TestServer::start().await;
    let client = server.admin();
    let (one, two) = pair(&client).await;
    client.run(one, "run: echo good > a.txt").await;
    client.run(one, "run: echo bad > a.txt").await;
    client.run(two, "run: echo theirs > b.txt").await;
    let refused = client.post(&of(one, "restore"), &json!({"version": 1})).await;
    assert_eq!(refused.refusal(), (409, "CONFLICT"));
    assert!(refused.body["hint"].as_str().expect("a hint").contains("fork"), "{:?}", refused.body);
    let told = look(&client, two).await;
    assert!(told.contains("bad") && told.contains("theirs"), "nothing happened: {told}");

    let forked = client.post(&of(one, "fork"), &json!({"version": 1})).await.expect(StatusCode::CREATED);
    let fork: SessionId = forked["sessionId"].as_str().expect("an id").parse().expect("an id");
    assert_eq!(forked["workspaceId"], json!(fork), "a fork has a workspace of its own");
    assert!(look(&client, fork).await.contains("good"));

    // Once the other sleeps it can be done, and nothing that was there is lost.
    stop(&client, two).await;
    let made = client.post(&of(one, "restore"), &json!({"version": 1})).await.expect(StatusCode::OK);
    assert_eq!((&made["cause"], &made["shared"]), (&json!("restore"), &json!(true)));
    let before = made["version"].as_u64().expect("a number") - 1;
    assert_eq!(file(&client, one, before, "b.txt").await, (200, json!("theirs\n")));
    // Whoever comes first finds the restored files.
    let told = look(&client, two).await;
    assert!(told.contains("good") && !told.contains("bad") && !told.contains("theirs"), "{told}");
    let told = look(&client, one).await;
    assert!(told.contains("good") && !told.contains("bad"), "{told}");
}

#[tokio::test]
async fn a_restore_is_not_undone_when_another_session_joins_the_workspace() {
    let server = TestServer::start().await;
    let client = server.admin();
    let one = client.session_create().await;
    client.run(one, "run: echo good > a.txt").await;
    client.run(one, "run: echo bad > a.txt; echo extra > b.txt").await;
    client.post(&of(one, "restore"), &json!({"version": 1})).await.expect(StatusCode::OK);
    let made = client.post("/api/sessions", &json!({"workspaceId": one})).await.expect(StatusCode::CREATED);
    let two: SessionId = made["sessionId"].as_str().expect("an id").parse().expect("an id");
    for session in [one, two] {
        let read = client.get(&of(session, "fs/read?path=a.txt")).await;
        assert_eq!(read.expect(StatusCode::OK), json!("good\n"), "without a sandbox");
        assert_eq!(client.get(&of(session, "fs/read?path=b.txt")).await.refusal(), (404, "NOT_FOUND"));
    }
    let told = look(&client, two).await;
    assert!(told.contains("good") && !told.contains("bad") && !told.contains("extra"), "{told}");
    // What is done from here on is what the workspace has, and no version takes its place.
    client.run(two, "run: echo more > c.txt").await;
    stop(&client, two).await;
    let told = look(&client, one).await;
    assert!(told.contains("good") && told.contains("more") && !told.contains("extra"), "{told}");
    let diff = client.get(&of(one, "versions/4/diff")).await.expect(StatusCode::OK);
    let changed: Vec<_> = diff["files"].as_array().expect("files").iter().map(|file| &file["path"]).collect();
    assert_eq!(changed, ["c.txt"], "the other's work is all that is new");
}

/// Asks for something that needs a sandbox first, and for that sandbox's end as soon as it starts. Gives both answers.
async fn ask_and_end(
    client: &TestClient,
    session: SessionId,
    (path, body): (&str, Value),
    end: &str,
) -> (TestAnswer, TestAnswer) {
    let last = client.log(session).await.last().expect("an entry").seq;
    let mut events = client.events(session, last).await;
    let (path, end) = (of(session, path), of(session, end));
    let ending = async {
        events.until(|event| event.json["runtime"]["sandbox"]["status"] == "starting").await;
        client.post(&end, &json!({})).await
    };
    let both = async { tokio::join!(client.post(&path, &body), ending) };
    tokio::time::timeout(PATIENCE, both).await.expect("both are answered")
}

#[tokio::test]
async fn what_waits_for_a_sandbox_is_refused_when_that_is_stopped_and_not_carried_out_later() {
    let server = TestServer::start().await;
    let client = server.admin();
    let (one, two) = pair(&client).await;
    client.run(one, "run: for i in $(seq 3000); do echo $i > f$i; done; echo old > a.txt").await;
    client.run(one, "run: echo new > a.txt").await;
    let workspace = server.directory().join("workspaces").join(one.to_string());
    for (end, status) in [("sandbox/stop", StatusCode::NO_CONTENT), ("end", StatusCode::OK)] {
        for asked in [("restore", json!({"version": 1})), ("snapshot", json!({}))] {
            let session = if end == "end" && asked.0 == "snapshot" { two } else { one };
            stop(&client, session).await;
            // All of it is written anew, so that there is time to stop the sandbox before it is ready.
            std::fs::remove_dir_all(&workspace).expect("removed");
            let before = causes(&client, session).await;
            let (answer, ended) = ask_and_end(&client, session, asked.clone(), end).await;
            assert_eq!(ended.status, status, "{:#}", ended.body);
            assert_eq!(answer.refusal().1, "SANDBOX_ERROR", "{asked:?} {end}: {:#}", answer.body);
            assert_eq!(causes(&client, session).await, before, "nothing was done");
        }
        if end == "sandbox/stop" {
            let told = said(&client.run(one, "run: cat a.txt").await);
            assert!(told.contains("new"), "{told}");
            assert!(causes(&client, one).await.iter().all(|(cause, _)| cause != "restore"));
        }
    }
}

#[tokio::test]
async fn what_a_failed_run_left_is_not_given_up_while_others_are_active() {
    let server = TestServer::start().await;
    let client = server.admin();
    let (one, two) = pair(&client).await;
    client.run(one, "run: echo good > a.txt").await;
    client.run(two, "run: echo theirs > b.txt").await;
    let send = async |body: Value| {
        let sent = client.post(&of(one, "messages"), &body).await.expect(StatusCode::ACCEPTED);
        let run = sent["runId"].as_str().expect("an id").parse().expect("an id");
        let mut events = client.events(one, Seq(sent["seq"].as_u64().expect("a number") - 1)).await;
        events.until(|event| event.ends_run(run)).await
    };
    let body = json!({"content": "run: echo half > a.txt; sleep 60", "timeBudget": {"hardSeconds": 1}});
    assert_eq!(send(body).await.last().expect("an entry").kind(), "run_failed");
    let back = json!({"content": "run: cat a.txt", "from": "version"});
    let refused = send(back.clone()).await;
    let refused = refused.last().expect("an entry");
    assert_eq!((refused.kind(), &refused.json["code"]), ("run_failed", &json!("CONFLICT")));
    let told = look(&client, two).await;
    assert!(told.contains("half") && told.contains("theirs"), "nothing was undone: {told}");

    // What the other found is in a version of its by now, and is not given up either.
    stop(&client, two).await;
    let told = said(&send(back).await);
    assert!(told.contains("half"), "{told}");
}

#[tokio::test]
async fn two_that_wake_at_once_find_the_same_files() {
    let server = TestServer::start().await;
    let client = server.admin();
    let (one, two) = pair(&client).await;
    client.run(one, "run: for i in $(seq 200); do echo $i > f$i.txt; done").await;
    stop(&client, one).await;
    std::fs::remove_dir_all(server.directory().join("workspaces").join(one.to_string())).expect("removed");
    let count = "run: ls *.txt | wc -l";
    let (first, second) = tokio::join!(client.run(one, count), client.run(two, count));
    for told in [said(&first), said(&second)] {
        assert!(told.contains("200"), "{told}");
    }
}

#[tokio::test]
async fn the_last_session_takes_the_workspace_with_it() {
    let server = TestServer::start().await;
    let client = server.admin();
    let (one, two) = pair(&client).await;
    client.run(one, "run: echo x > a.txt").await;
    let workspace = server.directory().join("workspaces").join(one.to_string());
    client.delete(&format!("/api/sessions/{one}")).await.expect(StatusCode::NO_CONTENT);
    assert!(workspace.exists(), "the other works in it");
    client.delete(&format!("/api/sessions/{two}")).await.expect(StatusCode::NO_CONTENT);
    assert!(!workspace.exists());
    let gone = client.post("/api/sessions", &json!({"workspaceId": one})).await;
    assert_eq!(gone.refusal(), (404, "NOT_FOUND"));
}

#[tokio::test]
async fn isolation_shuts_every_session_into_a_workspace_of_its_own() {
    let server = Setup::new().config("[sandbox]\nworkspace_isolation = true").start().await;
    let client = server.admin();
    let one = client.session_create().await;
    client.run(one, "run: echo mine > a.txt").await;
    for wanted in [json!({"workspaceId": one}), json!({"createWorkspace": false})] {
        let refused = client.post("/api/sessions", &wanted).await;
        assert_eq!(refused.refusal(), (403, "FORBIDDEN"), "{wanted}");
    }
    let made =
        client.post("/api/sessions", &json!({"createWorkspace": true})).await.expect(StatusCode::CREATED);
    assert_eq!(made["workspaceId"], made["sessionId"]);
    let two: SessionId = made["sessionId"].as_str().expect("an id").parse().expect("an id");
    let told = said(&client.run(two, "run: ls /workspace").await);
    assert!(!told.contains("a.txt"), "{told}");
}
