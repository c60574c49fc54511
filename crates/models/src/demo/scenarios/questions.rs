//! A question to the person, in the middle of a turn.

use super::{has_phrase, mentions};
use crate::demo::{conversation::Conversation, turn::Turn};

pub(in crate::demo) fn is_asked(conversation: &Conversation) -> bool {
    let prompt = &conversation.prompt;
    has_phrase(prompt, "ask me") || (mentions(prompt, &["ask"]) && mentions(prompt, &["question"]))
}

pub(in crate::demo) fn ask(conversation: &Conversation) -> Vec<Turn> {
    let options = [("Teal", "Calm and readable"), ("Orange", "Warm and hard to miss")];
    let call = conversation.toolbox.question("Which colour should it be?", "Colour", &options);
    let answer = conversation.latest_quoted();
    vec![
        Turn::new()
            .think("Only the user can decide this, so I'll ask instead of guessing.")
            .say("Before I continue, a question:")
            .call(call),
        Turn::new().say(format!("Thank you. Your answer:\n\n{answer}")),
    ]
}
