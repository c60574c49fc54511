use std::collections::BTreeMap;

use serde_json::{Value, json};
use warren_domain::{
    AgentProfile, ApprovalDecision, Block, Content, Conversations, ErrorCode, EventBody, McpServer,
    PermissionMode, ProfileCommand, ProfileId, ReasoningEffort, SessionId, Skill, Subagent, Timestamp,
};

use super::{BACKGROUND, Codex};
use crate::{
    Adapter, Answer, Codec, LaunchError, LaunchRequest, LayoutRequest, ModelApi, ModelEndpoint, Output,
    Prompt, TranscriptName, TurnEnd,
};

fn now() -> Timestamp {
    Timestamp::from_millis(0)
}

fn profile() -> AgentProfile {
    AgentProfile::empty(ProfileId::from("p"))
}

fn endpoint() -> ModelEndpoint {
    ModelEndpoint {
        api: ModelApi::OpenAiResponses,
        base_url: "http://127.0.0.1:4100".to_owned(),
        placeholder_key: "placeholder".to_owned(),
    }
}

fn programs() -> BTreeMap<String, Vec<String>> {
    [("codex".to_owned(), vec!["/agents/codex/bin/codex".to_owned()])].into_iter().collect()
}

fn request<'a>(
    profile: &'a AgentProfile,
    programs: &'a BTreeMap<String, Vec<String>>,
    endpoints: &'a [ModelEndpoint],
) -> LaunchRequest<'a> {
    LaunchRequest {
        session: SessionId(uuid::Uuid::nil()),
        workspace: "/workspace",
        home: "/home/agent",
        resume: false,
        state: None,
        permission_mode: PermissionMode::Auto,
        programs,
        model: None,
        effort: None,
        context_window: |_| None,
        profile,
        endpoints,
    }
}

fn sent(outputs: &[Output]) -> Vec<Value> {
    let line = |output: &Output| match output {
        Output::Send(bytes) => Some(serde_json::from_slice(bytes).expect("JSON")),
        _ => None,
    };
    outputs.iter().filter_map(line).collect()
}

fn hears(codec: &mut dyn Codec, message: &Value) -> Vec<Output> {
    let mut out = Vec::new();
    codec.decode(message.to_string().as_bytes(), now(), &mut out);
    out
}

/// A codec in the middle of a turn.
fn working(mode: PermissionMode, state: Option<&Value>) -> (Box<dyn Codec>, Vec<Value>) {
    let (profile, programs) = (profile(), programs());
    let launch = LaunchRequest { permission_mode: mode, state, ..request(&profile, &programs, &[]) };
    let (mut codec, mut out) = (Codex.codec(&launch), Vec::new());
    codec.begin(&Prompt { message: "msg-1".into(), content: Content::from("go") }, now(), &mut out);
    out.extend(hears(codec.as_mut(), &json!({"id": 1, "result": {}})));
    let thread = json!({"id": "t", "historyMode": "paginated"});
    out.extend(hears(codec.as_mut(), &json!({"id": 2, "result": {"thread": thread, "model": "m"}})));
    out.extend(hears(codec.as_mut(), &json!({"id": 3, "result": {}})));
    let turn = json!({"threadId": "t", "turn": {"id": "u"}});
    out.extend(hears(codec.as_mut(), &json!({"method": "turn/started", "params": turn})));
    (codec, sent(&out))
}

#[test]
fn a_launch_needs_the_program_and_the_api() {
    let (profile, programs, endpoints) = (profile(), programs(), [endpoint()]);
    let launch = Codex.launch(&request(&profile, &programs, &endpoints)).expect("all is there");
    assert_eq!(launch.argv, ["/agents/codex/bin/codex", "app-server"]);
    let env: Vec<_> = launch.env.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(env, ["CODEX_HOME=/home/agent/.codex", "HOME=/home/agent", "WARREN_MODEL_KEY=placeholder"]);
    let no_api = LaunchError::NoEndpoint { agent: "codex".into(), api: ModelApi::OpenAiResponses };
    assert_eq!(Codex.launch(&request(&profile, &programs, &[])), Err(no_api));
    let no_program = LaunchError::NotInstalled { agent: "codex".into(), program: "codex".to_owned() };
    assert_eq!(Codex.launch(&request(&profile, &BTreeMap::new(), &endpoints)), Err(no_program));
}

