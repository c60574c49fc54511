//! Versions: conversation and files together, read, compared, restored and forked.

use std::{os::unix::fs::MetadataExt, time::Duration};

use reqwest::StatusCode;
use serde_json::{Value, json};
use warren_domain::{Seq, SessionId};
use warren_testkit::{Setup, TestClient, TestServer};

use super::session::{kinds, said};

pub(super) fn of(session: SessionId, path: &str) -> String {
    format!("/api/sessions/{session}/{path}")
}

pub(super) async fn list(client: &TestClient, session: SessionId) -> Value {
    client.get(&of(session, "versions")).await.expect(StatusCode::OK)
}

/// A file of a version.
pub(super) async fn file(client: &TestClient, session: SessionId, version: u64, path: &str) -> (u16, Value) {
    let answer = client.get(&of(session, &format!("versions/{version}/file?path={path}"))).await;
    (answer.status.as_u16(), answer.body)
}

fn causes(list: &Value) -> Vec<(u64, String)> {
    let versions = list["versions"].as_array().expect("versions");
    let cause = |version: &Value| {
        let cause = version["cause"].as_str().expect("a cause").to_owned();
        (version["version"].as_u64().expect("a number"), cause)
    };
    versions.iter().map(cause).collect()
}

fn cause(version: u64, cause: &str) -> (u64, String) {
    (version, cause.to_owned())
}

#[tokio::test]
async fn each_run_leaves_a_version_that_can_be_listed_compared_and_read() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let first = client.run(session, "run: mkdir -p src && printf 'one\\ntwo\\n' > src/a.txt").await;
    let committed = first.iter().find(|event| event.kind() == "version_committed").expect("an entry");
    assert_eq!(
        (&committed.json["version"], &committed.json["base"], &committed.json["cause"]),
        (&json!(1), &json!(0), &json!("run")),
    );
    assert_eq!(committed.json["files"], json!({"added": 1, "changed": 0, "removed": 0}));
    assert!(committed.json["blocks"].as_u64().expect("a number") > 0);
    client.run(session, "run: printf 'one\\n2\\n' > src/a.txt && echo new > b.txt").await;

    let all = list(&client, session).await;
    assert_eq!(causes(&all), [cause(2, "run"), cause(1, "run"), cause(0, "manual")]);
    assert_eq!(all["head"], json!({"version": 2, "dirty": false}));
    assert_eq!(all["versions"][0]["files"], json!({"added": 1, "changed": 1, "removed": 0}));
    let part = client.get(&of(session, "versions?limit=2")).await.expect(StatusCode::OK);
    let rest = of(session, &format!("versions?cursor={}", part["nextCursor"].as_str().unwrap()));
    let rest = client.get(&rest).await.expect(StatusCode::OK);
    assert_eq!(causes(&rest), [cause(0, "manual")]);

    let diff = client.get(&of(session, "versions/2/diff")).await.expect(StatusCode::OK);
    let files = diff["files"].as_array().expect("files");
    let told: Vec<_> = files.iter().map(|file| (file["path"].clone(), file["change"].clone())).collect();
    assert_eq!(told, [(json!("b.txt"), json!("added")), (json!("src/a.txt"), json!("changed"))]);
    assert_eq!(files[1]["diff"], "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
    assert!(!diff["blocks"].as_array().expect("blocks").is_empty());
    let none = client.get(&of(session, "versions/1/diff?against=1")).await.expect(StatusCode::OK);
    assert_eq!((&none["files"], &none["blocks"]), (&json!([]), &json!([])));

    assert_eq!(file(&client, session, 1, "src/a.txt").await, (200, json!("one\ntwo\n")));
    assert_eq!(file(&client, session, 2, "/workspace/b.txt").await, (200, json!("new\n")));
    assert_eq!(file(&client, session, 1, "b.txt").await.0, 404);
    assert_eq!(file(&client, session, 1, "../../../etc/passwd").await.0, 400);
    let names = client.get(&of(session, "versions/2/files?path=src")).await.expect(StatusCode::OK);
    assert_eq!(names["entries"][0]["path"], "src/a.txt");
    assert_eq!(client.get(&of(session, "versions/9")).await.refusal(), (404, "NOT_FOUND"));
}

