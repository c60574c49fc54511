//! The server is killed at any moment.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use warren_domain::{Seq, SessionId};
use warren_testkit::{Seed, Setup, TestClient, TestEvent, TestServer};

use super::session::{assert_contiguous, folded};

/// How often the server is killed. Each time at another moment of a run.
const KILLS: u64 = 12;
/// How often it is killed while it makes a session of another one's past.
const MAKINGS: u64 = 12;
/// The run has about this many entries.
const ENTRIES: u64 = 90;

/// Reads what a client sees until the server is gone.
async fn seen_until_killed(
    server: &mut TestServer,
    session: warren_domain::SessionId,
    n_events: usize,
) -> Vec<TestEvent> {
    let client = server.admin();
    let (_, seq) = client.message_send(session, "Build me a dashboard of our sales").await;
    let mut events = client.events(session, Seq(seq.0 - 1)).await;
    let mut seen = Vec::new();
    while seen.len() < n_events
        && let Some(event) = events.next().await
    {
        seen.push(event);
    }
    server.kill().await;
    while let Some(event) = events.next().await {
        seen.push(event);
    }
    seen
}

fn n_ended(log: &[TestEvent]) -> usize {
    log.iter().filter(|event| ["run_completed", "run_failed"].contains(&event.kind())).count()
}

/// The log when so many runs have ended: one that waited when the server was killed is carried out by the next.
async fn ended_log(server: &TestServer, session: warren_domain::SessionId, n_runs: usize) -> Vec<TestEvent> {
    for _ in 0..600 {
        let log = server.admin().log(session).await;
        if n_ended(&log) >= n_runs {
            return log;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    server.admin().log(session).await
}

#[tokio::test]
async fn a_server_killed_at_any_moment_loses_nothing_a_client_saw_and_goes_on() {
    let mut seed = Seed::new();
    let mut server = Setup::new().variable("WARREN_MODELS_DEMO_DELAY_MILLISECONDS", "2").start().await;
    let session = server.admin().session_create().await;
    let mut known: Vec<TestEvent> = Vec::new();
    for n in 0..KILLS {
        let n_events = 1 + seed.below(ENTRIES) as usize;
        let seen = seen_until_killed(&mut server, session, n_events).await;
        server.restart().await;
        let log = ended_log(&server, session, n as usize + 1).await;
        assert_contiguous(&log);
        for event in known.iter().chain(&seen) {
            assert_eq!(
                log.get(event.seq.0 as usize - 1),
                Some(event),
                "kill {n}: an entry that was seen is gone"
            );
        }
        let runs: Vec<_> = log.iter().filter(|event| event.kind() == "run_started").collect();
        assert_eq!(n_ended(&log), runs.len(), "kill {n}: no run stays open");
        let open = folded(&log).main().iter().filter(|block| block.cut_short().is_some()).count();
        assert_eq!(open, 0, "kill {n}: no block stays open");
        known = log;
    }
    let events = server.admin().run(session, "run: echo still here").await;
    assert_eq!(events.last().expect("events").kind(), "run_completed");
}

/// All sessions that are listed. Each has a version to begin with, and files to be read.
async fn whole_sessions(client: &TestClient, what: &str) -> Vec<String> {
    let listed = client.get("/api/sessions?limit=100").await.expect(StatusCode::OK);
    let sessions = listed["sessions"].as_array().expect("sessions").iter();
    let ids: Vec<String> = sessions.map(|one| one["sessionId"].as_str().expect("an id").to_owned()).collect();
    for id in &ids {
        for path in ["versions/0", "fs"] {
            let answer = client.get(&format!("/api/sessions/{id}/{path}")).await;
            assert_eq!(answer.status, StatusCode::OK, "{what}: {path}: {:#}", answer.body);
        }
    }
    ids
}

/// Makes a session of the past of another, as far as it gets in a moment that is the seed's.
async fn begin_making(client: &TestClient, session: SessionId, transcript: &Value, moment: u64, n: u64) {
    let making = async {
        // Whatever becomes of it: it is killed.
        if n.is_multiple_of(2) {
            let fork = client.request(reqwest::Method::POST, &format!("/api/sessions/{session}/fork"));
            drop(fork.json(&json!({})).send().await);
        } else {
            let import = client.request(reqwest::Method::POST, "/api/import");
            drop(import.json(&json!({"type": "builtin", "transcript": transcript})).send().await);
        }
    };
    let _ = tokio::time::timeout(Duration::from_millis(moment), making).await;
}

#[tokio::test]
async fn a_fork_or_an_import_that_is_cut_by_a_kill_leaves_no_half_a_session() {
    let mut seed = Seed::new();
    let mut server = TestServer::start().await;
    let session = server.admin().session_create().await;
    server.admin().run(session, "run 400 times: echo x").await;
    let transcript = server.admin().get(&format!("/api/sessions/{session}/transcript")).await.body;
    let mut known = whole_sessions(&server.admin(), "before").await;
    for n in 0..MAKINGS {
        begin_making(&server.admin(), session, &transcript, 5 + seed.below(120), n).await;
        server.kill().await;
        server.restart().await;
        let now = whole_sessions(&server.admin(), &format!("kill {n}")).await;
        assert!(known.iter().all(|id| now.contains(id)), "kill {n}: a whole session is gone");
        known = now;
    }
    let noted = || std::fs::read_dir(server.directory().join("making")).expect("a directory").count();
    assert_eq!(noted(), 0, "nothing is being made");

    // One that was whole before its note could go stays.
    let note = server.directory().join("making").join(session.to_string());
    std::fs::write(&note, "").expect("a note");
    server.restart().await;
    assert_eq!(whole_sessions(&server.admin(), "noted").await, known);
    assert!(!note.exists());
    let fork = format!("/api/sessions/{session}/fork");
    server.admin().post(&fork, &json!({})).await.expect(StatusCode::CREATED);
}
