use std::collections::BTreeMap;

use serde_json::{Value, json};
use warren_domain::{
    AgentProfile, ApprovalDecision, Content, ContentPart, ErrorCode, McpServer, PermissionMode, ProfileId,
    SessionId, Timestamp,
};

use super::Acp;
use crate::{
    Adapter, Answer, Codec, Exit, LaunchError, LaunchRequest, ModelApi, ModelEndpoint, Output, Prompt,
    TurnEnd,
};

fn now() -> Timestamp {
    Timestamp::from_millis(0)
}

/// A codec, and what it has made so far.
struct Client {
    codec: Box<dyn Codec>,
    out: Vec<Output>,
}

impl Client {
    fn new(mode: PermissionMode, profile: &AgentProfile, state: Option<&Value>) -> Self {
        let programs = BTreeMap::new();
        let request = LaunchRequest { permission_mode: mode, state, ..request(profile, &programs, &[]) };
        let mut client = Self { codec: Acp.codec(&request), out: Vec::new() };
        let prompt = Prompt { message: "msg-1".into(), content: Content::from("go") };
        client.codec.begin(&prompt, now(), &mut client.out);
        client
    }

    /// The agent says something; gives what is sent to it for that.
    fn hears(&mut self, message: &Value) -> Vec<Value> {
        let from = self.out.len();
        self.codec.decode(message.to_string().as_bytes(), now(), &mut self.out);
        sent(&self.out[from..])
    }

    fn ends(&self) -> Vec<&TurnEnd> {
        let ends = self.out.iter().filter_map(|output| match output {
            Output::TurnEnded(end) => Some(end),
            _ => None,
        });
        ends.collect()
    }
}

fn sent(outputs: &[Output]) -> Vec<Value> {
    let line = |output: &Output| match output {
        Output::Send(bytes) => Some(serde_json::from_slice(bytes).expect("JSON")),
        _ => None,
    };
    outputs.iter().filter_map(line).collect()
}