#[tokio::test]
async fn a_restored_version_is_a_new_one_with_files_and_memory_as_they_were() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "remember the word ananas").await;
    client.run(session, "run: echo good > state.txt && mkdir -p empty && ln -s state.txt link").await;
    client.run(session, "run: echo bad > state.txt && rm -r empty link").await;
    client.run(session, "remember the word banana").await;
    let made = client.post(&of(session, "restore"), &json!({"version": 2})).await.expect(StatusCode::OK);
    assert_eq!(
        (&made["version"], &made["cause"], &made["restored"]),
        (&json!(5), &json!("restore"), &json!(2))
    );
    assert_eq!(made["files"], json!({"added": 1, "changed": 1, "removed": 0}));
    let looked = client.run(session, "run: cat link && test -d empty && echo whole").await;
    assert!(said(&looked).contains("good") && said(&looked).contains("whole"), "{}", said(&looked));
    let answer = client.run(session, "what did I say?").await;
    let answer = said(&answer);
    assert!(answer.contains("ananas") && !answer.contains("banana"), "{answer}");
    let again = list(&client, session).await;
    assert_eq!(again["versions"].as_array().unwrap().len(), 8, "nothing that was is gone");
}

#[tokio::test]
async fn a_restore_moves_what_is_there_and_writes_the_rest() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: echo same > same.txt && echo one > other.txt").await;
    // A file has to be a little older than the version that knows how it looks.
    client.run(session, "run: echo two > other.txt").await;
    let shown = client.get(&format!("/api/sessions/{session}")).await.expect(StatusCode::OK);
    let tree =
        server.directory().join("workspaces").join(shown["workspaceId"].as_str().unwrap()).join("tree");
    let inode = |name: &str| std::fs::metadata(tree.join(name)).expect("a file").ino();
    let (same, other) = (inode("same.txt"), inode("other.txt"));
    client.post(&of(session, "restore"), &json!({"version": 1})).await.expect(StatusCode::OK);
    let looked = client.run(session, "run: cat same.txt other.txt && echo more >> same.txt").await;
    assert!(said(&looked).contains("same\none"), "{}", said(&looked));
    assert_eq!(inode("same.txt"), same, "it is the same file");
    assert_ne!(inode("other.txt"), other);
    assert_eq!(file(&client, session, 4, "same.txt").await, (200, json!("same\nmore\n")));
}

#[tokio::test]
async fn the_start_is_a_version_that_can_be_read_compared_forked_and_gone_back_to() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: echo one > a.txt").await;
    let start = client.get(&of(session, "versions/0")).await.expect(StatusCode::OK);
    assert_eq!((&start["version"], &start["sizeBytes"]), (&json!(0), &json!(0)));
    let listed = client.get(&of(session, "versions/0/files")).await.expect(StatusCode::OK);
    assert_eq!(listed["entries"], json!([]));
    assert_eq!(file(&client, session, 0, "a.txt").await.0, 404);
    for (path, change) in [("versions/1/diff", "added"), ("versions/0/diff?against=1", "removed")] {
        let diff = client.get(&of(session, path)).await.expect(StatusCode::OK);
        let [only] = &diff["files"].as_array().expect("files")[..] else { panic!("{diff:#}") };
        assert_eq!((&only["path"], &only["change"]), (&json!("a.txt"), &json!(change)));
    }
    let forked = client.post(&of(session, "fork"), &json!({"version": 0})).await.expect(StatusCode::CREATED);
    let fork: SessionId = forked["sessionId"].as_str().unwrap().parse().unwrap();
    let looked = client.run(fork, "run: test ! -e a.txt && echo empty").await;
    assert!(said(&looked).contains("empty"), "{}", said(&looked));

    let made = client.post(&of(session, "restore"), &json!({"version": 0})).await.expect(StatusCode::OK);
    assert_eq!((&made["version"], &made["restored"]), (&json!(2), &json!(0)));
    assert_eq!(made["files"], json!({"added": 0, "changed": 0, "removed": 1}));
    let looked = client.run(session, "run: test ! -e a.txt && echo empty").await;
    assert!(said(&looked).contains("empty"), "{}", said(&looked));
    let back = client.post(&of(session, "restore"), &json!({"version": 1})).await.expect(StatusCode::OK);
    assert_eq!(back["files"], json!({"added": 1, "changed": 0, "removed": 0}));
    assert_eq!(said(&client.run(session, "run: cat a.txt").await).matches("one").count(), 1);
}

