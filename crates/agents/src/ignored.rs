//! Parts of a profile that an agent has no place for: they are named when a session starts.

use warren_domain::{AgentProfile, Skill};

use crate::Adapter;

/// A part of a profile that not all agents have a place for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProfilePart {
    /// Things to look up.
    Skills,
    /// Agents to call.
    Subagents,
    /// Slash commands.
    Commands,
    /// The list of tools that may be used.
    Tools,
}

/// What of a profile an agent ignores, one phrase each, such as ``skills (charts)``.
#[must_use]
pub fn ignored(adapter: &dyn Adapter, profile: &AgentProfile) -> Vec<String> {
    let parts = adapter.ignores().iter().filter_map(|part| phrase(part.name(), &part.names_in(profile)));
    let packages = |of: fn(&Skill) -> &[String]| profile.skills.iter().flat_map(of).map(String::as_str);
    let npm: Vec<&str> = packages(|skill| &skill.npm_dependencies).collect();
    let pip: Vec<&str> = packages(|skill| &skill.pip_dependencies).collect();
    parts
        .chain(phrase("npm packages of skills", &npm))
        .chain(phrase("pip packages of skills", &pip))
        .collect()
}

impl ProfilePart {
    fn name(self) -> &'static str {
        match self {
            ProfilePart::Skills => "skills",
            ProfilePart::Subagents => "subagents",
            ProfilePart::Commands => "commands",
            ProfilePart::Tools => "tools",
        }
    }

    fn names_in(self, profile: &AgentProfile) -> Vec<&str> {
        match self {
            ProfilePart::Skills => profile.skills.iter().map(|skill| skill.name.as_str()).collect(),
            ProfilePart::Subagents => profile.subagents.iter().map(|agent| agent.name.as_str()).collect(),
            ProfilePart::Commands => profile.commands.iter().map(|command| command.name.as_str()).collect(),
            ProfilePart::Tools => profile.tools.iter().flatten().map(String::as_str).collect(),
        }
    }
}

fn phrase(part: &str, names: &[&str]) -> Option<String> {
    (!names.is_empty()).then(|| format!("{part} ({})", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use warren_domain::AgentProfile;

    use super::ignored;
    use crate::adapter;

    #[test]
    fn parts_that_an_agent_has_no_place_for_are_named() {
        let profile: AgentProfile = serde_json::from_value(json!({
            "skills": [{"name": "charts", "npmDependencies": ["d3"], "pipDependencies": ["numpy", "pandas"]}],
            "subagents": [{"name": "reader"}],
            "commands": [{"name": "ship", "prompt": "Ship it."}, {"name": "test", "prompt": "Test it."}],
            "tools": ["Bash"],
            "bundledMCPs": [{"name": "demo", "command": "x"}],
        }))
        .expect("a profile");
        let packages = ["npm packages of skills (d3)", "pip packages of skills (numpy, pandas)"];
        for (agent, expected) in [
            ("acp", vec!["skills (charts)", "subagents (reader)", "commands (ship, test)", "tools (Bash)"]),
            ("codex", vec!["tools (Bash)"]),
            ("claude-code", vec![]),
            ("gemini-cli", vec![]),
            ("opencode", vec![]),
            // It says by itself that it starts no MCP servers.
            ("builtin", vec![]),
        ] {
            let found = ignored(adapter(agent).expect("an adapter"), &profile);
            let expected: Vec<&str> = expected.into_iter().chain(packages).collect();
            assert_eq!(found, expected, "{agent}");
            let empty = AgentProfile::empty(profile.id.clone());
            assert_eq!(ignored(adapter(agent).expect("an adapter"), &empty), Vec::<String>::new());
        }
    }
}
