//! What is read of versions, and by whom: compared, shown by commands, and never changed by what comes later.

use std::process::{Output, Stdio};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use warren_domain::SessionId;
use warren_testkit::{TestAnswer, TestClient, TestServer};

use super::versions::of;

async fn blocks(client: &TestClient, session: SessionId) -> Vec<Value> {
    let messages = client.get(&of(session, "messages")).await.expect(StatusCode::OK);
    messages["blocks"].as_array().expect("blocks").clone()
}

async fn output(server: &TestServer, arguments: &[&str]) -> (Option<i32>, String, String) {
    ended(server.command(arguments).output().await.expect("the command ends"))
}

fn ended(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[tokio::test]
async fn what_was_said_stays_when_a_session_goes_back_and_the_same_is_said_again() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: echo hi").await;
    client.run(session, "run: echo same").await;
    client.post(&of(session, "restore"), &json!({"version": 1})).await.expect(StatusCode::OK);
    let before = blocks(&client, session).await;
    client.run(session, "run: echo same").await;
    let after = blocks(&client, session).await;
    assert_eq!(after[..before.len()], before, "history stays as it was");
    let kinds: Vec<_> =
        after[before.len()..].iter().map(|block| block["type"].as_str().expect("a type")).collect();
    assert_eq!(kinds.first(), Some(&"user_message"));
    assert!(kinds.contains(&"tool_use") && kinds.last() == Some(&"assistant_text"), "{kinds:?}");
    let version = client.get(&of(session, "versions/4")).await.expect(StatusCode::OK);
    let diff = client.get(&of(session, "versions/4/diff")).await.expect(StatusCode::OK);
    assert_eq!(version["blocks"], json!(diff["blocks"].as_array().expect("blocks").len()));
}

#[tokio::test]
async fn a_file_of_a_version_is_answered_as_one_of_a_session_is() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: printf 0123456789 > a.txt").await;
    let path = of(session, "versions/1/file?path=a.txt");
    let get = async |headers: &[(&str, &str)]| -> TestAnswer {
        let request = client.request(Method::GET, &path);
        client
            .send(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)))
            .await
    };
    let whole = get(&[]).await;
    let tag = whole.headers["etag"].to_str().expect("text").to_owned();
    let part = get(&[("range", "bytes=2-4"), ("if-range", &tag)]).await;
    assert_eq!((part.status, &part.body), (StatusCode::PARTIAL_CONTENT, &json!(234)));
    let other = get(&[("range", "bytes=2-4"), ("if-range", "\"other\"")]).await;
    assert_eq!((other.status, &other.body), (StatusCode::OK, &whole.body));
    let beyond = get(&[("range", "bytes=10-")]).await;
    assert_eq!(beyond.refusal(), (416, "RANGE_NOT_SATISFIABLE"));
    assert_eq!(beyond.headers["content-range"], "bytes */10");
    for known in [tag.clone(), format!("W/{tag}"), "*".to_owned(), format!("\"x\", {tag}")] {
        assert_eq!(get(&[("if-none-match", &known)]).await.status, StatusCode::NOT_MODIFIED, "{known}");
    }
    for path in ["", "/", "/workspace", "/workspace/", "/user-input", "/home/agent"] {
        let listed = client.get(&of(session, &format!("versions/0/files?path={path}"))).await;
        assert_eq!(listed.expect(StatusCode::OK)["entries"], json!([]), "{path}");
    }
}

#[tokio::test]
async fn a_command_shows_what_differs_and_where_to_look_for_what_is_not_there() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: echo x > run.sh && head -c 600000 /dev/zero > zeros.bin").await;
    let (_, one, _) = output(&server, &["diff", "last", "0..1"]).await;
    assert!(one.contains("zeros.bin added\n(not text)\n"), "{one}");
    let forged = "printf 1 > $(printf 'a\\n+++ b/forged')";
    client
        .run(session, &format!("run: chmod 755 run.sh && touch empty && mkdir d && {forged} || true"))
        .await;
    let (code, two, _) = output(&server, &["diff", "last", "v2"]).await;
    assert_eq!(code, Some(0));
    assert!(two.contains("run.sh changed\n(mode 0644 → 0755)\n"), "{two}");
    assert!(two.contains("empty added\n(empty)\n"), "{two}");
    let (_, list, _) = output(&server, &["files", "list", "last"]).await;
    assert!(!list.lines().any(|line| line.starts_with("+++")), "{list}");

    let nobody = "01890000-0000-7000-8000-000000000000";
    let sessions = "sessions list`";
    let cases: [(&[&str], &str); 5] = [
        (&["versions", nobody], sessions),
        (&["files", "list", nobody], sessions),
        (&["files", "list", "nosuch"], "sessions list` lists sessions; `last` is the newest"),
        (&["restore", "last", "v99"], "versions SESSION`"),
        (&["diff", "last", "vv1"], "hint: a version is a number"),
    ];
    for (arguments, hint) in cases {
        let (code, _, complained) = output(&server, arguments).await;
        assert_eq!((code, complained.contains(hint)), (Some(1), true), "{arguments:?}: {complained}");
    }
}