#[tokio::test]
async fn a_message_sent_during_a_restore_waits_for_it() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: for i in $(seq 300); do echo good > f$i; done").await;
    let last = client.run(session, "run: for i in $(seq 300); do echo bad > f$i; done").await;
    let mut events = client.events(session, last.last().expect("an entry").seq).await;
    let place = of(session, "restore");
    let (version, ends) = (json!({"version": 1}), json!("restoring version 1"));
    let message = async {
        // Its sandbox has ended for the restore, which goes on.
        events.until(|event| event.json["runtime"]["sandbox"]["statusMessage"] == ends).await;
        let (run, _) = client.message_send(session, "run: cat f* | sort | uniq -c").await;
        events.until(|event| event.ends_run(run)).await
    };
    let (made, all) = tokio::join!(client.post(&place, &version), message);
    let made = made.expect(StatusCode::OK);
    let at = |kind: &str| all.iter().position(|event| event.kind() == kind).expect("an entry");
    assert!(at("version_committed") < at("run_started"), "{:?}", kinds(&all));
    assert_eq!(all[at("run_started")].json["baseVersion"], made["version"]);
    assert!(said(&all).contains("300 good"), "{}", said(&all));
}

#[tokio::test]
async fn a_restore_that_is_refused_commits_nothing_and_says_what_can_be_done() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: echo one > a.txt").await;
    client.put(&of(session, "fs?path=b.txt"), &json!("in no version")).await.expect(StatusCode::OK);
    let refused = client.post(&of(session, "restore"), &json!({"version": 99})).await;
    assert_eq!(refused.refusal(), (404, "NOT_FOUND"));
    assert_eq!(causes(&list(&client, session).await), [cause(1, "run"), cause(0, "manual")]);

    let (run, seq) = client.message_send(session, "run: sleep 60").await;
    for (path, body) in [("restore", json!({"version": 1})), ("snapshot", json!({})), ("unload", json!({}))] {
        let refused = client.post(&of(session, path), &body).await;
        assert_eq!(refused.refusal(), (409, "RUN_IN_PROGRESS"));
        let hint = refused.body["hint"].as_str().expect("a hint").to_owned();
        assert!(hint.contains("interrupt") && !hint.contains("whenBusy"), "{path}: {hint}");
        assert_eq!(hint.contains("force"), path == "unload", "{hint}");
    }
    client.post(&of(session, "interrupt"), &json!({})).await;
    client.events(session, seq).await.until(|event| event.ends_run(run)).await;
}

#[tokio::test]
async fn a_fork_goes_on_from_any_version_and_its_origin_does_not_notice() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "remember the word ananas").await;
    client.run(session, "run: echo one > a.txt").await;
    client.run(session, "run: echo two > a.txt").await;
    let before = list(&client, session).await;
    let body = json!({"version": 2, "name": "from before"});
    let forked = client.post(&of(session, "fork"), &body).await.expect(StatusCode::CREATED);
    assert_eq!(forked["forkedFrom"], json!({"sessionId": session, "version": 2}));
    assert_eq!((&forked["version"], &forked["name"]), (&json!(0), &json!("from before")));
    assert_ne!(forked["workspaceId"], json!(session));
    let fork: SessionId = forked["sessionId"].as_str().unwrap().parse().unwrap();
    let begun = client.get(&format!("/api/sessions/{fork}")).await.expect(StatusCode::OK);
    assert!(!begun["blocks"].as_array().unwrap().is_empty(), "what was said is shown");
    assert_eq!(begun["workspaceFiles"][0]["path"], "a.txt");
    assert_eq!(file(&client, fork, 0, "a.txt").await, (200, json!("one\n")));
    let run = client.run(fork, "run: cat a.txt && echo three > a.txt").await;
    assert!(said(&run).contains("one"), "{}", said(&run));
    let answer = client.run(fork, "what did I say?").await;
    assert!(said(&answer).contains("ananas"), "{}", said(&answer));
    assert_eq!(list(&client, session).await, before);
    assert_eq!(file(&client, session, 3, "a.txt").await, (200, json!("two\n")));

    let other = json!({"type": "codex"});
    let other = client.post(&of(session, "fork"), &other).await.expect(StatusCode::CREATED);
    assert!(other["loss"][0].as_str().is_some_and(|loss| loss.contains("codex")), "{other}");
}

