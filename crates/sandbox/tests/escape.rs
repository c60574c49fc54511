//! Hostile programs: each test shows that an attempt fails, and that guest and host are well afterwards.
#![allow(clippy::expect_used, reason = "tests say what is wrong by panicking")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

mod ground;

use std::{
    fs,
    net::{TcpListener, UdpSocket},
    os::{
        linux::net::SocketAddrExt,
        unix::{fs::symlink, net},
    },
    path::Path,
};

use ground::LocalGround;
use warren_guest_api::{Exit, FilePath, Root};
use warren_sandbox::{
    Backend, LimitHit, Limits, Sandbox,
    conformance::{Finished, Ground, in_time, run, said, shell, start},
};

const MIB: u64 = 1 << 20;

/// Makes attempts one by one, and compares all outcomes at once.
async fn check(sandbox: &Sandbox, attempts: &[(&[&str], &str)]) {
    let mut found = Vec::new();
    for (arguments, _) in attempts {
        found.push((*arguments, attempt(sandbox, arguments).await));
    }
    let expected: Vec<_> =
        attempts.iter().map(|(arguments, outcome)| (*arguments, said(&format!("{outcome}\n")))).collect();
    assert_eq!(found, expected);
    sandbox.guest.ping().await.expect("the guest is well");
}

