//! Servers, guests and agents are killed at any moment; versions stay whole.

use std::{collections::BTreeMap, path::Path, time::Duration};

use reqwest::StatusCode;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use warren_domain::SessionId;
use warren_testkit::{Seed, Setup, TestClient, TestServer};

use super::{
    session::assert_contiguous,
    versions::{file, list, of},
};

/// How often something is killed.
const KILLS: u64 = 24;

/// What is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Server,
    Guest,
    Agent,
}

/// What goes on meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum During {
    Run,
    Commit,
    Restore,
}

/// Every file of a version, by path.
async fn contents(client: &TestClient, session: SessionId, version: u64) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    let listing = client.get(&of(session, &format!("versions/{version}/files"))).await.expect(StatusCode::OK);
    for entry in listing["entries"].as_array().expect("entries") {
        let path = entry["path"].as_str().expect("a path").to_owned();
        if entry["kind"] == "file" {
            let (status, content) = file(client, session, version, &path).await;
            assert_eq!(status, 200, "{path} of version {version}");
            all.insert(path, content);
        }
    }
    all
}

/// The log and the versions say the same: each version has its entry, and each entry its version.
async fn check_agreement(client: &TestClient, session: SessionId, n: u64) -> u64 {
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
        assert!(seq <= log.len() as u64, "kill {n}: version {number} is at entry {seq}, which is not there");
        kept.push(number);
    }
    kept.reverse();
    assert_eq!(kept, (0..kept.len() as u64).collect::<Vec<_>>(), "kill {n}: no version is missing");
    assert_eq!(told, kept[1..], "kill {n}: log and versions agree");
    *kept.last().expect("a version")
}

/// Begins something and kills in the middle of it.
async fn disturb(server: &mut TestServer, session: SessionId, seed: &mut Seed, n: u64) -> (Victim, During) {
    let victim = [Victim::Server, Victim::Guest, Victim::Agent][seed.below(3) as usize];
    let during = [During::Run, During::Commit, During::Restore][seed.below(3) as usize];
    let client = server.admin();
    let write =
        format!("run: echo {n} > n.txt; head -c {} /dev/urandom > r{}.bin", seed.below(200_000), n % 5);
    let latest = list(&client, session).await["head"]["version"].as_u64().expect("a number");
    let doing = async {
        match during {
            // Whatever becomes of it: it is killed.
            During::Run => drop(client.message_send(session, &write).await),
            During::Commit => drop(client.post(&of(session, "snapshot"), &json!({})).await),
            During::Restore => {
                let body = json!({"version": latest.saturating_sub(1)});
                drop(client.post(&of(session, "restore"), &body).await);
            }
        }
    };
    let moment = Duration::from_millis(seed.below(120));
    // The moment is the seed's; nothing is decided by it but where the blow falls.
    let _ = tokio::time::timeout(moment, doing).await;
    if during == During::Run {
        tokio::time::sleep(Duration::from_millis(seed.below(400))).await;
    }
    match victim {
        Victim::Server => {
            server.kill().await;
            server.restart().await;
        }
        Victim::Guest | Victim::Agent => {
            let processes = server.processes();
            let is_it = |name: &str| match victim {
                Victim::Guest => name.contains("guest"),
                _ => !name.contains("warren") && !name.contains("bwrap"),
            };
            let found = processes.iter().find(|process| is_it(&process.name));
            let pid = found.and_then(|process| i32::try_from(process.pid).ok()).and_then(Pid::from_raw);
            if let Some(pid) = pid {
                // It may have ended by itself.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
    (victim, during)
}

#[tokio::test]
async fn whatever_is_killed_whenever_the_latest_version_is_whole_and_nothing_committed_is_lost() {
    let mut seed = Seed::new();
    let config = "[retention]\nversions = 3\ndaily_days = 0\ngrace_seconds = 1\ninterval_seconds = 1";
    let mut server = Setup::new().config(config).start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: echo first > first.txt").await;
    let mut moments: BTreeMap<String, u64> = BTreeMap::new();
    let mut known: BTreeMap<u64, BTreeMap<String, Value>> = BTreeMap::new();
    for n in 0..KILLS {
        let (victim, during) = disturb(&mut server, session, &mut seed, n).await;
        *moments.entry(format!("{victim:?} during {during:?}")).or_default() += 1;
        let client = server.admin();
        // Everything that was begun comes to an end, and the session goes on.
        let after = client.run(session, "run: cat n.txt first.txt; true").await;
        assert_eq!(after.last().expect("events").kind(), "run_completed", "kill {n}: {victim:?} {during:?}");
        let latest = check_agreement(&client, session, n).await;
        let now = contents(&client, session, latest).await;
        assert_eq!(now.get("first.txt"), Some(&json!("first\n")), "kill {n}");
        // What was committed is still there, byte for byte, as long as retention keeps it.
        let kept = list(&client, session).await;
        for version in kept["versions"].as_array().expect("versions") {
            let number = version["version"].as_u64().expect("a number");
            if let Some(before) = known.get(&number).filter(|_| version.get("expired").is_none()) {
                assert_eq!(&contents(&client, session, number).await, before, "kill {n}: version {number}");
            }
        }
        known.insert(latest, now);
    }
    // And it can be built again from nothing but the version.
    let latest = list(&server.admin(), session).await["head"]["version"].as_u64().expect("a number");
    let expected = contents(&server.admin(), session, latest).await;
    server.stop().await;
    for place in ["sessions", "workspaces"] {
        std::fs::remove_dir_all(server.directory().join(place).join(session.to_string())).expect("removed");
    }
    server.restart().await;
    let started = server.admin().post(&of(session, "sandbox/start"), &json!({})).await;
    started.expect(StatusCode::OK);
    let tree = server.directory().join("workspaces").join(session.to_string()).join("tree");
    assert_eq!(on_disk(&tree), expected.keys().cloned().collect::<Vec<_>>());
    println!("{KILLS} kills, 0 losses: {moments:?}");
}

fn on_disk(tree: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(tree).expect("the workspace").flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut names: Vec<_> = files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
