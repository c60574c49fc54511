//! News from the tasks that work for a session.

use tokio::sync::oneshot;
use warren_domain::RunId;
use warren_guest_api::OpenPort;
use warren_models::{Exchange, Starting};
use warren_sandbox::{LimitHit, SandboxId};

use super::{
    SessionTask, agent::AgentExit, agent::Line, artifacts::Looked, files::Seen, outside::Decided,
    start::Started,
};
use crate::{admission::Position, recorder::RecordError};

/// Capacity of the signal channel. When it is full, senders wait: the agent's output backs up into the sandbox.
pub(super) const SIGNALS: usize = 256;

/// An event from outside the session's task.
pub(super) enum Signal {
    /// A sandbox answered, or could not be made.
    Started(Box<Result<Started, super::start::StartFailure>>),
    /// A sandbox waits for others to end.
    Queued(SandboxId, Position),
    /// A sandbox that waited is being made.
    Admitted(SandboxId),
    /// The agent of a run printed a line.
    Line(RunId, Line),
    /// The agent of a run is gone.
    Exited(RunId, AgentExit),
    /// A model call is about to be sent, and waits until that is recorded. Dropping the sender refuses the call.
    Calling(Box<Starting>, oneshot::Sender<()>),
    /// A model call ended.
    Called(Box<Exchange>),
    /// A program in the sandbox tried to reach a host.
    Egress(Box<Decided>),
    /// Files of the workspace changed.
    Files(Vec<Seen>),
    /// The watcher lost count: look at the whole tree.
    FilesUncertain,
    /// Somebody looked at what is in `outputs/`.
    Looked(Box<Looked>),
    /// Other ports are open than before.
    Ports(Vec<OpenPort>),
    /// An app ended that was started on a port, by its process group.
    AppEnded(u16, u32),
    /// A sandbox ended.
    SandboxGone(SandboxId, warren_sandbox::Exit),
    /// A sandbox took more than it may.
    LimitHit(SandboxId, LimitHit),
    /// A sandbox answered a health check, or did not in time.
    Health(SandboxId, Healthy),
}

/// The result of a health check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Healthy {
    Yes,
    No,
}

impl SessionTask {
    pub(super) async fn on_signal(&mut self, signal: Signal) -> Result<(), RecordError> {
        match signal {
            Signal::Started(result) => self.on_started(*result).await,
            Signal::Queued(id, position) => self.on_queued(&id, position).await,
            Signal::Admitted(id) => self.on_admitted(&id).await,
            Signal::Line(run, line) => self.on_lines(run, line).await,
            Signal::Exited(run, exit) => self.on_exited(run, exit).await,
            Signal::Calling(starting, recorded) => self.on_calling(*starting, recorded).await,
            Signal::Called(exchange) => self.on_called(*exchange).await,
            Signal::Egress(decided) => self.on_egress(*decided).await,
            Signal::Files(seen) => self.on_files(seen).await,
            Signal::FilesUncertain => self.rescan().await,
            Signal::Looked(looked) => self.on_looked(*looked).await,
            Signal::Ports(ports) => self.on_ports(ports).await,
            Signal::AppEnded(port, group) => {
                self.on_app_ended(port, group);
                Ok(())
            }
            Signal::SandboxGone(id, exit) => self.on_sandbox_gone(&id, &exit).await,
            Signal::LimitHit(id, hit) => self.on_limit_hit(&id, hit).await,
            Signal::Health(id, healthy) => self.on_health(&id, healthy).await,
        }
    }
}
