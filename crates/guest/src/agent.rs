//! The built-in agent: talks to a model, runs its tools, and prints what happens as drafts of events.
//!
//! In: a prompt, then perhaps steering, answers and an interrupt, as lines of JSON on stdin. Out: drafts as lines of
//! JSON on stdout, what it asks a person, and a last line `turn_ended`. Beside it a transcript in the home, from which the next process goes on.
//! It is an ordinary program in the sandbox: it may do what the sandbox lets it do, and its key is a placeholder.
//! Start with [`session::Agent::carry_out`], then `converse`, the loop of one thread.
//!
//! ```text
//! warren-guest agent --session ID --model NAME [--window NAME=TOKENS]… [--instructions DIR]
//!                    [--permission-mode auto|ask] [--max-turns N] [--clock-speed N]
//! ```
//!
//! `ANTHROPIC_BASE_URL`, `WARREN_OPENAI_BASE_URL` and `WARREN_GEMINI_BASE_URL` say where models are (plain HTTP: the
//! sandbox's loopback), `ANTHROPIC_API_KEY` is sent along to each, `HOME` holds the transcripts. It works in the directory it is started in.

mod answer;
mod api;
mod ask;
mod block;
mod clock;
mod compact;
mod compaction;
mod control;
mod converse;
mod heal;
mod history;
mod options;
mod permit;
mod profile;
mod question;
mod request;
mod retry;
mod role;
mod search;
mod session;
mod shells;
mod spoken;
mod subagent;
mod thread;
mod tools;
mod transcript;
mod window;

use std::{io::Write, process::ExitCode};

use options::Options;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};

pub(crate) use shells::main as run_shells;

/// Runs the agent until its turn has ended.
pub(crate) fn main() -> ExitCode {
    // What the tools start has the same uid: it must not look into this process or take its descriptors.
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
    let result = runtime.block_on(session::run(options));
    // A thread that reads stdin, or searches files for a turn that is over, must not keep the process alive.
    runtime.shutdown_background();
    result.map_or_else(|error| complain(&error, 1), |()| ExitCode::SUCCESS)
}

fn complain(error: &dyn std::error::Error, code: u8) -> ExitCode {
    warn(format_args!("{error}{}", error.source().map(|source| format!(": {source}")).unwrap_or_default()));
    ExitCode::from(code)
}

/// Says something to whoever looks at the agent's error stream.
fn warn(message: std::fmt::Arguments<'_>) {
    // There is nobody left to tell when the error stream is gone.
    let _ = writeln!(std::io::stderr(), "agent: {message}");
}
