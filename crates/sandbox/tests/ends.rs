//! Whatever ends, and however, nothing of a sandbox is left behind.
#![allow(clippy::expect_used, reason = "tests say what is wrong by panicking")]

mod ground;

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use ground::{LocalGround, processes_of};
use rustix::process::{Pid, Signal, kill_process};
use warren_env::Tasks;
use warren_sandbox::{
    Backend, CgroupIsolation, Exit, Layer, Swept, UidIsolation,
    conformance::{Ground, in_time, said, shell},
    local::{Local, Options},
};

/// Makes a test of this file a program of its own, for another test to run.
const HELPER: &str = "WARREN_TEST_HELPER";

/// A shell that leaves a process behind in every way a shell can.
const LEAVE_BEHIND: &str =
    "setsid sh -c 'trap \"\" TERM HUP INT; while :; do sleep 100; done' > /dev/null 2>&1 &
    (setsid nohup sleep 1000 > /dev/null 2>&1 &) & sleep 1000 > /dev/null 2>&1 & echo left";

fn helper_directory() -> Option<PathBuf> {
    #[allow(clippy::disallowed_methods, reason = "how one test tells another that it is a helper")]
    std::env::var_os(HELPER).map(PathBuf::from)
}

fn helper(test: &str, program: &Path, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(HELPER, directory)
        .stdout(Stdio::piped());
    command
}

/// Waits until something holds, and says how long it took.
fn until(what: &str, mut holds: impl FnMut() -> bool) -> Duration {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(20), "{what}: still not so");
        std::thread::sleep(Duration::from_millis(2));
    }
    begin.elapsed()
}

fn group_directories(local_directory: &Path) -> Vec<PathBuf> {
    let directory = local_directory.canonicalize().expect("the directory is there");
    let key = blake3::hash(directory.as_os_str().as_encoded_bytes()).to_hex()[..16].to_owned();
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("there are mounts");
    let roots =
        mounts.lines().filter(|line| line.contains(" - cgroup")).filter_map(|line| line.split(' ').nth(4));
    roots.map(|root| Path::new(root).join("warren").join(&key)).filter(|path| path.exists()).collect()
}

#[tokio::test]
async fn nothing_survives_the_end_of_its_sandbox() {
    let ground = LocalGround::new().await;
    let spec = ground.spec("survive");
    let uid = spec.uid;
    let sandbox = ground.local.start(spec).await.expect("the sandbox starts");
    assert_eq!(shell(&sandbox, LEAVE_BEHIND).await, said("left\n"));
    assert!(processes_of(uid).len() >= 4, "the guest and what was left");
    sandbox.terminate().await.expect("it ends");
    assert_eq!(processes_of(uid), Vec::<u32>::new());
}

#[tokio::test]
async fn a_dropped_sandbox_is_killed() {
    let ground = LocalGround::new().await;
    let spec = ground.spec("dropped");
    let uid = spec.uid;
    let sandbox = ground.local.start(spec).await.expect("the sandbox starts");
    assert_eq!(shell(&sandbox, LEAVE_BEHIND).await, said("left\n"));
    drop(sandbox);
    until("its processes are gone", || processes_of(uid).is_empty());
}

#[tokio::test]
async fn closing_the_backend_leaves_no_process_and_no_control_group() {
    let ground = LocalGround::new().await;
    let spec = ground.spec("closed");
    let uid = spec.uid;
    let sandbox = ground.local.start(spec).await.expect("the sandbox starts");
    let shared = ground.directory.path().join("shared");
    assert_eq!(group_directories(&shared).is_empty(), sandbox.isolation.cgroup.is_none());
    ground.local.close().await;
    assert_eq!(processes_of(uid), Vec::<u32>::new());
    assert_eq!(group_directories(&shared), Vec::<PathBuf>::new());
    let exit = Exit { signal: Some(9), ..Exit::default() };
    assert_eq!(in_time("the end", sandbox.exited()).await, exit);
}

