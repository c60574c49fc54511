//! The server's side of the launcher: one process, one socket, many sandboxes.

use std::{
    collections::HashMap,
    ffi::OsString,
    io,
    process::Stdio,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    net::{Shutdown, SocketFlags, shutdown},
    process::Pid,
};
use tokio::{io::Interest, net::UnixDatagram, process::Child, sync::watch};
use warren_env::{TaskKind, Tasks};

use crate::{
    BoxError, Exit, Swept,
    launcher::{Configure, MAX_MESSAGE, Report, Request, Start, pair, receive, send},
};

/// How long the launcher may take to begin, leftovers of an earlier one included.
const READY: Duration = Duration::from_secs(10);
/// How much of a sandbox's complaints is kept.
const COMPLAINT_BYTES: usize = 4096;

/// A running launcher. Dropped, the launcher ends, and with it every sandbox.
pub(super) struct Client {
    shared: Arc<Shared>,
    swept: Swept,
}

struct Shared {
    /// A socket of packets: not quite a datagram socket, since it notices when the other end is gone.
    socket: UnixDatagram,
    /// Held for a few lines at a time; a sandbox leaves it when it is gone.
    tickets: Mutex<HashMap<u64, Ticket>>,
    next_ticket: AtomicU64,
    is_alive: AtomicBool,
    /// Told when the launcher process was reaped.
    gone: watch::Sender<bool>,
}

/// What is kept of a sandbox while it lives.
struct Ticket {
    state: watch::Sender<State>,
    complaints: OwnedFd,
}

/// What is known of a sandbox.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// The name of its control group.
    pub(super) group: Option<String>,
    /// bubblewrap outside the sandbox; everything inside descends from it.
    pub(super) pid: Option<Pid>,
    /// How it ended, once it did.
    pub(super) exit: Option<Exit>,
}

impl Client {
    /// Starts a launcher and waits until it is ready.
    pub(super) async fn launch(
        command: &[OsString],
        configure: Configure,
        tasks: &Tasks,
    ) -> Result<Self, BoxError> {
        let [program, arguments @ ..] = command else { return Err("no launcher is configured".into()) };
        let (ours, theirs) = pair(SocketFlags::empty())?;
        rustix::io::ioctl_fionbio(&ours, true)?;
        let process = tokio::process::Command::new(program)
            .args(arguments)
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            // Ctrl-C in the server's terminal is for the server, which ends sandboxes in its own order.
            .process_group(0)
            .spawn()?;
        let shared = Arc::new(Shared {
            socket: UnixDatagram::from_std(ours.into())?,
            tickets: Mutex::default(),
            next_ticket: AtomicU64::new(1),
            is_alive: AtomicBool::new(true),
            gone: watch::Sender::new(false),
        });
        shared.send(&Request::Configure(configure), &[]).await?;
        let report = tokio::time::timeout(READY, shared.receive(&mut vec![0; MAX_MESSAGE])).await??;
        let Some(Report::Ready { swept }) = report else {
            return Err("the launcher did not become ready".into());
        };
        tasks.spawn_to_end(TaskKind::Housekeeping, Arc::clone(&shared).listen(process, tasks.clone()));
        Ok(Self { shared, swept })
    }

    pub(super) fn is_alive(&self) -> bool {
        self.shared.is_alive.load(Ordering::Acquire)
    }

    pub(super) fn swept(&self) -> &Swept {
        &self.swept
    }

    /// A number for one sandbox to be.
    pub(super) fn ticket(&self) -> u64 {
        self.shared.next_ticket.fetch_add(1, Ordering::Relaxed)
    }

    /// Orders a sandbox. `link` is the guest's end; what is complained about can be read from `complaints`.
    pub(super) async fn start(
        &self,
        start: Start,
        link: OwnedFd,
        complaints: (OwnedFd, OwnedFd),
    ) -> io::Result<watch::Receiver<State>> {
        let ticket = start.ticket;
        let (read_complaints, write_complaints) = complaints;
        let (state, receiver) = watch::channel(State::default());
        self.shared.tickets().insert(ticket, Ticket { state, complaints: read_complaints });
        let order = Request::Start(Box::new(start));
        let sent = self.shared.send(&order, &[link.as_fd(), write_complaints.as_fd()]).await;
        if sent.is_err() {
            self.shared.tickets().remove(&ticket);
        }
        sent.map(|()| receiver)
    }

