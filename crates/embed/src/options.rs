//! From the configuration to each component's own options.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use warren_config::{Config, Credentials, Database, Office, Provider};
use warren_domain::NodeId;
use warren_models::{
    AllowedModels, EgressOptions, EgressRules, Format, ModelLists, Pace, Price, PriceTable, PrivateTargets,
    Secret, UpstreamOptions,
};
use warren_programs::Plain;
use warren_runtime::{
    ConfiguredProvider, DocumentOptions, KnowledgeOptions, LogLimits, OfficeChoice, ProviderOptions,
    RecordingLimits, Retention, Template, TemplateError,
    api::{KeySource, PreviewHosts},
};
use warren_sandbox::{Layer, Limits, local::UidRange};
use warren_snapshots::{S3Keys, Storage};

use crate::{advised::Advised, embed, skeleton::skeleton};

pub(crate) fn store(config: &Config, directory: &Path) -> warren_store::Options {
    let database = match &config.storage.database {
        Database::Sqlite(path) => warren_store::Database::Sqlite(path.clone()),
        Database::Postgres(url) => warren_store::Database::Postgres(url.expose().to_owned()),
    };
    warren_store::Options { database, blobs_dir: directory.join("blobs") }
}

/// Where blobs and trees of files are kept, if not in the data directory.
pub(crate) fn storage(config: &Config) -> Result<Option<Storage>> {
    let Some(blobs) = &config.storage.blobs else { return Ok(None) };
    let keys = blobs
        .keys
        .as_ref()
        .map(|(id, key)| S3Keys { access_key_id: id.clone(), secret_access_key: key.expose().to_owned() });
    let storage =
        Storage::from_url(&blobs.url, keys).context("`storage.blobs_url` is not a valid storage URL")?;
    Ok(Some(storage))
}

/// How trees of files are kept. What files of this machine looked like stays here, wherever they are kept.
pub(crate) fn snapshots(
    config: &Config,
    directory: &Path,
    storage: Option<Storage>,
) -> warren_snapshots::Options {
    let usual = warren_snapshots::Options::in_directory(directory.join("trees"));
    warren_snapshots::Options {
        grace: config.retention.grace,
        storage: storage.unwrap_or_else(|| usual.storage.clone()),
        ..usual
    }
}

/// How the backend `local` makes sandboxes, with what it needs beneath this directory.
///
/// # Errors
/// When this program's own file cannot be found: it is the launcher too.
pub fn sandbox(directory: &Path) -> Result<warren_sandbox::local::Options> {
    Ok(warren_sandbox::local::Options::new(embed::own_launcher()?, directory.join("sandbox")))
}

/// The UIDs of new workspaces, claimed for this data directory. `None` where sandboxes run under the server's own.
fn uids(config: &Config, directory: &Path) -> Result<Option<UidRange>> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let wanted = config.sandbox.uid_range.map(|(first, last)| UidRange { first, last });
    let claimed = warren_sandbox::local::claim_uids(directory, wanted);
    claimed.map(Some).map_err(|error| {
        let hint = error.hint();
        Advised::new(format!("{:#}", anyhow::Error::from(error)), hint).into()
    })
}

/// How many messages may be sent.
pub(crate) fn plans(config: &Config) -> Result<warren_gateway::Plans> {
    let plans = &config.plans;
    Ok(warren_gateway::Plans {
        unpaid: plans.unpaid_messages,
        paid_per_week: plans.paid_messages_per_week,
        admin: plans.admin.parse()?,
        project: plans.project.parse()?,
    })
}

/// Agents' programs.
#[must_use]
pub fn programs(config: &Config) -> warren_programs::Options {
    let directory = config.agents.directory.clone();
    let options = warren_programs::Options::new(directory, config.agents.registry.expose());
    let plain = if config.agents.allow_http_registry { Plain::Anywhere } else { Plain::LoopbackOnly };
    warren_programs::Options { cache: config.agents.cache_directory.clone(), plain, ..options }
}

pub(crate) fn models(config: &Config) -> Result<warren_models::Options> {
    let prices = config.models.prices.iter().fold(PriceTable::default(), |table, (prefix, price)| {
        table.with(
            prefix,
            Price {
                input: price.input,
                output: price.output,
                cache_read: price.cache_read,
                cache_write: price.cache_write,
                cache_write_long: price.cache_write_long,
            },
        )
    });
    let delta = config.models.demo_delay;
    Ok(warren_models::Options {
        models: model_lists(config)?,
        anthropic: upstream(&config.models.anthropic),
        gemini: upstream(&config.models.gemini),
        openai_chat: upstream(&config.models.openai),
        openai_responses: upstream(&config.models.openai_responses),
        prices,
        // The slow manner keeps its pace: it is there to be interrupted.
        pace: Pace { delta, ..Pace::default() },
        ..warren_models::Options::default()
    })
}

