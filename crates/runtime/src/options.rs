//! What the runtime is given at its start.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::sync::RwLock;
use warren_domain::{BlobHash, NodeId, Partition, ProjectId, SessionId};
use warren_env::{Env, Tasks};
use warren_models::{Egress, Gateway as ModelGateway};
use warren_sandbox::{Backend, Layer, Limits};
use warren_snapshots::{DEFAULT_EXCLUDES, Snapshots};
use warren_store::{Live, Store};

use crate::{
    admission::Admission,
    api::PreviewHosts,
    documents::{Converter, DocumentOptions},
    knowledge::KnowledgeDirectory,
    providers::{ProviderOptions, Providers},
    template::Template,
    workspaces::Workspaces,
};

/// Numbers and places.
#[derive(Debug, Clone)]
pub struct Options {
    /// This server's lasting name; leases are held under it.
    pub node: NodeId,
    /// Where sessions' and workspaces' directories are made.
    pub directory: PathBuf,
    /// Workspaces get users of their own from this number on.
    pub first_uid: u32,
    /// The last UID that a new workspace may get.
    pub last_uid: u32,
    /// A sandbox with nothing to do ends after this.
    pub idle: Duration,
    /// How often a sandbox must answer.
    pub health_interval: Duration,
    /// How long an answer may take.
    pub health_patience: Duration,
    /// How often an unhealthy sandbox is restarted in an hour.
    pub restarts_per_hour: u32,
    /// A run ends after this, unless it says otherwise.
    pub run_budget: Duration,
    /// After this part of the budget the agent is asked to wrap up.
    pub soft_share: f64,
    /// How long an agent may take to stop after it was asked to.
    pub stop_patience: Duration,
    /// An agent that has not answered for this long after its start is noted in the conversation.
    pub silence: Duration,
    /// How many sandboxes may run at once. Starts beyond it wait in order.
    pub max_sandboxes: usize,
    /// What each sandbox may use.
    pub limits: Limits,
    /// Isolation without which no sandbox starts.
    pub required: Vec<Layer>,
    /// How long a lease lasts without being renewed.
    pub lease: Duration,
    /// How long idempotency keys are kept.
    pub keys: Duration,
    /// How long people may take to answer an agent.
    pub approvals: Duration,
    /// Where browsers see previews, if they do.
    pub previews: Option<PreviewHosts>,
    /// What every project's sessions can read, if they can.
    pub knowledge: Option<KnowledgeOptions>,
    /// How documents are converted.
    pub documents: DocumentOptions,
    /// What is in a new workspace's `outputs/`.
    pub template: Option<Arc<Template>>,
    /// What is kept of what was, and for how long.
    pub retention: Retention,
    /// How much is recorded of what was said to models.
    pub recording_limits: RecordingLimits,
    /// Whether all sessions may use tools that models' providers run; otherwise their profiles say.
    pub provider_tools: bool,
    /// How long logs may become.
    pub log_limits: LogLimits,
    /// Names of directories that no version has in it.
    pub excludes: Vec<String>,
    /// Who answers model calls, as the configuration says.
    pub providers: ProviderOptions,
}

/// Where what projects know lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnowledgeOptions {
    /// Has a directory `<partition>/<project>` for each project.
    pub base: PathBuf,
    /// How much a project may be given by uploads.
    pub max_bytes: u64,
}

/// What is kept of what was, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// This many versions of each session, the newest.
    pub versions: u32,
    /// The last version of each of so many days.
    pub daily_days: u32,
    /// Text as it came, word by word.
    pub deltas: Duration,
    /// What was said to models and what they answered.
    pub recordings: Duration,
    /// What nobody needs is removed so long after.
    pub grace: Duration,
    /// How often it is looked after.
    pub interval: Duration,
}

/// How many bytes recordings of model calls may take. Calls beyond it are not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordingLimits {
    /// Those of one run.
    pub per_run: u64,
    /// All of a session that are kept.
    pub per_session: u64,
}

/// How many bytes logs may take, with the long fields of their entries that are blobs. A run that reaches one ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogLimits {
    /// What is recorded during one run.
    pub per_run: u64,
    /// The log of a session.
    pub per_session: u64,
    /// The logs of all sessions of a project.
    pub per_project: u64,
}

impl Default for LogLimits {
    fn default() -> Self {
        Self { per_run: 256 << 20, per_session: 1 << 30, per_project: 20 << 30 }
    }
}

impl Default for RecordingLimits {
    fn default() -> Self {
        Self { per_run: 256 << 20, per_session: 1 << 30 }
    }
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            versions: 20,
            daily_days: 30,
            deltas: Duration::from_secs(7 * 24 * 3600),
            recordings: Duration::from_secs(30 * 24 * 3600),
            grace: Duration::from_secs(24 * 3600),
            interval: Duration::from_secs(3600),
        }
    }
}

impl Options {
    /// The numbers of the protocol, for a server in `directory`.
    #[must_use]
    pub fn new(node: NodeId, directory: PathBuf) -> Self {
        Self {
            node,
            providers: ProviderOptions {
                key_file: directory.join("providers.key"),
                ..ProviderOptions::default()
            },
            first_uid: 200_000,
            last_uid: u32::MAX,
            idle: Duration::from_secs(900),
            health_interval: Duration::from_secs(30),
            health_patience: Duration::from_secs(10),
            restarts_per_hour: 3,
            run_budget: Duration::from_secs(30 * 60),
            soft_share: 0.4,
            stop_patience: Duration::from_secs(10),
            silence: Duration::from_secs(30),
            max_sandboxes: usize::MAX,
            limits: Limits::default(),
            required: Vec::new(),
            lease: Duration::from_secs(30),
            keys: Duration::from_secs(7 * 24 * 3600),
            approvals: Duration::from_secs(24 * 3600),
            retention: Retention::default(),
            recording_limits: RecordingLimits::default(),
            provider_tools: false,
            log_limits: LogLimits::default(),
            previews: None,
            knowledge: None,
            documents: DocumentOptions::default(),
            template: None,
            excludes: DEFAULT_EXCLUDES.iter().map(|name| (*name).to_owned()).collect(),
            directory,
        }
    }
}

