//! Files that people move, rename and remove, and directories they make: through the whole server and real sandboxes.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use warren_domain::SessionId;
use warren_testkit::{TestAnswer, TestClient, TestServer};

use super::{session::said, versions::of};

async fn paths(client: &TestClient, session: SessionId, directory: &str) -> Vec<String> {
    let listed = client.get(&of(session, &format!("fs?path={directory}"))).await.expect(StatusCode::OK);
    let entries = listed["entries"].as_array().expect("a list").iter();
    entries.map(|entry| entry["path"].as_str().expect("a path").to_owned()).collect()
}

async fn relocate(client: &TestClient, session: SessionId, from: &str, to: &str) -> TestAnswer {
    client.post(&of(session, "fs/move"), &json!({"from": from, "to": to})).await
}

async fn mkdir(client: &TestClient, session: SessionId, path: &str) -> TestAnswer {
    client.post(&of(session, &format!("fs/mkdir?path={path}")), &json!({})).await
}

async fn put(client: &TestClient, session: SessionId, path: &str, body: &str) -> Value {
    let request = client.request(Method::PUT, &of(session, &format!("fs?path={path}"))).body(body.to_owned());
    client.send(request).await.expect(StatusCode::OK)
}

fn told(log: &[warren_testkit::TestEvent]) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let changes = log.iter().filter(|event| event.kind() == "file_changed");
    changes.map(|event| (text(&event.json["change"]), text(&event.json["path"]))).collect()
}

#[tokio::test]
async fn what_a_person_moves_is_told_is_in_the_next_version_and_is_done_while_the_sandbox_sleeps() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: mkdir -p a/deep && printf 1 > a/one.txt && printf 2 > a/deep/two.txt").await;
    client.post(&of(session, "sandbox/stop"), &json!({})).await.expect(StatusCode::NO_CONTENT);
    let before = told(&client.log(session).await).len();

    let moved = relocate(&client, session, "a", "b/c").await.expect(StatusCode::OK);
    assert_eq!(
        (&moved["path"], &moved["name"], &moved["kind"]),
        (&json!("b/c"), &json!("c"), &json!("directory"))
    );
    assert_eq!(paths(&client, session, "b/c").await, ["b/c/deep", "b/c/one.txt"]);
    let renamed = relocate(&client, session, "b/c/one.txt", "b/c/first.txt").await.expect(StatusCode::OK);
    assert_eq!((&renamed["path"], &renamed["sizeBytes"]), (&json!("b/c/first.txt"), &json!(1)));
    let mut changes = told(&client.log(session).await).split_off(before);
    changes.sort();
    let change = |change: &str, path: &str| (change.to_owned(), path.to_owned());
    assert_eq!(
        changes,
        [
            change("created", "b/c/deep/two.txt"),
            change("created", "b/c/first.txt"),
            change("created", "b/c/one.txt"),
            change("deleted", "a/deep/two.txt"),
            change("deleted", "a/one.txt"),
            change("deleted", "b/c/one.txt"),
        ]
    );
    let seen = client.run(session, "run: cat b/c/first.txt b/c/deep/two.txt; ls").await;
    assert!(said(&seen).contains("12"), "{}", said(&seen));
    let versions = client.get(&of(session, "versions")).await.expect(StatusCode::OK);
    assert_eq!(versions["versions"][1]["cause"], "edited", "what a person did is in no run's version");
}

