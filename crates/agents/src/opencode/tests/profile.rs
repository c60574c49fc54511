//! What OpenCode is given.

use serde_json::{Value, json};
use warren_domain::{PermissionMode, SessionId};

use super::{ENDPOINTS, profile, request};
use crate::{
    Adapter, Growth, LaunchError, LaunchRequest, LayoutRequest, ModelApi, Place, TranscriptName,
    opencode::OpenCode,
};

fn run_settings(request: &LaunchRequest<'_>) -> Value {
    let launch = OpenCode.launch(request).expect("it can be started");
    serde_json::from_str(&launch.env["OPENCODE_CONFIG_CONTENT"]).expect("JSON")
}

fn file_settings(value: Value) -> (Vec<(Place, String)>, Value) {
    let profile = profile(value);
    let files = OpenCode.layout(&LayoutRequest {
        profile: &profile,
        endpoints: &*ENDPOINTS,
        model: None,
        permission_mode: PermissionMode::Auto,
    });
    let settings = files.iter().find(|file| file.path.ends_with("opencode.json")).expect("settings");
    let settings = serde_json::from_slice(&settings.content).expect("JSON");
    (files.into_iter().map(|file| (file.place, file.path)).collect(), settings)
}

#[test]
fn a_launch_is_the_bridge_before_the_server() {
    let profile = profile(json!({"environmentVariables": {"LANG": "C.UTF-8", "HOME": "/elsewhere"}}));
    let launch = OpenCode.launch(&request(&profile)).expect("it can be started");
    let bridge = ["/warren/guest", "bridge", "--ready", "listening on", "--events", "/event"];
    let secret = ["--password", "OPENCODE_SERVER_PASSWORD", "--user", "opencode", "--"];
    let server = ["/agents/opencode/bin/opencode", "serve", "--hostname", "127.0.0.1", "--port", "0"];
    assert_eq!(launch.argv, [&bridge[..], &secret, &server].concat());
    assert_eq!((launch.env["HOME"].as_str(), launch.env["LANG"].as_str()), ("/home/agent", "C.UTF-8"));
    assert_eq!(launch.env["OPENCODE_DISABLE_MODELS_FETCH"], "1");
    assert_eq!(launch.cwd, "/workspace");
}

#[test]
fn without_its_program_or_an_endpoint_there_is_no_launch() {
    let profile = profile(json!({}));
    let nothing = std::collections::BTreeMap::new();
    let refused = OpenCode.launch(&LaunchRequest { programs: &nothing, ..request(&profile) });
    let program = "opencode".to_owned();
    assert_eq!(refused, Err(LaunchError::NotInstalled { agent: "opencode".into(), program }));
    let refused = OpenCode.launch(&LaunchRequest { endpoints: &[], ..request(&profile) });
    assert_eq!(refused, Err(LaunchError::NoEndpoint { agent: "opencode".into(), api: ModelApi::OpenAiChat }));
}

#[test]
fn a_model_is_asked_for_where_it_is() {
    let profile =
        profile(json!({"model": "gpt-5", "subagents": [{"name": "s", "model": "claude-haiku-4-5"}]}));
    let settings = run_settings(&request(&profile));
    assert_eq!(
        (&settings["model"], &settings["small_model"], &settings["enabled_providers"]),
        (
            &json!("warren-openai/gpt-5"),
            &json!("warren-openai/gpt-5"),
            &json!(["warren-anthropic", "warren-openai"])
        )
    );
    let anthropic = &settings["provider"]["warren-anthropic"];
    assert_eq!(anthropic["npm"], "@ai-sdk/anthropic");
    assert_eq!(anthropic["options"], json!({"baseURL": "http://127.0.0.1:4100/v1", "apiKey": "placeholder"}));
    assert!(anthropic["models"]["claude-haiku-4-5"].is_object());
    let openai = &settings["provider"]["warren-openai"];
    assert_eq!(openai["options"]["baseURL"], "http://127.0.0.1:4101/v1");

    let only = [ENDPOINTS[1].clone()];
    let settings =
        run_settings(&LaunchRequest { endpoints: &only, model: Some("claude-x"), ..request(&profile) });
    assert_eq!(settings["model"], "warren-openai/claude-x", "for want of the other");
}

#[test]
fn permissions_follow_the_mode_and_the_allowed_tools() {
    let rules = |value: Value, permission_mode| {
        let profile = profile(value);
        run_settings(&LaunchRequest { permission_mode, ..request(&profile) })["permission"].clone()
    };
    assert_eq!(rules(json!({}), PermissionMode::Auto), json!({"*": "allow"}));
    let ask = rules(json!({}), PermissionMode::Ask);
    assert_eq!(
        (&ask["*"], &ask["read"], &ask["task"], &ask["edit"]),
        (&json!("ask"), &json!("allow"), &json!("allow"), &Value::Null)
    );
    let tools = json!({"tools": ["Write", "Read", "demo_add"]});
    assert_eq!(
        rules(tools.clone(), PermissionMode::Auto),
        json!({"*": "deny", "edit": "allow", "read": "allow", "demo_add": "allow"})
    );
    assert_eq!(
        rules(tools, PermissionMode::Ask),
        json!({"*": "deny", "edit": "ask", "read": "allow", "demo_add": "ask"})
    );
}

