//! Bytes in a bucket: nothing of a version is in the data directory, and all of it comes back.

use std::collections::HashSet;

use bytes::Bytes;
use futures::TryStreamExt as _;
use object_store::ObjectStore as _;
use reqwest::StatusCode;
use serde_json::json;
use warren_domain::{Partition, Timestamp};
use warren_env::{Env, Tasks};
use warren_snapshots::Storage;
use warren_store::{blobs_on, conformance};
use warren_testkit::{Setup, TestClient, TestPostgres};

use super::{build, session::said};
use crate::bucket::Bucket;

/// What makes a server keep its bytes in the bucket.
fn with_bucket(setup: Setup, bucket: &Bucket) -> Setup {
    setup
        .config(&format!("[storage]\nblobs_url = \"{}\"", bucket.url()))
        .variable("AWS_ACCESS_KEY_ID", &bucket.s3.access_key_id)
        .variable("AWS_SECRET_ACCESS_KEY", &bucket.s3.secret_access_key)
}

#[tokio::test]
async fn blobs_in_a_bucket_keep_the_contract() {
    let Some(bucket) = Bucket::open() else { return };
    let (directory, tasks) = (tempfile::tempdir().expect("a directory"), Tasks::new());
    let mut store = warren_store::scratch(directory.path(), Env::system(), &tasks).await.expect("it opens");
    store.blobs = blobs_on(Storage::S3(bucket.s3.clone()).beside("blobs").expect("opens"));
    let rules: Vec<_> =
        conformance::rules().into_iter().filter(|rule| rule.name().starts_with("blobs::")).collect();
    assert!(!rules.is_empty());
    for rule in rules {
        rule.check(&store).await;
    }
    tasks.cancel();
}

#[tokio::test]
async fn blob_in_a_bucket_is_as_old_as_its_last_put() {
    let Some(bucket) = Bucket::open() else { return };
    let objects = Storage::S3(bucket.s3.clone()).beside("blobs").expect("opens");
    let (blobs, partition) = (blobs_on(objects.clone()), Partition::from("p"));
    let put = async || {
        blobs.put_blob(&partition, Bytes::from_static(b"the same bytes")).await.expect("it is kept");
        let listed: Vec<_> = objects.list(None).try_collect().await.expect("lists");
        Timestamp::from_millis(listed[0].last_modified.timestamp_millis())
    };
    let sweep = async |since| blobs.sweep_blobs(&partition, &HashSet::new(), since).await.expect("sweeps");
    let first = put().await;
    // The bucket's clock may be a coarse one.
    let mut last = put().await;
    for _ in 0..10_000 {
        if last > first {
            break;
        }
        last = put().await;
    }
    assert!(last > first, "no put counted as a newer one");
    assert_eq!(sweep(first).await, 0);
    assert_eq!(sweep(last).await, 1);
}

#[tokio::test]
async fn versions_and_blobs_are_in_the_bucket_and_a_session_comes_back_from_it() {
    let Some(bucket) = Bucket::open() else { return };
    let server = with_bucket(Setup::new(), &bucket).start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: mkdir a && printf kept > a/b.txt").await;
    let stop = format!("/api/sessions/{session}/sandbox/stop");
    client.post(&stop, &json!({})).await.expect(StatusCode::NO_CONTENT);
    let names = bucket.names().await;
    for place in ["a/b/trees/p-default/packs/", "a/b/blobs/p-default%23calls-"] {
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
    let Some(bucket) = Bucket::open() else { return };
    let Some(postgres) = TestPostgres::new().await else { return };
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

#[tokio::test]
async fn server_whose_blob_storage_belongs_to_another_database_does_not_start() {
    let mut server = Setup::new().start().await;
    let id = server.directory().join("blobs/storage-id");
    server.stop().await;
    let own = std::fs::read_to_string(&id).expect("the storage has an id");
    for others in [Some("another\n"), None] {
        match others {
            Some(others) => std::fs::write(&id, others).expect("written"),
            None => std::fs::remove_file(&id).expect("removed"),
        }
        let complaints = server.restart_refused().await;
        assert!(complaints.contains("does not belong to this database"), "{complaints}");
        assert!(complaints.contains(own.trim()), "the hint names the right id: {complaints}");
    }
    std::fs::write(&id, &own).expect("written");
    server.restart().await;
    let doctor = server.admin().get("/api/doctor").await.expect(StatusCode::OK);
    let warnings = doctor["warnings"].as_array().expect("warnings");
    assert!(
        warnings.iter().all(|warning| warning["hint"].as_str().is_some_and(|hint| hint.contains("_API_KEY")))
    );
}

#[tokio::test]
async fn message_count_of_a_token_is_removed_with_the_token() {
    let mut server = Setup::new().start().await;
    let admin = server.admin();
    let session = admin.session_create().await;
    let new = |owner: Option<&str>| json!({"name": "t", "scope": "admin", "plan": "unpaid", "owner": owner});
    let mut tokens = Vec::new();
    for owner in [None, Some("bob"), None] {
        let made = admin.post("/api/tokens", &new(owner)).await.expect(StatusCode::CREATED);
        admin.with_token(made["secret"].as_str().expect("a secret")).run(session, "hello").await;
        tokens.push(made["tokenId"].as_str().expect("an id").to_owned());
    }
    for token in &tokens[..2] {
        admin.delete(&format!("/api/tokens/{token}")).await.expect(StatusCode::NO_CONTENT);
    }
    server.stop().await;
    let tasks = Tasks::new();
    let database = warren_store::Database::Sqlite(server.directory().join("warren.db"));
    let options = warren_store::Options { database, blobs_dir: server.directory().join("blobs") };
    let store = warren_store::open(options, Env::system(), &tasks).await.expect("it opens");
    let mut counted = Vec::new();
    for owner in [&tokens[0], "bob", &tokens[2]] {
        let account = format!("default/{owner}");
        counted.push(store.tokens.counted(&account, Timestamp::default()).await.expect("it is read"));
    }
    assert_eq!(counted, [0, 1, 1], "what a named owner has sent is not forgotten with a token");
    tasks.cancel();
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
