//! What Codex asks a person, and how it wants to be answered.

use serde_json::{Map, Value, json};
use warren_domain::{ApprovalDecision, ApprovalKind, Content, ContentPart};

use super::shell;
use crate::{
    Answer, Ask,
    fields::{list, present, text, texts},
    rpc,
};

/// A question that waits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pending {
    /// The request to answer.
    pub(super) id: Value,
    method: String,
    params: Value,
}

/// Requests that are for people.
const FOR_PEOPLE: [&str; 7] = [
    "item/commandExecution/requestApproval",
    "item/fileChange/requestApproval",
    "item/permissions/requestApproval",
    "item/tool/requestUserInput",
    "mcpServer/elicitation/request",
    "execCommandApproval",
    "applyPatchApproval",
];

/// What Codex may say beside the call: why, and with what the call gets.
const DETAILS: [&str; 7] = [
    "reason",
    "cwd",
    "permissions",
    "additionalPermissions",
    "networkApprovalContext",
    "grantRoot",
    "environmentId",
];

impl Pending {
    /// A request that a person must answer. `None`: it is for a program.
    pub(super) fn new(id: Value, method: String, params: Value) -> Option<Self> {
        FOR_PEOPLE.contains(&method.as_str()).then_some(Self { id, method, params })
    }

    pub(super) fn key(&self) -> String {
        rpc::key(&self.id)
    }

    /// The thread and the item it is about.
    pub(super) fn about(&self) -> (Option<&str>, Option<&str>) {
        let item = ["itemId", "callId", "call_id"].iter().find_map(|key| text(&self.params, key));
        (text(&self.params, "threadId").or_else(|| text(&self.params, "conversationId")), item)
    }

    /// Whether it asks for words, not for permission.
    fn is_question(&self) -> bool {
        self.method == "item/tool/requestUserInput"
    }

    /// The question for a person; `call` is the tool's name and input, where they are known.
    pub(super) fn ask(&self, call: Option<(&str, &Value)>) -> Ask {
        let tool_use_id = self.about().1.map(str::to_owned);
        if self.is_question() {
            let questions = list(&self.params, "questions");
            let title = questions.first().and_then(|question| text(question, "question"));
            return Ask {
                key: self.key(),
                kind: ApprovalKind::Question,
                tool_use_id,
                title: title.unwrap_or("The agent asks").to_owned(),
                detail: json!({"questions": questions.iter().map(question).collect::<Vec<_>>()}),
                options: vec![ApprovalDecision::Allow, ApprovalDecision::Deny],
            };
        }
        let (name, input) = self.tool(call);
        let mut detail = json!({"toolName": name, "input": input});
        for key in DETAILS {
            if let Some(value) = present(&self.params, key) {
                detail[key] = value.clone();
            }
        }
        Ask {
            key: self.key(),
            kind: ApprovalKind::Permission,
            tool_use_id,
            title: self.title(&name, &input),
            detail,
            options: vec![ApprovalDecision::Allow, ApprovalDecision::AllowAlways, ApprovalDecision::Deny],
        }
    }

    fn tool(&self, call: Option<(&str, &Value)>) -> (String, Value) {
        if let Some((name, input)) = call {
            return (name.to_owned(), input.clone());
        }
        let params = &self.params;
        match self.method.as_str() {
            "item/commandExecution/requestApproval" | "execCommandApproval" => {
                let command = match params.get("command") {
                    Some(Value::String(line)) => shell::of_line(line),
                    _ => shell::of_words(&texts(params, "command")),
                };
                ("shell".to_owned(), json!({"command": command}))
            }
            "mcpServer/elicitation/request" => {
                let input = params.pointer("/_meta/tool_params").or_else(|| params.get("requestedSchema"));
                let server = text(params, "serverName").unwrap_or_default();
                (format!("mcp__{server}"), input.cloned().unwrap_or_default())
            }
            "item/permissions/requestApproval" => {
                ("permissions".to_owned(), params.get("permissions").cloned().unwrap_or_default())
            }
            _ => ("apply_patch".to_owned(), params.get("fileChanges").cloned().unwrap_or_default()),
        }
    }

