//! A turn, from the first request to the last.

use serde_json::{Map, Value, json};
use warren_domain::{ApprovalDecision, Block, BlockId, Content, ContentPart, EventBody, Timestamp};

use super::{event, now, profile, request, sent};
use crate::{Adapter, Answer, Codec, Exit, LaunchRequest, Output, Prompt, TurnEnd, opencode::OpenCode};

const PROMPT: &str = "msg-01990000-0000-7000-8000-000000000001";
const PART: &str = "prt_00000000000001990000000070008000000000000001";
const SESSION: &str = "ses_1";

/// A codec and what it has put out since somebody looked.
struct Driver {
    codec: Box<dyn Codec>,
    out: Vec<Output>,
    /// The numbers of requests that were not answered yet.
    open: Vec<u64>,
}

impl Driver {
    fn start(state: Option<Value>) -> Self {
        let profile = profile(json!({"model": "gpt-5"}));
        let request = LaunchRequest { resume: state.is_some(), state: state.as_ref(), ..request(&profile) };
        let mut driver = Self { codec: OpenCode.codec(&request), out: Vec::new(), open: Vec::new() };
        driver.codec.begin(&prompt(PROMPT, "hello"), now(), &mut driver.out);
        driver
    }

    /// A session that was told the prompt and works.
    fn working() -> Self {
        let mut driver = Self::start(None);
        driver.take();
        driver.reply(200, &json!({"id": SESSION}));
        driver.take();
        driver.reply(204, &Value::Null);
        driver.tell("message.updated", json!({"info": message("msg_1", "user", None)}));
        let text =
            json!({"id": PART, "sessionID": SESSION, "messageID": "msg_1", "type": "text", "text": "hello"});
        driver.tell("message.part.updated", json!({"part": text}));
        driver.status("busy");
        driver.tell("message.updated", json!({"info": message("msg_2", "assistant", None)}));
        driver.take();
        driver
    }

    fn take(&mut self) -> Vec<Output> {
        let taken = std::mem::take(&mut self.out);
        for output in &taken {
            if let Output::Send(bytes) = output {
                let line: Value = serde_json::from_slice(bytes).expect("JSON");
                self.open.push(line["id"].as_u64().expect("a number"));
            }
        }
        taken
    }

    fn sent(&mut self) -> Vec<Value> {
        sent(&self.take())
    }

    /// Answers the oldest request.
    fn reply(&mut self, status: i64, body: &Value) {
        let id = self.open.remove(0);
        let line = json!({"type": "warren.reply", "id": id, "status": status, "body": body}).to_string();
        self.line(&line);
    }

    fn tell(&mut self, kind: &str, properties: Value) {
        self.line(&event(kind, properties));
    }

    fn status(&mut self, kind: &str) {
        self.tell("session.status", json!({"sessionID": SESSION, "status": {"type": kind}}));
    }

    fn idle(&mut self) {
        self.tell("session.idle", json!({"sessionID": SESSION}));
    }

    fn complete(&mut self) {
        self.tell("message.updated", json!({"info": message("msg_2", "assistant", Some(2))}));
    }

    fn line(&mut self, line: &str) {
        self.codec.decode(line.as_bytes(), now(), &mut self.out);
    }

    fn end(&mut self) -> Option<TurnEnd> {
        self.take().into_iter().find_map(|output| match output {
            Output::TurnEnded(end) => Some(end),
            _ => None,
        })
    }
}

fn prompt(id: &str, text: &str) -> Prompt {
    Prompt { message: BlockId::from(id), content: Content::from(text) }
}

fn message(id: &str, role: &str, completed: Option<u64>) -> Value {
    json!({"id": id, "sessionID": SESSION, "role": role, "time": {"created": 1, "completed": completed}})
}

fn say(text: &str, part: &str) -> Value {
    json!({"method": "POST", "path": "/session/ses_1/prompt_async", "body": {
        "model": {"providerID": "warren-openai", "modelID": "gpt-5"},
        "parts": [{"type": "text", "text": text, "id": part}],
    }})
}

