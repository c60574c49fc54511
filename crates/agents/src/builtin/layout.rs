//! What a profile becomes for the built-in agent: one text, one file of settings, and the skills.

use warren_domain::{AgentProfile, Skill};

use crate::layout::{LayoutFile, Place, component, within, workspace_files};

pub(super) fn files(profile: &AgentProfile) -> Vec<LayoutFile> {
    let instructions = profile.agent_md_file.as_deref().filter(|text| !text.trim().is_empty());
    let instructions =
        instructions.and_then(|text| LayoutFile::new(Place::Instructions, "INSTRUCTIONS.md", text));
    instructions
        .into_iter()
        .chain(settings(profile))
        .chain(profile.skills.iter().flat_map(skill_files))
        .chain(workspace_files(profile))
        .collect()
}

/// The profile itself, without what has a file or a place of its own.
fn settings(profile: &AgentProfile) -> Option<LayoutFile> {
    let settings = AgentProfile {
        project_id: None,
        agent_md_file: None,
        default_workspace_files: Vec::new(),
        environment_variables: std::collections::BTreeMap::new(),
        skills: profile.skills.iter().map(skill_entry).collect(),
        ..profile.clone()
    };
    let text = serde_json::to_vec_pretty(&settings).ok()?;
    LayoutFile::new(Place::Instructions, "agent.json", text)
}

/// Enough to know when to look a skill up; its text is in its file.
fn skill_entry(skill: &Skill) -> Skill {
    Skill {
        name: component(&skill.name),
        skill_md: String::new(),
        supporting_files: Vec::new(),
        ..skill.clone()
    }
}

fn skill_files(skill: &Skill) -> Vec<LayoutFile> {
    let directory = format!("skills/{}", component(&skill.name));
    let text =
        LayoutFile::new(Place::Instructions, &format!("{directory}/SKILL.md"), skill.skill_md.as_str());
    text.into_iter().chain(within(Place::Instructions, &directory, &skill.supporting_files)).collect()
}
