//! Who answers the agents, and what it costs.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{MIB, invalid};
use crate::{
    ConfigError, Environment, Secret,
    quantity::Bytes,
    raw::{RawModels, RawPrice, RawProvider},
};

/// The model gateway's part.
#[derive(Debug, Clone, PartialEq)]
pub struct Models {
    /// Who answers calls in the Anthropic Messages format.
    pub anthropic: Provider,
    /// Who answers calls in Gemini's format.
    pub gemini: Provider,
    /// Who answers OpenAI's chat completions.
    pub openai: Provider,
    /// Who answers OpenAI's responses; the same as `openai` unless something else was written.
    pub openai_responses: Provider,
    /// Prices by the beginning of a model's name, in its order.
    pub prices: Vec<(String, Price)>,
    /// How many bytes the recordings of one run may take.
    pub max_recorded_bytes_per_run: u64,
    /// The same for all recordings of a session that are kept.
    pub max_recorded_bytes_per_session: u64,
    /// The file with the key that encrypts what is set for providers while the server runs.
    pub key_file: PathBuf,
    /// Addresses that are set while the server runs may use plain HTTP.
    pub allow_http_base_url: bool,
    /// Whether all sessions may use tools that providers run.
    pub provider_tools: bool,
    /// How long the demo model waits before each piece of an answer.
    pub demo_delay: Duration,
}

/// How to reach a provider's API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// Where it begins.
    pub base_url: String,
    /// The variable that is looked at for the key, for those who tell users what is missing.
    pub api_key_env: String,
    /// What it knows us by.
    pub credentials: Credentials,
    /// The key is that of a file, not of a variable.
    pub has_key_file: bool,
    /// Patterns of the models that may be asked for; `None`: those that are known.
    pub allow: Option<Vec<String>>,
}

/// What a provider knows us by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credentials {
    /// A key.
    Key(Secret),
    /// Nothing: the operator named an address that needs none.
    NotNeeded,
    /// There is none, so the demo model answers.
    Missing,
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Input that came from no cache.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input that the provider's cache answered.
    pub cache_read: f64,
    /// Input written into the cache.
    pub cache_write: f64,
    /// Input written into the cache for an hour.
    pub cache_write_long: f64,
}

/// What is customary with a provider, and how its keys are named in the file.
struct Customs {
    /// The keys' names, for errors.
    base_url_key: &'static str,
    api_key_file_key: &'static str,
    default_url: &'static str,
    /// The variable that its own programs take the address from.
    url_variable: &'static str,
    /// The variables that its own programs take the key from; the first counts before the others.
    key_variables: &'static [&'static str],
}

const ANTHROPIC: Customs = Customs {
    base_url_key: "models.anthropic.base_url",
    api_key_file_key: "models.anthropic.api_key_file",
    default_url: "https://api.anthropic.com",
    url_variable: "ANTHROPIC_BASE_URL",
    key_variables: &["ANTHROPIC_API_KEY"],
};

const GEMINI: Customs = Customs {
    base_url_key: "models.gemini.base_url",
    api_key_file_key: "models.gemini.api_key_file",
    default_url: "https://generativelanguage.googleapis.com",
    url_variable: "GOOGLE_GEMINI_BASE_URL",
    key_variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
};

const OPENAI: Customs = Customs {
    base_url_key: "models.openai.base_url",
    api_key_file_key: "models.openai.api_key_file",
    default_url: "https://api.openai.com/v1",
    url_variable: "OPENAI_BASE_URL",
    key_variables: &["OPENAI_API_KEY"],
};

const OPENAI_RESPONSES: Customs = Customs {
    base_url_key: "models.openai_responses.base_url",
    api_key_file_key: "models.openai_responses.api_key_file",
    ..OPENAI
};

