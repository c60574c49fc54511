use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use warren_domain::{
    AgentProfile, ApprovalDecision, ApprovalKind, Block, Content, ContentPart, Draft, ErrorCode, EventBody,
    McpServer, PermissionMode, ProfileCommand, ProfileId, ReasoningEffort, SessionId, Skill, Subagent,
    Timestamp, WorkspaceTemplateFile,
};

use super::ClaudeCode;
use crate::{
    Adapter, Answer, Ask, Codec, Exit, Growth, LaunchError, LaunchRequest, LayoutRequest, ModelApi,
    ModelEndpoint, Output, Place, Prompt, TranscriptName, TurnEnd,
};

const SESSION: &str = "00000000-0000-0000-0000-000000000000";
const IDLE: &str = r#"{"type":"system","subtype":"session_state_changed","state":"idle"}"#;
const RUNNING: &str = r#"{"type":"system","subtype":"session_state_changed","state":"running"}"#;
const SUCCESS: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done."}"#;

fn programs() -> BTreeMap<String, Vec<String>> {
    BTreeMap::from([("claude-code".to_owned(), vec!["/agents/claude-code/claude".to_owned()])])
}

fn endpoints() -> [ModelEndpoint; 1] {
    [ModelEndpoint {
        api: ModelApi::Anthropic,
        base_url: "http://127.0.0.1:4100".to_owned(),
        placeholder_key: "placeholder".to_owned(),
    }]
}

fn profile() -> AgentProfile {
    AgentProfile::empty(ProfileId::from("p"))
}

