//! What projects know: filled by upload or by hand, read by agents in real sandboxes, changed by none of them.

use std::path::PathBuf;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use warren_domain::SessionId;
use warren_testkit::{Setup, TestAnswer, TestClient, TestServer};

use super::{input::second_project, session::said};

const PLACE: &str = "/api/projects/default/knowledge";

fn part(name: &str, content: &str) -> String {
    format!("--XX\r\ncontent-disposition: form-data; name=\"f\"; filename=\"{name}\"\r\n\r\n{content}\r\n")
}

async fn send_form(client: &TestClient, place: &str, body: String) -> TestAnswer {
    let request = client
        .request(Method::POST, place)
        .header("content-type", "multipart/form-data; boundary=XX")
        .body(body);
    client.send(request).await
}

async fn add(client: &TestClient, place: &str, files: &[(&str, &str)]) -> TestAnswer {
    let parts: String = files.iter().map(|(name, content)| part(name, content)).collect();
    send_form(client, place, format!("{parts}--XX--\r\n")).await
}

async fn paths(client: &TestClient, place: &str) -> Vec<String> {
    let listing = client.get(place).await.expect(StatusCode::OK);
    let files = listing["files"].as_array().expect("a list").iter();
    files.map(|file| file["path"].as_str().expect("a path").to_owned()).collect()
}

async fn project_of(client: &TestClient, session: SessionId) -> String {
    let detail = client.get(&format!("/api/sessions/{session}")).await.expect(StatusCode::OK);
    detail["projectId"].as_str().expect("an id").to_owned()
}

/// Where the default project's files lie.
async fn directory(server: &TestServer) -> PathBuf {
    let client = server.admin();
    let session = client.session_create().await;
    server.directory().join("knowledge/default").join(project_of(&client, session).await)
}

async fn token(client: &TestClient, scope: &str) -> TestClient {
    let made = client.post("/api/tokens", &json!({"name": "t", "scope": scope})).await;
    client.with_token(made.expect(StatusCode::CREATED)["secret"].as_str().expect("a secret"))
}

#[tokio::test]
async fn what_is_uploaded_is_read_by_agents_with_an_index_and_changed_by_none() {
    let server = TestServer::start().await;
    let client = server.admin();
    let place = format!("{PLACE}?path=guides");
    let added = add(&client, &place, &[("setup.md", "# How to set it up\nsteps"), ("x.csv", "a,b")]).await;
    let added = added.expect(StatusCode::CREATED);
    assert_eq!(added["files"][0]["path"], "guides/setup.md");
    let listing = client.get(PLACE).await.expect(StatusCode::OK);
    assert_eq!((&listing["sizeBytes"], &listing["maxBytes"]), (&json!(27), &json!(1_073_741_824)));
    assert_eq!(paths(&client, PLACE).await, ["guides/setup.md", "guides/x.csv"]);

    let session = client.session_create().await;
    let read = "run: cat /knowledge/INDEX.md /knowledge/guides/setup.md";
    let told = said(&client.run(session, read).await);
    assert!(told.contains("- `guides/setup.md` (24 B): How to set it up"), "{told}");
    assert!(told.contains("steps"), "{told}");
    let spoil = "run: for f in /knowledge/INDEX.md /knowledge/guides/setup.md /knowledge/new; do \
                 (echo spoilt > $f) 2>/dev/null && echo written; rm -f $f 2>/dev/null && echo removed; done; \
                 cat /knowledge/guides/setup.md; ls -A /knowledge";
    let told = said(&client.run(session, spoil).await);
    assert!(!told.contains("written\n") && told.contains("steps"), "{told}");
    assert_eq!(paths(&client, PLACE).await, ["guides/setup.md", "guides/x.csv"]);

    // A sandbox that runs sees what comes and what goes.
    add(&client, PLACE, &[("late.txt", "came late")]).await.expect(StatusCode::CREATED);
    let told =
        said(&client.run(session, "run: cat /knowledge/late.txt; grep -c late /knowledge/INDEX.md").await);
    assert!(told.contains("came late") && told.contains('1'), "{told}");
    add(&client, PLACE, &[("late.txt", "came again")]).await.expect(StatusCode::CREATED);
    client.delete(&format!("{PLACE}?path=guides")).await.expect(StatusCode::NO_CONTENT);
    let told = said(&client.run(session, "run: cat /knowledge/late.txt; ls /knowledge").await);
    assert!(told.contains("came again") && !told.contains("guides"), "{told}");
}

