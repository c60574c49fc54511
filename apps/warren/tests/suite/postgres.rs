//! The whole server on PostgreSQL.

use std::{os::unix::fs::symlink, path::Path};

use reqwest::StatusCode;
use serde_json::{Value, json};
use warren_domain::{RunId, Seq};
use warren_testkit::{Setup, TestAnswer, TestPostgres};

use super::{
    session::{assert_contiguous, said},
    versions::{file, list, of},
};

/// How often two servers are sent a message for the same session at once.
const ROUNDS: u64 = 8;

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

#[tokio::test]
async fn server_on_postgresql_with_local_blobs_warns_and_a_second_one_does_not_start() {
    let Some(postgres) = TestPostgres::new().await else { return };
    let setup = Setup::new().variable("WARREN_STORAGE_DATABASE_URL", &postgres.url());
    let mut first = setup.clone().start().await;
    assert!(first.stderr().contains("storage.blobs_url"), "{}", first.stderr());
    let doctor = first.admin().get("/api/doctor").await.expect(StatusCode::OK);
    let warnings = doctor["warnings"].as_array().expect("warnings");
    let of_storage =
        |warning: &&Value| warning["hint"].as_str().expect("a hint").contains("storage.blobs_url");
    assert_eq!(warnings.iter().filter(of_storage).count(), 1, "{doctor:#}");

    let complaints = setup.start_refused().await;
    assert!(complaints.contains("does not belong to this database"), "{complaints}");
    assert!(complaints.contains("storage.blobs_url"), "{complaints}");
    // A single server may keep its blobs on its disk.
    first.restart().await;
    let session = first.admin().session_create().await;
    let events = first.admin().run(session, "run: true").await;
    assert_eq!(events.last().expect("events").kind(), "run_completed");
    first.stop().await;
    postgres.remove().await;
}

/// Gives the second server the first one's files, as a store that both reach would.
fn share(first: &Path, second: &Path) {
    for place in ["trees", "blobs"] {
        symlink(first.join(place), second.join(place)).expect("shared");
    }
}

/// Exactly one of two was taken; the other was refused as the documentation says. Says which was taken.
#[track_caller]
fn winner(answers: &[TestAnswer; 2]) -> usize {
    let is_taken = |answer: &TestAnswer| answer.status == StatusCode::ACCEPTED;
    let taken: Vec<usize> = (0..2).filter(|n| is_taken(&answers[*n])).collect();
    assert_eq!(taken.len(), 1, "{answers:#?}");
    let refusal = answers[1 - taken[0]].refusal();
    assert!([(409, "SESSION_ELSEWHERE"), (409, "VERSION_CONFLICT")].contains(&refusal), "{refusal:?}");
    taken[0]
}

#[tokio::test]
async fn of_two_servers_that_get_a_message_for_the_same_session_at_once_one_carries_it_out() {
    let Some(postgres) = TestPostgres::new().await else { return };
    let setup = Setup::new().variable("WARREN_STORAGE_DATABASE_URL", &postgres.url());
    let mut first = setup.clone().start().await;
    let mut second = setup.start_after(|directory| share(first.directory(), directory)).await;
    // Each made a token for its owner, and both count for both.
    let clients = [first.admin(), second.admin()];
    clients[0].with_token(second.token()).get("/api/sessions").await.expect(StatusCode::OK);
    let session = clients[0].session_create().await;
    let mut n_won = [0; 2];
    for version in 0..ROUNDS {
        let body = json!({"content": "run: echo line >> lines.txt", "baseVersion": version});
        let path = of(session, "messages");
        let (one, two) = tokio::join!(clients[0].post(&path, &body), clients[1].post(&path, &body));
        let answers = [one, two];
        let won = winner(&answers);
        n_won[won] += 1;
        let taken = &answers[won].body;
        let run: RunId = taken["runId"].as_str().expect("a run").parse().expect("an id");
        let mut events = clients[won].events(session, Seq(0)).await;
        let seen = events.until(|event| event.ends_run(run)).await;
        assert_eq!(seen.last().expect("events").kind(), "run_completed", "round {version}");
        // Whoever has it lets go of it, so that both can have it in the next round.
        clients[won].post(&of(session, "unload"), &json!({})).await.expect(StatusCode::OK);
    }
    println!("the first won {} times, the second {} times", n_won[0], n_won[1]);
    for client in &clients {
        assert_contiguous(&client.log(session).await);
        let all = list(client, session).await;
        assert_eq!(all["head"], json!({"version": ROUNDS, "dirty": false}));
        let numbers: Vec<_> =
            all["versions"].as_array().expect("versions").iter().map(|one| one["version"].clone()).collect();
        assert_eq!(
            numbers,
            (0..=ROUNDS).rev().map(|n| json!(n)).collect::<Vec<_>>(),
            "none twice, none lost"
        );
        let lines = "line\n".repeat(ROUNDS as usize);
        assert_eq!(file(client, session, ROUNDS, "lines.txt").await, (200, json!(lines)));
    }
    first.stop().await;
    second.stop().await;
    postgres.remove().await;
}
