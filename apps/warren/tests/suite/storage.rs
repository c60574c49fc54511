//! Bytes in a bucket: nothing of a version is in the data directory, and all of it comes back.

use reqwest::StatusCode;
use serde_json::json;
use warren_testkit::Setup;

use super::session::said;
use crate::bucket::Bucket;

#[tokio::test]
async fn versions_and_blobs_are_in_the_bucket_and_a_session_comes_back_from_it() {
    let bucket = Bucket::start().await;
    let endpoint = bucket.s3.endpoint.clone().expect("an address");
    let url = format!("s3://bucket/some/where?region=nowhere-1&endpoint={endpoint}");
    let server = Setup::new()
        .config(&format!("[storage]\nblobs_url = \"{url}\""))
        .variable("AWS_ACCESS_KEY_ID", "key")
        .variable("AWS_SECRET_ACCESS_KEY", "secret")
        .start()
        .await;
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
