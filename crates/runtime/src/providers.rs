//! Keys and addresses of model providers that are set while the server runs, and the models they offer.
//!
//! What is set is a record in the store, so all servers that share it have it; its key is sealed with a key that is in a
//! file and not in the store. The model gateway asks before each call what counts now ([`Overrides`]), so that a change
//! counts for the next call of every server. What is set counts before the configuration, and the key of the one is never
//! sent to the address of the other.

mod answering;
mod catalogue;
mod key_file;

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use warren_domain::ErrorCode;
use warren_env::Env;
use warren_models::{Format, OpenSealError, Overrides, Secret, UpstreamOptions, checked_base_url};
use warren_store::{ProviderRecord, Providers as Records};

use crate::api::{KeySource, ProviderSummary, ProviderWish, SessionError};
pub(crate) use answering::formats;
use key_file::{KeyFile, KeyFileError};

/// What the configuration says about providers.
#[derive(Debug, Clone, Default)]
pub struct ProviderOptions {
    /// All there are.
    pub all: Vec<ConfiguredProvider>,
    /// The file with the key that seals what is set; made when something is set first.
    pub key_file: PathBuf,
    /// Addresses that are set may use plain HTTP, wherever they are.
    pub allow_http: bool,
}

/// A provider as the configuration has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredProvider {
    /// Its name in routes and records.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// The formats that it answers.
    pub formats: Vec<Format>,
    /// Where its API begins.
    pub base_url: String,
    /// Where its key comes from, if there is one.
    pub key_source: Option<KeySource>,
    /// The last characters of that key.
    pub key_ending: Option<String>,
    /// There is nothing to ask it with, so the demo model answers.
    pub is_demo: bool,
    /// The variable that a key is looked for in.
    pub variable: String,
}

/// The longest key that is taken.
const MAX_KEY: usize = 4096;

/// All providers. A cheap clone.
#[derive(Clone)]
pub(crate) struct Providers {
    inner: Arc<Inner>,
}

struct Inner {
    options: ProviderOptions,
    records: Arc<dyn Records>,
    env: Env,
    /// What was read last and opened without a problem, so that nothing is opened again for each call.
    opened: Mutex<Option<(Vec<ProviderRecord>, Vec<Setting>)>>,
}

/// What is set for a provider, opened.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    provider: String,
    base_url: Option<String>,
    /// The key, if one was set; or why it cannot be used.
    key: Result<Option<Secret>, String>,
}

impl Providers {
    pub(crate) fn new(options: ProviderOptions, records: Arc<dyn Records>, env: Env) -> Self {
        Self { inner: Arc::new(Inner { options, records, env, opened: Mutex::default() }) }
    }

    /// All, as they count now.
    pub(crate) async fn list(&self) -> Result<Vec<ProviderSummary>, SessionError> {
        let settings = self.settings().await?;
        Ok(self.inner.options.all.iter().map(|provider| summary(provider, &settings)).collect())
    }

    pub(crate) async fn set(
        &self,
        provider: &str,
        wanted: ProviderWish,
    ) -> Result<ProviderSummary, SessionError> {
        let known = self.find(provider)?;
        let Inner { options, records, env, .. } = &*self.inner;
        let base_url = wanted.base_url.as_deref().filter(|url| !url.trim().is_empty());
        let base_url = base_url.map(|url| checked_base_url(url, options.allow_http)).transpose();
        let base_url = base_url.map_err(|error| invalid(error.to_string(), error.hint()))?;
        if wanted.api_key.is_none() && base_url.is_none() {
            return Err(invalid("neither a key nor a base URL was given", "give one of them, or both"));
        }
        let sealed_key = match &wanted.api_key {
            Some(key) if !key.is_sendable() || key.n_bytes() > MAX_KEY => {
                return Err(invalid(
                    "the key is empty, too long, or has characters that no header can carry",
                    "copy the key from the provider's console, without spaces and line breaks",
                ));
            }
            Some(key) => Some(self.seal(key, &known.name, base_url.as_deref()).await?),
            None => None,
        };
        let record =
            ProviderRecord { provider: known.name.clone(), base_url, sealed_key, updated_at: env.now() };
        let kept = records.put_provider(&record).await;
        kept.map_err(|error| SessionError::internal("keep what was set for the provider", error))?;
        tracing::info!(provider, "the key or the base URL of a model provider was set");
        self.summary_of(&known).await
    }

