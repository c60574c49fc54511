//! A local directory goes into a session and comes back, through the whole server and the command line.

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _, fs::symlink},
    path::Path,
    process::{Output, Stdio},
};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use warren_domain::SessionId;
use warren_testkit::{Setup, TestAnswer, TestClient, TestServer};

use super::session::said;

/// A tar of files.
fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        builder.append_data(&mut header, path, content.as_bytes()).expect("added");
    }
    builder.into_inner().expect("whole")
}

/// A tar of files and one link.
fn tar_with_link(files: &[(&str, &str)], (path, target): (&str, &str)) -> Vec<u8> {
    let mut whole = tar(files);
    // Two empty blocks are its end.
    whole.truncate(whole.len() - 1024);
    let mut builder = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    builder.append_link(&mut header, path, target).expect("added");
    whole.extend(builder.into_inner().expect("whole"));
    whole
}

async fn import(client: &TestClient, session: SessionId, archive: Vec<u8>) -> TestAnswer {
    let path = format!("/api/sessions/{session}/fs/import");
    client.send(client.request(Method::POST, &path).body(archive)).await
}

async fn read(client: &TestClient, session: SessionId, path: &str) -> Value {
    client.get(&format!("/api/sessions/{session}/fs/read?path={path}")).await.expect(StatusCode::OK)
}

async fn versions(client: &TestClient, session: SessionId) -> Vec<(u64, String)> {
    let page = client.get(&format!("/api/sessions/{session}/versions")).await.expect(StatusCode::OK);
    let versions = page["versions"].as_array().expect("a list").clone();
    let told = |it: &Value| {
        (it["version"].as_u64().expect("a number"), it["cause"].as_str().expect("a word").to_owned())
    };
    versions.iter().map(told).collect()
}

fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// A repository with everything that is easily lost.
fn repository() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |path: &str| directory.path().join(path);
    fs::create_dir_all(at("src/deep")).expect("made");
    fs::create_dir(at("empty")).expect("made");
    fs::create_dir_all(at("node_modules/x")).expect("made");
    fs::write(at("node_modules/x/index.js"), "x").expect("written");
    fs::write(at(".gitignore"), "node_modules\nsecret.txt\n").expect("written");
    fs::write(at("secret.txt"), "s").expect("written");
    fs::write(at("src/main.py"), "print(1)\n").expect("written");
    fs::write(at("src/deep/old.txt"), "old\n").expect("written");
    fs::write(at("run.sh"), "#!/bin/sh\n").expect("written");
    fs::set_permissions(at("run.sh"), fs::Permissions::from_mode(0o755)).expect("a mode");
    fs::write(at("logo.bin"), [0, 159, 146, 150]).expect("written");
    symlink("src/main.py", at("main")).expect("a link");
    symlink("/etc/hostname", at("away")).expect("a link");
    fs::write(directory.path().join(OsStr::from_bytes(b"caf\xe9")), "latin\n").expect("written");
    git(directory.path(), &["init", "-q"]);
    git(directory.path(), &["add", "-A"]);
    git(directory.path(), &["commit", "-qm", "first"]);
    directory
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

async fn output(server: &TestServer, arguments: &[&str]) -> Output {
    server.command(arguments).output().await.expect("the command ends")
}

