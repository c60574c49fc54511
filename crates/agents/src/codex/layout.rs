//! What a profile becomes for Codex: `config.toml`, `AGENTS.md`, prompts and skills in its home.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use warren_domain::{McpServer, PermissionMode, ProfileCommand, Skill, Subagent};

use crate::{
    LayoutRequest, ModelApi,
    fields::{list, text},
    layout::{LayoutFile, Place, component, within, workspace_files},
};

/// The home of everything Codex keeps, beneath the agent's home.
pub(super) const HOME: &str = ".codex";

/// The model provider of every thread: the gateway behind the sandbox's loopback.
pub(super) const PROVIDER: &str = "warren";

/// Holds the placeholder that stands for the key.
pub(super) const KEY_VARIABLE: &str = "WARREN_MODEL_KEY";

pub(super) fn files(request: &LayoutRequest<'_>) -> Vec<LayoutFile> {
    let profile = request.profile;
    let config = LayoutFile::new(Place::Home, &format!("{HOME}/config.toml"), config(request));
    let instructions = profile.agent_md_file.as_deref().filter(|text| !text.trim().is_empty());
    let instructions =
        instructions.and_then(|text| LayoutFile::new(Place::Home, &format!("{HOME}/AGENTS.md"), text));
    config
        .into_iter()
        .chain(instructions)
        .chain(profile.commands.iter().filter_map(prompt_file))
        .chain(profile.skills.iter().flat_map(skill_files))
        .chain(profile.subagents.iter().filter_map(role_file))
        .chain(workspace_files(profile))
        .collect()
}

/// The sandbox around Codex is the guard, so its own is off, and so is everything that would call home.
fn config(request: &LayoutRequest<'_>) -> String {
    let mut toml = String::new();
    let model = request.model.or(request.profile.model.as_deref());
    if let Some(model) = model {
        line(&mut toml, "model", &quoted(model));
    }
    // Here Codex knows no word for asking about everything; the thread is told that.
    let policy = match request.permission_mode {
        PermissionMode::Auto => "never",
        PermissionMode::Ask => "on-request",
    };
    for (key, value) in [
        ("model_provider", PROVIDER),
        ("model_reasoning_summary", "auto"),
        ("approval_policy", policy),
        ("sandbox_mode", "danger-full-access"),
        ("web_search", if request.profile.provider_tools { "live" } else { "disabled" }),
    ] {
        line(&mut toml, key, &quoted(value));
    }
    line(&mut toml, "check_for_update_on_startup", "false");
    line(&mut toml, "suppress_unstable_features_warning", "true");
    table(&mut toml, &["analytics"], &[("enabled", "false".to_owned())]);
    table(&mut toml, &["feedback"], &[("enabled", "false".to_owned())]);
    features(&mut toml, request.permission_mode);
    provider(&mut toml, request);
    let servers = request.profile.bundled_mcps.iter().chain(&request.profile.external_mcps);
    servers.for_each(|server| mcp_server(&mut toml, server));
    request.profile.subagents.iter().for_each(|subagent| role(&mut toml, subagent));
    toml
}

fn features(toml: &mut String, mode: PermissionMode) {
    let asks = (mode == PermissionMode::Ask).to_string();
    let off = ["plugins", "apps", "daemon_auto_start", "in_app_updates", "memories"]
        .map(|key| (key, "false".to_owned()));
    let mut features = off.to_vec();
    features.push(("default_mode_request_user_input", asks));
    table(toml, &["features"], &features);
}

fn provider(toml: &mut String, request: &LayoutRequest<'_>) {
    let endpoint = request.endpoints.iter().find(|endpoint| endpoint.api == ModelApi::OpenAiResponses);
    let base_url =
        endpoint.map_or("http://127.0.0.1:9/v1".to_owned(), |endpoint| versioned(&endpoint.base_url));
    let fields = [
        ("name", quoted("Warren")),
        ("base_url", quoted(&base_url)),
        ("env_key", quoted(KEY_VARIABLE)),
        ("wire_api", quoted("responses")),
        ("requires_openai_auth", "false".to_owned()),
        ("supports_websockets", "false".to_owned()),
    ];
    table(toml, &["model_providers", PROVIDER], &fields);
}

/// Codex adds `/responses` to the base, which must hold the API's version.
fn versioned(base_url: &str) -> String {
    if base_url.ends_with("/v1") { base_url.to_owned() } else { format!("{base_url}/v1") }
}

fn mcp_server(toml: &mut String, server: &McpServer) {
    let settings = Value::Object(server.settings.clone());
    let mut fields = Vec::new();
    if let Some(url) = text(&settings, "url") {
        fields.push(("url", quoted(url)));
        if let Some(headers) = settings.get("headers").and_then(Value::as_object) {
            fields.push(("http_headers", inline(headers)));
        }
    } else {
        fields.push(("command", quoted(text(&settings, "command").unwrap_or_default())));
        let args: Vec<String> =
            list(&settings, "args").iter().filter_map(Value::as_str).map(quoted).collect();
        fields.push(("args", format!("[{}]", args.join(", "))));
        if let Some(env) = settings.get("env").and_then(Value::as_object) {
            fields.push(("env", inline(env)));
        }
    }
    table(toml, &["mcp_servers", &component(&server.name)], &fields);
}

/// A kind of subagent, whose instructions are in a file of its own.
fn role(toml: &mut String, subagent: &Subagent) {
    let name = component(&subagent.name);
    let fields = [
        ("description", quoted(&subagent.description)),
        ("config_file", quoted(&format!("agents/{name}.toml"))),
    ];
    table(toml, &["agents", &name], &fields);
}

fn role_file(subagent: &Subagent) -> Option<LayoutFile> {
    let mut toml = String::new();
    if let Some(model) = &subagent.model {
        line(&mut toml, "model", &quoted(model));
    }
    line(&mut toml, "developer_instructions", &quoted(&subagent.prompt));
    let path = format!("{HOME}/agents/{}.toml", component(&subagent.name));
    LayoutFile::new(Place::Home, &path, toml)
}

fn prompt_file(command: &ProfileCommand) -> Option<LayoutFile> {
    let path = format!("{HOME}/prompts/{}.md", component(&command.name));
    let head = format!("---\ndescription: {}\n---\n", quoted(&command.description));
    LayoutFile::new(Place::Home, &path, format!("{head}{}\n", command.prompt))
}

fn skill_files(skill: &Skill) -> Vec<LayoutFile> {
    let directory = format!("{HOME}/skills/{}", component(&skill.name));
    // Codex finds skills by the head of their text.
    let head = if skill.skill_md.starts_with("---") {
        String::new()
    } else {
        format!("---\nname: {}\ndescription: {}\n---\n", component(&skill.name), quoted(&skill.description))
    };
    let text =
        LayoutFile::new(Place::Home, &format!("{directory}/SKILL.md"), format!("{head}{}", skill.skill_md));
    text.into_iter().chain(within(Place::Home, &directory, &skill.supporting_files)).collect()
}

fn line(toml: &mut String, key: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(toml, "{key} = {value}");
}

fn table(toml: &mut String, path: &[&str], fields: &[(&str, String)]) {
    let path: Vec<String> = path.iter().map(|name| quoted(name)).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(toml, "\n[{}]", path.join("."));
    fields.iter().for_each(|(key, value)| line(toml, key, value));
}

fn inline(fields: &Map<String, Value>) -> String {
    let field = |(key, value): (&String, &Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{} = {}", quoted(key), quoted(&value))
    };
    format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
}

/// A TOML string. JSON's are the same, but for the one control character that JSON leaves as it is.
fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string().replace('\u{7f}', "\\u007f")
}