fn methods(sent: &[Value]) -> Vec<&str> {
    sent.iter().filter_map(|message| message["method"].as_str()).collect()
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

fn profile() -> AgentProfile {
    AgentProfile::empty(ProfileId::from("p"))
}

fn update(update: Value) -> Value {
    json!({"method": "session/update", "params": {"sessionId": "s", "update": update}})
}

fn asks_permission() -> Value {
    let options =
        json!([{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]);
    let call = json!({"toolCallId": "c", "title": "rm", "kind": "execute", "rawInput": {"command": "rm"}});
    let params = json!({"sessionId": "s", "toolCall": call, "options": options});
    json!({"id": 9, "method": "session/request_permission", "params": params})
}

#[test]
fn a_command_is_needed_and_its_first_word_may_be_an_installed_program() {
    let (mut profile, mut programs) = (profile(), BTreeMap::new());
    assert_eq!(
        Acp.launch(&request(&profile, &programs, &[])),
        Err(LaunchError::NoCommand { agent: "acp".into() })
    );
    profile.command = Some(vec!["gemini".to_owned(), "--acp".to_owned()]);
    programs.insert("gemini".to_owned(), vec!["node".to_owned(), "/agents/gemini/cli.js".to_owned()]);
    let endpoint = ModelEndpoint {
        api: ModelApi::Gemini,
        base_url: "http://127.0.0.1:1".to_owned(),
        placeholder_key: "k".to_owned(),
    };
    let launch = Acp.launch(&request(&profile, &programs, &[endpoint])).expect("a command is there");
    assert_eq!(launch.argv, ["node", "/agents/gemini/cli.js", "--acp"]);
    let env: Vec<_> = launch.env.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let expected = ["GEMINI_API_KEY=k", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:1", "HOME=/home/agent"];
    assert_eq!(env, expected);
}

#[test]
fn a_new_session_gets_servers_a_mode_the_instructions_and_then_the_prompt() {
    let mut profile = profile();
    profile.agent_md_file = Some("Be kind.".to_owned());
    let server = json!({"name": "far", "type": "sse", "url": "http://x", "headers": {"a": "b"}});
    let near = json!({"name": "near", "command": "x", "args": ["y"], "env": {"k": "v"}});
    let read = |value: &Value| serde_json::from_value::<McpServer>(value.clone()).expect("a server");
    profile.bundled_mcps = vec![read(&near), read(&server)];
    let mut client = Client::new(PermissionMode::Auto, &profile, None);
    assert_eq!(methods(&sent(&client.out)), ["initialize"]);
    let new =
        client.hears(&json!({"id": 1, "result": {"agentCapabilities": {"mcpCapabilities": {"http": true}}}}));
    // The agent cannot reach the other server.
    let servers =
        json!([{"name": "near", "command": "x", "args": ["y"], "env": [{"name": "k", "value": "v"}]}]);
    assert_eq!(new[0]["params"], json!({"cwd": "/workspace", "mcpServers": servers}));
    let modes = json!({"currentModeId": "default", "availableModes": [{"id": "default"}, {"id": "yolo"}]});
    let set = client.hears(&json!({"id": 2, "result": {"sessionId": "s", "modes": modes}}));
    assert_eq!(set[0]["params"], json!({"sessionId": "s", "modeId": "yolo"}));
    let prompt = client.hears(&json!({"id": 3, "error": {"code": 1, "message": "no"}}));
    let texts = json!([{"type": "text", "text": "Be kind."}, {"type": "text", "text": "go"}]);
    assert_eq!(prompt[0]["params"], json!({"sessionId": "s", "prompt": texts}));
    assert!(client.out.contains(&Output::State(json!({"sessionId": "s", "prompts": 1}))));
    client.hears(&update(
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hi"}}),
    ));
    client.hears(&json!({"id": 4, "result": {"stopReason": "end_turn"}}));
    assert_eq!(client.ends(), [&TurnEnd::Completed { summary: Some("Hi".to_owned()) }]);
}

#[test]
fn an_agent_that_wants_a_sign_in_gets_it_once_by_a_key() {
    let mut client = Client::new(PermissionMode::Auto, &profile(), None);
    let methods_offered = json!([{"id": "browser"}, {"id": "x-api-key"}]);
    client.hears(&json!({"id": 1, "result": {"authMethods": methods_offered}}));
    let sign_in = client.hears(&json!({"id": 2, "error": {"code": -32000, "message": "sign in"}}));
    assert_eq!(sign_in[0]["params"], json!({"methodId": "x-api-key"}));
    assert_eq!(methods(&client.hears(&json!({"id": 3, "result": {}}))), ["session/new"]);
    client.hears(&json!({"id": 4, "error": {"code": -32000, "message": "sign in"}}));
    let end =
        TurnEnd::Failed { code: ErrorCode::AgentError, message: "sign in".to_owned(), recoverable: true };
    assert_eq!(client.ends(), [&end]);
}

#[test]
fn a_session_is_loaded_without_telling_its_past_and_begun_anew_if_it_is_forgotten() {
    let state = json!({"sessionId": "s", "prompts": 3});
    let can = json!({"id": 1, "result": {"agentCapabilities": {"loadSession": true}}});
    let past =
        update(json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "old"}}));
    let mut client = Client::new(PermissionMode::Auto, &profile(), Some(&state));
    assert_eq!(methods(&client.hears(&can)), ["session/load"]);
    client.hears(&past);
    let settle = client.hears(&json!({"id": 2, "result": {}}));
    assert_eq!(methods(&settle), ["_warren/settle"]);
    client.hears(&past);
    let prompt = client.hears(&json!({"id": 3, "error": {"code": -32601, "message": "no such method"}}));
    assert_eq!(methods(&prompt), ["session/prompt"]);
    assert!(!format!("{:?}", client.out).contains("old"));
    assert!(client.out.contains(&Output::State(json!({"sessionId": "s", "prompts": 4}))));

    let mut client = Client::new(PermissionMode::Auto, &profile(), Some(&state));
    client.hears(&can);
    let anew = client.hears(&json!({"id": 2, "error": {"code": -32602, "message": "gone"}}));
    assert_eq!(methods(&anew), ["session/new"]);
    assert!(format!("{:?}", client.out).contains("does not remember this session (gone)"));
}

