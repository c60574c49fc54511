//! The server inside this program: `warren-embed` puts it together, and this gives it the data directory, which one
//! process at a time may use.

mod memory;
mod trial;

use std::{fs::Permissions, net::SocketAddr, os::unix::fs::PermissionsExt as _};

use anyhow::{Context as _, Result};
use warren_embed::Embed;
use warren_env::Tasks;
use warren_sandbox::{Backend as _, Probe, local::Local};

use crate::{
    answerers::{Answerer, answerers},
    home::Lock,
    setting::Setting,
};

pub(crate) use memory::keep_little;
pub(crate) use trial::{Trial, Trials};
pub(crate) use warren_embed::{documents, launcher, programs, required_layers, storage_advice};

/// A running server.
pub(crate) struct Server {
    /// Where it can be reached.
    pub(crate) url: String,
    /// The administrator's token.
    pub(crate) token: String,
    /// The token was made just now.
    pub(crate) is_first_start: bool,
    /// Nobody but this machine can reach it.
    pub(crate) is_loopback_only: bool,
    /// Who answers model calls.
    pub(crate) answerers: Vec<Answerer>,
    server: warren_embed::Server,
    lock: Lock,
}

impl Server {
    /// Starts a server in the directory that `lock` stands for, and returns when it answers.
    pub(crate) async fn start(setting: &Setting, lock: Lock, listen: SocketAddr) -> Result<Self> {
        // Whatever this server writes is its own. What sandboxes must read is given its mode where it is written, and
        // programs in sandboxes have a mask of their own.
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
        let config = setting.load()?.config;
        let mut answerers = answerers(&config);
        // First of all: a port that is taken must not cost a recovery.
        let listener = warren_embed::bind(listen).await?;
        let embed =
            Embed::new(config, lock.home().directory()).node(lock.node()?).kept_token(lock.home().token()?);
        let server = embed.start_on(listener).await?;
        // Keys may have been stored in the data directory.
        let scripted = server.scripted_providers().await;
        for answerer in &mut answerers {
            answerer.is_demo &= scripted.iter().any(|name| name == answerer.name);
        }
        if server.is_first_start() {
            lock.keep_token(server.token())?;
        }
        memory::give_back_what_is_free(server.tasks());
        lock.announce(server.url())?;
        Ok(Self {
            url: server.url().to_owned(),
            token: server.token().to_owned(),
            is_first_start: server.is_first_start(),
            is_loopback_only: server.address().ip().is_loopback(),
            answerers,
            server,
            lock,
        })
    }

    /// A link that signs a browser in, once.
    pub(crate) fn sign_in_link(&self) -> Result<String> {
        self.server.sign_in_link()
    }

    /// Stops telling other commands where it is.
    pub(crate) fn withdraw(&self) {
        self.lock.withdraw();
    }

    /// Ends the server: running work is interrupted and recorded, clients are told, sandboxes end, the store closes.
    pub(crate) async fn stop(self) {
        self.lock.withdraw();
        self.server.stop().await;
    }
}

/// Finds out, by trying, what isolation this machine gives. Needs no data directory and disturbs no server.
pub(crate) async fn probe() -> Result<Probe> {
    let directory = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o755))
        .tempdir()
        .context("failed to make a temporary directory")?;
    let tasks = Tasks::new();
    let backend = Local::open(warren_embed::sandbox(directory.path())?, tasks.clone())?;
    let probe = backend.probe().await;
    backend.close().await;
    tasks.cancel();
    Ok(probe)
}