fn save(session: &str, file: &str) -> Value {
    json!({"save": format!(".warren/opencode/00000000-0000-0000-0000-000000000000/{file}"), "fields": [
        ["info", format!("/session/{session}")], ["messages", format!("/session/{session}/message")],
    ]})
}

fn state(children: &[&str]) -> Output {
    Output::State(json!({"session": SESSION, "children": children}))
}

#[test]
fn a_turn_makes_a_session_says_the_prompt_and_ends_when_it_is_saved() {
    let mut driver = Driver::start(None);
    assert_eq!(driver.sent(), [json!({"method": "POST", "path": "/session", "body": {}})]);
    driver.reply(200, &json!({"id": SESSION}));
    let told = driver.take();
    assert_eq!(told[0], state(&[]));
    assert_eq!(sent(&told), [say("hello", PART)]);

    let mut driver = Driver::working();
    driver.complete();
    driver.idle();
    let told = driver.take();
    assert_eq!(sent(&told), [save(SESSION, "main.json")]);
    assert!(told.contains(&state(&[])));
    assert_eq!(driver.end(), None, "not before it is saved");
    driver.reply(200, &Value::Null);
    assert_eq!(driver.end(), Some(TurnEnd::Completed { summary: None }));
}

#[test]
fn the_prompts_block_has_the_prompts_id() {
    let mut driver = Driver::start(None);
    driver.take();
    driver.reply(200, &json!({"id": SESSION}));
    driver.tell("message.updated", json!({"info": message("msg_1", "user", None)}));
    let text =
        json!({"id": PART, "sessionID": SESSION, "messageID": "msg_1", "type": "text", "text": "hello"});
    driver.tell("message.part.updated", json!({"part": text}));
    driver.status("busy");
    let blocks: Vec<EventBody> = driver
        .take()
        .into_iter()
        .filter_map(|output| if let Output::Event(draft) = output { Some(draft.body) } else { None })
        .collect();
    let block = Block::UserMessage {
        id: BlockId::from(PROMPT),
        timestamp: Timestamp::from_millis(1),
        content: Content::from("hello"),
    };
    assert_eq!(blocks, [EventBody::BlockComplete { block }]);
}

#[test]
fn what_is_still_on_its_way_when_it_is_idle_is_waited_for() {
    let mut driver = Driver::working();
    driver.idle();
    assert_eq!(driver.sent(), [json!({"delayMs": 2000})]);
    driver.complete();
    assert_eq!(driver.sent(), [save(SESSION, "main.json")], "it has come");

    let mut driver = Driver::working();
    driver.idle();
    driver.take();
    driver.reply(200, &Value::Null);
    assert_eq!(driver.sent(), [save(SESSION, "main.json")], "it does not come");
}

#[test]
fn a_session_is_saved_after_a_step_while_it_works() {
    let mut driver = Driver::working();
    let step = |n: u32| json!({"id": format!("prt_{n}"), "sessionID": SESSION, "messageID": "msg_2", "type": "step-finish"});
    driver.tell("message.part.updated", json!({"part": step(1)}));
    assert_eq!(driver.sent(), [save(SESSION, "main.json")]);
    driver.tell("message.part.updated", json!({"part": step(2)}));
    assert_eq!(driver.sent(), [Value::Null; 0], "not again at once");
    driver.complete();
    driver.idle();
    assert_eq!(driver.sent(), [Value::Null; 0], "not two at a time");
    driver.reply(200, &Value::Null);
    assert_eq!(driver.sent(), [save(SESSION, "main.json")], "whole at the end");
    driver.reply(200, &Value::Null);
    assert_eq!(driver.end(), Some(TurnEnd::Completed { summary: None }));
}

#[test]
fn a_failed_save_does_not_hold_the_turn_up() {
    let mut driver = Driver::working();
    driver.complete();
    driver.idle();
    driver.take();
    driver.reply(0, &json!("no answer"));
    assert_eq!(driver.end(), Some(TurnEnd::Completed { summary: None }));
}

