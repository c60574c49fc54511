//! What stdout says.

use serde_json::{Value, json};
use warren_domain::{Block, BlockId, BlockStatus, SystemSubtype, Timestamp};

use super::{
    GeminiCodec, Output, Tracked, Turn, complete, discard, event, outcome, prompt_block, start, update,
};
use crate::gemini_cli::{
    blocks::{Call, has_failed_command, is_agent_tool, result_id, text_id, thought_id},
    native::{Finish, Init, Message, Problem, ToolResult, ToolUse, time},
    text::{self, Printed},
};
use warren_domain::EventBody;

/// What is known of one round: the model speaks, then tools answer.
#[derive(Debug, Default)]
pub(super) struct Round {
    pub(super) thought: Slot,
    pub(super) text: Slot,
    /// What was printed of its text, and when it began.
    pub(super) printed: String,
    pub(super) began: Timestamp,
    /// The text as the file has it, where the file is ahead: what is still to be printed is nearer to what was said.
    pub(super) kept: Option<Block>,
}

/// How far a block is that both sources write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Slot {
    #[default]
    Empty,
    /// Stdout has opened it.
    Open,
    /// It is whole, or there will be none.
    Settled,
}

impl GeminiCodec {
    /// A recording may hold several processes, one after the other.
    pub(super) fn on_init(&mut self, init: Init) {
        self.model = init.model.filter(|model| !model.starts_with("auto"));
        if self.turn.has_init {
            self.turn = Turn::default();
        }
        self.turn.has_init = true;
    }

    pub(super) fn on_prompt(&mut self, message: &Message, at: Timestamp, out: &mut Vec<Output>) {
        if self.turn.message.is_some() {
            return;
        }
        self.enter_turn(&message.content);
        if !self.has_files {
            self.chat.count(text::fingerprint(&message.content));
        }
        let at = time(message.timestamp.as_deref(), at);
        let block = prompt_block(&self.turn_name(), &message.content, at);
        // The file may have said so already, with its own time.
        if !self.turn.completed.contains(block.id()) {
            out.push(complete(block));
        }
        out.append(&mut self.turn.held);
    }

    pub(super) fn on_text(&mut self, message: &Message, at: Timestamp, out: &mut Vec<Output>) {
        let delta = message.content.clone();
        if delta.is_empty() {
            return;
        }
        let at = time(message.timestamp.as_deref(), at);
        self.enter_round(at, out);
        let id = text_id(&self.turn_name(), self.turn.round, 0);
        let model = self.model.clone();
        let round = self.turn.rounds.entry(self.turn.round).or_default();
        if round.text == Slot::Empty {
            round.text = Slot::Open;
            round.began = at;
            let (id, content) = (id.clone(), String::new());
            out.push(start(Block::AssistantText { id, timestamp: at, content, model }));
        }
        if round.text == Slot::Open {
            round.printed.push_str(&delta);
            out.push(event(EventBody::TextDelta { block_id: id, delta }));
            self.catch_up(self.turn.round, out);
        }
    }

    /// Stdout may have come to the end of a text that the file has already.
    fn catch_up(&mut self, number: u32, out: &mut Vec<Output>) {
        let Some(round) = self.turn.rounds.get_mut(&number) else { return };
        let Some(kept @ Block::AssistantText { content, .. }) = &round.kept else { return };
        // What the file leaves out makes it shorter, so that most texts need no closer look.
        let is_short = round.printed.trim_start().len() < content.len();
        if !is_short && Printed::of(&round.printed, content) != Printed::Some {
            let kept = kept.clone();
            self.complete_text(number, kept, out);
        }
    }

    /// A text is whole: as it was printed, if that is what the file has, too.
    pub(super) fn complete_text(&mut self, number: u32, kept: Block, out: &mut Vec<Output>) {
        let round = self.turn.rounds.entry(number).or_default();
        (round.text, round.kept) = (Slot::Settled, None);
        let said = match kept {
            Block::AssistantText { id, timestamp, content, model }
                if Printed::of(&round.printed, &content) == Printed::All =>
            {
                Block::AssistantText { id, timestamp, content: text::spoken(&round.printed), model }
            }
            kept => kept,
        };
        if let Block::AssistantText { content, .. } = &said {
            self.outcome.said(content);
        }
        self.complete_once(said, out);
    }

    /// What comes after the answers of tools belongs to the next round. A thought may come to stand at its beginning.
    fn enter_round(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        let number = u32::try_from(self.turn.answered.len()).unwrap_or(u32::MAX);
        if number != self.turn.round {
            self.close_text(self.turn.round, at, out);
            self.turn.round = number;
        }
        let id = thought_id(&self.turn_name(), self.turn.round, 0);
        let has_files = self.has_files;
        let round = self.turn.rounds.entry(self.turn.round).or_default();
        if has_files && round.thought == Slot::Empty && round.text == Slot::Empty {
            round.thought = Slot::Open;
            out.push(start(Block::Thinking { id, timestamp: at, content: String::new(), summary: None }));
        }
    }

    pub(super) fn on_use(&mut self, used: ToolUse, at: Timestamp, out: &mut Vec<Output>) {
        let at = time(used.timestamp.as_deref(), at);
        self.enter_round(at, out);
        if self.calls.get(&used.tool_id).is_some_and(|tracked| tracked.is_settled) {
            return;
        }
        let call = Call {
            id: used.tool_id.clone(),
            name: used.tool_name,
            input: used.parameters,
            at,
            status: BlockStatus::Pending,
            agent: None,
        };
        out.push(start(call.block(None)));
        self.calls.insert(used.tool_id, Tracked { call, shown_result: None, is_settled: false });
        self.link_threads(at, out);
    }

