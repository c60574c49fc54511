//! Data that a server of an earlier commit stored: today's server reads it the same and goes on from it.
//!
//! The fixtures are in `apps/warren/fixtures/old-data`; its README says how they are made. Fields that were added since are
//! ignored. What may differ otherwise is in [`expected_now`], with the reason.

use std::{
    collections::BTreeMap,
    fs::File,
    path::{Path, PathBuf},
};

use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use warren_domain::{RunId, Seq, SessionId};
use warren_testkit::{Setup, TestClient, TestPostgres, TestServer};

use super::{
    session::{assert_contiguous, said},
    versions::of,
};

/// The fixture gets older with every day: nothing of it may expire.
const CONFIG: &str = "[retention]\nrecordings_days = 36500\ndeltas_days = 36500\ndaily_days = 36500";

/// The schema that the dumps are of.
const DUMPED: &str = "old_data";

/// Values of the profile that were given as secrets.
const SECRETS: [&str; 2] = ["not-a-secret-of-anybody-1", "not-a-secret-2"];

/// What is shown in place of a secret.
const HIDDEN: &str = "***kept***";

/// What the old server answered.
#[derive(Deserialize)]
struct Recorded {
    ids: Ids,
    /// By path; bytes that are no JSON are `{"hex": …}`.
    answers: BTreeMap<String, Value>,
    /// Whole logs.
    logs: BTreeMap<SessionId, Vec<Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ids {
    main: SessionId,
    fork: SessionId,
    asking: SessionId,
    /// The session with a run that was cut, and one that waited behind it.
    cut: SessionId,
    cut_run: RunId,
    queued_run: RunId,
    /// A run with more than twenty recorded model calls, and its replay.
    many: RunId,
    replay: String,
}

#[tokio::test]
async fn data_of_commit_773ed23_on_sqlite_reads_the_same_and_goes_on() {
    let fixture = Fixture("773ed23");
    let server = Setup::new().config(CONFIG).start_after(|directory| fixture.unpack(directory)).await;
    check(server, &fixture).await;
}

#[tokio::test]
async fn data_of_commit_773ed23_on_postgresql_reads_the_same_and_goes_on() {
    let Some(postgres) = TestPostgres::new().await else { return };
    let fixture = Fixture("773ed23-postgresql");
    postgres.load(&String::from_utf8(fixture.read("sql.zst")).expect("a text"), DUMPED).await;
    let setup = Setup::new().config(CONFIG).variable("WARREN_STORAGE_DATABASE_URL", &postgres.url());
    check(setup.start_after(|directory| fixture.unpack(directory)).await, &fixture).await;
    postgres.remove().await;
}

/// Everything, in an order in which nothing that is compared has changed yet.
async fn check(mut server: TestServer, fixture: &Fixture) {
    let recorded = fixture.recorded();
    let client = server.admin();
    check_answers(&client, &recorded).await;
    check_logs(&client, &recorded).await;
    check_cut_run(&client, &recorded).await;
    check_allowed_always(&client, &recorded).await;
    check_replay(&client, &recorded).await;
    check_fork(&client, &recorded).await;
    check_restore(&client, &recorded).await;
    server.restart().await;
    check_erase(&server.admin(), &recorded).await;
    server.stop().await;
}

/// Every answer is there, and the same.
async fn check_answers(client: &TestClient, recorded: &Recorded) {
    let mut all = Vec::new();
    for (path, old) in &recorded.answers {
        let found = answer(client, path).await;
        let (old, found) = expected_now(path, old.clone(), found, recorded);
        compare(&old, &found, path, &mut all);
    }
    assert!(all.is_empty(), "{} differences:\n{}", all.len(), all.join("\n"));
}

/// What an old answer became by design; and of today's, what is still to be compared.
fn expected_now(path: &str, mut old: Value, mut found: Value, recorded: &Recorded) -> (Value, Value) {
    // Its cut run ended, and the run that waited was carried out: `check_cut_run` looks at it.
    if path == "/api/sessions" {
        for list in [&mut old, &mut found] {
            let sessions = list["sessions"].as_array_mut().expect("a list");
            sessions.retain(|session| session["sessionId"] != json!(recorded.ids.cut));
        }
    }
    // Variables and headers of profiles may be secrets, and are not shown any more.
    if path.starts_with("/api/profiles") {
        let text = found.to_string();
        assert!(SECRETS.iter().all(|secret| !text.contains(secret)), "{path} shows a secret: {text}");
        mask(&mut old, &found);
    }
    // Of one machine: when the archive's files were unpacked, how large a directory is there, and its ports.
    for value in [&mut old, &mut found] {
        if path.ends_with("/knowledge") {
            forget(value, "/files", &["etag", "modifiedAt"], |_| true);
        } else if path.ends_with("/fs") {
            value["source"] = Value::Null;
            forget(value, "/entries", &["etag", "sizeBytes"], |entry| entry["kind"] == "directory");
        } else if path.ends_with("/artifacts") {
            forget(value, "/artifacts", &["previewUrl"], |_| true);
        }
    }
    (old, found)
}

/// Takes over what today's answer has in place of a secret.
fn mask(old: &mut Value, found: &Value) {
    match old {
        _ if found == HIDDEN => *old = found.clone(),
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| mask(value, &found[name])),
        Value::Array(items) => items.iter_mut().enumerate().for_each(|(n, item)| mask(item, &found[n])),
        _ => {}
    }
}

