//! What sandboxes cost in which nothing happens, and how soon a port is noticed.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use tokio::io::AsyncReadExt;
use warren_env::Tasks;
use warren_guest_api::ExecRequest;
use warren_sandbox::{
    Backend, PortWatch, Sandbox,
    local::{Local, Options},
};
use warren_testkit::{Setup, TestServer};

use super::{
    sandbox::spec,
    server::cpu,
    stats::Times,
    table::{Table, millis},
};

const SANDBOXES: usize = 20;
const PERIOD: Duration = Duration::from_secs(60);
const PORTS: usize = 30;
const FIRST_UID: u32 = 61_100;
const CROWD_SANDBOXES: usize = 500;
const CROWD_SESSIONS: usize = 10_000;
/// What was done to get there is over after this time: runs' ends are stored, connections rest.
const SETTLE: Duration = Duration::from_secs(10);

/// Takes the figures.
pub(crate) async fn measure(table: &mut Table) {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let launcher = vec![warren_testkit::program().into_os_string(), "__launcher".into()];
    let local = Local::open(Options::new(launcher, directory.path().join("shared")), Tasks::new()).unwrap();
    local.sweep().await.unwrap();
    let mut sandboxes = Vec::new();
    for n in 0..SANDBOXES {
        let (sandbox, ports) = start(&local, directory.path(), n).await;
        sandboxes.push((sandbox, ports));
    }
    idle(table, "in which nothing runs", "≤ 0.02 %").await;
    for (sandbox, _) in &sandboxes {
        run(sandbox, "setsid sleep 1000 > /dev/null 2>&1 &").await;
    }
    idle(table, "in which a program was left behind", "").await;
    let (sandbox, ports) = &mut sandboxes[0];
    let mut times = Vec::new();
    for n in 0..PORTS {
        times.push(notice(sandbox, ports, 4_000 + u16::try_from(n).unwrap()).await);
    }
    let times = Times::of(times);
    table.row(
        "a program listens → the host knows, p50",
        millis(times.at(50)),
        format!("p99 {}", millis(times.at(99))),
        "≤ 1 s",
    );
    for (sandbox, _) in sandboxes {
        sandbox.terminate().await.unwrap();
    }
    local.close().await;
    crowd(table).await;
}

/// A whole server with many idle sandboxes and many more stored sessions.
async fn crowd(table: &mut Table) {
    let config = format!("[sandbox]\nmax_concurrent = {}\nidle_timeout_seconds = 3600", CROWD_SANDBOXES + 1);
    let mut server = Setup::new().config(&config).start().await;
    let client = server.admin();
    let idle_alone = server_time(&server).await;
    for _ in 0..CROWD_SESSIONS / 100 {
        futures::future::join_all((0..100).map(|_| client.session_create())).await;
    }
    for _ in 0..CROWD_SANDBOXES / 10 {
        let runs = (0..10).map(|_| async {
            let session = client.session_create().await;
            client.run(session, "run: true").await;
        });
        futures::future::join_all(runs).await;
    }
    let sandboxes = client.get("/api/sandboxes").await.expect(reqwest::StatusCode::OK);
    let n_sandboxes = sandboxes["sandboxes"].as_array().map_or(0, Vec::len);
    assert_eq!(n_sandboxes, CROWD_SANDBOXES, "sandboxes that still run");
    let share =
        |time: Duration| format!("{:.2} % of a core", time.as_secs_f64() / PERIOD.as_secs_f64() * 100.0);
    let crowded = server_time(&server).await;
    table.row(
        "server with 500 idle sandboxes and 10,000 stored sessions, all of its processes, over a minute",
        share(crowded),
        format!("{} with none", share(idle_alone)),
        "idle",
    );
    server.stop().await;
}