#[track_caller]
fn succeeded(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

#[tokio::test]
async fn imported_archive_is_a_version_whose_files_the_next_run_has() {
    let mut server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let archive = tar(&[("src/a.txt", "one"), ("b.txt", "two"), ("outputs/note.md", "# Hi")]);
    let made = import(&client, session, archive.clone()).await.expect(StatusCode::OK);
    assert_eq!((&made["version"], &made["cause"]), (&json!(1), &json!("import")));
    assert_eq!(made["files"], json!({"added": 3, "changed": 0, "removed": 0}));
    let log = client.log(session).await;
    let told: Vec<&str> = log.iter().map(|event| event.kind()).collect();
    assert_eq!(told, ["session_created", "artifact_created", "block_complete", "version_committed"]);
    assert_eq!(log[1].json["artifact"]["createdSeq"], log[1].json["seq"]);
    assert_eq!(read(&client, session, "src/a.txt").await, json!("one"), "before there is a sandbox");
    let again = import(&client, session, archive).await.expect(StatusCode::OK);
    assert_eq!(again["version"], json!(1), "the same import again is the same version");
    let with_link = tar_with_link(&[("b.txt", "two")], ("away", "/etc/hostname"));
    let unchanged = import(&client, session, with_link).await.expect(StatusCode::OK);
    assert_eq!(unchanged["version"], json!(1));
    assert_eq!(
        unchanged["skipped"],
        json!([{"path": "away", "why": "link_out"}]),
        "told, if nothing changes too"
    );
    let events = client.run(session, "run: cat src/a.txt b.txt && echo three > c.txt").await;
    assert!(said(&events).contains("onetwo"), "{}", said(&events));

    // Over what is there, awake.
    let made =
        import(&client, session, tar(&[("b.txt", "new"), ("d.txt", "four")])).await.expect(StatusCode::OK);
    assert_eq!((&made["version"], &made["base"]), (&json!(3), &json!(2)));
    assert_eq!(made["files"], json!({"added": 1, "changed": 1, "removed": 0}));
    server.restart().await;
    let client = server.admin();
    let events = client.run(session, "run: cat src/a.txt b.txt c.txt d.txt").await;
    assert!(said(&events).contains("onenewthree\nfour"), "{}", said(&events));
    let causes = ["run", "import", "run", "import", "manual"];
    let expect: Vec<_> =
        causes.iter().zip([4, 3, 2, 1, 0]).map(|(cause, n)| (n, (*cause).to_owned())).collect();
    assert_eq!(versions(&client, session).await, expect);
    server.stop().await;
}

#[tokio::test]
async fn refused_import_leaves_everything_as_it_was() {
    let server = TestServer::start().await;
    let client = server.admin();
    let session = client.session_create().await;
    client.run(session, "run: mkdir d && echo here > d/x && echo a > a").await;
    let before = versions(&client, session).await;
    for (archive, refusal) in [
        (tar(&[("fine", "x"), ("a/b", "x")]), (409, "CONFLICT")),
        (tar(&[("d", "a file")]), (409, "CONFLICT")),
        (b"no archive".to_vec(), (400, "BAD_REQUEST")),
        (tar(&[("a", "1"), ("a", "2")]), (400, "BAD_REQUEST")),
        (tar(&[("x", "x")])[..700].to_vec(), (400, "BAD_REQUEST")),
    ] {
        assert_eq!(import(&client, session, archive).await.refusal(), refusal);
    }
    assert_eq!(versions(&client, session).await, before);
    assert_eq!(read(&client, session, "d/x").await, json!("here\n"));
    let left = fs::read_dir(server.directory().join("imports")).expect("the place where they were unpacked");
    assert_eq!(left.count(), 0, "nothing is left of it on the disk");

    let (run, seq) = client.message_send(session, "count to 100000").await;
    let mut events = client.events(session, seq).await;
    events.until(|event| event.kind() == "text_delta").await;
    let refused = import(&client, session, tar(&[("x", "x")])).await;
    assert_eq!(refused.refusal(), (409, "RUN_IN_PROGRESS"));
    client.post(&format!("/api/sessions/{session}/interrupt"), &json!({})).await.expect(StatusCode::ACCEPTED);
    events.until(|event| event.ends_run(run)).await;
    import(&client, session, tar(&[("x", "x")])).await.expect(StatusCode::OK);
}

#[tokio::test]
async fn archive_larger_than_the_sandboxs_disk_is_refused() {
    let server = Setup::new().config("[sandbox.resource_limits]\ndisk = \"64MiB\"").start().await;
    let client = server.admin();
    let session = client.session_create().await;
    let half = "x".repeat(40 << 20);
    let refused = import(&client, session, tar(&[("a", &half), ("b", &half)])).await;
    assert_eq!(refused.refusal(), (413, "TOO_LARGE"));
}

#[tokio::test]
async fn directory_goes_in_is_edited_and_git_shows_exactly_the_edit() {
    let mut server = TestServer::start().await;
    let local = repository();
    let clean = tempfile::tempdir().expect("a directory");
    git(local.path(), &["clone", "-q", ".", clean.path().to_str().expect("text")]);
    let directory = local.path().to_str().expect("text").to_owned();
    let edit = "run: git log --oneline | wc -l && ls -d empty && test -x run.sh && readlink main \
        && test ! -e away && test ! -e node_modules && echo 'print(2)' > src/main.py && rm -r src/deep \
        && mkdir new && echo n > new/file.txt && chmod +x new/file.txt && printf 'a\\0b' > logo.bin \
        && ln -sfn run.sh main && ln -s /etc/passwd out && printf x > caf\u{e9} \
        && git -c user.name=a -c user.email=a@b commit -qam agent && echo done-editing";
    let run = output(&server, &["run", "--workspace", &directory, "--name", "trip", edit]).await;
    let told = succeeded(&run);
    assert!(told.contains("done-editing"), "{told}{}", text(&run.stderr));
    let warned = text(&run.stderr);
    assert!(warned.contains("left out: node_modules (excluded from versions)"), "{warned}");
    assert!(warned.contains("left out: away (a link that points outside the directory)"), "{warned}");

    let patch = server.command(&["pull", "trip", "--patch"]).output().await.expect("the command ends");
    succeeded(&patch);
    server.restart().await;
    let planned = succeeded(&output(&server, &["pull", "trip", &directory, "--dry-run"]).await);
    assert_eq!(git(local.path(), &["status", "--porcelain"]), "", "a dry run changes nothing");
    let pulled = output(&server, &["pull", "trip", &directory]).await;
    assert_eq!(succeeded(&pulled), planned);
    assert_eq!(planned, "A café\nM logo.bin\nM main\nA new/file.txt\nD src/deep/old.txt\nM src/main.py\n");
    let warned = text(&pulled.stderr);
    assert!(warned.contains("left out: out (a link") && warned.contains("changes in .git"), "{warned}");
    let status = git(local.path(), &["-c", "core.quotePath=false", "status", "--porcelain"]);
    assert_eq!(status, " M logo.bin\n M main\n D src/deep/old.txt\n M src/main.py\n?? café\n?? new/\n");
    assert!(local.path().join("empty").is_dir() && !local.path().join("src/deep").exists());
    assert_eq!(git(local.path(), &["log", "--oneline"]).lines().count(), 1, "the agent's commit stays there");
    assert_eq!(succeeded(&output(&server, &["pull", "trip", &directory]).await), "", "twice is once");

    // The patch, in a clean checkout, gives the same tree.
    let elsewhere = tempfile::tempdir().expect("a directory");
    let file = elsewhere.path().join("warren.patch");
    fs::write(&file, &patch.stdout).expect("written");
    git(clean.path(), &["apply", "--index", file.to_str().expect("text")]);
    git(local.path(), &["add", "-A"]);
    assert_eq!(git(clean.path(), &["write-tree"]), git(local.path(), &["write-tree"]));
    server.stop().await;
}

#[tokio::test]
async fn local_change_is_a_conflict_and_nothing_is_written_and_a_pulled_file_is_none() {
    let server = TestServer::start().await;
    let local = repository();
    let directory = local.path().to_str().expect("text").to_owned();
    let first =
        "run: echo 'print(2)' > src/main.py && echo two > both.txt && mkdir -p kept && echo k > kept/k";
    succeeded(
        &output(&server, &["run", "--workspace", &directory, "--without-git", "--name", "c", first]).await,
    );
    fs::write(local.path().join("both.txt"), "mine\n").expect("written");
    let refused = output(&server, &["pull", "c", &directory]).await;
    let why = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1));
    assert!(why.contains("nothing was changed:\n  both.txt\n") && !why.contains("src/main.py\n  "), "{why}");
    assert!(why.contains(" pull c --patch | git apply --3way`"), "{why}");
    assert_eq!(git(local.path(), &["status", "--porcelain"]), "?? both.txt\n");

    fs::remove_file(local.path().join("both.txt")).expect("removed");
    let pulled = succeeded(&output(&server, &["pull", "c", &directory]).await);
    assert_eq!(pulled, "A both.txt\nA kept/k\nM src/main.py\n");
    // What an earlier pull brought is no local change.
    let second =
        "run: echo 'print(3)' > src/main.py && rm -r both.txt kept && mkdir both.txt && echo i > both.txt/in";
    succeeded(&output(&server, &["run", "--session", "c", second]).await);
    fs::write(local.path().join("kept/mine"), "m").expect("written");
    let pulled = output(&server, &["pull", "c", &directory]).await;
    assert_eq!(succeeded(&pulled), "A both.txt/in\nD kept/k\nM src/main.py\n");
    assert!(text(&pulled.stderr).contains("kept: kept (it holds other files)"), "{}", text(&pulled.stderr));
    assert_eq!(fs::read_to_string(local.path().join("both.txt/in")).expect("a file"), "i\n");
    assert_eq!(fs::read_to_string(local.path().join("kept/mine")).expect("mine is kept"), "m");

    // A local directory that became a link is not written through.
    let elsewhere = tempfile::tempdir().expect("a directory");
    succeeded(&output(&server, &["run", "--session", "c", "run: echo 4 > src/deep/old.txt"]).await);
    fs::rename(local.path().join("src/deep"), elsewhere.path().join("deep")).expect("moved");
    symlink(elsewhere.path().join("deep"), local.path().join("src/deep")).expect("a link");
    let refused = output(&server, &["pull", "c", &directory]).await;
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused.stderr));
    assert_eq!(fs::read_to_string(elsewhere.path().join("deep/old.txt")).expect("a file"), "old\n");
}

