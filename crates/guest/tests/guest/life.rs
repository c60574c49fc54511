//! How a guest begins and ends.

use std::process::{Command, Stdio};

use warren_guest_api::{ErrorCode, Frame, FrameReader, Hello, Landlock, PROTOCOL_VERSION, Request};

use crate::support::{GUEST, TestGuest, is_alive, shell, until};

#[tokio::test]
async fn the_first_answer_says_who_the_guest_is() {
    let guest = TestGuest::start();
    let hello: Hello = guest.ask(&Request::Hello).await.expect("answers");
    let Landlock::Enforced { abi, .. } = hello.landlock else {
        panic!("this kernel has Landlock: {hello:?}")
    };
    let expected = Hello {
        protocol: PROTOCOL_VERSION,
        version: env!("CARGO_PKG_VERSION").into(),
        pid: guest.process.id(),
        uid: rustix::process::getuid().as_raw(),
        landlock: Landlock::Enforced { abi, fully: abi >= 6, scoped: abi >= 6 },
        cgroups: 0,
    };
    assert_eq!(hello, expected);
}

#[tokio::test]
async fn landlock_can_be_left_out_and_the_hello_says_so() {
    let guest = TestGuest::start_with(&["--landlock", "off"]);
    let hello: Hello = guest.ask(&Request::Hello).await.expect("answers");
    assert_eq!(hello.landlock, Landlock::Off);
}

#[tokio::test]
async fn a_guest_whose_host_is_gone_ends_and_takes_its_programs_along() {
    let mut guest = TestGuest::start();
    let running = guest.exec(shell("sleep 1000")).await.expect("starts");
    guest.hang_up();
    let pid = running.pid;
    assert!(guest.ended().await.success());
    until("the program is gone", || !is_alive(pid)).await;
}

#[tokio::test]
async fn a_guest_that_is_asked_to_ends_after_it_has_answered() {
    let guest = TestGuest::start();
    guest.ask::<()>(&Request::Shutdown).await.expect("answers");
    assert!(guest.ended().await.success());
}

#[tokio::test]
async fn a_header_that_is_no_request_is_refused_and_nothing_else_happens() {
    let guest = TestGuest::start();
    for header in [&b""[..], b"{}", b"\xff\xfe", br#"{"request":"explode"}"#] {
        let stream = guest.opener.open(header).await.expect("opens");
        let frame = FrameReader::new(stream).expect().await.expect("a frame");
        assert!(
            matches!(&frame, Frame::Error(error) if error.code == ErrorCode::InvalidRequest),
            "{frame:?}"
        );
    }
    guest.ask::<()>(&Request::Ping).await.expect("lives");
}

#[test]
fn a_wrong_option_is_exit_code_2_and_one_line() {
    let output = Command::new(GUEST).arg("--hlep").stdin(Stdio::null()).output().expect("runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        (output.status.code(), &*stderr),
        (Some(2), "warren-guest: failed to understand the command line: `--hlep` is not an option\n")
    );
}

#[tokio::test]
async fn another_process_of_the_same_uid_cannot_look_into_the_guest() {
    let guest = TestGuest::start();
    guest.ask::<()>(&Request::Ping).await.expect("lives");
    // What belongs to an undumpable process belongs to root, and needs its privileges.
    let pid = guest.process.id();
    let script = format!("setpriv --reuid 65534 --clear-groups ls /proc/{pid}/fd; cat /proc/{pid}/mem");
    let outcome = guest.shell(&script).await;
    assert_eq!(outcome.stdout, "");
    assert!(outcome.stderr.contains("ermission denied"), "{outcome:?}");
}