/// Which models sandboxes may ask for.
fn model_lists(config: &Config) -> Result<ModelLists> {
    let models = &config.models;
    let priced: Vec<String> = models.prices.iter().map(|(prefix, _)| prefix.clone()).collect();
    let list = |provider: &Provider| -> Result<AllowedModels> {
        match &provider.allow {
            None => Ok(AllowedModels::Known { priced: priced.clone() }),
            Some(patterns) => Ok(AllowedModels::listed(patterns)
                .map_err(|error| Advised::new(error.to_string(), error.hint().to_owned()))?),
        }
    };
    Ok(ModelLists {
        anthropic: list(&models.anthropic)?,
        gemini: list(&models.gemini)?,
        openai_chat: list(&models.openai)?,
        openai_responses: list(&models.openai_responses)?,
    })
}

/// What sandboxes may reach, whatever their profiles say. This server itself is never among it.
pub(crate) fn egress(config: &Config, address: SocketAddr) -> Result<EgressOptions> {
    let advised = |text: String, hint: &str| Advised::new(text, hint.to_owned());
    Ok(EgressOptions {
        allow: EgressRules::parse(&config.egress.allow)
            .map_err(|error| advised(error.to_string(), error.hint()))?,
        allow_private: PrivateTargets::parse(&config.egress.allow_private)
            .map_err(|error| advised(error.to_string(), error.hint()))?,
        listeners: vec![address],
        ..EgressOptions::default()
    })
}

fn upstream(provider: &Provider) -> UpstreamOptions {
    let at = |api_key| UpstreamOptions::Http { base_url: provider.base_url.clone(), api_key };
    match &provider.credentials {
        Credentials::Key(key) => at(Some(Secret::new(key.expose()))),
        Credentials::NotNeeded => at(None),
        Credentials::Missing => UpstreamOptions::Demo,
    }
}

/// Who answers model calls, for whoever changes it while the server runs. OpenAI's two APIs are one provider, unless the
/// configuration tells them apart.
fn providers(config: &Config) -> ProviderOptions {
    let models = &config.models;
    let (chat, responses) = (&models.openai, &models.openai_responses);
    let is_one = (&chat.base_url, &chat.credentials) == (&responses.base_url, &responses.credentials);
    let both = [Format::OpenAiResponses, Format::OpenAiChat];
    let mut all = vec![
        provider("anthropic", "Anthropic", &[Format::Anthropic], &models.anthropic),
        provider("gemini", "Gemini", &[Format::Gemini], &models.gemini),
        provider("openai", "OpenAI", if is_one { &both[..] } else { &both[1..] }, chat),
    ];
    if !is_one {
        all.push(provider("openai_responses", "OpenAI responses", &both[..1], responses));
    }
    ProviderOptions { all, key_file: models.key_file.clone(), allow_http: models.allow_http_base_url }
}

fn provider(name: &str, label: &str, formats: &[Format], provider: &Provider) -> ConfiguredProvider {
    let key = match &provider.credentials {
        Credentials::Key(key) => Some(Secret::new(key.expose())),
        Credentials::NotNeeded | Credentials::Missing => None,
    };
    let source = if provider.has_key_file { KeySource::Config } else { KeySource::Environment };
    ConfiguredProvider {
        name: name.to_owned(),
        label: label.to_owned(),
        formats: formats.to_vec(),
        base_url: provider.base_url.clone(),
        key_source: key.as_ref().map(|_| source),
        key_ending: key.as_ref().and_then(Secret::ending),
        is_demo: provider.credentials == Credentials::Missing,
        variable: provider.api_key_env.clone(),
    }
}

/// Where browsers see what sessions serve.
fn previews(config: &Config, listen: SocketAddr) -> Option<PreviewHosts> {
    let by_port = || format!("http://localhost:{}", listen.port());
    PreviewHosts::parse(&config.preview_base.clone().unwrap_or_else(by_port)).ok()
}

/// What is in the `outputs/` of new workspaces. Read once: a server that could not give it does not start.
fn template(config: &Config) -> Result<Template> {
    let advised = |error: TemplateError| {
        let hint = error.hint().to_owned();
        Advised::new(format!("{:#}", anyhow::Error::from(error)), hint)
    };
    match &config.storage.outputs_template {
        Some(directory) => Ok(Template::read(directory).map_err(advised)?),
        None => Ok(skeleton()),
    }
}