#[tokio::test]
async fn an_upload_that_is_refused_fails_and_says_why() {
    let server = TestServer::start().await;
    server.admin().session_create().await;
    for n in 0..3 {
        let name = format!("big{n}");
        let mut command = server.command(&["files", "put", "last", &name, "--json"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut putting = command.spawn().expect("it starts");
        let mut stdin = putting.stdin.take().expect("a pipe");
        stdin.write_all(&vec![0; 60_000_000]).await.expect("it reads");
        drop(stdin);
        let (code, said, complained) = ended(putting.wait_with_output().await.expect("it ends"));
        assert_eq!((code, said.as_str()), (Some(1), ""), "{complained}");
        assert!(complained.contains("TOO_LARGE"), "{complained}");
    }
}

#[tokio::test]
async fn a_difference_of_many_files_is_listed_whole_counted_part_by_part_and_read_file_by_file() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let made = "run: mkdir -p many && cd many && for n in $(seq 1 1200); do printf 'a\\nb\\nc\\n' > f$n.txt; done && echo done";
    client.run(session, made).await;
    client.run(session, "run: cd many && for n in $(seq 1 1200); do printf 'a\\nB\\nc\\nd\\n' > f$n.txt; done; printf 'x\\0' > bin").await;
    let diff = async |query: &str| client.get(&of(session, &format!("versions/2/diff?{query}"))).await;

    let usual = diff("").await.expect(StatusCode::OK);
    assert_eq!((usual["files"].as_array().expect("files").len(), &usual["truncated"]), (500, &json!(true)));
    let listed = diff("lines=none").await.expect(StatusCode::OK);
    let all = listed["files"].as_array().expect("files").clone();
    assert_eq!((all.len(), &listed["truncated"]), (1201, &json!(null)), "every file, in one answer");
    assert!(
        all.iter().all(|file| file["diff"].is_null() && file["added"].is_null()),
        "and nothing of it was read"
    );
    assert!(!listed["blocks"].as_array().expect("blocks").is_empty());

    let (mut counted, mut after) = (Vec::new(), None::<String>);
    loop {
        let query =
            after.as_deref().map_or("lines=counts".to_owned(), |after| format!("lines=counts&after={after}"));
        let part = diff(&query).await.expect(StatusCode::OK);
        let files = part["files"].as_array().expect("files").clone();
        assert!((1..=500).contains(&files.len()), "{}", files.len());
        counted.extend(files);
        if part["truncated"] != true {
            break;
        }
        after = counted.last().and_then(|file| file["path"].as_str()).map(str::to_owned);
    }
    let path = |files: &[Value]| files.iter().map(|file| file["path"].clone()).collect::<Vec<_>>();
    assert_eq!(path(&counted), path(&all), "the parts together are the list");
    for file in &counted {
        let lines = (&file["added"], &file["removed"], &file["binary"], &file["diff"]);
        let expected = if file["path"] == "many/bin" {
            (json!(null), json!(null), json!(true))
        } else {
            (json!(2), json!(1), json!(false))
        };
        assert_eq!(lines, (&expected.0, &expected.1, &expected.2, &json!(null)), "{file}");
    }

    let one = diff("path=many/f7.txt").await.expect(StatusCode::OK);
    assert_eq!(
        one["files"].as_array().expect("files").iter().map(|file| &file["diff"]).collect::<Vec<_>>(),
        ["--- a/many/f7.txt\n+++ b/many/f7.txt\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n"]
    );
    assert_eq!(one["blocks"], json!([]));
    let two = diff("lines=none&limit=2").await.expect(StatusCode::OK);
    assert_eq!(
        (path(two["files"].as_array().expect("files")), &two["truncated"]),
        (path(&all[..2]), &json!(true))
    );
    assert_eq!(diff("path=absent").await.refusal(), (404, "NOT_FOUND"));
    assert_eq!(diff("after=absent").await.refusal(), (404, "NOT_FOUND"));
    assert_eq!(diff("path=many/f7.txt&after=many/f8.txt").await.refusal(), (400, "BAD_REQUEST"));
    assert_eq!(diff("lines=some").await.refusal(), (400, "BAD_REQUEST"));
}

#[tokio::test]
async fn a_long_file_is_shown_whole_when_it_is_asked_for_alone() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: seq 1 20000 > long.txt").await;
    let of_one = |diff: &Value| {
        let file = &diff["files"][0];
        (
            file["truncated"].clone(),
            file["added"].clone(),
            file["diff"].as_str().expect("a diff").lines().count(),
        )
    };
    let among = client.get(&of(session, "versions/1/diff")).await.expect(StatusCode::OK);
    let alone = client.get(&of(session, "versions/1/diff?path=long.txt")).await.expect(StatusCode::OK);
    assert_eq!(of_one(&alone), (json!(null), json!(20_000), 20_003));
    let (is_cut, added, n_lines) = of_one(&among);
    assert_eq!((is_cut, added), (json!(true), json!(20_000)));
    assert!(n_lines < 20_000, "{n_lines}");
}
