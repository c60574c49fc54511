//! Refuses a chosen model that nobody can answer for, before anything starts.

use warren_agents::Adapter;
use warren_domain::ErrorCode;
use warren_models::{Format, Gateway, Offer, demo};

use super::{ConfiguredProvider, Providers, catalogue::api};
use crate::api::SessionError;

/// The formats in which an agent asks for a model.
pub(crate) fn formats(adapter: &dyn Adapter, model: &str) -> Vec<Format> {
    Format::ALL.into_iter().filter(|format| adapter.asks_for(api(*format), model)).collect()
}

impl Providers {
    /// Checks that a model can be asked for by an agent: that a provider it would ask has a key. The provider decides
    /// whether there is such a model. The demo model needs no key.
    ///
    /// # Errors
    /// When the demo model would answer in its place.
    pub(crate) async fn check_model(
        &self,
        gateway: &Gateway,
        adapter: &dyn Adapter,
        model: &str,
    ) -> Result<(), SessionError> {
        // A replay is answered from recordings, whichever keys there are.
        if gateway.is_replaying() || demo::is_named(model) {
            return Ok(());
        }
        let formats = formats(adapter, model);
        let answering = gateway.describe().await;
        let has_answer = |format: &Format| answering.iter().any(|it| it.format == *format && !it.is_demo);
        if formats.iter().any(has_answer) {
            return Ok(());
        }
        let agent = adapter.agent_type();
        let offering = self.offering(gateway, model).await;
        let all = &self.inner.options.all;
        let asked = all.iter().find(|it| it.formats.iter().any(|format| formats.contains(format)));
        let (message, hint) = match (offering, asked) {
            (Some((provider, agents)), _) => (
                format!("the agent `{agent}` cannot use the model `{model}` of {}", provider.label),
                format!(
                    "use one of the agents that can ({}), or choose a model from `warren models --agent {agent}`",
                    agents.join(", ")
                ),
            ),
            (None, Some(provider)) => (
                format!(
                    "the model `{model}` cannot answer: the agent `{agent}` asks {} for it, and there is no key for {}",
                    provider.label, provider.label
                ),
                format!(
                    "store a key in the page under Settings or with `warren keys set {}`, or choose a model from \
                     `warren models --agent {agent}`",
                    provider.name
                ),
            ),
            // A server that was made without providers has only the demo model.
            (None, None) => (
                format!("the model `{model}` cannot answer: no provider is set up for the agent `{agent}`"),
                format!("choose a model from `warren models --agent {agent}`"),
            ),
        };
        Err(SessionError::Invalid { code: ErrorCode::BadRequest, message, hint: Some(hint) })
    }

    /// The provider that lists a model, and the agents that can ask it for that.
    async fn offering(&self, gateway: &Gateway, model: &str) -> Option<(&ConfiguredProvider, Vec<String>)> {
        for provider in &self.inner.options.all {
            let Some(format) = provider.formats.first() else { continue };
            let Ok(Offer::Models(models)) = gateway.offer(*format, false).await else { continue };
            let agents = super::catalogue::agents(provider, model);
            if !agents.is_empty() && models.iter().any(|offered| offered.id == model) {
                return Some((provider, agents));
            }
        }
        None
    }
}
