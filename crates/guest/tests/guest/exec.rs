//! Running programs.

use std::{collections::BTreeMap, fs};

use bytes::Bytes;
use warren_guest_api::{
    EXEC_CREDIT, ErrorCode, ExecRequest, Exit, Frame, Leftovers, Limit, Output, Request, Stdio, write_frame,
};

use crate::support::{Outcome, TestGuest, is_alive, shell, until};

#[tokio::test]
async fn a_program_has_its_output_and_its_exit_code() {
    let guest = TestGuest::start();
    let outcome = guest.shell("echo out; echo err >&2; exit 7").await;
    let expected = Outcome { stdout: "out\n".into(), stderr: "err\n".into(), exit: Exit::Code(7) };
    assert_eq!(outcome, expected);
}

#[tokio::test]
async fn a_program_gets_its_stdin_and_the_end_of_it() {
    let guest = TestGuest::start();
    let request = ExecRequest { stdin: true, ..shell("cat; echo done") };
    let mut running = guest.exec(request).await.expect("starts");
    running.send(Frame::Stdin(Bytes::from_static(b"one "))).await;
    running.send(Frame::Stdin(Bytes::from_static(b"two "))).await;
    running.send(Frame::StdinEnd).await;
    assert_eq!(running.finish().await.stdout, "one two done\n");
}

#[tokio::test]
async fn the_environment_and_the_directory_are_exactly_those_asked_for() {
    let guest = TestGuest::start();
    let directory = guest.workspace("").to_str().expect("UTF-8").trim_end_matches('/').to_owned();
    let request = ExecRequest {
        argv: vec!["env".into()],
        env: BTreeMap::from([("PATH".into(), "/usr/bin".into()), ("A".into(), "1".into())]),
        cwd: Some(directory.clone()),
        ..ExecRequest::default()
    };
    let outcome = guest.exec(request).await.expect("starts").finish().await;
    assert_eq!(outcome.stdout, "A=1\nPATH=/usr/bin\n");
    let outcome = guest.exec(ExecRequest { cwd: Some(directory.clone()), ..shell("pwd") }).await;
    assert_eq!(outcome.expect("starts").finish().await.stdout, format!("{directory}\n"));
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let guest = TestGuest::start();
    fs::write(guest.workspace("text"), "just text").expect("writes");
    let text = guest.workspace("text").to_str().expect("UTF-8").to_owned();
    let program = |argv: &[&str], cwd: Option<&str>| ExecRequest {
        argv: argv.iter().map(|arg| (*arg).to_owned()).collect(),
        cwd: cwd.map(Into::into),
        ..ExecRequest::default()
    };
    let cases = [
        (program(&[], None), ErrorCode::InvalidRequest),
        (program(&["/no/such/program"], None), ErrorCode::NotFound),
        (program(&["/bin/true"], Some("/no/such/directory")), ErrorCode::NotFound),
        (program(&[&text], None), ErrorCode::NotExecutable),
        (program(&["/bin/tr\0ue"], None), ErrorCode::NotExecutable),
    ];
    for (request, code) in cases {
        let error = guest.exec(request.clone()).await.err().expect("fails");
        assert_eq!(error.code, code, "{request:?}: {error}");
    }
}

#[tokio::test]
async fn a_signal_reaches_the_whole_group() {
    let guest = TestGuest::start();
    let mut running = guest.exec(shell("sleep 1000 & echo $!; wait")).await.expect("starts");
    let Frame::Output(Output::Stdout, line) = running.next().await else { panic!("no line") };
    let background: u32 = String::from_utf8_lossy(&line).trim().parse().expect("a number");
    assert!(is_alive(background));
    running.send(Frame::Signal(15)).await;
    assert_eq!(running.finish().await.exit, Exit::Signal(15));
    until("the background process is gone", || !is_alive(background)).await;
}

#[tokio::test]
async fn a_host_that_drops_a_program_kills_its_group() {
    let guest = TestGuest::start();
    let mut running =
        guest.exec(shell("trap '' HUP TERM INT; sleep 1000 & echo $!; wait")).await.expect("starts");
    let Frame::Output(Output::Stdout, line) = running.next().await else { panic!("no line") };
    let background: u32 = String::from_utf8_lossy(&line).trim().parse().expect("a number");
    let leader = running.pid;
    drop(running);
    until("the whole group is gone", || !is_alive(leader) && !is_alive(background)).await;
    guest.ask::<()>(&Request::Ping).await.expect("lives");
}

