//! `warren run` on a server that runs already: from the start of the command to the first line of the agent's text.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use warren_testkit::{Setup, TestServer};

use super::{
    stats::Times,
    table::{Table, millis},
};

const ROUNDS: usize = 30;

/// Takes the figures.
pub(crate) async fn measure(table: &mut Table) {
    let mut server = Setup::new().start().await;
    let session = server.admin().session_create().await.to_string();
    // The first runs of each kind fill what is kept.
    once(&server, &["--session", &session]).await;
    once(&server, &[]).await;
    let (mut continued, mut new) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        continued.push(once(&server, &["--session", &session]).await);
        new.push(once(&server, &[]).await);
    }
    server.stop().await;
    let mut row = |what: &str, runs: Vec<Run>| {
        let times = |of: fn(&Run) -> Duration| Times::of(runs.iter().map(of).collect());
        let (over, agent) = (times(|run| run.whole.saturating_sub(run.agent)), times(|run| run.agent));
        let whole = times(|run| run.whole);
        let reference = format!(
            "{} of the agent itself; {} in all; p99 {} more",
            millis(agent.at(50)),
            millis(whole.at(50)),
            millis(over.at(99))
        );
        table.row(
            &format!("`warren run`, {what}: first line beyond the agent's own time, p50"),
            millis(over.at(50)),
            reference,
            "≤ 50 ms",
        );
    };
    row("a session whose sandbox is awake", continued);
    row("a new session", new);
}

/// How long one command took.
struct Run {
    /// From the start of the command to the first line with text.
    whole: Duration,
    /// From the moment when the sandbox was there and the run began to the first text, by the times in the log.
    agent: Duration,
}

async fn once(server: &TestServer, arguments: &[&str]) -> Run {
    let mut command = server.command(&["run", "hello", "--json"]);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let began = Instant::now();
    let mut child = command.spawn().expect("started");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let (mut started, mut found) = (0, None);
    while let Some(line) = lines.next_line().await.expect("text") {
        let at = began.elapsed();
        let event: Value = serde_json::from_str(&line).expect("an event");
        match event["type"].as_str() {
            Some("run_started") => started = time(&event),
            // The agent starts when its sandbox is there.
            Some("session_status") if event["runtime"]["sandbox"]["status"] == "ready" => {
                started = time(&event)
            }
            Some("text_delta") if found.is_none() => found = Some((at, time(&event))),
            _ => {}
        }
    }
    assert!(child.wait().await.expect("it ends").success());
    let (whole, text) = found.expect("the agent said something");
    Run { whole, agent: Duration::from_millis(text.saturating_sub(started)) }
}

/// When it was recorded, in milliseconds.
fn time(event: &Value) -> u64 {
    let timestamp: warren_domain::Timestamp =
        serde_json::from_value(event["timestamp"].clone()).expect("a time");
    timestamp.as_millis().unsigned_abs()
}
