//! Who answers the agents, and what it costs.

use std::{fs, path::Path, time::Duration};

use super::invalid;
use crate::{
    ConfigError, Environment, Secret,
    raw::{RawAnthropic, RawModels, RawPrice},
};

const DEFAULT_URL: &str = "https://api.anthropic.com";
const DEFAULT_VARIABLE: &str = "ANTHROPIC_API_KEY";

/// The model gateway's part.
#[derive(Debug, Clone, PartialEq)]
pub struct Models {
    /// Who answers calls in the Anthropic Messages format.
    pub anthropic: Anthropic,
    /// Prices by the beginning of a model's name, in its order.
    pub prices: Vec<(String, Price)>,
    /// How long the demo model waits before each piece of an answer.
    pub demo_delay: Duration,
}

/// How to reach the Anthropic API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anthropic {
    /// Where it begins.
    pub base_url: String,
    /// The variable that is looked at for the key, for those who tell users what is missing.
    pub api_key_env: String,
    /// What it knows us by.
    pub credentials: Credentials,
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

pub(super) fn resolve(
    raw: RawModels,
    directory: &Path,
    environment: &Environment,
) -> Result<Models, ConfigError> {
    let prices = raw.prices.into_iter().map(|(prefix, row)| Ok((prefix, price(&row)?)));
    Ok(Models {
        anthropic: anthropic(raw.anthropic, directory, environment)?,
        prices: prices.collect::<Result<_, ConfigError>>()?,
        demo_delay: Duration::from_millis(raw.demo.delay_milliseconds.unwrap_or(4)),
    })
}

fn anthropic(
    raw: RawAnthropic,
    directory: &Path,
    environment: &Environment,
) -> Result<Anthropic, ConfigError> {
    let api_key_env = raw.api_key_env.unwrap_or_else(|| DEFAULT_VARIABLE.to_owned());
    let key = match &raw.api_key_file {
        Some(path) => Some(read_key(&directory.join(path))?),
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
        .or_else(|| environment.get("ANTHROPIC_BASE_URL").map(str::to_owned))
        .unwrap_or_else(|| DEFAULT_URL.to_owned());
    if !base_url.starts_with("https://") && !base_url.starts_with("http://") {
        return Err(invalid(
            "models.anthropic.base_url",
            base_url,
            "write a URL that begins with `https://`",
        ));
    }
    Ok(Anthropic { base_url: base_url.trim_end_matches('/').to_owned(), api_key_env, credentials })
}

fn read_key(path: &Path) -> Result<Secret, ConfigError> {
    const KEY: &str = "models.anthropic.api_key_file";
    let text = fs::read_to_string(path).map_err(|source| ConfigError::SecretFile {
        key: KEY,
        path: path.to_owned(),
        source,
    })?;
    match text.trim() {
        "" => Err(invalid(KEY, path.display(), "the file is empty: it must hold the key")),
        key => Ok(Secret::new(key)),
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