#[tokio::test]
async fn what_a_program_leaves_behind_is_kept_or_killed_as_asked() {
    for leftovers in [Leftovers::Keep, Leftovers::Kill] {
        let guest = TestGuest::start();
        let script = "sleep 1000 >/dev/null 2>&1 & echo $!";
        let outcome =
            guest.exec(ExecRequest { leftovers, ..shell(script) }).await.expect("starts").finish().await;
        let left: u32 = outcome.stdout.trim().parse().expect("a number");
        match leftovers {
            Leftovers::Keep => assert!(is_alive(left)),
            Leftovers::Kill => until("it is gone", || !is_alive(left)).await,
        }
    }
}

#[tokio::test]
async fn an_output_that_a_leftover_holds_open_does_not_keep_the_exit_waiting() {
    let guest = TestGuest::start();
    let outcome = guest.shell("sleep 1000 & echo $!; exit 3").await;
    assert_eq!(outcome.exit, Exit::Code(3));
    assert!(is_alive(outcome.stdout.trim().parse().expect("a number")));
}

#[tokio::test]
async fn orphans_are_reaped() {
    let guest = TestGuest::start();
    guest.shell("(sleep 0 & sleep 0 & sleep 0 &) ; (setsid sh -c 'exit 1' &)").await;
    let pid = guest.process.id();
    until("the guest has no children", || {
        fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("reads").is_empty()
    })
    .await;
}

#[tokio::test]
async fn many_programs_at_once_each_get_their_own_exit() {
    let guest = TestGuest::start();
    let mut running = Vec::new();
    for n in 0..50 {
        running.push((n, guest.exec(shell(&format!("sleep 0.0{n:02}; exit {n}"))).await.expect("starts")));
    }
    for (n, program) in running {
        assert_eq!(program.finish().await.exit, Exit::Code(n));
    }
}

#[tokio::test]
async fn a_program_has_no_descriptor_but_its_three_and_a_session_of_its_own() {
    let guest = TestGuest::start();
    let outcome = guest.shell("ls /proc/self/fd; cat /proc/$$/stat").await;
    // The fourth is the directory that `ls` reads.
    let (descriptors, stat) = outcome.stdout.split_at(8);
    assert_eq!(descriptors, "0\n1\n2\n3\n");
    let fields: Vec<&str> = stat.split(' ').collect();
    let [pid, .., group, session] = [fields[0], fields[3], fields[4], fields[5]];
    assert_eq!((group, session), (pid, pid));
}

#[tokio::test]
async fn output_nobody_makes_room_for_waits_and_the_other_one_flows() {
    let guest = TestGuest::start();
    let script = "head -c 1000000 /dev/zero; echo finished >&2";
    let mut running = guest.exec(shell(&format!("({script}) & echo first >&2; wait"))).await.expect("starts");
    let mut stdout = 0;
    let mut stderr = String::new();
    while stdout < EXEC_CREDIT as usize || stderr.is_empty() {
        match running.next().await {
            Frame::Output(Output::Stdout, data) => stdout += data.len(),
            Frame::Output(Output::Stderr, data) => stderr.push_str(&String::from_utf8_lossy(&data)),
            frame => panic!("{frame:?}"),
        }
    }
    assert_eq!((stdout, stderr.as_str()), (EXEC_CREDIT as usize, "first\n"));
    running.send(Frame::Credit(Output::Stdout, 10_000_000)).await;
    let rest = running.finish().await;
    assert_eq!((stdout + rest.stdout.len(), rest.stderr.as_str()), (1_000_000, "finished\n"));
}

#[tokio::test]
async fn a_signal_passes_a_program_that_does_not_read_its_stdin() {
    let guest = TestGuest::start();
    let mut running =
        guest.exec(ExecRequest { stdin: true, ..shell("exec sleep 1000") }).await.expect("starts");
    let mut sent = 0;
    while sent < EXEC_CREDIT as usize {
        running.send(Frame::Stdin(vec![0; 32 * 1024].into())).await;
        sent += 32 * 1024;
    }
    running.send(Frame::Signal(9)).await;
    assert_eq!(running.finish().await.exit, Exit::Signal(9));
}

