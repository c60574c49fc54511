//! Starts a server, and stops it.

use std::{ffi::OsString, net::SocketAddr, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use tokio::net::TcpListener;
use warren_config::Config;
use warren_env::{Env, TaskKind, Tasks};
use warren_runtime::api::ModelProviders as _;
use warren_sandbox::Backend;
use warren_server::{Advice, Deps, ServeOptions, router, serve};
use warren_store::Store;

use crate::{
    core::{Core, Start},
    listen, metrics, options, storage,
};

/// The first argument that makes a program the launcher of sandboxes.
pub const LAUNCHER: &str = "__launcher";

/// How long running work has to be recorded and ended.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(20);

/// A server that is about to start: what it is given, and how it behaves.
#[must_use]
pub struct Embed {
    config: Config,
    directory: PathBuf,
    node: String,
    kept_token: Option<String>,
    advice: Vec<Advice>,
    own: Own,
}

/// The parts that are not Warren's own.
#[derive(Default)]
pub(crate) struct Own {
    pub(crate) store: Option<Store>,
    pub(crate) backend: Option<Arc<dyn Backend>>,
    pub(crate) env: Option<Env>,
}

/// A running server.
pub struct Server {
    url: String,
    address: SocketAddr,
    core: Core,
    /// Connections. They end before the core does, but after its last word.
    http: Tasks,
}

/// Becomes the launcher of sandboxes if this process was started as one. Call it first in `main`, before anything that
/// starts a thread: the sandbox backend `local` starts its own program again, with [`LAUNCHER`] as the first argument.
#[must_use]
pub fn launcher() -> Option<ExitCode> {
    let is_launcher = std::env::args_os().nth(1).is_some_and(|argument| argument == LAUNCHER);
    is_launcher.then(warren_sandbox::launcher::main)
}

impl Embed {
    /// A server with Warren's own parts, as the configuration says, and its data in `directory`. Nobody else may use that
    /// directory meanwhile.
    pub fn new(config: Config, directory: impl Into<PathBuf>) -> Self {
        let directory = directory.into();
        Self {
            config,
            directory,
            node: "embedded".to_owned(),
            kept_token: None,
            advice: Vec::new(),
            own: Own::default(),
        }
    }

    /// Keeps logs and records in this store instead of the database of the configuration. Its blobs are its own too;
    /// trees of files stay where `storage.blobs_url` says.
    pub fn store(mut self, store: Store) -> Self {
        self.own.store = Some(store);
        self
    }

    /// Makes sandboxes with this backend instead of `local`.
    pub fn backend(mut self, backend: Arc<dyn Backend>) -> Self {
        self.own.backend = Some(backend);
        self
    }

    /// Takes time, ids and randomness from here instead of the system: the one that a store was made with.
    pub fn env(mut self, env: Env) -> Self {
        self.own.env = Some(env);
        self
    }

    /// The name of this server among those that share its store.
    pub fn node(mut self, node: impl Into<String>) -> Self {
        self.node = node.into();
        self
    }

    /// The administrator's token of an earlier start, which the store knows only as a hash.
    pub fn kept_token(mut self, token: Option<String>) -> Self {
        self.kept_token = token;
        self
    }

    /// Advice for the operator that only this program can give, beside that of the parts.
    pub fn advice(mut self, advice: Vec<Advice>) -> Self {
        self.advice = advice;
        self
    }

    /// Starts it on the address of the configuration, and returns when it answers.
    ///
    /// # Errors
    /// When a part cannot be opened, or the address cannot be listened on.
    pub async fn start(self) -> Result<Server> {
        // First of all: a port that is taken must not cost a recovery.
        let listener = listen::bind(self.config.listen).await?;
        self.start_on(listener).await
    }

    /// Starts it on a listener that is bound already.
    ///
    /// # Errors
    /// When a part cannot be opened.
    pub async fn start_on(self, listener: TcpListener) -> Result<Server> {
        let address = listener.local_addr().context("failed to find our own address")?;
        let Self { config, directory, node, kept_token, advice, own } = self;
        let start = Start { config: &config, directory: &directory, node, kept_token, address };
        let core = Core::assemble(start, own).await?;
        let http = Tasks::new();
        let deps = Deps {
            runtime: Arc::new(core.manager.clone()),
            gateway: core.gateway.clone(),
            env: core.env.clone(),
            tasks: http.clone(),
            metrics: metrics::record(&core.tasks)?,
            options: warren_server::Options {
                advice: advice.into_iter().chain(storage::advice(&config, &directory)).collect(),
                ..options::server(&config, address)
            },
        };
        let serving = serve(listener, router(deps), http.clone(), ServeOptions::default());
        http.spawn_to_end(TaskKind::Housekeeping, serving);
        let url = format!("http://{}", listen::reachable(address));
        Ok(Server { url, address, core, http })
    }
}

impl Server {
    /// Where it can be reached from this machine.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The administrator's token.
    #[must_use]
    pub fn token(&self) -> &str {
        self.core.owner.secret.expose()
    }

    /// Whether the token was made just now. Keep it: the store knows only its hash.
    #[must_use]
    pub fn is_first_start(&self) -> bool {
        self.core.owner.is_new
    }

    /// Where its sessions and sandboxes run. What is spawned here ends with them.
    #[must_use]
    pub fn tasks(&self) -> &Tasks {
        &self.core.tasks
    }

    /// The names of the providers that the demo model answers for now, because no key is configured or stored.
    pub async fn scripted_providers(&self) -> Vec<String> {
        let all = self.core.manager.provider_list().await.unwrap_or_default();
        all.into_iter().filter(|provider| provider.is_demo).map(|provider| provider.name).collect()
    }

    /// A link that signs a browser in, once.
    ///
    /// # Errors
    /// When the operating system gives no randomness.
    pub fn sign_in_link(&self) -> Result<String> {
        let link = self.core.gateway.sign_in_link()?;
        Ok(format!("{}/auth?code={}", self.url, link.code))
    }

    /// Ends the server: running work is interrupted and recorded, clients are told, sandboxes end, the store closes.
    pub async fn stop(self) {
        self.core.manager.drain(SHUTDOWN_TIMEOUT).await;
        end(&self.http, "connections").await;
        if let Some(backend) = &self.core.local {
            backend.close().await;
        }
        end(&self.core.tasks, "sessions").await;
        end(&self.core.store_tasks, "the store").await;
    }
}

/// The program that starts sandboxes: this one itself, under another first argument.
pub(crate) fn own_launcher() -> Result<Vec<OsString>> {
    let program = std::env::current_exe().context("failed to find this program's own file")?;
    Ok(vec![program.into_os_string(), OsString::from(LAUNCHER)])
}

async fn end(tasks: &Tasks, what: &str) {
    tasks.cancel();
    if !tasks.wait(SHUTDOWN_TIMEOUT).await {
        tracing::warn!("{what} did not end in {SHUTDOWN_TIMEOUT:?}");
    }
}
