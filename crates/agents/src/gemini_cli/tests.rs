//! How Gemini is started, and what it is given.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use warren_domain::{AgentProfile, Content, ContentPart, PermissionMode, ProfileId, SessionId};

use super::GeminiCli;
use crate::{Adapter, LaunchError, LaunchRequest, LayoutRequest, ModelApi, ModelEndpoint, Place};

/// A profile with something of everything.
fn full_profile() -> AgentProfile {
    let fields = json!({
        "systemPrompt": "Be brief.",
        "agentMDFile": "# Rules",
        "skills": [{"name": "cook", "description": "how to cook", "skillMd": "Boil.",
                    "supportingFiles": [{"path": "../salt.txt", "content": "Na"}]}],
        "subagents": [{"name": "Code Helper", "description": "says \"yes\": always", "prompt": "Help.", "tools": ["Read", "x"]}],
        "commands": [{"name": "greet/../all", "description": "greets", "prompt": "Greet \"$ARGUMENTS\"\n"}],
        "tools": ["Bash", "read_file"],
        "bundledMCPs": [{"name": "demo", "command": "node", "args": ["a.js"], "env": {"A": "1"}}],
        "externalMCPs": [{"name": "web", "type": "http", "url": "http://h/mcp", "headers": {"X": "y"}},
                         {"name": "old", "type": "sse", "url": "http://h/sse"}],
        "defaultWorkspaceFiles": [{"path": "a.txt", "content": "A"}],
    });
    serde_json::from_value(fields).expect("a profile")
}

fn endpoint() -> ModelEndpoint {
    ModelEndpoint {
        api: ModelApi::Gemini,
        base_url: "http://127.0.0.1:7002".to_owned(),
        placeholder_key: "placeholder".to_owned(),
    }
}

fn programs() -> BTreeMap<String, Vec<String>> {
    let words = ["node", "/agents/gemini-cli/gemini.js"].map(str::to_owned).to_vec();
    BTreeMap::from([("gemini-cli".to_owned(), words)])
}

/// What a request borrows.
struct Given {
    profile: AgentProfile,
    programs: BTreeMap<String, Vec<String>>,
    endpoints: Vec<ModelEndpoint>,
}

impl Given {
    fn new() -> Self {
        let profile = AgentProfile::empty(ProfileId("p".to_owned()));
        Self { profile, programs: programs(), endpoints: vec![endpoint()] }
    }

    fn request(&self) -> LaunchRequest<'_> {
        LaunchRequest {
            session: SessionId(uuid::Uuid::nil()),
            workspace: "/workspace",
            home: "/home/agent",
            resume: false,
            state: None,
            permission_mode: PermissionMode::Auto,
            programs: &self.programs,
            model: None,
            effort: None,
            context_window: |_| None,
            profile: &self.profile,
            endpoints: &self.endpoints,
        }
    }
}

/// The argument vector in one text.
fn argv(request: &LaunchRequest<'_>) -> Result<String, LaunchError> {
    GeminiCli.launch(request).map(|launch| launch.argv.join(" "))
}

const FOLLOW: &str = "/warren/guest follow --dir /home/agent/.gemini/tmp --suffix .jsonl --prompt-line";
const GEMINI: &str = "-- node /agents/gemini-cli/gemini.js -o stream-json --approval-mode";

#[test]
fn a_new_session_begins_with_no_chats_and_a_later_run_goes_on() {
    let given = Given::new();
    let new = format!("{FOLLOW} --clear {GEMINI} yolo --skip-trust -m gemini-2.5-pro");
    assert_eq!(argv(&given.request()), Ok(new.clone()));
    let renamed = format!("/bin/sh -c {} backdate /home/agent/.gemini/tmp", super::BACKDATE);
    let on = format!("{renamed} {FOLLOW} {GEMINI} yolo --skip-trust -m gemini-3 --resume latest");
    let going_on = LaunchRequest { resume: true, model: Some("gemini-3"), ..given.request() };
    assert_eq!(argv(&going_on), Ok(on));
    // Its only prompt was refused: there is nothing that Gemini would go on from.
    let state = json!({"prompts": {}, "resumable": false});
    let refused = LaunchRequest { resume: true, state: Some(&state), ..given.request() };
    assert_eq!(argv(&refused), Ok(new));
}

#[test]
fn the_model_is_the_sandboxs_own_and_signals_reach_the_one_that_works() {
    let given = Given::new();
    let launch = GeminiCli.launch(&given.request()).expect("launches");
    let value = |name: &str| launch.env.get(name).map(String::as_str);
    assert_eq!(value("GOOGLE_GEMINI_BASE_URL"), Some("http://127.0.0.1:7002"));
    assert_eq!(value("GEMINI_API_KEY"), Some("placeholder"));
    assert_eq!(value("GEMINI_CLI_NO_RELAUNCH"), Some("true"));
    assert_eq!((value("HOME"), launch.cwd.as_str()), (Some("/home/agent"), "/workspace"));
}

#[test]
fn without_a_program_or_an_endpoint_it_is_not_started() {
    let none = Given { programs: BTreeMap::new(), ..Given::new() };
    let not_installed = argv(&none.request());
    assert!(matches!(not_installed, Err(LaunchError::NotInstalled { .. })), "{not_installed:?}");
    let none = Given { endpoints: Vec::new(), ..Given::new() };
    let no_endpoint = argv(&none.request());
    assert!(
        matches!(no_endpoint, Err(LaunchError::NoEndpoint { api: ModelApi::Gemini, .. })),
        "{no_endpoint:?}"
    );
}

