//! Where a blow falls: on whom, and what goes on meanwhile.

use std::{path::PathBuf, time::Duration};

use rustix::process::Signal;
use serde_json::json;
use tokio::time::Instant;
use warren_domain::{Seq, SessionId};
use warren_testkit::{Process, Seed, TestClient, TestServer};

use crate::suite::versions::{list, of};

use super::FIRST;

/// How long it is waited for the moment to come.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Victim {
    Server,
    Guest,
    Agent,
}

/// What goes on meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum During {
    Run,
    Commit,
    Restore,
    Collection,
}

/// Who is killed during what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blow {
    pub(super) victim: Victim,
    pub(super) during: During,
}

impl Blow {
    /// Each of them `rounds` times, in an order that is the seed's. An agent has ended before its run is committed.
    pub(super) fn all(rounds: usize, seed: &mut Seed) -> Vec<Self> {
        let mut all = Vec::new();
        for victim in [Victim::Server, Victim::Guest, Victim::Agent] {
            for during in [During::Run, During::Commit, During::Restore, During::Collection] {
                if (victim, during) != (Victim::Agent, During::Commit) {
                    all.extend(std::iter::repeat_n(Self { victim, during }, rounds));
                }
            }
        }
        for n in (1..all.len()).rev() {
            all.swap(n, seed.below(n as u64 + 1) as usize);
        }
        all
    }

    /// Begins something and kills in the middle of it. Says whether there was somebody to kill.
    pub(super) async fn strike(
        self,
        server: &mut TestServer,
        session: SessionId,
        seed: &mut Seed,
        n: usize,
    ) -> bool {
        let seconds = if self.during == During::Collection { "3" } else { "0.5" };
        let (size, place) = (seed.below(900_000), n % 5);
        let write = format!(
            "run: echo {n} > n.txt; head -c {size} /dev/urandom > deep/r{place}.bin; sleep {seconds}; echo > m.txt"
        );
        let client = server.admin();
        match self.during {
            During::Run => drop(client.message_send(session, &write).await),
            During::Commit => until_commit(&client, session, &write).await,
            During::Restore => begin_restore(&client, session, seed, &write).await,
            During::Collection if self.victim == Victim::Server => {}
            During::Collection => drop(client.message_send(session, &write).await),
        }
        if self.victim == Victim::Agent {
            until(|| server.processes().iter().any(|process| is_agent(&process.command()))).await;
        }
        if self.during == During::Collection {
            assert!(until(|| is_collecting(server)).await, "nothing is ever collected");
        }
        let longest = if self.during == During::Run { 400 } else { 40 };
        // The moment is the seed's; nothing is decided by it but where the blow falls.
        tokio::time::sleep(Duration::from_millis(seed.below(longest))).await;
        self.kill(server).await
    }

    async fn kill(self, server: &mut TestServer) -> bool {
        match self.victim {
            Victim::Server => {
                server.kill().await;
                an_hour_passes(server);
                server.restart().await;
                true
            }
            Victim::Guest => strike_down(&server.processes(), is_guest),
            Victim::Agent => strike_down(&server.processes(), is_agent),
        }
    }
}

/// Waits for a moment to come. Says whether it did.
async fn until(is_now: impl Fn() -> bool) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while !is_now() {
        if Instant::now() > deadline {
            return false;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    true
}

/// PID 1 of a sandbox. The program that makes the sandbox names it too, but does not begin with it.
fn is_guest(command: &str) -> bool {
    command.starts_with("/warren/guest") && !is_agent(command)
}

/// The built-in agent is the same program, and says so with its first word.
fn is_agent(command: &str) -> bool {
    command.starts_with("/warren/guest agent")
}

fn strike_down(processes: &[Process], is_it: impl Fn(&str) -> bool) -> bool {
    let Some(found) = processes.iter().find(|process| is_it(&process.command())) else { return false };
    found.signal(Signal::KILL);
    true
}

/// Carries a message out up to where nothing is left but to commit what it made.
async fn until_commit(client: &TestClient, session: SessionId, write: &str) {
    let (run, seq) = client.message_send(session, write).await;
    let mut events = client.events(session, Seq(seq.0 - 1)).await;
    let is_last_word =
        |json: &serde_json::Value| json["type"] == "block_start" && json["block"]["type"] == "assistant_text";
    let mut n_results = 0;
    while let Some(event) = events.next().await {
        n_results += u32::from(event.json["block"]["type"] == "tool_result");
        if event.ends_run(run) || (n_results > 0 && is_last_word(&event.json)) {
            return;
        }
    }
}

/// Goes back one version and on from there, as far as it gets in a moment that is the seed's.
async fn begin_restore(client: &TestClient, session: SessionId, seed: &mut Seed, write: &str) {
    let latest = list(client, session).await["head"]["version"].as_u64().expect("a number");
    let body = json!({"version": latest.saturating_sub(1).max(FIRST)});
    let restoring = async {
        // Whatever becomes of it: it is killed.
        drop(client.post(&of(session, "restore"), &body).await);
        drop(client.post(&of(session, "messages"), &json!({"content": write})).await);
        std::future::pending::<()>().await;
    };
    let moment = Duration::from_millis(seed.below(250));
    let _ = tokio::time::timeout(moment, restoring).await;
}

/// The lease of whoever collects: it holds a time while somebody does, and 0 when nobody does.
fn leases(server: &TestServer) -> Vec<PathBuf> {
    let entries = |path: PathBuf| std::fs::read_dir(path).into_iter().flatten().flatten();
    let partitions = entries(server.directory().join("trees/trees"));
    partitions.flat_map(|at| entries(at.path().join("lease"))).map(|lease| lease.path()).collect()
}

fn is_collecting(server: &TestServer) -> bool {
    let held = |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|until| until.trim() != "0");
    leases(server).iter().any(held)
}

/// The lease of a collection that was killed ends by itself after an hour, which no test waits for.
fn an_hour_passes(server: &TestServer) {
    for lease in leases(server) {
        std::fs::write(lease, "0").expect("the lease ends");
    }
}
