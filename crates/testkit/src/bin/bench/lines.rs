//! From a line that a tool prints in a sandbox to the same line at a client of the event stream.

use std::{
    io::{self, Read as _, Write as _},
    net::TcpStream,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

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
    let session = server.admin().session_create().await;
    // The first run makes the sandbox.
    server.admin().run(session, "run: true").await;
    let (mut reference, mut times) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        reference.extend(reference_commits(server.directory(), LINES_PER_ROUND, PACE).await);
        times.extend(lines(&server, session).await);
    }
    server.stop().await;
    let (reference, times) = (Times::of(reference), Times::of(times));
    for (percent, promised) in [(50, "≤ that + 0.5 ms"), (99, "")] {
        let commit = millis(reference.at(percent));
        table.row(
            &format!("agent's line → client's line, p{percent}"),
            millis(times.at(percent)),
            format!("{commit} for one fsynced SQLite commit at the same pace"),
            promised,
        );
    }
}

/// A tool prints the time; a client compares it with the time at which its socket gives it that line. So the figure
/// holds more than is promised of: the tool's pipe to the agent too. The tool waits without starting a program, which
/// would compete with the line it just printed for the same two cores.
async fn lines(server: &TestServer, session: SessionId) -> Vec<Duration> {
    let client = server.admin();
    let wait = format!("read -t {} -u 9", PACE.as_secs_f64());
    let command = format!(
        "run: exec 9<> <(:); for i in $(seq {LINES_PER_ROUND}); do echo T$EPOCHREALTIME; {wait}; done; true"
    );
    let (run, seq) = client.message_send(session, &command).await;
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
    Ok(times)
}
