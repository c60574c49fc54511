//! How it ends, and that nothing is left.

use serde_json::json;

use crate::{
    place::{Bridge, is_alive, no_events, serving, wait_until_gone},
    server::{Script, Server},
};

/// A script that leaves a process behind that has a session of its own, and says their numbers.
fn leaving(server: &Server, then: &str) -> String {
    let orphan = "setsid sh -c 'echo $$ > orphan; exec sleep 1000' &";
    format!(
        "echo $$ > program; {orphan} while [ ! -s orphan ]; do sleep 0.01; done; echo up at {}; {then}",
        server.url
    )
}

#[test]
fn when_stdin_ends_the_program_and_all_it_started_end_too() {
    let server = Server::start([no_events()]);
    let bridge = Bridge::start(&leaving(&server, "exec sleep 1000"));
    let pids = [bridge.wait_for("program"), bridge.wait_for("orphan")];
    assert!(pids.iter().all(|pid| is_alive(pid)));
    assert_eq!(bridge.close().0, Some(0));
    assert_eq!(pids.map(|pid| is_alive(&pid)), [false, false]);
}

#[test]
fn a_program_that_will_not_end_is_killed() {
    let server = Server::start([no_events()]);
    let bridge = Bridge::start(&leaving(&server, "trap '' TERM; while :; do sleep 0.1; done"));
    let program = bridge.wait_for("program");
    assert_eq!(bridge.close().0, Some(0));
    assert!(!is_alive(&program));
}

#[test]
fn when_the_program_ends_the_bridge_ends_like_it() {
    let events = Script::Streams(vec![vec!["last words".to_owned()]]);
    let server = Server::start([("/events", events)]);
    let end = |how: &str| {
        let script = format!("echo up at {}; while [ ! -e go ]; do sleep 0.01; done; {how}", server.url);
        let mut bridge = Bridge::start(&script);
        assert_eq!(bridge.line(), "last words");
        bridge.ask(&json!({"id": 1, "run": ["/bin/sh", "-c", "touch go"]}));
        bridge.wait().0
    };
    assert_eq!(end("exit 7"), Some(7));
    let server = Server::start([("/events", Script::Streams(vec![vec!["last words".to_owned()]]))]);
    let script = format!("echo $$ > program; {}", serving(&server));
    let bridge = Bridge::start(&script);
    assert_eq!(bridge.line(), "last words");
    let killed = std::process::Command::new("kill").args(["-9", &bridge.wait_for("program")]).status();
    assert!(killed.expect("kill runs").success());
    assert_eq!(bridge.wait().0, Some(137));
}

#[test]
fn a_program_that_never_gets_ready_is_the_end() {
    let (code, said) = Bridge::start("echo no luck; exit 9").wait();
    assert_eq!((code, said.as_str()), (Some(9), "bridge: no luck\n"));
    let bridge = Bridge::start_with("echo $$ > program; exec sleep 1000", &["--ready-timeout-ms", "300"]);
    let program = bridge.wait_for("program");
    let (code, said) = bridge.wait();
    assert_eq!((code, said.as_str()), (Some(1), "bridge: the program was not ready after 300ms\n"));
    assert!(!is_alive(&program));
    assert_eq!(Bridge::start("echo up at http://10.0.0.1:1; exec sleep 1000").wait().0, Some(1));
}

#[test]
fn signals_are_passed_on() {
    let server = Server::start([("/events", Script::Streams(vec![vec!["1".to_owned()]]))]);
    let script = format!("trap 'exit 5' TERM; echo up at {}; while :; do sleep 0.05; done", server.url);
    let bridge = Bridge::start(&script);
    assert_eq!(bridge.line(), "1");
    bridge.signal("-TERM");
    assert_eq!(bridge.wait().0, Some(5));
}

#[test]
fn a_bridge_that_is_killed_takes_its_program_along() {
    let server = Server::start([("/events", Script::Streams(vec![vec!["1".to_owned()]]))]);
    let mut bridge = Bridge::start(&format!("echo $$ > program; {}", serving(&server)));
    assert_eq!(bridge.line(), "1");
    let program = bridge.wait_for("program");
    bridge.kill();
    wait_until_gone(&program);
}
