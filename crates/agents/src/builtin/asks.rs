//! What the built-in agent asks people, and what they allowed for good.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use warren_domain::{ApprovalDecision, ApprovalKind};

use crate::{Answer, Ask, Output};

/// What must be known to continue a session, beside its transcript.
#[derive(Debug, Clone, Serialize, Deserialize, Default)]
pub(super) struct State {
    /// Tools a person allowed for good. A process carries out one run, so they are told to the next one.
    #[serde(default)]
    pub(super) allowed: BTreeSet<String>,
}

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

/// What waits for a person.
pub(super) struct Asks {
    /// By key, the tool it is about.
    open: BTreeMap<String, String>,
    state: State,
}

impl State {
    pub(super) fn of(state: Option<&Value>) -> Self {
        state.and_then(|state| State::deserialize(state).ok()).unwrap_or_default()
    }
}

impl Asks {
    pub(super) fn new(state: State) -> Self {
        Self { open: BTreeMap::new(), state }
    }

    /// `false`: that is asked already.
    pub(super) fn asked(&mut self, request: Request, out: &mut Vec<Output>) -> bool {
        let Request { key, tool_use_id, tool_name, title, input } = request;
        if self.open.contains_key(&key) {
            return false;
        }
        self.open.insert(key.clone(), tool_name.clone());
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

    /// `false`: nobody asked that, or it was answered.
    pub(super) fn withdrawn(&mut self, key: String, out: &mut Vec<Output>) -> bool {
        let was_open = self.open.remove(&key).is_some();
        if was_open {
            out.push(Output::Withdrawn(key));
        }
        was_open
    }

    pub(super) fn withdraw_all(&mut self, out: &mut Vec<Output>) {
        out.extend(std::mem::take(&mut self.open).into_keys().map(Output::Withdrawn));
    }

    /// Takes note of an answer. `false`: nobody waits for it.
    pub(super) fn answered(&mut self, key: &str, answer: &Answer, out: &mut Vec<Output>) -> bool {
        let Some(tool) = self.open.remove(key) else { return false };
        if answer.decision == ApprovalDecision::AllowAlways && self.state.allowed.insert(tool) {
            out.push(Output::State(json!(self.state)));
        }
        true
    }
}
