//! Who the agent is in a thread: what it is told, which model it asks, which tools it has.

use serde_json::Value;
use warren_domain::Subagent;

use super::{profile::Profile, tools::Tool};

/// Threads may be this deep below the main one.
const MAX_DEPTH: u8 = 2;

/// Who the agent is in a thread.
pub(super) struct Role {
    pub(super) model: String,
    pub(super) system: String,
    pub(super) tools: Vec<Tool>,
    /// The subagents it may call.
    pub(super) subagents: Vec<Subagent>,
    /// 0 for the main thread.
    pub(super) depth: u8,
}

impl Role {
    /// The agent itself.
    /// `searches`: the run may have its provider search the web.
    pub(super) fn main(profile: &Profile, model: &str, searches: bool) -> Self {
        let settings = &profile.settings;
        let mut subagents = vec![general()];
        subagents.retain(|general| settings.subagents.iter().all(|own| own.name != general.name));
        subagents.extend(settings.subagents.iter().cloned());
        let mut tools = allowed(Tool::ALL, settings.tools.as_deref());
        tools.retain(|tool| searches || *tool != Tool::WebSearch);
        Self { model: model.to_owned(), system: profile.system_prompt(), tools, subagents, depth: 0 }
    }

    /// A subagent of this role. It has no tool that its caller lacks.
    pub(super) fn subagent(&self, profile: &Profile, subagent: &Subagent) -> Self {
        let depth = self.depth + 1;
        let mut tools = allowed(&self.tools, subagent.tools.as_deref());
        // A subagent reports to its caller, who may ask.
        tools.retain(|tool| *tool != Tool::Question && (*tool != Tool::Task || depth < MAX_DEPTH));
        Self {
            model: subagent
                .model
                .as_deref()
                .filter(|model| names_a_model(model))
                .unwrap_or(&self.model)
                .to_owned(),
            system: profile.subagent_prompt(subagent),
            tools,
            subagents: self.subagents.clone(),
            depth,
        }
    }

    /// The tool of this name, if the role has it.
    pub(super) fn tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().copied().find(|tool| tool.name() == name)
    }

    pub(super) fn is_task(&self, name: &str) -> bool {
        self.tool(name) == Some(Tool::Task)
    }

    /// The tools as the model is told them.
    pub(super) fn schemas(&self) -> Vec<Value> {
        self.tools.iter().map(|tool| tool.schema(&self.subagents)).collect()
    }
}

fn general() -> Subagent {
    Subagent {
        name: "general".to_owned(),
        description: "Any task that takes several steps and whose details you need not see.".to_owned(),
        prompt: String::new(),
        model: None,
        tools: None,
    }
}

/// Profiles are written for several agents, so letter case does not matter, and tools of others are passed over.
fn allowed(tools: &[Tool], names: Option<&[String]>) -> Vec<Tool> {
    let is_named = |tool: &Tool| names.is_none_or(|names| names.iter().any(|name| tool.is_called(name)));
    tools.iter().copied().filter(is_named).collect()
}

/// `inherit` and bare family names are other agents' words for "whatever is in use".
fn names_a_model(model: &str) -> bool {
    !matches!(model, "" | "inherit" | "sonnet" | "opus" | "haiku")
}
