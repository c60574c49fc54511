//! How long a run takes to be replayed, beside its tools alone.
//!
//! What the tools take by themselves is measured in a sandbox of the same kind: the shell that the agent would start, for the
//! same command, one after the other, with nobody between them. A replay is measured as its caller sees it: from the
//! request to the report, so with a new sandbox, its directories, the agent's start, and the comparison of all that came.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use reqwest::StatusCode;
use serde_json::json;
use warren_domain::SessionId;
use warren_env::Tasks;
use warren_guest_api::ExecRequest;
use warren_sandbox::{
    Backend, Layer, Limits, Mounts, Sandbox, SandboxId, Spec,
    local::{Local, Options},
};
use warren_testkit::{Setup, TestClient};

use super::{
    stats::Times,
    table::{Table, millis},
};

const CALLS: u32 = 100;
const ROUNDS: usize = 3;
const UID: u32 = 61_600;

/// Takes the figures.
pub(crate) async fn measure(table: &mut Table) {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let launcher = vec![warren_testkit::program().into_os_string(), "__launcher".into()];
    let local = Local::open(Options::new(launcher, directory.path().join("shared")), Tasks::new()).unwrap();
    local.sweep().await.unwrap();
    let sandbox = local.start(spec(directory.path())).await.unwrap();
    let mut server = Setup::new().start().await;
    let client = server.admin();
    for (what, command, promise) in [
        ("each of 100 ms", "sleep 0.1; echo done", "≤ the tools + 10 %"),
        ("each of which does nothing", "true", ""),
    ] {
        let session = client.session_create().await;
        let begin = Instant::now();
        let run = run(&client, session, command).await;
        let live = begin.elapsed();
        let (mut tools, mut replays) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            tools.push(alone(&sandbox, command).await);
            replays.push(replay(&client, session, &run).await);
        }
        let (tools, replay) = (Times::of(tools).at(50), Times::of(replays).at(50));
        let more = replay.saturating_sub(tools);
        let percent = more.as_secs_f64() / tools.as_secs_f64() * 100.0;
        table.row(
            &format!("replay of 100 calls to tools, {what}, median of 3"),
            millis(replay),
            format!(
                "{} for the tools alone (+ {percent:.1} %, {} a call); the run itself {}",
                millis(tools),
                millis(more / CALLS),
                millis(live)
            ),
            promise,
        );
    }
    server.stop().await;
    sandbox.terminate().await.unwrap();
    local.close().await;
}

/// Carries the run out, and gives its id.
async fn run(client: &TestClient, session: SessionId, command: &str) -> String {
    let events = client.run(session, &format!("run {CALLS} times: {command}")).await;
    let calls = events.iter().filter(|event| event.kind() == "model_called").count();
    assert!(calls > CALLS as usize, "{calls} calls to the model");
    events[0].json["runId"].as_str().expect("a run").to_owned()
}

async fn replay(client: &TestClient, session: SessionId, run: &str) -> Duration {
    let begin = Instant::now();
    let path = format!("/api/sessions/{session}/runs/{run}/replay");
    let report = client.post(&path, &json!({"wait": true})).await.expect(StatusCode::OK);
    let took = begin.elapsed();
    assert_eq!((&report["status"], &report["diverged"]), (&json!("done"), &json!(false)), "{report:#}");
    took
}

/// The same commands, one shell each as the agent starts them, and nothing else. All by one program: to enter its groups
/// anew takes each program of the guest 10 to 20 ms after a pause, which is the kernel's and no tool's.
async fn alone(sandbox: &Sandbox, command: &str) -> Duration {
    let each = format!("for ((i = 0; i < {CALLS}; i++)); do /bin/bash -c \"$1\"; done");
    let request = ExecRequest {
        argv: ["/bin/bash", "-c", &each, "each", command].map(str::to_owned).into(),
        env: [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into(),
        cwd: Some("/workspace".to_owned()),
        ..ExecRequest::default()
    };
    let begin = Instant::now();
    let mut exec = sandbox.guest.exec(request).await.unwrap();
    exec.wait().await.unwrap();
    begin.elapsed()
}

fn spec(at: &Path) -> Spec {
    let mounts = Mounts { workspace: at.join("workspace"), home: at.join("home"), ..Mounts::default() };
    Spec {
        id: SandboxId("replay".into()),
        mounts,
        uid: UID,
        env: Default::default(),
        limits: Limits::default(),
        required: Layer::BASIC.into(),
    }
}
