//! Sandboxes whose files are in them alone, as those of another machine are: versions are taken and given back through the
//! guest, and nothing of a session's files is ever in a directory of the server.

use std::{fs, path::Path, time::Duration};

use reqwest::StatusCode;
use rustix::process::Signal;
use serde_json::{Value, json};
use warren_domain::{Seq, SessionId};
use warren_testkit::{Process, Setup, TestClient, TestEvent, TestServer};

use super::{
    session::{kinds, said},
    versions::{file, list, of},
};

/// Files of many kinds, in every place that belongs to a version.
const MAKE: &str = "run: mkdir -p src/deep empty 'odd name' outputs && head -c 700000 /dev/urandom > src/deep/random.bin \
    && printf 'one\\n' > src/a.txt && chmod 640 src/a.txt && touch -d '2001-02-03 04:05:06' src/a.txt \
    && printf '#!/bin/sh\\necho hi\\n' > run.sh && chmod 755 run.sh && : > 'odd name/nothing' && chmod 500 'odd name' \
    && ln -s src/a.txt link && ln -s /nowhere/at/all broken && truncate -s 5M sparse && chmod 750 src/deep \
    && echo out > outputs/out.txt && echo kept > ~/note && chmod 600 ~/note && echo given > /user-input/data.csv";

/// What they look like: kind, mode, size, time and target of each, and what is in it.
const LOOK: &str = "run: cd / && look='workspace user-input home/agent/note ( -name closed -o -name shut.txt ) -prune -o' && set -f \
    && find $look -type d -printf '%p d %m\\n' -o -printf '%p %y %m %s %T@ %l\\n' | sort \
    && find $look -type f -exec sha256sum {} + | sort";

fn setup() -> Setup {
    Setup::new()
        .config("[sandbox]\nfiles = \"guest\"\nidle_timeout_seconds = 600")
        .variable("WARREN_LOG", "warn,warren_runtime=debug")
}

async fn stop(client: &TestClient, session: SessionId) {
    client.post(&of(session, "sandbox/stop"), &json!({})).await.expect(StatusCode::NO_CONTENT);
}

/// What a command printed.
fn printed(events: &[TestEvent]) -> String {
    let result = events.iter().find(|event| event.json["block"]["type"] == "tool_result").expect("a result");
    result.json["block"].to_string()
}

/// What the files look like now.
async fn look(client: &TestClient, session: SessionId) -> String {
    let events = client.run(session, LOOK).await;
    assert_eq!(events.last().expect("events").kind(), "run_completed", "{events:#?}");
    said(&events)
}

/// No file of a session is in any directory of the server, but in those of sandboxes that run.
#[track_caller]
fn assert_nothing_is_here(server: &TestServer) {
    for name in ["tree", "home", "user-input", "tree.new", "home.new", "user-input.new", "version"] {
        for place in ["sessions", "workspaces"] {
            let found = children(&server.directory().join(place)).into_iter().map(|at| at.join(name));
            assert_eq!(found.filter(|at| at.exists()).collect::<Vec<_>>(), Vec::<std::path::PathBuf>::new());
        }
    }
}

pub(super) fn children(directory: &Path) -> Vec<std::path::PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// Where sandboxes that run have their files.
fn in_sandboxes(server: &TestServer) -> Vec<std::path::PathBuf> {
    children(&server.directory().join("sandbox-files"))
}

