//! The launcher's side of one child: parked, running, gone.

use std::{io, sync::Arc, time::Duration};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::{AsFd, OwnedFd},
    io::Errno,
    net::SocketFlags,
    pipe::{PipeFlags, pipe_with},
    process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus, getpid, pidfd_open, pidfd_send_signal,
        waitid,
    },
};
use serde::Deserialize;

use super::{
    child,
    message::{Configure, Report, Start},
    socket,
    sys::{Fork, fork},
};
use crate::cgroup::{Group, Layout};

/// How long the last moments of a group's processes may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// The longest line of status that makes sense.
const MAX_STATUS: usize = 4096;

/// One child, from its fork to the end of the sandbox it became.
pub(super) struct Child {
    /// The child itself, later bubblewrap outside the sandbox.
    outer: OwnedFd,
    pid: Pid,
    /// PID 1 of the sandbox, once bubblewrap has reported its PID.
    inner: Option<OwnedFd>,
    /// PID 1 was seen to have ended. Its descriptor is ready ever after, so it is not polled any more.
    is_inner_gone: bool,
    /// Where bubblewrap reports it; `None` after the end of the pipe, which is ready ever after too.
    status: Option<OwnedFd>,
    /// What it has told so far.
    told: Vec<u8>,
    /// Where the child waits for orders.
    inbox: OwnedFd,
    group: Option<Group>,
    /// How the outer process ended.
    ended: Option<Ended>,
}

#[derive(Debug, Clone, Copy)]
struct Ended {
    code: Option<i32>,
    signal: Option<i32>,
}

#[derive(Deserialize)]
struct Status {
    #[serde(rename = "child-pid")]
    child_pid: i32,
}

impl Child {
    /// Makes a control group and forks a child that waits in it.
    pub(super) fn park(configure: &Configure, seccomp: &[u8], name: String) -> io::Result<Self> {
        let group = configure.cgroups.clone().map(|layout| Group::named(Arc::<Layout>::new(layout), name));
        let parked = Self::fork(configure, seccomp, group.clone());
        if parked.is_err()
            && let Some(group) = group
        {
            remove(&group);
        }
        parked
    }

    fn fork(configure: &Configure, seccomp: &[u8], group: Option<Group>) -> io::Result<Self> {
        let mut agent_groups = Vec::new();
        if let Some(group) = &group {
            group.create()?;
            group.limit_agent(&configure.limits)?;
            agent_groups = group.open_agent()?;
        }
        let (inbox, theirs) = socket::pair(SocketFlags::empty())?;
        let (status, their_status) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let launcher = getpid();
        match fork()? {
            Fork::Child => child::run(child::Parked {
                configure,
                launcher,
                group: group.as_ref(),
                agent_groups,
                seccomp,
                status: their_status,
                inbox: theirs,
            }),
            Fork::Parent(pid) => {
                let outer = pidfd_open(pid, PidfdFlags::empty())?;
                Ok(Self {
                    outer,
                    pid,
                    inner: None,
                    is_inner_gone: false,
                    status: Some(status),
                    told: Vec::new(),
                    inbox,
                    group,
                    ended: None,
                })
            }
        }
    }

    /// Tells a parked child what to become.
    pub(super) fn order(
        &self,
        usual: &Configure,
        start: &Start,
        order: &[u8],
        fds: &[OwnedFd],
    ) -> io::Result<()> {
        if let Some(group) = &self.group
            && start.limits != usual.limits
        {
            group.limit_agent(&start.limits)?;
        }
        let fds: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
        socket::send(&self.inbox, order, &fds)
    }

    /// The name of its control group.
    pub(super) fn group(&self) -> Option<String> {
        self.group.as_ref().map(|group| group.name().to_owned())
    }