fn working(mode: PermissionMode) -> Client {
    let mut client = Client::new(mode, &profile(), None);
    client.hears(&json!({"id": 1, "result": {}}));
    client.hears(&json!({"id": 2, "result": {"sessionId": "s"}}));
    client
}

#[test]
fn permission_is_given_at_once_or_asked_for() {
    let yes =
        json!({"id": 9, "jsonrpc": "2.0", "result": {"outcome": {"outcome": "selected", "optionId": "yes"}}});
    assert_eq!(working(PermissionMode::Auto).hears(&asks_permission()), std::slice::from_ref(&yes));

    let mut client = working(PermissionMode::Ask);
    assert_eq!(client.hears(&asks_permission()), Vec::<Value>::new());
    let Some(Output::Asked(ask)) = client.out.last() else { panic!("it asks") };
    assert_eq!((ask.key.as_str(), ask.title.as_str(), ask.tool_use_id.as_deref()), ("9", "rm", Some("c")));
    assert_eq!(ask.options, [ApprovalDecision::Allow, ApprovalDecision::Deny]);
    let answer = Answer { decision: ApprovalDecision::Allow, message: None, answers: None };
    let mut out = Vec::new();
    assert!(client.codec.answer("9", &answer, now(), &mut out));
    assert_eq!(sent(&out), [yes]);
    assert!(!client.codec.answer("9", &answer, now(), &mut out), "nobody waits any more");
}

#[test]
fn why_a_person_said_no_is_said_once_the_agent_listens() {
    for stop in ["end_turn", "cancelled"] {
        let mut client = working(PermissionMode::Ask);
        client.hears(&asks_permission());
        let answer =
            Answer { decision: ApprovalDecision::Deny, message: Some("not today".to_owned()), answers: None };
        let mut out = Vec::new();
        assert!(client.codec.answer("9", &answer, now(), &mut out));
        assert_eq!(sent(&out)[0]["result"]["outcome"]["optionId"], "no");
        let told = client.hears(&json!({"id": 3, "result": {"stopReason": stop}}));
        let said = json!([{"type": "text", "text": "I said no to `rm`: not today"}]);
        assert_eq!(told[0]["params"], json!({"sessionId": "s", "prompt": said}));
        assert_eq!(client.ends(), Vec::<&TurnEnd>::new(), "the agent goes on");
        client.hears(&json!({"id": 4, "result": {"stopReason": "end_turn"}}));
        assert_eq!(client.ends(), [&TurnEnd::Completed { summary: None }]);
    }
}

#[test]
fn an_interrupt_answers_what_was_asked_and_cancels() {
    let mut client = working(PermissionMode::Ask);
    client.hears(&asks_permission());
    let mut out = Vec::new();
    assert!(client.codec.interrupt(&mut out));
    assert_eq!(out[1], Output::Withdrawn("9".to_owned()));
    let cancelled = json!({"id": 9, "jsonrpc": "2.0", "result": {"outcome": {"outcome": "cancelled"}}});
    let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s"}});
    assert_eq!(sent(&out), [cancelled, cancel]);
    client.hears(&json!({"id": 3, "error": {"code": -32603, "message": "aborted"}}));
    assert_eq!(client.ends(), [&TurnEnd::Interrupted]);
}

#[test]
fn files_and_terminals_are_refused_and_a_death_is_a_failure() {
    let mut client = working(PermissionMode::Auto);
    let refused = client.hears(&json!({"id": 7, "method": "fs/write_text_file", "params": {}}));
    assert_eq!(refused[0]["error"]["code"], -32601);
    client.codec.ended(&Exit { code: Some(1), signal: None }, now(), &mut client.out);
    let message = "the agent exited before it finished (exit code 1)".to_owned();
    assert_eq!(client.ends(), [&TurnEnd::Failed { code: ErrorCode::AgentError, message, recoverable: true }]);
}

/// What an agent says that offers these modes, and what it is asked next.
fn offered(mode: PermissionMode, modes: &Value) -> (Client, Vec<Value>) {
    let mut client = Client::new(mode, &profile(), None);
    client.hears(&json!({"id": 1, "result": {}}));
    let next = client.hears(&json!({"id": 2, "result": {"sessionId": "s", "modes": modes}}));
    (client, next)
}

