//! A question to the person, in the middle of a turn.

use super::{has_phrase, mentions};
use crate::demo::{conversation::Conversation, turn::Turn};

pub(in crate::demo) fn is_asked(conversation: &Conversation) -> bool {
    let prompt = &conversation.prompt;
    has_phrase(prompt, "ask me") || (mentions(prompt, &["ask"]) && mentions(prompt, &["question"]))
}

pub(in crate::demo) fn ask(conversation: &Conversation) -> Vec<Turn> {
    let options = [("Teal", "Calm, and easy to read on"), ("Orange", "Warm, and hard to overlook")];
    let call = conversation.toolbox.question("Which colour should it be?", "Colour", &options);
    let answer = conversation.latest_quoted();
    vec![
        Turn::new()
            .think("Only the person can know this, so I ask instead of guessing.")
            .say("Before I go on, a question:")
            .call(call),
        Turn::new().say(format!("Thank you. This is what came back:\n\n{answer}")),
    ]
}