/// What a test asks of a request for a launch.
fn with_request<T>(profile: &AgentProfile, check: impl FnOnce(LaunchRequest<'_>) -> T) -> T {
    check(LaunchRequest {
        session: SessionId(uuid::Uuid::nil()),
        workspace: "/workspace",
        home: "/home/agent",
        resume: false,
        state: None,
        permission_mode: PermissionMode::Auto,
        programs: &programs(),
        model: None,
        effort: None,
        context_window: |_| None,
        profile,
        endpoints: &endpoints(),
    })
}

fn live() -> Box<dyn Codec> {
    with_request(&profile(), |request| ClaudeCode.codec(&request))
}

fn now() -> Timestamp {
    Timestamp::from_millis(0)
}

fn decoded(codec: &mut dyn Codec, lines: &[&str]) -> Vec<Output> {
    let mut out = Vec::new();
    lines.iter().for_each(|line| codec.decode(line.as_bytes(), now(), &mut out));
    out
}

fn ends(outputs: &[Output]) -> Vec<TurnEnd> {
    let end = |output: &Output| match output {
        Output::TurnEnded(end) => Some(end.clone()),
        _ => None,
    };
    outputs.iter().filter_map(end).collect()
}

fn sent(outputs: &[Output]) -> Vec<Value> {
    let line = |output: &Output| match output {
        Output::Send(bytes) if bytes.ends_with(b"\n") => serde_json::from_slice(bytes).ok(),
        _ => None,
    };
    outputs.iter().filter_map(line).collect()
}

fn done() -> TurnEnd {
    TurnEnd::Completed { summary: Some("Done.".to_owned()) }
}

fn prompt(n: u32, content: Content) -> Prompt {
    Prompt { message: format!("msg-{n}").as_str().into(), content }
}

fn user_message(id: &str, text: &str) -> Output {
    let block = Block::UserMessage { id: id.into(), timestamp: now(), content: Content::from(text) };
    Output::Event(Draft::of_session(EventBody::BlockComplete { block }))
}

#[test]
fn a_launch_drives_it_over_stdin_and_lets_it_act() {
    let mut profile = profile();
    profile.model = Some("of-profile".to_owned());
    profile.environment_variables.insert("CLAUDE_CONFIG_DIR".to_owned(), "/elsewhere".to_owned());
    let launch = with_request(&profile, |request| ClaudeCode.launch(&request)).expect("all is there");
    assert_eq!(
        launch.argv.join(" "),
        format!(
            "/bin/sh -c rm -f \"$0\"; exec \"$@\" /home/agent/.claude/projects/-workspace/{SESSION}.jsonl \
             /agents/claude-code/claude -p --input-format stream-json --output-format stream-json --verbose \
             --include-partial-messages --replay-user-messages --forward-subagent-text --strict-mcp-config \
             --settings {{\"skipWebFetchPreflight\":true}} \
             --session-id {SESSION} --permission-mode bypassPermissions --model of-profile \
             --disallowedTools WebSearch"
        )
    );
    let env: Vec<String> = launch.env.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(
        env,
        [
            "ANTHROPIC_API_KEY=placeholder",
            "ANTHROPIC_BASE_URL=http://127.0.0.1:4100",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
            "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1",
            "CLAUDE_CONFIG_DIR=/home/agent/.claude",
            "DISABLE_AUTOUPDATER=1",
            "HOME=/home/agent",
            "IS_SANDBOX=1",
        ]
    );
}

#[test]
fn launch_that_asks_takes_no_leave_from_the_state_of_an_earlier_release() {
    let mut profile = profile();
    profile.system_prompt = Some("Be kind.".to_owned());
    profile.tools = Some(vec!["Bash".to_owned(), "Read".to_owned(), "mcp__demo__add".to_owned()]);
    profile.external_mcps = vec![McpServer { name: "demo".to_owned(), settings: Map::new() }];
    let state = json!({"allowed": ["Bash(touch a)", "Write"]});
    let launch = with_request(&profile, |request| {
        let mode = PermissionMode::Ask;
        ClaudeCode.launch(&LaunchRequest {
            resume: true,
            state: Some(&state),
            permission_mode: mode,
            ..request
        })
    });
    let argv = launch.expect("all is there").argv;
    let after = argv.iter().position(|word| word == "--settings").expect("it is there") + 2;
    assert_eq!(
        argv[after..],
        [
            "--resume",
            SESSION,
            "--permission-prompt-tool",
            "stdio",
            "--append-system-prompt-file",
            "/instructions/system-prompt.md",
            "--mcp-config",
            "/instructions/mcp.json",
            "--tools",
            "Bash,Read",
            "--disallowedTools",
            "WebSearch",
        ]
    );
}

#[test]
fn web_search_is_offered_only_where_it_is_granted() {
    let granted = AgentProfile { provider_tools: true, ..profile() };
    let launch = with_request(&granted, |request| ClaudeCode.launch(&request)).expect("all is there");
    assert!(!launch.argv.iter().any(|word| word == "--disallowedTools"), "{:?}", launch.argv);
}

#[test]
fn without_its_program_or_its_api_there_is_no_launch() {
    let agent = || "claude-code".into();
    let refused = with_request(&profile(), |request| {
        ClaudeCode.launch(&LaunchRequest { programs: &BTreeMap::new(), ..request })
    });
    let program = "claude-code".to_owned();
    assert_eq!(refused, Err(LaunchError::NotInstalled { agent: agent(), program }));
    let refused =
        with_request(&profile(), |request| ClaudeCode.launch(&LaunchRequest { endpoints: &[], ..request }));
    assert_eq!(refused, Err(LaunchError::NoEndpoint { agent: agent(), api: ModelApi::Anthropic }));
}

/// A profile that has something of everything.
fn full_profile() -> AgentProfile {
    let file = |path: &str| WorkspaceTemplateFile { path: path.to_owned(), content: "x".to_owned() };
    let settings = |value: Value| value.as_object().cloned().expect("an object");
    let mut profile = profile();
    profile.agent_md_file = Some("Remember.".to_owned());
    profile.system_prompt = Some("Be kind.".to_owned());
    profile.bundled_mcps = vec![McpServer {
        name: "demo".to_owned(),
        settings: settings(json!({"command": "node", "args": ["a.js"]})),
    }];
    profile.external_mcps = vec![McpServer {
        name: "far".to_owned(),
        settings: settings(json!({"type": "http", "url": "http://x"})),
    }];
    profile.skills = vec![Skill {
        name: "make charts".to_owned(),
        description: "When: \"charts\"".to_owned(),
        skill_md: "# How".to_owned(),
        supporting_files: vec![file("../lib/chart.py")],
        npm_dependencies: Vec::new(),
        pip_dependencies: Vec::new(),
    }];
    profile.subagents = vec![Subagent {
        name: "reviewer".to_owned(),
        description: "Reviews".to_owned(),
        prompt: "Review it.".to_owned(),
        model: Some("haiku".to_owned()),
        tools: Some(vec!["Read".to_owned(), "Grep".to_owned()]),
    }];
    profile.commands = vec![ProfileCommand {
        name: "greet".to_owned(),
        description: "Greets".to_owned(),
        prompt: "Say hello to $ARGUMENTS".to_owned(),
    }];
    profile.default_workspace_files = vec![file("README.md")];
    profile
}

#[test]
fn a_profile_becomes_files_of_its_own_directory_and_instructions() {
    let profile = full_profile();
    let files = ClaudeCode.layout(&LayoutRequest {
        profile: &profile,
        endpoints: &[],
        model: None,
        permission_mode: PermissionMode::Auto,
    });
    let text = |content: &[u8]| String::from_utf8_lossy(content).into_owned();
    let files: Vec<_> =
        files.iter().map(|file| (file.place, file.path.as_str(), text(&file.content))).collect();
    let mcp = json!({"mcpServers": {"demo": {"args": ["a.js"], "command": "node"}, "far": {"type": "http", "url": "http://x"}}});
    let expected = [
        (Place::Home, ".claude/CLAUDE.md", "Remember.".to_owned()),
        (Place::Instructions, "system-prompt.md", "Be kind.".to_owned()),
        (Place::Instructions, "mcp.json", serde_json::to_string_pretty(&mcp).expect("JSON")),
        (
            Place::Home,
            ".claude/skills/make-charts/SKILL.md",
            "---\nname: \"make-charts\"\ndescription: \"When: \\\"charts\\\"\"\n---\n\n# How\n".to_owned(),
        ),
        (Place::Home, ".claude/skills/make-charts/lib/chart.py", "x".to_owned()),
        (
            Place::Home,
            ".claude/agents/reviewer.md",
            "---\nname: \"reviewer\"\ndescription: \"Reviews\"\ntools: \"Read, Grep\"\nmodel: \"haiku\"\n---\n\nReview it.\n"
                .to_owned(),
        ),
        (
            Place::Home,
            ".claude/commands/greet.md",
            "---\ndescription: \"Greets\"\n---\n\nSay hello to $ARGUMENTS\n".to_owned(),
        ),
        (Place::Workspace, "README.md", "x".to_owned()),
    ];
    assert_eq!(files, expected);
}

#[test]
fn its_memory_is_the_transcripts_and_what_belongs_to_the_session() {
    let plan = ClaudeCode.transcripts(SessionId(uuid::Uuid::nil()));
    assert_eq!(plan.root(), ".claude");
    let of = |path: &str| format!("projects/-workspace/{SESSION}{path}");
    let kept = [
        (of(".jsonl"), TranscriptName::Main, Growth::Appended),
        (of("/subagents/agent-a1.jsonl"), TranscriptName::Subagent("a1".to_owned()), Growth::Appended),
        (
            of("/subagents/agent-a1.meta.json"),
            TranscriptName::Other(of("/subagents/agent-a1.meta.json")),
            Growth::Rewritten,
        ),
        (of("/tool-results/x.txt"), TranscriptName::Other(of("/tool-results/x.txt")), Growth::Rewritten),
    ];
    for (path, name, growth) in kept {
        let file = plan.file(&path).expect("it is kept");
        assert_eq!((&file.name, file.growth), (&name, growth));
        assert_eq!(plan.path(&name, b""), Some(path));
    }
    let strange = ["settings.json", "projects/-workspace/other.jsonl", "tasks/x/1.json", "../x"];
    assert!(strange.iter().all(|path| plan.file(path).is_none()));
    let escape = TranscriptName::Other(of("/../../x"));
    assert_eq!(
        (plan.path(&escape, b""), plan.path(&TranscriptName::Subagent("a/b".to_owned()), b"")),
        (None, None)
    );
}

#[test]
fn it_goes_on_only_from_a_transcript_in_which_something_was_said() {
    let plan = ClaudeCode.transcripts(SessionId(uuid::Uuid::nil()));
    let queued = r#"{"type":"queue-operation","operation":"enqueue","content":"x"}"#;
    let said = r#"{"type":"user","message":{"content":"x"}}"#;
    let torn = r#"{"type":"user","message":{"con"#;
    let answers = ["", queued, torn, &format!("{queued}\n{said}\n{torn}")]
        .map(|main| plan.is_resumable(main.as_bytes()));
    assert_eq!(answers, [false, false, false, true]);
}

#[test]
fn a_prompt_is_sent_with_its_uuid_and_shown_once() {
    let (mut codec, mut out) = (live(), Vec::new());
    let image = ContentPart::Image { image: "aGk=".to_owned(), media_type: "image/png".to_owned() };
    let parts = vec![
        ContentPart::Text { text: "see\n".to_owned() },
        image,
        ContentPart::File { file: "a.csv".to_owned() },
    ];
    codec.begin(&prompt(1, Content::Parts(parts)), now(), &mut out);
    let source = json!({"type": "base64", "media_type": "image/png", "data": "aGk="});
    let content = json!([
        {"type": "text", "text": "see\n"}, {"type": "image", "source": source}, {"type": "text", "text": "[file a.csv]"}
    ]);
    let line = json!({"type": "user", "uuid": "1", "message": {"role": "user", "content": content}});
    assert_eq!((sent(&out), out.len()), (vec![line], 1));

    let mut codec = live();
    codec.begin(&prompt(1, Content::from("go")), now(), &mut Vec::new());
    let replay = r#"{"type":"user","uuid":"1","isReplay":true,"message":{"content":"go"}}"#;
    assert_eq!(decoded(&mut *codec, &[replay, replay]), [user_message("msg-1", "go")]);

    // A version that repeats it late, or never.
    let mut codec = live();
    codec.begin(&prompt(1, Content::from("go")), now(), &mut Vec::new());
    let answer = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"Yes."}]}}"#;
    let out = decoded(&mut *codec, &[answer, replay]);
    assert_eq!((out.len(), &out[0]), (2, &user_message("msg-1", "go")));
}

