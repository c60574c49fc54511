//! Bytes in a bucket: nothing of a version is in the data directory, and all of it comes back.

use reqwest::StatusCode;
use serde_json::json;
use warren_testkit::{Setup, TestClient, TestPostgres};

use super::{build, session::said};
use crate::bucket::Bucket;

/// What makes a server keep its bytes in the bucket.
fn with_bucket(setup: Setup, bucket: &Bucket) -> Setup {
    let endpoint = bucket.s3.endpoint.clone().expect("an address");
    let url = format!("s3://bucket/some/where?region=nowhere-1&endpoint={endpoint}");
    setup
        .config(&format!("[storage]\nblobs_url = \"{url}\""))
        .variable("AWS_ACCESS_KEY_ID", "key")
        .variable("AWS_SECRET_ACCESS_KEY", "secret")
}

#[tokio::test]
async fn versions_and_blobs_are_in_the_bucket_and_a_session_comes_back_from_it() {
    let bucket = Bucket::start().await;
    let server = with_bucket(Setup::new(), &bucket).start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: mkdir a && printf kept > a/b.txt").await;
    let stop = format!("/api/sessions/{session}/sandbox/stop");
    client.post(&stop, &json!({})).await.expect(StatusCode::NO_CONTENT);
    let names = bucket.names();
    for place in ["some/where/trees/p-default/packs/", "some/where/blobs/p-default%2523calls-"] {
        assert!(names.iter().any(|name| name.starts_with(place)), "{place}: {names:?}");
    }
    assert!(!server.directory().join("trees/trees").exists(), "no pack is in the data directory");

    for place in ["sessions", "workspaces"] {
        std::fs::remove_dir_all(server.directory().join(place).join(session.to_string())).expect("removed");
    }
    let read = client.get(&format!("/api/sessions/{session}/fs/read?path=a/b.txt")).await;
    assert_eq!(read.expect(StatusCode::OK), json!("kept"));
    let again = client.run(session, "run: cat a/b.txt").await;
    assert!(said(&again).contains("kept"), "{}", said(&again));
}

/// Two machines: nothing in common but the database and the bucket. A session goes from one to the other and back, and each
/// has its latest files, though the first still has a directory with older ones.
#[tokio::test]
async fn a_session_goes_from_one_server_to_another_and_back_by_the_database_and_the_bucket() {
    let Some(postgres) = TestPostgres::new().await else { return };
    let bucket = Bucket::start().await;
    let start = || {
        let setup = Setup::new().variable("WARREN_STORAGE_DATABASE_URL", &postgres.url());
        with_bucket(setup, &bucket).start()
    };
    let (mut first, mut second) = (start().await, start().await);
    let (one, two) = (first.admin(), second.admin());
    let (session, _) = build::create(&one).await;
    add_line(&one, &session, "made here").await;
    // While the one has it, the other says where it is and does nothing.
    let body = json!({"content": "hi"});
    let path = format!("/api/build/sessions/{session}/messages");
    assert_eq!(two.post(&path, &body).await.refusal(), (409, "SESSION_ELSEWHERE"));
    leave(&one, &session).await;

    add_line(&two, &session, "gone on there").await;
    let note = format!("/api/build/sessions/{session}/fs/read?path=documents/note.md");
    assert_eq!(lines(&two, &note).await, ["made here", "gone on there"]);
    leave(&two, &session).await;

    add_line(&one, &session, "and back").await;
    assert_eq!(lines(&one, &note).await, ["made here", "gone on there", "and back"]);
    let artifacts = format!("/api/build/sessions/{session}/artifacts");
    let found =
        [one.get(&artifacts).await.expect(StatusCode::OK), two.get(&artifacts).await.expect(StatusCode::OK)];
    assert_eq!(found[0], found[1], "both tell of the same artifacts");
    assert!(found[0].to_string().contains("note.md"), "{}", found[0]);
    let history = two.get(&path).await.expect(StatusCode::OK).to_string();
    assert!(history.contains("gone on there") && history.contains("and back"), "{history}");
    first.stop().await;
    second.stop().await;
    postgres.remove().await;
}

async fn add_line(client: &TestClient, session: &str, line: &str) {
    let command = format!("run: mkdir -p outputs/documents && echo '{line}' >> outputs/documents/note.md");
    let packets = build::send(client, session, &command).await;
    assert_eq!(packets.last().expect("packets")["type"], "done", "{packets:#?}");
}

/// Whoever has it lets go of it.
async fn leave(client: &TestClient, session: &str) {
    client.post(&format!("/api/sessions/{session}/unload"), &json!({})).await.expect(StatusCode::OK);
}

async fn lines(client: &TestClient, path: &str) -> Vec<String> {
    let read = client.get(path).await.expect(StatusCode::OK);
    let text = read["content"].as_str().or(read.as_str()).expect("text").to_owned();
    text.lines().map(str::to_owned).collect()
}