    pub(super) fn on_result(&mut self, result: ToolResult, at: Timestamp, out: &mut Vec<Output>) {
        let at = time(result.timestamp.as_deref(), at);
        self.close_text(self.turn.round, at, out);
        self.turn.answered.insert(result.tool_id.clone());
        let has_files = self.has_files;
        let Some(tracked) = self.calls.get_mut(&result.tool_id).filter(|tracked| !tracked.is_settled) else {
            return;
        };
        let shown = result.output.as_deref().unwrap_or_default();
        let has_failed = result.error.is_some()
            || result.status.as_deref() == Some("error")
            || has_failed_command(&tracked.call.name, shown);
        tracked.call.status = if has_failed { BlockStatus::Error } else { BlockStatus::Success };
        if is_agent_tool(&tracked.call.name) && has_files {
            // Its report is only in the file.
            return out.push(update(&result.tool_id, json!({ "status": tracked.call.status })));
        }
        out.push(complete(tracked.call.block(None)));
        if is_agent_tool(&tracked.call.name) {
            return;
        }
        let block = result_block(result, has_failed, at);
        if has_files {
            out.push(start(block.clone()));
            tracked.shown_result = Some(block);
        } else {
            out.push(complete(block));
        }
    }

    /// An error or a warning: not the model's words.
    pub(super) fn on_problem(&mut self, problem: &Problem, at: Timestamp, out: &mut Vec<Output>) {
        let at = time(problem.timestamp.as_deref(), at);
        if problem.severity.as_deref() == Some("warning") {
            let id = self.error_id();
            let (subtype, message) = (SystemSubtype::Status, problem.message.clone());
            return out.push(complete(Block::System { id, timestamp: at, subtype, message, metadata: None }));
        }
        self.say_error(outcome::Trouble::of(&problem.message), at, out);
    }

    pub(super) fn on_finish(&mut self, finish: Finish, at: Timestamp, out: &mut Vec<Output>) {
        let at = time(finish.timestamp.as_deref(), at);
        if let Some(stats) = &finish.stats {
            self.usage = outcome::usage(stats, self.model.as_deref());
            out.push(self.metadata(None));
        }
        if let Some(error) = &finish.error {
            self.say_error(outcome::Trouble::of(&error.message), at, out);
        }
        if self.outcome.has_ended() {
            return;
        }
        let has_failed = finish.status.as_deref() == Some("error");
        self.wind_up(at, out);
        out.extend(self.outcome.of_finish(has_failed).map(Output::TurnEnded));
    }

    /// What was spent so far.
    pub(super) fn metadata(&self, context_tokens: Option<u64>) -> Output {
        let usage = self.usage.clone();
        event(EventBody::MetadataUpdate { model: usage.model.clone(), usage, cost_usd: 0.0, context_tokens })
    }

    fn say_error(&mut self, trouble: outcome::Trouble, at: Timestamp, out: &mut Vec<Output>) {
        let (id, message) = (self.error_id(), trouble.message.clone());
        let code = trouble.code.map(|code| code.to_string());
        out.push(complete(Block::Error { id, timestamp: at, message, code }));
        self.outcome.trouble(trouble);
    }

    fn error_id(&mut self) -> BlockId {
        self.turn.n_errors += 1;
        let of = self.turn.message.as_ref().map_or_else(|| self.turn_name(), |message| message.0.clone());
        BlockId(format!("error-{of}-{}", self.turn.n_errors))
    }

    /// Completes a round's text with what was printed of it, if nobody completed it.
    fn close_text(&mut self, number: u32, at: Timestamp, out: &mut Vec<Output>) {
        let id = text_id(&self.turn_name(), number, 0);
        let Some(round) = self.turn.rounds.get_mut(&number).filter(|round| round.text == Slot::Open) else {
            return;
        };
        if let Some(kept) = round.kept.take() {
            return self.complete_text(number, kept, out);
        }
        round.text = Slot::Settled;
        let content = text::spoken(&round.printed);
        if content.is_empty() {
            return out.push(discard(id, "nothing was said"));
        }
        self.outcome.said(&content);
        let timestamp = if round.began == Timestamp::default() { at } else { round.began };
        out.push(complete(Block::AssistantText { id, timestamp, content, model: self.model.clone() }));
    }

    /// Completes the texts and gives up the thoughts that are still open.
    pub(super) fn close_rounds(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        let mut numbers: Vec<u32> = self.turn.rounds.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            self.close_text(number, at, out);
            self.give_up_thought(number, out);
        }
    }

    /// There is no thought where one could have come to stand.
    pub(super) fn give_up_thought(&mut self, number: u32, out: &mut Vec<Output>) {
        let id = thought_id(&self.turn_name(), number, 0);
        let round = self.turn.rounds.entry(number).or_default();
        if std::mem::replace(&mut round.thought, Slot::Settled) == Slot::Open {
            out.push(discard(id, "there was no thought"));
        }
    }

    /// Completes the answers of which the file never told the whole.
    pub(super) fn close_results(&mut self, out: &mut Vec<Output>) {
        let mut results: Vec<Block> =
            self.calls.values_mut().filter_map(|tracked| tracked.shown_result.take()).collect();
        results.sort_by(|a, b| a.id().as_str().cmp(b.id().as_str()));
        out.extend(results.into_iter().map(complete));
    }
}

fn result_block(result: ToolResult, is_error: bool, at: Timestamp) -> Block {
    let output = result.error.map(|error| error.message).or(result.output).unwrap_or_default();
    Block::ToolResult {
        id: result_id(&result.tool_id),
        timestamp: at,
        tool_use_id: result.tool_id,
        output: Value::String(output),
        is_error,
        duration_ms: None,
        render_output_as_markdown: None,
    }
}
