//! Upkeep goes on while versions are used, and around what is damaged.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::time::Instant;
use warren_domain::SessionId;
use warren_testkit::{Seed, Setup, TestClient, TestServer};

use super::{
    session::said,
    versions::{list, of},
};

/// Only the latest version and those with a label are kept, and what others needed goes a second later.
const CONFIG: &str = "[retention]\nversions = 1\ndaily_days = 0\ngrace_seconds = 1\ninterval_seconds = 1";

/// How many sessions go back at the same time, and how often each.
const SESSIONS: usize = 4;
const ROUNDS: usize = 8;

/// Upkeep comes by so often, and somebody who is this much earlier meets it half-way, or not.
const INTERVAL: Duration = Duration::from_secs(1);
const EARLIER: u64 = 250;

/// How long upkeep may take to come by.
const PATIENCE: Duration = Duration::from_secs(30);

async fn label(client: &TestClient, session: SessionId, version: u64, label: Value) -> StatusCode {
    client.put(&of(session, &format!("versions/{version}/label")), &json!({"label": label})).await.status
}

/// Tells the agent a word, and keeps the version that knows it.
async fn begin(client: &TestClient, session: SessionId) -> u64 {
    loop {
        client.run(session, "remember the word ananas").await;
        let latest = list(client, session).await["head"]["version"].as_u64().expect("a number");
        // It may be gone already, if somebody else works on the same machine.
        if label(client, session, latest, json!("kept")).await == StatusCode::OK {
            return latest;
        }
    }
}

/// When something was last collected: whoever collects writes down that it does.
fn last_collected(server: &TestServer) -> Option<SystemTime> {
    let entries = |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten();
    let leases =
        entries(server.directory().join("trees/trees")).flat_map(|at| entries(at.path().join("lease")));
    leases.filter_map(|lease| lease.metadata().ok()?.modified().ok()).max()
}

/// Waits until upkeep has come by.
async fn upkeep(server: &TestServer) {
    let (before, deadline) = (last_collected(server), Instant::now() + PATIENCE);
    while last_collected(server) == before {
        assert!(Instant::now() < deadline, "nothing is ever collected");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Goes back to a version of which upkeep lets go at about the same moment. Says how often it could.
async fn go_back_again_and_again(server: &TestServer, earlier: [u64; ROUNDS]) -> usize {
    let client = server.admin();
    let session = client.session_create().await;
    let mut kept = begin(&client, session).await;
    let mut n_restored = 0;
    for (round, earlier) in earlier.into_iter().enumerate() {
        client.run(session, &format!("run: echo {round} > n.txt")).await;
        upkeep(server).await;
        // The moment is the seed's; nothing is decided by it but how they meet.
        tokio::time::sleep(INTERVAL - Duration::from_millis(earlier)).await;
        label(&client, session, kept, Value::Null).await;
        let restored = client.post(&of(session, "restore"), &json!({"version": kept})).await;
        if restored.refusal() == (409, "CONFLICT") {
            // It was let go of first.
            kept = begin(&client, session).await;
            continue;
        }
        let restored = restored.expect(StatusCode::OK);
        n_restored += 1;
        kept = restored["version"].as_u64().expect("a number");
        assert_eq!(label(&client, session, kept, json!("kept")).await, StatusCode::OK, "it is the latest");
        let fork = client.post(&of(session, "fork"), &json!({"version": kept})).await;
        let fork = fork.expect(StatusCode::CREATED)["sessionId"].as_str().expect("an id").to_owned();
        client.delete(&format!("/api/sessions/{fork}")).await.expect(StatusCode::NO_CONTENT);
    }
    let answer = said(&client.run(session, "what did I say?").await);
    assert!(answer.contains("ananas"), "{answer}");
    n_restored
}

#[tokio::test]
async fn a_version_that_upkeep_lets_go_of_while_it_is_restored_is_whole_or_refused() {
    let server = Setup::new().config(CONFIG).start().await;
    let mut seed = Seed::new();
    let all: [_; SESSIONS] = std::array::from_fn(|_| std::array::from_fn(|_| seed.below(EARLIER)));
    let all = all.map(|earlier| go_back_again_and_again(&server, earlier));
    let n_restored: usize = futures::future::join_all(all).await.into_iter().sum();
    assert!(n_restored > 0, "every version was let go of first");
    let complaints = server.stderr();
    assert!(!complaints.contains("is missing"), "{complaints}");
}

/// The directories of blobs whose name ends so.
fn spaces(server: &TestServer, end: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(server.directory().join("blobs")).expect("blobs").flatten();
    all.map(|entry| entry.path()).filter(|path| path.to_string_lossy().ends_with(end)).collect()
}

#[tokio::test]
async fn what_is_damaged_does_not_keep_upkeep_from_the_rest() {
    let server = Setup::new().config(CONFIG).start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "remember the word ananas").await;
    let [memory] = &spaces(&server, "memory")[..] else { panic!("one partition remembers something") };
    fs::remove_dir_all(memory).expect("lost");

    // What a session left whose erasing was cut.
    let stranger = memory.to_string_lossy().replace("memory", &format!("log-{}", uuid::Uuid::now_v7()));
    let left = PathBuf::from(stranger).join("ab").join("ab".repeat(32));
    fs::create_dir_all(left.parent().expect("a directory")).expect("made");
    fs::write(&left, "left").expect("written");
    let deadline = Instant::now() + PATIENCE;
    while left.exists() {
        assert!(Instant::now() < deadline, "it was never collected\n{}", server.stderr());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(server.stderr().contains("a partition was not collected"), "{}", server.stderr());
}