#[tokio::test]
async fn nothing_is_replaced_lost_or_moved_out_by_a_move() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client
        .run(
            session,
            "run: mkdir -p d/e && printf 1 > one && printf 2 > two && ln -s /etc link && ln -s one alias",
        )
        .await;
    put(&client, session, "/user-input/in.csv", "1,2").await;
    for (from, to, refusal) in [
        ("one", "two", (409, "CONFLICT")),
        ("d", "two", (409, "CONFLICT")),
        ("one", "d", (409, "CONFLICT")),
        ("one", "two/one", (409, "CONFLICT")),
        ("one", "one", (409, "CONFLICT")),
        ("absent", "x", (404, "NOT_FOUND")),
        ("d", "d/e/f", (400, "BAD_REQUEST")),
        ("one", "link/one", (400, "BAD_REQUEST")),
        ("link/passwd", "passwd", (400, "BAD_REQUEST")),
        ("one", "../one", (400, "BAD_REQUEST")),
        ("one", "/etc/one", (400, "BAD_REQUEST")),
        ("one", "/user-input/one", (400, "BAD_REQUEST")),
        ("/user-input/in.csv", "in.csv", (400, "BAD_REQUEST")),
        ("/knowledge/a", "/knowledge/b", (403, "FORBIDDEN")),
        ("outputs", "out", (400, "BAD_REQUEST")),
        ("", "all", (400, "BAD_REQUEST")),
        ("one", "", (400, "BAD_REQUEST")),
        ("/user-input/in.csv", "/user-input/node_modules/in.csv", (400, "BAD_REQUEST")),
    ] {
        let refused = relocate(&client, session, from, to).await;
        assert_eq!(refused.refusal(), refusal, "{from} to {to}: {}", refused.body);
    }
    assert_eq!(paths(&client, session, "").await, ["d", "outputs", "alias", "link", "one", "two"]);
    relocate(&client, session, "alias", "d/alias").await.expect(StatusCode::OK);
    let linked = client.run(session, "run: readlink d/alias; cat one two").await;
    assert!(
        said(&linked).contains("one") && said(&linked).contains("12"),
        "a link is moved, and not what it names"
    );
    relocate(&client, session, "/user-input/in.csv", "/user-input/data/out.csv").await.expect(StatusCode::OK);
    let deeper = relocate(&client, session, "/user-input/data", "/user-input/a/b/data").await;
    assert_eq!(deeper.refusal(), (400, "BAD_REQUEST"), "what cannot be counted is not there");
    assert_eq!(paths(&client, session, "/user-input/data").await, ["/user-input/data/out.csv"]);
}

#[tokio::test]
async fn a_file_that_was_written_meanwhile_is_neither_moved_nor_removed() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let old = put(&client, session, "a.txt", "mine").await["etag"].as_str().expect("a tag").to_owned();
    client.run(session, "run: printf theirs > a.txt").await;
    let remove = async |tag: &str| {
        let request = client.request(Method::DELETE, &of(session, "fs?path=a.txt")).header("if-match", tag);
        client.send(request).await
    };
    let rename = async |tag: &str| {
        let request = client.request(Method::POST, &of(session, "fs/move")).header("if-match", tag);
        client.send(request.json(&json!({"from": "a.txt", "to": "b.txt"}))).await
    };
    assert_eq!(remove(&old).await.refusal(), (412, "PRECONDITION_FAILED"));
    assert_eq!(rename(&old).await.refusal(), (412, "PRECONDITION_FAILED"));
    assert_eq!(paths(&client, session, "").await, ["outputs", "a.txt"]);
    let read = client.get(&of(session, "fs/read?path=a.txt")).await;
    let new = read.headers["etag"].to_str().expect("text").to_owned();
    assert_eq!(rename(&new).await.expect(StatusCode::OK)["path"], "b.txt");
    assert_eq!(remove(&new).await.refusal(), (412, "PRECONDITION_FAILED"), "it is not there any more");
    let gone = client.delete(&of(session, "fs?path=b.txt")).await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn a_directory_is_made_with_those_above_it_is_kept_and_is_removed_with_what_is_in_it() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let made = mkdir(&client, session, "new/inner").await.expect(StatusCode::OK);
    assert_eq!((&made["path"], &made["kind"]), (&json!("new/inner"), &json!("directory")));
    mkdir(&client, session, "new/inner").await.expect(StatusCode::OK);
    put(&client, session, "file", "x").await;
    for path in ["file", "file/sub"] {
        let refused = mkdir(&client, session, path).await;
        assert_eq!(refused.refusal(), (409, "CONFLICT"), "{path}: {}", refused.body);
    }
    for (path, refusal) in [
        ("../x", (400, "BAD_REQUEST")),
        ("/etc/x", (400, "BAD_REQUEST")),
        ("/knowledge/x", (403, "FORBIDDEN")),
        ("/user-input/node_modules", (400, "BAD_REQUEST")),
    ] {
        assert_eq!(mkdir(&client, session, path).await.refusal(), refusal, "{path}");
    }
    client.post(&of(session, "snapshot"), &json!({})).await.expect(StatusCode::OK);
    let kept = client.get(&of(session, "versions/1/files?path=new")).await.expect(StatusCode::OK);
    assert_eq!(kept["entries"][0]["path"], "new/inner", "an empty directory is in versions too");
    let gone = client.delete(&of(session, "fs?path=new")).await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    assert_eq!(paths(&client, session, "").await, ["outputs", "file"]);
}

