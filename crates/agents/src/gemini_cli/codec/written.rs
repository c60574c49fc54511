//! What the chat files say.

use warren_domain::{Block, BlockId, BlockStatus, EventBody, Timestamp};

use super::{GeminiCodec, Output, SHOWN, Tracked, complete, event, printed::Slot, start, update};
use crate::{
    TranscriptName,
    gemini_cli::{
        blocks::{self, Call},
        chat::{Heard, Place},
        native::{FileLine, ToolCall, time},
        plan::chat_of,
        record::{self, Role, prompt_text},
        text::{self, Printed},
    },
};

impl GeminiCodec {
    pub(super) fn on_file(&mut self, line: &FileLine, at: Timestamp, out: &mut Vec<Output>) {
        self.has_files = true;
        if line.cut {
            let shown = line.line.chars().take(SHOWN).collect::<String>();
            return self.unrecognized(shown.as_bytes(), out);
        }
        match chat_of(&line.path) {
            Some(TranscriptName::Main) => self.on_main(line, at, out),
            Some(TranscriptName::Subagent(id)) => self.on_thread(id, line, at, out),
            // Gemini keeps other things there too.
            Some(TranscriptName::Other(_)) | None => {}
        }
    }

    fn on_main(&mut self, line: &FileLine, at: Timestamp, out: &mut Vec<Output>) {
        if line.restart {
            self.chat.restart();
        }
        match self.chat.read(&line.line) {
            Heard::Nothing => self.unrecognized(line.line.as_bytes(), out),
            Heard::Quiet => {}
            Heard::Record(index) => self.on_record(index, at, out),
            Heard::Compacted(index) => self.on_compacted(index, at, out),
        }
    }

    /// It happens before the prompt is written, but after it was said.
    fn on_compacted(&mut self, index: usize, at: Timestamp, out: &mut Vec<Output>) {
        let entry = self.chat.entry(index);
        let summary = Some(text::of_content(&entry.record.content));
        let block = blocks::compacted(entry, at_of(self, index, at));
        let compacted = EventBody::ContextCompacted { summary, before: None, after: None };
        let outputs = [event(compacted), complete(block)];
        let has_begun = self.turn.fingerprint.is_some();
        if has_begun { out.extend(outputs) } else { self.turn.held.extend(outputs) }
    }

    fn on_record(&mut self, index: usize, at: Timestamp, out: &mut Vec<Output>) {
        let at = at_of(self, index, at);
        match self.chat.entry(index).role {
            Role::Prompt => self.on_kept_prompt(index, at, out),
            Role::Agent if self.is_of_turn(index) => self.on_agent(index, at, out),
            Role::Note if self.turn.is_in_file => {
                let entry = self.chat.entry(index);
                out.extend(blocks::of_entry(&self.chat, entry, at).into_iter().map(complete));
            }
            Role::Agent | Role::Note | Role::Answers | Role::Summary | Role::Hidden => {}
        }
    }

    /// The prompt itself has come to the file: what follows answers it.
    fn on_kept_prompt(&mut self, index: usize, at: Timestamp, out: &mut Vec<Output>) {
        let entry = self.chat.entry(index);
        let said = prompt_text(&entry.record);
        if self.turn.fingerprint.is_some_and(|ours| ours != text::fingerprint(&said)) {
            return;
        }
        let name = self.chat.turn(entry).to_owned();
        self.turn.is_in_file = true;
        self.turn.name = Some(name.clone());
        self.turn.fingerprint = Some(text::fingerprint(&said));
        if self.turn.message.is_none() {
            let block = super::prompt_block(&name, &said, at);
            self.turn.completed.insert(block.id().clone());
            out.push(complete(block));
            out.append(&mut self.turn.held);
        }
        out.push(self.state());
    }

    fn is_of_turn(&self, index: usize) -> bool {
        let turn = self.chat.turn(self.chat.entry(index));
        self.turn.is_in_file && self.turn.name.as_deref() == Some(turn)
    }