#[test]
fn a_turn_ends_when_it_is_idle_and_nothing_works_in_the_background() {
    let started = r#"{"type":"system","subtype":"task_started","task_id":"a","task_type":"local_agent"}"#;
    let server = r#"{"type":"system","subtype":"task_started","task_id":"b","task_type":"local_bash"}"#;
    let updated =
        r#"{"type":"system","subtype":"task_updated","task_id":"a","patch":{"status":"completed"}}"#;
    let mut codec = live();
    let early = decoded(&mut *codec, &[RUNNING, started, server, SUCCESS, IDLE]);
    assert_eq!(ends(&early), []);
    assert_eq!(ends(&decoded(&mut *codec, &[updated, RUNNING, SUCCESS, IDLE, IDLE])), [done()]);
    // A version that does not say when it is idle.
    assert_eq!(ends(&decoded(&mut *live(), &[SUCCESS, SUCCESS])), [done()]);
}

#[test]
fn a_turn_waits_for_what_it_was_told_meanwhile() {
    let replay = r#"{"type":"user","uuid":"2","isReplay":true,"message":{"content":"more"}}"#;
    let (mut codec, mut out) = (live(), Vec::new());
    assert!(codec.steer(&prompt(2, Content::from("more")), now(), &mut out));
    assert_eq!((sent(&out).len(), out.len()), (1, 1));
    assert_eq!(ends(&decoded(&mut *codec, &[RUNNING, SUCCESS, IDLE])), []);
    let out = decoded(&mut *codec, &[RUNNING, replay, SUCCESS, IDLE]);
    assert_eq!((ends(&out), &out[0]), (vec![done()], &user_message("msg-2", "more")));
    assert!(!codec.steer(&prompt(3, Content::from("late")), now(), &mut Vec::new()));
}