#[tokio::test]
async fn pull_of_an_older_version_replaces_what_a_newer_pull_brought() {
    let server = TestServer::start().await;
    let client = server.admin();
    let local = repository();
    let directory = local.path().to_str().expect("text").to_owned();
    let first = "run: echo 'print(2)' > src/main.py && echo two > two.txt";
    succeeded(&output(&server, &["run", "--workspace", &directory, "--name", "steps", first]).await);
    let second =
        "run: echo 'print(3)' > src/main.py && rm two.txt src/deep/old.txt && echo three > three.txt";
    succeeded(&output(&server, &["run", "--session", "steps", second]).await);
    let pulled = succeeded(&output(&server, &["pull", "steps", &directory]).await);
    assert_eq!(pulled, "D src/deep/old.txt\nM src/main.py\nA three.txt\n");
    assert!(!local.path().join("outputs").exists(), "the sandbox's empty directory stays there");
    let older = succeeded(&output(&server, &["pull", "steps", &directory, "--version", "v2"]).await);
    assert_eq!(older, "A src/deep/old.txt\nM src/main.py\nD three.txt\nA two.txt\n");
    assert_eq!(git(local.path(), &["status", "--porcelain"]), " M src/main.py\n?? two.txt\n");

    // A file that was changed since is nobody's to replace, and nothing is said to be changed.
    fs::write(local.path().join("src/main.py"), "print('mine')\n").expect("written");
    let refused = output(&server, &["pull", "steps", &directory, "--json"]).await;
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused.stderr));
    let told: Value = serde_json::from_slice(&refused.stdout).expect("JSON");
    assert_eq!((&told["changes"], &told["conflicts"]), (&json!([]), &json!(["src/main.py"])));

    let page = client.get("/api/sessions?q=steps").await.expect(StatusCode::OK);
    let session = page["sessions"][0]["sessionId"].as_str().expect("an id").parse().expect("an id");
    let (run, seq) = client.message_send(session, "count to 100000").await;
    let mut events = client.events(session, seq).await;
    events.until(|event| event.kind() == "text_delta").await;
    let during = output(&server, &["pull", "steps", &directory, "--dry-run"]).await;
    let said = text(&during.stderr);
    assert!(said.contains("A run is active; pulling v3, the last saved version."), "{said}");
    client.post(&format!("/api/sessions/{session}/interrupt"), &json!({})).await.expect(StatusCode::ACCEPTED);
    events.until(|event| event.ends_run(run)).await;
}