#[test]
fn subagents_are_saved_with_the_session() {
    let mut driver = Driver::working();
    let part = json!({"id": "prt_1", "sessionID": SESSION, "messageID": "msg_2", "type": "tool", "tool": "task",
        "callID": "c", "state": {"status": "running", "input": {}, "metadata": {"sessionId": "ses_2"}}});
    driver.tell("message.part.updated", json!({ "part": part }));
    driver.complete();
    driver.idle();
    let told = driver.take();
    assert_eq!(sent(&told), [save(SESSION, "main.json"), save("ses_2", "subagents/ses_2.json")]);
    assert!(told.contains(&state(&["ses_2"])));
}

#[test]
fn steering_is_another_prompt_to_the_same_session() {
    let mut driver = Driver::working();
    let more = prompt("msg-01990000-0000-7000-8000-000000000002", "more");
    assert!(driver.codec.steer(&more, now(), &mut driver.out));
    assert_eq!(driver.sent(), [say("more", "prt_00000000000001990000000070008000000000000002")]);
    driver.reply(204, &Value::Null);
    driver.complete();
    driver.idle();
    driver.take();
    driver.status("busy");
    driver.reply(200, &Value::Null);
    assert_eq!(driver.end(), None, "it was taken up at the last moment");
    driver.idle();
    driver.take();
    assert!(!driver.codec.steer(&more, now(), &mut driver.out), "too late");
    driver.reply(200, &Value::Null);
    assert_eq!(driver.end(), Some(TurnEnd::Completed { summary: None }));
}

#[test]
fn an_interrupt_is_heard_whenever_it_comes() {
    let abort = json!({"method": "POST", "path": "/session/ses_1/abort", "body": {}});
    let mut driver = Driver::working();
    assert!(driver.codec.interrupt(&mut driver.out));
    assert_eq!(driver.sent(), vec![abort.clone()]);
    driver.complete();
    driver.idle();
    driver.take();
    driver.reply(200, &json!(true));
    driver.reply(200, &Value::Null);
    assert_eq!(driver.end(), Some(TurnEnd::Interrupted));

    let mut driver = Driver::start(None);
    driver.take();
    assert!(driver.codec.interrupt(&mut driver.out));
    assert_eq!(driver.sent(), Vec::<Value>::new(), "there is nothing to stop yet");
    driver.reply(200, &json!({"id": SESSION}));
    assert_eq!(driver.end(), Some(TurnEnd::Interrupted));

    let mut driver = Driver::start(None);
    driver.take();
    driver.reply(200, &json!({"id": SESSION}));
    driver.take();
    driver.codec.interrupt(&mut driver.out);
    assert_eq!(driver.sent(), vec![abort.clone()]);
    driver.status("busy");
    assert_eq!(driver.sent(), [abort], "it was not working when it was told before");
}

#[test]
fn a_message_that_opencode_cannot_take_fails_the_turn() {
    let mut driver = Driver::start(None);
    driver.take();
    driver.reply(200, &json!({"id": SESSION}));
    driver.take();
    driver.reply(204, &Value::Null);
    let error = json!({"name": "UnknownError", "data": {"message": "Image could not be decoded"}});
    driver.tell("session.error", json!({"sessionID": SESSION, "error": error}));
    driver.take();
    driver.reply(200, &Value::Null);
    assert_eq!(driver.sent(), [save(SESSION, "main.json")]);
    driver.reply(200, &Value::Null);
    let told = driver.take();
    let is_prompt = |output: &Output| {
        matches!(output, Output::Event(draft) if matches!(&draft.body,
        EventBody::BlockComplete { block: Block::UserMessage { id, .. } } if id.as_str() == PROMPT))
    };
    assert!(told.iter().any(is_prompt), "what was said is shown all the same");
    assert!(
        matches!(told.last(), Some(Output::TurnEnded(TurnEnd::Failed { message, .. })) if message.contains("decoded"))
    );
}