    /// The PID of the outer process.
    pub(super) fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// What to wait for: news of the inner process, its end, and the outer one's. Nothing that has been seen already: the
    /// outer process can outlive the inner one for long, for instance while it is stopped.
    pub(super) fn polls(&self) -> impl Iterator<Item = PollFd<'_>> {
        let news = self.inner.as_ref().or(self.status.as_ref()).filter(|_| !self.is_inner_gone);
        let outer = self.ended.is_none().then_some(&self.outer);
        [news, outer].into_iter().flatten().map(|fd| PollFd::new(fd, PollFlags::IN))
    }

    /// Kills the sandbox. The end is seen later, by [`Child::step`].
    pub(super) fn kill(&mut self) {
        self.learn_inner();
        // Everything inside dies with PID 1. Before there is one, bubblewrap dies and takes along what it has made.
        let first = self.inner.as_ref().filter(|_| !self.is_inner_gone).unwrap_or(&self.outer);
        // A process that is gone already is what we want.
        let _ = pidfd_send_signal(first, Signal::KILL);
        // A stopped bubblewrap would not notice that its child is gone.
        let _ = pidfd_send_signal(&self.outer, Signal::CONT);
    }

    /// Looks whether the sandbox is gone; if so, removes what is left of it and reports.
    pub(super) fn step(&mut self, ticket: u64) -> Option<Report> {
        self.learn_inner();
        if self.ended.is_none() {
            self.ended = reap(&self.outer);
        }
        self.is_inner_gone = self.is_inner_gone || self.inner.as_ref().is_some_and(has_ended);
        let ended = self.ended?;
        if self.inner.is_some() && !self.is_inner_gone {
            return None;
        }
        let oom_kills = self.clean_up();
        Some(Report::Exited { ticket, code: ended.code, signal: ended.signal, oom_kills })
    }

    /// Ends a child that was never told to become anything.
    pub(super) fn dismiss(mut self) {
        self.kill();
        // The kill is certain, so is the end.
        let _ = waitid(WaitId::PidFd(self.outer.as_fd()), WaitIdOptions::EXITED);
        self.clean_up();
    }

    /// Removes the control groups; returns how many processes were killed for lack of memory.
    fn clean_up(&mut self) -> u64 {
        if let Some(inner) = &self.inner {
            // Ours only if bubblewrap died before it; else there is nothing to reap.
            let _ = waitid(WaitId::PidFd(inner.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
        let Some(group) = self.group.take() else { return 0 };
        let oom_kills = group.usage().oom_kills;
        remove(&group);
        oom_kills
    }

    fn learn_inner(&mut self) {
        if self.inner.is_some() {
            return;
        }
        let Some(status) = &self.status else { return };
        let mut buffer = [0; MAX_STATUS];
        // Nothing to read yet, or no longer: both mean that there is no inner process to know.
        let Ok(length) = rustix::io::read(status, &mut buffer) else { return };
        if length == 0 {
            self.status = None;
        }
        if self.told.len() < MAX_STATUS {
            self.told.extend(&buffer[..length]);
        }
        // bubblewrap writes a line in several pieces.
        let Some(end) = self.told.iter().position(|byte| *byte == b'\n') else { return };
        let Ok(Status { child_pid }) = serde_json::from_slice(&self.told[..end]) else { return };
        self.inner = Pid::from_raw(child_pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    }
}

fn remove(group: &Group) {
    if let Err(error) = group.destroy(PATIENCE) {
        super::complain(&format!("control group `{}` is left behind: {error}", group.name()));
    }
}

fn reap(process: &OwnedFd) -> Option<Ended> {
    let status = waitid(WaitId::PidFd(process.as_fd()), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    status.ok().flatten().map(|status| ended(&status))
}

/// bubblewrap passes its child's end on as a shell does: 128 and the signal.
fn ended(status: &WaitIdStatus) -> Ended {
    let code = status.exit_status();
    let signal = code.filter(|code| (129..=192).contains(code)).map(|code| code - 128);
    Ended { code: if signal.is_some() { None } else { code }, signal: signal.or(status.terminating_signal()) }
}

fn has_ended(process: &OwnedFd) -> bool {
    let mut polls = [PollFd::new(process, PollFlags::IN)];
    loop {
        match poll(&mut polls, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            Err(Errno::INTR) => {}
            ready => return ready.is_ok_and(|ready| ready > 0),
        }
    }
}
