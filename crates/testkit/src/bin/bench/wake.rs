//! Waking an idle session whose workspace is large: from the message to the first thing its agent does.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use reqwest::StatusCode;
use serde_json::json;
use warren_domain::{Seq, SessionId};
use warren_testkit::{Setup, TestServer};

use super::{
    stats::Times,
    table::{Table, millis},
};

const ROUNDS: usize = 10;
const FILL: &str =
    "run: mkdir -p data && for n in $(seq 1 400); do head -c 262144 /dev/urandom > data/$n.bin; done; true";

/// Takes the figures.
pub(crate) async fn measure(table: &mut Table) {
    let here = [
        ("wake, 100 MB workspace, directory kept", Directories::Kept),
        ("wake, 100 MB workspace, directory rebuilt", Directories::Removed),
    ];
    measure_with(table, Setup::new(), &here, "≤ 300 ms").await;
    let apart = [("wake, 100 MB workspace, files in the sandbox alone", Directories::Kept)];
    // Every byte goes through the guest: nothing is promised of that.
    measure_with(table, Setup::new().config("[sandbox]\nfiles = \"guest\""), &apart, "").await;
}

async fn measure_with(table: &mut Table, setup: Setup, cases: &[(&str, Directories)], promised: &str) {
    let mut server = setup.start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, FILL).await;
    let version = client.get(&format!("/api/sessions/{session}/versions/1")).await.expect(StatusCode::OK);
    assert!(version["sizeBytes"].as_u64() >= Some(100_000_000), "{version:#}");
    let empty = client.session_create().await;
    let bare = wake(&server, empty, Directories::Kept).await;
    client.post(&format!("/api/sessions/{empty}/unload"), &json!({})).await.expect(StatusCode::OK);
    for (what, directories) in cases {
        let times = wake(&server, session, *directories).await;
        let reference = format!("p99 {}; empty workspace {}", millis(times.at(99)), millis(bare.at(50)));
        table.row(&format!("{what}, p50"), millis(times.at(50)), reference, promised);
    }
    server.stop().await;
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Directories {
    Kept,
    Removed,
}

async fn wake(server: &TestServer, session: SessionId, directories: Directories) -> Times {
    let client = server.admin();
    client.run(session, "run: true").await;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        client.post(&format!("/api/sessions/{session}/unload"), &json!({})).await.expect(StatusCode::OK);
        if directories == Directories::Removed {
            for place in ["sessions", "workspaces"] {
                remove_all(&server.directory().join(place));
            }
        }
        times.push(first_act(server, session).await);
    }
    Times::of(times)
}

/// Nobody else has anything there.
fn remove_all(directory: &Path) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        std::fs::remove_dir_all(entry.expect("an entry").path()).expect("removed");
    }
}

/// An agent has surely started when its first call to the model is told of: the demo model answers at once.
async fn first_act(server: &TestServer, session: SessionId) -> Duration {
    let client = server.admin();
    let begin = Instant::now();
    let (run, seq) = client.message_send(session, "run: true").await;
    let mut events = client.events(session, Seq(seq.0 - 1)).await;
    events.until(|event| event.kind() == "model_called").await;
    let took = begin.elapsed();
    events.until(|event| event.ends_run(run)).await;
    took
}
