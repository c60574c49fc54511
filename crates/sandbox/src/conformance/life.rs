//! Starting and ending.

use warren_guest_api::{FilePath, Root, WriteRequest};

use super::{Ground, in_time, said, shell, start};
use crate::{Exit, FilesAt, Layer, StartError};

/// A sandbox that started has a guest that answers, and the isolation that was required.
pub async fn a_started_sandbox_answers(ground: &dyn Ground) {
    let spec = ground.spec("answers");
    let required = spec.required.clone();
    let sandbox = ground.backend().start(spec).await.expect("the sandbox starts");
    sandbox.guest.ping().await.expect("the guest answers");
    assert_eq!(sandbox.isolation.missing(&required), []);
    assert_eq!(sandbox.guest.hello().pid, 1, "the guest is the first process");
    sandbox.terminate().await.expect("it ends");
}

/// Where workspace and home are the host's directories, a second sandbox finds what the first wrote; else it finds nothing,
/// and no directory that its spec names was touched.
pub async fn what_was_written_outlives_the_sandbox_or_is_gone_with_it(ground: &dyn Ground) {
    let spec = ground.spec("outlives");
    let first = ground.backend().start(spec.clone()).await.expect("the first sandbox starts");
    let wrote =
        shell(&first, "echo one > /workspace/file && echo two > $HOME/file && echo three > /outputs/file")
            .await;
    assert_eq!(wrote, said(""));
    first.terminate().await.expect("the first sandbox ends");
    let second = ground.backend().start(spec.clone()).await.expect("the second sandbox starts");
    match ground.backend().files() {
        FilesAt::Host => {
            let read = shell(&second, "cat /workspace/file /home/agent/file /workspace/outputs/file").await;
            assert_eq!(read, said("one\ntwo\nthree\n"));
        }
        FilesAt::Guest => {
            let found = shell(&second, "cd / && find workspace home/agent user-input | sort").await;
            assert_eq!(found, said("home/agent\nuser-input\nworkspace\nworkspace/outputs\n"));
            let named = [Some(spec.mounts.workspace), Some(spec.mounts.home), spec.mounts.user_input];
            assert!(named.iter().flatten().all(|directory| !directory.exists()), "{named:?}");
        }
    }
}

/// After `terminate` nothing answers, and terminating again changes nothing.
pub async fn terminate_ends_everything_and_can_be_repeated(ground: &dyn Ground) {
    let sandbox = start(ground, "terminate").await;
    assert_eq!(shell(&sandbox, "setsid sleep 1000 > /dev/null 2>&1 & echo left").await, said("left\n"));
    sandbox.terminate().await.expect("it ends");
    sandbox.terminate().await.expect("it still has ended");
    assert_eq!(sandbox.exited().await.signal, Some(9));
    assert!(sandbox.guest.ping().await.is_err(), "nobody is there to answer");
    assert!(sandbox.stats().await.is_err(), "nothing is used by what is gone");
}

/// An end that the guest brought about is told like any other.
pub async fn a_guest_that_is_told_to_go_ends_the_sandbox(ground: &dyn Ground) {
    let sandbox = start(ground, "goes").await;
    // Its answer may be cut off by its end.
    let _ = sandbox.guest.shutdown().await;
    let exit = in_time("the end", sandbox.exited()).await;
    assert_eq!(exit, Exit { code: Some(0), ..Exit::default() });
}

/// Dropping a sandbox is enough for another to take its directories.
pub async fn a_dropped_sandbox_frees_its_place(ground: &dyn Ground) {
    let spec = ground.spec("dropped");
    let first = ground.backend().start(spec.clone()).await.expect("the first sandbox starts");
    let path = FilePath::new(Root::Workspace, "file");
    let request = WriteRequest { path: path.clone(), how: Default::default(), mode: None };
    first.guest.write(request, &b"kept"[..]).await.expect("the file is written");
    drop(first);
    let second = ground.backend().start(spec).await.expect("the second sandbox starts");
    match ground.backend().files() {
        FilesAt::Host => {
            assert_eq!(second.guest.read_all(path, 100).await.expect("the file is read"), b"kept");
        }
        FilesAt::Guest => assert!(second.guest.read_all(path, 100).await.is_err(), "it is gone"),
    }
}

/// Isolation that the machine does not give is refused by name, not left out in silence.
pub async fn missing_isolation_is_refused_with_a_hint(ground: &dyn Ground) {
    let isolation = ground.backend().probe().await.isolation;
    let mut spec = ground.spec("refused");
    spec.required = vec![Layer::DiskQuota];
    if isolation.has(Layer::DiskQuota) {
        return;
    }
    let error = ground.backend().start(spec.clone()).await.expect_err("it is refused");
    assert!(error.hint().is_some(), "the refusal says what to do");
    let StartError::MissingIsolation { id, missing } = error else { panic!("not a refusal: {error}") };
    assert_eq!((id, missing), (spec.id, spec.required));
}
