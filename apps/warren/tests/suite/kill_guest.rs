//! A guest dies between messages, and nobody has reported it yet: the next message gets another sandbox.

use std::time::Duration;

use rustix::process::Signal;
use warren_domain::{RunId, Seq, SessionId};
use warren_testkit::{Process, Setup, TestClient, TestServer, wait_until_gone};

use super::session::said;

/// How often the guest is killed.
const ROUNDS: usize = 3;

#[tokio::test]
async fn message_after_the_guest_was_killed_is_answered_in_another_sandbox() {
    answers_without_a_guest("").await;
}

#[tokio::test]
async fn message_after_the_guest_was_killed_is_answered_where_files_are_guest_local() {
    answers_without_a_guest("[sandbox]\nfiles = \"guest\"").await;
}

async fn answers_without_a_guest(config: &str) {
    let mut server = Setup::new().config(config).start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "remember the word ananas").await;
    for round in 0..ROUNDS {
        client.run(session, &format!("run: echo round-{round} > n.txt")).await;
        let launcher = stopped_launcher(&server);
        kill_guests(&server).await;
        let ((run, seq), ()) = tokio::join!(client.message_send(session, "what did I say?"), async {
            // Time for a session that does not look at its link to fail; nothing else is decided by it.
            tokio::time::sleep(Duration::from_millis(300)).await;
            launcher.signal(Signal::CONT);
        });
        assert_answers(&client, session, run, seq).await;
        let events = client.run(session, "run: cat n.txt").await;
        assert!(
            said(&events).contains(&format!("round-{round}")),
            "the file is not as it was: {}",
            said(&events)
        );
    }
    server.stop().await;
}

/// The process that reports the end of sandboxes, stopped as on a machine that gives it no time.
fn stopped_launcher(server: &TestServer) -> Process {
    let mut processes = server.processes().into_iter();
    let launcher = processes.find(|process| process.is_child_of(server.pid())).expect("a launcher");
    launcher.signal(Signal::STOP);
    launcher
}

async fn kill_guests(server: &TestServer) {
    let is_inside = |process: &Process| process.command().starts_with("/warren/guest");
    let guests: Vec<Process> = server.processes().into_iter().filter(is_inside).collect();
    assert!(!guests.is_empty(), "there is no guest to kill");
    guests.iter().for_each(|guest| guest.signal(Signal::KILL));
    assert_eq!(wait_until_gone(&guests, Duration::from_secs(30)).await, []);
}

async fn assert_answers(client: &TestClient, session: SessionId, run: RunId, seq: Seq) {
    let mut stream = client.events(session, Seq(seq.0 - 1)).await;
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        let is_over = event.ends_run(run);
        events.push(event);
        if is_over {
            break;
        }
    }
    let last = events.last().expect("events");
    assert_eq!(last.kind(), "run_completed", "{:#}", last.json);
    assert!(said(&events).contains("ananas"), "the agent forgot: {}", said(&events));
}