#[test]
fn a_run_begins_a_thread_or_goes_on_in_the_one_there_was() {
    let (_, sent) = working(PermissionMode::Auto, None);
    let methods: Vec<&str> = sent.iter().filter_map(|it| it["method"].as_str()).collect();
    assert_eq!(methods, ["initialize", "initialized", "thread/start", "turn/start"]);
    let asked = json!({
        "cwd": "/workspace", "approvalPolicy": "never", "sandbox": "danger-full-access", "model": "gpt-5.5",
        "developerInstructions": BACKGROUND,
    });
    assert_eq!(sent[2]["params"], asked);
    let input = json!([{"type": "text", "text": "go"}]);
    assert_eq!(sent[3]["params"], json!({"threadId": "t", "clientUserMessageId": "msg-1", "input": input}));

    let (_, sent) = working(PermissionMode::Ask, Some(&json!({"threadId": "t"})));
    assert_eq!(sent[2]["method"], "thread/resume");
    assert_eq!(sent[2]["params"]["threadId"], "t");
    assert_eq!(sent[2]["params"]["approvalPolicy"], "untrusted");
}

#[test]
fn a_working_agent_is_steered_and_stopped() {
    let (mut codec, _) = working(PermissionMode::Auto, None);
    let prompt = Prompt { message: "msg-2".into(), content: Content::from("more") };
    let mut out = Vec::new();
    assert!(codec.steer(&prompt, now(), &mut out) && codec.interrupt(&mut out));
    let input = json!([{"type": "text", "text": "more"}]);
    let steered =
        json!({"threadId": "t", "expectedTurnId": "u", "clientUserMessageId": "msg-2", "input": input});
    let sent = sent(&out);
    assert_eq!(
        [&sent[0]["params"], &sent[1]["params"]],
        [&steered, &json!({"threadId": "t", "turnId": "u"})]
    );
    let turn = json!({"threadId": "t", "turn": {"id": "u", "status": "failed", "error": {"message": "x"}}});
    let out = hears(codec.as_mut(), &json!({"method": "turn/completed", "params": turn}));
    assert_eq!(out.last(), Some(&Output::TurnEnded(TurnEnd::Interrupted)));
}

