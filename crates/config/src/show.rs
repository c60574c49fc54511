//! The options as text: for `warren config show`, and for the defaults in the documentation.

use std::path::Path;

use crate::{Config, Credentials, Database, Office, Provider, SandboxBackend, SandboxFiles, quantity::Bytes};

/// Each key with its value as it would be written in `warren.toml`; nothing where the value is "none".
///
/// Shows no secret: of a database's URL only what is not its password.
#[must_use]
pub fn show(config: &Config) -> Vec<(&'static str, String)> {
    let sandbox = &config.sandbox;
    let limits = &sandbox.limits;
    [
        ("listen", quoted(config.listen)),
        ("server.allowed_hosts", list(&config.server.allowed_hosts)),
        ("server.allowed_origins", list(&config.server.allowed_origins)),
        ("server.body_limit", quoted(Bytes(config.server.body_limit))),
        ("server.secure_cookies", config.server.secure_cookies.to_string()),
        ("sandbox.backend", quoted(backend(sandbox.backend))),
        ("sandbox.files", quoted(files(sandbox.files))),
        ("sandbox.required", list(&sandbox.required)),
        ("sandbox.uid_range", sandbox.uid_range.map(range).unwrap_or_default()),
        ("sandbox.idle_timeout_seconds", sandbox.idle_timeout.as_secs().to_string()),
        ("sandbox.health_interval_seconds", sandbox.health_interval.as_secs().to_string()),
        ("sandbox.max_restarts_per_hour", sandbox.max_restarts_per_hour.to_string()),
        ("sandbox.max_concurrent", sandbox.max_concurrent.map(|max| max.to_string()).unwrap_or_default()),
        ("sandbox.workspace_isolation", sandbox.workspace_isolation.to_string()),
        ("sandbox.resource_limits.memory", quoted(Bytes(limits.memory_bytes))),
        ("sandbox.resource_limits.cpu", format!("{}", f64::from(limits.cpu_millis) / 1000.0)),
        ("sandbox.resource_limits.pids", limits.pids.to_string()),
        ("sandbox.resource_limits.disk", quoted(Bytes(limits.disk_bytes))),
        ("sandbox.resource_limits.inodes", limits.inodes.to_string()),
        ("runs.time_budget_seconds", config.runs.hard_budget.as_secs().to_string()),
        ("runs.soft_budget_percent", soft_percent(config).to_string()),
        ("runs.approval_seconds", config.runs.approvals.as_secs().to_string()),
        ("runs.silence_seconds", config.runs.silence.as_secs().to_string()),
        ("plans.unpaid.messages", config.plans.unpaid_messages.to_string()),
        ("plans.paid.messages_per_week", config.plans.paid_messages_per_week.to_string()),
        ("plans.admin", quoted(&config.plans.admin)),
        ("plans.project", quoted(&config.plans.project)),
        ("storage.database_url", quoted(database(&config.storage.database))),
        ("storage.blobs_url", config.storage.blobs.as_ref().map(|it| quoted(&it.url)).unwrap_or_default()),
        ("storage.max_log_bytes_per_run", quoted(Bytes(config.storage.max_log_bytes_per_run))),
        ("storage.max_log_bytes_per_session", quoted(Bytes(config.storage.max_log_bytes_per_session))),
        ("storage.max_log_bytes_per_project", quoted(Bytes(config.storage.max_log_bytes_per_project))),
        ("retention.versions", config.retention.versions.to_string()),
        ("retention.daily_days", config.retention.daily_days.to_string()),
        ("retention.deltas_days", config.retention.deltas_days.to_string()),
        ("retention.recordings_days", config.retention.recordings_days.to_string()),
        ("retention.grace_seconds", config.retention.grace.as_secs().to_string()),
        ("retention.interval_seconds", config.retention.interval.as_secs().to_string()),
        ("versions.exclude", config.excludes.as_deref().map(list).unwrap_or_default()),
        ("storage.outputs_template_path", optional(config.storage.outputs_template.as_deref())),
        ("previews.base_url", config.preview_base.as_ref().map(quoted).unwrap_or_default()),
        ("previews.allow_origins", list(&config.preview_origins)),
        ("knowledge.base_path", path(&config.knowledge.base)),
        ("knowledge.max_bytes", quoted(Bytes(config.knowledge.max_bytes))),
        ("documents.libreoffice", office(&config.documents.libreoffice)),
        ("documents.timeout_seconds", config.documents.timeout.as_secs().to_string()),
        ("egress.allow", list(&config.egress.allow)),
        ("egress.allow_private", list(&config.egress.allow_private)),
        ("agents.directory", path(&config.agents.directory)),
        ("agents.registry", quoted(without_password(config.agents.registry.expose()))),
        ("agents.allow_http_registry", config.agents.allow_http_registry.to_string()),
        ("agents.cache_directory", optional(config.agents.cache_directory.as_deref())),
    ]
    .into_iter()
    .chain(models(config))
    .collect()
}

