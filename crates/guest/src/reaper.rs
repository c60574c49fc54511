//! Every process that ends in the sandbox ends here.
//!
//! As PID 1 the guest inherits orphans, which must be waited for or they stay for ever. One loop waits for everything
//! and hands the exits of exec'd programs to who waits for them, so that nobody can take another's.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use rustix::{
    io::Errno,
    process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, wait},
};
use tokio::sync::{oneshot, watch};
use warren_guest_api::{Exit, Leftovers};

/// The programs that run, by their process id. All clones are one.
#[derive(Clone, Default)]
pub(crate) struct Reaper {
    running: Rc<RefCell<HashMap<Pid, Running>>>,
    activity: watch::Sender<Activity>,
}

/// What runs besides the guest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Activity {
    /// No process at all.
    #[default]
    None,
    /// Only processes that outlived the programs that started them.
    LeftBehind,
    /// A program that the host asked for.
    Programs,
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
        self.set_activity(Activity::Programs);
        ended
    }

    /// What runs, and whenever that changes.
    pub(crate) fn activity(&self) -> watch::Receiver<Activity> {
        self.activity.subscribe()
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
        let others = loop {
            let (pid, status) = match wait(WaitOptions::NOHANG) {
                Ok(Some(ended)) => ended,
                Ok(None) => break Activity::LeftBehind,
                // Every process of the sandbox is a descendant, and orphans become children: there is none at all.
                Err(Errno::CHILD) => break Activity::None,
                Err(_) => break Activity::LeftBehind,
            };
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
        };
        let runs = !self.running.borrow().is_empty();
        self.set_activity(if runs { Activity::Programs } else { others });
    }

    fn set_activity(&self, now: Activity) {
        self.activity.send_if_modified(|before| std::mem::replace(before, now) != now);
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
