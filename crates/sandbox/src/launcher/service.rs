//! The launcher's loop: orders in, reports out, children in between.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{self, ErrorKind},
    sync::Arc,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::OwnedFd,
    io::Errno,
    process::getpid,
};

use super::{
    message::{Configure, Report, Request, Start},
    parked::Child,
    socket::{MAX_MESSAGE, receive, send},
};
use crate::{Swept, cgroup::Group, seccomp};

/// How long it must be quiet before a child is parked: starting sandboxes comes first.
const QUIET: Duration = Duration::from_millis(2);
/// How long the end of all sandboxes may take when the server is gone.
const FAREWELL: Duration = Duration::from_secs(5);

/// The launcher.
pub(super) struct Service {
    control: OwnedFd,
    configure: Configure,
    seccomp: Vec<u8>,
    parked: VecDeque<Child>,
    running: BTreeMap<u64, Child>,
    /// Numbers control groups; with our process id they are never the same twice.
    made: u64,
    buffer: Vec<u8>,
}

impl Service {
    /// Waits to be configured, and ends what an earlier launcher left behind.
    pub(super) fn new(control: OwnedFd) -> io::Result<Self> {
        let mut buffer = vec![0; MAX_MESSAGE];
        let (length, _) = receive(&control, &mut buffer)?;
        let Ok(Request::Configure(configure)) = serde_json::from_slice(&buffer[..length]) else {
            return Err(io::Error::new(
                ErrorKind::InvalidData,
                "the first message must configure the launcher",
            ));
        };
        let seccomp = seccomp::program().map_err(io::Error::other)?;
        let swept = sweep(&configure);
        let service = Self {
            control,
            configure,
            seccomp,
            parked: VecDeque::new(),
            running: BTreeMap::new(),
            made: 0,
            buffer,
        };
        service.report(&Report::Ready { swept })?;
        Ok(service)
    }

    /// Serves until the server is gone, then ends everything; and so it does if serving fails.
    pub(super) fn run(mut self) -> io::Result<()> {
        let served = loop {
            match self.turn() {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                // The server died with reports unread, or before one was sent.
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => {
                    break Ok(());
                }
                Err(error) => break Err(error),
            }
        };
        self.farewell();
        served
    }

    /// Waits for one thing to happen and deals with it. `false` when the server is gone.
    fn turn(&mut self) -> io::Result<bool> {
        let patience = (self.parked.len() < self.configure.spares).then_some(QUIET);
        let (has_order, has_news) = self.wait(patience)?;
        if has_news {
            self.step();
        }
        if has_order {
            return self.obey();
        }
        if !has_news && patience.is_some() {
            self.park_one();
        }
        Ok(true)
    }

    /// Says whether there is an order, and whether something happened to a child.
    fn wait(&self, patience: Option<Duration>) -> io::Result<(bool, bool)> {
        let mut polls = vec![PollFd::new(&self.control, PollFlags::IN)];
        polls.extend(self.running.values().flat_map(Child::polls));
        let patience = patience.map(|patience| Timespec {
            tv_sec: patience.as_secs().cast_signed(),
            tv_nsec: i64::from(patience.subsec_nanos()),
        });
        match poll(&mut polls, patience.as_ref()) {
            Err(Errno::INTR) => return Ok((false, true)),
            polled => polled?,
        };
        let happened = |poll: &PollFd<'_>| !poll.revents().is_empty();
        Ok((happened(&polls[0]), polls[1..].iter().any(happened)))
    }

    /// Takes one order. `false` when the server is gone.
    fn obey(&mut self) -> io::Result<bool> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let (length, fds) = receive(&self.control, &mut buffer)?;
        let order = &buffer[..length];
        match serde_json::from_slice(order) {
            Ok(Request::Start(start)) => self.start(&start, order, &fds)?,
            Ok(Request::Kill { ticket }) => {
                if let Some(child) = self.running.get_mut(&ticket) {
                    child.kill();
                }
            }
            Ok(Request::Configure(_)) => super::complain("configured twice; the second time is ignored"),
            Err(_) if length == 0 => {}
            Err(error) => super::complain(&format!("an order cannot be read: {error}")),
        }
        self.buffer = buffer;
        Ok(length > 0)
    }

    fn start(&mut self, start: &Start, order: &[u8], fds: &[OwnedFd]) -> io::Result<()> {
        let ticket = start.ticket;
        match self.hand_over(start, order, fds) {
            Ok(child) => {
                let (group, pid) = (child.group(), child.pid());
                self.running.insert(ticket, child);
                self.report(&Report::Started { ticket, group, pid })
            }
            Err(error) => self.report(&Report::Failed { ticket, problem: error.to_string() }),
        }
    }

    /// Gives the order to a parked child, or to a new one if there is none that lives.
    fn hand_over(&mut self, start: &Start, order: &[u8], fds: &[OwnedFd]) -> io::Result<Child> {
        while let Some(child) = self.parked.pop_front() {
            match child.order(&self.configure, start, order, fds) {
                Ok(()) => return Ok(child),
                Err(_) => child.dismiss(),
            }
        }
        let child = self.park()?;
        match child.order(&self.configure, start, order, fds) {
            Ok(()) => Ok(child),
            Err(error) => {
                child.dismiss();
                Err(error)
            }
        }
    }

    fn park(&mut self) -> io::Result<Child> {
        self.made += 1;
        let name = format!("{}-{}", getpid().as_raw_nonzero(), self.made);
        Child::park(&self.configure, &self.seccomp, name)
    }

    fn park_one(&mut self) {
        match self.park() {
            Ok(child) => self.parked.push_back(child),
            Err(error) => {
                super::complain(&format!("no child can be kept ready: {error}"));
                // Starting still tries, and reports. Only the head start is lost.
                self.configure.spares = 0;
            }
        }
    }

    fn step(&mut self) {
        let mut reports = Vec::new();
        self.running.retain(|ticket, child| match child.step(*ticket) {
            Some(report) => {
                reports.push(report);
                false
            }
            None => true,
        });
        for report in reports {
            // If the server is gone, the next turn sees it.
            let _ = self.report(&report);
        }
    }

    /// Ends everything: the server is gone.
    fn farewell(&mut self) {
        let deadline = Instant::now() + FAREWELL;
        self.running.values_mut().for_each(Child::kill);
        self.parked.drain(..).for_each(Child::dismiss);
        while !self.running.is_empty() && Instant::now() < deadline {
            let mut polls: Vec<PollFd<'_>> = self.running.values().flat_map(Child::polls).collect();
            // Whatever it returns, looking at every child again is right.
            let _ = poll(&mut polls, Some(&Timespec { tv_sec: 0, tv_nsec: 50_000_000 }));
            drop(polls);
            self.step();
        }
        if let Some(layout) = &self.configure.cgroups {
            layout.remove();
        }
    }

    fn report(&self, report: &Report) -> io::Result<()> {
        send(&self.control, &serde_json::to_vec(report)?, &[])
    }
}

/// Ends what an earlier launcher of the same data directory left behind.
fn sweep(configure: &Configure) -> Swept {
    let Some(layout) = configure.cgroups.clone().map(Arc::new) else { return Swept::default() };
    let mut swept = Swept::default();
    for name in layout.names() {
        let group = Group::named(Arc::clone(&layout), name);
        match group.destroy(FAREWELL) {
            Ok(processes) => {
                swept.processes += processes;
                swept.cgroups += 1;
            }
            Err(error) => {
                super::complain(&format!("control group `{}` cannot be swept: {error}", group.name()))
            }
        }
    }
    swept
}