/// What the server, its launcher and all sandboxes take in a period in which nothing is asked of them.
async fn server_time(server: &TestServer) -> Duration {
    tokio::time::sleep(SETTLE).await;
    let processes = server.processes();
    let times = || processes.iter().map(|process| threads_time(process.pid)).collect::<Vec<_>>();
    let (before, of_server) = (times(), cpu(server));
    tokio::time::sleep(PERIOD).await;
    // A process that ended meanwhile counts for nothing; threads of the server that ended do, so it is asked as a whole.
    let sandboxes: Duration =
        times().into_iter().zip(before).map(|(now, then)| now.saturating_sub(then)).sum();
    sandboxes + (cpu(server) - of_server)
}

async fn start(local: &Local, at: &Path, n: usize) -> (Sandbox, PortWatch) {
    let at = at.join(n.to_string());
    std::fs::create_dir(&at).unwrap();
    let mut spec = spec(&at);
    spec.id.0 = format!("idle-{n}");
    spec.uid = uid(n);
    let sandbox = local.start(spec).await.unwrap();
    let mut ports = sandbox.guest.watch_ports(Vec::new()).await.unwrap();
    ports.next().await.unwrap();
    (sandbox, ports)
}

/// The share of one core that each sandbox takes, and what the host takes for it.
async fn idle(table: &mut Table, which: &str, promise: &str) {
    // What was done to get here is over.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (began, guests, host) = (Instant::now(), guests_time(), host_time());
    tokio::time::sleep(PERIOD).await;
    let period = began.elapsed();
    let share = |time: Duration| time.as_secs_f64() / period.as_secs_f64() / SANDBOXES as f64 * 100.0;
    table.row(
        &format!("{SANDBOXES} idle sandboxes {which}, CPU time of each, over a minute"),
        format!("{:.4} % of a core", share(guests_time() - guests)),
        format!("{:.4} % more on the host's side", share(host_time() - host)),
        promise,
    );
}

/// How long it takes until the host knows of a port that a program listens on.
async fn notice(sandbox: &Sandbox, ports: &mut PortWatch, port: u16) -> Duration {
    let script = format!(
        "import socket, sys; s = socket.create_server(('127.0.0.1', {port})); print(flush=True); sys.stdin.read()"
    );
    let request = ExecRequest {
        argv: vec!["python3".into(), "-c".into(), script],
        env: sandbox.env.clone(),
        stdin: true,
        ..ExecRequest::default()
    };
    let mut program = sandbox.guest.exec(request).await.unwrap();
    program.stdout.read_u8().await.unwrap();
    let began = Instant::now();
    while !ports.next().await.unwrap().iter().any(|open| open.port == port) {}
    let took = began.elapsed();
    drop(program.stdin.take());
    program.wait().await.unwrap();
    while ports.next().await.unwrap().iter().any(|open| open.port == port) {}
    took
}

async fn run(sandbox: &Sandbox, line: &str) {
    let argv = ["/bin/sh", "-c", line].map(str::to_owned).into();
    let request = ExecRequest { argv, env: sandbox.env.clone(), ..ExecRequest::default() };
    sandbox.guest.exec(request).await.unwrap().wait().await.unwrap();
}

/// What all processes of the sandboxes have taken.
fn guests_time() -> Duration {
    let uids = uid(0)..uid(SANDBOXES);
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let ours = pids.filter(|pid| {
        let path = format!("/proc/{pid}/status");
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let uid = status.lines().find_map(|line| line.strip_prefix("Uid:"));
        uid.and_then(|uid| uid.split_whitespace().next()?.parse().ok()).is_some_and(|uid| uids.contains(&uid))
    });
    ours.map(run_time).sum()
}

/// By the kernel's scheduler, in nanoseconds: ticks are too coarse for what idles.
fn run_time(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    Duration::from_nanos(stat.split(' ').next().and_then(|time| time.parse().ok()).unwrap_or_default())
}

/// What this process, which is the host here, has taken.
fn host_time() -> Duration {
    threads_time(std::process::id())
}

/// What all threads of a process have taken; nothing if it is gone.
fn threads_time(pid: u32) -> Duration {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.filter_map(|task| task.file_name().to_str()?.parse().ok()).map(run_time).sum()
}

fn uid(n: usize) -> u32 {
    FIRST_UID + u32::try_from(n).unwrap()
}
