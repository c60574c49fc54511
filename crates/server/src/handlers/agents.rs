//! Agents and their programs.

use warren_wire::AgentList;

use crate::{
    choke::Call,
    convert,
    failure::Failure,
    respond::{self, Answer},
};

pub(crate) async fn list(call: Call) -> Answer {
    let agents = call.runtime().agents().agent_list().await;
    respond::ok(&AgentList { agents: agents.into_iter().map(convert::agent).collect() })
}

pub(crate) async fn get(call: Call) -> Answer {
    let name = call.parameter("agent");
    let found = call.runtime().agents().agent_list().await.into_iter().find(|agent| agent.name == name);
    let found = found.ok_or_else(|| Failure::not_found("agent", name.escape_debug()))?;
    respond::ok(&convert::agent(found))
}

pub(crate) async fn install(call: Call) -> Answer {
    let installed = call.runtime().agents().agent_install(call.parameter("agent")).await?;
    respond::ok(&convert::agent(installed))
}

pub(crate) async fn remove(call: Call) -> Answer {
    call.runtime().agents().agent_remove(call.parameter("agent")).await?;
    respond::nothing()
}
