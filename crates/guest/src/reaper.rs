//! Every process that ends in the sandbox ends here.
//!
//! As PID 1 the guest inherits orphans, which must be waited for or they stay for ever. One loop waits for everything
//! and hands the exits of exec'd programs to who waits for them, so that nobody can take another's.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, wait};
use tokio::sync::oneshot;
use warren_guest_api::{Exit, Leftovers};

/// The programs that run, by their process id. All clones are one.
#[derive(Clone, Default)]
pub(crate) struct Reaper {
    running: Rc<RefCell<HashMap<Pid, Running>>>,
}

struct Running {
    exit: oneshot::Sender<Exit>,
    leftovers: Leftovers,
}

impl Reaper {
    /// Expects a program that was just spawned, with no `await` in between: its exit cannot have been taken yet.
    pub(crate) fn expect(&self, pid: Pid, leftovers: Leftovers) -> oneshot::Receiver<Exit> {
        let (exit, ended) = oneshot::channel();
        self.running.borrow_mut().insert(pid, Running { exit, leftovers });
        ended
    }

    /// Signals a program's whole group. Once the program has been waited for, its number may be another's: nothing happens.
    pub(crate) fn signal(&self, pid: Pid, signal: Signal) {
        if self.running.borrow().contains_key(&pid) {
            // The group may be gone already, or be out of reach by its own doing.
            _ = kill_process_group(pid, signal);
        }
    }

    /// Waits for whatever has ended. To be called on `SIGCHLD`, which may stand for many.
    pub(crate) fn reap(&self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if let Some(exit) = exit(status)
                && let Some(running) = self.running.borrow_mut().remove(&pid)
            {
                if running.leftovers == Leftovers::Kill {
                    // Before anything else can be started, so that the number is still the group's or nobody's.
                    _ = kill_process_group(pid, Signal::KILL);
                }
                // Nobody may be waiting any more.
                _ = running.exit.send(exit);
            }
        }
    }

    /// Kills every program that runs, with its group.
    pub(crate) fn kill_all(&self) {
        for pid in self.running.borrow().keys() {
            // What is gone is gone.
            _ = kill_process_group(*pid, Signal::KILL);
        }
    }
}

fn exit(status: WaitStatus) -> Option<Exit> {
    status.exit_status().map(Exit::Code).or_else(|| status.terminating_signal().map(Exit::Signal))
}
