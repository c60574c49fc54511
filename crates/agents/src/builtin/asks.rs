//! What the built-in agent asks people.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};
use warren_domain::{
    ApprovalDecision, ApprovalKind, Block, ConversationId, Draft, EventBody, PermissionMode,
};

use crate::{Answer, Ask, Output};

/// Tools that change nothing, or whose calls ask for themselves: nobody is asked about these. Every other needs a yes.
const UNASKED: [&str; 6] = ["read", "glob", "grep", "todo", "task", "question"];

/// A call that waits for a person.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    key: String,
    tool_use_id: String,
    tool_name: String,
    title: String,
    #[serde(default)]
    input: Value,
}

/// Questions that wait for a person.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Questions {
    key: String,
    tool_use_id: String,
    title: String,
    questions: Value,
}

/// Pending approvals, and a check that no call runs without one.
pub(super) struct Asks {
    mode: PermissionMode,
    /// Keys of calls that wait for an answer.
    open: BTreeSet<String>,
    /// By key, the tool of each call that the agent announced and that is not over.
    calls: BTreeMap<String, String>,
    /// Keys of calls that a person allowed, and that are not over.
    allowed: BTreeSet<String>,
}

impl Asks {
    pub(super) fn new(mode: PermissionMode) -> Self {
        Self { mode, open: BTreeSet::new(), calls: BTreeMap::new(), allowed: BTreeSet::new() }
    }

    /// Compares what the agent says it runs with what was allowed. `Some`: it ran something without being allowed to.
    ///
    /// The agent's own word is not enough: an answer forged inside the sandbox would go unnoticed.
    pub(super) fn observe(&mut self, draft: &Draft) -> Option<Output> {
        let thread = &draft.conversation_id;
        match &draft.body {
            EventBody::BlockStart { block: Block::ToolUse { tool_use_id, tool_name, .. } } => {
                self.calls.entry(key(thread, tool_use_id)).or_insert_with(|| tool_name.clone());
                None
            }
            EventBody::BlockUpdate { block_id, updates }
                if updates.get("status") == Some(&json!("running")) =>
            {
                self.ran(thread, block_id.as_str())
            }
            EventBody::BlockStart { block: Block::ToolResult { tool_use_id, .. } } => {
                self.ran(thread, tool_use_id)
            }
            EventBody::BlockComplete { block: Block::ToolResult { tool_use_id, is_error, .. } } => {
                // A failure may be that it was not allowed.
                let unapproved = if *is_error { None } else { self.ran(thread, tool_use_id) };
                let key = key(thread, tool_use_id);
                self.calls.remove(&key);
                self.allowed.remove(&key);
                unapproved
            }
            _ => None,
        }
    }

    /// A call ran, or is running.
    fn ran(&mut self, thread: &ConversationId, tool_use_id: &str) -> Option<Output> {
        let key = key(thread, tool_use_id);
        // What an earlier process announced was looked at then.
        let tool = self.calls.get(&key)?;
        let is_allowed = self.mode == PermissionMode::Auto
            || UNASKED.contains(&tool.as_str())
            || self.allowed.contains(&key);
        if is_allowed {
            return None;
        }
        // Once is enough.
        let tool_name = self.calls.remove(&key)?;
        Some(Output::Unapproved { tool_name, tool_use_id: tool_use_id.to_owned() })
    }

    /// `false`: that is asked already.
    pub(super) fn asked(&mut self, request: Request, out: &mut Vec<Output>) -> bool {
        let Request { key, tool_use_id, tool_name, title, input } = request;
        if !self.open.insert(key.clone()) {
            return false;
        }
        out.push(Output::Asked(Ask {
            key,
            kind: ApprovalKind::Permission,
            tool_use_id: Some(tool_use_id),
            title,
            detail: json!({"toolName": tool_name, "input": input}),
            options: vec![ApprovalDecision::Allow, ApprovalDecision::AllowAlways, ApprovalDecision::Deny],
        }));
        true
    }

    /// `false`: that is asked already.
    pub(super) fn questioned(&mut self, asked: Questions, out: &mut Vec<Output>) -> bool {
        let Questions { key, tool_use_id, title, questions } = asked;
        if !self.open.insert(key.clone()) {
            return false;
        }
        out.push(Output::Asked(Ask {
            key,
            kind: ApprovalKind::Question,
            tool_use_id: Some(tool_use_id),
            title,
            detail: json!({ "questions": questions }),
            options: vec![ApprovalDecision::Allow, ApprovalDecision::Deny],
        }));
        true
    }

    /// `false`: nobody asked that, or it was answered.
    pub(super) fn withdrawn(&mut self, key: String, out: &mut Vec<Output>) -> bool {
        let was_open = self.open.remove(&key);
        if was_open {
            out.push(Output::Withdrawn(key));
        }
        was_open
    }

    pub(super) fn withdraw_all(&mut self, out: &mut Vec<Output>) {
        out.extend(std::mem::take(&mut self.open).into_iter().map(Output::Withdrawn));
    }

    /// Takes note of an answer. `false`: nobody waits for it.
    pub(super) fn answered(&mut self, key: &str, answer: &Answer) -> bool {
        if !self.open.remove(key) {
            return false;
        }
        if answer.decision != ApprovalDecision::Deny {
            self.allowed.insert(key.to_owned());
        }
        true
    }
}

/// A call's name among the calls of all threads, as the agent uses it when it asks.
fn key(thread: &ConversationId, tool_use_id: &str) -> String {
    if thread.is_main() { tool_use_id.to_owned() } else { format!("{thread}.{tool_use_id}") }
}