#[tokio::test]
async fn a_host_that_sends_more_stdin_than_agreed_loses_the_program() {
    let guest = TestGuest::start();
    let mut running =
        guest.exec(ExecRequest { stdin: true, ..shell("exec sleep 1000") }).await.expect("starts");
    let pid = running.pid;
    for _ in 0..3 * EXEC_CREDIT / (32 * 1024) {
        // Until the guest has had enough.
        _ = write_frame(running.frames.get_mut(), &Frame::Stdin(vec![0; 32 * 1024].into())).await;
    }
    until("the program is gone", || !is_alive(pid)).await;
    guest.ask::<()>(&Request::Ping).await.expect("lives");
}

#[tokio::test]
async fn limits_of_the_sandbox_and_of_the_request_hold() {
    let guest = TestGuest::start_with(&["--rlimit", "nofile=200", "--rlimit", "fsize=1048576"]);
    let script = "ulimit -n; ulimit -c; head -c 2000000 /dev/zero > big || echo too big";
    let mut request = shell(script);
    request.cwd = Some(guest.workspace("").to_str().expect("UTF-8").into());
    let outcome = guest.exec(request.clone()).await.expect("starts").finish().await;
    assert_eq!(outcome.stdout, "200\n0\ntoo big\n");
    request.limits = vec![Limit::Nofile(50)];
    let outcome = guest.exec(request).await.expect("starts").finish().await;
    assert_eq!(outcome.stdout, "50\n0\ntoo big\n");
}

#[tokio::test]
async fn landlock_lets_programs_write_their_trees_and_nothing_else() {
    let guest = TestGuest::start();
    let outside = tempfile::Builder::new().tempdir_in("/var/lib").expect("a directory outside");
    fs::write(outside.path().join("secret"), "secret").expect("writes");
    let (inside, outside) = (guest.workspace("file"), outside.path().to_str().expect("UTF-8"));
    let script = format!(
        "echo x > {inside} && echo wrote inside; echo x > {outside}/file || echo refused outside; \
         cat {outside}/secret || echo refused to read; cat /etc/hostname > /dev/null && echo read etc",
        inside = inside.display()
    );
    let outcome = guest.shell(&script).await;
    assert_eq!(outcome.stdout, "wrote inside\nrefused outside\nrefused to read\nread etc\n");
}

#[tokio::test]
async fn a_program_cannot_signal_what_it_did_not_start() {
    let guest = TestGuest::start();
    let script = format!("kill -CONT {} || echo refused; sleep 1 & kill $! && echo own", std::process::id());
    assert_eq!(guest.shell(&script).await.stdout, "refused\nown\n");
}

#[tokio::test]
async fn a_guest_that_cannot_fork_says_so_and_lives() {
    let Some(group) = crate::cgroup::Group::create("pids") else { return };
    group.write("pids.max", "1");
    let guest = TestGuest::start();
    group.write("cgroup.procs", &guest.process.id().to_string());
    let error = guest.exec(shell("true")).await.err().expect("no room");
    assert_eq!(error.code, ErrorCode::Exhausted, "{error}");
    group.write("pids.max", "max");
    assert_eq!(guest.shell("echo again").await.stdout, "again\n");
}

/// Opens the three of the program that starts it through `/proc`, in both directions, and prints what came of each.
const OPEN_STDIO: &str = "import errno, os
for fd in 0, 1, 2:
    for flags in os.O_RDONLY, os.O_WRONLY:
        try:
            os.close(os.open(f'/proc/{os.getppid()}/fd/{fd}', flags | os.O_NONBLOCK)); print('opened', end=' ')
        except OSError as error:
            print(errno.errorcode[error.errno], end=' ')";

#[tokio::test]
async fn stdio_sockets_cannot_be_opened_by_what_the_program_starts_and_pipes_can() {
    let guest = TestGuest::start();
    let script = format!("python3 -c \"{OPEN_STDIO}\"; cat; echo end >&2");
    for (stdio, outcome) in [(Stdio::Sockets, "ENXIO "), (Stdio::Pipes, "opened ")] {
        let request = ExecRequest { stdin: true, stdio, ..shell(&script) };
        let mut running = guest.exec(request).await.expect("starts");
        running.send(Frame::Stdin(Bytes::from_static(b"and its own work"))).await;
        running.send(Frame::StdinEnd).await;
        let stdout = format!("{}and its own work", outcome.repeat(6));
        let expected = Outcome { stdout, stderr: "end\n".into(), exit: Exit::Code(0) };
        assert_eq!(running.finish().await, expected);
    }
}
