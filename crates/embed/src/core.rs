//! Everything behind HTTP, put together.

use std::{net::SocketAddr, path::Path, sync::Arc};

use anyhow::Result;
use warren_config::{Config, Database, SandboxFiles};
use warren_domain::NodeId;
use warren_env::{Env, Tasks};
use warren_gateway::{Bootstrap, Gateway, Records};
use warren_models::{Egress, Gateway as ModelGateway};
use warren_programs::Programs;
use warren_runtime::{Parts, SessionManager};
use warren_sandbox::{Backend, apart::Apart, local::Local};
use warren_snapshots::{Snapshots, Storage};
use warren_store::{Live, Store};

use crate::{embed::Own, options, programs::OnDisk, storage};

/// Everything behind HTTP.
pub(crate) struct Core {
    pub(crate) env: Env,
    pub(crate) gateway: Gateway,
    pub(crate) owner: Bootstrap,
    pub(crate) manager: SessionManager,
    /// The backend `local`, unless another was given: it ends with the server.
    pub(crate) local: Option<Arc<Local>>,
    /// Sessions and sandboxes.
    pub(crate) tasks: Tasks,
    /// The store's writer. It ends last, because it records how the rest ended.
    pub(crate) store_tasks: Tasks,
}

/// What is known before anything is opened.
pub(crate) struct Start<'a> {
    pub(crate) config: &'a Config,
    pub(crate) directory: &'a Path,
    pub(crate) node: String,
    pub(crate) kept_token: Option<String>,
    pub(crate) address: SocketAddr,
}

impl Core {
    /// Opens the store, the sandboxes and the models, and takes up what an earlier server left.
    pub(crate) async fn assemble(start: Start<'_>, own: Own) -> Result<Self> {
        let Start { config, directory, node, kept_token, address } = start;
        let env = own.env.unwrap_or_else(Env::system);
        let (tasks, store_tasks) = (Tasks::new(), Tasks::new());

        let storage = options::storage(config)?;
        // A store of one's own may be shared, for all we know here.
        let is_shared = own.store.is_some() || matches!(config.storage.database, Database::Postgres(_));
        let store = match own.store {
            Some(store) => store,
            None => configured_store(config, directory, storage.as_ref(), &env, &store_tasks).await?,
        };
        let live = Live::new(&store, &store_tasks);
        let (backend, local) = match own.backend {
            Some(backend) => (backend, None),
            None => {
                let local = Arc::new(Local::open(options::sandbox(directory)?, tasks.clone())?);
                (where_files_are(config, directory, &local, &tasks), Some(local))
            }
        };
        let models = ModelGateway::new(options::models(config)?, env.clone())?;
        let gateway = Gateway::new(Records::from(&store), env.clone()).with_plans(options::plans(config)?);
        let owner = gateway.bootstrap(is_shared.then_some(node.as_str()), kept_token.as_deref()).await?;

        let runtime = options::runtime(config, directory, NodeId(node), address)?;
        let parts = Parts {
            store,
            live,
            snapshots: Snapshots::open(options::snapshots(config, directory, storage), env.clone())?,
            backend,
            models,
            egress: Egress::new(options::egress(config, address)?),
            programs: Arc::new(OnDisk(Programs::new(options::programs(config), env.clone()))),
            env: env.clone(),
            tasks: tasks.clone(),
        };
        let manager = SessionManager::start(parts, runtime).await?;
        Ok(Self { env, gateway, owner, manager, local, tasks, store_tasks })
    }
}

/// The store of the configuration, with its blobs where the configuration says.
async fn configured_store(
    config: &Config,
    directory: &Path,
    storage: Option<&Storage>,
    env: &Env,
    tasks: &Tasks,
) -> Result<Store> {
    let mut store = warren_store::open(options::store(config, directory), env.clone(), tasks).await?;
    let blobs = match storage {
        Some(storage) => storage.beside("blobs")?,
        None => warren_store::local_objects(&directory.join("blobs"))?,
    };
    storage::claim(&store, &blobs, env, &storage::place(config, directory)).await?;
    if let Some(advice) = storage::advice(config, directory) {
        tracing::warn!("{}; {}", advice.problem, advice.hint);
    }
    store.blobs = warren_store::blobs_on(blobs);
    Ok(store)
}

/// The backend `local`, with its files where the configuration says.
fn where_files_are(config: &Config, directory: &Path, local: &Arc<Local>, tasks: &Tasks) -> Arc<dyn Backend> {
    let backend: Arc<dyn Backend> = local.clone();
    match config.sandbox.files {
        SandboxFiles::Host => backend,
        SandboxFiles::Guest => Arc::new(Apart::new(backend, directory.join("sandbox-files"), tasks.clone())),
    }
}
