//! The script: what the demo model understands, and which of it a request is.

use super::{
    conversation::Conversation,
    dashboard,
    request::{ApiError, Request},
    scenarios::{answers, errors, files, shell, subagents, tempo, tools},
    turn::{Part, Turn},
};

/// One thing that can be asked for, carried out in as many turns as it takes.
pub(super) struct Scenario {
    /// An example, as the model tells it to those who ask for something else. Empty: not told.
    pub(super) example: &'static str,
    recognises: fn(&Conversation) -> bool,
    /// All its turns from the first to the last; the conversation says which one is next.
    turns: fn(&Conversation) -> Vec<Turn>,
    /// Whether a failing tool is part of the plot; otherwise the model remarks on it and goes on.
    failure: Failure,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Failure {
    Expected,
    Surprising,
}

/// In order: the first that recognises a request gets it.
pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("", answers::is_title, answers::title),
    scenario("", subagents::is_review_task, subagents::review_task),
    expecting_failure("run: ls -la", shell::is_command, shell::command),
    scenario("", answers::is_wrap_up, answers::wrap_up),
    scenario("", errors::is_broken_stream, errors::broken_stream),
    scenario("count to 100", tempo::is_count, tempo::count),
    scenario("", tempo::is_flood, tempo::flood),
    expecting_failure("sleep 5", shell::is_sleep, shell::sleep),
    expecting_failure("big output 2 MB", shell::is_big_output, shell::big_output),
    scenario("what did I say?", answers::is_recall, answers::recall),
    scenario("remember that I like teal", answers::is_remember, answers::remember),
    scenario("use tools in parallel", tools::is_parallel, tools::parallel),
    expecting_failure("show me a failing tool", tools::is_failing, tools::failing),
    scenario("create file notes.md with a haiku", files::is_write, files::write),
    scenario("list the files", files::is_list, files::list),
    scenario("read file notes.md", files::is_read, files::read),
    scenario("", subagents::is_other_task, subagents::other_task),
    scenario("build me a dashboard of our sales", dashboard::is_asked, dashboard::turns),
    scenario("ask a subagent for a review", subagents::is_asked, subagents::delegate),
    scenario("", |_| true, answers::otherwise),
];

/// What the model says next.
pub(super) fn reply(request: &Request) -> Result<Turn, ApiError> {
    let conversation = Conversation::of(request);
    if let Some(error) = errors::asked_for(&conversation.prompt) {
        return Err(error);
    }
    let mut turn = next_turn(&conversation);
    if request.thinking.as_ref().is_some_and(|thinking| thinking.kind == "disabled") {
        turn.blocks.retain(|part| !matches!(part, Part::Thinking(_)));
    }
    Ok(turn)
}

fn next_turn(conversation: &Conversation) -> Turn {
    let Some(scenario) = SCENARIOS.iter().find(|scenario| (scenario.recognises)(conversation)) else {
        return Turn::new();
    };
    let mut turns = (scenario.turns)(conversation);
    let n_all = turns.len();
    turns.retain(|turn| !turn.is_hollow());
    if turns.len() < n_all && !turns.iter().any(Turn::calls_tools) {
        return Turn::new().say("I have none of the tools that this needs.");
    }
    let last = turns.len().saturating_sub(1);
    let mut turn = turns.swap_remove(conversation.step.min(last));
    if scenario.failure == Failure::Surprising
        && let Some(failed) = conversation.latest().iter().find(|result| result.is_error)
    {
        let first_line = failed.text.lines().next().unwrap_or("no reason given");
        turn.blocks
            .insert(0, Part::Text(format!("That did not work ({first_line}). I go on without it.\n\n")));
    }
    turn
}

const fn scenario(
    example: &'static str,
    recognises: fn(&Conversation) -> bool,
    turns: fn(&Conversation) -> Vec<Turn>,
) -> Scenario {
    Scenario { example, recognises, turns, failure: Failure::Surprising }
}

const fn expecting_failure(
    example: &'static str,
    recognises: fn(&Conversation) -> bool,
    turns: fn(&Conversation) -> Vec<Turn>,
) -> Scenario {
    Scenario { example, recognises, turns, failure: Failure::Expected }
}