pub(super) fn resolve(
    raw: RawModels,
    directory: &Path,
    environment: &Environment,
) -> Result<Models, ConfigError> {
    let prices = raw.prices.into_iter().map(|(prefix, row)| Ok((prefix, price(&row)?)));
    let responses = or_like(raw.openai_responses, &raw.openai);
    let provider = |raw, customs: &Customs| provider(raw, customs, directory, environment);
    Ok(Models {
        anthropic: provider(raw.anthropic, &ANTHROPIC)?,
        gemini: provider(raw.gemini, &GEMINI)?,
        openai: provider(raw.openai, &OPENAI)?,
        openai_responses: provider(responses, &OPENAI_RESPONSES)?,
        prices: prices.collect::<Result<_, ConfigError>>()?,
        max_recorded_bytes_per_run: bytes(raw.max_recorded_bytes_per_run, 256),
        max_recorded_bytes_per_session: bytes(raw.max_recorded_bytes_per_session, 1024),
        key_file: directory.join(raw.key_file.unwrap_or_else(|| PathBuf::from("providers.key"))),
        allow_http_base_url: raw.allow_http_base_url.unwrap_or(false),
        provider_tools: raw.provider_tools.unwrap_or(false),
        demo_delay: Duration::from_millis(raw.demo.delay_milliseconds.unwrap_or(4)),
    })
}

pub(super) fn bytes(written: Option<Bytes>, default_mib: u64) -> u64 {
    written.map_or(default_mib * MIB, |Bytes(bytes)| bytes)
}

/// What was not written for a provider is taken from another one. But the key that was written for that one is not sent to
/// an address of this one's own.
fn or_like(written: RawProvider, other: &RawProvider) -> RawProvider {
    let has_key = written.api_key_env.is_some() || written.api_key_file.is_some();
    let written = RawProvider { allow: written.allow.or_else(|| other.allow.clone()), ..written };
    match written {
        RawProvider { base_url: None, allow, .. } if !has_key => RawProvider { allow, ..other.clone() },
        RawProvider { base_url: None, .. } => RawProvider { base_url: other.base_url.clone(), ..written },
        RawProvider { .. } => written,
    }
}

fn provider(
    raw: RawProvider,
    customs: &Customs,
    directory: &Path,
    environment: &Environment,
) -> Result<Provider, ConfigError> {
    let variables: Vec<&str> = match &raw.api_key_env {
        Some(name) => vec![name],
        None => customs.key_variables.to_vec(),
    };
    // The one that has the key, else the one to tell users about.
    let found = variables.iter().copied().find(|name| environment.get(name).is_some());
    let api_key_env = found.or(variables.first().copied()).unwrap_or_default().to_owned();
    let key = match &raw.api_key_file {
        Some(path) => Some(read_key(customs.api_key_file_key, &directory.join(path))?),
        None => environment.get(&api_key_env).map(Secret::new),
    };
    let credentials = match key {
        Some(key) => Credentials::Key(key),
        // An address from the provider's own variable says nothing about keys: it is set on many machines.
        None if raw.base_url.is_some() => Credentials::NotNeeded,
        None => Credentials::Missing,
    };
    let base_url = raw
        .base_url
        .or_else(|| environment.get(customs.url_variable).map(str::to_owned))
        .unwrap_or_else(|| customs.default_url.to_owned());
    if !base_url.starts_with("https://") && !base_url.starts_with("http://") {
        return Err(invalid(customs.base_url_key, base_url, "write a URL that begins with `https://`"));
    }
    let base_url = base_url.trim_end_matches('/').to_owned();
    let has_key_file = raw.api_key_file.is_some();
    Ok(Provider { base_url, api_key_env, credentials, has_key_file, allow: raw.allow })
}

fn read_key(key: &'static str, path: &Path) -> Result<Secret, ConfigError> {
    let text = fs::read_to_string(path).map_err(|source| ConfigError::SecretFile {
        key,
        path: path.to_owned(),
        source,
    })?;
    match text.trim() {
        "" => Err(invalid(key, path.display(), "the file is empty: it must contain the key")),
        found => Ok(Secret::new(found)),
    }
}

fn price(raw: &RawPrice) -> Result<Price, ConfigError> {
    let price = Price {
        input: raw.input,
        output: raw.output,
        cache_read: raw.cache_read.unwrap_or(raw.input * 0.1),
        cache_write: raw.cache_write.unwrap_or(raw.input * 1.25),
        cache_write_long: raw.cache_write_long.unwrap_or(raw.input * 2.0),
    };
    let all = [price.input, price.output, price.cache_read, price.cache_write, price.cache_write_long];
    match all.into_iter().find(|dollars| !dollars.is_finite() || *dollars < 0.0) {
        None => Ok(price),
        Some(dollars) => Err(invalid("models.prices", dollars, "a price is a number of dollars, 0 or more")),
    }
}
