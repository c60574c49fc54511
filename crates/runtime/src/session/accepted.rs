//! Refuses what an agent could only ignore, such as an effort, and a model that cannot answer, before anything starts.

use warren_agents::{Adapter, HasEffort};
use warren_domain::{AgentType, Content, ErrorCode, PermissionMode, ReasoningEffort, RunOptions};

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

    /// Checks that a message can be answered as it asks for: by its own model, else the session's, else the profile's, and
    /// with its effort.
    pub(super) async fn check_answerable(&self, message: &RunOptions) -> Result<(), Failure> {
        let own = self.session_options().await;
        let own = own
            .map_err(|error| Failure::Refused(SessionError::internal("read the session's options", error)))?;
        let options = merged(&own, message);
        check_effort(&self.shared, &self.identity.agent_type, options.effort).map_err(Failure::Refused)?;
        let mut model = options.model;
        if model.is_none() {
            // Recipes of installed programs name no model.
            let profile = load_profile(&self.identity, &self.shared, &[]).await;
            model = profile.map_err(|failure| Failure::Refused(failure.to_error()))?.model;
        }
        let agent = &self.identity.agent_type;
        check_model(&self.shared, agent, model.as_deref()).await.map_err(Failure::Refused)
    }

    /// Checks the model and the effort of the session's new options. An unchanged model is not checked, so that other
    /// options can be changed while its key is missing.
    pub(super) async fn check_new_options(&self, options: &RunOptions) -> Result<(), Failure> {
        let agent = &self.identity.agent_type;
        check_effort(&self.shared, agent, options.effort).map_err(Failure::Refused)?;
        let own = self.session_options().await;
        if options.model.is_none() || own.is_ok_and(|own| own.model == options.model) {
            return Ok(());
        }
        check_model(&self.shared, agent, options.model.as_deref()).await.map_err(Failure::Refused)
    }
}

/// The adapter that drives an agent. Agents installed from npm are driven by ACP.
fn adapter_of(agent: &AgentType) -> Option<&'static dyn Adapter> {
    warren_agents::adapter(agent.as_str()).or_else(|| warren_agents::adapter("acp"))
}

/// Checks what is asked of an agent. One that nobody knows is refused elsewhere.
pub(crate) fn accepted(
    agent: &AgentType,
    mode: PermissionMode,
    content: Option<&Content>,
) -> Result<(), SessionError> {
    let Some(adapter) = adapter_of(agent) else { return Ok(()) };
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
    let Some(adapter) = adapter_of(agent) else { return Ok(()) };
    match model {
        Some(model) => shared.providers.check_model(&shared.parts.models, adapter, model).await,
        None => Ok(()),
    }
}

/// Checks that an agent can be told how much its model thinks, if somebody says so.
pub(crate) fn check_effort(
    shared: &Shared,
    agent: &AgentType,
    effort: Option<ReasoningEffort>,
) -> Result<(), SessionError> {
    let Some(adapter) = adapter_of(agent).filter(|_| effort.is_some()) else { return Ok(()) };
    let known = shared.parts.programs.known();
    let program = known.iter().find(|it| Some(it.name.as_str()) == adapter.program());
    let installed = program.and_then(|it| it.installed.as_ref()).map(|(version, _)| version.as_str());
    let has = adapter.has_effort();
    if has.in_version(installed) {
        return Ok(());
    }
    let (message, hint) = match (has, installed) {
        (HasEffort::Since(first), Some(version)) => (
            format!(
                "version {version} of the agent `{agent}` takes no reasoning effort; {first} and later do"
            ),
            format!("run `warren agents install {agent}`, or leave `effort` out"),
        ),
        _ => (
            format!("the agent `{agent}` takes no reasoning effort"),
            format!(
                "leave `effort` out, or use one of the agents that take it ({})",
                with_effort().join(", ")
            ),
        ),
    };
    Err(SessionError::Invalid { code: ErrorCode::BadRequest, message, hint: Some(hint) })
}

fn with_effort() -> Vec<String> {
    let all = warren_agents::adapters().iter();
    all.filter(|it| it.has_effort() != HasEffort::No).map(|it| it.agent_type().0).collect()
}
