//! Model providers and the models they offer.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A model provider. Its key is never shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderItem {
    /// Its name.
    pub name: String,
    /// Its display name.
    pub label: String,
    /// The base URL of its API.
    pub base_url: String,
    /// Whether there is a key.
    pub has_key: bool,
    /// Where the key comes from, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_source: Option<ProviderKeySource>,
    /// The last four characters of the key, if the key is long enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_ending: Option<String>,
    /// A key or base URL is stored and takes precedence over the configuration; it can be removed.
    pub is_set: bool,
    /// The demo model answers instead, because there is no key and no base URL.
    pub is_demo: bool,
    /// The environment variable from which the server reads a key at its start.
    pub variable: String,
    /// Why the stored key is not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Where a provider's key comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKeySource {
    /// A file that the configuration names.
    Config,
    /// A variable of the server's environment.
    Environment,
    /// Set in the page or by `warren keys`.
    Page,
}

/// All model providers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderList {
    /// All of them.
    pub providers: Vec<ProviderItem>,
}

/// Sets the key and the base URL of a provider together: absent fields are cleared. So a stored key is never sent to a
/// different address than its own.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProviderPut {
    /// The key. It is stored encrypted and never shown again. If absent, requests are sent without a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    /// The base URL of the API; the configured one if absent. Plain HTTP is allowed for this machine only, unless
    /// `models.allow_http_base_url` is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
}

impl std::fmt::Debug for ProviderPut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderPut").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

/// The result of asking a provider for its models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderTested {
    /// The result.
    pub status: ProviderTestStatus,
    /// The number of its models that sandboxes may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<u64>,
    /// The same for people.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The result of a provider test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum ProviderTestStatus {
    /// It listed its models.
    Ok,
    /// There is no key: the demo model answers.
    NoKey,
    /// It refuses the key.
    WrongKey,
    /// What answers at the base URL is not the provider's API.
    WrongUrl,
    /// Nobody answers at the base URL.
    Unreachable,
    /// The provider has a problem of its own.
    Failed,
}

/// The available models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelList {
    /// By provider, then in the provider's order.
    pub models: Vec<ModelItem>,
    /// Providers that did not list their models.
    pub problems: Vec<ModelProblem>,
}

/// An available model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelItem {
    /// Its name in requests.
    pub id: String,
    /// Its provider; `demo` for the demo model, which answers if no key is set.
    pub provider: String,
    /// Its display name, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The size of its context window in tokens, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// Its price, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<ModelPrice>,
    /// The agents that can use it.
    pub agents: Vec<String>,
}

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelPrice {
    /// Input without cached tokens.
    pub input: f64,
    /// Output, thinking included.
    pub output: f64,
    /// Input from the provider's cache.
    pub cache_read: f64,
}

/// A provider that did not list its models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelProblem {
    /// Its name.
    pub provider: String,
    /// What happened.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}