#[test]
fn what_is_asked_is_answered_in_its_own_words() {
    let ask = |decisions: Value| {
        let params = json!({"threadId": "t", "itemId": "c", "command": "bash -lc ls", "availableDecisions": decisions});
        json!({"id": 0, "method": "item/commandExecution/requestApproval", "params": params})
    };
    let (mut codec, _) = working(PermissionMode::Auto, None);
    let out = hears(codec.as_mut(), &ask(Value::Null));
    assert_eq!(sent(&out)[0]["result"], json!({"decision": "accept"}));

    let amendment = json!({"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["ls"]}});
    for (offered, decision, expected) in [
        (Value::Null, ApprovalDecision::AllowAlways, json!("acceptForSession")),
        (json!(["accept", amendment]), ApprovalDecision::AllowAlways, amendment.clone()),
        (Value::Null, ApprovalDecision::Deny, json!("decline")),
    ] {
        let (mut codec, _) = working(PermissionMode::Ask, None);
        let out = hears(codec.as_mut(), &ask(offered));
        let Some(Output::Asked(asked)) = out.last() else { panic!("it asks") };
        assert_eq!((asked.title.as_str(), asked.tool_use_id.as_deref()), ("ls", Some("c")));
        let mut out = Vec::new();
        assert!(codec.answer("0", &Answer { decision, message: None, answers: None }, now(), &mut out));
        assert_eq!(sent(&out)[0]["result"], json!({"decision": expected}));
    }
}

#[test]
fn why_a_person_said_no_is_told_to_the_turn_that_goes_on() {
    let (mut codec, _) = working(PermissionMode::Ask, None);
    let params = json!({"threadId": "t", "itemId": "c", "command": "bash -lc ls"});
    let ask = json!({"id": 0, "method": "item/commandExecution/requestApproval", "params": params});
    hears(codec.as_mut(), &ask);
    let (decision, message) = (ApprovalDecision::Deny, Some("not today".to_owned()));
    let mut out = Vec::new();
    assert!(codec.answer("0", &Answer { decision, message, answers: None }, now(), &mut out));
    let sent = sent(&out);
    assert_eq!(sent[0]["result"], json!({"decision": "decline"}));
    let input = json!([{"type": "text", "text": "I said no to `ls`: not today"}]);
    let steered =
        json!({"threadId": "t", "expectedTurnId": "u", "clientUserMessageId": "c-reason", "input": input});
    assert_eq!((&sent[1]["method"], &sent[1]["params"]), (&json!("turn/steer"), &steered));
}

#[test]
fn a_thread_that_cannot_be_opened_is_a_failure_and_the_prompt_is_kept() {
    let (profile, programs) = (profile(), programs());
    let (mut codec, mut out) = (Codex.codec(&request(&profile, &programs, &[])), Vec::new());
    codec.begin(&Prompt { message: "msg-1".into(), content: Content::from("go") }, now(), &mut out);
    hears(codec.as_mut(), &json!({"id": 1, "result": {}}));
    let out = hears(codec.as_mut(), &json!({"id": 2, "error": {"code": -32600, "message": "no rollout"}}));
    let failed =
        TurnEnd::Failed { code: ErrorCode::AgentError, message: "no rollout".to_owned(), recoverable: true };
    assert!(format!("{:?}", out[0]).contains("msg-1"));
    assert_eq!(out.last(), Some(&Output::TurnEnded(failed)));
}

#[test]
fn a_profile_becomes_files_in_its_home() {
    let mut profile = profile();
    profile.agent_md_file = Some("Be kind.".to_owned());
    profile.commands = vec![ProfileCommand {
        name: "ship it".to_owned(),
        description: "d".to_owned(),
        prompt: "p".to_owned(),
    }];
    let skill = json!({"name": "charts", "description": "When \"asked\"", "skillMd": "# How"});
    profile.skills = vec![serde_json::from_value::<Skill>(skill).expect("a skill")];
    let subagent = json!({"name": "reader", "description": "reads", "prompt": "Read."});
    profile.subagents = vec![serde_json::from_value::<Subagent>(subagent).expect("a subagent")];
    let read = |value: Value| serde_json::from_value::<McpServer>(value).expect("a server");
    profile.bundled_mcps =
        vec![read(json!({"name": "demo", "command": "python3", "args": ["a.py"], "env": {"K": "v"}}))];
    profile.external_mcps = vec![read(json!({"name": "far", "type": "http", "url": "http://x/mcp"}))];
    let endpoints = [endpoint()];
    let files = Codex.layout(&LayoutRequest {
        profile: &profile,
        endpoints: &endpoints,
        model: Some("gpt-x"),
        permission_mode: PermissionMode::Auto,
    });
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let expected = [
        ".codex/config.toml",
        ".codex/AGENTS.md",
        ".codex/prompts/ship-it.md",
        ".codex/skills/charts/SKILL.md",
        ".codex/agents/reader.toml",
    ];
    assert_eq!(paths, expected);
    let config = String::from_utf8(files[0].content.clone()).expect("text");
    for line in [
        "model = \"gpt-x\"",
        "approval_policy = \"never\"",
        "sandbox_mode = \"danger-full-access\"",
        "web_search = \"disabled\"",
        "base_url = \"http://127.0.0.1:4100/v1\"",
        "env_key = \"WARREN_MODEL_KEY\"",
        "[\"mcp_servers\".\"demo\"]",
        "args = [\"a.py\"]",
        "env = { \"K\" = \"v\" }",
        "url = \"http://x/mcp\"",
        "config_file = \"agents/reader.toml\"",
    ] {
        assert!(config.lines().any(|it| it == line), "{line}\n{config}");
    }
}

#[test]
fn the_oldest_rollout_is_the_conversation_and_goes_back_by_its_own_head() {
    let plan = Codex.transcripts(SessionId(uuid::Uuid::nil()));
    let paths = [
        "2026/11/16/rollout-2026-11-16T00-00-05-child.jsonl",
        "2026/11/15/rollout-2026-11-15T23-59-59-main.jsonl",
        "2026/11/15/notes.txt",
    ];
    let names: Vec<Option<TranscriptName>> =
        plan.files(&paths).into_iter().map(|file| file.map(|file| file.name)).collect();
    let child = TranscriptName::Subagent("child".to_owned());
    assert_eq!(names, [Some(child), Some(TranscriptName::Main), None]);
    let head = |id: &str| {
        let meta = json!({"id": id, "timestamp": "2026-11-15T23:59:59.123Z"});
        format!("{}\nmore", json!({"type": "session_meta", "payload": meta})).into_bytes()
    };
    assert_eq!(plan.path(&TranscriptName::Main, &head("main")).as_deref(), Some(paths[1]));
    assert_eq!(plan.path(&TranscriptName::Main, &head("../../x")), None);
    assert_eq!(plan.path(&TranscriptName::Main, b"torn"), None);
}

#[test]
fn rollouts_of_all_ages_are_read() {
    let bare = concat!(
        r#"{"id":"t","timestamp":"2025-05-07T17:24:21.123Z","instructions":null}"#,
        "\n",
        r#"{"record_type":"state"}"#,
        "\n",
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}"#,
        "\n",
        r#"{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c"}"#,
        "\n",
        r#"{"type":"function_call_output","call_id":"c","output":"{\"output\":\"a\",\"metadata\":{\"exit_code\":0}}"}"#,
    );
    let parsed = Codex.parse(bare.as_bytes(), &[]);
    let kinds = |parsed: &crate::Parsed| -> Vec<String> {
        let blocks = serde_json::to_value(parsed.conversations.main()).expect("JSON");
        blocks.as_array().expect("a list").iter().map(|block| block["type"].to_string()).collect()
    };
    assert_eq!(kinds(&parsed), ["\"user_message\"", "\"tool_use\"", "\"tool_result\""]);
    assert_eq!(parsed.n_unreadable, 0);
    let items =
        json!([{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}]);
    let document = json!({"session": {"id": "t", "timestamp": "2025-05-07T17:24:21.123Z"}, "items": items});
    let document = serde_json::to_vec_pretty(&document).expect("JSON");
    assert_eq!(kinds(&Codex.parse(&document, &[])), ["\"user_message\""]);
}

fn folded(outputs: &[Output]) -> Conversations {
    let mut conversations = Conversations::default();
    for output in outputs {
        if let Output::Event(draft) = output {
            conversations.apply_draft(draft);
        }
    }
    conversations
}

/// Each block as its type and what it says.
fn told(blocks: &[Block]) -> Vec<String> {
    let told = |block: &Block| match block {
        Block::UserMessage { content, .. } => format!("user {}", content.to_text()),
        Block::AssistantText { content, .. } => format!("text {content}"),
        Block::Thinking { content, .. } => format!("thinking {content}"),
        Block::ToolUse { tool_name, input, status, .. } => format!("{tool_name} {input} {status:?}"),
        Block::ToolResult { output, is_error, .. } => format!("result {output} {is_error}"),
        other => format!("{other:?}"),
    };
    blocks.iter().map(told).collect()
}

#[test]
fn what_old_versions_printed_is_read() {
    let lines = [
        json!({"model": "gpt-5", "workdir": "/w", "provider": "openai", "approval": "never"}),
        json!({"prompt": "list"}),
        json!({"id": "0", "msg": {"type": "task_started", "model_context_window": 1}}),
        json!({"id": "0", "msg": {"type": "agent_reasoning", "text": "hm"}}),
        json!({"id": "0", "msg": {"type": "exec_command_begin", "call_id": "c", "command": ["bash", "-lc", "ls"]}}),
        json!({"id": "0", "msg": {"type": "exec_command_output_delta", "call_id": "c", "chunk": [97]}}),
        json!({"id": "0", "msg": {"type": "exec_command_end", "call_id": "c", "stdout": "a\n", "exit_code": 0}}),
        json!({"id": "0", "msg": {"type": "brand_new"}}),
        json!({"id": "0", "msg": {"type": "agent_message", "message": "a"}}),
        json!({"id": "0", "msg": {"type": "token_count", "input_tokens": 3, "output_tokens": 2}}),
        json!({"id": "0", "msg": {"type": "task_complete", "last_agent_message": "a"}}),
    ];
    let (mut codec, mut out) = (Codex.recorded(), Vec::new());
    lines.iter().for_each(|line| codec.decode(line.to_string().as_bytes(), now(), &mut out));
    let expected =
        ["user list", "thinking hm", "shell {\"command\":\"ls\"} Success", "result \"a\\n\" false", "text a"];
    assert_eq!(told(folded(&out).main()), expected);
    let is_unknown = |output: &&Output| matches!(output, Output::Event(draft) if matches!(draft.body, EventBody::Unrecognized { .. }));
    assert_eq!(out.iter().filter(is_unknown).count(), 1, "the kind that nobody knows");
    assert!(out.contains(&Output::TurnEnded(TurnEnd::Completed { summary: Some("a".to_owned()) })));
    let file = lines.map(|line| line.to_string()).join("\n");
    assert_eq!(crate::detect(file.as_bytes()).map(|agent| agent.agent_type()), Some(Codex.agent_type()));
}

#[test]
fn turns_that_were_taken_back_are_not_shown_and_unknown_lines_are_kept() {
    let line = |kind: &str, payload: Value| {
        json!({"timestamp": "2026-01-01T00:00:00.000Z", "type": kind, "payload": payload}).to_string()
    };
    let event = |payload: Value| line("event_msg", payload);
    let turn = |said: &str| {
        [
            event(json!({"type": "task_started"})),
            event(json!({"type": "user_message", "message": said})),
            event(json!({"type": "task_complete"})),
        ]
        .join("\n")
    };
    let file = [
        line("session_meta", json!({"id": "t", "source": "cli"})),
        turn("one"),
        turn("two"),
        turn("three"),
        event(json!({"type": "thread_rolled_back", "num_turns": 2})),
        turn("four"),
        event(json!({"type": "brand_new"})),
        line("response_item", json!({"type": "brand_new"})),
        line("brand_new", json!({})),
    ]
    .join("\n");
    let parsed = Codex.parse(file.as_bytes(), &[]);
    assert_eq!(told(parsed.conversations.main()), ["user one", "user four"]);
    assert_eq!(parsed.n_unreadable, 3);
}

#[test]
fn adopted_rollout_names_the_provider_of_this_server_and_is_otherwise_unchanged() {
    let said = r#"{"timestamp":"t","type":"event_msg","payload":{"type":"user_message","message":"\"model_provider\":\"openai\""}}"#;
    let rollout = |head: &str, settings: &str| {
        let head = json!({"type": "session_meta", "payload": {"id": "01a1", "model_provider": head}});
        let applied = json!({"type": "event_msg", "payload": {
            "type": "thread_settings_applied", "thread_settings": {"model": "gpt-5.5", "model_provider_id": settings},
        }});
        format!("{head}\n{said}\n{applied}\n{{\"model_provider\": torn")
    };
    let session = SessionId(uuid::Uuid::nil());
    for (head, settings) in [("openai", "openai"), ("my-company", "openai"), ("warren", "warren")] {
        let adopted = Codex.adopt(session, rollout(head, settings).as_bytes());
        assert_eq!(String::from_utf8(adopted.main).expect("text"), rollout("warren", "warren"), "{head}");
        assert_eq!(adopted.state, Some(json!({"threadId": "01a1"})));
        let subagent = Codex.adopt_subagent(rollout(head, settings).into_bytes());
        assert_eq!(String::from_utf8(subagent).expect("text"), rollout("warren", "warren"), "{head}");
    }
    // Old versions name no provider, and are resumed without.
    let old = br#"{"id":"01a1","timestamp":"2025-05-01T00:00:00Z","instructions":null}"#;
    assert_eq!(Codex.adopt(session, old).main, old);
}

#[test]
fn web_search_is_offered_only_where_it_is_granted() {
    let config = |provider_tools: bool| {
        let profile = AgentProfile { provider_tools, ..profile() };
        let mode = PermissionMode::Auto;
        let request = LayoutRequest { profile: &profile, endpoints: &[], model: None, permission_mode: mode };
        String::from_utf8(Codex.layout(&request).remove(0).content).expect("text")
    };
    assert!(config(false).contains("web_search = \"disabled\""));
    assert!(config(true).contains("web_search = \"live\""));
}

#[test]
fn effort_is_a_setting_of_the_app_server() {
    let (profile, programs, endpoints) = (profile(), programs(), [endpoint()]);
    let asked =
        LaunchRequest { effort: Some(ReasoningEffort::Low), ..request(&profile, &programs, &endpoints) };
    let argv = Codex.launch(&asked).expect("a launch").argv;
    assert_eq!(argv[1..], ["app-server", "-c", "model_reasoning_effort=\"low\""]);
}