    pub(crate) async fn unset(&self, provider: &str) -> Result<(), SessionError> {
        let known = self.find(provider)?;
        let removed = self.inner.records.remove_provider(&known.name).await;
        match removed
            .map_err(|error| SessionError::internal("remove what was set for the provider", error))?
        {
            true => {
                tracing::info!(provider, "what was set for a model provider was removed");
                Ok(())
            }
            false => Err(SessionError::not_found("key or base URL set for the provider", provider)),
        }
    }

    /// What an operator should know of providers: a problem and what to do about it.
    pub(crate) async fn advice(&self) -> Vec<(String, String)> {
        let all = self.list().await.unwrap_or_default();
        all.into_iter().filter_map(advice_about).collect()
    }

    fn find(&self, provider: &str) -> Result<ConfiguredProvider, SessionError> {
        let known = self.inner.options.all.iter().find(|known| known.name == provider);
        known.cloned().ok_or_else(|| SessionError::not_found("model provider", provider.escape_debug()))
    }

    async fn summary_of(&self, provider: &ConfiguredProvider) -> Result<ProviderSummary, SessionError> {
        Ok(summary(provider, &self.settings().await?))
    }

    /// Seals a key for a provider at an address. Two key files in use would make each server's keys unreadable to the
    /// other, so one that differs from that of what is sealed already is not used.
    async fn seal(&self, key: &Secret, provider: &str, url: Option<&str>) -> Result<String, SessionError> {
        let Inner { options, env, .. } = &*self.inner;
        let sealing = self.key_file().read_or_make(env).map_err(|error| key_file_failed(&error))?;
        for record in &self.records().await? {
            let sealed = record.sealed_key.as_deref();
            let place = place(&record.provider, record.base_url.as_deref());
            if sealed.is_some_and(|sealed| sealing.open(sealed, &place) == Err(OpenSealError::OtherKey)) {
                let message = format!(
                    "the key of `{}` was stored with another key file than this server's `{}`",
                    record.provider,
                    options.key_file.display()
                );
                return Err(SessionError::Invalid {
                    code: ErrorCode::Conflict,
                    message,
                    hint: Some(OTHER_FILE.to_owned()),
                });
            }
        }
        let sealed = sealing.seal(key, &place(provider, url), env);
        sealed.map_err(|error| SessionError::internal("seal the key", error))
    }

    fn key_file(&self) -> KeyFile {
        KeyFile { path: self.inner.options.key_file.clone() }
    }

    async fn records(&self) -> Result<Vec<ProviderRecord>, SessionError> {
        let read = self.inner.records.providers().await;
        read.map_err(|error| SessionError::internal("read what was set for model providers", error))
    }

    /// What is set now, opened.
    async fn settings(&self) -> Result<Vec<Setting>, SessionError> {
        let records = self.records().await?;
        let mut opened = self.inner.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, settings)) = opened.as_ref().filter(|(known, _)| *known == records) {
            return Ok(settings.clone());
        }
        let settings: Vec<_> = records.iter().map(|record| self.open(record)).collect();
        // What could not be opened is tried again: the key file may be put there any time.
        let all_opened = settings.iter().all(|setting| setting.key.is_ok());
        *opened = all_opened.then(|| (records, settings.clone()));
        Ok(settings)
    }

    fn open(&self, record: &ProviderRecord) -> Setting {
        let place = place(&record.provider, record.base_url.as_deref());
        let key = record.sealed_key.as_deref().map(|sealed| {
            let sealing = self.key_file().read().map_err(|error| error.to_string())?;
            sealing.open(sealed, &place).map_err(|error| format!("the stored key cannot be read: {error}"))
        });
        Setting { provider: record.provider.clone(), base_url: record.base_url.clone(), key: key.transpose() }
    }
}