#[test]
fn the_outcome_is_what_all_signs_together_say() {
    let failed =
        |code, message: &str| TurnEnd::Failed { code, message: message.to_owned(), recoverable: true };
    let cases = [
        (
            r#"{"type":"result","subtype":"success","is_error":false,"result":""}"#,
            TurnEnd::Completed { summary: None },
        ),
        (
            r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":529,"result":"API Error"}"#,
            failed(ErrorCode::LlmError, "API Error"),
        ),
        (
            r#"{"type":"result","subtype":"error_max_turns","is_error":true,"terminal_reason":"max_turns"}"#,
            failed(ErrorCode::AgentError, "the agent reached its limit of turns"),
        ),
        (
            r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["no conversation"]}"#,
            failed(ErrorCode::AgentError, "no conversation"),
        ),
        (
            r#"{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools"}"#,
            TurnEnd::Interrupted,
        ),
    ];
    for (line, end) in cases {
        assert_eq!(ends(&decoded(&mut *live(), &[line])), [end], "{line}");
    }
}

#[test]
fn an_interrupt_is_a_request_and_what_comes_of_it_is_no_failure() {
    let (mut codec, mut out) = (live(), Vec::new());
    assert!(codec.interrupt(&mut out));
    let request = json!({"subtype": "interrupt"});
    assert_eq!(
        sent(&out),
        [json!({"type": "control_request", "request_id": "interrupt-1", "request": request})]
    );
    let cut = r#"{"type":"result","subtype":"error_during_execution","is_error":true}"#;
    assert_eq!(ends(&decoded(&mut *codec, &[cut])), [TurnEnd::Interrupted]);

    let killed = Exit { code: None, signal: Some(9) };
    let (mut codec, mut out) = (live(), Vec::new());
    codec.interrupt(&mut Vec::new());
    codec.ended(&killed, now(), &mut out);
    assert_eq!(ends(&out), [TurnEnd::Interrupted]);
    let (mut codec, mut out) = (live(), Vec::new());
    codec.ended(&killed, now(), &mut out);
    let message = "the agent exited before it finished (killed by signal 9)".to_owned();
    assert_eq!(ends(&out), [TurnEnd::Failed { code: ErrorCode::AgentError, message, recoverable: true }]);
}