#[tokio::test]
async fn what_a_failed_run_left_is_shown_and_committed_by_the_next_or_given_up() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: echo good > a.txt").await;
    let fail = async |text: &str| {
        let body = json!({"content": text, "timeBudget": {"hardSeconds": 1}});
        let sent = client.post(&of(session, "messages"), &body).await.expect(StatusCode::ACCEPTED);
        let run = sent["runId"].as_str().unwrap().parse().unwrap();
        client.events(session, Seq(0)).await.until(|event| event.ends_run(run)).await
    };
    let failed = fail("run: echo half > a.txt; sleep 60").await;
    assert_eq!(failed.last().unwrap().kind(), "run_failed");
    assert_eq!(list(&client, session).await["head"], json!({"version": 1, "dirty": true}));
    let next = client.run(session, "run: cat a.txt").await;
    assert!(said(&next).contains("half"), "{}", said(&next));
    assert_eq!(
        causes(&list(&client, session).await),
        [cause(3, "run"), cause(2, "recovered"), cause(1, "run"), cause(0, "manual")]
    );
    fail("run: echo worse > a.txt; sleep 60").await;
    let body = json!({"content": "run: cat a.txt", "from": "version"});
    let sent = client.post(&of(session, "messages"), &body).await.expect(StatusCode::ACCEPTED);
    let run = sent["runId"].as_str().unwrap().parse().unwrap();
    let mut events = client.events(session, Seq(sent["seq"].as_u64().unwrap() - 1)).await;
    let back = events.until(|event| event.ends_run(run)).await;
    assert!(said(&back).contains("half") && !said(&back).contains("worse"), "{}", said(&back));
    let latest = list(&client, session).await;
    assert_eq!(
        (&latest["versions"][0]["version"], &latest["versions"][0]["cause"]),
        (&json!(4), &json!("run"))
    );
}

#[tokio::test]
async fn idle_commits_what_changed_and_a_workspace_that_is_gone_is_built_again() {
    let server = Setup::new().config("[sandbox]\nidle_timeout_seconds = 3").start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let later = "run: echo kept > a.txt; \
                 (until [ -e go ]; do sleep 0.05; done; echo late > b.txt) > /dev/null 2>&1 &";
    let first = client.run(session, later).await;
    // Only when the run has ended, however long that takes.
    client.put(&of(session, "fs?path=go"), &json!("go")).await.expect(StatusCode::OK);
    let mut events = client.events(session, first.last().unwrap().seq).await;
    let ended = events.until(|event| event.json["runtime"]["sandbox"]["status"] == "terminated").await;
    assert!(kinds(&ended).contains(&"version_committed"), "{:?}", kinds(&ended));
    assert_eq!(file(&client, session, 2, "b.txt").await, (200, json!("late\n")));
    for place in ["sessions", "workspaces"] {
        std::fs::remove_dir_all(server.directory().join(place).join(session.to_string())).unwrap();
    }
    let again = client.run(session, "run: cat a.txt b.txt").await;
    assert!(said(&again).contains("kept\nlate"), "{}", said(&again));
}