async fn attempt(sandbox: &Sandbox, arguments: &[&str]) -> Finished {
    let argv: Vec<&str> = ["/opt/agents/hostile"].iter().chain(arguments).copied().collect();
    run(sandbox, &argv).await
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

#[tokio::test]
async fn files_of_the_host_cannot_be_reached() {
    let ground = LocalGround::new().await;
    let other = start(&ground, "other").await;
    assert_eq!(shell(&other, "echo secret > secret").await, said(""));
    let sandbox = start(&ground, "files").await;
    let secret = ground.directory.path().join("other/workspace/secret");
    assert_eq!(fs::read(&secret).expect("the host can read it"), b"secret\n");
    check(
        &sandbox,
        &[
            (&["read", "/etc/shadow"], "ENOENT"),
            (&["list", "/root"], "ENOENT"),
            (&["list", text(ground.directory.path())], "ENOENT"),
            (&["read", text(&secret)], "ENOENT"),
            (&["read", &format!("/workspace/../../..{}", text(&secret))], "ENOENT"),
            (&["list", "/sys"], "ENOENT"),
            (&["list", "/sys/fs/cgroup"], "ENOENT"),
            (&["list", "/mnt"], "ENOENT"),
            (&["list", "/proc/1/root"], "EACCES"),
            (&["list", "/proc/1/cwd"], "EACCES"),
            (&["list", "/run"], "ENOENT"),
            (&["list", "/var"], "ENOENT"),
        ],
    )
    .await;
}

#[tokio::test]
async fn files_of_proc_that_describe_the_host_are_empty() {
    let ground = LocalGround::new().await;
    let sandbox = start(&ground, "proc").await;
    let read = "cd /proc; for file in cmdline config.gz diskstats partitions sys/kernel/random/boot_id; do \
        test ! -e $file || wc -c < $file; done | sort -u; wc -l < version";
    assert_eq!(shell(&sandbox, read).await, said("0\n1\n"));
    check(&sandbox, &[(&["write", "/proc/cmdline"], "EACCES")]).await;
}

#[tokio::test]
async fn read_only_places_cannot_be_written() {
    let ground = LocalGround::new().await;
    let sandbox = start(&ground, "read-only").await;
    let mut outcomes = Vec::new();
    for path in
        ["/usr/new", "/etc/new", "/knowledge/new", "/new", "/dev/new", "/opt/agents/new", "/warren/new"]
    {
        outcomes.push((path, attempt(&sandbox, &["create", path]).await.stdout));
    }
    for path in ["/etc/passwd", "/knowledge/fact", "/warren/guest", "/opt/agents/hostile", "/usr/bin/env"] {
        outcomes.push((path, attempt(&sandbox, &["write", path]).await.stdout));
    }
    for path in ["/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/1/oom_score_adj"] {
        outcomes.push((path, attempt(&sandbox, &["write", path]).await.stdout));
    }
    // Landlock says `EACCES` before the read-only mount could say `EROFS`.
    outcomes.retain(|(_, outcome)| outcome != "EROFS\n" && outcome != "EACCES\n");
    assert_eq!(outcomes, []);
    sandbox.guest.ping().await.expect("the guest is well");
}

#[tokio::test]
async fn calls_that_nobody_listed_do_not_exist() {
    let ground = LocalGround::new().await;
    let sandbox = start(&ground, "unlisted").await;
    check(
        &sandbox,
        &[
            (&["call", "unknown"], "ENOSYS"),
            (&["call", "memfd_secret"], "ENOSYS"),
            (&["call", "statmount"], "ENOSYS"),
            (&["call", "unusual-personality"], "EPERM"),
            (&["call", "usual-personality"], "allowed"),
        ],
    )
    .await;
}

#[tokio::test]
async fn compilers_interpreters_and_tools_find_the_calls_they_need() {
    let tools = [
        ("sh", "echo a | sort | uniq -c | tr -d ' '", "1a\n"),
        (
            "python3",
            "python3 -c 'import subprocess, threading, multiprocessing as m, tempfile, socket, sqlite3, mmap\n\
            t = threading.Thread(target=print, args=(\"thread\",)); t.start(); t.join()\n\
            print(m.get_context(\"spawn\").cpu_count() > 0, sqlite3.connect(\"d\").execute(\"select 7\").fetchone())\n\
            print(subprocess.run([\"true\"]).returncode, len(mmap.mmap(-1, 4096)))'",
            "thread\nTrue (7,)\n0 4096\n",
        ),
        (
            "node",
            "node -e 'const w = require(\"worker_threads\"); new w.Worker(\"require(\\\"fs\\\").writeFileSync(\\\"w\\\", \\\"x\\\")\", \
            {eval: true}).on(\"exit\", c => require(\"child_process\").exec(\"echo child\", (e, o) => console.log(c, o.trim())))'",
            "0 child\n",
        ),
        (
            "git",
            "git init -q r && cd r && git -c user.name=a -c user.email=b commit -q --allow-empty -m c && git log --oneline | wc -l",
            "1\n",
        ),
        (
            "gcc",
            "printf '#include <stdio.h>\nint main(){puts(\"built\");}' > m.c && gcc -O1 m.c -o m && ./m",
            "built\n",
        ),
        ("perl", "perl -e 'print fork ? (wait, 2)[1] : 1'", "12"),
        ("make", "printf 'all:\n\t@echo made\n' > Makefile && make -s", "made\n"),
        ("tar", "mkdir t && touch t/f && tar cz t | tar tz", "t/\nt/f\n"),
        ("curl", "curl -s --max-time 2 http://127.0.0.1:9; echo $?", "7\n"),
    ];
    let ground = LocalGround::new().await;
    let sandbox = start(&ground, "tools").await;
    for (tool, command, expected) in tools {
        let found =
            shell(&sandbox, &format!("if command -v {tool} > /dev/null; then {command}; else echo none; fi"))
                .await;
        if found.stdout == "none\n" {
            eprintln!("skipped: {tool} is not on this machine");
            continue;
        }
        assert_eq!((tool, found), (tool, said(expected)));
    }
}

#[tokio::test]
async fn setuid_and_setgid_bits_cannot_be_set() {
    let ground = LocalGround::new().await;
    let sandbox = start(&ground, "set-id").await;
    let mut ways = vec!["fchmod", "fchmodat", "fchmodat2", "mknodat", "mkdirat", "openat", "tmpfile"];
    if cfg!(target_arch = "x86_64") {
        ways.extend(["chmod", "mknod", "mkdir", "creat", "open"]);
    }
    let mut outcomes = Vec::new();
    for way in ways {
        for (bits, outcome) in [("4755", "EPERM"), ("2755", "EPERM"), ("6711", "EPERM"), ("0755", "allowed")]
        {
            outcomes.push((["setid", way, bits], outcome));
        }
    }
    // The mode of a file that exists is not looked at.
    outcomes.push((["setid", "open-existing", "6755"], "allowed"));
    let outcomes: Vec<_> = outcomes.iter().map(|(arguments, outcome)| (&arguments[..], *outcome)).collect();
    check(&sandbox, &outcomes).await;

    // Where the filter cannot see the mode, the kernel takes the bits away with the first byte.
    check(&sandbox, &[(&["setid", "openat2", "6755"], "allowed")]).await;
    let modes = "stat -c '%a %s' new; chmod 1751 new; stat -c %a new; umask; touch usual; stat -c %a usual";
    assert_eq!(shell(&sandbox, modes).await, said("755 2\n1751\n0022\n644\n"));
    assert_eq!(
        shell(&sandbox, "cp /usr/bin/id suid; chmod 4755 suid 2>&1 | grep -c 'not permitted'").await,
        said("1\n")
    );
}

#[tokio::test]
async fn no_network_can_be_reached() {
    let ground = LocalGround::new().await;
    let sandbox = start(&ground, "network").await;
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a listener on the host");
    let udp = UdpSocket::bind("127.0.0.1:0").expect("a socket on the host");
    udp.set_nonblocking(true).expect("a socket that does not wait");
    let name = format!("warren-escape-{}", std::process::id());
    let address = net::SocketAddr::from_abstract_name(&name).expect("a name");
    let _abstract = net::UnixListener::bind_addr(&address).expect("an abstract listener on the host");
    let path = ground.directory.path().join("socket");
    let _path = net::UnixListener::bind(&path).expect("a listener with a path on the host");
    check(
        &sandbox,
        &[
            (&["tcp", &tcp.local_addr().expect("an address").to_string()], "ECONNREFUSED"),
            (&["tcp", "1.1.1.1:53"], "ENETUNREACH"),
            (&["tcp", "[2606:4700:4700::1111]:53"], "ENETUNREACH"),
            (&["tcp", "169.254.169.254:80"], "ENETUNREACH"),
            (&["udp", "1.1.1.1:53"], "ENETUNREACH"),
            (&["udp", &udp.local_addr().expect("an address").to_string()], "allowed"),
            (&["unix", text(&path)], "ENOENT"),
            (&["socket", &libc::AF_VSOCK.to_string()], "EPERM"),
            (&["socket", &libc::AF_PACKET.to_string()], "EPERM"),
            (&["socket", &libc::AF_ALG.to_string()], "EPERM"),
            (&["socket", &libc::AF_BLUETOOTH.to_string()], "EPERM"),
            (&["socket", &libc::AF_TIPC.to_string()], "EPERM"),
            (&["socket", &libc::AF_XDP.to_string()], "EPERM"),
        ],
    )
    .await;
    let reached = attempt(&sandbox, &["abstract", &name]).await.stdout;
    assert!(["ECONNREFUSED\n", "EPERM\n"].contains(&reached.as_str()), "{reached}");
    // It went to the sandbox's own loopback.
    assert!(udp.recv(&mut [0; 1]).is_err(), "the host received a datagram");
}

#[tokio::test]
async fn the_guest_cannot_be_taken_over_or_killed() {
    let ground = LocalGround::new().await;
    let sandbox = start(&ground, "guest").await;
    check(
        &sandbox,
        &[
            (&["call", "ptrace"], "EPERM"),
            (&["call", "process_vm_readv"], "EPERM"),
            (&["call", "process_vm_writev"], "EPERM"),
            (&["call", "pidfd_getfd"], "EPERM"),
            (&["read", "/proc/1/mem"], "EACCES"),
            (&["write", "/proc/1/mem"], "EACCES"),
            (&["list", "/proc/1/fd"], "EACCES"),
            (&["read", "/proc/1/environ"], "EACCES"),
            (&["read", "/proc/1/maps"], "EACCES"),
        ],
    )
    .await;
    // Whether the kernel says no or ignores it, PID 1 does not die.
    for signal in ["KILL", "TERM", "STOP", "SEGV"] {
        shell(&sandbox, &format!("kill -{signal} 1")).await;
    }
    attempt(&sandbox, &["kill", "-1"]).await;
    in_time("a ping", sandbox.guest.ping()).await.expect("the guest is well");
    assert_eq!(shell(&sandbox, "echo well").await, said("well\n"));
}

#[tokio::test]
async fn calls_that_widen_what_can_be_reached_fail() {
    let ground = LocalGround::new().await;
    let sandbox = start(&ground, "calls").await;
    let denied = [
        "unshare-user",
        "unshare-mount",
        "clone-user",
        "setns",
        "mount",
        "umount",
        "remount",
        "pivot_root",
        "chroot",
        "open_tree",
        "fsopen",
        "open_by_handle_at",
        "keyctl",
        "add_key",
        "bpf",
        "io_uring",
        "perf_event_open",
        "userfaultfd",
        "init_module",
        "reboot",
        "mknod",
        "tiocsti",
        "project",
    ];
    let arguments: Vec<[&str; 2]> = denied.iter().map(|name| ["call", *name]).collect();
    let attempts: Vec<(&[&str], &str)> = arguments.iter().map(|both| (both.as_slice(), "EPERM")).collect();
    check(&sandbox, &attempts).await;
    check(
        &sandbox,
        &[
            (&["call", "clone3"], "ENOSYS"),
            #[cfg(target_arch = "x86_64")]
            (&["call", "x32"], "ENOSYS"),
            #[cfg(target_arch = "x86_64")]
            (&["call", "i386"], "ENOSYS"),
            (&["call", "fallocate"], "EOPNOTSUPP"),
            // There is no root in the sandbox to become.
            (&["call", "setuid"], "EINVAL"),
        ],
    )
    .await;
}

#[tokio::test]
async fn no_descriptor_is_inherited() {
    let ground = LocalGround::new().await;
    let sandbox = start(&ground, "descriptors").await;
    let listed = attempt(&sandbox, &["descriptors"]).await;
    let mut others: Vec<&str> = listed.stdout.lines().filter(|line| *line != "allowed").collect();
    // Its own standard three, and what it reads `/proc` with.
    others.retain(|line| {
        let (number, target) = line.split_once(' ').expect("a number and a target");
        let is_standard = ["0", "1", "2"].contains(&number)
            && (target == "/dev/null" || target.starts_with("pipe:[") || target.starts_with("socket:["));
        !is_standard && !target.starts_with("/proc")
    });
    assert_eq!(others, Vec::<&str>::new());
}

#[tokio::test]
async fn processes_of_the_host_cannot_be_signalled() {
    let ground = LocalGround::new().await;
    let sandbox = start(&ground, "signals").await;
    let host = std::process::id().to_string();
    let outcome = attempt(&sandbox, &["kill", &host]).await.stdout;
    assert_eq!(outcome, "ESRCH\n");
}

#[tokio::test]
async fn links_are_not_followed_out_of_the_workspace() {
    let ground = LocalGround::new().await;
    let sandbox = start(&ground, "links").await;
    let workspace = ground.directory.path().join("links/workspace");
    symlink("/etc/passwd", workspace.join("link")).expect("a link");
    symlink("/", workspace.join("directory")).expect("a link");
    for path in ["link", "directory/etc/passwd", "../home/x", "/etc/passwd", "outputs/../../etc/passwd"] {
        let read = sandbox.guest.read_all(FilePath::new(Root::Workspace, path), 1000).await;
        assert!(read.is_err(), "`{path}` was read");
    }
    sandbox.guest.ping().await.expect("the guest is well");
}

#[tokio::test]
async fn a_program_that_takes_four_gigabytes_is_killed_alone() {
    let ground = LocalGround::new().await;
    let sandbox = start(&ground, "memory").await;
    let greedy = attempt(&sandbox, &["memory", &(4096 * MIB).to_string()]).await;
    assert_eq!(greedy, Finished { exit: Exit::Signal(9), stdout: String::new(), stderr: String::new() });
    sandbox.guest.ping().await.expect("the guest is well");
    assert_eq!(sandbox.stats().await.expect("there are numbers").oom_kills, 1);
}

#[tokio::test]
async fn a_fork_bomb_ends_with_its_sandbox() {
    let ground = LocalGround::new().await;
    let spec = ground.spec("fork-bomb");
    let uid = spec.uid;
    let sandbox = ground.local.start(spec).await.expect("the sandbox starts");
    shell(&sandbox, "bomb() { bomb | bomb & }; bomb > /dev/null 2>&1; sleep 1").await;
    in_time("a ping", sandbox.guest.ping()).await.expect("the guest is well");
    let pids = sandbox.stats().await.expect("there are numbers").pids.expect("processes are counted");
    assert!(pids <= 512 + 64, "{pids} processes");
    in_time("the end", sandbox.terminate()).await.expect("it ends");
    assert_eq!(ground::processes_of(uid), Vec::<u32>::new());
}

#[tokio::test]
async fn memory_file_systems_are_bounded_and_filling_them_hurts_nobody() {
    let ground = LocalGround::new().await;
    let sandbox = start(&ground, "tmp").await;
    check(
        &sandbox,
        &[
            (&["fill", "/tmp/large", &(300 * MIB).to_string()], "ENOSPC"),
            (&["fill", "/dev/shm/large", &(100 * MIB).to_string()], "ENOSPC"),
        ],
    )
    .await;
    assert_eq!(
        shell(&sandbox, "rm /tmp/large && echo well > /tmp/small && cat /tmp/small").await,
        said("well\n")
    );
}

#[tokio::test]
async fn a_file_over_its_limit_cannot_be_written() {
    let ground = LocalGround::new().await;
    let mut spec = ground.spec("file");
    spec.limits = Limits { file_bytes: 8 * MIB, ..Limits::default() };
    let sandbox = ground.local.start(spec).await.expect("the sandbox starts");
    check(&sandbox, &[(&["fill", "/workspace/large", &(9 * MIB).to_string()], "EFBIG")]).await;
}

#[tokio::test]
async fn a_disk_that_is_filled_with_many_files_is_noticed() {
    let ground = LocalGround::new().await;
    let mut spec = ground.spec("disk");
    spec.limits = Limits { disk_bytes: 16 * MIB, ..Limits::default() };
    let sandbox = ground.local.start(spec).await.expect("the sandbox starts");
    let fill = "for i in 1 2 3 4 5 6 7 8; do head -c 4M /dev/zero > $HOME/$i; done";
    assert_eq!(shell(&sandbox, fill).await, said(""));
    let hit = in_time("the report", sandbox.limit_hit()).await;
    assert!(matches!(hit, LimitHit::Disk { used_bytes, .. } if used_bytes > 16 * MIB), "{hit:?}");
}

#[tokio::test]
async fn files_cannot_be_hidden_in_a_deep_tree() {
    let ground = LocalGround::new().await;
    let sandbox = start(&ground, "deep").await;
    check(&sandbox, &[(&["nest", "3000"], "allowed")]).await;
    assert_eq!(in_time("the report", sandbox.limit_hit()).await, LimitHit::TreeTooDeep);
    assert_eq!(shell(&sandbox, "rm -rf d; ls").await.stdout, "outputs\n");
}

#[tokio::test]
async fn socket_buffers_are_bounded_by_the_memory_limit() {
    let ground = LocalGround::new().await;
    let mut spec = ground.spec("sockets");
    spec.limits = Limits { memory_bytes: 128 * MIB, ..Limits::default() };
    let sandbox = ground.backend().start(spec).await.expect("it starts");
    if sandbox.isolation.cgroup.as_ref().is_none_or(|cgroup| !cgroup.memory) {
        eprintln!("skipped: no control group limits memory");
        return;
    }
    for way in ["tcp-buffers", "udp-buffers"] {
        let said = attempt(&sandbox, &[way]).await.stdout;
        let held: u64 =
            said.lines().next().and_then(|line| line.parse().ok()).unwrap_or_else(|| panic!("{way}: {said}"));
        // Each connection may have a few pages whatever the limit is.
        assert!((MIB..64 * MIB).contains(&held), "{way} held {held} bytes");
    }
    sandbox.guest.ping().await.expect("the guest is well");
}
