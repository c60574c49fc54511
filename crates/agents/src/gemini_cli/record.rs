//! One record of a chat, and what it is for people.

use serde_json::Value;
use warren_domain::Usage;

use super::{
    native::{Record, Tokens},
    text,
};

/// Texts of Gemini's own that stand where a person's or a model's would.
const CONTEXTS: [&str; 3] = [
    "<session_context>",
    "<hook_context>",
    "Your task is to do a deep investigation of the codebase to find all ",
];
const GO_ON: [&str; 2] = ["Please continue.", "System: Please continue."];
const INTERRUPTED: &str = "[The previous response was interrupted before it completed.]";

/// What a record is for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// What a person said.
    Prompt,
    /// What the model said, thought and called.
    Agent,
    /// The answers of tools, which the calls carry too.
    Answers,
    /// What stands for all that was said before, since the model forgot it.
    Summary,
    /// What the program said.
    Note,
    /// Nothing.
    Hidden,
}

/// What a record of the model's holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Has {
    pub(super) text: bool,
    pub(super) thoughts: bool,
    pub(super) calls: u32,
}

/// What was spent on one call of the model.
pub(super) fn usage(tokens: Tokens, model: Option<String>) -> Usage {
    let usage = Usage {
        input_tokens: tokens.input.saturating_sub(tokens.cached) + tokens.tool,
        output_tokens: tokens.output + tokens.thoughts,
        cache_read_tokens: tokens.cached,
        thinking_tokens: tokens.thoughts,
        model,
        ..Usage::default()
    };
    usage.totalled()
}

/// What a person wrote.
pub(super) fn prompt_text(record: &Record) -> String {
    let shown = text::of_prompt(&record.display_content);
    if shown.is_empty() { text::of_prompt(&record.content) } else { shown }
}

/// What the model said.
pub(super) fn agent_text(record: &Record) -> String {
    let text = text::spoken(&text::of_content(&record.content));
    if text == INTERRUPTED { String::new() } else { text }
}

/// What the model thought, and its headings.
pub(super) fn thinking(record: &Record) -> (String, Option<String>) {
    let Some(thoughts) = &record.thoughts else { return (text::thoughts_of(&record.content), None) };
    let mut texts = Vec::new();
    let mut subjects = Vec::new();
    for thought in thoughts {
        let subject = thought.subject.as_deref().filter(|subject| !subject.is_empty());
        let description = thought.description.as_deref().unwrap_or_default();
        texts.push(match subject {
            Some(subject) => format!("**{subject}**\n{description}"),
            None => description.to_owned(),
        });
        subjects.extend(subject);
    }
    (texts.join("\n\n").trim().to_owned(), (!subjects.is_empty()).then(|| subjects.join(", ")))
}

impl Has {
    pub(super) fn of(record: &Record) -> Self {
        let is_call = |part: &Value| part.get("functionCall").is_some();
        Self {
            text: !agent_text(record).is_empty(),
            thoughts: !thinking(record).0.is_empty(),
            calls: u32::try_from(match &record.tool_calls {
                Some(calls) => calls.len(),
                None => text::parts(&record.content).filter(|part| is_call(part)).count(),
            })
            .unwrap_or(u32::MAX),
        }
    }
}

/// What a record is for people; `None` if nobody knows.
pub(super) fn role(record: &Record) -> Option<Role> {
    match record.kind.as_str() {
        "user" => Some(user_role(record)),
        "gemini" => Some(Role::Agent),
        "info" | "warning" | "error" => Some(Role::Note),
        _ => None,
    }
}

fn user_role(record: &Record) -> Role {
    if text::parts(&record.content).any(|part| part.get("functionResponse").is_some()) {
        return Role::Answers;
    }
    let said = prompt_text(record);
    let said = said.trim();
    let is_own =
        said.is_empty() || GO_ON.contains(&said) || CONTEXTS.iter().any(|context| said.starts_with(context));
    if is_own { Role::Hidden } else { Role::Prompt }
}

/// A record written again. Its time is when it was first written.
pub(super) fn renewed(old: &Record, new: Record) -> Record {
    Record {
        timestamp: old.timestamp.clone().or(new.timestamp),
        display_content: if new.display_content.is_null() {
            old.display_content.clone()
        } else {
            new.display_content
        },
        thoughts: new.thoughts.or_else(|| old.thoughts.clone()),
        tokens: new.tokens.or(old.tokens),
        model: new.model.or_else(|| old.model.clone()),
        tool_calls: new.tool_calls.or_else(|| old.tool_calls.clone()),
        ..new
    }
}

/// A copy of a record is made from what the model is told, which is less and less: only what was missing is taken.
pub(super) fn fill_gaps(old: &mut Record, copy: Record) {
    if old.content.is_null() {
        old.content = copy.content;
    }
    old.thoughts = old.thoughts.take().or(copy.thoughts);
    old.tokens = old.tokens.or(copy.tokens);
    old.model = old.model.take().or(copy.model);
    old.tool_calls = old.tool_calls.take().or(copy.tool_calls);
}
