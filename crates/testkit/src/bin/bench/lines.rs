//! From a line that an agent prints in a sandbox to the same line at a client of the event stream.

use std::{
    io::{self, Read as _, Write as _},
    net::TcpStream,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use reqwest::StatusCode;
use serde_json::json;
use warren_domain::{Seq, SessionId};
use warren_testkit::{Setup, TestServer};

use super::{
    log::reference_commits,
    stats::Times,
    table::{Table, millis},
};

/// Lines and commits of the reference take turns, so that a machine that is busy for a while slows down both.
const ROUNDS: u64 = 6;
const LINES_PER_ROUND: u64 = 100;
/// Between two lines, and between two commits of the reference: a disk that rests in between is slower.
const PACE: Duration = Duration::from_millis(10);

/// Takes the figures.
pub(crate) async fn measure(table: &mut Table) {
    let mut server = Setup::new().start().await;
    let (talker, toolbox) = (talker(&server).await, server.admin().session_create().await);
    // The first runs make the sandboxes.
    server.admin().run(talker, "hello").await;
    server.admin().run(toolbox, "run: true").await;
    let (mut reference, mut agents, mut tools) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        reference.extend(reference_commits(server.directory(), LINES_PER_ROUND, PACE).await);
        agents.extend(lines(&server, talker, "hello").await);
        tools.extend(lines(&server, toolbox, &format!("run: {}", printing("T$EPOCHREALTIME"))).await);
    }
    server.stop().await;
    let reference = Times::of(reference);
    let mut row = |whose: &str, times: &Times, percent, promised| {
        table.row(
            &format!("{whose} line → client's line, p{percent}"),
            millis(times.at(percent)),
            format!("{} for one fsynced SQLite commit at the same pace", millis(reference.at(percent))),
            promised,
        );
    };
    let (agents, tools) = (Times::of(agents), Times::of(tools));
    row("agent's", &agents, 50, "≤ that + 0.5 ms");
    row("agent's", &agents, 99, "");
    // By way of the agent, which reads it from the tool's pipe first.
    row("tool's", &tools, 50, "");
}

/// Prints a line so many times, at its pace. It waits without starting a program, which would compete with the line that
/// was just printed for the same two cores.
fn printing(line: &str) -> String {
    let wait = format!("read -t {} -u 9", PACE.as_secs_f64());
    format!("exec 9<> <(:); for i in $(seq {LINES_PER_ROUND}); do echo \"{line}\"; {wait}; done; true")
}

/// A session with an agent that says the time when it is asked anything. It speaks ACP, in as few words as there are.
async fn talker(server: &TestServer) -> SessionId {
    let update = r#"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"T$EPOCHREALTIME \"}}}}"#;
    let script = r#"
        answer() { echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
        while read -r line; do
            [[ $line =~ \"id\":([0-9]+|\"[^\"]*\") ]] && id=${BASH_REMATCH[1]}
            case $line in
                *'"initialize"'*) answer '{"protocolVersion":1,"agentCapabilities":{}}' ;;
                *'"session/new"'*) answer '{"sessionId":"s"}' ;;
                *'"session/prompt"'*) PRINTING; answer '{"stopReason":"end_turn"}' ;;
                *'"method"'*'"id"'* | *'"id"'*'"method"'*) answer '{}' ;;
            esac
        done"#;
    let script = script.replace("PRINTING", &printing(update));
    let profile = json!({"command": ["bash", "-c", script]});
    server.admin().put("/api/profiles/talker", &profile).await.expect(StatusCode::OK);
    let session = json!({"type": "acp", "agentProfileReference": "talker"});
    let made = server.admin().post("/api/sessions", &session).await.expect(StatusCode::CREATED);
    made["sessionId"].as_str().unwrap().parse().unwrap()
}

/// What is said holds the time; a client compares it with the time at which its socket gives it that line.
async fn lines(server: &TestServer, session: SessionId, message: &str) -> Vec<Duration> {
    let client = server.admin();
    let (run, seq) = client.message_send(session, message).await;
    let (url, token) = (server.url().to_owned(), server.token().to_owned());
    let reader = tokio::task::spawn_blocking(move || read_lines(&url, &token, session, seq).unwrap());
    let times = reader.await.unwrap();
    client.events(session, seq).await.until(|event| event.ends_run(run)).await;
    times
}

/// Reads the event stream with nothing between it and the socket, until all lines were seen.
fn read_lines(url: &str, token: &str, session: SessionId, after: Seq) -> io::Result<Vec<Duration>> {
    let host = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host)?;
    let head = format!("GET /api/sessions/{session}/events?after={after} HTTP/1.1\r\nhost: {host}\r\n");
    let head = format!("{head}accept: text/event-stream\r\nauthorization: Bearer {token}\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    let mut times = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    while times.len() < LINES_PER_ROUND as usize {
        let n_read = stream.read(&mut buffer)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        assert!(n_read > 0, "the stream ended early");
        // The event that a line is in comes in one piece, and before those that repeat it.
        let text = String::from_utf8_lossy(&buffer[..n_read]);
        let printed = text.split('T').skip(1).filter_map(|rest| rest.get(..17)?.parse::<f64>().ok());
        times.extend(printed.map(|at| Duration::from_secs_f64((now - at).max(0.0))));
    }
    // What came with the last one repeats the others.
    times.truncate(LINES_PER_ROUND as usize);
    Ok(times)
}
