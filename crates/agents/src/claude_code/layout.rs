//! What a profile becomes: Claude Code's own directory in the home, so that nothing of it lies in the workspace, and
//! instructions that it can only read.

use serde_json::{Map, Value, json};
use warren_domain::{AgentProfile, McpServer, ProfileCommand, Skill, Subagent};

use super::CONFIG_DIRECTORY;
use crate::layout::{LayoutFile, Place, component, within, workspace_files};

/// Files among the instructions.
pub(super) const SYSTEM_PROMPT: &str = "system-prompt.md";
pub(super) const MCP: &str = "mcp.json";

pub(super) fn files(profile: &AgentProfile) -> Vec<LayoutFile> {
    let memory = profile.agent_md_file.as_deref().filter(|text| !text.trim().is_empty());
    let memory = memory.and_then(|text| own("CLAUDE.md", text.to_owned()));
    let prompt =
        system_prompt(profile).and_then(|text| LayoutFile::new(Place::Instructions, SYSTEM_PROMPT, text));
    memory
        .into_iter()
        .chain(prompt)
        .chain(mcp(profile))
        .chain(profile.skills.iter().flat_map(skill))
        .chain(profile.subagents.iter().filter_map(subagent))
        .chain(profile.commands.iter().filter_map(command))
        .chain(workspace_files(profile))
        .collect()
}

pub(super) fn system_prompt(profile: &AgentProfile) -> Option<&str> {
    profile.system_prompt.as_deref().filter(|text| !text.trim().is_empty())
}

pub(super) fn has_mcp(profile: &AgentProfile) -> bool {
    servers(profile).next().is_some()
}

/// A file in Claude Code's own directory.
fn own(path: &str, content: String) -> Option<LayoutFile> {
    LayoutFile::new(Place::Home, &format!("{CONFIG_DIRECTORY}/{path}"), content)
}

fn servers(profile: &AgentProfile) -> impl Iterator<Item = &McpServer> {
    profile.bundled_mcps.iter().chain(&profile.external_mcps)
}

/// Claude Code's form is the neutral one, by name.
fn mcp(profile: &AgentProfile) -> Option<LayoutFile> {
    let servers: Map<String, Value> = servers(profile)
        .map(|server| (server.name.clone(), Value::Object(server.settings.clone())))
        .collect();
    if servers.is_empty() {
        return None;
    }
    let text = serde_json::to_vec_pretty(&json!({"mcpServers": servers})).ok()?;
    LayoutFile::new(Place::Instructions, MCP, text)
}

fn skill(skill: &Skill) -> Vec<LayoutFile> {
    let name = component(&skill.name);
    let directory = format!("{CONFIG_DIRECTORY}/skills/{name}");
    let text = if skill.skill_md.trim_start().starts_with("---") {
        skill.skill_md.clone()
    } else {
        let head = [("name", Some(name)), ("description", Some(skill.description.clone()))];
        with_front_matter(&head, &skill.skill_md)
    };
    let text = LayoutFile::new(Place::Home, &format!("{directory}/SKILL.md"), text);
    text.into_iter().chain(within(Place::Home, &directory, &skill.supporting_files)).collect()
}

fn subagent(subagent: &Subagent) -> Option<LayoutFile> {
    let name = component(&subagent.name);
    let head = [
        ("name", Some(name.clone())),
        ("description", Some(subagent.description.clone())),
        ("tools", subagent.tools.as_ref().map(|tools| tools.join(", "))),
        ("model", subagent.model.clone()),
    ];
    own(&format!("agents/{name}.md"), with_front_matter(&head, &subagent.prompt))
}

fn command(command: &ProfileCommand) -> Option<LayoutFile> {
    let head = [("description", Some(command.description.clone()).filter(|text| !text.is_empty()))];
    own(&format!("commands/{}.md", component(&command.name)), with_front_matter(&head, &command.prompt))
}

/// A text with fields before it. Every JSON string is a YAML one.
fn with_front_matter(fields: &[(&str, Option<String>)], text: &str) -> String {
    let line = |(key, value): &(&str, Option<String>)| {
        value.as_ref().map(|value| format!("{key}: {}\n", Value::from(value.as_str())))
    };
    let head: String = fields.iter().filter_map(line).collect();
    if head.is_empty() { text.to_owned() } else { format!("---\n{head}---\n\n{text}\n") }
}
