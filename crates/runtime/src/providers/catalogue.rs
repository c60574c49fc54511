//! The models that can be chosen, and what providers say when they are asked.

use futures::future::join_all;
use warren_agents::{Adapter, ModelApi, adapters};
use warren_models::{Format, Gateway, Offer, OfferError, OfferedModel, context_window, demo};

use super::{ConfiguredProvider, Providers};
use crate::api::{ModelCatalogue, ModelSummary, ProviderTest, SessionError, TestStatus};

/// The provider of the demo model.
const DEMO: &str = "demo";

impl Providers {
    /// Asks a provider for its models now.
    pub(crate) async fn test(&self, gateway: &Gateway, provider: &str) -> Result<ProviderTest, SessionError> {
        let known = self.find(provider)?;
        let Some(format) = known.formats.first() else {
            return Err(SessionError::not_found("model provider", provider));
        };
        Ok(tested(&known, gateway.offer(*format, true).await))
    }

    /// The models that can be chosen, by provider.
    pub(crate) async fn catalogue(&self, gateway: &Gateway) -> ModelCatalogue {
        let all = &self.inner.options.all;
        let asked = all.iter().map(|provider| async {
            match provider.formats.first() {
                Some(format) => gateway.offer(*format, false).await,
                None => Ok(Offer::Models(Vec::new())),
            }
        });
        let mut catalogue = ModelCatalogue::default();
        let mut scripted: Vec<String> = Vec::new();
        for (provider, offer) in all.iter().zip(join_all(asked).await) {
            match offer {
                Ok(Offer::Demo) => {
                    let others = agents(provider, demo::MODEL).into_iter();
                    let others: Vec<_> = others.filter(|agent| !scripted.contains(agent)).collect();
                    scripted.extend(others);
                }
                Ok(Offer::Models(models)) => {
                    let models = models.into_iter().map(|model| priced(provider, model, gateway));
                    // One that no agent can ask for is not worth showing.
                    catalogue.models.extend(models.filter(|model| !model.agents.is_empty()));
                }
                Err(error) => {
                    // Whoever may see sessions reads this, and where a provider is is for administrators.
                    let hint = format!(
                        "an administrator can find out more with `warren keys test {}`",
                        provider.name
                    );
                    catalogue.problems.push((provider.name.clone(), error.to_string(), Some(hint)));
                }
            }
        }
        if !scripted.is_empty() {
            catalogue.models.push(ModelSummary {
                id: demo::MODEL.to_owned(),
                provider: DEMO.to_owned(),
                display_name: Some("Demo model".to_owned()),
                context_window: context_window(demo::MODEL),
                price: Some([0.0; 3]),
                agents: scripted,
            });
        }
        catalogue
    }
}

fn priced(provider: &ConfiguredProvider, model: OfferedModel, gateway: &Gateway) -> ModelSummary {
    ModelSummary {
        provider: provider.name.clone(),
        context_window: model.context_window.or_else(|| context_window(&model.id)),
        price: gateway.price(&model.id).map(|price| [price.input, price.output, price.cache_read]),
        agents: agents(provider, &model.id),
        display_name: model.display_name,
        id: model.id,
    }
}

/// The agents that would ask this provider for this model.
pub(super) fn agents(provider: &ConfiguredProvider, model: &str) -> Vec<String> {
    let asks =
        |adapter: &&&dyn Adapter| provider.formats.iter().any(|format| adapter.asks_for(api(*format), model));
    adapters().iter().filter(asks).map(|adapter| adapter.agent_type().0).collect()
}

pub(super) fn api(format: Format) -> ModelApi {
    match format {
        Format::Anthropic => ModelApi::Anthropic,
        Format::Gemini => ModelApi::Gemini,
        Format::OpenAiChat => ModelApi::OpenAiChat,
        Format::OpenAiResponses => ModelApi::OpenAiResponses,
    }
}

fn tested(provider: &ConfiguredProvider, offer: Result<Offer, OfferError>) -> ProviderTest {
    let label = &provider.label;
    let (status, models, message) = match &offer {
        Ok(Offer::Demo) => {
            (TestStatus::NoKey, None, format!("no key is set for {label}: only the demo model answers"))
        }
        Ok(Offer::Models(models)) => {
            let n = models.len();
            let word = if n == 1 { "model" } else { "models" };
            (TestStatus::Ok, Some(n), format!("{label} answers and offers {n} {word}"))
        }
        Err(error) => (status_of(error), None, error.to_string()),
    };
    let hint = match &offer {
        Ok(Offer::Demo) => Some("set a key".to_owned()),
        Ok(Offer::Models(_)) => None,
        Err(error) => Some(hint(provider, error)),
    };
    ProviderTest { status, models, message, hint }
}

fn status_of(error: &OfferError) -> TestStatus {
    match error {
        OfferError::WrongKey(_) => TestStatus::WrongKey,
        OfferError::Unreachable(_) => TestStatus::Unreachable,
        OfferError::WrongUrl(_) => TestStatus::WrongUrl,
        OfferError::Failed(_) => TestStatus::Failed,
    }
}

fn hint(provider: &ConfiguredProvider, error: &OfferError) -> String {
    match error {
        OfferError::WrongKey(_) => "check the key in the provider's console, and set it again".to_owned(),
        OfferError::Unreachable(_) => "check the base URL, and the server's way to the internet".to_owned(),
        OfferError::WrongUrl(_) => {
            format!("check the base URL; by default it is `{}`", provider.base_url)
        }
        OfferError::Failed(_) => "try again later".to_owned(),
    }
}