    fn on_agent(&mut self, index: usize, at: Timestamp, out: &mut Vec<Output>) {
        let entry = self.chat.entry(index);
        let (place, tokens) = (entry.place, entry.record.tokens);
        let thought = blocks::thought(&self.chat, entry, at);
        let said = blocks::said(&self.chat, entry, at);
        let calls = self.chat.calls(entry);
        let model = entry.record.model.clone();
        let is_new = self.turn.completed.insert(BlockId(entry.record.id.clone()));
        if let (true, Some(tokens)) = (is_new, tokens) {
            self.usage.add(&record::usage(tokens, model));
            out.push(self.metadata(Some(tokens.input + tokens.output)));
        }
        self.settle_thought(place.round, thought, out);
        self.settle_text(place, said, !calls.is_empty(), out);
        if calls.is_empty() {
            self.tools_run(out);
        } else {
            self.settle_calls(&calls, at, out);
        }
    }

    fn settle_thought(&mut self, round: u32, thought: Option<Block>, out: &mut Vec<Output>) {
        let Some(thought) = thought else { return self.give_up_thought(round, out) };
        self.turn.rounds.entry(round).or_default().thought = Slot::Settled;
        self.complete_once(thought, out);
    }

    fn settle_text(&mut self, place: Place, said: Option<Block>, goes_on: bool, out: &mut Vec<Output>) {
        let number = place.round;
        let Some(said) = said else { return self.drop_text(number, goes_on, out) };
        let round = self.turn.rounds.entry(number).or_default();
        // What stdout has is the round's first text.
        let is_first = place.text == 0 && round.text != Slot::Settled;
        if let (true, Block::AssistantText { id, timestamp, content, model }) = (is_first, &said)
            && Printed::of(&round.printed, content) == Printed::Some
        {
            if round.text == Slot::Empty {
                let (id, timestamp, model) = (id.clone(), *timestamp, model.clone());
                out.push(start(Block::AssistantText { id, timestamp, content: String::new(), model }));
            }
            (round.text, round.kept) = (Slot::Open, Some(said));
            return;
        }
        self.complete_text(number, said, out);
    }

    /// The file knows nothing of what was printed: it was an attempt that Gemini made again, or nothing that it keeps.
    fn drop_text(&mut self, number: u32, goes_on: bool, out: &mut Vec<Output>) {
        let id = blocks::text_id(&self.turn_name(), number, 0);
        let round = self.turn.rounds.entry(number).or_default();
        if round.text != Slot::Open {
            return;
        }
        round.text = Slot::Settled;
        // What it said before it called a tool was comments alone.
        let content = text::spoken(&round.printed);
        if goes_on && text::is_all_left_out(&round.printed) && !content.is_empty() {
            let (timestamp, model) = (round.began, self.model.clone());
            return self.complete_once(Block::AssistantText { id, timestamp, content, model }, out);
        }
        out.push(super::discard(id, "the agent did not keep it"));
    }

    pub(super) fn complete_once(&mut self, block: Block, out: &mut Vec<Output>) {
        if self.turn.completed.insert(block.id().clone()) {
            out.push(complete(block));
        }
    }

    /// The model has spoken: what it called is being carried out.
    fn tools_run(&mut self, out: &mut Vec<Output>) {
        let mut ids: Vec<&String> = Vec::new();
        for (id, tracked) in &mut self.calls {
            if tracked.call.status == BlockStatus::Pending {
                tracked.call.status = BlockStatus::Running;
                ids.push(id);
            }
        }
        ids.sort();
        out.extend(
            ids.into_iter().map(|id| update(id, serde_json::json!({ "status": BlockStatus::Running }))),
        );
    }

    fn settle_calls(&mut self, calls: &[ToolCall], at: Timestamp, out: &mut Vec<Output>) {
        let is_open = |call: &&ToolCall| self.calls.get(&call.id).is_none_or(|tracked| !tracked.is_settled);
        let calls: Vec<&ToolCall> = calls.iter().filter(is_open).collect();
        for call in &calls {
            self.link_answered(call, at, out);
            out.push(complete(blocks::used(call, at)));
        }
        for call in calls {
            out.extend(blocks::answered(call, at).map(complete));
            let is_settled = matches!(blocks::status(call), BlockStatus::Success | BlockStatus::Error);
            let call = Call::of(call, at);
            self.calls.insert(call.id.clone(), Tracked { call, shown_result: None, is_settled });
        }
    }
}

/// When an entry was written, or `at`.
fn at_of(codec: &GeminiCodec, index: usize, at: Timestamp) -> Timestamp {
    time(codec.chat.entry(index).record.timestamp.as_deref(), at)
}
