//! Which adapter drives an agent: one of its own, or the one for ACP if the agent was installed by its package.

use warren_agents::{Adapter, adapter};
use warren_domain::{AgentProfile, AgentType};

use crate::options::{AcpRecipe, Program};

/// The adapter of an agent, and the name under which its sessions are recorded.
pub(crate) fn find(agent: &AgentType, programs: &[Program]) -> Option<(&'static dyn Adapter, AgentType)> {
    if let Some(own) = adapter(agent.as_str()) {
        return Some((own, own.agent_type()));
    }
    recipe(agent, programs)?;
    Some((adapter("acp")?, agent.clone()))
}

/// Adds to a profile what the recipe of its agent says. The profile's own values win.
///
/// # Errors
/// The variable that the recipe needs and the profile does not set.
pub(crate) fn add_recipe(
    profile: &mut AgentProfile,
    agent: &AgentType,
    programs: &[Program],
) -> Result<(), String> {
    if adapter(agent.as_str()).is_some() {
        return Ok(());
    }
    let Some(recipe) = recipe(agent, programs) else { return Ok(()) };
    // The program knows its arguments.
    profile.command = Some(vec![agent.0.clone()]);
    for (name, value) in &recipe.env {
        profile.environment_variables.entry(name.clone()).or_insert_with(|| value.clone());
    }
    for host in
        recipe.hosts.iter().filter(|host| !profile.egress_allow.contains(host)).cloned().collect::<Vec<_>>()
    {
        profile.egress_allow.push(host);
    }
    let is_set = |name: &&String| profile.environment_variables.contains_key(*name);
    match recipe.needs.iter().find(|name| !is_set(name)) {
        Some(missing) => Err(missing.clone()),
        None => Ok(()),
    }
}

fn recipe<'a>(agent: &AgentType, programs: &'a [Program]) -> Option<&'a AcpRecipe> {
    programs.iter().find(|program| program.name == agent.as_str())?.recipe.as_ref()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use warren_domain::{AgentProfile, AgentType, ProfileId};

    use super::{add_recipe, find};
    use crate::options::{AcpRecipe, Program};

    fn programs() -> Vec<Program> {
        let recipe = AcpRecipe {
            env: [("MODE".to_owned(), "fast".to_owned()), ("LEVEL".to_owned(), "1".to_owned())].into(),
            needs: vec!["API_TOKEN".to_owned()],
            hosts: vec!["api.example.com".to_owned()],
        };
        let program = |name: &str, recipe| Program {
            name: name.to_owned(),
            directory: PathBuf::new(),
            argv: vec![name.to_owned(), "--acp".to_owned()],
            path: Vec::new(),
            recipe,
        };
        vec![program("mine", Some(recipe)), program("codex-acp", None)]
    }

    #[test]
    fn installed_package_is_driven_by_acp_under_its_own_name() {
        let name = |agent: &str| {
            let found = find(&AgentType::from(agent), &programs());
            found.map(|(adapter, name)| (adapter.agent_type().0, name.0))
        };
        let pair = |adapter: &str, name: &str| Some((adapter.to_owned(), name.to_owned()));
        assert_eq!(name("mine"), pair("acp", "mine"));
        assert_eq!(name("codex"), pair("codex", "codex"));
        assert_eq!(name("gemini"), pair("gemini-cli", "gemini-cli"));
        assert_eq!(name("codex-acp"), None, "a program without a recipe is for the command of a profile");
        assert_eq!(name("other"), None);
    }

    #[test]
    fn recipe_fills_the_profile_and_names_what_is_missing() {
        let mut profile = AgentProfile::empty(ProfileId::from("p"));
        profile.environment_variables.insert("LEVEL".to_owned(), "2".to_owned());
        let agent = AgentType::from("mine");
        assert_eq!(add_recipe(&mut profile, &agent, &programs()), Err("API_TOKEN".to_owned()));
        profile.environment_variables.insert("API_TOKEN".to_owned(), "t".to_owned());
        assert_eq!(add_recipe(&mut profile, &agent, &programs()), Ok(()));
        assert_eq!(profile.command, Some(vec!["mine".to_owned()]));
        let variables: Vec<_> = profile.environment_variables.iter().collect();
        let expect = [("API_TOKEN", "t"), ("LEVEL", "2"), ("MODE", "fast")];
        let expect = expect.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(variables, expect.iter().map(|(name, value)| (name, value)).collect::<Vec<_>>());
        assert_eq!(profile.egress_allow, ["api.example.com"]);
    }
}