#[test]
fn permissions_are_asked_and_answered() {
    let mut driver = Driver::working();
    let tool = json!({"id": "prt_1", "sessionID": SESSION, "messageID": "msg_2", "type": "tool", "tool": "bash",
        "callID": "c", "state": {"status": "running", "input": {"command": "ls"}}});
    driver.tell("message.part.updated", json!({"part": tool}));
    driver.take();
    for (key, decision, message, reply) in [
        ("per_1", ApprovalDecision::Allow, None, json!({"reply": "once"})),
        ("per_2", ApprovalDecision::AllowAlways, None, json!({"reply": "always"})),
        ("per_3", ApprovalDecision::Deny, Some("no"), json!({"reply": "reject", "message": "no"})),
    ] {
        let asked = json!({"id": key, "sessionID": SESSION, "permission": "bash", "patterns": ["ls"], "metadata": {},
            "always": ["ls *"], "tool": {"messageID": "msg_2", "callID": "c"}});
        driver.tell("permission.asked", asked);
        let told = driver.take();
        let [Output::Asked(ask)] = told.as_slice() else { panic!("it is asked, not {told:?}") };
        assert_eq!((ask.title.as_str(), ask.tool_use_id.as_deref()), ("bash: ls", Some("c")));
        assert_eq!(
            (&ask.detail["toolName"], &ask.detail["input"]),
            (&json!("bash"), &json!({"command": "ls"}))
        );
        let answer = Answer { decision, message: message.map(str::to_owned), answers: None };
        assert!(driver.codec.answer(key, &answer, now(), &mut driver.out));
        let path = format!("/permission/{key}/reply");
        assert_eq!(driver.sent(), [json!({"method": "POST", "path": path, "body": reply})]);
        driver.tell("permission.replied", json!({"sessionID": SESSION, "requestID": key}));
        assert_eq!(driver.take(), [], "it is our own answer");
        assert!(!driver.codec.answer(key, &answer, now(), &mut driver.out), "only once");
    }
}

#[test]
fn questions_are_answered_in_their_order() {
    let mut driver = Driver::working();
    let question = |text: &str| json!({"question": text, "header": "H", "options": [{"label": "a", "description": "A"}]});
    driver.tell("question.asked", json!({"id": "que_1", "sessionID": SESSION, "questions": [question("Q1"), question("Q2"), question("Q3")]}));
    let told = driver.take();
    let [Output::Asked(ask)] = told.as_slice() else { panic!("it is asked, not {told:?}") };
    assert_eq!(
        ask.detail["questions"][1],
        json!({"question": "Q2", "header": "H", "multiSelect": false,
        "options": [{"label": "a", "description": "A"}]})
    );
    let answers: Map<String, Value> =
        [("Q2".to_owned(), json!(["a", "b"])), ("Q1".to_owned(), json!("free"))].into_iter().collect();
    let answer = Answer { decision: ApprovalDecision::Allow, message: None, answers: Some(answers) };
    assert!(driver.codec.answer("que_1", &answer, now(), &mut driver.out));
    assert_eq!(driver.sent()[0]["body"], json!({"answers": [["free"], ["a", "b"], []]}));

    driver.tell("question.asked", json!({"id": "que_2", "questions": [question("Q")]}));
    driver.take();
    let no = Answer { decision: ApprovalDecision::Deny, message: None, answers: None };
    assert!(driver.codec.answer("que_2", &no, now(), &mut driver.out));
    assert_eq!(driver.sent()[0]["path"], "/question/que_2/reject");
}

#[test]
fn what_somebody_else_answered_or_nobody_will_is_withdrawn() {
    let mut driver = Driver::working();
    driver.tell("permission.asked", json!({"id": "per_1", "permission": "bash"}));
    driver.tell("permission.asked", json!({"id": "per_2", "permission": "bash"}));
    driver.take();
    driver.tell("permission.replied", json!({"requestID": "per_1", "reply": "once"}));
    assert_eq!(driver.take(), [Output::Withdrawn("per_1".to_owned())]);
    driver.codec.ended(&Exit { code: None, signal: Some(9) }, now(), &mut driver.out);
    let told = driver.take();
    assert!(told.contains(&Output::Withdrawn("per_2".to_owned())));
    let Some(Output::TurnEnded(TurnEnd::Failed { message, .. })) = told.last() else {
        panic!("it failed: {told:?}")
    };
    assert_eq!(message, "OpenCode exited before it finished (killed by signal 9)");
}

