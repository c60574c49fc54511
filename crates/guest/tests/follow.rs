//! `follow` as the host sees it: the real program, around shell scripts that print and write.

#![allow(clippy::expect_used, reason = "a test that cannot go on should stop")]

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Child, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, getsid, kill_process, test_kill_process};
use tempfile::TempDir;

/// Long enough for a busy machine; a test that waits this long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// A directory to write into and the program beside it.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn follow(&self, options: &[&str], script: &str) -> Child {
        Command::new(env!("CARGO_BIN_EXE_warren-guest"))
            .arg("follow")
            .arg("--dir")
            .arg(self.file("chats"))
            .args(["--suffix", ".jsonl"])
            .args(options)
            .args(["--", "bash", "-c", script])
            .current_dir(self.0.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts")
    }

    /// What is printed, and the exit code.
    fn outcome(&self, options: &[&str], script: &str) -> (String, Option<i32>) {
        let output = self.follow(options, script).wait_with_output().expect("ends");
        (String::from_utf8(output.stdout).expect("text"), output.status.code())
    }
}

fn line_of(reader: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    reader.read_line(&mut line).expect("text");
    line.trim_end().to_owned()
}

fn pid_in(line: &str) -> Pid {
    Pid::from_raw(line.parse().expect("a number")).expect("a process")
}

/// Gone, or dead and only not yet buried by whoever inherited it.
fn is_gone(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    test_kill_process(pid).is_err() || stat.contains(") Z ")
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("signalled");
}