/// How many bytes of files guests sent for each tree that was taken, since the server was started.
fn sent(server: &TestServer) -> Vec<u64> {
    let log = server.stderr();
    let of_line = |line: &str| -> Option<u64> {
        assert!(line.contains("Guest"), "no tree is taken from a directory of the host: {line}");
        let number = line.split("sent").nth(1)?.trim_start_matches(|c: char| !c.is_ascii_digit());
        number.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    log.lines().filter(|line| line.contains("a tree was taken")).filter_map(of_line).collect()
}

#[tokio::test]
async fn files_that_went_with_their_sandbox_come_back_from_the_version_byte_for_byte() {
    let mut server = setup().start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "remember the word ananas").await;
    let made = client.run(session, MAKE).await;
    assert_eq!(made.last().unwrap().kind(), "run_completed", "{}", printed(&made));
    let shut = "run: echo shut > shut.txt && chmod 000 shut.txt && mkdir -p closed/in && echo deep > closed/in/x && chmod 300 closed";
    client.run(session, shut).await;
    let before = look(&client, session).await;
    assert!(before.contains("workspace/broken l 777") && before.contains("/nowhere/at/all"), "{before}");
    assert_nothing_is_here(&server);
    assert_eq!(in_sandboxes(&server).len(), 1);
    assert!(sent(&server)[1] > 700_000, "what was written was sent: {:?}", sent(&server));

    // Ended in good order; then killed, with all that could hold a file but the store of versions removed.
    stop(&client, session).await;
    assert_eq!(in_sandboxes(&server).len(), 0, "it took them with it");
    assert_eq!(look(&client, session).await, before);
    server.kill().await;
    for place in ["sessions", "workspaces", "sandbox-files", "trees/cache"] {
        fs::remove_dir_all(server.directory().join(place)).expect("removed");
    }
    server.restart().await;
    let client = server.admin();
    let asleep = client.get(&of(session, "fs/read?path=src/a.txt")).await;
    assert_eq!(asleep.expect(StatusCode::OK), json!("one\n"), "from the version");
    assert_eq!(look(&client, session).await, before);
    let answer = said(&client.run(session, "what did I say?").await);
    assert!(answer.contains("ananas"), "{answer}");
    let open = "run: stat -c '%a' shut.txt closed && chmod 700 shut.txt closed && cat shut.txt closed/in/x";
    let told = said(&client.run(session, open).await);
    assert!(told.contains("0\n300\nshut\ndeep"), "also what its own user may not read: {told}");
    assert_nothing_is_here(&server);
    server.stop().await;
    assert_eq!(in_sandboxes(&server).len(), 0);
}

#[tokio::test]
async fn what_did_not_change_is_not_sent_and_what_did_is() {
    let server = setup().start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, MAKE).await;
    // Files have to be a little older than the scan that knows how they look; the agent's home changes with every run.
    tokio::time::sleep(Duration::from_millis(50)).await;
    client.post(&of(session, "snapshot"), &json!({})).await.expect(StatusCode::OK);
    let n_taken = sent(&server).len();
    client.post(&of(session, "snapshot"), &json!({})).await.expect(StatusCode::OK);
    assert_eq!(sent(&server)[n_taken..], [0]);
    stop(&client, session).await;
    assert_eq!(sent(&server)[n_taken..], [0, 0]);
    assert_eq!(list(&client, session).await["head"], json!({"version": 1, "dirty": false}));

    // The same after it was brought into a new sandbox: the guest knows what it wrote.
    client.post(&of(session, "sandbox/start"), &json!({})).await.expect(StatusCode::OK);
    client.put(&of(session, "fs?path=src/a.txt"), &json!("two\n")).await.expect(StatusCode::OK);
    client.post(&of(session, "snapshot"), &json!({})).await.expect(StatusCode::OK);
    let last = *sent(&server).last().unwrap();
    assert!((4..5_000).contains(&last), "one file, and what of the home is new: {last}");
    let diff = client.get(&of(session, "versions/2/diff")).await.expect(StatusCode::OK);
    let paths: Vec<_> = diff["files"].as_array().unwrap().iter().map(|file| file["path"].clone()).collect();
    assert_eq!(paths, [json!("src/a.txt")]);
}

#[tokio::test]
async fn older_versions_are_restored_forked_and_gone_back_to() {
    let server = setup().start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "remember the word ananas").await;
    client.run(session, "run: echo good > state.txt && mkdir -p empty && ln -s state.txt link").await;
    client.run(session, "run: echo bad > state.txt && rm -r empty link").await;
    client.run(session, "remember the word banana").await;
    client.post(&of(session, "restore"), &json!({"version": 2})).await.expect(StatusCode::OK);
    let looked = said(&client.run(session, "run: cat link && test -d empty && echo whole").await);
    assert!(looked.contains("good") && looked.contains("whole"), "{looked}");
    let answer = said(&client.run(session, "what did I say?").await);
    assert!(answer.contains("ananas") && !answer.contains("banana"), "{answer}");

    let forked = client.post(&of(session, "fork"), &json!({"version": 3})).await.expect(StatusCode::CREATED);
    let fork: SessionId = forked["sessionId"].as_str().unwrap().parse().unwrap();
    let asleep = client.get(&of(fork, "fs/read?path=state.txt")).await;
    assert_eq!(asleep.expect(StatusCode::OK), json!("bad\n"), "before its first sandbox");
    let looked = said(&client.run(fork, "run: cat state.txt && test ! -e link && echo bare").await);
    assert!(looked.contains("bad") && looked.contains("bare"), "{looked}");

    client.post(&of(session, "restore"), &json!({"version": 0})).await.expect(StatusCode::OK);
    assert_eq!(client.get(&of(session, "fs/read?path=state.txt")).await.status, StatusCode::NOT_FOUND);
    let looked = said(&client.run(session, "run: test ! -e state.txt && echo bare").await);
    assert!(looked.contains("bare"), "{looked}");
    assert_nothing_is_here(&server);
}

