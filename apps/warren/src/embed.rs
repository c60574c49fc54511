//! Puts the server together. The only place that names a concrete backend.
//!
//! ```text
//! store ─┬─▶ runtime ─▶ server ◀─ gateway ◀─ store
//! sandbox┤
//! models ┘
//! ```

mod listen;
mod memory;
mod metrics;
mod options;
mod programs;
mod skeleton;
mod storage;
mod trial;

use std::{
    fs::Permissions, net::SocketAddr, os::unix::fs::PermissionsExt as _, path::Path, sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result};
use warren_config::{Config, Database, SandboxFiles};
use warren_domain::NodeId;
use warren_env::{Env, TaskKind, Tasks};
use warren_gateway::{Bootstrap, Gateway, Records};
use warren_models::{Egress, Gateway as ModelGateway};
use warren_programs::Programs;
use warren_runtime::{Parts, SessionManager};
use warren_sandbox::{Backend, Probe, apart::Apart, local::Local};
use warren_server::{Deps, ServeOptions, router, serve};
use warren_snapshots::Snapshots;
use warren_store::Live;

use crate::{
    answerers::{Answerer, answerers},
    home::Lock,
    setting::Setting,
};

use programs::OnDisk;

pub(crate) use memory::keep_little;
pub(crate) use options::{programs, required_layers};
pub(crate) use storage::advice as storage_advice;
pub(crate) use trial::{Trial, Trials};

/// The first argument that makes this program the launcher of sandboxes.
pub(crate) const LAUNCHER: &str = "__launcher";

/// How long running work has to be recorded and ended.
const PATIENCE: Duration = Duration::from_secs(20);

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
    core: Core,
    /// Connections. They end before the core does, but after its last word.
    http: Tasks,
    lock: Lock,
}

/// Everything behind HTTP.
struct Core {
    env: Env,
    gateway: Gateway,
    owner: Bootstrap,
    manager: SessionManager,
    backend: Arc<Local>,
    /// Sessions and sandboxes.
    tasks: Tasks,
    /// The store's writer. It ends last, because it records how the rest ended.
    store_tasks: Tasks,
}

impl Server {
    /// Starts a server in the directory that `lock` stands for, and returns when it answers.
    pub(crate) async fn start(setting: &Setting, lock: Lock, listen: SocketAddr) -> Result<Self> {
        // Whatever this server writes is its own. What sandboxes must read is given its mode where it is written, and
        // programs in sandboxes have a mask of their own.
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
        let config = setting.load()?.config;
        // First of all: a port that is taken must not cost a recovery.
        let (listener, address) = listen::bind(listen).await?;
        let core = Core::assemble(&config, &lock, address).await?;
        if core.owner.is_new {
            lock.keep_token(core.owner.secret.expose())?;
        }
        let http = Tasks::new();
        let deps = Deps {
            runtime: Arc::new(core.manager.clone()),
            gateway: core.gateway.clone(),
            env: core.env.clone(),
            tasks: http.clone(),
            metrics: metrics::record(&core.tasks)?,
            options: warren_server::Options {
                advice: storage::advice(&config, lock.home().directory()).into_iter().collect(),
                ..options::server(&config, address)
            },
        };
        let serving = serve(listener, router(deps), http.clone(), ServeOptions::default());
        http.spawn_to_end(TaskKind::Housekeeping, serving);
        memory::give_back_what_is_free(&core.tasks);
        let url = format!("http://{}", listen::reachable(address));
        lock.announce(&url)?;
        Ok(Self {
            url,
            token: core.owner.secret.expose().to_owned(),
            is_first_start: core.owner.is_new,
            is_loopback_only: address.ip().is_loopback(),
            answerers: answerers(&config),
            core,
            http,
            lock,
        })
    }

    /// A link that signs a browser in, once.
    pub(crate) fn sign_in_link(&self) -> Result<String> {
        let link = self.core.gateway.sign_in_link()?;
        Ok(format!("{}/auth?code={}", self.url, link.code))
    }

