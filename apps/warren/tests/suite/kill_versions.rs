//! Servers, guests and agents are killed at any moment; versions stay whole.

mod blow;
mod files;

use std::{collections::BTreeMap, path::Path};

use reqwest::StatusCode;
use serde_json::json;
use warren_domain::SessionId;
use warren_testkit::{Seed, Setup, TestClient, TestEvent, TestServer};

use super::{
    apart::children,
    session::{assert_contiguous, said},
    versions::{list, of},
};
use blow::{Blow, During, Victim};
pub(super) use files::contents;
use files::{Files, on_disk};

/// How often each victim is killed during each thing that may go on.
const ROUNDS: usize = 3;

/// What the agent is told at the start, and has to know whatever happens.
const WORD: &str = "ananas";

/// The version that everything goes on from: no restore goes further back.
const FIRST: u64 = 2;

/// Versions go soon after they are superseded, and what only they needed some seconds later: a tree must be taken within
/// half that time.
const CONFIG: &str = "[retention]\nversions = 3\ndaily_days = 0\ngrace_seconds = 5\ninterval_seconds = 1";

#[tokio::test]
async fn whatever_is_killed_whenever_the_latest_version_is_whole_and_nothing_committed_is_lost() {
    kill_everybody(CONFIG).await;
}

#[tokio::test]
async fn whatever_is_killed_whenever_the_latest_version_is_whole_where_files_are_in_the_sandbox_alone() {
    kill_everybody(&format!("{CONFIG}\n[sandbox]\nfiles = \"guest\"")).await;
}

async fn kill_everybody(config: &str) {
    let mut seed = Seed::new();
    let mut server = Setup::new().config(config).start().await;
    let session = begin(&server.admin()).await;
    let first = contents(&server.admin(), session, FIRST).await.expect("it is kept");
    assert!(first.contains_key("deep/er/first.bin") && first.contains_key("/home/agent/note"), "{first:?}");
    let mut report: BTreeMap<(Victim, During), u32> = BTreeMap::new();
    let mut known: BTreeMap<u64, Files> = BTreeMap::new();
    let mut n_compared = 0;
    for (n, blow) in Blow::all(ROUNDS, &mut seed).into_iter().enumerate() {
        let is_hit = blow.strike(&mut server, session, &mut seed, n).await;
        *report.entry((blow.victim, blow.during)).or_default() += u32::from(is_hit);
        let client = server.admin();
        let what = format!("kill {n}, {blow:?}");
        let mut answer = ask(&client, session).await;
        if blow.victim != Victim::Server && is_cut(&answer) {
            answer = ask(&client, session).await;
        }
        assert_remembers(&answer, &what);
        let latest = check_agreement(&client, session, &what).await;
        let now = contents(&client, session, latest).await.expect("the latest version is kept");
        for (path, content) in &first {
            assert!(is_written_by_agent(path) || now.get(path) == Some(content), "{what}: {path}");
        }
        // What was committed is still there, byte for byte, as long as retention keeps it.
        for (number, before) in &known {
            if let Some(after) = contents(&client, session, *number).await {
                assert!(after == *before, "{what}: version {number} is another one now");
                n_compared += 1;
            }
        }
        known.insert(latest, now);
        known.retain(|number, _| number + 3 > latest);
    }
    rebuild(&mut server, session).await;
    show(&report, n_compared);
}

/// A session with a word to remember, and files of several kinds, also in the agent's home.
async fn begin(client: &TestClient) -> SessionId {
    let session = client.session_create().await;
    client.run(session, &format!("remember the word {WORD}")).await;
    let write = "run: mkdir -p deep/er && echo first > first.txt && head -c 70000 /dev/urandom > deep/er/first.bin && echo kept > ~/note";
    let events = client.run(session, write).await;
    assert_eq!(events.last().expect("events").kind(), "run_completed");
    session
}

/// What the agent keeps of its own, such as its transcript, grows with every run.
fn is_written_by_agent(path: &str) -> bool {
    path.starts_with("/home/agent/.warren/")
}

/// Whether a message came before the end of its sandbox was noticed: it fails, and says so.
fn is_cut(events: &[TestEvent]) -> bool {
    let last = &events.last().expect("events").json;
    last["type"] == "run_failed" && (last["code"] == "SANDBOX_ERROR" || last["code"] == "AGENT_ERROR")
}

