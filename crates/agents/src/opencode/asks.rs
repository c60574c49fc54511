//! What OpenCode asks people, and how it is answered.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use warren_domain::{ApprovalDecision, ApprovalKind};

use super::{
    native::{Asked, Question, value},
    requests::{Purpose, Requests},
};
use crate::{Answer, Ask, Output};

/// Questions nobody has answered yet.
#[derive(Default)]
pub(super) struct Asks {
    open: BTreeMap<String, Waiting>,
}

enum Waiting {
    Permission,
    /// The texts of the questions, in their order.
    Question(Vec<String>),
}

/// A tool call that something is asked about.
pub(super) struct AboutCall {
    pub(super) tool: String,
    pub(super) input: Value,
}

impl Asks {
    pub(super) fn is_open(&self, key: &str) -> bool {
        self.open.contains_key(key)
    }

    pub(super) fn permission(&mut self, asked: Asked<'_>, call: Option<AboutCall>, out: &mut Vec<Output>) {
        let patterns = asked.patterns.into_vec();
        let title = match patterns.is_empty() {
            true => asked.permission.clone(),
            false => format!("{}: {}", asked.permission, patterns.join(", ")),
        };
        let metadata = asked.metadata.map_or(Value::Null, value);
        let (tool, input) = match call {
            Some(AboutCall { tool, input }) => (tool, input),
            None => (asked.permission.clone(), metadata.clone()),
        };
        let detail = json!({
            "toolName": tool, "input": input, "permission": asked.permission, "patterns": patterns,
            "metadata": metadata,
        });
        self.open.insert(asked.id.clone(), Waiting::Permission);
        out.push(Output::Asked(Ask {
            key: asked.id,
            kind: ApprovalKind::Permission,
            tool_use_id: asked.tool.call.or(asked.call),
            title,
            detail,
            options: vec![ApprovalDecision::Allow, ApprovalDecision::AllowAlways, ApprovalDecision::Deny],
        }));
    }

    pub(super) fn question(&mut self, asked: Asked<'_>, out: &mut Vec<Output>) {
        let texts: Vec<String> = asked.questions.iter().map(|question| question.question.clone()).collect();
        let title = texts.first().cloned().unwrap_or_else(|| "question".to_owned());
        let questions: Vec<Value> = asked.questions.iter().map(question_detail).collect();
        self.open.insert(asked.id.clone(), Waiting::Question(texts));
        out.push(Output::Asked(Ask {
            key: asked.id,
            kind: ApprovalKind::Question,
            tool_use_id: asked.tool.call.or(asked.call),
            title,
            detail: json!({ "questions": questions }),
            options: vec![ApprovalDecision::Allow, ApprovalDecision::Deny],
        }));
    }

    /// Somebody answered. Whoever waits for a person still waits for nothing.
    pub(super) fn answered(&mut self, key: String, out: &mut Vec<Output>) {
        if self.open.remove(&key).is_some() {
            out.push(Output::Withdrawn(key));
        }
    }

    /// The turn is over: nobody waits.
    pub(super) fn withdraw_all(&mut self, out: &mut Vec<Output>) {
        out.extend(std::mem::take(&mut self.open).into_keys().map(Output::Withdrawn));
    }

    /// Tells OpenCode what a person answered. `false`: nobody waits for it.
    pub(super) fn answer(
        &mut self,
        key: &str,
        answer: &Answer,
        requests: &mut Requests,
        out: &mut Vec<Output>,
    ) -> bool {
        let is_no = answer.decision == ApprovalDecision::Deny;
        let (path, body) = match self.open.remove(key) {
            None => return false,
            Some(Waiting::Permission) => (format!("/permission/{key}/reply"), permission_reply(answer)),
            Some(Waiting::Question(_)) if is_no => (format!("/question/{key}/reject"), json!({})),
            Some(Waiting::Question(texts)) => {
                (format!("/question/{key}/reply"), question_reply(&texts, answer))
            }
        };
        requests.post(Purpose::Tell, &path, body, out);
        true
    }
}

fn question_detail(question: &Question) -> Value {
    let mut detail = json!({
        "question": question.question, "options": question.options, "multiSelect": question.multiple,
    });
    if let Some(header) = &question.header {
        detail["header"] = json!(header);
    }
    detail
}

fn permission_reply(answer: &Answer) -> Value {
    let reply = match answer.decision {
        ApprovalDecision::Allow => "once",
        ApprovalDecision::AllowAlways => "always",
        ApprovalDecision::Deny => "reject",
    };
    match answer.message.as_deref().filter(|message| !message.is_empty()) {
        Some(message) => json!({"reply": reply, "message": message}),
        None => json!({ "reply": reply }),
    }
}

/// For each question the labels that were chosen, or what was written instead.
fn question_reply(texts: &[String], answer: &Answer) -> Value {
    let labels = |value: &Value| match value {
        Value::Array(labels) => labels.iter().map(label).collect(),
        Value::Null => Vec::new(),
        one => vec![label(one)],
    };
    let chosen = |text: &String| {
        let value = answer.answers.as_ref().and_then(|answers| answers.get(text));
        value.map(labels).or_else(|| answer.message.clone().map(|message| vec![message])).unwrap_or_default()
    };
    json!({ "answers": texts.iter().map(chosen).collect::<Vec<Vec<String>>>() })
}

fn label(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