#[test]
fn what_was_written_before_a_line_was_printed_stands_before_it() {
    let script = r#"
        mkdir -p chats/deep; echo one
        for n in 1 2 3 4 5 6 7 8 9; do echo "{\"n\":$n}" >> chats/deep/a.jsonl; echo "line $n"; done
        echo '{"last":"é"}' >> chats/b.jsonl; printf end"#;
    let (printed, code) = Place::new().outcome(&[], script);
    assert_eq!(code, Some(0));
    let place = |text: &str| printed.find(text).unwrap_or_else(|| panic!("{text} is in {printed}"));
    for n in 1..=9 {
        let written = format!(r#"{{"type":"warren.file","path":"deep/a.jsonl","line":"{{\"n\":{n}}}"}}"#);
        assert!(place(&written) < place(&format!("line {n}\n")));
    }
    let ours = |line: &&str| !line.contains("warren.file");
    let said: Vec<&str> = printed.lines().filter(ours).collect();
    assert_eq!(said[0], "one");
    assert_eq!((said.len(), said[10]), (11, "end"));
    assert!(printed.contains(r#""path":"b.jsonl","line":"{\"last\":\"é\"}""#), "{printed}");
}

#[test]
fn lines_written_by_a_program_that_prints_nothing_are_seen_while_it_runs() {
    let place = Place::new();
    let script = "mkdir -p chats; echo hello > chats/a.jsonl; read -r";
    let mut child = place.follow(&[], script);
    let mut printed = BufReader::new(child.stdout.take().expect("piped"));
    assert_eq!(line_of(&mut printed), r#"{"type":"warren.file","path":"a.jsonl","line":"hello"}"#);
    child.stdin.take().expect("piped").write_all(b"\n").expect("written");
    assert!(child.wait().expect("ends").success());
}

#[test]
fn the_first_line_is_the_whole_input_even_while_more_could_come() {
    let place = Place::new();
    let mut child = place.follow(&["--prompt-line"], "cat; echo; echo bye");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(b"\"two\\nlines \\u2028\"\n").expect("written");
    let mut printed = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut printed).expect("text");
    assert_eq!(printed, "two\nlines \u{2028}\nbye\n");
    assert!(child.wait().expect("ends").success());
    drop(stdin);
}

#[test]
fn a_large_prompt_and_a_large_output_do_not_wait_for_each_other() {
    let place = Place::new();
    let mut child = place.follow(&["--prompt-line"], "head -c 3000000 /dev/zero | tr '\\0' x; echo; wc -c");
    let mut stdin = child.stdin.take().expect("piped");
    let prompt = format!("\"{}\"\n", "y".repeat(2_000_000));
    let writer = std::thread::spawn(move || stdin.write_all(prompt.as_bytes()).expect("written"));
    let output = child.wait_with_output().expect("ends");
    writer.join().expect("written");
    let printed = String::from_utf8(output.stdout).expect("text");
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!((lines.len(), lines[0].len(), lines[1].trim()), (2, 3_000_000, "2000000"));
}

#[test]
fn the_exit_code_is_the_programs_own() {
    let place = Place::new();
    assert_eq!(place.outcome(&[], "exit 42").1, Some(42));
    assert_eq!(place.outcome(&[], "kill -9 $$").1, Some(137));
    let missing = Command::new(env!("CARGO_BIN_EXE_warren-guest"))
        .args(["follow", "--dir", "/nowhere", "--", "/no/such/program"])
        .stdin(Stdio::null())
        .output()
        .expect("runs");
    let stderr = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert_eq!(missing.status.code(), Some(127));
    assert!(stderr.starts_with("follow: failed to start `/no/such/program`"), "{stderr}");
}

#[test]
fn old_files_are_removed_when_that_is_asked_for_and_not_printed_when_it_is_not() {
    let place = Place::new();
    fs::create_dir(place.file("chats")).expect("made");
    fs::write(place.file("chats/old.jsonl"), "old\n").expect("written");
    let list = "ls chats; true";
    assert_eq!(place.outcome(&[], list).0, "old.jsonl\n");
    assert_eq!(place.outcome(&["--clear"], list).0, "");
}

#[test]
fn a_signal_ends_the_program_and_all_it_is_doing_but_not_what_it_left_behind_before() {
    let place = Place::new();
    // Without a trap: a shell can miss one that comes just before it waits.
    let script = r#"
        (setsid sleep 1000 > /dev/null 2>&1 & echo "$!") ; setsid bash -c 'echo $$; sleep 1000; true' & wait"#;
    let mut child = place.follow(&[], script);
    let mut printed = BufReader::new(child.stdout.take().expect("piped"));
    let left_behind = pid_in(&line_of(&mut printed));
    let at_work = pid_in(&line_of(&mut printed));
    // Its number is known before it has gone its own way.
    until("what is left behind has a session of its own", || getsid(Some(left_behind)) == Ok(left_behind));
    signal(&child, Signal::TERM);
    // On a stalled machine the grace period may pass before the program gets to end: it is killed then.
    let code = child.wait().expect("ends").code();
    assert!(matches!(code, Some(143 | 137)), "{code:?}");
    until("what it was doing is gone", || is_gone(at_work));
    assert!(!is_gone(left_behind));
    kill_process(left_behind, Signal::KILL).expect("killed");
}

#[test]
fn a_program_that_does_not_listen_to_a_signal_is_killed() {
    let place = Place::new();
    let mut child = place.follow(&[], "trap '' TERM INT; echo $$; while true; do sleep 1000; done");
    let mut printed = BufReader::new(child.stdout.take().expect("piped"));
    let program = pid_in(&line_of(&mut printed));
    signal(&child, Signal::INT);
    assert_eq!(child.wait().expect("ends").code(), Some(137));
    assert!(is_gone(program));
}

#[test]
fn a_program_does_not_outlive_whoever_follows_it() {
    let place = Place::new();
    let mut child = place.follow(&[], "echo $$; exec sleep 1000");
    let mut printed = BufReader::new(child.stdout.take().expect("piped"));
    let program = pid_in(&line_of(&mut printed));
    signal(&child, Signal::KILL);
    assert_eq!(child.wait().expect("ends").signal(), Some(9));
    until("the program is gone", || is_gone(program));
}

#[test]
fn a_program_that_nobody_hears_is_ended() {
    let place = Place::new();
    let mut child = place.follow(&[], "trap '' PIPE; echo $$; while true; do echo x; sleep 0.01; done");
    let mut printed = BufReader::new(child.stdout.take().expect("piped"));
    let program = pid_in(&line_of(&mut printed));
    drop(printed);
    assert_eq!(child.wait().expect("ends").code(), Some(1));
    until("the program is gone", || is_gone(program));
}

#[test]
fn an_output_that_others_hold_open_does_not_keep_it_waiting() {
    let place = Place::new();
    let script = "sleep 1000 & echo $!; mkdir -p chats; echo last > chats/a.jsonl";
    let mut child = place.follow(&[], script);
    let mut printed = BufReader::new(child.stdout.take().expect("piped"));
    let left_behind = pid_in(&line_of(&mut printed));
    assert_eq!(line_of(&mut printed), r#"{"type":"warren.file","path":"a.jsonl","line":"last"}"#);
    assert!(child.wait().expect("ends").success());
    kill_process(left_behind, Signal::KILL).expect("killed");
}
