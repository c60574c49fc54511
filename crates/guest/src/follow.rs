//! Runs a program and prints, between the lines the program prints, the lines it writes to files.
//!
//! Some agents say half of what they do on stdout and the other half only in a transcript. A codec reads the lines of
//! one process; this makes one process of both.
//!
//! ```text
//! warren-guest follow --dir PATH [--suffix TEXT]… [--clear] [--prompt-line] -- PROGRAM [ARG…]
//! ```
//!
//! | option | meaning |
//! |---|---|
//! | `--dir PATH` | what lies beneath it is followed; it may appear later |
//! | `--suffix TEXT` | only files whose names end so. Repeatable; without it, all |
//! | `--clear` | removes such files before the program starts |
//! | `--prompt-line` | the first line of stdin is a JSON string: the program's whole stdin. Without it, stdin is passed on |
//!
//! The program's lines are printed as they are. A line of a file is printed as
//! `{"type":"warren.file","path":"<beneath PATH>","line":"…"}`: only what is written after the start, and a line only
//! when it is whole. `"restart":true` stands on the first line of a file that was written anew, `"cut":true` on a line
//! that was longer than 8 MiB. What the program wrote to a file before it printed a line is printed before that line.
//!
//! `SIGTERM`, `SIGINT` and `SIGHUP` are passed on to the program; once it is gone, or after a second, everything
//! that still belongs to it is killed. What it left behind on purpose before that, such as a dev server, is not touched.
//! The exit code is the program's own, or 128 and the signal's number; 127 if it could not be started.
//! Start reading with [`run::follow`].

mod files;
mod options;
mod output;
mod process;
mod run;

use std::{io::Write, process::ExitCode};

use options::Options;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// Runs until the program has ended and all it said is printed.
pub(crate) fn main() -> ExitCode {
    // What the program starts has the same uid: it must not look into this process or take its descriptors.
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        return complain(&error, 1);
    }
    let options = match Options::parse(std::env::args_os().skip(2)) {
        Ok(options) => options,
        Err(error) => return complain(&error, 2),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return complain(&error, 1),
    };
    let result = runtime.block_on(run::follow(&options));
    // A thread that reads stdin must not keep the process alive.
    runtime.shutdown_background();
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => complain(&error, error.exit_code()),
    }
}

fn complain(error: &dyn std::error::Error, code: u8) -> ExitCode {
    let cause = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    // There is nobody left to tell when the error stream is gone.
    let _ = writeln!(std::io::stderr(), "follow: {error}{cause}");
    ExitCode::from(code)
}
