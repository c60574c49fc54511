//! Refuses what an agent could only ignore, before anything starts.

use warren_domain::{AgentType, Content, ErrorCode, PermissionMode};

use super::{SessionTask, requests::Failure};
use crate::api::SessionError;

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
}

/// Checks what is asked of an agent. One that nobody knows is refused elsewhere.
pub(crate) fn accepted(
    agent: &AgentType,
    mode: PermissionMode,
    content: Option<&Content>,
) -> Result<(), SessionError> {
    // What was installed by its package is driven by ACP.
    let adapter = warren_agents::adapter(agent.as_str()).or_else(|| warren_agents::adapter("acp"));
    let Some(adapter) = adapter else { return Ok(()) };
    adapter.accepts(mode, content).map_err(|error| SessionError::Invalid {
        code: ErrorCode::BadRequest,
        message: error.to_string(),
        hint: error.hint(),
    })
}
