//! The contract, as tests that any backend must pass (feature `conformance`).
//!
//! A backend's `tests/conformance.rs` gives a function that makes a [`Ground`] and calls
//! [`conformance_tests!`](crate::conformance_tests); every case becomes a test of its own.
#![allow(clippy::expect_used, clippy::missing_panics_doc, reason = "tests say what is wrong by panicking")]

mod life;
mod limits;
mod programs;

use std::{future::Future, time::Duration};

use tokio::io::AsyncReadExt;
use warren_guest_api::{ExecRequest, Exit};

use crate::{Backend, Sandbox, Spec};

pub use life::{
    a_dropped_sandbox_frees_its_place, a_guest_that_is_told_to_go_ends_the_sandbox,
    a_started_sandbox_answers, missing_isolation_is_refused_with_a_hint,
    terminate_ends_everything_and_can_be_repeated, what_was_written_outlives_the_sandbox_or_is_gone_with_it,
};
pub use limits::{
    a_disk_over_its_limit_is_reported, a_fork_bomb_stops_at_its_limit, cpu_time_is_held_to_its_limit,
    memory_over_its_limit_is_killed_and_counted, what_is_used_can_be_read,
};
pub use programs::{
    a_program_gets_its_input_and_gives_its_output, a_program_that_is_not_there_is_an_error,
    files_of_the_host_and_of_programs_are_the_same, read_only_mounts_stay_as_they_are, there_is_no_network,
    two_sandboxes_do_not_see_each_other,
};

/// How long anything may take before a case fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where a case runs: a backend, and specs to start.
pub trait Ground {
    /// The backend under test.
    fn backend(&self) -> &dyn Backend;

    /// A spec with directories of its own, `knowledge` among them with a file `fact` that says `true`, and with all
    /// the isolation the backend has.
    fn spec(&self, name: &str) -> Spec;
}

/// What a program did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub exit: Exit,
    /// What it wrote to its standard output.
    pub stdout: String,
    /// What it wrote to its standard error.
    pub stderr: String,
}

/// Starts a sandbox for a case.
pub async fn start(ground: &dyn Ground, name: &str) -> Sandbox {
    ground.backend().start(ground.spec(name)).await.expect("the sandbox starts")
}

/// Runs a line of shell in a sandbox.
pub async fn shell(sandbox: &Sandbox, line: &str) -> Finished {
    run(sandbox, &["/bin/sh", "-c", line]).await
}

/// Runs a program in a sandbox and waits for its end.
pub async fn run(sandbox: &Sandbox, argv: &[&str]) -> Finished {
    let request = ExecRequest {
        argv: argv.iter().map(|argument| (*argument).to_owned()).collect(),
        env: sandbox.env.clone(),
        cwd: Some("/workspace".into()),
        ..ExecRequest::default()
    };
    let mut exec = sandbox.guest.exec(request).await.expect("the program starts");
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let ended = async {
        let (out, err) =
            tokio::join!(exec.stdout.read_to_end(&mut stdout), exec.stderr.read_to_end(&mut stderr));
        out.and(err).expect("the output can be read");
        exec.wait().await.expect("the end is told")
    };
    let exit = in_time("the program", ended).await;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Finished { exit, stdout: text(stdout), stderr: text(stderr) }
}

/// Waits, but not for ever.
pub async fn in_time<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future)
        .await
        .unwrap_or_else(|_| panic!("{what} took longer than {PATIENCE:?}"))
}

/// A program that wrote `stdout` and nothing else, and ended well.
pub fn said(stdout: &str) -> Finished {
    Finished { exit: Exit::Code(0), stdout: stdout.into(), stderr: String::new() }
}

/// Makes every case a test. `$ground` is an async function without arguments that makes a [`Ground`].
#[macro_export]
macro_rules! conformance_tests {
    ($ground:path) => {
        $crate::conformance_tests! { $ground:
            a_started_sandbox_answers,
            what_was_written_outlives_the_sandbox_or_is_gone_with_it,
            terminate_ends_everything_and_can_be_repeated,
            a_guest_that_is_told_to_go_ends_the_sandbox,
            a_dropped_sandbox_frees_its_place,
            missing_isolation_is_refused_with_a_hint,
            a_program_gets_its_input_and_gives_its_output,
            a_program_that_is_not_there_is_an_error,
            files_of_the_host_and_of_programs_are_the_same,
            read_only_mounts_stay_as_they_are,
            there_is_no_network,
            two_sandboxes_do_not_see_each_other,
            memory_over_its_limit_is_killed_and_counted,
            a_fork_bomb_stops_at_its_limit,
            cpu_time_is_held_to_its_limit,
            a_disk_over_its_limit_is_reported,
            what_is_used_can_be_read,
        }
    };
    ($ground:path: $($case:ident,)*) => {
        $(
            #[tokio::test]
            async fn $case() {
                let ground = $ground().await;
                $crate::conformance::$case(&ground).await;
            }
        )*
    };
}
