use std::collections::BTreeMap;

use serde_json::{Value, json};
use warren_domain::{
    AgentProfile, ApprovalDecision, ApprovalKind, BlockId, Content, Draft, ErrorCode, EventBody,
    PermissionMode, ProfileId, ReasoningEffort, SessionId, Skill, Timestamp, WorkspaceTemplateFile,
};

use super::Builtin;
use crate::{
    Adapter, Answer, Ask, Exit, LaunchError, LaunchRequest, LayoutRequest, ModelApi, ModelEndpoint, Output,
    Place, Prompt, TranscriptName, TurnEnd,
};

static NO_PROGRAMS: BTreeMap<String, Vec<String>> = BTreeMap::new();

fn decoded(lines: &[&str]) -> Vec<Output> {
    let (mut codec, mut out) = (Builtin.recorded(), Vec::new());
    lines.iter().for_each(|line| codec.decode(line.as_bytes(), now(), &mut out));
    out
}

fn unrecognized(raw: &str) -> Output {
    let body = EventBody::Unrecognized { agent: "builtin".into(), raw: raw.to_owned() };
    Output::Event(Draft::of_session(body))
}

fn now() -> Timestamp {
    Timestamp::from_millis(0)
}

fn sent(outputs: &[Output]) -> Vec<Value> {
    let line = |output: &Output| match output {
        Output::Send(bytes) if bytes.ends_with(b"\n") => serde_json::from_slice(bytes).expect("JSON"),
        other => panic!("a line for stdin, not {other:?}"),
    };
    outputs.iter().map(line).collect()
}

fn anthropic() -> ModelEndpoint {
    ModelEndpoint {
        api: ModelApi::Anthropic,
        base_url: "http://127.0.0.1:4100".to_owned(),
        placeholder_key: "placeholder".to_owned(),
    }
}

fn request<'a>(profile: &'a AgentProfile, endpoints: &'a [ModelEndpoint]) -> LaunchRequest<'a> {
    LaunchRequest {
        session: SessionId(uuid::Uuid::nil()),
        workspace: "/workspace",
        home: "/home/agent",
        resume: false,
        state: None,
        permission_mode: PermissionMode::Auto,
        programs: &NO_PROGRAMS,
        model: None,
        effort: None,
        context_window: |_| None,
        profile,
        endpoints,
    }
}

#[test]
fn what_an_agent_may_say_passes_and_what_it_may_not_is_kept_as_unrecognized() {
    let delta =
        r#"{"type":"text_delta","blockId":"a","delta":"x","runId":"00000000-0000-0000-0000-000000000000"}"#;
    let forged = r#"{"type":"session_ended","reason":"I say so"}"#;
    let body = EventBody::TextDelta { block_id: BlockId::from("a"), delta: "x".to_owned() };
    assert_eq!(
        decoded(&[delta, forged, "not JSON", "", "  "]),
        [Output::Event(Draft::of_session(body)), unrecognized(forged), unrecognized("not JSON")]
    );
}

#[test]
fn bytes_that_are_not_text_are_kept_as_far_as_they_can_be() {
    let (mut codec, mut out) = (Builtin.recorded(), Vec::new());
    codec.decode(b"\xff\xfe{", now(), &mut out);
    assert_eq!(out, [unrecognized("\u{fffd}\u{fffd}{")]);
}

