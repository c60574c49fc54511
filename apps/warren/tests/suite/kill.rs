//! The server is killed at any moment.

use warren_domain::Seq;
use warren_testkit::{Seed, Setup, TestEvent, TestServer};

use super::session::{assert_contiguous, folded};

/// How often the server is killed. Each time at another moment of a run.
const KILLS: u64 = 12;
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