#[tokio::test]
async fn what_the_operator_put_there_gets_an_index_and_the_operators_own_stays() {
    let server = TestServer::start().await;
    let client = server.admin();
    let own = directory(&server).await;
    std::fs::create_dir_all(&own).expect("made");
    std::fs::write(own.join("facts.md"), "intro\n# All the facts\n").expect("written");
    let session = client.session_create().await;
    let told = said(&client.run(session, "run: cat /knowledge/INDEX.md").await);
    assert!(told.contains("`facts.md` (22 B): All the facts"), "{told}");
    std::fs::write(own.join("INDEX.md"), "ask Ada\n").expect("written");
    add(&client, PLACE, &[("more.md", "# More")]).await.expect(StatusCode::CREATED);
    let told = said(&client.run(session, "run: cat /knowledge/INDEX.md").await);
    assert!(told.contains("ask Ada") && !told.contains("More"), "{told}");
}

#[tokio::test]
async fn an_upload_that_is_wrong_too_large_or_a_trick_leaves_nothing() {
    let server = Setup::new().config("[knowledge]\nmax_bytes = 100\n").start().await;
    let client = server.admin();
    add(&client, PLACE, &[("kept.md", "# Kept")]).await.expect(StatusCode::CREATED);
    let before = tree(&server);
    let much = "x".repeat(95);
    let too_large = add(&client, PLACE, &[("a", "1"), ("b", &much)]).await;
    assert_eq!(too_large.refusal(), (413, "TOO_LARGE"));
    assert!(too_large.body["detail"].as_str().expect("a text").contains("100 bytes"), "{:?}", too_large.body);
    let alone = "x".repeat(101);
    assert_eq!(add(&client, PLACE, &[("a", "1"), ("b", &alone)]).await.refusal(), (413, "TOO_LARGE"));

    let forms = [
        ("no end", part("a", "x")),
        (
            "no file name",
            "--XX\r\ncontent-disposition: form-data; name=\"f\"\r\n\r\nx\r\n--XX--\r\n".to_owned(),
        ),
        ("nothing in it", "--XX--\r\n".to_owned()),
        ("no form", "hello".to_owned()),
        ("twice", format!("{}{}--XX--\r\n", part("a", "1"), part("a", "2"))),
    ];
    for (what, form) in forms {
        assert_eq!(send_form(&client, PLACE, form).await.refusal(), (400, "BAD_REQUEST"), "{what}");
    }
    let json = client.post(PLACE, &json!({})).await;
    assert_eq!(json.refusal(), (415, "UNSUPPORTED_MEDIA_TYPE"));
    for name in ["../up", "/etc/passwd", "a/b", "..", ".hidden", "a\u{1}b"] {
        let refused = add(&client, PLACE, &[("good", "1"), (name, "x")]).await;
        assert_eq!(refused.refusal(), (400, "BAD_REQUEST"), "{name:?}");
    }
    for path in ["..", "../..", "/etc", "/workspace", "a/../../b", ".git", "a%00b", "a%5Cb"] {
        let refused = add(&client, &format!("{PLACE}?path={path}"), &[("good", "1")]).await;
        assert_eq!(refused.refusal(), (400, "BAD_REQUEST"), "{path}");
        let refused = client.delete(&format!("{PLACE}?path={path}")).await;
        assert_eq!(refused.refusal(), (400, "BAD_REQUEST"), "{path}");
    }
    assert_eq!(client.delete(PLACE).await.refusal(), (400, "BAD_REQUEST"), "all at once is not one file");
    assert_eq!(client.delete(&format!("{PLACE}?path=absent")).await.refusal(), (404, "NOT_FOUND"));
    let index = client.delete(&format!("{PLACE}?path=INDEX.md")).await;
    assert_eq!(index.refusal(), (409, "CONFLICT"));
    assert_eq!(tree(&server), before, "nothing of it stays, not even where it was written first");
}

