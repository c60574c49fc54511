//! Model providers and the models they offer.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A model provider. Its key is never shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderItem {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// Where its API begins.
    pub base_url: String,
    /// Whether there is a key.
    pub has_key: bool,
    /// Where the key comes from, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_source: Option<ProviderKeySource>,
    /// The last four characters of the key, if the key is long enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_ending: Option<String>,
    /// Something was set here and counts before the configuration; it can be removed.
    pub is_set: bool,
    /// The demo model answers instead, because there is nothing to ask the provider with.
    pub is_demo: bool,
    /// The environment variable that the server takes a key from at its start.
    pub variable: String,
    /// Why what was set is not used.
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

/// Sets the key and the base URL of a provider, whole: what is absent is not kept from before. So a key that was set is
/// never sent to another address than the one it was given for.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProviderPut {
    /// The key. It is kept encrypted and not shown again. None is sent if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    /// Where the API begins; where the configuration says if absent. Plain HTTP is for this machine only, unless
    /// `models.allow_http_base_url` allows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
}

impl std::fmt::Debug for ProviderPut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderPut").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

/// What a provider said when it was asked for its models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProviderTested {
    /// How it went.
    pub status: ProviderTestStatus,
    /// How many models it offers that sandboxes may ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<u64>,
    /// The same for people.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// How the test of a provider went.
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

/// The models that can be chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelList {
    /// By provider, then in the provider's order.
    pub models: Vec<ModelItem>,
    /// Providers that did not list their models.
    pub problems: Vec<ModelProblem>,
}

/// A model that can be chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelItem {
    /// The name to ask for it by.
    pub id: String,
    /// Whose it is; `demo` for the demo model, which answers where no key is set.
    pub provider: String,
    /// Its name for people, if it has another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// How many tokens it can be told at once, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// What it costs, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<ModelPrice>,
    /// The agents that can use it.
    pub agents: Vec<String>,
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelPrice {
    /// Input that came from no cache.
    pub input: f64,
    /// Output, thinking included.
    pub output: f64,
    /// Input that the provider's cache answered.
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
