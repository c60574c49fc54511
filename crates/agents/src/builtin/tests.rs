use std::collections::BTreeMap;

use serde_json::{Value, json};
use warren_domain::{
    AgentProfile, ApprovalDecision, ApprovalKind, BlockId, Content, Draft, ErrorCode, EventBody,
    PermissionMode, ProfileId, SessionId, Skill, Timestamp, WorkspaceTemplateFile,
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
    let message = "the agent ended before it was done (killed by signal 9)".to_owned();
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
fn what_is_allowed_for_good_is_told_to_the_next_process() {
    let asked = |key: &str, tool: &str| {
        json!({"type": "approval_asked", "key": key, "toolUseId": key, "toolName": tool, "title": tool})
            .to_string()
    };
    let profile = AgentProfile::empty(ProfileId::from("p"));
    let endpoints = [anthropic()];
    let state = json!({"allowed": ["write"]});
    let request = LaunchRequest {
        permission_mode: PermissionMode::Ask,
        state: Some(&state),
        ..request(&profile, &endpoints)
    };
    let (mut codec, mut out) = (Builtin.codec(&request), Vec::new());
    codec.decode(asked("t1", "bash").as_bytes(), now(), &mut Vec::new());
    let always = answered(ApprovalDecision::AllowAlways, None);
    assert!(codec.answer("t1", &always, now(), &mut out), "it waits");
    let state = out.remove(0);
    assert_eq!(state, Output::State(json!({"allowed": ["bash", "write"]})));
    assert_eq!(sent(&out), [json!({"type": "answer", "key": "t1", "decision": "allow_always"})]);

    let Output::State(state) = state else { unreachable!("it was just compared") };
    let next = LaunchRequest { state: Some(&state), ..request };
    let launch = Builtin.launch(&next).expect("an endpoint is there");
    assert_eq!(launch.argv[8..], ["--permission-mode", "ask", "--allow", "bash,write"]);
    let auto = LaunchRequest { permission_mode: PermissionMode::Auto, ..next };
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