#[async_trait]
impl Overrides for Providers {
    async fn current(&self) -> Option<Vec<(Format, UpstreamOptions)>> {
        let settings = match self.settings().await {
            Ok(settings) => settings,
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(
                    error,
                    "failed to read what was set for model providers; the last known counts"
                );
                return None;
            }
        };
        let mut all = Vec::new();
        for setting in settings {
            let Some(known) = self.inner.options.all.iter().find(|known| known.name == setting.provider)
            else {
                continue;
            };
            let api_key = match setting.key {
                Ok(key) => key,
                Err(problem) => {
                    tracing::warn!(
                        provider = known.name,
                        problem,
                        "what was set for a model provider is not used"
                    );
                    continue;
                }
            };
            let base_url = setting.base_url.unwrap_or_else(|| known.base_url.clone());
            let options = UpstreamOptions::Http { base_url, api_key };
            all.extend(known.formats.iter().map(|format| (*format, options.clone())));
        }
        Some(all)
    }
}

const OTHER_FILE: &str = "servers that share a database need the same key file: copy it from the other server, or name a \
     shared one in `models.key_file`; if it is lost, remove the stored keys first";

/// What a sealed key belongs to. A key is not opened for another address than it was given for.
fn place(provider: &str, base_url: Option<&str>) -> String {
    format!("model provider {provider}\n{}", base_url.unwrap_or_default())
}

fn summary(provider: &ConfiguredProvider, settings: &[Setting]) -> ProviderSummary {
    let ConfiguredProvider { name, label, base_url, key_source, key_ending, is_demo, variable, .. } =
        provider.clone();
    let usual = ProviderSummary {
        name,
        label,
        base_url,
        key_source,
        key_ending,
        is_set: false,
        is_demo,
        variable,
        problem: None,
    };
    let Some(setting) = settings.iter().find(|setting| setting.provider == provider.name) else {
        return usual;
    };
    match &setting.key {
        Err(problem) => ProviderSummary { is_set: true, problem: Some(problem.clone()), ..usual },
        Ok(key) => ProviderSummary {
            base_url: setting.base_url.clone().unwrap_or(usual.base_url),
            key_source: key.as_ref().map(|_| KeySource::Page),
            key_ending: key.as_ref().and_then(Secret::ending),
            is_set: true,
            is_demo: false,
            ..usual
        },
    }
}

fn advice_about(provider: ProviderSummary) -> Option<(String, String)> {
    let ProviderSummary { name, label, variable, .. } = &provider;
    match &provider.problem {
        Some(problem) => {
            Some((format!("what was set for {label} is not used: {problem}"), OTHER_FILE.to_owned()))
        }
        None if provider.is_demo => Some((
            format!("no API key for {label}: only the demo model answers, with scripted replies"),
            format!(
                "add one in the page under Settings or with `warren keys set {name}`, or set {variable} and restart `warren up`"
            ),
        )),
        None => None,
    }
}

fn invalid(message: impl Into<String>, hint: &str) -> SessionError {
    SessionError::Invalid {
        code: ErrorCode::BadRequest,
        message: message.into(),
        hint: Some(hint.to_owned()),
    }
}

fn key_file_failed(error: &KeyFileError) -> SessionError {
    let message = match error {
        KeyFileError::Io { source, .. } => format!("{error}: {source}"),
        _ => error.to_string(),
    };
    SessionError::Invalid { code: ErrorCode::Unavailable, message, hint: None }
}

#[cfg(test)]
mod tests;
