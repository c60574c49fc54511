//! What the program believes: everything present, everything legal.

mod documents;
mod models;
mod outside;
mod plans;
mod server;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    ConfigError, Environment, RawConfig, Secret,
    quantity::{Bytes, Cpus},
    raw::{RawLimits, RawRetention, RawRuns, RawSandbox},
};

pub use documents::{Documents, Office};
pub use models::{Credentials, Models, Price, Provider};
pub use outside::{Agents, Egress};
pub use plans::Plans;

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// All options. Components take their own part, never the whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Where the server listens.
    pub listen: SocketAddr,
    /// The HTTP server's part.
    pub server: Server,
    /// The sandboxes' part.
    pub sandbox: Sandbox,
    /// The part of whoever runs messages.
    pub runs: Runs,
    /// The part of whoever counts messages.
    pub plans: Plans,
    /// Where things are kept.
    pub storage: Storage,
    /// What is kept of what was.
    pub retention: Retention,
    /// Names of directories that no version has in it; the usual ones if absent.
    pub excludes: Option<Vec<String>>,
    /// The egress proxy's part.
    pub egress: Egress,
    /// The part of whoever gets agents' programs.
    pub agents: Agents,
    /// Where browsers see what sessions serve; by the listening port if absent.
    pub preview_base: Option<String>,
    /// Other origins that pages in previews may reach.
    pub preview_origins: Vec<String>,
    /// What projects' sessions can read.
    pub knowledge: Knowledge,
    /// How documents are converted.
    pub documents: Documents,
    /// The model gateway's part.
    pub models: Models,
}

/// The HTTP server's part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Host names requests may be addressed to, besides loopback ones.
    pub allowed_hosts: Vec<String>,
    /// Other origins whose pages may call the server, as browsers write them.
    pub allowed_origins: Vec<String>,
    /// The largest body of a request, in bytes.
    pub body_limit: u64,
    /// The sign-in cookie travels over TLS only.
    pub secure_cookies: bool,
}

/// The sandboxes' part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// What makes them.
    pub backend: SandboxBackend,
    /// Where their files are.
    pub files: SandboxFiles,
    /// Layers without which none starts, by name.
    pub required: Vec<String>,
    /// The first and the last UID of workspaces, if the operator has said.
    pub uid_range: Option<(u32, u32)>,
    /// Without work for this long, a sandbox is ended.
    pub idle_timeout: Duration,
    /// How often a sandbox is asked whether it is well.
    pub health_interval: Duration,
    /// An unhealthy sandbox is started again at most this often in an hour.
    pub max_restarts_per_hour: u32,
    /// How many sandboxes may run at once, if the operator has said.
    pub max_concurrent: Option<u32>,
    /// Sessions do not share workspaces.
    pub workspace_isolation: bool,
    /// What one sandbox may use.
    pub limits: Limits,
}

/// What makes sandboxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxBackend {
    /// bubblewrap on this machine.
    Local,
}

/// Where the files of sandboxes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxFiles {
    /// In directories of the data directory, which stay.
    Host,
    /// In each sandbox alone.
    Guest,
}

/// What one sandbox may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Memory of all programs together.
    pub memory_bytes: u64,
    /// CPU time per second, in thousandths of one CPU.
    pub cpu_millis: u32,
    /// Processes and threads.
    pub pids: u32,
    /// What the writable directories may hold.
    pub disk_bytes: u64,
    /// How many files and directories they may hold.
    pub inodes: u64,
}

/// The part of whoever runs messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Runs {
    /// After this long the agent is asked to come to an end.
    pub soft_budget: Duration,
    /// After this long the run is ended.
    pub hard_budget: Duration,
    /// After this long a question that nobody answered is answered with no.
    pub approvals: Duration,
    /// How long an agent may say nothing after its start before that is noted.
    pub silence: Duration,
}

/// Where things are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Storage {
    /// Everything but the bytes of blobs.
    pub database: Database,
    /// The bytes of blobs and of versions' files; in the data directory if absent.
    pub blobs: Option<BlobStore>,
    /// What is in a new session's `outputs/`; the template that comes with the program if absent.
    pub outputs_template: Option<PathBuf>,
    /// How much one run may add to its session's log.
    pub max_log_bytes_per_run: u64,
    /// How much the log of a session may take.
    pub max_log_bytes_per_session: u64,
    /// How much the logs of all sessions of a project may take.
    pub max_log_bytes_per_project: u64,
}

