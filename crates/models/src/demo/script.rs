//! The script: what the demo model understands, and which of it a request is.

use super::{
    ask::{ApiError, Ask, ToolResult},
    attempts::Attempts,
    conversation::Conversation,
    dashboard,
    scenarios::{answers, errors, files, named, questions, shell, sidecalls, subagents, tempo, tools},
    turn::{Part, Turn},
};

/// A request that the model can act out, in as many turns as it takes.
pub(super) struct Scenario {
    /// The example prompt that the model's help lists. Empty for scenarios that exist for tests.
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
    scenario("", subagents::is_review_task, subagents::review_task),
    expecting_failure("run: ls -la", shell::is_command, shell::command),
    expecting_failure("", named::is_asked, named::call),
    scenario("", answers::is_wrap_up, answers::wrap_up),
    scenario("", errors::is_broken_stream, errors::broken_stream),
    scenario("", errors::is_over, errors::over),
    scenario("", tempo::is_count, tempo::count),
    scenario("", tempo::is_flood, tempo::flood),
    expecting_failure("", shell::is_sleep, shell::sleep),
    expecting_failure("", shell::is_big_output, shell::big_output),
    scenario("what did I say?", answers::is_recall, answers::recall),
    scenario("remember that I like teal", answers::is_remember, answers::remember),
    expecting_failure("", questions::is_asked, questions::ask),
    scenario("", tools::is_parallel, tools::parallel),
    expecting_failure("", tools::is_failing, tools::failing),
    scenario("create file notes.md with a haiku", files::is_write, files::write),
    scenario("list the files", files::is_list, files::list),
    scenario("read file notes.md", files::is_read, files::read),
    scenario("", subagents::is_other_task, subagents::other_task),
    scenario("build me a dashboard of our sales", dashboard::is_asked, dashboard::turns),
    scenario("ask a subagent for a review", subagents::is_asked, subagents::delegate),
    scenario("", answers::is_think, answers::think),
    scenario("", |_| true, answers::otherwise),
];

/// What agents ask on their own account. These quote the person's words, and must not be steered by them.
const SIDE_CALLS: &[Scenario] = &[
    scenario("", sidecalls::is_compaction, sidecalls::compaction),
    scenario("", sidecalls::is_title, sidecalls::title),
    scenario("", sidecalls::is_probe, sidecalls::probe),
    scenario("", sidecalls::is_digest, sidecalls::digest),
    scenario("", sidecalls::is_choice, sidecalls::choice),
];

/// What the model says next.
pub(super) fn reply(ask: &Ask, attempts: &Attempts) -> Result<Turn, ApiError> {
    let conversation = Conversation::of(ask);
    let recognised = |scenario: &&Scenario| (scenario.recognises)(&conversation);
    let mut turn = match SIDE_CALLS.iter().find(recognised) {
        Some(side_call) => next_turn(side_call, &conversation),
        None => {
            fail_if_asked(ask, &conversation, attempts)?;
            let scenario = SCENARIOS.iter().find(recognised);
            let story = || scenario.map_or_else(Turn::new, |scenario| next_turn(scenario, &conversation));
            chore(&conversation).unwrap_or_else(story)
        }
    };
    if !ask.thinks {
        turn.blocks.retain(|part| !matches!(part, Part::Thinking(_)));
    }
    if turn.calls_tools() {
        return Ok(turn.searching_first());
    }
    Ok(handed_in(turn, &conversation))
}

/// The error that was asked for, as long as it lasts.
fn fail_if_asked(ask: &Ask, conversation: &Conversation, attempts: &Attempts) -> Result<(), ApiError> {
    let Some(asked) = errors::asked_for(&conversation.prompt) else { return Ok(()) };
    let Some(n_tries) = asked.n_tries else { return Err(asked.error) };
    let mut same = blake3::Hasher::new();
    let earlier = conversation.earlier.iter().map(String::as_str);
    for text in earlier.chain([&*conversation.prompt, &*ask.session, &*ask.system]) {
        same.update(&text.len().to_le_bytes()).update(text.as_bytes());
    }
    if attempts.fails(same.finalize(), n_tries) { Err(asked.error) } else { Ok(()) }
}

/// What must be done before the story goes on: a command still runs, or a subagent does.
fn chore(conversation: &Conversation) -> Option<Turn> {
    const RUNNING: &str = "rocess running with session ID ";
    let latest = conversation.latest().last()?;
    let running = latest.text.split_once(RUNNING).map(|(_, after)| after);
    let session = running.and_then(|after| after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok());
    let poll = session.and_then(|session| conversation.toolbox.poll(session));
    let spawned: Option<serde_json::Value> = serde_json::from_str(&latest.text).ok();
    let agent =
        spawned.as_ref().and_then(|spawned| spawned["agent_id"].as_str().or(spawned["task_name"].as_str()));
    let wait = || conversation.toolbox.wait(&conversation.called, agent.unwrap_or_default());
    poll.or_else(wait).map(|call| Turn::new().call(Some(call)))
}

/// The last turn, in the form in which it is wanted: as JSON, or by a tool.
fn handed_in(turn: Turn, conversation: &Conversation) -> Turn {
    if let Some(schema) = &conversation.schema {
        return sidecalls::in_json(&turn, schema);
    }
    match conversation.toolbox.finish(&turn.text()) {
        Some(call) => Turn::new().call(Some(call)),
        None => turn,
    }
}

fn next_turn(scenario: &Scenario, conversation: &Conversation) -> Turn {
    let mut turns = (scenario.turns)(conversation);
    let n_all = turns.len();
    turns.retain(|turn| !turn.is_hollow());
    if turns.len() < n_all && !turns.iter().any(Turn::calls_tools) {
        return Turn::new().say("I don't have the tools for this.");
    }
    if scenario.failure == Failure::Surprising && conversation.latest().iter().any(is_denied) {
        return Turn::new().say("You denied this step, so I stop here. Tell me what to do instead.");
    }
    let last = turns.len().saturating_sub(1);
    let mut turn = turns.swap_remove(conversation.step.min(last));
    if scenario.failure == Failure::Surprising
        && let Some(failed) = conversation.latest().iter().find(|result| result.is_error)
    {
        let first_line = failed.text.lines().next().unwrap_or("no reason given");
        turn.blocks
            .insert(0, Part::Text(format!("That failed ({first_line}). I'll continue without it.\n\n")));
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

/// Whether a person refused a call: each agent says it in its own words, and shortly. A program that was refused something
/// is no denial.
fn is_denied(result: &ToolResult) -> bool {
    const WORDS: [&str; 6] =
        ["does not allow this", "doesn't want to proceed", "rejected", "denied", "declined", "cancelled by"];
    let said = result.text.to_lowercase();
    said.len() < 600 && !said.contains("permission denied") && WORDS.iter().any(|word| said.contains(word))
}

const fn expecting_failure(
    example: &'static str,
    recognises: fn(&Conversation) -> bool,
    turns: fn(&Conversation) -> Vec<Turn>,
) -> Scenario {
    Scenario { example, recognises, turns, failure: Failure::Expected }
}
