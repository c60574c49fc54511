//! The bridge: starts an agent that is a server, and lets it be driven by lines like any other process.
//!
//! In: requests as lines of JSON on stdin. Out: on stdout the data of each of the server's events as it is, one line
//! each, and one line for each request's answer. When stdin ends, the server and all it started are ended, and the
//! bridge exits with 0. If the server ends first, the bridge exits with its code, or 128 and its signal.
//! **Invariant:** it knows no agent: what to start and where the events are is told by its options.
//! Start with [`run::run`].
//!
//! ```text
//! warren-guest bridge [OPTION…] -- PROGRAM [ARG…]
//! ```
//!
//! | option | meaning |
//! |---|---|
//! | `--ready TEXT` | what the program prints when it can be called; the URL is the first `http://` after it |
//! | `--ready-timeout-ms N` | how long that may take (default 60,000) |
//! | `--events PATH` | where the server's events are |
//! | `--password NAME` | a variable of the program's environment that is set to a random password, which every call then carries: what else runs in the sandbox does not know it |
//! | `--user NAME` | the name that goes with the password |
//!
//! # Requests and answers
//!
//! Every request has an `id`, a number, and may have `timeoutMs`. Its answer is `{"type":"warren.reply", "id",
//! "status", "body"}`: the body as JSON or as text. Status 0 is no answer at all; the body then says why.
//!
//! | request | what happens |
//! |---|---|
//! | `{"method", "path", "body"?}` | calls the server |
//! | `{"save", "fields": [[NAME, PATH], …]}` | puts the answers of these calls into one JSON object, and that into a file beneath `$HOME`, whole or not at all |
//! | `{"run": [PROGRAM, ARG…]}` | runs a command; the status is its exit code, or 128 and its signal, the body what it printed |
//! | `{"delayMs"}` | answers after that time |
//!
//! `{"type":"warren.reconnected"}` says that events may be missing: the stream broke and was opened again.

mod call;
mod events;
mod lines;
mod options;
mod processes;
mod program;
mod request;
mod run;
mod save;

use std::{io::Write, process::ExitCode};

use options::Options;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// Runs the bridge until its stdin or its program ends.
pub(crate) fn main() -> ExitCode {
    // What the program starts has the same uid: it must not look into this process or take its descriptors.
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        return complain(&error, 1);
    }
    let options = match Options::from_process() {
        Ok(options) => options,
        Err(error) => return complain(&error, 2),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return complain(&error, 1),
    };
    let result = runtime.block_on(run::run(options));
    // The thread that reads stdin must not keep the process alive.
    runtime.shutdown_background();
    result.unwrap_or_else(|error| complain(&error, 1))
}

fn complain(error: &dyn std::error::Error, code: u8) -> ExitCode {
    warn(format_args!("{}", described(error)));
    ExitCode::from(code)
}

/// An error with what caused it.
fn described(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// Says something to whoever looks at the error stream.
fn warn(message: std::fmt::Arguments<'_>) {
    // There is nobody left to tell when the error stream is gone.
    // At once: the program writes to the same stream, and would end up between the parts.
    let _ = std::io::stderr().write_all(format!("bridge: {message}\n").as_bytes());
}
