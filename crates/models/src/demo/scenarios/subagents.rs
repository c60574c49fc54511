//! Subagents: giving work to one, and being one.

use super::{counted, has_phrase, mentions};
use crate::demo::{conversation::Conversation, dashboard, turn::Turn};

/// How a task for the reviewer begins; the reviewer is the same script, in a conversation of its own.
pub(in crate::demo) const REVIEW_TASK: &str = "As a reviewer, ";

pub(in crate::demo) fn is_asked(conversation: &Conversation) -> bool {
    mentions(&conversation.prompt, &["subagent", "subagents", "review", "reviewer", "delegate"])
}

pub(in crate::demo) fn delegate(conversation: &Conversation) -> Vec<Turn> {
    let toolbox = &conversation.toolbox;
    let task =
        format!("{REVIEW_TASK}look at the files in this workspace and summarize them in two sentences.");
    vec![
        Turn::new()
            .think("A subagent has its own conversation; I only see its report.")
            .say("I'll ask a reviewer.")
            .call(toolbox.task("reviewer", "Review the workspace", &task)),
        Turn::new().say(format!("The reviewer reports:\n\n{}", conversation.latest_quoted())),
    ]
}

pub(in crate::demo) fn is_review_task(conversation: &Conversation) -> bool {
    conversation.prompt.starts_with(REVIEW_TASK)
}

pub(in crate::demo) fn review_task(conversation: &Conversation) -> Vec<Turn> {
    let toolbox = &conversation.toolbox;
    let look = if conversation.prompt.contains(dashboard::PAGE) {
        toolbox.grep("<h2>", dashboard::PAGE).or_else(|| toolbox.read(dashboard::PAGE))
    } else {
        toolbox.glob("**/*")
    };
    let look = look.or_else(|| toolbox.bash("find . -type f | sort | head -n 50", "List files"));
    let report = if conversation.prompt.contains(dashboard::PAGE) {
        dashboard::REVIEW.to_owned()
    } else {
        let lines =
            counted(conversation.latest().last().map_or(0, |result| result.text.lines().count()), "line");
        format!("I listed the workspace ({lines}). Nothing needs to be fixed.")
    };
    vec![Turn::new().think("I'll look at the files themselves first.").call(look), Turn::new().say(report)]
}

/// Any other conversation of a subagent whose instructions say that it is one.
pub(in crate::demo) fn is_other_task(conversation: &Conversation) -> bool {
    has_phrase(&conversation.system, "you are a subagent")
}

pub(in crate::demo) fn other_task(conversation: &Conversation) -> Vec<Turn> {
    let toolbox = &conversation.toolbox;
    let look = toolbox.glob("**/*").or_else(|| toolbox.bash("ls -la", "List files"));
    vec![
        Turn::new().say("I'll look at the workspace first.").call(look),
        Turn::new().say(format!("Done: {}", conversation.prompt.lines().next().unwrap_or_default())),
    ]
}