/// Removes fields of those items of a list that are of one machine.
fn forget(value: &mut Value, list: &str, fields: &[&str], is_local: impl Fn(&Value) -> bool) {
    let items = value.pointer_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
    for item in items.filter(|item| is_local(item)) {
        fields.iter().for_each(|field| item[*field] = Value::Null);
    }
}

/// Nothing of a log is missing or different. New entries only follow.
async fn check_logs(client: &TestClient, recorded: &Recorded) {
    let mut all = Vec::new();
    for (session, old) in &recorded.logs {
        let log = client.log(*session).await;
        assert_contiguous(&log);
        assert!(log.len() >= old.len(), "session {session} has {} of {} entries", log.len(), old.len());
        for (old, found) in old.iter().zip(&log) {
            compare(old, &found.json, &format!("{session}: entry {}", found.seq), &mut all);
        }
        if *session != recorded.ids.cut {
            assert_eq!(log.len(), old.len(), "nothing happened in session {session} since");
        }
    }
    let (main, n_calls) = (&recorded.logs[&recorded.ids.main], |log: &[Value]| {
        log.iter().filter(|event| event["type"] == "model_called").count()
    });
    assert!(main.len() > 200 && n_calls(main) > 20, "the fixture is a long session");
    assert!(all.is_empty(), "{} differences:\n{}", all.len(), all.join("\n"));
}

/// The run that was cut when the old server was killed has failed; the one behind it is carried out.
async fn check_cut_run(client: &TestClient, recorded: &Recorded) {
    let Ids { cut, cut_run, queued_run, .. } = &recorded.ids;
    let mut events = client.events(*cut, Seq(0)).await;
    let log = events.until(|event| event.ends_run(*queued_run)).await;
    let ended: Vec<_> = log.iter().filter(|event| event.ends_run(*cut_run)).collect();
    assert_eq!(
        ended.iter().map(|event| event.json["code"].clone()).collect::<Vec<_>>(),
        ["SERVER_RESTARTED"]
    );
    assert_eq!(log.last().expect("events").kind(), "run_completed");
    assert!(said(&log).contains("kept"), "{}", said(&log));
}

/// A yes for good that names no rule is from a time when it covered a whole tool: a person is asked again, and goes on.
async fn check_allowed_always(client: &TestClient, recorded: &Recorded) {
    let asking = recorded.ids.asking;
    let (run, seq) = client.message_send(asking, "run: touch third.txt").await;
    let mut events = client.events(asking, seq).await;
    events.until(|event| event.kind() == "approval_requested").await;
    let pending = client.get(&format!("/api/approvals?status=pending&sessionId={asking}")).await;
    let pending = pending.expect(StatusCode::OK);
    let approval = pending["approvals"][0]["approvalId"].as_str().expect("one that waits").to_owned();
    client
        .post(&format!("/api/approvals/{approval}"), &json!({"decision": "allow"}))
        .await
        .expect(StatusCode::OK);
    let ended = events.until(|event| event.ends_run(run)).await;
    assert_eq!(ended.last().expect("events").kind(), "run_completed");
}

/// A run that the old server recorded is replayed, as the old server could.
async fn check_replay(client: &TestClient, recorded: &Recorded) {
    let Ids { main, many, replay, .. } = &recorded.ids;
    let old = &recorded.answers[&of(*main, &format!("replays/{replay}"))];
    let path = of(*main, &format!("runs/{many}/replay"));
    let answer = client.post(&path, &json!({"wait": true})).await;
    assert!(answer.status.is_success(), "{:#}", answer.body);
    for field in ["status", "outcome", "divergence"] {
        assert_eq!(answer.body[field], old[field], "{field}: {:#}", answer.body);
    }
}

/// The agent remembers; a fork of an old version has its files and its memory.
async fn check_fork(client: &TestClient, recorded: &Recorded) {
    let main = recorded.ids.main;
    let told = said(&client.run(main, "what word did I tell you?").await);
    assert!(told.contains("heather"), "{told}");
    let forked = client.post(&of(main, "fork"), &json!({"version": 3})).await.expect(StatusCode::CREATED);
    let fork: SessionId = forked["sessionId"].as_str().expect("an id").parse().expect("an id");
    let told = said(&client.run(fork, "run: cat poem.txt && sed -n 100p a/b/numbers.txt").await);
    assert!(told.contains("one") && told.contains("100"), "{told}");
    client.delete(&at(fork)).await.expect(StatusCode::NO_CONTENT);
}

