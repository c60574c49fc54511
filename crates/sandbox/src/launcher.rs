//! The small process that starts every local sandbox: `warren __launcher`.
//!
//! bubblewrap's `--die-with-parent` follows the *thread* that started it, so sandboxes are started by a process that
//! has one thread, lives as long as the server, and does nothing else. It is told what to do over a socket, its
//! standard input, and holds no other descriptor of the server. When that socket ends, because the server did,
//! however it did, the launcher kills every sandbox, removes their control groups and ends.
//!
//! It keeps a few children *parked*: forked, in a control group and a mount namespace of their own, waiting to be
//! told what to become. Moving a process into a control group after a pause takes longer than all of bubblewrap.
//! **Invariant:** nothing here waits for anything but the socket and its children.
//! Start with [`main`], then `Service::run`.

mod child;
mod message;
mod parked;
mod service;
mod socket;
mod stage;
mod sys;

use std::process::ExitCode;

use rustix::{fd::OwnedFd, process};
use service::Service;

pub(crate) use message::{Configure, Mount, Report, Request, Start};
pub(crate) use socket::{MAX_MESSAGE, pair, receive, send};
pub(crate) use sys::landlock_abi;

/// The first line of a sandbox's complaints when the launcher itself failed to start it.
pub(crate) const COMPLAINT: &str = "launcher";

/// Runs the launcher until its standard input, the server's socket, ends. Call it first thing in `main`, before any
/// thread is started.
pub fn main() -> ExitCode {
    let ended = open_control().and_then(|control| Service::new(control)?.run());
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn open_control() -> std::io::Result<OwnedFd> {
    let control = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    sys::close_all_but(&control);
    // A guest whose bubblewrap was killed becomes our child, so that we know when it is gone.
    process::set_child_subreaper(Some(process::getpid()))?;
    Ok(control)
}

/// Standard error is the server's; there is nobody to tell if it is gone.
fn complain(message: &str) {
    let _ = rustix::io::write(rustix::stdio::stderr(), format!("{COMPLAINT}: {message}\n").as_bytes());
}
