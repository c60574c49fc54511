//! Refuses what an agent could only ignore, and a model that cannot answer, before anything starts.

use warren_domain::{AgentType, Content, ErrorCode, PermissionMode, RunOptions};

use super::{
    SessionTask,
    requests::{Failure, merged},
    start::load_profile,
};
use crate::{api::SessionError, options::Shared};

impl SessionTask {
    /// Checks what a message or a change of the session asks of its agent.
    pub(super) fn check_accepted(
        &self,
        mode: Option<PermissionMode>,
        content: Option<&Content>,
    ) -> Result<(), Failure> {
        let agent = &self.identity.agent_type;
        accepted(agent, mode.unwrap_or_default(), content).map_err(Failure::Refused)
    }

    /// Checks that the model of a message can answer: its own, else the session's, else the profile's.
    pub(super) async fn check_model(&self, message: &RunOptions) -> Result<(), Failure> {
        let own = self.session_options().await;
        let own = own
            .map_err(|error| Failure::Refused(SessionError::internal("read the session's options", error)))?;
        let mut model = merged(&own, message).model;
        if model.is_none() {
            let profile = load_profile(&self.identity, &self.shared).await;
            model = profile.map_err(|failure| Failure::Refused(failure.to_error()))?.model;
        }
        let agent = &self.identity.agent_type;
        check_model(&self.shared, agent, model.as_deref()).await.map_err(Failure::Refused)
    }

    /// Checks the model of the session's new options, unless it is the one it has: whoever changes something else is not
    /// stopped by a key that is gone.
    pub(super) async fn check_new_model(&self, options: &RunOptions) -> Result<(), Failure> {
        let own = self.session_options().await;
        if own.is_ok_and(|own| own.model == options.model) { Ok(()) } else { self.check_model(options).await }
    }
}

/// Checks what is asked of an agent. One that nobody knows is refused elsewhere.
pub(crate) fn accepted(
    agent: &AgentType,
    mode: PermissionMode,
    content: Option<&Content>,
) -> Result<(), SessionError> {
    let Some(adapter) = warren_agents::adapter(agent.as_str()) else { return Ok(()) };
    adapter.accepts(mode, content).map_err(|error| SessionError::Invalid {
        code: ErrorCode::BadRequest,
        message: error.to_string(),
        hint: error.hint(),
    })
}

/// Checks that a model that somebody chose can answer. Where nobody did, the agent's default is asked for, or the demo
/// model answers.
pub(crate) async fn check_model(
    shared: &Shared,
    agent: &AgentType,
    model: Option<&str>,
) -> Result<(), SessionError> {
    let Some(adapter) = warren_agents::adapter(agent.as_str()) else { return Ok(()) };
    match model {
        Some(model) => shared.providers.check_model(&shared.parts.models, adapter, model).await,
        None => Ok(()),
    }
}