#[tokio::test]
async fn a_launcher_that_dies_takes_its_sandboxes_along_and_is_replaced() {
    let ground = LocalGround::new().await;
    let spec = ground.spec("launcher");
    let uid = spec.uid;
    let sandbox = ground.local.start(spec.clone()).await.expect("the sandbox starts");
    assert_eq!(shell(&sandbox, LEAVE_BEHIND).await, said("left\n"));
    let launcher = launchers_of(std::process::id(), ground.directory.path());
    let [launcher] = launcher[..] else { panic!("one launcher, not {launcher:?}") };
    kill_process(launcher, Signal::KILL).expect("the launcher is killed");
    let exit = in_time("the end", sandbox.exited()).await;
    let told = Exit { signal: Some(9), complaint: "the launcher ended".into(), ..Exit::default() };
    assert_eq!(exit, told);
    until("its processes are gone", || processes_of(uid).is_empty());
    let again = ground.local.start(spec).await.expect("another sandbox starts");
    assert_eq!(shell(&again, "echo well").await, said("well\n"));
    let swept = ground.local.sweep().await.expect("leftovers were swept");
    assert_eq!(swept.cgroups > 0, again.isolation.cgroup.is_some(), "{swept:?}");
}

/// Launchers that are children of this process and have read from this directory's configuration: the one whose
/// control groups lie in the directory's own.
fn launchers_of(parent: u32, directory: &Path) -> Vec<Pid> {
    let groups = group_directories(&directory.join("shared"));
    let names = groups.iter().flat_map(|group| fs::read_dir(group).expect("groups can be listed"));
    let mut pids: Vec<i32> =
        names.filter_map(|entry| entry.ok()?.file_name().to_str()?.split_once('-')?.0.parse().ok()).collect();
    pids.sort_unstable();
    pids.dedup();
    let is_child = |pid: &i32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.lines().any(|line| line == format!("PPid:\t{parent}"))
    };
    pids.into_iter().filter(is_child).filter_map(Pid::from_raw).collect()
}

#[tokio::test]
async fn a_server_for_another_test_to_kill() {
    let Some(directory) = helper_directory() else { return };
    let local = Local::open(ground::options(&directory), Tasks::new()).expect("the backend opens");
    let spec = ground::spec(&directory.join("session"), "killed", Layer::BASIC.into());
    let uid = spec.uid;
    let sandbox = local.start(spec).await.expect("the sandbox starts");
    assert_eq!(shell(&sandbox, LEAVE_BEHIND).await, said("left\n"));
    let mut out = std::io::stdout();
    writeln!(out, "\nready {uid}").and_then(|()| out.flush()).expect("the other test listens");
    std::future::pending::<()>().await;
}

#[test]
fn a_server_killed_with_sigkill_leaves_nothing_within_a_second() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let program = std::env::current_exe().expect("this program");
    let mut server = helper("a_server_for_another_test_to_kill", &program, directory.path())
        .spawn()
        .expect("the server starts");
    let lines = BufReader::new(server.stdout.take().expect("its output")).lines();
    let mut said = lines.map_while(Result::ok);
    let uid = said.find_map(|line| line.strip_prefix("ready ")?.parse().ok()).expect("the server is ready");
    assert!(processes_of(uid).len() >= 4, "the guest and what was left");
    server.kill().expect("the server is killed");
    let took = until("its processes are gone", || processes_of(uid).is_empty());
    assert!(took < Duration::from_secs(1), "it took {took:?}");
    server.wait().expect("the server is gone");
    let shared = directory.path().join("shared");
    until("its control groups are gone", || group_directories(&shared).is_empty());
}

#[tokio::test]
async fn leftovers_of_a_killed_server_and_launcher_are_swept() {
    let ground = LocalGround::new().await;
    let shared = ground.directory.path().join("shared");
    for hierarchy in group_directories(&shared) {
        fs::create_dir_all(hierarchy.join("1-1/agent")).expect("a control group");
    }
    let has_groups = !group_directories(&shared).is_empty();
    let swept = ground.local.sweep().await.expect("leftovers are swept");
    assert_eq!(swept, Swept { processes: 0, cgroups: u64::from(has_groups) });
    assert!(group_directories(&shared).iter().all(|hierarchy| !hierarchy.join("1-1").exists()));
}