/// Everything beneath the directory of all projects.
fn tree(server: &TestServer) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![server.directory().join("knowledge")];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn who_may_only_read_changes_nothing_and_another_project_sees_nothing() {
    let mut server = TestServer::start().await;
    server.stop().await;
    let other = second_project(&server).await;
    server.restart().await;
    let client = server.admin();
    add(&client, PLACE, &[("ours.md", "# Ours")]).await.expect(StatusCode::CREATED);
    let session = client.session_create().await;
    let project = project_of(&client, session).await;
    let place = format!("/api/projects/{project}/knowledge");
    assert_eq!(paths(&client, &place).await, ["ours.md"], "the default project by its id");

    let reader = token(&client, &format!("project:{project}:ro")).await;
    assert_eq!(paths(&reader, &place).await, ["ours.md"]);
    assert_eq!(add(&reader, &place, &[("x", "x")]).await.refusal(), (403, "FORBIDDEN"));
    assert_eq!(reader.delete(&format!("{place}?path=ours.md")).await.refusal(), (403, "FORBIDDEN"));

    let stranger = token(&client, &format!("project:{other}")).await;
    assert_eq!(stranger.get(&place).await.refusal(), (404, "NOT_FOUND"));
    assert_eq!(add(&stranger, &place, &[("x", "x")]).await.refusal(), (404, "NOT_FOUND"));
    assert_eq!(stranger.delete(&format!("{place}?path=ours.md")).await.refusal(), (404, "NOT_FOUND"));
    // `default` is the token's own.
    add(&stranger, PLACE, &[("theirs.md", "# Theirs")]).await.expect(StatusCode::CREATED);
    assert_eq!(paths(&stranger, PLACE).await, ["theirs.md"]);
    assert_eq!(paths(&client, PLACE).await, ["ours.md"]);
    let made = stranger.session_create().await;
    let told = said(&stranger.run(made, "run: ls /knowledge").await);
    assert!(told.contains("theirs.md") && !told.contains("ours.md"), "{told}");
}

#[tokio::test]
async fn the_command_line_adds_lists_and_removes() {
    let server = TestServer::start().await;
    let file = server.directory().join("notes.md");
    std::fs::write(&file, "# Notes\n").expect("written");
    let output = async |arguments: &[&str]| {
        let output = server.command(arguments).output().await.expect("the command ends");
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code(), stdout.into_owned(), stderr.into_owned())
    };
    let file = file.to_str().expect("a path");
    let (code, added, complaint) = output(&["knowledge", "add", file, "--to", "a/b", "--json"]).await;
    assert_eq!(code, Some(0), "{complaint}");
    let added: Value = serde_json::from_str(&added).expect("JSON");
    assert_eq!(added["files"][0]["path"], "a/b/notes.md");
    let (_, listed, _) = output(&["knowledge", "list"]).await;
    assert!(listed.contains("a/b/notes.md") && listed.contains("1 file, 8 B of 1.0 GB"), "{listed}");
    let (_, listed, _) = output(&["knowledge", "list", "--json"]).await;
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!(listed["sizeBytes"], 8);
    assert_eq!(output(&["knowledge", "rm", "a/b/notes.md"]).await.0, Some(0));
    let (code, _, complaint) = output(&["knowledge", "rm", "a/b/notes.md"]).await;
    assert_eq!(code, Some(1));
    assert!(complaint.contains("a/b/notes.md"), "{complaint}");
    let (code, _, complaint) = output(&["knowledge", "add", "/etc"]).await;
    assert_eq!(code, Some(1));
    assert!(complaint.contains("is a directory"), "{complaint}");
}