#[tokio::test]
async fn commands_move_make_and_remove_files() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    put(&client, session, "a.txt", "x").await;
    let call = async |arguments: &[&str]| {
        let output = server.command(arguments).output().await.expect("the command ends");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    assert_eq!(call(&["files", "mkdir", "last", "docs/old"]).await, (Some(0), String::new(), String::new()));
    let (code, moved, _) = call(&["files", "mv", "last", "a.txt", "docs/old/b c.txt", "--json"]).await;
    let moved: Value = serde_json::from_str(&moved).expect("JSON");
    assert_eq!((code, &moved["path"]), (Some(0), &json!("docs/old/b c.txt")));
    let (code, _, complained) = call(&["files", "mv", "last", "docs/old", "docs/old/in"]).await;
    assert_eq!((code, complained.contains("cannot be moved into itself")), (Some(1), true), "{complained}");
    assert_eq!(call(&["files", "rm", "last", "docs"]).await.0, Some(0));
    assert_eq!(paths(&client, session, "").await, ["outputs"]);
}

#[tokio::test]
async fn unsaved_files_are_listed_against_the_latest_version_and_a_rename_is_one_change() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let unsaved = async |more: &str| client.get(&of(session, &format!("fs/changes{more}"))).await;
    assert_eq!(unsaved("").await.expect(StatusCode::OK), json!({"version": 0, "changes": []}));
    client.run(session, "run: printf 1 > a.txt && printf 22 > b.txt && printf 333 > c.txt").await;
    assert_eq!(unsaved("").await.expect(StatusCode::OK), json!({"version": 1, "changes": []}));

    relocate(&client, session, "a.txt", "z.txt").await.expect(StatusCode::OK);
    put(&client, session, "b.txt", "other").await;
    put(&client, session, "new.txt", "new").await;
    client
        .send(client.request(Method::DELETE, &of(session, "fs?path=c.txt")))
        .await
        .expect(StatusCode::NO_CONTENT);
    let all = json!([
        {"path": "b.txt", "change": "modified"},
        {"path": "c.txt", "change": "deleted"},
        {"path": "new.txt", "change": "created"},
        {"path": "z.txt", "change": "created", "movedFrom": "a.txt"},
    ]);
    let found = unsaved("").await.expect(StatusCode::OK);
    assert_eq!(found, json!({"version": 1, "changes": all}));
    let part = unsaved("?limit=2&cursor=b.txt").await.expect(StatusCode::OK);
    assert_eq!(part, json!({"version": 1, "changes": [all[1], all[2]], "nextCursor": "new.txt"}));

    let made = client.post(&of(session, "snapshot"), &json!({})).await.expect(StatusCode::OK);
    assert_eq!(unsaved("").await.expect(StatusCode::OK), json!({"version": made["version"], "changes": []}));
}
