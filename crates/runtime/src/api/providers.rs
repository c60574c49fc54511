//! Who answers model calls: keys and addresses that are set while the server runs, and the models to choose from.

use async_trait::async_trait;
// Part of this contract: a key that is not printed.
pub use warren_models::Secret as ProviderKey;

use super::SessionError;

/// Keys and addresses of model providers, and the models they offer.
#[async_trait]
pub trait ModelProviders: Send + Sync {
    /// All providers, and what is known of their keys.
    async fn provider_list(&self) -> Result<Vec<ProviderSummary>, SessionError>;
    /// Sets the key and the address of a provider. Counts for the next model call, before the configuration.
    async fn provider_set(
        &self,
        provider: &str,
        wanted: ProviderWish,
    ) -> Result<ProviderSummary, SessionError>;
    /// Removes what was set: the configuration counts again.
    async fn provider_unset(&self, provider: &str) -> Result<(), SessionError>;
    /// Asks a provider for its models, to see whether its key and its address are right.
    async fn provider_test(&self, provider: &str) -> Result<ProviderTest, SessionError>;
    /// The models that can be chosen.
    async fn model_list(&self) -> ModelCatalogue;
}

/// What is to be set for a provider, whole: what is absent is not kept from before.
#[derive(Debug, Clone, Default)]
pub struct ProviderWish {
    /// Its key; none is sent if absent.
    pub api_key: Option<ProviderKey>,
    /// Where its API begins; where the configuration says if absent.
    pub base_url: Option<String>,
}

/// A provider, without its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderSummary {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// Where its API begins.
    pub base_url: String,
    /// Where its key comes from; `None` if there is none.
    pub key_source: Option<KeySource>,
    /// The last four characters of its key, if the key is long.
    pub key_ending: Option<String>,
    /// Something was set while the server ran, and counts before the configuration.
    pub is_set: bool,
    /// The demo model answers instead.
    pub is_demo: bool,
    /// The variable that the configuration takes a key from.
    pub variable: String,
    /// Why what was set cannot be used.
    pub problem: Option<String>,
}

/// Where a provider's key comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySource {
    /// A file that the configuration names.
    Config,
    /// A variable of the server's environment.
    Environment,
    /// Set while the server ran.
    Page,
}

/// What a provider said when it was asked for its models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderTest {
    /// How it went.
    pub status: TestStatus,
    /// How many models it offers, of those that sandboxes may ask for.
    pub models: Option<usize>,
    /// The same for people.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// How the test of a provider went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestStatus {
    /// It listed its models.
    Ok,
    /// There is no key: the demo model answers.
    NoKey,
    /// It refuses the key.
    WrongKey,
    /// What answers there is not its API.
    WrongUrl,
    /// Nobody answers there.
    Unreachable,
    /// It has a problem of its own.
    Failed,
}

/// The models that can be chosen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelCatalogue {
    /// By provider, then in the provider's order.
    pub models: Vec<ModelSummary>,
    /// Providers that did not list theirs: name, what happened, what to do.
    pub problems: Vec<(String, String, Option<String>)>,
}

/// A model that can be chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSummary {
    /// The name to ask for it by.
    pub id: String,
    /// Whose it is; `demo` for the demo model.
    pub provider: String,
    /// Its name for people, if it has another one.
    pub display_name: Option<String>,
    /// How many tokens it can be told at once, if known.
    pub context_window: Option<u64>,
    /// US dollars for a million tokens of input, output, and input from a cache; if known.
    pub price: Option<[f64; 3]>,
    /// The agents that can use it.
    pub agents: Vec<String>,
}
