//! Tools together, and tools that fail.

use super::mentions;
use crate::demo::{conversation::Conversation, turn::Turn};

pub(in crate::demo) fn is_parallel(conversation: &Conversation) -> bool {
    mentions(&conversation.prompt, &["parallel"])
}

/// Several calls in one message.
pub(in crate::demo) fn parallel(conversation: &Conversation) -> Vec<Turn> {
    let toolbox = &conversation.toolbox;
    let results = conversation.latest().iter().enumerate().map(|(idx, result)| {
        let verdict = if result.is_error { "failed" } else { "done" };
        format!("{}. {verdict}: {}\n", idx + 1, result.text.lines().next().unwrap_or("(no output)"))
    });
    vec![
        Turn::new()
            .think("These calls don't depend on each other, so they can run in parallel.")
            .say("Starting three tools in parallel.")
            .call(toolbox.bash("echo one; sleep 0.3; echo one is done", "First of three"))
            .call(toolbox.bash("echo two; sleep 0.1; echo two is done", "Second of three"))
            .call(toolbox.glob("**/*")),
        Turn::new().say(format!("All of them have finished:\n\n{}", results.collect::<String>())),
    ]
}

pub(in crate::demo) fn is_failing(conversation: &Conversation) -> bool {
    mentions(&conversation.prompt, &["fail", "fails", "failing", "failure"])
}

/// A tool fails, and the model finds another way.
pub(in crate::demo) fn failing(conversation: &Conversation) -> Vec<Turn> {
    let toolbox = &conversation.toolbox;
    let path = "outputs/numbers.txt";
    let add = format!("awk '{{ sum += $1 }} END {{ print sum }}' {path}");
    vec![
        Turn::new()
            .think("I'll add up a file that may not exist.")
            .say("I'll add up the numbers.")
            .call(toolbox.bash("cat missing/numbers.txt", "Read the numbers")),
        Turn::new()
            .think("The file doesn't exist. I can create one and continue.")
            .say("That failed: the file does not exist. I'll create one and try again.")
            .call(toolbox.write(path, "17\n4\n21\n")),
        Turn::new().say("Now with the new file:").call(toolbox.bash(&add, "Add up the numbers")),
        Turn::new().say(format!(
            "The first attempt failed because `missing/numbers.txt` does not exist. With `{path}` it worked:\n\n{}",
            conversation.latest_quoted()
        )),
    ]
}
