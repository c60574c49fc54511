//! The whole server: many readers, reading back, memory, starting.

use std::time::{Duration, Instant};

use reqwest::StatusCode;
use serde_json::json;
use warren_domain::{Seq, SessionId};
use warren_testkit::{Setup, TestClient, TestServer};

use super::{
    stats::Times,
    table::{Table, millis},
};

const READERS: usize = 1_000;
const SESSIONS: usize = 10_000;

/// Takes the figures.
pub(crate) async fn measure(table: &mut Table) {
    let mut server = Setup::new().start().await;
    let idle = resident(&server);
    table.row("server idle, resident", megabytes(idle), "", "≤ 30 MB");
    reading(table, &server).await;
    readers(table, &server).await;
    restart(table, &mut server).await;
    loaded(table, &server).await;
    server.stop().await;
}

async fn reading(table: &mut Table, server: &TestServer) {
    let client = server.admin();
    let session = client.session_create().await;
    let path = format!("/api/sessions/{session}");
    for n in 0..1_500 {
        client.patch(&path, &json!({ "name": format!("name {n}") })).await.expect(StatusCode::OK);
    }
    let mut times = Vec::new();
    let url = format!("{path}/events?after=0&limit=1500");
    for _ in 0..50 {
        let request = client.request(reqwest::Method::GET, &url);
        let begin = Instant::now();
        let body = request.send().await.unwrap().bytes().await.unwrap();
        times.push(begin.elapsed());
        assert!(body.len() > 100_000);
    }
    let times = Times::of(times);
    let reference = format!("p99 {}", millis(times.at(99)));
    table.row("1,500 events by REST, p50", millis(times.at(50)), reference, "≤ 10 ms");
}

/// Every reader must get every entry, in order.
async fn readers(table: &mut Table, server: &TestServer) {
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: true").await;
    let mut streams = Vec::with_capacity(READERS);
    for _ in 0..READERS {
        streams.push(client.events(session, Seq(0)).await);
    }
    let before = cpu(server);
    let (run, _) = client.message_send(session, "count to 100").await;
    let reads = streams.into_iter().map(|mut events| async move {
        let seen = events.until(|event| event.ends_run(run)).await;
        let numbers: Vec<u64> = seen.iter().map(|event| event.seq.0).collect();
        (numbers == (1..=seen.len() as u64).collect::<Vec<_>>(), seen.len())
    });
    let begin = Instant::now();
    let seen = futures::future::join_all(reads).await;
    let took = begin.elapsed();
    let complete = seen.iter().filter(|(whole, len)| *whole && *len == seen[0].1).count();
    let entries = seen[0].1 * READERS;
    let ours = format!("{complete} complete, {entries} entries delivered in {:.1} s", took.as_secs_f64());
    let reference = format!("server CPU {:.1} s", (cpu(server) - before).as_secs_f64());
    table.row("one session to 1,000 SSE readers", ours, reference, "all complete");
}

async fn restart(table: &mut Table, server: &mut TestServer) {
    server.stop().await;
    let begin = Instant::now();
    server.restart().await;
    table.row("second start to ready", millis(begin.elapsed()), "", "< 1 s");
}

async fn loaded(table: &mut Table, server: &TestServer) {
    let client = server.admin();
    let before = resident(server);
    let begin = Instant::now();
    for _ in 0..SESSIONS / 100 {
        futures::future::join_all((0..100).map(|_| create(&client))).await;
    }
    let took = begin.elapsed();
    let each = resident(server).saturating_sub(before) / SESSIONS as u64;
    let reference = format!("made in {:.1} s", took.as_secs_f64());
    table.row(
        "10,000 loaded idle sessions, each",
        format!("{:.1} KB", each as f64 / 1e3),
        reference,
        "≤ 10 KB",
    );
}

async fn create(client: &TestClient) -> SessionId {
    client.session_create().await
}

fn resident(server: &TestServer) -> u64 {
    resident_of(server.pid()).expect("the server runs")
}

/// Resident memory of a process; `None` if it is gone.
pub(super) fn resident_of(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024)
}

/// CPU time the server has used, at the kernel's hundred ticks a second.
pub(super) fn cpu(server: &TestServer) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.pid())).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    Duration::from_millis(ticks * 10)
}

pub(super) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