/// The guest of the only sandbox, and whether it reads its files right now.
fn guest(server: &TestServer) -> (Option<Process>, bool) {
    let all = server.processes();
    let is_scanning = all.iter().any(|process| process.command().contains(" tree scan "));
    let is_guest = |process: &&Process| {
        let command = process.command();
        command.starts_with("/warren/guest") && !command.starts_with("/warren/guest agent")
    };
    (all.iter().find(is_guest).cloned(), is_scanning)
}

#[tokio::test]
async fn a_guest_that_dies_while_it_scans_leaves_the_version_before_whole_and_the_session_says_so() {
    let server = setup().start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: echo kept > a.txt").await;
    let write = "run: echo lost > a.txt && head -c 150000000 /dev/urandom > big.bin";
    let (run, seq) = client.message_send(session, write).await;
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    while !guest(&server).1 {
        assert!(tokio::time::Instant::now() < deadline, "it never scans");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    guest(&server).0.expect("a guest").signal(Signal::KILL);
    let events = client.events(session, seq).await.until(|event| event.ends_run(run)).await;
    let end = &events.last().unwrap().json;
    assert_eq!((&end["type"], &end["code"]), (&json!("run_failed"), &json!("SANDBOX_ERROR")), "{end:#}");
    assert!(end["message"].as_str().unwrap().contains("could not be committed"), "{end:#}");
    assert_eq!(list(&client, session).await["head"], json!({"version": 1, "dirty": true}));
    assert_eq!(file(&client, session, 1, "a.txt").await, (200, json!("kept\n")));

    let next = client.run(session, "run: cat a.txt; test ! -e big.bin && echo bare").await;
    assert_eq!(next.last().unwrap().kind(), "run_completed", "{next:#?}");
    assert!(said(&next).contains("kept") && said(&next).contains("bare"), "{}", said(&next));
    let log = client.log(session).await;
    let lost = |event: &TestEvent| {
        let message = event.json["block"]["message"].as_str().unwrap_or_default();
        message.contains("were lost with the sandbox; the session continues from version 1")
    };
    assert_eq!(log.iter().filter(|event| lost(event)).count(), 1, "{log:#?}");
    let causes: Vec<Value> = list(&client, session).await["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|version| version["cause"].clone())
        .collect();
    assert_eq!(causes, ["run", "recovered", "run", "manual"]);
}

#[tokio::test]
async fn what_a_cut_run_left_is_committed_before_its_sandbox_ends() {
    let server = setup().start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let (run, seq) = client.message_send(session, "run: echo cut > cut.txt; sleep 600").await;
    let mut events = client.events(session, seq).await;
    events.until(|event| event.kind() == "file_changed" && event.json["path"] == "cut.txt").await;
    let agent = server.processes().into_iter().find(|it| it.command().starts_with("/warren/guest agent"));
    agent.expect("an agent").signal(Signal::KILL);
    let told = events.until(|event| event.json["runtime"]["sandbox"]["status"] == "terminated").await;
    let end = told.iter().find(|event| event.ends_run(run)).expect("its end");
    assert_eq!(end.kind(), "run_failed");
    let committed = told.iter().find(|event| event.kind() == "version_committed").expect("a version");
    assert_eq!((&committed.json["version"], &committed.json["cause"]), (&json!(1), &json!("recovered")));
    let next = said(&client.run(session, "run: cat cut.txt").await);
    assert!(next.contains("cut"), "{next}");
}

#[tokio::test]
async fn an_idle_sandbox_ends_only_when_what_it_holds_is_in_a_version() {
    let setup = Setup::new().config("[sandbox]\nfiles = \"guest\"\nidle_timeout_seconds = 2");
    let server = setup.start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let first = client.run(session, "run: echo kept > a.txt").await;
    let packs = children(&server.directory().join("trees/trees"))[0].join("packs");
    let away = server.directory().join("away");
    fs::rename(&packs, &away).expect("moved away");
    fs::write(&packs, "no directory").expect("in its place");
    client.put(&of(session, "fs?path=b.txt"), &json!("late\n")).await.expect(StatusCode::OK);

    let mut events = client.events(session, first.last().unwrap().seq).await;
    let sandbox = |event: &TestEvent| event.json["runtime"]["sandbox"].clone();
    let told = events.until(|event| sandbox(event)["statusMessage"].is_string()).await;
    let shown = sandbox(told.last().unwrap());
    assert_eq!(shown["status"], "ready", "{shown:#}");
    assert!(shown["statusMessage"].as_str().unwrap().contains("could not be committed"), "{shown:#}");
    let refused = client.post(&of(session, "sandbox/stop"), &json!({})).await;
    assert_eq!(refused.refusal().1, "SANDBOX_ERROR", "{:#}", refused.body);

    fs::remove_file(&packs).expect("removed");
    fs::rename(&away, &packs).expect("repaired");
    let ended = events.until(|event| sandbox(event)["status"] == "terminated").await;
    assert!(kinds(&ended).contains(&"version_committed"), "{:?}", kinds(&ended));
    assert_eq!(file(&client, session, 2, "b.txt").await, (200, json!("late\n")));
    let woken = said(&client.run(session, "run: cat a.txt b.txt").await);
    assert!(woken.contains("kept") && woken.contains("late"), "{woken}");
}

#[tokio::test]
async fn sessions_that_share_a_workspace_work_in_it_one_after_the_other() {
    let server = setup().start().await;
    let client = server.admin();
    let one = client.session_create().await;
    let detail = client.get(&format!("/api/sessions/{one}")).await.expect(StatusCode::OK);
    let made = client.post("/api/sessions", &json!({"workspaceId": detail["workspaceId"]})).await;
    let two: SessionId = made.expect(StatusCode::CREATED)["sessionId"].as_str().unwrap().parse().unwrap();
    client.run(one, "run: echo from one > one.txt; echo mine > ~/own").await;
    let refused = client.run(two, "run: ls").await;
    let end = &refused.last().unwrap().json;
    assert_eq!((&end["type"], &end["code"]), (&json!("run_failed"), &json!("CONFLICT")), "{end:#}");

    stop(&client, one).await;
    let told =
        said(&client.run(two, "run: cat one.txt; test ! -e ~/own && echo apart; echo two > two.txt").await);
    assert!(told.contains("from one") && told.contains("apart"), "{told}");
    stop(&client, two).await;
    let told = said(&client.run(one, "run: cat one.txt two.txt ~/own").await);
    assert!(told.contains("from one\ntwo\nmine"), "{told}");

    // The one that has the files cannot be erased before another has them.
    let erase = async |session: SessionId| client.delete(&format!("/api/sessions/{session}")).await;
    assert_eq!(erase(one).await.refusal(), (409, "CONFLICT"));
    stop(&client, one).await;
    assert_eq!(erase(one).await.refusal(), (409, "CONFLICT"));
    client.run(two, "hello").await;
    erase(one).await.expect(StatusCode::NO_CONTENT);
    stop(&client, two).await;
    let told = said(&client.run(two, "run: cat one.txt two.txt").await);
    assert!(told.contains("from one\ntwo"), "{told}");
}

#[tokio::test]
async fn a_server_that_is_killed_in_a_run_goes_on_from_the_version_and_says_what_is_lost() {
    let mut server = setup().start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: echo kept > a.txt").await;
    let (_, seq) = client.message_send(session, "run: echo lost > b.txt; sleep 600").await;
    let mut events = client.events(session, seq).await;
    events.until(|event| event.kind() == "file_changed" && event.json["path"] == "b.txt").await;
    server.kill().await;
    server.restart().await;
    let client = server.admin();
    assert!(in_sandboxes(&server).is_empty(), "what it left is swept");
    let next = said(&client.run(session, "run: cat a.txt; test ! -e b.txt && echo bare").await);
    assert!(next.contains("kept") && next.contains("bare"), "{next}");
    let log = client
        .events(session, Seq(0))
        .await
        .until(|event| event.json["block"]["id"].as_str().is_some_and(|id| id.starts_with("lost-")))
        .await;
    assert!(
        log.last().unwrap().json["block"]["message"].as_str().unwrap().contains("continues from version 1")
    );
}