    fn title(&self, name: &str, input: &Value) -> String {
        let said = ["message", "reason"].iter().find_map(|key| text(&self.params, key));
        let said = said.or_else(|| text(input, "command"));
        said.map_or_else(|| format!("Allow {name}?"), str::to_owned)
    }

    /// The answer in the form this request takes.
    pub(super) fn answer(&self, answer: &Answer) -> Value {
        let allowed = answer.decision != ApprovalDecision::Deny;
        let always = answer.decision == ApprovalDecision::AllowAlways;
        match self.method.as_str() {
            "item/tool/requestUserInput" => json!({"answers": self.answers(answer)}),
            "mcpServer/elicitation/request" => {
                let meta = if always { json!({"persist": "session"}) } else { Value::Null };
                let content = if allowed { json!({}) } else { Value::Null };
                let action = if allowed { "accept" } else { "decline" };
                json!({"action": action, "content": content, "_meta": meta})
            }
            "item/permissions/requestApproval" => {
                let asked = self.params.get("permissions").cloned().unwrap_or_default();
                let permissions = if allowed { asked } else { json!({}) };
                json!({"permissions": permissions, "scope": if always { "session" } else { "turn" }})
            }
            "execCommandApproval" | "applyPatchApproval" => json!({"decision": match answer.decision {
                ApprovalDecision::Allow => "approved",
                ApprovalDecision::AllowAlways => "approved_for_session",
                ApprovalDecision::Deny => "denied",
            }}),
            _ => json!({"decision": match answer.decision {
                ApprovalDecision::Allow => json!("accept"),
                ApprovalDecision::AllowAlways => self.always(),
                ApprovalDecision::Deny => json!("decline"),
            }}),
        }
    }

    /// Why a person said no, where the answer has no place for it.
    pub(super) fn reason(&self, answer: &Answer) -> Option<String> {
        if self.is_question() {
            return None;
        }
        let (name, input) = self.tool(None);
        answer.reason(&self.title(&name, &input))
    }

    /// The most lasting yes that is offered.
    fn always(&self) -> Value {
        let offered = list(&self.params, "availableDecisions");
        let lasting = offered.iter().find(|decision| decision.get("acceptWithExecpolicyAmendment").is_some());
        match lasting {
            Some(amendment) if !offered.contains(&json!("acceptForSession")) => amendment.clone(),
            _ => json!("acceptForSession"),
        }
    }

    /// Answers by the questions' ids. Nothing chosen is an empty list.
    fn answers(&self, answer: &Answer) -> Map<String, Value> {
        let chosen = |question: &Value| -> Vec<Value> {
            let said = answer.answers.as_ref().and_then(|answers| answers.get(text(question, "question")?));
            match said {
                Some(Value::Array(labels)) => labels.clone(),
                Some(label) => vec![label.clone()],
                None => answer.message.iter().map(|message| json!(message)).collect(),
            }
        };
        let questions = list(&self.params, "questions").iter();
        questions
            .filter_map(|question| {
                let answers = json!({"answers": chosen(question)});
                Some((text(question, "id")?.to_owned(), answers))
            })
            .collect()
    }
}

fn question(question: &Value) -> Value {
    let mut asked = json!({"question": text(question, "question").unwrap_or_default()});
    if let Some(header) = text(question, "header") {
        asked["header"] = json!(header);
    }
    let option = |option: &Value| {
        let mut shown = json!({"label": text(option, "label").unwrap_or_default()});
        if let Some(description) = text(option, "description") {
            shown["description"] = json!(description);
        }
        shown
    };
    asked["options"] = list(question, "options").iter().map(option).collect();
    asked
}

/// What a person's message is for Codex.
pub(super) fn input(content: &Content) -> Vec<Value> {
    let text_input = |text: &str| json!({"type": "text", "text": text});
    match content {
        Content::Text(text) => vec![text_input(text)],
        Content::Parts(parts) => parts
            .iter()
            .map(|part| match part {
                ContentPart::Text { text } => text_input(text),
                ContentPart::Image { image, media_type } => {
                    json!({"type": "image", "url": format!("data:{media_type};base64,{image}")})
                }
                ContentPart::File { file } => text_input(&format!("[file {file}]")),
            })
            .collect(),
    }
}