async fn ask(client: &TestClient, session: SessionId) -> Vec<TestEvent> {
    client.run(session, "what did I say?").await
}

/// Everything that was begun came to an end, and the agent knows what it was told.
#[track_caller]
fn assert_remembers(events: &[TestEvent], what: &str) {
    let last = events.last().expect("events");
    assert_eq!(last.kind(), "run_completed", "{what}: {:#}", last.json);
    assert!(said(events).contains(WORD), "{what}: the agent forgot: {}", said(events));
}

/// The log and the versions say the same: each version has its entry, and each entry its version. Gives the latest.
async fn check_agreement(client: &TestClient, session: SessionId, what: &str) -> u64 {
    let log = client.log(session).await;
    assert_contiguous(&log);
    let told: Vec<u64> = log
        .iter()
        .filter(|event| event.kind() == "version_committed")
        .map(|event| event.json["version"].as_u64().expect("a number"))
        .collect();
    let all = client.get(&of(session, "versions?limit=500")).await.expect(StatusCode::OK);
    let mut kept: Vec<u64> = Vec::new();
    for version in all["versions"].as_array().expect("versions") {
        let number = version["version"].as_u64().expect("a number");
        let seq = version["seq"].as_u64().expect("a number");
        assert!(seq <= log.len() as u64, "{what}: version {number} is at entry {seq}, which is not there");
        kept.push(number);
    }
    kept.reverse();
    assert_eq!(kept, (0..kept.len() as u64).collect::<Vec<_>>(), "{what}: no version is missing");
    assert_eq!(told, kept[1..], "{what}: log and versions agree");
    *kept.last().expect("a version")
}

/// The session can be built again from nothing but its latest version: files, the agent's home, and what it remembers.
async fn rebuild(server: &mut TestServer, session: SessionId) {
    let latest = list(&server.admin(), session).await["head"]["version"].as_u64().expect("a number");
    let expected = contents(&server.admin(), session, latest).await.expect("it is kept");
    server.stop().await;
    let of_session = |place: &str| server.directory().join(place).join(session.to_string());
    for place in ["sessions", "workspaces"] {
        std::fs::remove_dir_all(of_session(place)).expect("removed");
    }
    let (mut workspace, mut home) =
        (of_session("workspaces").join("tree"), of_session("sessions").join("home"));
    server.restart().await;
    let client = server.admin();
    client.post(&of(session, "sandbox/start"), &json!({})).await.expect(StatusCode::OK);
    // Where they are the sandbox's alone, it is the only one.
    if let Some(own) = children(&server.directory().join("sandbox-files")).first() {
        (workspace, home) = (own.join("workspace"), own.join("home"));
    }
    let found = directories(&workspace, &home);
    let names = |files: &Files| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(&expected));
    assert!(found == expected, "a file that was built again is another one");
    assert_remembers(&ask(&client, session).await, "built again");
}

/// All files of a session as they are on disk.
fn directories(workspace: &Path, home: &Path) -> Files {
    let mut found = Files::new();
    on_disk(workspace, "", &mut found);
    on_disk(home, "/home/agent/", &mut found);
    found
}

#[expect(clippy::print_stdout, reason = "the report is what people read of this test")]
fn show(report: &BTreeMap<(Victim, During), u32>, n_compared: u32) {
    println!("| killed | during | kills that hit |\n|---|---|---|");
    for ((victim, during), n_hits) in report {
        println!("| {victim:?} | {during:?} | {n_hits} |");
    }
    let n_hits: u32 = report.values().sum();
    let n_tried = ROUNDS * report.len();
    println!("{n_tried} moments tried, {n_hits} hit, {n_compared} older versions compared, 0 losses");
    // Who is not there at that moment cannot be killed; but a test that mostly misses shows nothing.
    assert!(n_hits as usize * 4 >= n_tried * 3, "too many kills hit nothing");
    for victim in [Victim::Server, Victim::Guest, Victim::Agent] {
        assert!(report.iter().any(|((who, _), n_hits)| *who == victim && *n_hits > 0), "{victim:?}");
    }
    assert!(n_compared > 0, "no version was looked at twice");
}
