//! Dependencies and options of the server.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use serde::Serialize;
use tokio::sync::Semaphore;
use warren_env::{Env, Tasks};
use warren_gateway::Gateway;
use warren_runtime::api::{PreviewHosts, Runtime};

use crate::{cors, handlers::Readiness, hosts::Hosts, preview::Grants, upload::Uploads};

/// Sockets are cheap, but not free: each may hold a few megabytes for a slow client.
const MOST_SOCKETS: usize = 4096;

/// Writes all figures in Prometheus' text format.
pub type RenderMetrics = Arc<dyn Fn() -> String + Send + Sync>;

/// Everything the server needs.
#[derive(Clone)]
pub struct Deps {
    /// Carries out what is asked.
    pub runtime: Arc<dyn Runtime>,
    /// Says who may ask.
    pub gateway: Gateway,
    /// Time and ids.
    pub env: Env,
    /// The tasks in which requests run. When they are cancelled, streams end and waiting readers get an error.
    pub tasks: Tasks,
    /// The source of the metrics.
    pub metrics: RenderMetrics,
    /// Its options.
    pub options: Options,
}

/// Options of the server.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address it listens on: requests for it are welcome.
    pub listen: SocketAddr,
    /// Other names it is known by, as `warren.example.com`, perhaps with a port: those of a proxy before it.
    pub allowed_hosts: Vec<String>,
    /// Other origins whose pages may call the server, as browsers write them: `https://app.example.com`.
    pub allowed_origins: Vec<String>,
    /// The largest JSON body, in bytes.
    pub body_limit: usize,
    /// Cookies travel over TLS only: for a server behind a proxy that speaks it.
    pub secure_cookies: bool,
    /// Where previews are shown from, as sources of a content security policy; hosts below `localhost` always are.
    pub preview_frames: Vec<String>,
    /// The names of hosts on which browsers see what sessions serve; none if they do not.
    pub previews: Option<PreviewHosts>,
    /// Other origins that pages in previews may reach, as sources of a content security policy.
    pub preview_origins: Vec<String>,
    /// Sessions do not share workspaces.
    pub workspace_isolation: bool,
    /// What an operator should change; `/api/doctor` shows it.
    pub advice: Vec<Advice>,
}

/// A warning for operators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// The problem.
    pub problem: String,
    /// What to do about it.
    pub hint: String,
}

impl Options {
    /// The defaults for a listener.
    #[must_use]
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            body_limit: 1024 * 1024,
            secure_cookies: false,
            preview_frames: Vec::new(),
            previews: PreviewHosts::parse(&format!("http://localhost:{}", listen.port())).ok(),
            preview_origins: Vec::new(),
            workspace_isolation: false,
            advice: Vec::new(),
        }
    }

    /// Whether nobody but this machine can reach the server. Other names mean that a proxy stands before it.
    #[must_use]
    pub fn is_loopback_only(&self) -> bool {
        self.listen.ip().is_loopback() && self.allowed_hosts.is_empty()
    }
}

/// State shared by all requests. Cheap to clone.
pub(crate) type App = Arc<Shared>;

pub(crate) struct Shared {
    pub(crate) deps: Deps,
    pub(crate) hosts: Hosts,
    /// The OpenAPI document, written when somebody asks for it first: it takes more memory than all else at the start.
    openapi: OnceLock<Bytes>,
    pub(crate) readiness: Readiness,
    /// Sockets that may be open at a time; one more is refused.
    pub(crate) socket_places: Arc<Semaphore>,
    /// Grants for previews.
    pub(crate) grants: Grants,
    /// Reservations for uploads.
    pub(crate) uploads: Uploads,
}

impl Shared {
    pub(crate) fn now(&self) -> warren_domain::Timestamp {
        self.deps.env.now()
    }

    pub(crate) fn new(deps: Deps) -> App {
        Arc::new(Self {
            hosts: Hosts::new(deps.options.listen, &deps.options.allowed_hosts, deps.options.secure_cookies)
                .with_origins(cors::origins(&deps.options)),
            openapi: OnceLock::new(),
            readiness: Readiness::default(),
            socket_places: Arc::new(Semaphore::new(MOST_SOCKETS)),
            grants: Grants::default(),
            uploads: Uploads::default(),
            deps,
        })
    }

    pub(crate) fn openapi(&self) -> Bytes {
        let document = || Bytes::from(warren_wire::openapi(env!("CARGO_PKG_VERSION")).to_string());
        self.openapi.get_or_init(document).clone()
    }

    pub(crate) fn runtime(&self) -> &dyn Runtime {
        self.deps.runtime.as_ref()
    }

    pub(crate) fn gateway(&self) -> &Gateway {
        &self.deps.gateway
    }
}