const MAY_I: &str = r#"{"type":"control_request","request_id":"q","request":{"subtype":"can_use_tool","tool_name":"Bash",
    "display_name":"Bash","input":{"command":"touch a"},"tool_use_id":"t1","permission_suggestions":[
    {"type":"setMode","mode":"acceptEdits","destination":"session"},
    {"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch a"}],"behavior":"allow","destination":"localSettings"}]}}"#;

/// One line, however it is written here.
fn may_i() -> String {
    MAY_I.replace('\n', " ")
}

fn answered(decision: ApprovalDecision, message: Option<&str>) -> (Vec<Output>, bool) {
    let (mut codec, mut out) = (live(), Vec::new());
    decoded(&mut *codec, &[&may_i()]);
    let answer = Answer { decision, message: message.map(str::to_owned), answers: None };
    assert!(codec.answer("q", &answer, now(), &mut out));
    (out, codec.answer("q", &answer, now(), &mut Vec::new()))
}

fn response(value: Value) -> Value {
    let response = json!({"subtype": "success", "request_id": "q", "response": value});
    json!({"type": "control_response", "response": response})
}

#[test]
fn a_permission_is_asked_for_and_answered_once() {
    let asked = decoded(&mut *live(), &[&may_i()]);
    let ask = Ask {
        key: "q".to_owned(),
        kind: ApprovalKind::Permission,
        tool_use_id: Some("t1".to_owned()),
        title: "Bash: touch a".to_owned(),
        detail: json!({"toolName": "Bash", "input": {"command": "touch a"}}),
        options: vec![ApprovalDecision::Allow, ApprovalDecision::AllowAlways, ApprovalDecision::Deny],
    };
    assert_eq!(asked, [Output::Asked(ask)]);

    let input = json!({"command": "touch a"});
    let (out, again) = answered(ApprovalDecision::Allow, None);
    assert_eq!(sent(&out), [response(json!({"behavior": "allow", "updatedInput": input}))]);
    assert!(!again, "nobody waits for it any more");
    let (out, _) = answered(ApprovalDecision::Deny, Some("not now"));
    assert_eq!(sent(&out), [response(json!({"behavior": "deny", "message": "not now"}))]);
}

#[test]
fn rules_that_claude_code_suggests_are_never_taken() {
    let (out, _) = answered(ApprovalDecision::AllowAlways, None);
    let allow = json!({"behavior": "allow", "updatedInput": {"command": "touch a"}});
    assert_eq!(sent(&out), [response(allow)]);
    assert_eq!(out.len(), 1, "nothing is kept for the next process");
}