/// How documents are converted.
#[must_use]
pub fn documents(config: &Config) -> DocumentOptions {
    let office = match &config.documents.libreoffice {
        Office::Auto => OfficeChoice::Auto,
        Office::Off => OfficeChoice::Off,
        Office::At(path) => OfficeChoice::At(path.clone()),
    };
    DocumentOptions { office, timeout: config.documents.timeout, ..DocumentOptions::default() }
}

pub(crate) fn runtime(
    config: &Config,
    directory: &Path,
    node: NodeId,
    listen: SocketAddr,
) -> Result<warren_runtime::Options> {
    let limits = &config.sandbox.limits;
    let usual = warren_runtime::Options::new(node, directory.to_owned());
    let uids = uids(config, directory)?.unwrap_or(UidRange { first: usual.first_uid, last: usual.last_uid });
    Ok(warren_runtime::Options {
        first_uid: uids.first,
        last_uid: uids.last,
        idle: config.sandbox.idle_timeout,
        health_interval: config.sandbox.health_interval,
        health_patience: config.sandbox.health_interval.min(Duration::from_secs(10)),
        restarts_per_hour: config.sandbox.max_restarts_per_hour,
        run_budget: config.runs.hard_budget,
        soft_share: config.runs.soft_budget.as_secs_f64() / config.runs.hard_budget.as_secs_f64(),
        approvals: config.runs.approvals,
        silence: config.runs.silence,
        max_sandboxes: config.sandbox.max_concurrent.map_or_else(usual_max_sandboxes, |max| max as usize),
        limits: Limits {
            memory_bytes: limits.memory_bytes,
            cpu_millis: limits.cpu_millis,
            pids: limits.pids,
            disk_bytes: limits.disk_bytes,
            inodes: limits.inodes,
            ..Limits::default()
        },
        required: required_layers(config),
        retention: Retention {
            versions: config.retention.versions,
            daily_days: config.retention.daily_days,
            deltas: Duration::from_secs(u64::from(config.retention.deltas_days) * 24 * 3600),
            recordings: Duration::from_secs(u64::from(config.retention.recordings_days) * 24 * 3600),
            grace: config.retention.grace,
            interval: config.retention.interval,
        },
        log_limits: LogLimits {
            per_run: config.storage.max_log_bytes_per_run,
            per_session: config.storage.max_log_bytes_per_session,
            per_project: config.storage.max_log_bytes_per_project,
        },
        recording_limits: RecordingLimits {
            per_run: config.models.max_recorded_bytes_per_run,
            per_session: config.models.max_recorded_bytes_per_session,
        },
        provider_tools: config.models.provider_tools,
        previews: previews(config, listen),
        knowledge: Some(KnowledgeOptions {
            base: config.knowledge.base.clone(),
            max_bytes: config.knowledge.max_bytes,
        }),
        documents: documents(config),
        providers: providers(config),
        template: Some(Arc::new(template(config)?)),
        excludes: config.excludes.clone().unwrap_or_else(|| usual.excludes.clone()),
        ..usual
    })
}

/// How many sandboxes a machine like this runs at once, if nobody has said.
fn usual_max_sandboxes() -> usize {
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok());
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    max_sandboxes_for(kib.unwrap_or(0), cpus)
}

/// One for each 512 MiB, at most 32 for each CPU, at least 4.
fn max_sandboxes_for(memory_kib: usize, cpus: usize) -> usize {
    (memory_kib / (512 << 10)).min(cpus * 32).max(4)
}

pub(crate) fn server(config: &Config, listen: SocketAddr) -> warren_server::Options {
    warren_server::Options {
        allowed_hosts: config.server.allowed_hosts.clone(),
        allowed_origins: config.server.allowed_origins.clone(),
        body_limit: usize::try_from(config.server.body_limit).unwrap_or(usize::MAX),
        secure_cookies: config.server.secure_cookies,
        preview_origins: config.preview_origins.clone(),
        previews: previews(config, listen),
        workspace_isolation: config.sandbox.workspace_isolation,
        ..warren_server::Options::new(listen)
    }
}

/// The layers the operator requires. The configuration has checked their names.
#[must_use]
pub fn required_layers(config: &Config) -> Vec<Layer> {
    Layer::OFFERED.into_iter().filter(|layer| config.sandbox.required.contains(&layer.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::max_sandboxes_for;

    #[test]
    fn usual_number_of_sandboxes_follows_memory_and_cpus() {
        const GIB: usize = 1 << 20;
        assert_eq!([0, GIB, 8 * GIB, 512 * GIB].map(|memory| max_sandboxes_for(memory, 2)), [4, 4, 16, 64]);
    }
}