#[test]
fn a_profile_becomes_settings_instructions_and_skills_in_the_home() {
    let (files, settings) = file_settings(json!({
        "systemPrompt": "You are kind.", "agentMDFile": "# Rules",
        "skills": [{"name": "make charts", "description": "When: charts", "skillMd": "# How",
            "supportingFiles": [{"path": "../lib/a.py", "content": "x"}]}],
        "subagents": [{"name": "helper", "description": "helps", "prompt": "Help.", "model": "claude-x", "tools": ["bash"]}],
        "commands": [{"name": "hi", "description": "greets", "prompt": "Say hi to $ARGUMENTS"}],
        "bundledMCPs": [{"name": "a", "command": "node", "args": ["a.js"], "env": {"K": "v"}}],
        "externalMCPs": [{"name": "b", "type": "http", "url": "http://b/mcp", "headers": {"H": "v"}}],
        "defaultWorkspaceFiles": [{"path": "README.md", "content": "x"}],
    }));
    let paths: Vec<(Place, &str)> = files.iter().map(|(place, path)| (*place, path.as_str())).collect();
    assert_eq!(
        paths,
        [
            (Place::Instructions, "opencode/SYSTEM.md"),
            (Place::Home, ".config/opencode/opencode.json"),
            (Place::Home, ".config/opencode/AGENTS.md"),
            (Place::Home, ".config/opencode/skills/make-charts/SKILL.md"),
            (Place::Home, ".config/opencode/skills/make-charts/lib/a.py"),
            (Place::Home, ".config/opencode/package-lock.json"),
            (Place::Home, ".config/opencode/node_modules/.package-lock.json"),
            (Place::Workspace, "README.md"),
        ]
    );
    assert_eq!(settings["instructions"], json!(["/instructions/opencode/SYSTEM.md"]));
    assert_eq!(
        settings["agent"],
        json!({"helper": {"mode": "subagent", "description": "helps", "prompt": "Help.",
            "model": "warren-anthropic/claude-x", "permission": {"*": "deny", "bash": "allow"}}})
    );
    assert_eq!(
        settings["command"],
        json!({"hi": {"template": "Say hi to $ARGUMENTS", "description": "greets"}})
    );
    assert_eq!(
        settings["mcp"],
        json!({
            "a": {"type": "local", "command": ["node", "a.js"], "environment": {"K": "v"}, "enabled": true},
            "b": {"type": "remote", "url": "http://b/mcp", "headers": {"H": "v"}, "enabled": true, "oauth": false},
        })
    );
}

#[test]
fn a_skill_says_at_its_head_what_it_is_for() {
    let profile = profile(json!({"skills": [
        {"name": "a", "description": "say \"a\": now", "skillMd": "# A"},
        {"name": "b", "skillMd": "---\nname: b\ndescription: own\n---\n# B"},
    ]}));
    let files = OpenCode.layout(&LayoutRequest {
        profile: &profile,
        endpoints: &[],
        model: None,
        permission_mode: PermissionMode::Auto,
    });
    let texts: Vec<&str> =
        files.iter().skip(1).take(2).map(|file| std::str::from_utf8(&file.content).expect("text")).collect();
    assert_eq!(
        texts,
        [
            "---\nname: a\ndescription: \"say \\\"a\\\": now\"\n---\n\n# A",
            "---\nname: b\ndescription: own\n---\n# B"
        ]
    );
}

#[test]
fn its_memory_is_an_export_of_each_session_written_anew() {
    let plan = OpenCode.transcripts(SessionId(uuid::Uuid::nil()));
    assert_eq!(plan.root(), ".warren/opencode/00000000-0000-0000-0000-000000000000");
    let names = [TranscriptName::Main, TranscriptName::Subagent("ses_a".to_owned())];
    let paths = names.clone().map(|name| plan.path(&name, b"").expect("it has a place"));
    assert_eq!(paths, ["main.json", "subagents/ses_a.json"]);
    let files = paths.map(|path| plan.file(&path).expect("it is known"));
    assert_eq!(files.clone().map(|file| file.growth), [Growth::Rewritten; 2]);
    assert_eq!(files.map(|file| file.name), names);
    assert_eq!(plan.file("subagents/.warren-writing-ses_a.json.tmp"), None);
}