fn refusal(client: &Client) -> &str {
    match client.ends()[..] {
        [TurnEnd::Failed { code: ErrorCode::BadRequest, message, .. }] => message,
        ref other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn agent_that_would_not_ask_is_not_prompted() {
    let modes = json!({"currentModeId": "work", "availableModes": [{"id": "work"}, {"id": "yolo"}]});
    let (client, next) = offered(PermissionMode::Ask, &modes);
    assert_eq!(methods(&next), Vec::<&str>::new());
    let why = refusal(&client);
    assert!(why.starts_with(
        "the agent offers no mode in which it asks before it acts, only `work`, `yolo`; hint: "
    ));

    let modes = json!({"currentModeId": "agent", "availableModes": [{"id": "read-only"}, {"id": "agent"}]});
    let (mut client, next) = offered(PermissionMode::Ask, &modes);
    assert_eq!(next[0]["params"], json!({"sessionId": "s", "modeId": "read-only"}));
    let next = client.hears(&json!({"id": 3, "error": {"code": 1, "message": "not now"}}));
    assert_eq!(methods(&next), Vec::<&str>::new());
    let why = "the agent refused to switch to the mode in which it asks: not now; hint: ";
    assert!(refusal(&client).starts_with(why), "{}", refusal(&client));
}

#[test]
fn modes_that_say_nothing_about_asking_are_noted_once() {
    let modes = json!({"currentModeId": "build", "availableModes": [{"id": "build"}, {"id": "plan"}]});
    let (client, next) = offered(PermissionMode::Ask, &modes);
    assert_eq!(methods(&next), ["session/prompt"]);
    let notes = |client: &Client| format!("{:?}", client.out).matches("its modes: build, plan").count();
    assert_eq!(notes(&client), 1);
    let (client, _) = offered(PermissionMode::Auto, &modes);
    assert_eq!(notes(&client), 0);
    let mut client =
        Client::new(PermissionMode::Ask, &profile(), Some(&json!({"sessionId": "s", "prompts": 1})));
    let can = json!({"agentCapabilities": {"sessionCapabilities": {"resume": {}}}});
    client.hears(&json!({"id": 1, "result": can}));
    let next = client.hears(&json!({"id": 2, "result": {"modes": modes}}));
    assert_eq!(
        (methods(&next), notes(&client)),
        (vec!["session/prompt"], 0),
        "said when the session was new"
    );
}

#[test]
fn servers_that_an_agent_cannot_reach_are_named() {
    let mut profile = profile();
    let far = json!({"name": "far", "type": "sse", "url": "http://x"});
    profile.external_mcps = vec![serde_json::from_value(far).expect("a server")];
    let mut client = Client::new(PermissionMode::Auto, &profile, None);
    client.hears(&json!({"id": 1, "result": {}}));
    client.hears(&json!({"id": 2, "result": {"sessionId": "s"}}));
    assert!(
        format!("{:?}", client.out)
            .contains("cannot reach these MCP servers of its profile by their kind of address: far.")
    );
}

#[test]
fn image_goes_to_an_agent_that_takes_it_and_is_refused_otherwise() {
    let image = ContentPart::Image { image: "aGk=".to_owned(), media_type: "image/png".to_owned() };
    let prompt = Prompt { message: "msg-1".into(), content: Content::Parts(vec![image]) };
    let prompted = |capabilities: Value| {
        let (profile, programs) = (profile(), BTreeMap::new());
        let mut client = Client { codec: Acp.codec(&request(&profile, &programs, &[])), out: Vec::new() };
        client.codec.begin(&prompt, now(), &mut client.out);
        client.hears(&json!({"id": 1, "result": {"agentCapabilities": capabilities}}));
        let next = client.hears(&json!({"id": 2, "result": {"sessionId": "s"}}));
        (client, next)
    };
    let (_, next) = prompted(json!({"promptCapabilities": {"image": true}}));
    assert_eq!(
        next[0]["params"]["prompt"],
        json!([{"type": "image", "data": "aGk=", "mimeType": "image/png"}])
    );
    let (client, next) = prompted(json!({}));
    assert_eq!(next, Vec::<Value>::new());
    assert!(refusal(&client).starts_with("the agent does not accept images in messages; hint: "));
}