/// What projects know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Knowledge {
    /// Has a directory `<tenant>/<project>` for each project.
    pub base: PathBuf,
    /// How much a project may be given by uploads.
    pub max_bytes: u64,
}

/// What is kept of what was, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// So many versions of each session.
    pub versions: u32,
    /// The last version of each of so many days.
    pub daily_days: u32,
    /// Text as it came, for so many days.
    pub deltas_days: u32,
    /// What was said to models and what they answered, for so many days.
    pub recordings_days: u32,
    /// What nobody needs, for so long.
    pub grace: Duration,
    /// How often it is looked after.
    pub interval: Duration,
}

/// A place for bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobStore {
    /// `s3://BUCKET/PREFIX?region=…&endpoint=…`, or `file:PATH`.
    pub url: String,
    /// Who we are to the bucket, and the key to it.
    pub keys: Option<(String, Secret)>,
}

/// Which database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    /// A file.
    Sqlite(PathBuf),
    /// A server, by its URL; the URL may hold a password.
    Postgres(Secret),
}

impl Config {
    /// Checks what was written and fills in what was not. The only way to a `Config`.
    ///
    /// Relative paths are meant relative to `directory`, the data directory. Keys of providers come from `environment`.
    ///
    /// # Errors
    /// When a value makes no sense.
    pub fn resolve(raw: RawConfig, directory: &Path, environment: &Environment) -> Result<Self, ConfigError> {
        Ok(Self {
            listen: listen(raw.listen)?,
            server: server::server(raw.server)?,
            sandbox: sandbox(raw.sandbox)?,
            runs: runs(&raw.runs)?,
            plans: plans::plans(raw.plans)?,
            storage: Storage {
                database: database(raw.storage.database_url, directory)?,
                blobs: outside::blobs(raw.storage.blobs_url, directory, environment)?,
                outputs_template: raw.storage.outputs_template_path.map(|path| directory.join(path)),
                max_log_bytes_per_run: models::bytes(raw.storage.max_log_bytes_per_run, 256),
                max_log_bytes_per_session: models::bytes(raw.storage.max_log_bytes_per_session, 1024),
                max_log_bytes_per_project: models::bytes(raw.storage.max_log_bytes_per_project, 20 * 1024),
            },
            preview_base: server::preview_base(raw.previews.base_url)?,
            preview_origins: server::preview_origins(raw.previews.allow_origins)?,
            knowledge: Knowledge {
                base: directory.join(raw.knowledge.base_path.unwrap_or_else(|| "knowledge".into())),
                max_bytes: raw.knowledge.max_bytes.map_or(1024 * MIB, |Bytes(bytes)| bytes),
            },
            documents: documents::documents(raw.documents, directory)?,
            retention: retention(&raw.retention)?,
            excludes: excludes(raw.versions.exclude)?,
            egress: outside::egress(raw.egress)?,
            agents: outside::agents(raw.agents, directory, environment)?,
            models: models::resolve(raw.models, directory, environment)?,
        })
    }
}

fn invalid(key: &'static str, value: impl std::fmt::Display, hint: &'static str) -> ConfigError {
    ConfigError::Value { key, value: format!("`{value}`"), hint }
}

fn listen(written: Option<String>) -> Result<SocketAddr, ConfigError> {
    let text = written.unwrap_or_else(|| "127.0.0.1:7777".to_owned());
    text.parse().map_err(|_| invalid("listen", text, "write an address and a port, such as `127.0.0.1:7777`"))
}

