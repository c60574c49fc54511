//! All agents there are.

use crate::{
    Adapter, acp::Acp, builtin::Builtin, claude_code::ClaudeCode, codex::Codex, gemini_cli::GeminiCli,
    opencode::OpenCode,
};

/// One line for each agent; the first is the default.
static ADAPTERS: &[&dyn Adapter] = &[&Builtin, &ClaudeCode, &GeminiCli, &OpenCode, &Codex, &Acp];

/// All agents; the first is the default.
#[must_use]
pub fn adapters() -> &'static [&'static dyn Adapter] {
    ADAPTERS
}

/// The agent of this name or alias.
#[must_use]
pub fn adapter(name: &str) -> Option<&'static dyn Adapter> {
    let is_named = |it: &&&dyn Adapter| it.agent_type().as_str() == name || it.aliases().contains(&name);
    ADAPTERS.iter().find(is_named).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{adapter, adapters};

    #[test]
    fn no_two_agents_answer_to_one_name() {
        let mut names = HashSet::new();
        for agent in adapters() {
            assert!(names.insert(agent.agent_type().0), "{}", agent.agent_type());
            assert!(agent.aliases().iter().all(|alias| names.insert((*alias).to_owned())));
        }
    }

    #[test]
    fn an_agent_is_found_by_its_name_and_a_stranger_is_not() {
        assert_eq!(adapter("builtin").map(|agent| agent.agent_type().0), Some("builtin".to_owned()));
        assert!(adapter("nobody").is_none());
    }
}
