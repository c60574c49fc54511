//! What a user relies on when typing commands: exit codes, hints, Ctrl-C, and a server that comes and goes with them.

use std::{
    process::{Output, Stdio},
    time::Duration,
};

use reqwest::StatusCode;
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpListener,
};
use warren_testkit::{Setup, TestServer, descendants, wait_until_gone};

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

async fn output(server: &TestServer, arguments: &[&str]) -> Output {
    server.command(arguments).output().await.expect("the command ends")
}

/// A directory whose server has ended, so that commands must bring their own.
async fn without_server() -> TestServer {
    let mut server = TestServer::start().await;
    server.stop().await;
    server
}

#[tokio::test]
async fn run_uses_the_running_server() {
    let server = TestServer::start().await;
    let run = output(&server, &["run", "create file notes.md with a haiku", "--name", "poetry"]).await;
    let said = text(&run.stdout);
    assert!(said.contains("✓ Write  notes.md") && said.contains("Files\n  notes.md  "), "{said}");
    let list = server.admin().get("/api/sessions").await.expect(StatusCode::OK);
    assert_eq!(list["sessions"][0]["name"], "poetry");
    assert_eq!(list["sessions"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_session_goes_on_over_commands_that_each_bring_their_own_server() {
    let directory = without_server().await;
    let first = output(&directory, &["run", "create file a.txt"]).await;
    assert!(text(&first.stderr).contains("demo model answers"), "{}", text(&first.stderr));
    let second = output(&directory, &["run", "list the files", "--session", "last"]).await;
    assert_eq!(second.status.code(), Some(0), "{}", text(&second.stderr));
    let shown = text(&output(&directory, &["sessions", "show", "last"]).await.stdout);
    assert!(shown.contains("› create file a.txt") && shown.contains("› list the files"), "{shown}");
    assert!(!directory.directory().join("server.json").exists());
}

#[tokio::test]
async fn two_runs_at_once_share_the_server_that_one_of_them_brought() {
    let directory = without_server().await;
    let (first, second) =
        tokio::join!(output(&directory, &["run", "hello"]), output(&directory, &["run", "hello"]));
    for run in [first, second] {
        assert_eq!(run.status.code(), Some(0), "{}{}", text(&run.stdout), text(&run.stderr));
    }
}

#[tokio::test]
async fn ctrl_c_interrupts_the_run_and_the_exit_code_says_so() {
    for server in [TestServer::start().await, without_server().await] {
        let mut command = server.command(&["run", "count to 100000", "--json"]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("started");
        let pid = child.id().expect("it runs");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        while let Some(line) = lines.next_line().await.expect("text") {
            if line.contains("\"text_delta\"") {
                break;
            }
        }
        let processes = descendants(pid);
        kill_process(i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a number"), Signal::INT)
            .expect("told");
        let mut last = String::new();
        while let Some(line) = lines.next_line().await.expect("text") {
            last = line;
        }
        assert!(last.contains("\"run_interrupted\""), "{last}");
        assert_eq!(child.wait().await.expect("ended").code(), Some(130));
        assert_eq!(wait_until_gone(&processes, Duration::from_secs(1)).await, []);
    }
}

#[tokio::test]
async fn what_goes_wrong_is_told_by_the_exit_code_and_a_hint() {
    let server = TestServer::start().await;
    let cases: [(&[&str], i32, &str); 9] = [
        (&["run", "hi", "--server", "http://127.0.0.1:1"], 3, "hint: start it with `"),
        (&["run", "hi", "--session", "nobody"], 1, "no session with the name or ID `nobody`"),
        (&["run", "hi", "--agent", "nobody"], 1, "hint: the agents are builtin, "),
        (&["run", "hi", "--agent", "codx"], 1, "hint: did you mean `codex`?"),
        (&["run", "hi", "--agent", "codex"], 1, "error: agent `codex` is not installed"),
        (&["run", "hi", "--image", "/etc/passwd"], 1, "is not a PNG, JPEG, GIF or WebP image"),
        (&["run", " "], 1, "hint: write the task for the agent"),
        (&["sessions", "rm", "last"], 1, "hint: start one with `"),
        (&["rnu"], 2, "a similar subcommand exists: 'run'"),
    ];
    for (arguments, code, said) in cases {
        let run = output(&server, arguments).await;
        let complained = text(&run.stderr);
        let found = (run.status.code(), complained.contains(said));
        assert_eq!(found, (Some(code), true), "{arguments:?}: {complained}");
    }
    let list = server.admin().get("/api/sessions").await.expect(StatusCode::OK);
    assert_eq!(list["sessions"].as_array().map(Vec::len), Some(0), "a refused run leaves no session");
}

/// Runs the command that was printed after `label`, as somebody would who copies it to a shell.
async fn run_printed(server: &TestServer, text: &str, label: &str) -> Output {
    let line =
        text.lines().find_map(|line| line.trim_start().strip_prefix(label)).expect(text).trim().to_owned();
    let shell = server.command(&[]);
    let environment: Vec<_> = shell
        .as_std()
        .get_envs()
        .map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned)))
        .collect();
    let mut command = tokio::process::Command::new("sh");
    command.args(["-c", &line]).stdin(Stdio::null());
    for (name, value) in environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let ended = command.env_remove("WARREN_HOME").output().await.expect("a shell");
    assert!(ended.status.success(), "{line}: {}", text_of(&ended));
    drop(shell);
    ended
}

fn text_of(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

#[tokio::test]
async fn printed_commands_reach_the_same_server_from_another_directory() {
    let server = TestServer::start().await;
    let run = output(&server, &["run", "create file notes.md with a haiku", "--name", "poetry"]).await;
    let said = text(&run.stderr);
    run_printed(&server, &said, "Continue with:").await;
    let opened = run_printed(&server, &said, "Open the page:").await;
    let link = text(&opened.stdout).trim().to_owned();
    assert!(
        link.starts_with(server.url()) && link.contains("/auth?code=") && link.contains("&session="),
        "{link}"
    );
    let forked = output(&server, &["fork", "poetry"]).await;
    run_printed(&server, &text(&forked.stderr), "Continue with:").await;
}

#[tokio::test]
async fn every_command_in_the_output_of_every_verb_names_the_data_directory() {
    let server = TestServer::start().await;
    output(&server, &["run", "hello", "--name", "greeting"]).await;
    let cases: [&[&str]; 16] = [
        &["doctor"],
        &["doctor", "--json"],
        &["template", "show"],
        &["agents", "doctor"],
        &["agents", "doctor", "codex"],
        &["agents", "install", "nothing"],
        &["knowledge", "list"],
        &["artifacts", "get", "greeting", "nothing"],
        &["approvals", "allow", "nothing"],
        &["tokens", "rm", "nothing"],
        &["restore", "greeting", "x"],
        &["diff", "greeting", "v99"],
        &["sessions", "show", "nothing"],
        &["run", " "],
        &["run", "hello", "--agent", "codex"],
        &["keys", "test", "anthropic"],
    ];
    let mut n_commands = 0;
    for arguments in cases {
        let said = text_of(&output(&server, arguments).await);
        // The program is called by its path here, so every command that can be copied begins with that.
        assert!(!said.contains("`warren "), "{arguments:?}: {said}");
        n_commands += said.matches(&format!("--dir {}", server.directory().display())).count();
    }
    assert!(n_commands >= cases.len(), "{n_commands}");
}

#[tokio::test]
async fn up_refuses_a_server_and_diff_takes_two_versions() {
    let server = TestServer::start().await;
    let up = output(&server, &["--server", "http://127.0.0.1:8123", "up"]).await;
    let said = text(&up.stderr);
    assert_eq!(up.status.code(), Some(2), "{said}");
    assert!(said.contains("write '--listen 127.0.0.1:8123'"), "{said}");
    output(&server, &["run", "run: echo 1 > a.txt", "--name", "numbers"]).await;
    output(&server, &["run", "run: echo 2 > a.txt", "--session", "numbers"]).await;
    let apart = text(&output(&server, &["diff", "numbers", "v0", "v2"]).await.stdout);
    assert_eq!(apart, text(&output(&server, &["diff", "numbers", "v0..v2"]).await.stdout));
    assert!(apart.contains("+2\n") && apart.contains("v0 → v2: 1 file"), "{apart}");
}

#[tokio::test]
async fn shell_completes_names_of_the_running_server() {
    let server = TestServer::start().await;
    output(&server, &["run", "hello", "--name", "Sales of May"]).await;
    let complete = async |line: &[&str]| {
        let mut command = server.command(&["--", "warren"]);
        command.args(line).env("WARREN_COMPLETE", "bash").env("_CLAP_IFS", "\n");
        command.env("_CLAP_COMPLETE_INDEX", line.len().to_string()).env("_CLAP_COMPLETE_COMP_TYPE", "9");
        text(&command.output().await.expect("it ends").stdout)
    };
    let directory = server.directory().display().to_string();
    assert_eq!(complete(&["--dir", &directory, "fork", "Sal"]).await.trim(), r"Sales\ of\ May");
    let versions = complete(&["--dir", &directory, "restore", r"Sales\ of\ May", "v"]).await;
    assert_eq!(versions.split_whitespace().collect::<Vec<_>>(), ["v1", "v0"]);
    assert!(complete(&["--dir", &directory, "run", "--agent", "b"]).await.contains("builtin"));
    assert_eq!(complete(&["--dir", &directory, "run", "--profile", "def"]).await.trim(), "default");
}

#[tokio::test]
async fn request_without_a_terminal_is_reported_on_stderr_with_commands_that_answer_it() {
    let server = TestServer::start().await;
    for format in [&[][..], &["--json"]] {
        let arguments = [&["run", "run: echo allowed > it.txt", "--ask"], format].concat();
        let mut command = server.command(&arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let mut said = String::new();
        while !said.contains(" approvals allow ") {
            let line = lines.next_line().await.expect("text");
            said.push_str(&line.unwrap_or_else(|| panic!("no command was printed: {said}")));
            said.push('\n');
        }
        assert!(said.contains("A request waits for an answer: "), "{said}");
        let allow = said.lines().last().expect("a line").trim().to_owned();
        run_printed(&server, &format!("Answer:{allow}"), "Answer:").await;
        let ended = child.wait_with_output().await.expect("the command ends");
        assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stdout));
        let is_event = text(&ended.stdout).contains("\"type\":\"approval_requested\"");
        assert_eq!(is_event, !format.is_empty(), "{}", text(&ended.stdout));
        drop(lines);
    }
}

#[tokio::test]
async fn sessions_are_listed_and_removed() {
    let server = TestServer::start().await;
    output(&server, &["run", "hello", "--name", "greeting"]).await;
    let listed = text(&output(&server, &["sessions", "list"]).await.stdout);
    assert!(listed.lines().nth(1).is_some_and(|line| line.ends_with("greeting")), "{listed}");
    assert!(listed.contains("just now") || listed.contains(" s ago"), "{listed}");
    let session = listed.lines().nth(1).and_then(|line| line.split(' ').next()).expect("an ID").to_owned();
    let refused = output(&server, &["sessions", "rm", "greeting"]).await;
    assert!(
        refused.status.code() == Some(1) && text(&refused.stderr).contains("pass `--yes`"),
        "nobody can be asked"
    );
    for named in ["greeting", "GREET", &session[..30], &session[30..]] {
        let shown = output(&server, &["sessions", "show", named]).await;
        assert!(text(&shown.stdout).contains(&session), "{named}: {}", text(&shown.stderr));
    }
    let removed = output(&server, &["sessions", "rm", "greeting", "--yes"]).await;
    assert_eq!(text(&removed.stdout), format!("Deleted {session}\n"));
    let empty = output(&server, &["sessions", "ls"]).await;
    assert!(
        empty.stdout.is_empty() && text(&empty.stderr).starts_with("No sessions yet."),
        "{}",
        text(&empty.stderr)
    );
    let listed = text(&output(&server, &["sessions", "list", "--json"]).await.stdout);
    assert_eq!(listed, "{\"sessions\":[]}\n");
}

#[tokio::test]
async fn a_token_that_was_made_works_until_it_is_removed() {
    let server = TestServer::start().await;
    let created = output(&server, &["tokens", "create", "reader"]).await;
    let said = text(&created.stderr);
    assert!(said.contains("scope admin:ro, expires 20"), "it reads, and for a while only: {said}");
    let reader = server.anonymous().with_token(text(&created.stdout).trim());
    let me = reader.get("/api/auth").await.expect(StatusCode::OK);
    assert_eq!((me["name"].as_str(), me["scope"].as_str()), (Some("reader"), Some("admin:ro")));
    let forever = output(&server, &["tokens", "create", "boss", "--admin", "--expires", "never"]).await;
    assert!(text(&forever.stderr).contains("scope admin, expires never"), "{}", text(&forever.stderr));
    assert_eq!(output(&server, &["tokens", "rm", "reader"]).await.status.code(), Some(0));
    assert_eq!(reader.get("/api/auth").await.refusal(), (401, "UNAUTHORIZED"));
}

#[tokio::test]
async fn doctor_works_without_a_server_and_says_what_is_missing() {
    let directory = without_server().await;
    let doctor = output(&directory, &["doctor", "--json"]).await;
    let found: serde_json::Value = serde_json::from_slice(&doctor.stdout).expect("JSON");
    assert_eq!(doctor.status.code(), Some(0), "{found:#}");
    assert_eq!(
        (&found["isolation"]["usable"], &found["models"][0]["key"]),
        (&true.into(), &"missing".into())
    );
    let programs = found["programs"].as_array().expect("a list");
    let codex = programs.iter().find(|program| program["name"] == "codex").expect("a program");
    assert_eq!((&codex["installed"], &codex["version"]), (&false.into(), &serde_json::Value::Null));
    let problems = found["problems"].as_array().expect("a list");
    let part = " keys set anthropic` or in the page under Settings, or set ANTHROPIC_API_KEY and restart `";
    let is_it =
        |problem: &serde_json::Value| problem["hint"].as_str().is_some_and(|hint| hint.contains(part));
    assert!(problems.iter().any(is_it), "{problems:#?}");
}

#[tokio::test]
async fn a_wrong_configuration_is_refused_with_the_key_that_was_meant() {
    let server = TestServer::start().await;
    std::fs::write(server.directory().join("warren.toml"), "lisen = '127.0.0.1:1'").expect("written");
    let checked = output(&server, &["config", "check"]).await;
    let said = text(&checked.stderr);
    assert_eq!(checked.status.code(), Some(1));
    assert!(said.contains("unknown key `lisen`") && said.contains("hint: did you mean `listen`?"), "{said}");
}

#[tokio::test]
async fn a_key_of_the_configuration_reaches_the_server() {
    let server = Setup::new().config("server.body_limit = \"1KiB\"").start().await;
    let long = serde_json::json!({ "name": "x".repeat(2000) });
    assert_eq!(server.admin().post("/api/sessions", &long).await.refusal(), (413, "TOO_LARGE"));
}

#[tokio::test]
async fn token_of_the_data_directory_goes_to_its_own_server_only() {
    let server = TestServer::start().await;
    let own = output(&server, &["sessions", "list", "--server", server.url()]).await;
    assert_eq!(own.status.code(), Some(0), "{}", text(&own.stderr));
    let stranger = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
    let url = format!("http://{}", stranger.local_addr().expect("an address"));
    let heard = async {
        let (mut stream, _) = stranger.accept().await.expect("a connection");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.expect("a request"));
        }
        let answer = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        stream.write_all(answer).await.expect("answered");
        String::from_utf8(head).expect("text").to_lowercase()
    };
    let arguments = ["sessions", "list", "--server", url.as_str()];
    let (head, _) = tokio::join!(heard, output(&server, &arguments));
    assert!(head.starts_with("get /health "), "{head}");
    assert!(!head.contains("authorization") && !head.contains(&server.token().to_lowercase()), "{head}");
}

