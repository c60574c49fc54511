//! What a profile becomes for Gemini: settings, `GEMINI.md`, and a file for each skill, subagent and command.

use serde_json::{Map, Value, json};
use warren_domain::{AgentProfile, McpServer, ProfileCommand, Skill, Subagent};

use crate::layout::{LayoutFile, LayoutRequest, Place, component, within, workspace_files};

/// Names of tools that other agents use, and Gemini's.
const TOOLS: [(&str, &str); 14] = [
    ("bash", "run_shell_command"),
    ("edit", "replace"),
    ("glob", "glob"),
    ("grep", "grep_search"),
    ("ls", "list_directory"),
    ("multiedit", "replace"),
    ("read", "read_file"),
    ("shell", "run_shell_command"),
    ("task", "invoke_agent"),
    ("todo", "write_todos"),
    ("todowrite", "write_todos"),
    ("webfetch", "web_fetch"),
    ("websearch", "google_web_search"),
    ("write", "write_file"),
];

pub(super) fn files(request: &LayoutRequest<'_>) -> Vec<LayoutFile> {
    let profile = request.profile;
    home("settings.json", settings(profile).to_string())
        .into_iter()
        .chain(instructions(profile).and_then(|text| home("GEMINI.md", text)))
        .chain(profile.skills.iter().flat_map(skill_files))
        .chain(profile.subagents.iter().filter_map(subagent_file))
        .chain(profile.commands.iter().filter_map(command_file))
        .chain(workspace_files(profile))
        .collect()
}

fn home(path: &str, text: impl Into<Vec<u8>>) -> Option<LayoutFile> {
    LayoutFile::new(Place::Home, &format!(".gemini/{path}"), text)
}

fn settings(profile: &AgentProfile) -> Value {
    let servers = profile.bundled_mcps.iter().chain(&profile.external_mcps);
    let servers: Map<String, Value> =
        servers.map(|server| (server.name.clone(), mcp_server(server))).collect();
    let mut settings = json!({
        // With an address of its own for the model, Gemini refuses to start unless this is said.
        "security": { "auth": { "selectedType": "gemini-api-key" }, "folderTrust": { "enabled": false } },
        "general": {
            "enableAutoUpdate": false,
            "enableAutoUpdateNotification": false,
            // Chats are kept by us.
            "sessionRetention": { "enabled": false },
        },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
        "mcpServers": servers,
    });
    if let Some(tools) = &profile.tools {
        settings["tools"]["core"] = json!(allowed_tools(tools, profile));
    }
    if !profile.provider_tools {
        // The provider would search and get pages, and the gateway refuses that. Pages can be had from the sandbox.
        settings["tools"]["exclude"] = json!(["google_web_search"]);
        settings["experimental"] = json!({ "directWebFetch": true });
    }
    settings
}

/// What is not named cannot be used: so the tools of the profile's own servers are named too.
fn allowed_tools(tools: &[String], profile: &AgentProfile) -> Vec<String> {
    let servers = profile.bundled_mcps.iter().chain(&profile.external_mcps);
    let servers = servers.map(|server| format!("mcp_{}_*", server.name));
    tools.iter().map(|tool| tool_name(tool).to_owned()).chain(servers).collect()
}

/// The sandbox is the guard, so every server is trusted.
fn mcp_server(server: &McpServer) -> Value {
    let mut settings = Map::new();
    let is_sse = server.settings.get("type").is_some_and(|kind| kind == "sse");
    for (name, value) in &server.settings {
        let name = match name.as_str() {
            "command" | "args" | "env" | "headers" | "cwd" | "timeout" => name.as_str(),
            "url" if is_sse => "url",
            "url" => "httpUrl",
            _ => continue,
        };
        settings.insert(name.to_owned(), value.clone());
    }
    settings.insert("trust".to_owned(), Value::Bool(true));
    Value::Object(settings)
}

fn instructions(profile: &AgentProfile) -> Option<String> {
    let texts = [profile.system_prompt.as_deref(), profile.agent_md_file.as_deref()];
    let texts: Vec<&str> = texts.into_iter().flatten().filter(|text| !text.trim().is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

fn skill_files(skill: &Skill) -> Vec<LayoutFile> {
    let name = component(&skill.name);
    let directory = format!(".gemini/skills/{name}");
    let text = if skill.skill_md.trim_start().starts_with("---") {
        skill.skill_md.clone()
    } else {
        with_head(&[("name", json!(name)), ("description", json!(skill.description))], &skill.skill_md)
    };
    let main = LayoutFile::new(Place::Home, &format!("{directory}/SKILL.md"), text);
    main.into_iter().chain(within(Place::Home, &directory, &skill.supporting_files)).collect()
}

fn subagent_file(subagent: &Subagent) -> Option<LayoutFile> {
    // Gemini passes over a subagent whose name is anything but these letters.
    let name = component(&subagent.name).to_lowercase().replace('.', "-");
    let mut head = vec![("name", json!(name)), ("description", json!(description(subagent)))];
    if let Some(model) = &subagent.model {
        head.push(("model", json!(model)));
    }
    if let Some(tools) = &subagent.tools {
        head.push(("tools", json!(tools.iter().map(|tool| tool_name(tool)).collect::<Vec<_>>())));
    }
    home(&format!("agents/{name}.md"), with_head(&head, &subagent.prompt))
}

/// Gemini passes over a subagent without one.
fn description(subagent: &Subagent) -> &str {
    if subagent.description.is_empty() { &subagent.name } else { &subagent.description }
}

/// A text after a head of YAML, of which JSON is a part.
fn with_head(head: &[(&str, Value)], text: &str) -> String {
    let head: String = head.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    format!("---\n{head}---\n{text}\n")
}

/// TOML's texts are JSON's.
fn command_file(command: &ProfileCommand) -> Option<LayoutFile> {
    let prompt = json!(command.prompt.replace("$ARGUMENTS", "{{args}}"));
    let text = format!("description = {}\nprompt = {prompt}\n", json!(command.description));
    home(&format!("commands/{}.toml", component(&command.name)), text)
}

fn tool_name(name: &str) -> &str {
    let lower = name.to_lowercase();
    TOOLS.iter().find(|(other, _)| *other == lower).map_or(name, |(_, own)| own)
}