fn optional(at: Option<&Path>) -> String {
    at.map(path).unwrap_or_default()
}

fn office(office: &Office) -> String {
    match office {
        Office::Auto => quoted("auto"),
        Office::Off => quoted("off"),
        Office::At(at) => path(at),
    }
}

fn models(config: &Config) -> Vec<(&'static str, String)> {
    let models = &config.models;
    vec![
        ("models.anthropic.base_url", quoted(&models.anthropic.base_url)),
        ("models.anthropic.api_key_env", quoted(&models.anthropic.api_key_env)),
        ("models.anthropic.api_key_file", String::new()),
        ("models.anthropic.allow", allow(&models.anthropic)),
        ("models.gemini.base_url", quoted(&models.gemini.base_url)),
        ("models.gemini.api_key_env", quoted(&models.gemini.api_key_env)),
        ("models.gemini.api_key_file", String::new()),
        ("models.gemini.allow", allow(&models.gemini)),
        ("models.openai.base_url", quoted(&models.openai.base_url)),
        ("models.openai.api_key_env", quoted(&models.openai.api_key_env)),
        ("models.openai.api_key_file", String::new()),
        ("models.openai.allow", allow(&models.openai)),
        ("models.openai_responses.base_url", quoted(&models.openai_responses.base_url)),
        ("models.openai_responses.api_key_env", quoted(&models.openai_responses.api_key_env)),
        ("models.openai_responses.api_key_file", String::new()),
        ("models.openai_responses.allow", allow(&models.openai_responses)),
        ("models.prices", prices(config)),
        ("models.max_recorded_bytes_per_run", quoted(Bytes(models.max_recorded_bytes_per_run))),
        ("models.max_recorded_bytes_per_session", quoted(Bytes(models.max_recorded_bytes_per_session))),
        ("models.key_file", path(&models.key_file)),
        ("models.allow_http_base_url", models.allow_http_base_url.to_string()),
        ("models.provider_tools", models.provider_tools.to_string()),
        ("models.demo.delay_milliseconds", models.demo_delay.as_millis().to_string()),
    ]
}

fn allow(provider: &Provider) -> String {
    provider.allow.as_deref().map(list).unwrap_or_default()
}

impl Credentials {
    /// Whether a provider can be asked, for people. Never the key.
    #[must_use]
    pub fn describe(&self) -> &'static str {
        match self {
            Credentials::Key(_) => "found",
            Credentials::NotNeeded => "not needed",
            Credentials::Missing => "missing",
        }
    }
}

fn quoted(value: impl std::fmt::Display) -> String {
    toml::Value::String(value.to_string()).to_string()
}

fn path(path: &std::path::Path) -> String {
    quoted(path.display())
}

fn list(values: &[String]) -> String {
    toml::Value::from(values.to_vec()).to_string()
}

fn range((first, last): (u32, u32)) -> String {
    quoted(format!("{first}-{last}"))
}

fn backend(backend: SandboxBackend) -> &'static str {
    match backend {
        SandboxBackend::Local => "local",
    }
}

fn files(files: SandboxFiles) -> &'static str {
    match files {
        SandboxFiles::Host => "host",
        SandboxFiles::Guest => "guest",
    }
}

fn soft_percent(config: &Config) -> u128 {
    let hard = config.runs.hard_budget.as_millis().max(1);
    (config.runs.soft_budget.as_millis() * 100 + hard / 2) / hard
}

fn database(database: &Database) -> String {
    match database {
        Database::Sqlite(path) => format!("sqlite:{}", path.display()),
        Database::Postgres(url) => without_password(url.expose()),
    }
}

fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return String::new() };
    // The last `@` ends the user's part even if a password holds one; parameters may name a password too.
    let (user, host) = rest.rsplit_once('@').unwrap_or(("", rest));
    let host = host.split('?').next().unwrap_or(host);
    match user.split_once(':').map_or(user, |(name, _)| name) {
        "" => format!("{scheme}://{host}"),
        name => format!("{scheme}://{name}@{host}"),
    }
}

fn prices(config: &Config) -> String {
    let rows = config.models.prices.iter().map(|(prefix, price)| {
        format!("{} = {{ input = {}, output = {} }}", quoted(prefix), price.input, price.output)
    });
    match rows.collect::<Vec<_>>().join(", ") {
        rows if rows.is_empty() => String::new(),
        rows => format!("{{ {rows} }}"),
    }
}
