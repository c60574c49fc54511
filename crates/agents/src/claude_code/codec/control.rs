//! What goes to Claude Code's stdin, and what it asks people.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use warren_domain::{ApprovalDecision, ApprovalKind, Content, ContentPart};

use super::{Unreadable, uuid_of};
use crate::{Answer, Ask, Output, Prompt, claude_code::scan::read};

/// The tool by which the model asks people.
const QUESTION_TOOL: &str = "AskUserQuestion";

/// What waits for a person.
#[derive(Default)]
pub(super) struct Asks {
    open: BTreeMap<String, Request>,
}

#[derive(Deserialize)]
struct ControlRequest {
    request_id: String,
    #[serde(default)]
    request: Option<Request>,
}

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    subtype: String,
    #[serde(default)]
    tool_name: String,
    #[serde(default)]
    display_name: Option<String>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    blocked_path: Option<Value>,
    #[serde(default)]
    decision_reason: Option<Value>,
    #[serde(default)]
    tool_use_id: Option<String>,
}

impl Asks {
    pub(super) fn asked(&mut self, raw: &[u8], out: &mut Vec<Output>) -> Result<(), Unreadable> {
        let ControlRequest { request_id, request } = read(raw).ok_or(Unreadable)?;
        let request = request.ok_or(Unreadable)?;
        if request.subtype != "can_use_tool" {
            // It would wait for ever.
            let error = json!({"subtype": "error", "request_id": request_id, "error": "not supported"});
            out.push(send(&json!({"type": "control_response", "response": error})));
            return Err(Unreadable);
        }
        out.push(Output::Asked(request.ask(&request_id)));
        self.open.insert(request_id, request);
        Ok(())
    }

    pub(super) fn withdrawn(&mut self, raw: &[u8], out: &mut Vec<Output>) -> Result<(), Unreadable> {
        let ControlRequest { request_id, .. } = read(raw).ok_or(Unreadable)?;
        if self.open.remove(&request_id).is_some() {
            out.push(Output::Withdrawn(request_id));
        }
        Ok(())
    }

    pub(super) fn withdraw_all(&mut self, out: &mut Vec<Output>) {
        out.extend(std::mem::take(&mut self.open).into_keys().map(Output::Withdrawn));
    }

    pub(super) fn answer(&mut self, key: &str, answer: &Answer, out: &mut Vec<Output>) -> bool {
        let Some(request) = self.open.remove(key) else { return false };
        let response = match answer.decision {
            ApprovalDecision::Deny => request.denied(answer),
            ApprovalDecision::Allow | ApprovalDecision::AllowAlways => request.allowed(answer),
        };
        let response = json!({"subtype": "success", "request_id": key, "response": response});
        out.push(send(&json!({"type": "control_response", "response": response})));
        true
    }
}

impl Request {
    fn is_question(&self) -> bool {
        self.tool_name == QUESTION_TOOL
    }

    fn ask(&self, key: &str) -> Ask {
        let (kind, title, detail, options) =
            if self.is_question() { self.question() } else { self.permission() };
        Ask { key: key.to_owned(), kind, tool_use_id: self.tool_use_id.clone(), title, detail, options }
    }

    fn question(&self) -> (ApprovalKind, String, Value, Vec<ApprovalDecision>) {
        let questions = self.input.get("questions").cloned().unwrap_or_else(|| json!([]));
        let title = questions.get(0).and_then(|first| first.get("question")).and_then(Value::as_str);
        let title = title.unwrap_or("The agent has a question").to_owned();
        let options = vec![ApprovalDecision::Allow, ApprovalDecision::Deny];
        (ApprovalKind::Question, title, json!({"questions": questions}), options)
    }

    fn permission(&self) -> (ApprovalKind, String, Value, Vec<ApprovalDecision>) {
        let mut detail = Map::new();
        detail.insert("toolName".to_owned(), Value::from(self.tool_name.as_str()));
        detail.insert("input".to_owned(), self.input.clone());
        let more = [
            ("description", self.description.clone().map(Value::String)),
            ("blockedPath", self.blocked_path.clone()),
            ("reason", self.decision_reason.clone()),
        ];
        detail.extend(more.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
        let options = vec![ApprovalDecision::Allow, ApprovalDecision::AllowAlways, ApprovalDecision::Deny];
        (ApprovalKind::Permission, self.title(), Value::Object(detail), options)
    }

    fn title(&self) -> String {
        if let Some(title) = self.title.clone().filter(|title| !title.is_empty()) {
            return title;
        }
        let name = self.display_name.as_deref().unwrap_or(&self.tool_name);
        let input =
            ["command", "file_path", "url", "pattern", "path"].iter().find_map(|key| self.input.get(key));
        let about = input.and_then(Value::as_str).or(self.description.as_deref()).unwrap_or_default();
        let about = about.lines().next().unwrap_or_default();
        let about = &about[..about.floor_char_boundary(120)];
        if about.is_empty() { name.to_owned() } else { format!("{name}: {about}") }
    }

    fn allowed(self, answer: &Answer) -> Value {
        let mut input = if self.input.is_object() { self.input } else { json!({}) };
        if let Some(answers) = &answer.answers {
            input["answers"] = Value::Object(answers.clone());
        }
        json!({"behavior": "allow", "updatedInput": input})
    }

    fn denied(&self, answer: &Answer) -> Value {
        let message = answer.message.as_deref().filter(|message| !message.is_empty());
        let floor =
            if self.is_question() { "The user did not answer." } else { "The user does not allow this." };
        json!({"behavior": "deny", "message": message.unwrap_or(floor)})
    }
}

/// A message of a person.
pub(super) fn prompt(prompt: &Prompt) -> Output {
    let content = match &prompt.content {
        Content::Text(text) => Value::from(text.as_str()),
        Content::Parts(parts) => parts.iter().map(part).collect(),
    };
    let message = json!({"role": "user", "content": content});
    send(&json!({"type": "user", "uuid": uuid_of(&prompt.message), "message": message}))
}

fn part(part: &ContentPart) -> Value {
    match part {
        ContentPart::Text { text } => json!({"type": "text", "text": text}),
        ContentPart::Image { image, media_type } => {
            json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": image}})
        }
        ContentPart::File { file } => json!({"type": "text", "text": format!("[file {file}]")}),
    }
}

pub(super) fn interrupt(n: u32) -> Output {
    let request = json!({"subtype": "interrupt"});
    send(&json!({"type": "control_request", "request_id": format!("interrupt-{n}"), "request": request}))
}

fn send(line: &Value) -> Output {
    let mut bytes = line.to_string().into_bytes();
    bytes.push(b'\n');
    Output::Send(bytes)
}
