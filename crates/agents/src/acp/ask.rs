//! What an agent asks a person, and the answer in its words.

use serde_json::{Value, json};
use warren_domain::{ApprovalDecision, ApprovalKind};

use crate::{
    Ask,
    fields::{list, present, text},
    rpc,
};

/// A request for permission that waits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pending {
    pub(super) id: Value,
    /// What it is about, in a line.
    pub(super) title: String,
    options: Vec<Value>,
}

impl Pending {
    pub(super) fn new(id: Value, params: &Value) -> Self {
        Self { id, title: String::new(), options: list(params, "options").to_vec() }
    }

    pub(super) fn key(&self) -> String {
        rpc::key(&self.id)
    }

    /// The question for a person, about a call with this name and input.
    pub(super) fn ask(&self, call: &Value, name: &str, input: &Value) -> Ask {
        let mut detail = json!({"toolName": name, "input": input});
        for key in ["content", "locations"] {
            if let Some(value) = present(call, key) {
                detail[key] = value.clone();
            }
        }
        let title = text(call, "title").filter(|title| !title.is_empty());
        Ask {
            key: self.key(),
            kind: ApprovalKind::Permission,
            tool_use_id: text(call, "toolCallId").map(str::to_owned),
            title: title.map_or_else(|| format!("Allow {name}?"), str::to_owned),
            detail,
            options: self.offered(),
        }
    }

    fn offered(&self) -> Vec<ApprovalDecision> {
        let all = [ApprovalDecision::Allow, ApprovalDecision::AllowAlways, ApprovalDecision::Deny];
        // A no is always possible: who offers none is told that it was cancelled.
        let is_offered = |decision: &ApprovalDecision| match decision {
            ApprovalDecision::Allow => self.has("allow_once") || !self.has("allow_always"),
            ApprovalDecision::AllowAlways => self.has("allow_always"),
            ApprovalDecision::Deny => true,
        };
        all.into_iter().filter(is_offered).collect()
    }

    fn has(&self, kind: &str) -> bool {
        self.option(&[kind]).is_some()
    }

    /// The first option of the first kind that is offered.
    fn option(&self, kinds: &[&str]) -> Option<&str> {
        let of_kind = |kind: &&str| self.options.iter().find(|option| text(option, "kind") == Some(kind));
        text(kinds.iter().find_map(of_kind)?, "optionId")
    }

    /// The answer.
    pub(super) fn answer(&self, decision: ApprovalDecision) -> Value {
        let option = match decision {
            ApprovalDecision::Allow => self.option(&["allow_once", "allow_always"]),
            ApprovalDecision::AllowAlways => self.option(&["allow_always", "allow_once"]),
            ApprovalDecision::Deny => self.option(&["reject_once", "reject_always"]),
        };
        match option {
            Some(option) => json!({"outcome": {"outcome": "selected", "optionId": option}}),
            None => Self::cancelled(),
        }
    }

    /// The answer of somebody who wants the whole turn to end.
    pub(super) fn cancelled() -> Value {
        json!({"outcome": {"outcome": "cancelled"}})
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use warren_domain::ApprovalDecision::{Allow, AllowAlways, Deny};

    use super::Pending;

    fn pending(kinds: &[&str]) -> Pending {
        let options: Vec<Value> = kinds.iter().map(|kind| json!({"optionId": kind, "kind": kind})).collect();
        Pending::new(json!(1), &json!({"options": options}))
    }

    #[test]
    fn an_answer_is_the_nearest_option_there_is() {
        let chosen = |kinds: &[&str], decision| {
            pending(kinds)
                .answer(decision)
                .pointer("/outcome/optionId")
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let all = ["allow_always", "allow_once", "reject_once"];
        assert_eq!(chosen(&all, Allow).as_deref(), Some("allow_once"));
        assert_eq!(chosen(&all, AllowAlways).as_deref(), Some("allow_always"));
        assert_eq!(chosen(&all, Deny).as_deref(), Some("reject_once"));
        assert_eq!(chosen(&["allow_once"], AllowAlways).as_deref(), Some("allow_once"));
        assert_eq!(chosen(&["allow_once"], Deny), None);
        assert_eq!(pending(&["allow_once"]).offered(), [Allow, Deny]);
        assert_eq!(pending(&["allow_always"]).offered(), [AllowAlways, Deny]);
    }
}