#[tokio::test]
async fn patch_in_a_subdirectory_of_a_repository_says_how_it_is_applied() {
    let server = TestServer::start().await;
    let local = repository();
    let inner = local.path().join("src");
    let directory = inner.to_str().expect("text");
    let edit = "run: echo 'print(5)' > main.py";
    succeeded(&output(&server, &["run", "--workspace", directory, "--name", "inner", edit]).await);
    let printed = output(&server, &["pull", "inner", directory, "--patch"]).await;
    let (patch, told) = (succeeded(&printed), text(&printed.stderr));
    assert!(told.contains("`git apply --directory=src`"), "{told}");
    fs::write(local.path().join("edit.patch"), patch).expect("written");
    git(&inner, &["apply", "--directory=src", "../edit.patch"]);
    assert_eq!(fs::read_to_string(inner.join("main.py")).expect("a file"), "print(5)\n");
    let top = local.path().to_str().expect("text");
    let whole = output(&server, &["pull", "inner", top, "--patch"]).await;
    assert!(!text(&whole.stderr).contains("--directory"), "{}", text(&whole.stderr));
}

#[tokio::test]
async fn ignored_files_stay_here_when_asked_and_a_fork_knows_its_base() {
    let server = TestServer::start().await;
    let client = server.admin();
    let local = repository();
    let directory = local.path().to_str().expect("text").to_owned();
    let look = "run: test -e secret.txt || echo no-secret; echo f > forked.txt";
    let run =
        output(&server, &["run", "--workspace", &directory, "--respect-ignore", "--name", "origin", look])
            .await;
    assert!(succeeded(&run).contains("no-secret"), "{}", text(&run.stdout));
    assert!(!text(&run.stderr).contains("--respect-ignore"), "{}", text(&run.stderr));
    succeeded(&output(&server, &["fork", "origin", "--name", "branch"]).await);
    succeeded(&output(&server, &["run", "--session", "branch", "run: echo g > grown.txt"]).await);
    let page = client.get("/api/sessions?q=branch").await.expect(StatusCode::OK);
    let fork = page["sessions"][0]["sessionId"].as_str().expect("an id").to_owned();
    let versions = client.get(&format!("/api/sessions/{fork}/versions")).await.expect(StatusCode::OK);
    let latest = versions["head"]["version"].clone();
    let changes = client.get(&format!("/api/sessions/{fork}/versions/{latest}/changes?limit=1")).await;
    let changes = changes.expect(StatusCode::OK);
    assert_eq!((&changes["from"]["cause"], &changes["from"]["version"]), (&json!("import"), &json!(1)));
    assert_ne!(changes["from"]["sessionId"], json!(fork), "it is the origin's");
    assert_eq!(
        (&changes["changes"][0]["path"], &changes["nextCursor"]),
        (&json!("forked.txt"), &json!("forked.txt"))
    );
    let pulled = succeeded(&output(&server, &["pull", "branch", &directory]).await);
    assert_eq!(pulled, "A forked.txt\nA grown.txt\n");
}