fn sandbox(raw: RawSandbox) -> Result<Sandbox, ConfigError> {
    let backend = match raw.backend.as_deref() {
        None | Some("local") => SandboxBackend::Local,
        Some(other) => return Err(invalid("sandbox.backend", other, "the only backend is `local`")),
    };
    let files = match raw.files.as_deref() {
        None | Some("host") => SandboxFiles::Host,
        Some("guest") => SandboxFiles::Guest,
        Some(other) => return Err(invalid("sandbox.files", other, "write `host` or `guest`")),
    };
    let seconds = |key, written: Option<u64>, default| match written.unwrap_or(default) {
        0 => Err(invalid(key, 0, "write at least 1")),
        seconds => Ok(Duration::from_secs(seconds)),
    };
    Ok(Sandbox {
        backend,
        files,
        required: required(raw.required)?,
        uid_range: uid_range(raw.uid_range)?,
        idle_timeout: seconds("sandbox.idle_timeout_seconds", raw.idle_timeout_seconds, 900)?,
        health_interval: seconds("sandbox.health_interval_seconds", raw.health_interval_seconds, 30)?,
        workspace_isolation: raw.workspace_isolation.unwrap_or(false),
        max_restarts_per_hour: raw.max_restarts_per_hour.unwrap_or(3),
        max_concurrent: match raw.max_concurrent {
            Some(0) => {
                return Err(invalid("sandbox.max_concurrent", 0, "at least one sandbox must be able to run"));
            }
            max => max,
        },
        limits: limits(&raw.resource_limits)?,
    })
}

fn required(written: Option<Vec<String>>) -> Result<Vec<String>, ConfigError> {
    const LAYERS: [&str; 9] = [
        "namespaces",
        "network",
        "seccomp",
        "landlock",
        "memoryLimit",
        "cpuLimit",
        "pidsLimit",
        "ownUid",
        "diskQuota",
    ];
    let layers = written.unwrap_or_else(|| LAYERS[..3].iter().map(ToString::to_string).collect());
    match layers.iter().find(|layer| !LAYERS.contains(&layer.as_str())) {
        None => Ok(layers),
        Some(layer) => Err(invalid(
            "sandbox.required",
            layer,
            "the layers are `namespaces`, `network`, `seccomp`, `landlock`, `memoryLimit`, `cpuLimit`, `pidsLimit`, `ownUid`, `diskQuota`",
        )),
    }
}

/// The first UID that no distribution gives to people or services by itself.
const MIN_UID: u32 = 1000;
/// `nobody`, and what stands for "no UID" in 16 bits.
const NOBODY: [u32; 2] = [65534, 65535];
/// Beyond it some programs take a UID for a negative number.
const MAX_UID: u32 = i32::MAX as u32;

fn uid_range(written: Option<String>) -> Result<Option<(u32, u32)>, ConfigError> {
    let Some(text) = written else { return Ok(None) };
    let parse = || {
        let (first, last) = text.split_once('-')?;
        let range = (first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?);
        let is_legal = range.0 >= MIN_UID && range.0 <= range.1 && range.1 <= MAX_UID;
        let has_nobody = NOBODY.iter().any(|uid| (range.0..=range.1).contains(uid));
        (is_legal && !has_nobody).then_some(range)
    };
    match parse() {
        Some(range) => Ok(Some(range)),
        None => Err(invalid(
            "sandbox.uid_range",
            &text,
            "write the first and the last UID, from 1000 to 2147483647 and without 65534 and 65535: `200000-265535`",
        )),
    }
}