#[tokio::test]
async fn directories_that_a_loss_of_power_may_have_torn_are_built_again() {
    let mut server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client
        .run(session, "run: echo whole > a.txt && mkdir -p node_modules && echo dear > node_modules/x")
        .await;
    let of_session = |place: &str| server.directory().join(place).join(session.to_string());
    let (note, tree) = (of_session("sessions").join("version"), of_session("workspaces").join("tree"));
    // Noted after the run's end was announced; believed as long as the machine runs.
    let is_noted = async {
        while !std::fs::read_to_string(&note).expect("a note").starts_with("1 ") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), is_noted).await.expect("version 1 is noted");

    // Asleep, and on the disk by then.
    server.stop().await;
    assert_eq!(std::fs::read_to_string(&note).expect("a note"), "1");
    server.restart().await;
    let client = server.admin();
    let looked = client.run(session, "run: cat a.txt node_modules/x").await;
    assert!(said(&looked).contains("whole\ndear"), "{}", said(&looked));

    // Awake, when the power went: the note is of another boot, and a file that looks the same is empty.
    server.kill().await;
    let noted = std::fs::read_to_string(&note).expect("a note");
    let (version, _boot) = noted.split_once(' ').expect("a version and a boot");
    std::fs::write(&note, format!("{version} 0e5c1b9e-0000-4000-8000-000000000000")).expect("written");
    std::fs::write(tree.join("a.txt"), "\0\0\0\0\0\0").expect("torn");
    server.restart().await;
    let client = server.admin();
    let read = client.get(&of(session, "fs/read?path=a.txt")).await;
    assert_eq!(read.expect(StatusCode::OK), json!("whole\n"), "what a sandbox would be given");
    let looked = client.run(session, "run: cat a.txt").await;
    assert!(said(&looked).contains("whole"), "{}", said(&looked));
}

/// Where the packs of the only partition are.
fn packs(server: &TestServer) -> std::path::PathBuf {
    let mut partitions = std::fs::read_dir(server.directory().join("trees/trees")).expect("trees");
    partitions.next().expect("a partition").expect("an entry").path().join("packs")
}

#[tokio::test]
async fn a_sandbox_whose_files_cannot_be_committed_does_not_end_until_they_can() {
    let server = Setup::new().config("[sandbox]\nidle_timeout_seconds = 2").start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let first = client.run(session, "run: echo kept > a.txt").await;
    let (packs, away) = (packs(&server), server.directory().join("away"));
    std::fs::rename(&packs, &away).expect("moved away");
    std::fs::write(&packs, "no directory").expect("in its place");
    let tree = server.directory().join("workspaces").join(session.to_string()).join("tree");
    std::fs::write(tree.join("b.txt"), "late\n").expect("a change that is in no version");

    let mut events = client.events(session, first.last().unwrap().seq).await;
    let sandbox = |event: &warren_testkit::TestEvent| event.json["runtime"]["sandbox"].clone();
    let told = events.until(|event| sandbox(event)["statusMessage"].is_string()).await;
    let shown = sandbox(told.last().unwrap());
    assert!(shown["statusMessage"].as_str().unwrap().contains("could not be committed"), "{shown:#}");
    assert_eq!(shown["status"], "ready", "{shown:#}");
    let refused = client.post(&of(session, "sandbox/stop"), &json!({})).await;
    assert_eq!(refused.refusal().1, "SANDBOX_ERROR", "{:#}", refused.body);
    let alive = client.get("/api/sandboxes").await.expect(StatusCode::OK);
    assert_eq!(alive["sandboxes"].as_array().map(Vec::len), Some(1), "{alive:#}");
    assert_eq!(list(&client, session).await["head"], json!({"version": 1, "dirty": true}));

    std::fs::remove_file(&packs).expect("removed");
    std::fs::rename(&away, &packs).expect("repaired");
    let ended = events.until(|event| sandbox(event)["status"] == "terminated").await;
    let committed = ended.iter().find(|event| event.kind() == "version_committed").expect("a version first");
    assert_eq!((&committed.json["version"], &committed.json["cause"]), (&json!(2), &json!("idle")));
    assert_eq!(file(&client, session, 2, "b.txt").await, (200, json!("late\n")));
    assert_eq!(list(&client, session).await["head"], json!({"version": 2, "dirty": false}));
}

#[tokio::test]
async fn what_takes_too_much_while_no_run_goes_on_is_committed_before_its_sandbox_ends() {
    let server = Setup::new().config("[sandbox.resource_limits]\ndisk = \"64MiB\"").start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let greedy = "run: (until [ -e go ]; do sleep 0.1; done; for n in 1 2 3 4 5; do head -c 20000000 /dev/zero > big$n.bin; done) > /dev/null 2>&1 &";
    let first = client.run(session, greedy).await;
    assert_eq!(first.last().unwrap().kind(), "run_completed");
    let tree = server.directory().join("workspaces").join(session.to_string()).join("tree");
    std::fs::write(tree.join("go"), "").expect("the sign to begin");
    let mut events = client.events(session, first.last().unwrap().seq).await;
    let ended = events.until(|event| event.json["runtime"]["sandbox"]["status"] == "terminated").await;
    let why = ended.last().unwrap().json["runtime"]["sandbox"]["statusMessage"].to_string();
    assert!(why.contains("bytes of disk"), "{why}");
    assert!(kinds(&ended).contains(&"version_committed"), "{:?}", kinds(&ended));
    assert_eq!(list(&client, session).await["head"], json!({"version": 2, "dirty": false}));
    assert_eq!(file(&client, session, 2, "big1.bin").await.0, 200);
}

