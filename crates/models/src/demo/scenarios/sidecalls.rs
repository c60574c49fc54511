//! What agents ask on their own account: titles, summaries, choices between models, whether a key works.
//!
//! Such requests quote the person's words, so they are told apart before anything looks at those words.

use serde_json::Value;

use super::{has_phrase, shortened};
use crate::demo::{conversation::Conversation, schema::sample, turn::Turn, words::SUMMARY};

/// How requests to put a conversation into a summary begin, or what their instructions say.
const COMPACTION: &[&str] = &[
    "create a detailed summary of the conversation",
    "create a detailed summary of our conversation",
    "context checkpoint compaction",
    "context summarization agent",
    "<state_snapshot>",
    "continuing our conversation above",
    "anchored summary",
    "summarizing conversations",
];

/// Requests for a line or two about a conversation or a text.
const DIGEST: &[&str] = &[
    "summarize the user's primary intent",
    "summarize what was done in this conversation",
    "summarize the following tool output",
    "summarise this coding conversation",
    "summarize this coding conversation",
];

/// Agents ask small models to name a conversation; such a request offers no tools.
pub(in crate::demo) fn is_title(conversation: &Conversation) -> bool {
    let asks = |text: &str| has_phrase(text, "title") || has_phrase(text, "isnewtopic");
    conversation.toolbox.is_empty() && asks(&conversation.system)
}

pub(in crate::demo) fn title(conversation: &Conversation) -> Vec<Turn> {
    let words = conversation.prompt.split_whitespace().take(6).collect::<Vec<_>>().join(" ");
    let title = words.trim_end_matches(|c: char| !c.is_alphanumeric());
    let title = if title.is_empty() { "Conversation" } else { title };
    // Names of files such as `config.json` are no wish for JSON.
    let wants_json =
        [" json", "\"title\"", "isnewtopic"].iter().any(|key| has_phrase(&conversation.system, key));
    if conversation.schema.is_some() || !wants_json {
        return vec![Turn::new().say(title)];
    }
    let quoted = Value::from(title);
    let json = if conversation.system.contains("isNewTopic") {
        format!(r#"{{"isNewTopic":true,"title":{quoted}}}"#)
    } else {
        format!(r#"{{"title":{quoted}}}"#)
    };
    vec![Turn::new().say(json)]
}

/// A key is tried with the shortest answer there is.
pub(in crate::demo) fn is_probe(conversation: &Conversation) -> bool {
    conversation.max_tokens == Some(1)
}

pub(in crate::demo) fn probe(_: &Conversation) -> Vec<Turn> {
    vec![Turn::new().say("Yes")]
}

/// An answer in JSON and no tools: a choice between models, a check for loops, a correction.
pub(in crate::demo) fn is_choice(conversation: &Conversation) -> bool {
    conversation.schema.is_some() && conversation.toolbox.is_empty()
}

pub(in crate::demo) fn choice(conversation: &Conversation) -> Vec<Turn> {
    vec![Turn::new().say(shortened(&conversation.prompt))]
}

pub(in crate::demo) fn is_compaction(conversation: &Conversation) -> bool {
    let begins = |text: &str| {
        let head: String = text.chars().take(600).collect();
        COMPACTION.iter().any(|phrase| has_phrase(&head, phrase))
    };
    begins(&conversation.prompt) || begins(&conversation.system)
}

/// Everything that people said, in a form that is known again when it comes back.
pub(in crate::demo) fn compaction(conversation: &Conversation) -> Vec<Turn> {
    // Some agents give the conversation as a text of its own.
    let quoted = conversation.prompt.lines().filter_map(|line| line.strip_prefix("[User]: "));
    let said = conversation.earlier.iter().map(String::as_str).chain(quoted);
    let said: String = said.map(|said| format!("- {}\n", shortened(said))).collect();
    let wants = |tag: &str| conversation.prompt.contains(tag) || conversation.system.contains(tag);
    let (open, close) = if wants("<state_snapshot>") {
        ("<state_snapshot>\n", "\n</state_snapshot>")
    } else if wants("<summary>") {
        ("<summary>\n", "\n</summary>")
    } else {
        ("", "")
    };
    vec![Turn::new().say(format!("{open}{SUMMARY}\n{said}\nNothing else is worth keeping.{close}"))]
}

pub(in crate::demo) fn is_digest(conversation: &Conversation) -> bool {
    let asks = |text: &str| DIGEST.iter().any(|phrase| has_phrase(text, phrase));
    conversation.toolbox.is_empty() && (asks(&conversation.prompt) || asks(&conversation.system))
}

pub(in crate::demo) fn digest(_: &Conversation) -> Vec<Turn> {
    vec![Turn::new().say("A conversation with the demo model")]
}

/// The turn as JSON, where that is wanted: its words in every text of the schema.
pub(in crate::demo) fn in_json(turn: &Turn, schema: &Value) -> Turn {
    Turn::new().say(sample(schema, &turn.text()).to_string())
}