    /// Stops telling other commands where it is.
    pub(crate) fn withdraw(&self) {
        self.lock.withdraw();
    }

    /// Ends the server: running work is interrupted and recorded, clients are told, sandboxes end, the store closes.
    pub(crate) async fn stop(self) {
        self.lock.withdraw();
        self.core.manager.drain(PATIENCE).await;
        end(&self.http, "connections").await;
        self.core.backend.close().await;
        end(&self.core.tasks, "sessions").await;
        end(&self.core.store_tasks, "the store").await;
    }
}

impl Core {
    /// Opens the store, the sandboxes and the models, and takes up what an earlier server left.
    async fn assemble(config: &Config, lock: &Lock, address: SocketAddr) -> Result<Self> {
        let directory = lock.home().directory();
        let env = Env::system();
        let (tasks, store_tasks) = (Tasks::new(), Tasks::new());

        let mut store =
            warren_store::open(options::store(config, directory), env.clone(), &store_tasks).await?;
        let storage = options::storage(config)?;
        let blobs = match &storage {
            Some(storage) => storage.beside("blobs")?,
            None => warren_store::local_objects(&directory.join("blobs"))?,
        };
        storage::claim(&store, &blobs, &env, &storage::place(config, directory)).await?;
        if let Some(advice) = storage::advice(config, directory) {
            tracing::warn!("{}; {}", advice.problem, advice.hint);
        }
        store.blobs = warren_store::blobs_on(blobs);
        let live = Live::new(&store, &store_tasks);
        let backend = Arc::new(Local::open(options::sandbox(directory)?, tasks.clone())?);
        let models = ModelGateway::new(options::models(config)?, env.clone())?;

        let gateway = Gateway::new(Records::from(&store), env.clone()).with_plans(options::plans(config)?);
        let node = lock.node()?;
        let is_shared = matches!(config.storage.database, Database::Postgres(_));
        let kept = lock.home().token()?;
        let owner = gateway.bootstrap(is_shared.then_some(node.as_str()), kept.as_deref()).await?;

        let runtime = options::runtime(config, directory, NodeId(node), address)?;
        let parts = Parts {
            store,
            live,
            snapshots: Snapshots::open(options::snapshots(config, directory, storage), env.clone())?,
            backend: where_files_are(config, directory, &backend, &tasks),
            models,
            egress: Egress::new(options::egress(config, address)?),
            programs: Arc::new(OnDisk(Programs::new(options::programs(config), env.clone()))),
            env: env.clone(),
            tasks: tasks.clone(),
        };
        let manager = SessionManager::start(parts, runtime).await?;
        Ok(Self { env, gateway, owner, manager, backend, tasks, store_tasks })
    }
}

/// The backend, with its files where the configuration says.
fn where_files_are(
    config: &Config,
    directory: &Path,
    backend: &Arc<Local>,
    tasks: &Tasks,
) -> Arc<dyn Backend> {
    let backend: Arc<dyn Backend> = backend.clone();
    match config.sandbox.files {
        SandboxFiles::Host => backend,
        SandboxFiles::Guest => Arc::new(Apart::new(backend, directory.join("sandbox-files"), tasks.clone())),
    }
}

async fn end(tasks: &Tasks, what: &str) {
    tasks.cancel();
    if !tasks.wait(PATIENCE).await {
        tracing::warn!("{what} did not end in {PATIENCE:?}");
    }
}

/// Finds out, by trying, what isolation this machine gives. Needs no data directory and disturbs no server.
pub(crate) async fn probe() -> Result<Probe> {
    let directory = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o755))
        .tempdir()
        .context("failed to make a temporary directory")?;
    let tasks = Tasks::new();
    let backend = Local::open(options::sandbox(directory.path())?, tasks.clone())?;
    let probe = backend.probe().await;
    backend.close().await;
    tasks.cancel();
    Ok(probe)
}
