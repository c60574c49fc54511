//! Answers that need no tool.

use super::{counted, has_phrase, mentions, shortened};
use crate::demo::{conversation::Conversation, script::SCENARIOS, turn::Turn};

/// A run is told to come to an end when most of its time is spent.
pub(in crate::demo) fn is_wrap_up(conversation: &Conversation) -> bool {
    has_phrase(&conversation.prompt, "wrap up")
}

pub(in crate::demo) fn wrap_up(_: &Conversation) -> Vec<Turn> {
    vec![Turn::new().say("I'll stop here. My work so far is in the workspace.")]
}

pub(in crate::demo) fn is_remember(conversation: &Conversation) -> bool {
    mentions(&conversation.prompt, &["remember"])
}

pub(in crate::demo) fn remember(conversation: &Conversation) -> Vec<Turn> {
    let what = remembered(&conversation.prompt).unwrap_or_default();
    vec![Turn::new().say(format!("I'll remember: {what}"))]
}

pub(in crate::demo) fn is_recall(conversation: &Conversation) -> bool {
    let prompt = &conversation.prompt;
    let asks = mentions(prompt, &["what", "which"]) && has_phrase(prompt, "did i ");
    asks || ["do you remember", "you remember?"].iter().any(|phrase| has_phrase(prompt, phrase))
}

/// Proves that the conversation so far came along.
pub(in crate::demo) fn recall(conversation: &Conversation) -> Vec<Turn> {
    let facts: Vec<&str> = conversation.earlier.iter().filter_map(|said| remembered(said)).collect();
    let text = match (conversation.earlier.last(), facts.as_slice()) {
        (None, _) => "This is your first message.".to_owned(),
        (Some(last), []) => {
            let n = conversation.earlier.len();
            let messages = counted(n, "message");
            format!("You sent {messages} before this one. The last one was: “{}”", shortened(last))
        }
        (Some(_), facts) => format!("You asked me to remember: {}", facts.join("; ")),
    };
    vec![Turn::new().think("The question is about earlier messages. They are in the conversation.").say(text)]
}

/// Thoughts before the answer, where the format has them.
pub(in crate::demo) fn is_think(conversation: &Conversation) -> bool {
    mentions(&conversation.prompt, &["think", "thinking", "reason", "reasoning"])
}

pub(in crate::demo) fn think(_: &Conversation) -> Vec<Turn> {
    vec![
        Turn::new()
            .think(
                "**Comparing two answers**\n\nA long answer would explain everything; a short one says what matters. \
                 Nobody asked for details, so I'll give the short one.",
            )
            .say("I thought about it, as far as a scripted demo model can. The answer is 42."),
    ]
}

pub(in crate::demo) fn otherwise(conversation: &Conversation) -> Vec<Turn> {
    let examples = SCENARIOS.iter().map(|scenario| scenario.example).filter(|example| !example.is_empty());
    let list: String = examples.map(|example| format!("- `{example}`\n")).collect();
    let text = format!(
        "Hello! I'm the **offline demo model**. No API key is set for a real model, so I answer from a script, \
         and it has no answer to “{}”.\n\nEverything else is real: the sandbox, the tools, the files and the event log. \
         Try one of these:\n\n{list}\n\
         To use a real model, set a provider's key on the server, such as `ANTHROPIC_API_KEY`.",
        shortened(&conversation.prompt)
    );
    vec![Turn::new().think("The script has no answer to this, so I'll explain what I can do.").say(text)]
}

fn remembered(said: &str) -> Option<&str> {
    // Lower-casing ASCII only keeps the positions.
    let at = said.to_ascii_lowercase().find("remember")? + "remember".len();
    let what = said[at..].lines().next().unwrap_or_default();
    let what = what.trim_start_matches([' ', ':', ',']).trim_end();
    let what = what.strip_prefix("that ").unwrap_or(what);
    (!what.is_empty()).then_some(what)
}