/// An old version comes back byte for byte, with modes and links.
async fn check_restore(client: &TestClient, recorded: &Recorded) {
    let main = recorded.ids.main;
    client.post(&of(main, "restore"), &json!({"version": 3})).await.expect(StatusCode::OK);
    for file in ["poem.txt", "a/b/numbers.txt", "a/raw.bin"] {
        let old = &recorded.answers[&of(main, &format!("versions/3/file?path={file}"))];
        assert_eq!(&answer(client, &of(main, &format!("fs/read?path={file}"))).await, old, "{file}");
    }
    let events = client.run(main, "run: stat -c %a a/raw.bin && readlink a/b/link && ls").await;
    let told = said(&events);
    assert!(told.contains("750") && told.contains("numbers.txt"), "{told}");
    assert!(!told.contains("counted.txt"), "what came later is gone: {told}");
}

async fn check_erase(client: &TestClient, recorded: &Recorded) {
    // A fork keeps nothing of its origin alive that it does not have itself.
    for session in [recorded.ids.main, recorded.ids.cut] {
        client.delete(&at(session)).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(client.get(&at(session)).await.refusal(), (404, "NOT_FOUND"));
    }
    let told = said(&client.run(recorded.ids.fork, "run: ls").await);
    assert!(!told.is_empty(), "the fork goes on");
    for session in recorded.logs.keys().filter(|id| ![recorded.ids.main, recorded.ids.cut].contains(id)) {
        client.delete(&at(*session)).await.expect(StatusCode::NO_CONTENT);
    }
    assert_eq!(client.get("/api/sessions").await.expect(StatusCode::OK)["sessions"], json!([]));
}

fn at(session: SessionId) -> String {
    format!("/api/sessions/{session}")
}

/// An answer as the fixture has it.
async fn answer(client: &TestClient, path: &str) -> Value {
    let response = client.request(Method::GET, path).send().await.expect("the server answers");
    let status = response.status();
    let is_json = response
        .headers()
        .get("content-type")
        .is_some_and(|kind| kind.to_str().is_ok_and(|kind| kind.starts_with("application/json")));
    let bytes = response.bytes().await.expect("the answer is whole");
    assert!(status.is_success(), "{path}: {status} {}", String::from_utf8_lossy(&bytes));
    if is_json {
        return serde_json::from_slice(&bytes).expect("JSON");
    }
    json!({"hex": bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()})
}

/// Notes what of `old` is not in `found`. Fields that only `found` has are new.
fn compare(old: &Value, found: &Value, place: &str, differences: &mut Vec<String>) {
    match (old, found) {
        (Value::Object(old), Value::Object(found)) => {
            for (name, value) in old {
                let place = format!("{place} .{name}");
                match found.get(name) {
                    Some(found) => compare(value, found, &place, differences),
                    // Absent and null say the same.
                    None if value.is_null() => {}
                    None => differences.push(format!("{place}: was {value}, is missing")),
                }
            }
        }
        (Value::Array(old), Value::Array(found)) if old.len() == found.len() => {
            for (n, (old, found)) in old.iter().zip(found).enumerate() {
                compare(old, found, &format!("{place} [{n}]"), differences);
            }
        }
        // Costs are sums: their last digit depends on the way they were written and read.
        (Value::Number(old), Value::Number(found)) if is_close(old.as_f64(), found.as_f64()) => {}
        _ if old == found => {}
        _ => differences.push(format!("{place}: was {old}, is {found}")),
    }
}

fn is_close(old: Option<f64>, found: Option<f64>) -> bool {
    old.zip(found).is_some_and(|(old, found)| (old - found).abs() <= old.abs() * 1e-12)
}

/// Files of `apps/warren/fixtures/old-data`, by the name they begin with.
struct Fixture(&'static str);

impl Fixture {
    fn path(&self, ending: &str) -> PathBuf {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/old-data");
        fixtures.join(format!("{}.{ending}", self.0))
    }

    fn read(&self, ending: &str) -> Vec<u8> {
        let file = File::open(self.path(ending)).expect("the fixture is there");
        zstd::decode_all(file).expect("the fixture is whole")
    }

    fn recorded(&self) -> Recorded {
        serde_json::from_slice(&self.read("json.zst")).expect("what the old server answered")
    }

    fn unpack(&self, directory: &Path) {
        tar::Archive::new(self.read("tar.zst").as_slice())
            .unpack(directory)
            .expect("the fixture is unpacked");
        // The archive has the mode of the directory it was made of; a server wants its own to be private.
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(directory, private).expect("the directory is ours");
    }
}