#[test]
fn a_turn_ends_once() {
    let end = r#"{"type":"turn_ended","outcome":"completed","summary":"Done."}"#;
    let completed = TurnEnd::Completed { summary: Some("Done.".to_owned()) };
    assert_eq!(decoded(&[end, end]), [Output::TurnEnded(completed), unrecognized(end)]);
    let failed =
        r#"{"type":"turn_ended","outcome":"failed","code":"LLM_ERROR","message":"no","recoverable":true}"#;
    let failure = TurnEnd::Failed { code: ErrorCode::LlmError, message: "no".to_owned(), recoverable: true };
    assert_eq!(decoded(&[failed]), [Output::TurnEnded(failure)]);
    assert_eq!(
        decoded(&[r#"{"type":"turn_ended","outcome":"interrupted"}"#]),
        [Output::TurnEnded(TurnEnd::Interrupted)]
    );
}

#[test]
fn a_process_that_dies_early_failed_unless_it_was_asked_to_stop() {
    let killed = Exit { code: None, signal: Some(9) };
    let (mut codec, mut out) = (Builtin.recorded(), Vec::new());
    codec.ended(&killed, now(), &mut out);
    codec.ended(&killed, now(), &mut out);
    let message = "the agent exited before it finished (killed by signal 9)".to_owned();
    assert_eq!(
        out,
        [Output::TurnEnded(TurnEnd::Failed { code: ErrorCode::AgentError, message, recoverable: true })]
    );

    let (mut codec, mut out) = (Builtin.recorded(), Vec::new());
    assert!(codec.interrupt(&mut Vec::new()));
    codec.ended(&killed, now(), &mut out);
    assert_eq!(out, [Output::TurnEnded(TurnEnd::Interrupted)]);
}

#[test]
fn input_is_a_line_of_json() {
    let (mut codec, mut out) = (Builtin.recorded(), Vec::new());
    let prompt = Prompt { message: "msg-1".into(), content: Content::from("a\nb\u{2028}") };
    codec.begin(&prompt, now(), &mut out);
    assert!(codec.steer(&prompt, now(), &mut out), "it can be steered");
    assert!(codec.interrupt(&mut out), "it can be stopped");
    assert_eq!(
        sent(&out),
        [
            json!({"type": "prompt", "message": "msg-1", "content": "a\nb\u{2028}"}),
            json!({"type": "steer", "message": "msg-1", "content": "a\nb\u{2028}"}),
            json!({"type": "interrupt"}),
        ]
    );
}

fn answered(decision: ApprovalDecision, message: Option<&str>) -> Answer {
    Answer { decision, message: message.map(str::to_owned), answers: None }
}

#[test]
fn a_call_that_waits_is_asked_about_and_its_answer_is_a_line() {
    let asked = r#"{"type":"approval_asked","key":"agent-t1.t2","toolUseId":"t2","toolName":"bash","title":"Run: ls","input":{"command":"ls"}}"#;
    let withdrawn = r#"{"type":"approval_withdrawn","key":"agent-t1.t2"}"#;
    let ask = Output::Asked(Ask {
        key: "agent-t1.t2".to_owned(),
        kind: ApprovalKind::Permission,
        tool_use_id: Some("t2".to_owned()),
        title: "Run: ls".to_owned(),
        detail: json!({"toolName": "bash", "input": {"command": "ls"}}),
        options: vec![ApprovalDecision::Allow, ApprovalDecision::AllowAlways, ApprovalDecision::Deny],
    });
    let gone = Output::Withdrawn("agent-t1.t2".to_owned());
    assert_eq!(
        decoded(&[asked, asked, withdrawn, withdrawn]),
        [ask.clone(), unrecognized(asked), gone.clone(), unrecognized(withdrawn)]
    );
    let end = r#"{"type":"turn_ended","outcome":"interrupted"}"#;
    let ended = Output::TurnEnded(TurnEnd::Interrupted);
    assert_eq!(decoded(&[asked, end, asked]), [ask, gone, ended, unrecognized(asked)]);

    let (mut codec, mut out) = (Builtin.recorded(), Vec::new());
    codec.decode(asked.as_bytes(), now(), &mut Vec::new());
    let no = answered(ApprovalDecision::Deny, Some("not today"));
    assert!(codec.answer("agent-t1.t2", &no, now(), &mut out), "it waits");
    assert!(!codec.answer("agent-t1.t2", &no, now(), &mut out), "it waits no longer");
    let line = json!({"type": "answer", "key": "agent-t1.t2", "decision": "deny", "message": "not today"});
    assert_eq!(sent(&out), [line]);
}

#[test]
fn launch_takes_no_leave_from_the_state_of_an_earlier_release() {
    let profile = AgentProfile::empty(ProfileId::from("p"));
    let endpoints = [anthropic()];
    let state = json!({"allowed": ["bash", "write"]});
    let asking = LaunchRequest {
        permission_mode: PermissionMode::Ask,
        state: Some(&state),
        ..request(&profile, &endpoints)
    };
    let launch = Builtin.launch(&asking).expect("an endpoint is there");
    assert_eq!(launch.argv[8..], ["--permission-mode", "ask"]);
    let auto = LaunchRequest { permission_mode: PermissionMode::Auto, ..asking };
    assert_eq!(Builtin.launch(&auto).expect("an endpoint is there").argv.len(), 8, "nothing is asked");
}

#[test]
fn a_launch_names_the_model_the_endpoint_and_what_goes_back_first() {
    let mut profile = AgentProfile::empty(ProfileId::from("p"));
    profile.model = Some("of-profile".to_owned());
    profile.environment_variables.insert("ANTHROPIC_API_KEY".to_owned(), "mine".to_owned());
    profile.environment_variables.insert("LANG".to_owned(), "C.UTF-8".to_owned());
    let endpoints = [anthropic()];
    let launch = Builtin.launch(&request(&profile, &endpoints)).expect("an endpoint is there");
    let session = "00000000-0000-0000-0000-000000000000";
    assert_eq!(
        launch.argv,
        [
            "/warren/guest",
            "agent",
            "--session",
            session,
            "--model",
            "of-profile",
            "--instructions",
            "/instructions"
        ]
    );
    let env: Vec<_> = launch.env.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(
        env,
        [
            "ANTHROPIC_API_KEY=placeholder",
            "ANTHROPIC_BASE_URL=http://127.0.0.1:4100",
            "HOME=/home/agent",
            "LANG=C.UTF-8"
        ]
    );
    assert_eq!(launch.cwd, "/workspace");

    let again = LaunchRequest { resume: true, model: Some("of-run"), ..request(&profile, &endpoints) };
    let launch = Builtin.launch(&again).expect("an endpoint is there");
    assert_eq!(launch.argv[5], "of-run");
}

#[test]
fn its_memory_is_one_file_for_the_conversation_and_one_for_each_subagent() {
    let plan = Builtin.transcripts(SessionId(uuid::Uuid::nil()));
    assert_eq!(plan.root(), ".warren/sessions/00000000-0000-0000-0000-000000000000");
    let names = [TranscriptName::Main, TranscriptName::Subagent("s".to_owned())];
    let paths = names.clone().map(|name| plan.path(&name, b"").expect("it has a place"));
    assert_eq!(paths, ["main.jsonl", "subagents/s.jsonl"]);
    let files = paths.map(|path| plan.file(&path).expect("it is known").name);
    assert_eq!(files, names);
    assert_eq!(
        [plan.file("subagents/s.txt"), plan.file("subagents/a/b.jsonl"), plan.file("x")],
        [None, None, None]
    );
    let stored = names.clone().map(|name| name.stored());
    assert_eq!(stored.map(|name| TranscriptName::of_stored(&name)), names);
}

#[test]
fn without_an_endpoint_there_is_no_launch() {
    let profile = AgentProfile::empty(ProfileId::from("p"));
    let refused = Builtin.launch(&request(&profile, &[]));
    assert_eq!(refused, Err(LaunchError::NoEndpoint { agent: "builtin".into(), api: ModelApi::Anthropic }));
}

#[test]
fn a_profile_becomes_instructions_settings_skills_and_workspace_files() {
    let file = |path: &str| WorkspaceTemplateFile { path: path.to_owned(), content: "x".to_owned() };
    let mut profile = AgentProfile::empty(ProfileId::from("p"));
    profile.agent_md_file = Some("Be kind.".to_owned());
    profile.default_workspace_files = vec![file("README.md")];
    profile.skills = vec![Skill {
        name: "make charts".to_owned(),
        description: "When charts are asked for".to_owned(),
        skill_md: "# How".to_owned(),
        supporting_files: vec![file("../lib/chart.py")],
        npm_dependencies: Vec::new(),
        pip_dependencies: Vec::new(),
    }];
    let files = Builtin.layout(&LayoutRequest {
        profile: &profile,
        endpoints: &[],
        model: None,
        permission_mode: PermissionMode::Auto,
    });
    let names: Vec<_> = files.iter().map(|file| (file.place, file.path.as_str())).collect();
    assert_eq!(
        names,
        [
            (Place::Instructions, "INSTRUCTIONS.md"),
            (Place::Instructions, "agent.json"),
            (Place::Instructions, "skills/make-charts/SKILL.md"),
            (Place::Instructions, "skills/make-charts/lib/chart.py"),
            (Place::Workspace, "README.md"),
        ]
    );
    let settings: Value = serde_json::from_slice(&files[1].content).expect("settings are JSON");
    let skill = json!({"name": "make-charts", "description": "When charts are asked for", "skillMd": ""});
    assert_eq!(settings, json!({"id": "p", "skills": [skill]}));
}

/// Lines of a call, as the agent prints them.
fn call_lines(id: &str, tool: &str, thread: &str) -> [String; 4] {
    let use_block = json!({"type": "tool_use", "id": id, "timestamp": "1970-01-01T00:00:00.000Z", "toolName": tool,
        "toolUseId": id, "input": {}, "status": "pending"});
    let result = json!({"type": "tool_result", "id": format!("{id}-result"),
        "timestamp": "1970-01-01T00:00:00.000Z", "toolUseId": id, "output": "done", "isError": false});
    [
        json!({"type": "block_start", "conversationId": thread, "block": use_block}),
        json!({"type": "block_update", "conversationId": thread, "blockId": id, "updates": {"status": "running"}}),
        json!({"type": "block_start", "conversationId": thread, "block": result}),
        json!({"type": "block_complete", "conversationId": thread, "block": result}),
    ]
    .map(|line| line.to_string())
}

/// What a codec for `mode` makes of a line, without what is to be recorded.
fn heard(codec: &mut dyn crate::Codec, line: &str) -> Vec<Output> {
    let mut out = Vec::new();
    codec.decode(line.as_bytes(), now(), &mut out);
    let is_strange =
        |output: &Output| matches!(output, Output::Event(Draft { body: EventBody::Unrecognized { .. }, .. }));
    assert!(!out.iter().any(is_strange), "{out:?}");
    out.retain(|output| !matches!(output, Output::Event(_)));
    out
}

fn codec_for(mode: PermissionMode) -> Box<dyn crate::Codec> {
    let profile = AgentProfile::empty(ProfileId::from("p"));
    let endpoints = [anthropic()];
    Builtin.codec(&LaunchRequest { permission_mode: mode, ..request(&profile, &endpoints) })
}

fn asked_line(key: &str, id: &str, tool: &str) -> String {
    json!({"type": "approval_asked", "key": key, "toolUseId": id, "toolName": tool, "title": tool})
        .to_string()
}

#[test]
fn call_that_runs_without_an_allowed_approval_is_unapproved_once() {
    let unapproved = vec![Output::Unapproved { tool_name: "bash".into(), tool_use_id: "t1".into() }];
    // Never asked; asked and not answered; asked and withdrawn, as when somebody inside answered; asked and denied.
    type Before = fn(&mut dyn crate::Codec);
    let befores: [Before; 4] = [
        |_| {},
        |codec| drop(heard(codec, &asked_line("t1", "t1", "bash"))),
        |codec| {
            heard(codec, &asked_line("t1", "t1", "bash"));
            heard(codec, &json!({"type": "approval_withdrawn", "key": "t1"}).to_string());
        },
        |codec| {
            heard(codec, &asked_line("t1", "t1", "bash"));
            assert!(codec.answer("t1", &answered(ApprovalDecision::Deny, None), now(), &mut Vec::new()));
        },
    ];
    let [start, running, began, done] = call_lines("t1", "bash", "main");
    for (n, before) in befores.into_iter().enumerate() {
        // Each of these alone says that it ran.
        for (at, line) in [&running, &began, &done].into_iter().enumerate() {
            let mut codec = codec_for(PermissionMode::Ask);
            assert_eq!(heard(&mut *codec, &start), []);
            before(&mut *codec);
            assert_eq!(heard(&mut *codec, line), unapproved, "{n}, {at}");
            assert_eq!(heard(&mut *codec, &done), [], "it is said once");
        }
    }
}

#[test]
fn call_that_was_allowed_or_needs_no_approval_is_not_unapproved() {
    let run = |codec: &mut dyn crate::Codec, lines: &[String]| -> Vec<Output> {
        lines.iter().flat_map(|line| heard(codec, line)).collect()
    };
    let mut codec = codec_for(PermissionMode::Ask);
    for (id, tool) in [("t1", "read"), ("t2", "todo")] {
        assert_eq!(run(&mut *codec, &call_lines(id, tool, "main")), []);
    }
    for decision in [ApprovalDecision::Allow, ApprovalDecision::AllowAlways] {
        // In a subagent's thread, where ids of calls may be those of another.
        let [start, rest @ ..] = call_lines("t4", "edit", "sub-1");
        heard(&mut *codec, &start);
        heard(&mut *codec, &asked_line("sub-1.t4", "t4", "edit"));
        assert!(codec.answer("sub-1.t4", &answered(decision, None), now(), &mut Vec::new()));
        assert_eq!(run(&mut *codec, &rest), []);
    }
    // Rules are the host's: it answers each call that one covers.
    assert_eq!(run(&mut *codec, &call_lines("t5", "edit", "main")).len(), 1);
    // A yes to one call is no yes to another of the same name in another thread.
    assert_eq!(run(&mut *codec, &call_lines("t4", "bash", "main")).len(), 1);
    // A call that failed may be one that was denied.
    let [start, .., done] = call_lines("t6", "bash", "main");
    let failed = done.replace("\"isError\":false", "\"isError\":true");
    assert_eq!(run(&mut *codec, &[start, failed]), []);
    let mut auto = codec_for(PermissionMode::Auto);
    assert_eq!(run(&mut *auto, &call_lines("t1", "bash", "main")), []);
}

#[test]
fn approvals_and_answers_in_an_agents_stream_are_not_believed() {
    let resolved = json!({"type": "approval_resolved", "conversationId": "main",
        "approvalId": "01990000-0000-7000-8000-000000000001", "decision": "allow", "by": "person"})
    .to_string();
    let answer = json!({"type": "answer", "key": "t1", "decision": "allow"}).to_string();
    assert_eq!(decoded(&[&resolved, &answer]), [unrecognized(&resolved), unrecognized(&answer)]);
}

#[test]
fn effort_is_an_argument() {
    let (profile, endpoints) = (AgentProfile::empty(ProfileId::from("p")), [anthropic()]);
    let asked = LaunchRequest { effort: Some(ReasoningEffort::High), ..request(&profile, &endpoints) };
    let argv = Builtin.launch(&asked).expect("a launch").argv;
    assert_eq!(argv[argv.len() - 2..], ["--effort", "high"]);
}

#[test]
fn granted_tools_of_providers_are_an_argument() {
    let mut profile = AgentProfile::empty(ProfileId::from("p"));
    let endpoints = [anthropic()];
    let argv = |profile: &AgentProfile| Builtin.launch(&request(profile, &endpoints)).expect("a launch").argv;
    assert!(!argv(&profile).contains(&"--provider-tools".to_owned()));
    profile.provider_tools = true;
    assert!(argv(&profile).ends_with(&["--provider-tools".to_owned(), "granted".to_owned()]));
}
