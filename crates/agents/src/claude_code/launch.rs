//! The line that starts Claude Code.

use std::collections::BTreeMap;

use warren_domain::{AgentProfile, AgentType, PermissionMode};

use super::{CONFIG_DIRECTORY, NAME, layout, transcripts};
use crate::{Launch, LaunchError, LaunchRequest, ModelApi};

/// Where the sandbox has what [`layout`] wrote.
const INSTRUCTIONS: &str = "/instructions";

/// The version from which on `--effort` is known to work. Older ones refuse an option that they do not know.
pub(super) const EFFORT_SINCE: &str = "2.1.325";

pub(super) fn launch(agent: &AgentType, request: &LaunchRequest<'_>) -> Result<Launch, LaunchError> {
    let endpoint = request.endpoint(agent, ModelApi::Anthropic)?;
    let mut argv = if request.resume { Vec::new() } else { without_leftover(request) };
    argv.extend_from_slice(request.program(agent, NAME)?);
    argv.extend(ALWAYS.iter().copied().map(str::to_owned));
    let mut option = |name: &str, value: String| argv.extend([name.to_owned(), value]);
    option(if request.resume { "--resume" } else { "--session-id" }, request.session.to_string());
    match request.permission_mode {
        PermissionMode::Auto => option("--permission-mode", "bypassPermissions".to_owned()),
        PermissionMode::Ask => option("--permission-prompt-tool", "stdio".to_owned()),
    }
    if let Some(model) = request.model.or(request.profile.model.as_deref()) {
        option("--model", model.to_owned());
    }
    if let Some(effort) = request.effort {
        option("--effort", effort.as_str().to_owned());
    }
    if layout::system_prompt(request.profile).is_some() {
        option("--append-system-prompt-file", format!("{INSTRUCTIONS}/{}", layout::SYSTEM_PROMPT));
    }
    if layout::has_mcp(request.profile) {
        option("--mcp-config", format!("{INSTRUCTIONS}/{}", layout::MCP));
    }
    if let Some(tools) = tools(request.profile) {
        option("--tools", tools);
    }
    if !request.profile.provider_tools {
        // The provider would search, and the gateway refuses that: so the model is not offered it.
        option("--disallowedTools", "WebSearch".to_owned());
    }
    let env = env(request, &endpoint.base_url, &endpoint.placeholder_key);
    Ok(Launch { argv, env, cwd: request.workspace.to_owned() })
}

/// Starts what follows after it took away what an earlier start left behind. A process that was killed before anybody
/// said anything leaves a transcript that Claude Code cannot go on from, and refuses to begin anew beside.
fn without_leftover(request: &LaunchRequest<'_>) -> Vec<String> {
    let project = transcripts::project(request.workspace);
    let leftover = format!("{}/{CONFIG_DIRECTORY}/{project}/{}.jsonl", request.home, request.session);
    ["/bin/sh", "-c", "rm -f \"$0\"; exec \"$@\"", &leftover].map(str::to_owned).to_vec()
}

/// What every start has in common. Only MCP servers that the profile names are started, whatever lies in the
/// workspace.
const ALWAYS: &[&str] = &[
    "-p",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--replay-user-messages",
    "--forward-subagent-text",
    "--strict-mcp-config",
    "--settings",
    SETTINGS,
];

/// Before it gets a page Claude Code asks its maker whether the host is known to be bad, which does not leave the sandbox.
/// Egress rules decide here.
const SETTINGS: &str = r#"{"skipWebFetchPreflight":true}"#;

/// The built-in tools that may be used; those of MCP servers are there with their server. Skills and subagents that
/// the profile brings are used through tools of their own.
fn tools(profile: &AgentProfile) -> Option<String> {
    let named = profile.tools.as_ref()?.iter().map(String::as_str).filter(|tool| !tool.starts_with("mcp__"));
    let skill = (!profile.skills.is_empty()).then_some("Skill");
    let task = (!profile.subagents.is_empty()).then_some("Task");
    let mut tools: Vec<&str> = Vec::new();
    for tool in named.chain(skill).chain(task) {
        if !tools.contains(&tool) {
            tools.push(tool);
        }
    }
    Some(tools.join(","))
}

fn env(request: &LaunchRequest<'_>, base_url: &str, key: &str) -> BTreeMap<String, String> {
    let mut env = request.profile.environment_variables.clone();
    let config = format!("{}/{CONFIG_DIRECTORY}", request.home);
    let own = [
        ("ANTHROPIC_API_KEY", key),
        ("ANTHROPIC_BASE_URL", base_url),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        // Says when it is idle, which is the only sure end of a turn.
        ("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1"),
        ("CLAUDE_CONFIG_DIR", &config),
        ("DISABLE_AUTOUPDATER", "1"),
        ("HOME", request.home),
        // Without it Claude Code refuses to act unasked if the sandbox shows it as root.
        ("IS_SANDBOX", "1"),
    ];
    env.extend(own.map(|(key, value)| (key.to_owned(), value.to_owned())));
    env
}