#[test]
fn a_session_that_is_there_is_gone_on_with() {
    let mut driver = Driver::start(Some(json!({"session": SESSION, "children": ["ses_0"]})));
    assert_eq!(driver.sent(), [json!({"method": "GET", "path": "/session/ses_1"})]);
    driver.reply(200, &json!({"id": SESSION}));
    let told = driver.take();
    assert_eq!(told[0], state(&["ses_0"]), "what was known is still known");
    assert_eq!(sent(&told), [say("hello", PART)]);
}

#[test]
fn a_session_that_is_not_there_is_brought_in_first() {
    let import = |file: &str| {
        let file = format!("/home/agent/.warren/opencode/00000000-0000-0000-0000-000000000000/{file}");
        json!({"run": ["/agents/opencode/bin/opencode", "import", file]})
    };
    let mut driver = Driver::start(Some(json!({"session": SESSION, "children": ["ses_0"]})));
    driver.take();
    driver.reply(404, &json!({}));
    assert_eq!(driver.sent(), [import("main.json")]);
    driver.reply(0, &json!("Imported session: ses_1\n"));
    assert_eq!(driver.sent(), [import("subagents/ses_0.json")]);
    driver.reply(1, &Value::Null);
    assert_eq!(driver.sent(), [say("hello", PART)], "a subagent's may be lost");

    let mut driver = Driver::start(Some(Value::Null));
    assert_eq!(driver.sent(), [import("main.json")], "only the file tells which session it is");
    driver.reply(0, &json!("Imported session: ses_1\n"));
    assert_eq!(driver.sent(), [say("hello", PART)]);

    let mut driver = Driver::start(Some(Value::Null));
    driver.take();
    driver.reply(1, &json!("no such file"));
    assert!(
        matches!(driver.end(), Some(TurnEnd::Failed { message, .. }) if message.contains("no such file"))
    );
}

#[test]
fn what_happened_while_nobody_listened_is_read_again() {
    let mut driver = Driver::working();
    driver.line(r#"{"type":"warren.reconnected"}"#);
    let paths: Vec<Value> = driver.sent().into_iter().map(|request| request["path"].clone()).collect();
    assert_eq!(paths, ["/session/ses_1/message", "/permission", "/question", "/session/status"]);
    let text =
        json!({"id": "prt_1", "sessionID": SESSION, "messageID": "msg_2", "type": "text", "text": "Hi."});
    driver.reply(200, &json!([{"info": message("msg_2", "assistant", Some(2)), "parts": [text]}]));
    driver.reply(200, &json!([{"id": "per_1", "permission": "bash"}]));
    driver.reply(200, &json!([]));
    let told = driver.take();
    assert!(told.iter().any(|output| matches!(output, Output::Asked(ask) if ask.key == "per_1")));
    driver.reply(200, &json!({}));
    assert_eq!(driver.sent(), [save(SESSION, "main.json")], "it had come to its end");
    driver.reply(200, &Value::Null);
    assert_eq!(driver.end(), Some(TurnEnd::Completed { summary: Some("Hi.".to_owned()) }));
}

#[test]
fn pictures_and_files_are_sent_with_the_prompt() {
    let content = Content::Parts(vec![
        ContentPart::Image { image: "AAAA".to_owned(), media_type: "image/png".to_owned() },
        ContentPart::File { file: "a/b.PDF".to_owned() },
        ContentPart::Text { text: "look".to_owned() },
    ]);
    let prompt = Prompt { message: BlockId::from(PROMPT), content };
    let body = crate::opencode::requests::prompt_body(&prompt, &Value::Null);
    assert_eq!(
        body["parts"],
        json!([
            {"type": "text", "text": "", "ignored": true, "id": PART},
            {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"},
            {"type": "file", "mime": "application/pdf", "filename": "b.PDF", "url": "file:///user-input/a/b.PDF"},
            {"type": "text", "text": "look"},
        ])
    );
}