#[tokio::test]
async fn workspace_that_is_no_directory_makes_no_session() {
    let server = TestServer::start().await;
    for directory in ["/nowhere/at/all", "/etc/passwd"] {
        let refused = output(&server, &["run", "--workspace", directory, "hello"]).await;
        assert_eq!(refused.status.code(), Some(1), "{}", text(&refused.stderr));
        assert!(text(&refused.stderr).contains(directory), "{}", text(&refused.stderr));
    }
    let list = server.admin().get("/api/sessions").await.expect(StatusCode::OK);
    assert_eq!(list["sessions"], json!([]));
}

#[tokio::test]
async fn chat_on_a_directory_has_its_files_and_leaves_the_data_directory_out() {
    let server = TestServer::start().await;
    let local = repository();
    fs::create_dir(local.path().join(".warren")).expect("made");
    fs::write(local.path().join(".warren/token"), "secret").expect("written");
    let directory = local.path().to_str().expect("text").to_owned();
    let mut command = server.command(&["chat", "--workspace", &directory]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("started");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"run: cat src/main.py; ls -a; git status --short\n").await.expect("written");
    drop(input);
    let told = child.wait_with_output().await.expect("the command ends");
    let said = succeeded(&told);
    assert!(said.contains("print(1)") && said.contains(".gitignore") && !said.contains(".warren"), "{said}");
    assert!(text(&told.stderr).contains("left out: .warren (data of Warren)"), "{}", text(&told.stderr));
    assert!(text(&told.stderr).contains("Ignored files, such as `.env`, were imported too"));
}

#[tokio::test]
async fn imported_files_reach_sandboxes_that_keep_their_own_files() {
    let server = Setup::new().config("[sandbox]\nfiles = \"guest\"").start().await;
    let client = server.admin();
    let session = client.session_create().await;
    import(&client, session, tar(&[("a.txt", "one")])).await.expect(StatusCode::OK);
    let events = client.run(session, "run: cat a.txt; echo two > b.txt").await;
    assert!(said(&events).contains("one"), "{}", said(&events));
    import(&client, session, tar(&[("a.txt", "three")])).await.expect(StatusCode::OK);
    let events = client.run(session, "run: cat a.txt b.txt").await;
    assert!(said(&events).contains("threetwo"), "{}", said(&events));
}