#[test]
fn a_question_is_answered_in_its_own_form() {
    let questions = json!([{"question": "Which?", "options": [{"label": "A"}], "multiSelect": true}]);
    let request =
        json!({"subtype": "can_use_tool", "tool_name": "AskUserQuestion", "input": {"questions": questions}});
    let line = json!({"type": "control_request", "request_id": "q", "request": request}).to_string();
    let (mut codec, mut out) = (live(), Vec::new());
    let asked = decoded(&mut *codec, &[&line]);
    let [Output::Asked(ask)] = &asked[..] else { panic!("a question, not {asked:?}") };
    assert_eq!(
        (ask.kind, ask.title.as_str(), &ask.detail),
        (ApprovalKind::Question, "Which?", &json!({"questions": questions}))
    );
    let answers = json!({"Which?": ["A", "B"]}).as_object().cloned();
    codec.answer("q", &Answer { decision: ApprovalDecision::Allow, message: None, answers }, now(), &mut out);
    let input = json!({"questions": questions, "answers": {"Which?": ["A", "B"]}});
    assert_eq!(sent(&out), [response(json!({"behavior": "allow", "updatedInput": input}))]);
}

#[test]
fn what_is_no_longer_asked_is_withdrawn() {
    let mut codec = live();
    decoded(&mut *codec, &[&may_i()]);
    let cancel = r#"{"type":"control_cancel_request","request_id":"q"}"#;
    assert_eq!(decoded(&mut *codec, &[cancel, cancel]), [Output::Withdrawn("q".to_owned())]);
}

#[test]
fn a_line_nobody_understands_is_kept() {
    let lines =
        ["not JSON", r#"{"type":"from_the_future"}"#, r#"{"type":"system","subtype":"new"}"#, "", " "];
    let unrecognized = |raw: &str| {
        let body = EventBody::Unrecognized { agent: "claude-code".into(), raw: raw.to_owned() };
        Output::Event(Draft::of_session(body))
    };
    assert_eq!(
        decoded(&mut *live(), &lines),
        lines[..3].iter().map(|line| unrecognized(line)).collect::<Vec<_>>()
    );
}

#[test]
fn what_was_taken_back_is_not_shown() {
    let said = |uuid: &str, parent: Value, text: &str| {
        json!({"type": "user", "uuid": uuid, "parentUuid": parent, "message": {"content": text}}).to_string()
    };
    let lines =
        [said("p1", Value::Null, "one"), said("p2", json!("p1"), "two"), said("p3", json!("p1"), "instead")];
    let parsed = ClaudeCode.parse(lines.join("\n").as_bytes(), &[]);
    let ids: Vec<&str> = parsed.conversations.main().iter().map(|block| block.id().as_str()).collect();
    assert_eq!(ids, ["msg-p1", "msg-p3"]);
}

#[test]
fn a_subagent_between_the_lines_of_an_old_transcript_has_its_own_thread() {
    let lines = [
        json!({"type": "assistant", "uuid": "a", "message": {"id": "m", "content": [
            {"type": "tool_use", "id": "t", "name": "Task", "input": {"prompt": "look", "subagent_type": "reader"}}]}}),
        json!({"type": "user", "uuid": "s1", "isSidechain": true, "message": {"content": "look"}}),
        json!({"type": "assistant", "uuid": "s2", "parentUuid": "s1", "isSidechain": true,
            "message": {"id": "n", "content": [{"type": "text", "text": "It is."}]}}),
        json!({"type": "user", "uuid": "r", "parentUuid": "a", "message": {"content": [
            {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "It is."}]}]}}),
    ];
    let text = lines.map(|line| line.to_string()).join("\n");
    let parsed = ClaudeCode.parse(text.as_bytes(), &[]);
    let ids = |blocks: &[Block]| blocks.iter().map(|block| block.id().0.clone()).collect::<Vec<_>>();
    assert_eq!(ids(parsed.conversations.main()), ["t"]);
    let threads: Vec<_> =
        parsed.conversations.subagents().map(|(id, blocks)| (id.as_str(), ids(blocks))).collect();
    let blocks = ["agent-t-start", "agent-t-task", "n-text-0", "agent-t-end"].map(str::to_owned).to_vec();
    assert_eq!(threads, [("agent-t", blocks)]);
}

