//! The whole server on PostgreSQL.

use reqwest::StatusCode;
use serde_json::json;
use warren_testkit::{Setup, TestPostgres};

use super::session::{assert_contiguous, said};

#[tokio::test]
async fn a_server_on_postgresql_runs_streams_survives_a_kill_and_reads_everything_back() {
    let Some(postgres) = TestPostgres::new().await else { return };
    let mut server = Setup::new().variable("WARREN_STORAGE_DATABASE_URL", &postgres.url()).start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let streamed = client.run(session, "Build me a dashboard of our sales").await;
    assert_eq!(streamed.last().expect("events").kind(), "run_completed");
    let log = client.log(session).await;
    assert_contiguous(&log);
    assert_eq!(log[log.len() - streamed.len()..], streamed[..], "what was streamed is what is stored");
    assert!(!server.directory().join("warren.db").exists(), "nothing is in SQLite");

    let (run, seq) = client.message_send(session, "count to 10000").await;
    let seen = client.events(session, seq).await.until(|event| event.kind() == "text_delta").await;
    server.kill().await;
    server.restart().await;
    let client = server.admin();
    let again = client.log(session).await;
    assert_contiguous(&again);
    assert_eq!(again[..log.len()], log[..]);
    for event in &seen {
        assert_eq!(again.get(event.seq.0 as usize - 1), Some(event), "an entry that was seen is gone");
    }
    let cut: Vec<_> = again.iter().filter(|event| event.ends_run(run)).collect();
    assert_eq!(cut.iter().map(|event| event.json["code"].clone()).collect::<Vec<_>>(), ["SERVER_RESTARTED"]);
    let next = client.run(session, "run: cat outputs/data/sales.csv | wc -l").await;
    assert_eq!(next.last().expect("events").kind(), "run_completed", "{}", said(&next));
    let list = client.get("/api/sessions").await.expect(StatusCode::OK);
    assert_eq!(list["sessions"][0]["sessionId"], json!(session));
    server.stop().await;
    postgres.remove().await;
}