#[tokio::test]
async fn a_server_without_privileges() {
    let Some(directory) = helper_directory() else { return };
    let options = Options::new(vec![directory.join("launcher").into()], directory.join("shared"));
    let local = Local::open(options, Tasks::new()).expect("the backend opens");
    let mut spec = ground::spec(&directory.join("session"), "unprivileged", Layer::BASIC.into());
    spec.mounts.agents.clear();
    let sandbox = local.start(spec.clone()).await.expect("the sandbox starts");
    let uid = rustix::process::geteuid().as_raw();
    assert_eq!(sandbox.isolation.uid, UidIsolation { uid, own: false });
    assert_eq!(sandbox.isolation.cgroup, None::<CgroupIsolation>);
    assert_eq!(sandbox.isolation.notes.len(), 2);
    assert_eq!(shell(&sandbox, "id -u; echo kept > file; cat file").await, said("1000\nkept\n"));
    let forks = "perl -e '$n = 0; while (defined($p = fork)) { if (!$p) { sleep 100; exit } last if ++$n > 600 } print $n'";
    let n_forks: u32 = shell(&sandbox, forks).await.stdout.parse().expect("a number");
    assert!(n_forks <= 512, "{n_forks} processes");
    spec.required.push(Layer::MemoryLimit);
    let refused = local.start(spec).await.expect_err("there is no memory limit to be had");
    assert!(refused.hint().is_some_and(|hint| hint.contains("root")), "{refused}");
    local.close().await;
}

#[test]
fn a_server_that_is_not_root_starts_sandboxes_and_says_what_is_missing() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let program = directory.path().join("test");
    fs::copy(std::env::current_exe().expect("this program"), &program).expect("a copy anybody can run");
    fs::copy(env!("CARGO_BIN_EXE_warren-launcher"), directory.path().join("launcher")).expect("a copy");
    let mut command = helper("a_server_without_privileges", &program, directory.path());
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(directory.path(), Some(65_533), Some(65_533))
            .expect("the directory is handed over");
        command.uid(65_533).gid(65_533);
    }
    let mut server = command.spawn().expect("the server starts");
    let mut output = String::new();
    server.stdout.take().expect("its output").read_to_string(&mut output).expect("its output is text");
    assert!(server.wait().expect("the server ends").success(), "{output}");
}

/// A moment in the life of a process: whether it sleeps, and how often it was scheduled.
fn moment(pid: u32) -> (bool, Vec<String>) {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line =
        |start: &str| status.lines().find(|line| line.starts_with(start)).unwrap_or_default().to_owned();
    let is_asleep = line("State:").contains("S (sleeping)");
    (is_asleep, vec![line("voluntary_ctxt_switches"), line("nonvoluntary_ctxt_switches")])
}

/// Waits until a process sleeps through several looks. One that spins never does.
async fn falls_asleep(pid: u32) {
    let mut same = 0;
    let mut last = moment(pid);
    while same < 5 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let now = moment(pid);
        same = if now.0 && now == last { same + 1 } else { 0 };
        last = now;
    }
}

#[tokio::test]
async fn launcher_sleeps_while_the_monitor_of_a_dead_sandbox_is_stopped_and_still_ends_it() {
    let ground = LocalGround::new().await;
    let spec = ground.spec("stopped");
    let uid = spec.uid;
    let sandbox = ground.backend().start(spec).await.expect("it starts");
    // bubblewrap outside is the parent of PID 1 inside, and a child of the launcher.
    let parent = |pid: u32| -> u32 {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("PPid:")).expect("a parent");
        line.trim().parse().expect("a PID")
    };
    let all = processes_of(uid);
    let monitor = *all.iter().find(|pid| !all.contains(&parent(**pid))).expect("bubblewrap");
    let first = *all.iter().find(|pid| parent(**pid) == monitor).expect("PID 1");
    let launcher = parent(monitor);
    let signal = |pid: u32, signal| {
        let pid = Pid::from_raw(pid.cast_signed()).expect("a PID");
        kill_process(pid, signal).expect("a signal");
    };
    signal(monitor, Signal::STOP);
    signal(first, Signal::KILL);
    in_time("the end of PID 1", async {
        while fs::read_to_string(format!("/proc/{first}/stat")).is_ok_and(|stat| !stat.contains(") Z")) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    in_time("the launcher to fall asleep", falls_asleep(launcher)).await;
    sandbox.terminate().await.expect("it ends although its monitor is stopped");
    ground.local.close().await;
}