#[tokio::test]
async fn a_stale_base_is_a_conflict_that_names_the_current_version_and_can_be_tried_again() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: echo x").await;
    let stale = json!({"content": "run: echo y", "baseVersion": 0});
    let refused = client.post(&of(session, "messages"), &stale).await;
    assert_eq!(refused.refusal(), (409, "VERSION_CONFLICT"));
    assert_eq!(refused.body["currentVersion"], 1);
    let retry =
        json!({"content": "run: echo y", "baseVersion": 0, "onConflict": {"retries": 2, "backoffMs": 1}});
    let sent = client.post(&of(session, "messages"), &retry).await.expect(StatusCode::ACCEPTED);
    assert_eq!(sent["retries"], 1);
    let word = json!({"content": "run: echo y", "baseVersion": 0, "onConflict": "perhaps"});
    assert_eq!(client.post(&of(session, "messages"), &word).await.refusal(), (400, "BAD_REQUEST"));
}

#[tokio::test]
async fn what_the_operator_excludes_is_in_no_version_and_what_is_not_excluded_is() {
    let server = Setup::new().config("[versions]\nexclude = [\"build\"]").start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client
        .run(session, "run: mkdir -p build node_modules/x && echo b > build/b && echo n > node_modules/x/n")
        .await;
    assert_eq!(file(&client, session, 1, "node_modules/x/n").await, (200, json!("n\n")));
    assert_eq!(file(&client, session, 1, "build/b").await.0, 404);
    let detail = client.get(&of(session, "versions/1")).await.expect(StatusCode::OK);
    let excluded = detail["excluded"].as_array().expect("a list");
    assert!(excluded.contains(&json!("build")), "as people name it: {detail:#}");
}

#[tokio::test]
async fn what_could_not_be_kept_is_listed_with_the_version() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: mkdir -p a && mkfifo a/pipe /user-input/pipe && echo x > a/file").await;
    let special = |path: &str| json!({"path": path, "why": "special"});
    let skipped = json!([special("/user-input/pipe"), special("a/pipe")]);
    let detail = client.get(&of(session, "versions/1")).await.expect(StatusCode::OK);
    assert_eq!((&detail["skipped"], &detail["unstable"]), (&skipped, &Value::Null), "{detail:#}");
    client.run(session, "run: rm a/pipe /user-input/pipe").await;
    let detail = client.get(&of(session, "versions/2")).await.expect(StatusCode::OK);
    assert_eq!(detail["skipped"], Value::Null);
    client.post(&of(session, "restore"), &json!({"version": 1})).await.expect(StatusCode::OK);
    let detail = client.get(&of(session, "versions/3")).await.expect(StatusCode::OK);
    assert_eq!(detail["skipped"], skipped, "it is that version once more");
}

#[tokio::test]
async fn a_version_is_made_by_hand_named_and_downloaded() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: echo x > a.txt").await;
    let same = client.post(&of(session, "snapshot"), &json!({})).await.expect(StatusCode::OK);
    assert_eq!(same["version"], 1, "nothing changed");
    let label = client.put(&of(session, "versions/1/label"), &json!({"label": "good"})).await;
    assert_eq!(label.expect(StatusCode::OK)["label"], "good");
    let wrong = client.put(&of(session, "versions/1/label"), &json!({"label": ""})).await;
    assert_eq!(wrong.refusal(), (400, "BAD_REQUEST"));
    let archive = client.get(&of(session, "versions/1/archive")).await;
    assert_eq!(archive.status, StatusCode::OK);
}