#[tokio::test]
async fn login_saves_a_token_that_later_commands_use() {
    let server = TestServer::start().await;
    let home = tempfile::tempdir().expect("a directory");
    let elsewhere = async |arguments: &[&str], input: &str| {
        let mut command = server.command(arguments);
        command
            .env("HOME", home.path())
            .env("WARREN_HOME", home.path().join("data"))
            .env_remove("XDG_CONFIG_HOME");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).await.expect("it listens");
        child.wait_with_output().await.expect("it ends")
    };
    let wrong = elsewhere(&["login", server.url()], "wrn_nope\n").await;
    assert_eq!(wrong.status.code(), Some(1), "{}", text_of(&wrong));
    let listed = elsewhere(&["sessions", "ls", "--server", server.url()], "").await;
    assert!(text(&listed.stderr).contains("UNAUTHORIZED"), "nothing was saved: {}", text_of(&listed));
    let right = elsewhere(&["login", server.url()], &format!("{}\n", server.token())).await;
    assert!(text(&right.stdout).starts_with("Signed in to "), "{}", text_of(&right));
    let listed = elsewhere(&["sessions", "ls", "--server", server.url()], "").await;
    assert_eq!(listed.status.code(), Some(0), "{}", text_of(&listed));
}

#[tokio::test]
async fn files_and_images_go_with_a_message_and_labels_are_shown_before_they_are_removed() {
    let server = TestServer::start().await;
    let files = tempfile::tempdir().expect("a directory");
    let (data, image) = (files.path().join("data.csv"), files.path().join("dot.png"));
    std::fs::write(&data, "a,b\n").expect("written");
    std::fs::write(&image, DOT).expect("written");
    let (data, image) = (data.to_str().expect("text"), image.to_str().expect("text"));
    let arguments = [
        "run",
        "run: cat /user-input/data.csv",
        "--file",
        data,
        "--image",
        image,
        "--time-budget",
        "5m",
        "--name",
        "x",
    ];
    let run = output(&server, &arguments).await;
    assert_eq!(run.status.code(), Some(0), "{}", text_of(&run));
    assert!(text(&run.stdout).contains("a,b"), "{}", text(&run.stdout));
    let list = server.admin().get("/api/sessions").await.expect(StatusCode::OK);
    assert_eq!(list["sessions"][0]["options"]["timeBudget"]["hardSeconds"], 300);
    let label = async |arguments: &[&str]| {
        text_of(&output(&server, &[&["label", "x", "v1"], arguments].concat()).await)
    };
    assert_eq!(label(&[]).await, "v1 has no label\n");
    assert!(label(&["good"]).await.starts_with("Labelled v1 `good`"));
    assert_eq!(label(&[]).await, "good\n");
    assert_eq!(label(&["--remove"]).await, "Removed the label from v1\n");
}

/// A picture of one dot.
const DOT: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";