    /// Asks for a sandbox's end, without waiting for anything.
    pub(super) fn kill(&self, ticket: u64) {
        if let Ok(order) = serde_json::to_vec(&Request::Kill { ticket })
            && let Err(error) = send(&self.shared.socket, &order, &[])
        {
            // The link is dropped with the sandbox, and the guest ends with the link: slower, but as surely.
            tracing::warn!(ticket, %error, "the launcher did not take the order to kill");
        }
    }

    /// Ends the launcher, and waits until it is gone.
    pub(super) async fn close(&self) {
        self.shared.hang_up();
        let mut gone = self.shared.gone.subscribe();
        // An error means that the sender, and so the task that reaps, is gone.
        let _ = gone.wait_for(|gone| *gone).await;
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.shared.hang_up();
    }
}

impl Shared {
    /// Deals with reports until the launcher is gone.
    async fn listen(self: Arc<Self>, mut process: Child, tasks: Tasks) {
        let cancel = tasks.token();
        let mut buffer = vec![0; MAX_MESSAGE];
        let mut is_draining = false;
        loop {
            // Both heads are cancel-safe: a packet is received whole or not at all.
            tokio::select! {
                () = cancel.cancelled(), if !is_draining => is_draining = true,
                report = self.receive(&mut buffer) => match report {
                    Ok(Some(report)) => self.handle(report),
                    Ok(None) => break,
                    Err(error) => {
                        tracing::error!(%error, "the launcher cannot be understood");
                        break;
                    }
                },
            }
            // The server ends, but whoever holds a sandbox may still have to save what is in it.
            if is_draining && self.tickets().is_empty() {
                self.hang_up();
            }
        }
        self.is_alive.store(false, Ordering::Release);
        self.hang_up();
        for (_, ticket) in self.tickets().drain() {
            let exit = Exit {
                signal: Some(libc::SIGKILL),
                complaint: "the launcher ended".into(),
                ..Exit::default()
            };
            ticket.end(exit);
        }
        if let Err(error) = process.wait().await {
            tracing::warn!(%error, "the launcher could not be waited for");
        }
        self.gone.send_replace(true);
    }

    fn handle(&self, report: Report) {
        match report {
            Report::Started { ticket, group, pid } => {
                if let Some(ticket) = self.tickets().get(&ticket) {
                    ticket.state.send_modify(|state| {
                        state.group = group;
                        state.pid = Pid::from_raw(pid);
                    });
                }
            }
            Report::Exited { ticket, code, signal, oom_kills } => {
                if let Some(ticket) = self.tickets().remove(&ticket) {
                    let complaint = ticket.complaint();
                    ticket.end(Exit { code, signal, oom: oom_kills > 0, complaint });
                }
            }
            Report::Failed { ticket, problem } => {
                if let Some(ticket) = self.tickets().remove(&ticket) {
                    ticket.end(Exit { complaint: problem, ..Exit::default() });
                }
            }
            Report::Ready { .. } => tracing::warn!("the launcher says twice that it is ready"),
        }
    }

    async fn send(&self, request: &Request, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        let bytes = serde_json::to_vec(request)?;
        if bytes.len() > MAX_MESSAGE {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the spec is too large"));
        }
        self.socket.async_io(Interest::WRITABLE, || send(&self.socket, &bytes, fds)).await
    }

    /// The next report; `None` when the launcher is gone.
    async fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Report>> {
        let (length, _) = self.socket.async_io(Interest::READABLE, || receive(&self.socket, buffer)).await?;
        if length == 0 { Ok(None) } else { Ok(Some(serde_json::from_slice(&buffer[..length])?)) }
    }

    fn hang_up(&self) {
        // Already hung up is as good.
        let _ = shutdown(&self.socket, Shutdown::Write);
    }

    fn tickets(&self) -> MutexGuard<'_, HashMap<u64, Ticket>> {
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket {
    fn end(&self, exit: Exit) {
        self.state.send_modify(|state| state.exit = Some(exit));
    }

    /// What was complained about, as far as it fits.
    fn complaint(&self) -> String {
        let mut buffer = [0; COMPLAINT_BYTES];
        // The pipe does not block; nothing in it, or an error, is no complaint.
        let length = rustix::io::read(&self.complaints, &mut buffer).unwrap_or(0);
        String::from_utf8_lossy(&buffer[..length]).trim().to_owned()
    }
}