#[test]
fn a_profile_becomes_files_of_geminis_own_forms() {
    let profile = full_profile();
    let request = LayoutRequest {
        profile: &profile,
        endpoints: &[],
        model: None,
        permission_mode: PermissionMode::Auto,
    };
    let files: BTreeMap<(bool, String), String> = GeminiCli
        .layout(&request)
        .into_iter()
        .map(|file| {
            let text = String::from_utf8(file.content).expect("text");
            ((file.place == Place::Home, file.path), text)
        })
        .collect();
    let settings: Value =
        serde_json::from_str(&files[&(true, ".gemini/settings.json".to_owned())]).expect("JSON");
    let expected = json!({
        "demo": {"command": "node", "args": ["a.js"], "env": {"A": "1"}, "trust": true},
        "web": {"httpUrl": "http://h/mcp", "headers": {"X": "y"}, "trust": true},
        "old": {"url": "http://h/sse", "trust": true},
    });
    assert_eq!(settings["mcpServers"], expected);
    assert_eq!(
        settings["tools"],
        json!({
            "core": ["run_shell_command", "read_file", "mcp_demo_*", "mcp_web_*", "mcp_old_*"],
            "exclude": ["google_web_search"],
        })
    );
    assert_eq!(settings["experimental"], json!({"directWebFetch": true}));
    assert_eq!(settings["security"]["auth"]["selectedType"], "gemini-api-key");
    let rest: Vec<(bool, &str, &str)> = files
        .iter()
        .filter(|((_, path), _)| !path.ends_with("settings.json"))
        .map(|((is_home, path), text)| (*is_home, path.as_str(), text.as_str()))
        .collect();
    assert_eq!(
        rest,
        [
            (false, "a.txt", "A"),
            (true, ".gemini/GEMINI.md", "Be brief.\n\n# Rules"),
            (
                true,
                ".gemini/agents/code-helper.md",
                "---\nname: \"code-helper\"\ndescription: \"says \\\"yes\\\": always\"\ntools: [\"read_file\",\"x\"]\n---\nHelp.\n"
            ),
            (
                true,
                ".gemini/commands/greet-..-all.toml",
                "description = \"greets\"\nprompt = \"Greet \\\"{{args}}\\\"\\n\"\n"
            ),
            (
                true,
                ".gemini/skills/cook/SKILL.md",
                "---\nname: \"cook\"\ndescription: \"how to cook\"\n---\nBoil.\n"
            ),
            (true, ".gemini/skills/cook/salt.txt", "Na"),
        ]
    );
}

#[test]
fn what_a_person_saved_by_hand_is_read_too() {
    let history = json!([
        {"role": "user", "parts": [{"text": "list"}]},
        {"role": "model", "parts": [{"text": "I look."}, {"functionCall": {"id": "c", "name": "ls", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "ls", "response": {"output": "a"}}}]},
        {"role": "model", "parts": [{"text": "a"}]},
    ]);
    let log = json!([{"sessionId": "s", "messageId": 0, "type": "user", "message": "list", "timestamp": "2026-01-01T00:00:00Z"}]);
    let kinds = |file: &str| -> Vec<String> {
        let parsed = GeminiCli.parse(file.as_bytes(), &[]);
        assert_eq!(parsed.n_unreadable, 0, "{file}");
        let kind = |block: &warren_domain::Block| json!(block)["type"].as_str().map(str::to_owned);
        parsed.conversations.main().iter().filter_map(kind).collect()
    };
    let said = ["user_message", "assistant_text", "tool_use", "tool_result", "assistant_text"];
    assert_eq!(kinds(&history.to_string()), said);
    assert_eq!(kinds(&format!("{history:#}")), said);
    assert_eq!(kinds(&json!({"history": history, "authType": "gemini-api-key"}).to_string()), said);
    assert_eq!(kinds(&log.to_string()), ["user_message"]);
    let detected = crate::detect(history.to_string().as_bytes()).map(|agent| agent.agent_type());
    assert_eq!(detected, Some(GeminiCli.agent_type()));
}

#[test]
fn web_search_is_offered_only_where_it_is_granted() {
    let profile = AgentProfile { provider_tools: true, ..AgentProfile::empty(ProfileId("p".to_owned())) };
    let request = LayoutRequest {
        profile: &profile,
        endpoints: &[],
        model: None,
        permission_mode: PermissionMode::Auto,
    };
    let files = GeminiCli.layout(&request);
    let settings: Value = serde_json::from_slice(&files[0].content).expect("JSON");
    assert_eq!([&settings["tools"], &settings["experimental"]], [&Value::Null, &Value::Null]);
}

#[test]
fn what_gemini_could_only_ignore_is_refused_with_a_hint() {
    let agent = || "gemini-cli".into();
    let refused = GeminiCli.accepts(PermissionMode::Ask, None).expect_err("it cannot ask");
    assert_eq!(refused.to_string(), "agent `gemini-cli` cannot ask before it acts");
    assert!(refused.hint().expect("a hint").contains("`gemini-cli --acp`"));
    let given = Given::new();
    let request = LaunchRequest { permission_mode: PermissionMode::Ask, ..given.request() };
    assert_eq!(GeminiCli.launch(&request), Err(refused), "sessions of earlier releases too");

    let image = ContentPart::Image { image: "aGk=".to_owned(), media_type: "image/png".to_owned() };
    let text = ContentPart::Text { text: "what is this?".to_owned() };
    let with_image = Content::Parts(vec![text.clone(), image]);
    let auto = PermissionMode::Auto;
    let refused = GeminiCli.accepts(auto, Some(&with_image));
    assert_eq!(refused, Err(LaunchError::NoImages { agent: agent() }));
    for content in [None, Some(&Content::from("hi")), Some(&Content::Parts(vec![text]))] {
        assert_eq!(GeminiCli.accepts(auto, content), Ok(()));
    }
}