#[tokio::test]
async fn a_damaged_chunk_is_named_and_never_served() {
    let mut server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: seq 1 20000 > numbers.txt").await;
    // Cold: what is in memory is whole.
    server.stop().await;
    let packs = server.directory().join("trees");
    let n_damaged = damage(&packs);
    assert!(n_damaged > 0, "{}", packs.display());
    server.restart().await;
    let client = server.admin();
    let (status, body) = file(&client, session, 1, "numbers.txt").await;
    assert_eq!((status, &body["code"]), (500, &json!("DATA_DAMAGED")), "{body}");
    assert!(body["detail"].as_str().is_some_and(|detail| detail.contains("damaged")), "{body}");
    // A fork shares what it is made from: damage among the names is met at once, damage in a file by the first run.
    let fork = client.post(&of(session, "fork"), &json!({"version": 1})).await;
    if fork.status == StatusCode::CREATED {
        let fork = fork.body["sessionId"].as_str().expect("an id").parse().expect("an id");
        let events = client.run(fork, "run: wc -l numbers.txt").await;
        let end = &events.last().expect("an end").json;
        assert_eq!((&end["type"], &end["code"]), (&json!("run_failed"), &json!("DATA_DAMAGED")), "{end:#}");
    } else {
        assert_eq!(fork.refusal().1, "DATA_DAMAGED");
    }
    // What is there is whole all the same, and becomes a version of its own.
    let next = client.run(session, "run: wc -l numbers.txt && echo more >> numbers.txt").await;
    assert_eq!(next.last().unwrap().kind(), "run_completed", "{:#}", next.last().unwrap().json);
    assert_eq!(file(&client, session, 2, "numbers.txt").await.0, 200);
}

/// Turns one byte over in the middle of each pack.
fn damage(directory: &std::path::Path) -> usize {
    let mut n_damaged = 0;
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            if entry.file_name() != "cache" {
                n_damaged += damage(&path);
            }
        } else if path.parent().is_some_and(|parent| parent.ends_with("packs")) {
            let mut bytes = std::fs::read(&path).expect("a pack");
            let middle = bytes.len() / 3;
            bytes[middle] ^= 0x55;
            std::fs::write(&path, bytes).expect("the pack is damaged");
            n_damaged += 1;
        }
    }
    n_damaged
}

/// The worked example of `docs/versions.md`: each command, and the lines that it shows.
fn worked_example() -> Vec<(String, Vec<String>)> {
    let page = include_str!("../../../../docs/versions.md");
    let mut steps: Vec<(String, Vec<String>)> = Vec::new();
    for block in page.split("```console\n").skip(1) {
        for line in block.split("```").next().expect("a block").lines() {
            match (line.strip_prefix("$ warren "), steps.last_mut()) {
                (Some(command), _) => steps.push((command.to_owned(), Vec::new())),
                (None, Some((_, shown))) => shown.push(line.to_owned()),
                (None, None) => panic!("`{line}` is shown by nothing"),
            }
        }
    }
    steps
}

/// The words of a command as a shell reads them.
async fn words(command: &str) -> Vec<String> {
    let script = format!("printf '%s\\0' {command}");
    let output = tokio::process::Command::new("sh").args(["-c", &script]).output().await.expect("a shell");
    let text = String::from_utf8(output.stdout).expect("text");
    text.split_terminator('\0').map(str::to_owned).collect()
}

/// Whether a line is the one of the page, in which `…` stands for anything.
fn is_like(line: &str, expected: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (line, expected) = (plain(line), plain(expected));
    let mut parts = expected.split('…').map(str::trim);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = if part.is_empty() { "" } else { after };
    }
    rest.is_empty()
}

#[tokio::test]
async fn the_worked_example_runs_as_it_is_written() {
    let server = Setup::new().begin_with_template().start().await;
    let steps = worked_example();
    for verb in ["run", "versions", "diff", "label", "replay", "fork", "restore"] {
        assert!(steps.iter().any(|(command, _)| command.starts_with(verb)), "{verb} is not in the example");
    }
    for (command, expected) in steps {
        let words = words(&command).await;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = server.command(&words).output().await.expect("the command runs");
        let (shown, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{command}: {shown}{errors}");
        for line in &expected {
            assert!(shown.lines().any(|shown| is_like(shown, line)), "{command}: {line}\n{shown}{errors}");
        }
    }
}
