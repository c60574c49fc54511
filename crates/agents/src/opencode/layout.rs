//! What a profile becomes for OpenCode: its settings, its instructions and the skills, all in the home.

use warren_domain::Skill;

use super::config::Wanted;
use crate::layout::{LayoutFile, Place, component, within, workspace_files};

/// OpenCode's own directory in the home.
const DIRECTORY: &str = ".config/opencode";

/// Where the sandbox has what is in [`Place::Instructions`].
const SYSTEM_PROMPT: &str = "/instructions/opencode/SYSTEM.md";

pub(super) fn files(wanted: &Wanted<'_>) -> Vec<LayoutFile> {
    let profile = wanted.profile;
    let system = text(profile.system_prompt.as_deref())
        .and_then(|text| LayoutFile::new(Place::Instructions, "opencode/SYSTEM.md", text));
    let instructions: Vec<String> = system.iter().map(|_| SYSTEM_PROMPT.to_owned()).collect();
    let settings = serde_json::to_vec_pretty(&wanted.profile(&instructions)).unwrap_or_default();
    let settings = LayoutFile::new(Place::Home, &format!("{DIRECTORY}/opencode.json"), settings);
    let agents = text(profile.agent_md_file.as_deref())
        .and_then(|text| LayoutFile::new(Place::Home, &format!("{DIRECTORY}/AGENTS.md"), text));
    let skills = profile.skills.iter().flat_map(skill_files);
    let own = system.into_iter().chain(settings).chain(agents).chain(skills).chain(as_if_installed());
    own.chain(workspace_files(profile)).collect()
}

/// What OpenCode finds where it has installed the package that plugins are written with. Otherwise it asks the registry
/// for it at every start. There are no plugins here, so nobody reads it.
fn as_if_installed() -> impl Iterator<Item = LayoutFile> {
    let locked = r#"{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}"#;
    let files = [("package-lock.json", locked), ("node_modules/.package-lock.json", "{}")];
    files
        .into_iter()
        .filter_map(|(name, text)| LayoutFile::new(Place::Home, &format!("{DIRECTORY}/{name}"), text))
}

fn text(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.trim().is_empty())
}

fn skill_files(skill: &Skill) -> Vec<LayoutFile> {
    let name = component(&skill.name);
    let directory = format!("{DIRECTORY}/skills/{name}");
    let file = LayoutFile::new(Place::Home, &format!("{directory}/SKILL.md"), skill_text(skill, &name));
    file.into_iter().chain(within(Place::Home, &directory, &skill.supporting_files)).collect()
}

/// OpenCode looks a skill up by what stands at the head of its file.
fn skill_text(skill: &Skill, name: &str) -> String {
    if skill.skill_md.trim_start().starts_with("---") {
        return skill.skill_md.clone();
    }
    // JSON's strings are YAML's too.
    let description = serde_json::Value::String(skill.description.clone());
    format!("---\nname: {name}\ndescription: {description}\n---\n\n{}", skill.skill_md)
}