impl Options {
    /// What the sessions of a project can read.
    pub(crate) fn knowledge_of(
        &self,
        partition: &Partition,
        project: ProjectId,
    ) -> Option<KnowledgeDirectory> {
        // A partition is opaque: one that is no plain name has no directory.
        let is_plain = |name: &str| !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
        let options = self.knowledge.as_ref().filter(|_| is_plain(&partition.0))?;
        Some(KnowledgeDirectory::new(&options.base.join(&partition.0), project))
    }

    /// The template's files as they lie in a workspace.
    pub(crate) fn template_hashes(&self) -> BTreeMap<String, BlobHash> {
        self.template.as_ref().map(|template| template.hashes()).unwrap_or_default()
    }
}

/// The parts the runtime works with. It knows none of them by name.
#[derive(Clone)]
pub struct Parts {
    /// Records.
    pub store: Store,
    /// The log, with followers.
    pub live: Live,
    /// Trees of files.
    pub snapshots: Snapshots,
    /// Where agents run.
    pub backend: Arc<dyn Backend>,
    /// What agents' model calls go through.
    pub models: ModelGateway,
    /// What else sandboxes may reach goes through.
    pub egress: Egress,
    /// Agents' programs on this machine.
    pub programs: Arc<dyn Programs>,
    /// Time and ids.
    pub env: Env,
    /// Where tasks run.
    pub tasks: Tasks,
}

/// Agents' programs on this machine. They may come and go while the server runs.
#[async_trait]
pub trait Programs: Send + Sync {
    /// All that are there now.
    fn installed(&self) -> Vec<Program>;

    /// All that could be there.
    fn known(&self) -> Vec<Known>;

    /// Gets one and keeps it, unless it is there.
    async fn install(&self, name: &str) -> Result<(), ProgramError>;

    /// Removes one.
    async fn remove(&self, name: &str) -> Result<(), ProgramError>;

    /// What is there for apps and scripts.
    fn packages(&self) -> Packages {
        Packages::default()
    }
}

/// Packages that every sandbox can see, read-only, so that what a template has works without a network.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Packages {
    /// A `node_modules` directory: `/node_modules` in a sandbox.
    pub node: Option<PathBuf>,
    /// A directory for Python's search path: `/opt/python` in a sandbox.
    pub python: Option<PathBuf>,
}

/// A program that can be installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its name.
    pub name: String,
    /// The version that would be installed.
    pub pinned: String,
    /// The version that is, and its size in bytes.
    pub installed: Option<(String, u64)>,
    /// Whether it is an agent by itself, which speaks ACP.
    pub is_agent: bool,
}

/// Why a program was not installed or removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProgramError {
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// A program that every sandbox can see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its name; the directory is `/opt/agents/NAME` in a sandbox.
    pub name: String,
    /// Its directory on this machine.
    pub directory: PathBuf,
    /// The words that start it in a sandbox.
    pub argv: Vec<String>,
    /// Directories in a sandbox that belong before the rest of its `PATH`.
    pub path: Vec<String>,
    /// If it is an agent by itself, which speaks ACP: what it is given besides its profile.
    pub recipe: Option<AcpRecipe>,
}

/// What an agent that was installed by its package is given besides its profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AcpRecipe {
    /// Environment variables that it starts with, unless its profile has others.
    pub env: BTreeMap<String, String>,
    /// Environment variables that its profile must set.
    pub needs: Vec<String>,
    /// Hosts that its sandbox may reach.
    pub hosts: Vec<String>,
}

/// A machine without programs: only the built-in agent runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPrograms;

#[async_trait]
impl Programs for NoPrograms {
    fn installed(&self) -> Vec<Program> {
        Vec::new()
    }

    fn known(&self) -> Vec<Known> {
        Vec::new()
    }

    async fn install(&self, name: &str) -> Result<(), ProgramError> {
        Err(ProgramError { message: format!("there is no program `{name}`"), hint: None })
    }

    async fn remove(&self, name: &str) -> Result<(), ProgramError> {
        Err(ProgramError { message: format!("there is no program `{name}`"), hint: None })
    }
}

/// What every session task needs: parts and numbers together.
pub(crate) struct Shared {
    pub(crate) parts: Parts,
    pub(crate) options: Options,
    /// Whoever commits a version reads, whoever removes what no version needs writes.
    pub(crate) gate: Arc<RwLock<()>>,
    pub(crate) directories: Directories,
    /// Who works where.
    pub(crate) workspaces: Workspaces,
    /// Who answers model calls.
    pub(crate) providers: Providers,
    /// Converts documents.
    pub(crate) converter: Arc<Converter>,
    /// Who has a sandbox, and who waits for one.
    pub(crate) admission: Arc<Admission>,
}

impl Shared {
    /// The name under which it is kept how a session's files look. A replay has the name of its session, and must not
    /// pass for its files.
    pub(crate) fn place(&self, session: SessionId) -> Option<String> {
        (self.directories == Directories::Stay).then(|| session.to_string())
    }
}

/// Whether sessions' directories are there again tomorrow: only then it is of use to remember how their files look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Directories {
    Stay,
    ThrownAway,
}
