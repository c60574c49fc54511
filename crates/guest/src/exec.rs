//! Runs programs.

mod relay;
mod spawn;
mod stdio;

use std::os::fd::OwnedFd;

use warren_guest_api::{ExecRequest, Started};
use warren_link::Stream;

use crate::{args::Rlimit, confine::Confinement, failure::Failure, reaper::Reaper, serve::reply};

use relay::Relay;

pub(crate) use stdio::socket;

/// What is done to every program that is started.
pub(crate) struct Spawner {
    /// `cgroup.procs` files that each program enters.
    pub(crate) cgroups: Vec<OwnedFd>,
    pub(crate) rlimits: Vec<Rlimit>,
    pub(crate) confinement: Confinement,
    pub(crate) reaper: Reaper,
}

/// Starts a program and stays with it until it has ended or the host has left.
pub(crate) async fn exec(
    spawner: &Spawner,
    request: ExecRequest,
    stream: &mut Stream,
) -> Result<(), Failure> {
    let child = spawner.spawn(&request)?;
    let pid = child.pid.as_raw_nonzero().get().unsigned_abs();
    // From here on the relay answers for the program: when it is dropped, the program's group is killed.
    let mut relay = Relay::new(&spawner.reaper, child);
    reply(stream, &Started { pid }).await?;
    relay.run(stream).await
}
