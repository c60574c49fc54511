//! The backend `local`: bubblewrap on this machine, without any daemon.
//!
//! [`Local`] asks the [`launcher`](crate::launcher) for each sandbox and talks to its guest over a socket pair. As root,
//! every workspace runs under its own uid with control groups; as anybody else, under the server's uid with resource
//! limits alone, and the isolation report says so.

pub(crate) mod arguments;
mod base;
mod client;
mod directories;
mod disk;
mod isolation;
mod probe;
mod running;
mod start;
mod uids;

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use warren_env::Tasks;

use crate::{
    Backend, BoxError, FilesAt, Probe, Sandbox, Spec, StartError, SweepError, Swept, cgroup::Layout,
};
use base::Base;
use client::Client;
use disk::{Floor, Watcher};

pub use probe::{Bare, bare};
pub use uids::{ClaimError, UidRange, claim as claim_uids};

/// Where bubblewrap is looked for.
const BWRAP: [&str; 3] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

/// What the backend is given.
#[derive(Debug, Clone)]
pub struct Options {
    /// The command line that runs [`crate::launcher::main`]: the server's own program, usually.
    pub launcher: Vec<OsString>,
    /// Where the guest's program and generated files are kept. Its path also tells this server's control groups
    /// from those of others, so no two servers may share it.
    pub directory: PathBuf,
    /// The bubblewrap program; `None` looks in the usual places.
    pub bwrap: Option<PathBuf>,
    /// How many children the launcher keeps ready. Each costs about a megabyte.
    pub spares: usize,
    /// How long a guest may take to answer.
    pub start_timeout: Duration,
    /// How often disk use is looked at.
    pub disk_interval: Duration,
    /// What must stay free on the disk that holds the workspaces.
    pub disk_floor_bytes: u64,
    /// How many inodes must stay free there; at most a twentieth of all.
    pub disk_floor_inodes: u64,
}

impl Options {
    /// Options with the usual numbers.
    pub fn new(launcher: Vec<OsString>, directory: PathBuf) -> Self {
        Self {
            launcher,
            directory,
            bwrap: None,
            spares: 6,
            start_timeout: Duration::from_secs(10),
            disk_interval: Duration::from_secs(1),
            disk_floor_bytes: 1 << 30,
            disk_floor_inodes: 100_000,
        }
    }
}

/// Why the backend could not be made.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory cannot hold the guest's program.
    #[error("failed to write the shared sandbox files to `{directory}`")]
    Directory {
        /// The directory of [`Options`].
        directory: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Starts sandboxes with bubblewrap. The launcher ends when this and all sandboxes it started are dropped, or on
/// [`Local::close`], which ends the sandboxes too.
pub struct Local {
    options: Options,
    tasks: Tasks,
    base: Base,
    cgroups: Option<Arc<Layout>>,
    is_root: bool,
    bwrap: Option<PathBuf>,
    watcher: Watcher,
    /// Started by the first who needs it, and again if it died.
    client: tokio::sync::Mutex<Option<Arc<Client>>>,
}

impl Local {
    /// Writes the shared files and looks what this machine has. Starts nothing yet; [`Backend::sweep`] does.
    pub fn open(options: Options, tasks: Tasks) -> Result<Self, OpenError> {
        let is_root = rustix::process::geteuid().is_root();
        let refused = |source| OpenError::Directory { directory: options.directory.clone(), source };
        let base = Base::write(&options.directory).map_err(refused)?;
        let cgroups = if is_root { Layout::detect(&base.key).map_err(refused)?.map(Arc::new) } else { None };
        let bwrap =
            options.bwrap.clone().or_else(|| BWRAP.map(PathBuf::from).into_iter().find(|path| path.exists()));
        let floor = Floor { bytes: options.disk_floor_bytes, inodes: options.disk_floor_inodes };
        let watcher = Watcher::new(options.disk_interval, floor, &tasks);
        Ok(Self {
            options,
            tasks,
            base,
            cgroups,
            is_root,
            bwrap,
            watcher,
            client: tokio::sync::Mutex::new(None),
        })
    }

    /// Ends all sandboxes and the launcher, and waits until they are gone.
    pub async fn close(&self) {
        let client = self.client.lock().await.take();
        if let Some(client) = client {
            client.close().await;
        }
    }

    /// The launcher's client; a new launcher if there is none that lives.
    async fn client(&self) -> Result<Arc<Client>, BoxError> {
        let mut client = self.client.lock().await;
        if let Some(client) = client.as_ref().filter(|client| client.is_alive()) {
            return Ok(Arc::clone(client));
        }
        let started = Client::launch(&self.options.launcher, self.configure()?, &self.tasks).await?;
        Ok(Arc::clone(client.insert(Arc::new(started))))
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        // Succeeds only where no launcher was ever started; a launcher removes them itself, when it is done.
        if let Some(cgroups) = &self.cgroups {
            cgroups.remove();
        }
    }
}

#[async_trait]
impl Backend for Local {
    async fn start(&self, spec: Spec) -> Result<Sandbox, StartError> {
        start::start(self, spec).await
    }

    fn files(&self) -> FilesAt {
        FilesAt::Host
    }

    async fn probe(&self) -> Probe {
        probe::probe(self).await
    }

    fn adopt(&self, directory: &Path, uid: u32) {
        if self.is_root {
            warn(disk::adopt(directory, uid), directory);
        }
    }

    fn disown(&self, directory: &Path) {
        if self.is_root {
            warn(disk::disown(directory), directory);
        }
    }

    fn release(&self, directory: &Path, uid: u32) {
        if self.is_root {
            warn(disk::release(directory, uid), directory);
        }
    }

    async fn sweep(&self) -> Result<Swept, SweepError> {
        let client = self.client().await.map_err(|source| SweepError::Backend { source })?;
        Ok(client.swept().clone())
    }
}

/// Without a quota the limit is still watched, so work goes on.
fn warn(done: io::Result<()>, directory: &Path) {
    if let Err(error) = done {
        tracing::warn!(%error, directory = %directory.display(), "a disk quota could not be changed");
    }
}
