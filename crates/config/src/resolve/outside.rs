//! What is outside of this machine: where sandboxes may go, and where agents' programs come from.

use std::path::{Path, PathBuf};

use super::{BlobStore, invalid};
use crate::{
    ConfigError, Environment, Secret,
    raw::{RawAgents, RawEgress},
};

const DEFAULT_REGISTRY: &str = "https://registry.npmjs.org";

/// The egress proxy's part. Whoever uses the rules reads them; here only what cannot be one is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Egress {
    /// What every sandbox may reach.
    pub allow: Vec<String>,
    /// Exact places that may be reached although they are private.
    pub allow_private: Vec<String>,
}

/// The part of whoever gets agents' programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agents {
    /// Where they are installed.
    pub directory: PathBuf,
    /// The npm registry, by its URL; the URL may hold a password.
    pub registry: Secret,
    /// The registry may be asked by plain HTTP, wherever it is.
    pub allow_http_registry: bool,
    /// Where downloaded packages are kept, if anywhere.
    pub cache_directory: Option<PathBuf>,
}

pub(super) fn egress(raw: RawEgress) -> Result<Egress, ConfigError> {
    let (allow, allow_private) = (raw.allow.unwrap_or_default(), raw.allow_private.unwrap_or_default());
    let is_host = |text: &str| !text.is_empty() && text != "*" && !text.contains(['/', ' ', '@', ',']);
    if let Some(rule) = allow.iter().find(|rule| !is_host(rule)) {
        return Err(invalid(
            "egress.allow",
            rule,
            "write `example.com`, `*.example.com` or an address, with `:port` for ports other than 80 and 443",
        ));
    }
    let has_port = |text: &str| text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if let Some(place) = allow_private.iter().find(|place| {
        let place = place.as_str();
        !is_host(place) || !has_port(place) || place.contains('*')
    }) {
        return Err(invalid(
            "egress.allow_private",
            place,
            "write one host or address with its port, such as `10.0.0.5:8080`",
        ));
    }
    Ok(Egress { allow, allow_private })
}

/// Where bytes are kept. The keys to a bucket come from the variables that every program for such buckets reads.
pub(super) fn blobs(
    written: Option<String>,
    directory: &Path,
    environment: &Environment,
) -> Result<Option<BlobStore>, ConfigError> {
    let refused = |value: &str, hint| {
        Err(ConfigError::Value { key: "storage.blobs_url", value: value.to_owned(), hint })
    };
    let Some(url) = written else { return Ok(None) };
    if let Some(path) = url.strip_prefix("file://").or(url.strip_prefix("file:")).filter(|it| !it.is_empty())
    {
        let url = format!("file:{}", directory.join(path).display());
        return Ok(Some(BlobStore { url, keys: None }));
    }
    if !url.starts_with("s3://") || url.contains('@') {
        return refused(
            "of that form",
            "write `s3://BUCKET/PREFIX?region=REGION&endpoint=URL` or `file:PATH`",
        );
    }
    let variable = |name| environment.get(name);
    match (variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY")) {
        (Some(id), Some(key)) => Ok(Some(BlobStore { url, keys: Some((id.to_owned(), Secret::new(key))) })),
        _ => refused(
            "a bucket without its keys",
            "export AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY before the server starts",
        ),
    }
}

pub(super) fn agents(
    raw: RawAgents,
    directory: &Path,
    environment: &Environment,
) -> Result<Agents, ConfigError> {
    // npm itself reads both spellings.
    let from_npm = || environment.get("NPM_CONFIG_REGISTRY").or(environment.get("npm_config_registry"));
    let registry =
        raw.registry.or_else(|| from_npm().map(str::to_owned)).unwrap_or_else(|| DEFAULT_REGISTRY.to_owned());
    if !registry.starts_with("https://") && !registry.starts_with("http://") {
        // Not the text itself: it may hold a password.
        return Err(ConfigError::Value {
            key: "agents.registry",
            value: "of that scheme".to_owned(),
            hint: "write a URL that begins with `https://`",
        });
    }
    Ok(Agents {
        directory: directory.join(raw.directory.unwrap_or_else(|| PathBuf::from("agents"))),
        registry: Secret::new(registry.trim_end_matches('/')),
        allow_http_registry: raw.allow_http_registry.unwrap_or(false),
        cache_directory: raw.cache_directory.map(|path| directory.join(path)),
    })
}
