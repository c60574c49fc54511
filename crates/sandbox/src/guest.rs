//! The host's side of the conversation with a guest.
//!
//! In: the byte stream to a sandbox's PID 1. Out: programs run, files moved, ports forwarded.
//! **Invariant:** the guest is not trusted. Whatever it sends is bounded and checked, and whatever it owes has a
//! time-out; the worst it can do is to be useless.
//! Start with [`Guest::attach`], then [`Guest::exec`].

mod call;
mod error;
mod exec;
mod files;
mod listening;
mod pipe;
mod ports;
mod tree;
mod watch;

use std::{fmt, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};
use warren_env::{TaskKind, Tasks};
use warren_guest_api::{Hello, PROTOCOL_VERSION, Request};
use warren_link::{Opener, Options, Role};

use ports::Listeners;

pub use error::{AttachError, CallError, ExecError};
pub use exec::{Exec, ExecStdin, Signals};
pub use files::{FileReader, Listing};
pub use listening::PortWatch;
pub use pipe::ExecOutput;
pub use ports::Listener;
pub use tree::TreeStream;
pub use watch::Watch;

/// How long a guest has for its first answer. Starting takes milliseconds; a machine under load takes longer.
const HELLO_TIMEOUT: Duration = Duration::from_secs(20);

/// A guest that has said hello. Cheap to clone; when the last clone and all that was made of it is dropped, the link
/// ends, and with it the sandbox.
#[derive(Clone)]
pub struct Guest {
    inner: Arc<Inner>,
}

struct Inner {
    opener: Opener,
    tasks: Tasks,
    hello: Hello,
    listeners: Listeners,
}

impl Guest {
    /// Starts to speak with the guest at the other end of `io`, in tasks of a child of `tasks`.
    pub async fn attach<T>(io: T, tasks: &Tasks) -> Result<Self, AttachError>
    where
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let tasks = tasks.child();
        // The tasks end with this function, unless it succeeds: then with the guest.
        let until_attached = tasks.token().drop_guard();
        let (opener, incoming, driver) = warren_link::start(io, Role::Client, Options::default());
        let listeners = Listeners::default();
        tasks.spawn(TaskKind::Sandbox, async move {
            if let Err(error) = driver.await {
                // A sandbox that is killed breaks it too; whoever needed the guest learns it from the call that failed.
                tracing::debug!(error = &error as &dyn std::error::Error, "a guest's link broke");
            }
        });
        tasks.spawn(TaskKind::Sandbox, ports::hand_out(incoming, listeners.clone()));

        let asked = timeout(HELLO_TIMEOUT, call::ask(&opener, &Request::Hello)).await;
        let hello: Hello = asked.map_err(|_| AttachError::Silent { timeout: HELLO_TIMEOUT })??;
        if hello.protocol != PROTOCOL_VERSION {
            return Err(AttachError::Version { ours: PROTOCOL_VERSION, theirs: hello.protocol });
        }
        until_attached.disarm();
        Ok(Self { inner: Arc::new(Inner { opener, tasks, hello, listeners }) })
    }

    /// What the guest said of itself. Not proof of anything.
    pub fn hello(&self) -> &Hello {
        &self.inner.hello
    }

    /// Asks for a sign of life.
    pub async fn ping(&self) -> Result<(), CallError> {
        self.ask(&Request::Ping).await
    }

    /// Asks the guest to end, and everything in its sandbox with it. A guest that does not obey is killed by its backend.
    pub async fn shutdown(&self) -> Result<(), CallError> {
        self.ask(&Request::Shutdown).await
    }

    /// Whether the link has ended. It never opens again.
    pub fn is_closed(&self) -> bool {
        self.inner.opener.is_closed()
    }

    /// Waits until the link has ended: the guest is gone, or was told to go.
    pub async fn closed(&self) {
        self.inner.opener.closed().await;
    }

    /// Ends the link from this side, which ends an honest guest.
    pub async fn close(&self) {
        self.inner.opener.close().await;
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.tasks.cancel();
    }
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guest").field("hello", &self.inner.hello).finish_non_exhaustive()
    }
}
