//! What a sandbox costs in which nothing happens, and how soon it is noticed that something does.
#![allow(clippy::expect_used, reason = "tests say what is wrong by panicking")]

mod ground;

use std::{fs, time::Duration};

use ground::{LocalGround, processes_of};
use warren_sandbox::{
    PortWatch,
    conformance::{Ground, in_time, said, shell},
};

/// Asks for listening sockets as the guest does; a filter that forbids it would make every look a hundred times dearer.
const SOCK_DIAG: &str = "import socket, struct; s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4); \
     s.send(struct.pack('=IHHIIBBBBI48x', 72, 20, 0x301, 1, 0, socket.AF_INET, 6, 0, 0, 1 << 10)); \
     print(struct.unpack_from('=IH', s.recv(65536))[1])";

#[tokio::test]
async fn sandbox_without_processes_takes_no_cpu_time() {
    let ground = LocalGround::new().await;
    let spec = ground.spec("idle");
    let uid = spec.uid;
    let sandbox = ground.backend().start(spec).await.expect("the sandbox starts");
    let mut ports = sandbox.guest.watch_ports(Vec::new()).await.expect("the watch begins");
    assert!(next(&mut ports).await.is_empty());
    assert_eq!(shell(&sandbox, "echo well").await, said("well\n"));
    // What came before may still be tidied up; whatever wakes by the clock is never still.
    let mut before = None;
    for _ in 0..10 {
        let now = Some(n_wake_ups(uid));
        if now == before {
            return;
        }
        before = now;
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    panic!("a sandbox in which nothing runs wakes up");
}

#[tokio::test]
async fn port_of_a_process_left_behind_in_a_sandbox_is_reported() {
    let ground = LocalGround::new().await;
    let sandbox = ground.backend().start(ground.spec("ports")).await.expect("the sandbox starts");
    let mut ports = sandbox.guest.watch_ports(Vec::new()).await.expect("the watch begins");
    assert!(next(&mut ports).await.is_empty());
    let server = "setsid python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", 4711)); \
                  open(\"/workspace/end\").read()' > /dev/null 2>&1 &";
    assert_eq!(shell(&sandbox, &format!("mkfifo end; {server}")).await, said(""));
    assert_eq!(next(&mut ports).await, [4711]);
    assert_eq!(shell(&sandbox, "true > end").await, said(""));
    assert!(next(&mut ports).await.is_empty());
}

#[tokio::test]
async fn listening_sockets_can_be_asked_for_through_netlink() {
    let ground = LocalGround::new().await;
    let sandbox = ground.backend().start(ground.spec("netlink")).await.expect("the sandbox starts");
    const NLMSG_DONE: &str = "3\n";
    assert_eq!(shell(&sandbox, &format!("python3 -c \"{SOCK_DIAG}\"")).await, said(NLMSG_DONE));
}

async fn next(ports: &mut PortWatch) -> Vec<u16> {
    let ports = in_time("a report", ports.next()).await.expect("ports");
    ports.into_iter().map(|open| open.port).collect()
}

/// How often processes of a uid have gone to sleep and were woken.
fn n_wake_ups(uid: u32) -> u64 {
    let processes = processes_of(uid);
    assert!(!processes.is_empty(), "the sandbox has processes");
    let n = |pid: &u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it lives");
        let n = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        n.and_then(|n| n.trim().parse::<u64>().ok()).expect("a number")
    };
    processes.iter().map(n).sum()
}