fn limits(raw: &RawLimits) -> Result<Limits, ConfigError> {
    let at_least = |key, written: Option<Bytes>, default: u64, least: u64, hint| match written {
        Some(bytes) if bytes.0 < least => Err(invalid(key, bytes, hint)),
        written => Ok(written.map_or(default, |Bytes(bytes)| bytes)),
    };
    let Cpus(cpu) = raw.cpu.unwrap_or(Cpus(1.0));
    if !(0.01..=1024.0).contains(&cpu) {
        return Err(invalid("sandbox.resource_limits.cpu", cpu, "write a number of CPUs from 0.01 to 1024"));
    }
    let pids = raw.pids.unwrap_or(512);
    if pids < 16 {
        return Err(invalid("sandbox.resource_limits.pids", pids, "an agent needs at least 16 processes"));
    }
    let inodes = raw.inodes.unwrap_or(500_000);
    if inodes < 1000 {
        return Err(invalid(
            "sandbox.resource_limits.inodes",
            inodes,
            "a session needs at least 1000 inodes",
        ));
    }
    Ok(Limits {
        memory_bytes: at_least(
            "sandbox.resource_limits.memory",
            raw.memory,
            2 * GIB,
            64 * MIB,
            "an agent needs at least 64MiB of memory",
        )?,
        cpu_millis: millis(cpu),
        pids,
        disk_bytes: at_least(
            "sandbox.resource_limits.disk",
            raw.disk,
            5 * GIB,
            MIB,
            "a session needs at least 1MiB of disk",
        )?,
        inodes,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be within 0.01 and 1024"
)]
fn millis(cpu: f64) -> u32 {
    (cpu * 1000.0).round() as u32
}

/// A year: who answers later than that was not asked.
const LONGEST_WAIT: u64 = 365 * 24 * 3600;

fn runs(raw: &RawRuns) -> Result<Runs, ConfigError> {
    let hard = raw.time_budget_seconds.unwrap_or(30 * 60);
    if hard == 0 {
        return Err(invalid("runs.time_budget_seconds", hard, "write at least 1"));
    }
    let percent = raw.soft_budget_percent.unwrap_or(40);
    if !(1..=100).contains(&percent) {
        return Err(invalid("runs.soft_budget_percent", percent, "write a number from 1 to 100"));
    }
    let approvals = raw.approval_seconds.unwrap_or(24 * 3600);
    if !(1..=LONGEST_WAIT).contains(&approvals) {
        return Err(invalid(
            "runs.approval_seconds",
            approvals,
            "write a number from 1 to 31536000, which is a year",
        ));
    }
    let hard_budget = Duration::from_secs(hard);
    let soft_budget = hard_budget * u32::from(percent) / 100;
    let silence = raw.silence_seconds.unwrap_or(30);
    if !(1..=LONGEST_WAIT).contains(&silence) {
        return Err(invalid(
            "runs.silence_seconds",
            silence,
            "write a number from 1 to 31536000, which is a year",
        ));
    }
    let [approvals, silence] = [approvals, silence].map(Duration::from_secs);
    Ok(Runs { soft_budget, hard_budget, approvals, silence })
}

fn retention(raw: &RawRetention) -> Result<Retention, ConfigError> {
    let at_least_one = |key, written: Option<u64>, default: u64| match written.unwrap_or(default) {
        0 => Err(invalid(key, 0, "write at least 1")),
        number => Ok(number),
    };
    let versions = at_least_one("retention.versions", raw.versions.map(u64::from), 20)?;
    Ok(Retention {
        versions: u32::try_from(versions).unwrap_or(u32::MAX),
        daily_days: raw.daily_days.unwrap_or(30),
        deltas_days: raw.deltas_days.unwrap_or(7),
        recordings_days: raw.recordings_days.unwrap_or(30),
        grace: Duration::from_secs(at_least_one("retention.grace_seconds", raw.grace_seconds, 24 * 3600)?),
        interval: Duration::from_secs(at_least_one(
            "retention.interval_seconds",
            raw.interval_seconds,
            3600,
        )?),
    })
}

fn excludes(written: Option<Vec<String>>) -> Result<Option<Vec<String>>, ConfigError> {
    let is_name = |name: &str| !matches!(name, "" | "." | "..") && !name.contains('/');
    match written.iter().flatten().find(|name| !is_name(name)) {
        Some(wrong) => Err(invalid("versions.exclude", wrong, "write names of directories, without a `/`")),
        None => Ok(written),
    }
}

fn database(written: Option<String>, directory: &Path) -> Result<Database, ConfigError> {
    let Some(url) = written else { return Ok(Database::Sqlite(directory.join("warren.db"))) };
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return Ok(Database::Postgres(Secret::new(url)));
    }
    let path = url.strip_prefix("sqlite://").or(url.strip_prefix("sqlite:")).filter(|path| !path.is_empty());
    match path {
        Some(path) => Ok(Database::Sqlite(directory.join(path))),
        // Not the URL itself: it may hold a password.
        None => Err(ConfigError::Value {
            key: "storage.database_url",
            value: "of that scheme".to_owned(),
            hint: "write `postgres://user@host/name` or `sqlite:PATH`",
        }),
    }
}

#[cfg(test)]
mod tests;