#[test]
fn documents_are_files_and_parts_nobody_knows_are_kept_beside_what_is_known() {
    let said =
        |parts: Value| json!({"type": "user", "uuid": "u", "message": {"role": "user", "content": parts}});
    let known = said(json!([
        {"type": "document", "title": "plan.pdf", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "words"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
    ]));
    let expected = vec![
        ContentPart::File { file: "plan.pdf".to_owned() },
        ContentPart::Text { text: "words".to_owned() },
        ContentPart::Image { image: "iVBO".to_owned(), media_type: "image/png".to_owned() },
    ];
    let parsed = ClaudeCode.parse(known.to_string().as_bytes(), &[]);
    let content = |blocks: &[Block]| match blocks {
        [Block::UserMessage { content, .. }] => Some(content.clone()),
        _ => None,
    };
    assert_eq!(content(parsed.conversations.main()), Some(Content::Parts(expected)));
    assert_eq!(parsed.n_unreadable, 0);

    let unknown =
        said(json!([{"type": "text", "text": "see"}, {"type": "hologram", "depth": 3}])).to_string();
    let parsed = ClaudeCode.parse(unknown.as_bytes(), &[]);
    assert_eq!((parsed.conversations.main().len(), parsed.unrecognized), (1, vec![unknown.clone()]));
    let outputs = decoded(&mut *ClaudeCode.recorded(), &[&unknown]);
    let is_kept = |output: &Output| matches!(output, Output::Event(draft) if matches!(&draft.body, EventBody::Unrecognized { raw, .. } if *raw == unknown));
    assert!(outputs.iter().any(is_kept), "{outputs:?}");
}

#[test]
fn numbers_without_measure_are_no_more_than_large() {
    let line = |n: u32| {
        let usage = json!({"input_tokens": 999_999_999_999_999_999_u64, "output_tokens": u64::MAX, "cache_read_input_tokens": 1e30});
        json!({"type": "assistant", "uuid": format!("u{n}"), "message": {"id": format!("m{n}"), "model": "x", "usage": usage,
            "content": [{"type": "text", "text": "hi"}]}})
        .to_string()
    };
    let file: Vec<String> = (0..100).map(line).collect();
    let parsed = ClaudeCode.parse(file.join("\n").as_bytes(), &[]);
    assert_eq!((parsed.conversations.main().len(), parsed.n_unreadable), (100, 0));
    assert_eq!(parsed.usage.map(|usage| usage.input_tokens), Some(u64::MAX));
}

#[test]
fn a_summary_of_a_version_that_marks_no_compaction_is_shown_as_one() {
    let line = json!({"type": "user", "uuid": "u", "isCompactSummary": true,
        "message": {"role": "user", "content": "This session is being continued."}});
    let parsed = ClaudeCode.parse(line.to_string().as_bytes(), &[]);
    let [Block::System { id, metadata: Some(more), .. }] = parsed.conversations.main() else {
        panic!("{:?}", parsed.conversations.main());
    };
    assert_eq!((id.as_str(), &more["summary"]), ("u", &json!("This session is being continued.")));
}

#[test]
fn command_that_clears_the_conversation_is_refused_and_no_other() {
    let accepts = |said: &str| ClaudeCode.accepts(PermissionMode::Auto, Some(&Content::from(said)));
    for said in ["/clear", " /clear\n", "/clear start over", "/new", "/reset"] {
        let refused = accepts(said).expect_err(said);
        assert!(
            refused.to_string().ends_with("of agent `claude-code` has no effect in a session"),
            "{refused}"
        );
        assert!(refused.hint().expect("a hint").starts_with("begin a new session"));
    }
    for said in ["/compact", "/clearance", "please /clear it", "/new page about cats", "", "hello"] {
        assert_eq!(accepts(said), Ok(()), "{said}");
    }
    assert_eq!(ClaudeCode.accepts(PermissionMode::Ask, None), Ok(()));
}

#[test]
fn effort_is_an_option() {
    let argv = with_request(&profile(), |request| {
        let asked = LaunchRequest { effort: Some(ReasoningEffort::Medium), ..request };
        ClaudeCode.launch(&asked).expect("a launch").argv
    });
    let place = argv.iter().position(|word| word == "--effort").expect("the option");
    assert_eq!(argv[place + 1], "medium");
    let without = with_request(&profile(), |request| ClaudeCode.launch(&request).expect("a launch").argv);
    assert!(!without.contains(&"--effort".to_owned()));
}
