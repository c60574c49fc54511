//! The agents there are, and their programs.

use async_trait::async_trait;
use warren_agents::adapters;
use warren_domain::ErrorCode;

use super::SessionManager;
use crate::{
    api::{AgentSummary, Agents, SessionError},
    options::{Known, ProgramError},
};

#[async_trait]
impl Agents for SessionManager {
    async fn agent_list(&self) -> Vec<AgentSummary> {
        let mut known = self.shared.parts.programs.known();
        let mut all = Vec::new();
        for adapter in adapters() {
            let place = adapter.program().and_then(|name| known.iter().position(|it| it.name == name));
            let program = place.map(|place| known.remove(place));
            let name = adapter.agent_type().0;
            all.push(AgentSummary {
                name,
                is_agent: true,
                has_effort: adapter.has_effort().in_version(
                    program
                        .as_ref()
                        .and_then(|it| it.installed.as_ref())
                        .map(|(version, _)| version.as_str()),
                ),
                needs_program: adapter.program().is_some(),
                program,
            });
        }
        // Programs that no adapter is made for: whatever speaks ACP can be the command of a profile.
        all.extend(known.into_iter().map(|program| AgentSummary {
            name: program.name.clone(),
            is_agent: program.is_agent,
            has_effort: false,
            needs_program: true,
            program: Some(program),
        }));
        all
    }

    async fn agent_install(&self, name: &str) -> Result<AgentSummary, SessionError> {
        self.known(name)?;
        self.shared.parts.programs.install(name).await.map_err(|error| failed("install the agent", error))?;
        self.find(name).await
    }

    async fn agent_remove(&self, name: &str) -> Result<(), SessionError> {
        if self.known(name)?.installed.is_none() {
            return Err(SessionError::not_found("installed agent", name));
        }
        self.shared.parts.programs.remove(name).await.map_err(|error| failed("remove the agent", error))
    }
}

impl SessionManager {
    fn known(&self, name: &str) -> Result<Known, SessionError> {
        let known = self.shared.parts.programs.known().into_iter().find(|it| it.name == name);
        known.ok_or_else(|| SessionError::not_found("agent to install", name))
    }

    async fn find(&self, name: &str) -> Result<AgentSummary, SessionError> {
        let found = self.agent_list().await.into_iter().find(|agent| agent.name == name);
        found.ok_or_else(|| SessionError::not_found("agent", name))
    }
}

/// What went wrong with a program is the operator's to know: whoever asks is one.
fn failed(doing: &str, error: ProgramError) -> SessionError {
    SessionError::Invalid {
        code: ErrorCode::Unavailable,
        message: format!("failed to {doing}: {}", error.message),
        hint: error.hint,
    }
}
