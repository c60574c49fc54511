//! A running local sandbox.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::sync::watch;

use super::{
    client::{Client, State},
    disk::Watched,
};
use crate::{
    Exit, LimitHit, Resources, Running, SandboxId, StatsError, TerminateError,
    cgroup::{Group, Layout, Usage},
};

/// How long the end of a sandbox may take. Killing takes milliseconds; a disk that hangs can hold a process longer.
const TERMINATE: Duration = Duration::from_secs(10);

/// What the server keeps of a local sandbox.
pub(super) struct LocalSandbox {
    pub(super) id: SandboxId,
    pub(super) ticket: u64,
    pub(super) client: Arc<Client>,
    pub(super) state: watch::Receiver<State>,
    pub(super) cgroups: Option<Arc<Layout>>,
    pub(super) disk: Arc<Watched>,
}

impl LocalSandbox {
    /// How it ended, if it did.
    pub(super) fn exit(&self) -> Option<Exit> {
        self.state.borrow().exit.clone()
    }

    async fn usage(&self) -> Result<Usage, StatsError> {
        let group = self.state.borrow().group.clone();
        let (Some(layout), Some(name)) = (self.cgroups.clone(), group) else { return Ok(Usage::default()) };
        let read = tokio::task::spawn_blocking(move || Group::named(layout, name).usage()).await;
        read.map_err(|source| StatsError::Backend { id: self.id.clone(), source: source.into() })
    }
}

#[async_trait]
impl Running for LocalSandbox {
    async fn terminate(&self) -> Result<(), TerminateError> {
        self.client.kill(self.ticket);
        match tokio::time::timeout(TERMINATE, self.exited()).await {
            Ok(_) => Ok(()),
            Err(_) => Err(TerminateError::StillThere { id: self.id.clone(), after: TERMINATE }),
        }
    }

    async fn exited(&self) -> Exit {
        let mut state = self.state.clone();
        match state.wait_for(|state| state.exit.is_some()).await {
            Ok(state) => state.exit.clone().unwrap_or_default(),
            // The task that listens is gone without a word: so is the launcher.
            Err(_) => {
                Exit { signal: Some(libc::SIGKILL), complaint: "the server ends".into(), ..Exit::default() }
            }
        }
    }

    async fn stats(&self) -> Result<Resources, StatsError> {
        if self.exit().is_some() {
            return Err(StatsError::Ended { id: self.id.clone() });
        }
        let usage = self.usage().await?;
        let held = self.disk.used().await;
        Ok(Resources {
            memory_bytes: usage.memory_bytes,
            cpu_seconds: usage.cpu_seconds,
            pids: usage.pids,
            disk_bytes: held.bytes,
            inodes: held.inodes,
            oom_kills: usage.oom_kills,
        })
    }

    async fn limit_hit(&self) -> LimitHit {
        self.disk.limit_hit().await
    }
}

impl Drop for LocalSandbox {
    fn drop(&mut self) {
        if self.exit().is_none() {
            self.client.kill(self.ticket);
        }
    }
}
