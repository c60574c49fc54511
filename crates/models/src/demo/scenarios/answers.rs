//! Answers that need no tool.

use super::{has_phrase, mentions, shortened};
use crate::demo::{conversation::Conversation, script::SCENARIOS, turn::Turn};

/// A run is told to come to an end when most of its time is spent.
pub(in crate::demo) fn is_wrap_up(conversation: &Conversation) -> bool {
    has_phrase(&conversation.prompt, "wrap up")
}

pub(in crate::demo) fn wrap_up(_: &Conversation) -> Vec<Turn> {
    vec![Turn::new().say("I stop here. What was done so far is in the workspace.")]
}

pub(in crate::demo) fn is_remember(conversation: &Conversation) -> bool {
    mentions(&conversation.prompt, &["remember"])
}

pub(in crate::demo) fn remember(conversation: &Conversation) -> Vec<Turn> {
    let what = remembered(&conversation.prompt).unwrap_or_default();
    vec![Turn::new().say(format!("I will remember: {what}"))]
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
        (None, _) => "This is the first thing you say to me.".to_owned(),
        (Some(last), []) => {
            let n = conversation.earlier.len();
            format!("You said {n} things before this. The last was: “{}”", shortened(last))
        }
        (Some(_), facts) => format!("You asked me to remember: {}", facts.join("; ")),
    };
    vec![Turn::new().think("They ask about earlier messages; those are in the conversation.").say(text)]
}

/// Thoughts before the answer, where the format has them.
pub(in crate::demo) fn is_think(conversation: &Conversation) -> bool {
    mentions(&conversation.prompt, &["think", "thinking", "reason", "reasoning"])
}

pub(in crate::demo) fn think(_: &Conversation) -> Vec<Turn> {
    vec![
        Turn::new()
            .think(
                "**Weighing two ways**\n\nThe long answer would explain everything; the short one says what counts. \
                 Nobody asked for more, so the short one wins.",
            )
            .say("I thought about it, as a scripted demo model can: the answer is 42."),
    ]
}

pub(in crate::demo) fn otherwise(conversation: &Conversation) -> Vec<Turn> {
    let examples = SCENARIOS.iter().map(|scenario| scenario.example).filter(|example| !example.is_empty());
    let list: String = examples.map(|example| format!("- `{example}`\n")).collect();
    let text = format!(
        "Hello! I am the **offline demo model**: no key for a real model is set, so I answer from a script. \
         You said: “{}”\n\nEverything around me is real: the sandbox, the tools, the files and the event log. Try:\n\n{list}\n\
         With a provider's key (such as `ANTHROPIC_API_KEY`) set for the server, a real model takes my place.",
        shortened(&conversation.prompt)
    );
    vec![
        Turn::new().think("Nothing in the script fits this, so I say what I am and what I can do.").say(text),
    ]
}

fn remembered(said: &str) -> Option<&str> {
    // Lower-casing ASCII only keeps the positions.
    let at = said.to_ascii_lowercase().find("remember")? + "remember".len();
    let what = said[at..].lines().next().unwrap_or_default();
    let what = what.trim_start_matches([' ', ':', ',']).trim_end();
    let what = what.strip_prefix("that ").unwrap_or(what);
    (!what.is_empty()).then_some(what)
}
