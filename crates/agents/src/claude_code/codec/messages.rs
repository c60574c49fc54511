//! Whole lines: what the assistant said, what tools answered, what people said.

use serde_json::Value;
use warren_domain::{Block, BlockStatus, ConversationId, Draft, EventBody, Timestamp};

use super::{Begun, ClaudeCodec, MAIN, OpenCall, Unreadable, complete, event, update};
use crate::{
    Output,
    claude_code::{
        blocks::{self, Author, Counts, Origin, Said, ToolAnswer, author, said},
        native::{Line, SYNTHETIC},
        user::{Words, is_summary, words},
    },
};

impl ClaudeCodec {
    pub(super) fn assistant(
        &mut self,
        line: &mut Line<'_>,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> Result<(), Unreadable> {
        let message = line.message.take().ok_or(Unreadable)?;
        let at = line.time().unwrap_or(at);
        let thread = self.thread_of(line, at, out);
        let id = message.name(line);
        let id = &*id;
        let mut counts = self.speaks(&thread, id, at, out);
        let (model, parts) = (&*message.model, message.content.into_parts());
        if let (Some(tokens), false) = (message.usage, self.has_stream || model == SYNTHETIC) {
            self.messages.insert(id.to_owned(), tokens.usage(model));
        }
        match author(line, Origin { message: id, model, at }, &parts) {
            Author::Model => self.release_early(out),
            Author::Program(block) => return self.program_said(complete(thread, block), out),
            Author::Nobody => return Ok(()),
        }
        let mut outcome = Ok(());
        for part in parts {
            match said(part, Origin { message: id, model, at }, &mut counts) {
                Said::Whole(block) => self.said(&thread, line, block, out),
                Said::Call { block, in_background } => self.called(&thread, block, in_background, out),
                Said::Answer(answer) => self.answered(&thread, answer, None, at, out),
                Said::Unknown => outcome = Err(Unreadable),
            }
        }
        if let Some(speaker) = self.speakers.get_mut(speaker_name(&thread)) {
            speaker.counts = counts;
        }
        outcome
    }

    pub(super) fn user(
        &mut self,
        line: &mut Line<'_>,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> Result<(), Unreadable> {
        let message = line.message.take().ok_or(Unreadable)?;
        let at = line.time().unwrap_or(at);
        let (answers, body) = blocks::split(message.content);
        let thread = self.thread_of(line, at, out);
        for answer in answers {
            self.answered(&thread, answer, line.tool_use_result, at, out);
        }
        let Some(body) = body else { return Ok(()) };
        let outcome = if blocks::has_unknown(&body) { Err(Unreadable) } else { Ok(()) };
        if let Some(block) = self.compaction.take()
            && (line.is_hidden || is_summary(&body))
        {
            self.summarised(block, blocks::content(body).to_text(), out);
            return outcome;
        }
        match words(line, body, at) {
            Words::Shown(block) if thread.is_main() => self.heard(line, block, at, out),
            Words::Shown(block) => self.heard_by_agent(line, thread, block, out),
            Words::Summary(_) | Words::Task(_) | Words::Hidden => {}
        }
        outcome
    }

    /// Notes whose blocks follow in a thread, and how many that message had already.
    fn speaks(&mut self, thread: &ConversationId, id: &str, at: Timestamp, out: &mut Vec<Output>) -> Counts {
        if thread.is_main() {
            self.take_up_prompt(at, out);
            if self.open.as_ref().is_some_and(|open| open.id != id) {
                self.give_up_open(out);
            }
        }
        let speaker = self.speakers.entry(speaker_name(thread).to_owned()).or_default();
        if speaker.message != id {
            id.clone_into(&mut speaker.message);
            speaker.counts = Counts::default();
            let counts = speaker.counts;
            if thread.is_main() {
                self.flush(out);
            }
            return counts;
        }
        speaker.counts
    }

    /// What is being written is taken back where it stands: it may wait for what was said before it.
    fn give_up_open(&mut self, out: &mut Vec<Output>) {
        let mut early = self.early.take();
        self.discard_open("another answer took its place", early.as_mut().unwrap_or(out));
        self.early = early;
    }

    /// Claude Code itself answers: sometimes before it repeats what it was told.
    fn program_said(&mut self, output: Output, out: &mut Vec<Output>) -> Result<(), Unreadable> {
        self.early.as_mut().unwrap_or(out).push(output);
        Ok(())
    }

    fn said(&mut self, thread: &ConversationId, line: &Line<'_>, block: Block, out: &mut Vec<Output>) {
        if let (Some(open), true) = (&mut self.open, thread.is_main()) {
            open.whole.push(block.id().clone());
        }
        if let Block::AssistantText { content, .. } = &block {
            self.note_report(line, content);
        }
        out.push(complete(thread.clone(), block));
    }

    fn called(&mut self, thread: &ConversationId, block: Block, in_background: bool, out: &mut Vec<Output>) {
        let has_begun = thread.is_main() && self.open.as_ref().is_some_and(|open| open.has_begun(block.id()));
        if has_begun {
            if let Some(open) = &mut self.open {
                open.whole.push(block.id().clone());
            }
            out.push(event(thread.clone(), begun_call(&block)));
            out.push(update(thread.clone(), block.id().clone(), [("status", Value::from("running"))]));
        } else {
            out.push(event(thread.clone(), EventBody::BlockStart { block: block.clone() }));
        }
        let id = block.id().0.clone();
        self.calls.insert(id, OpenCall { thread: thread.clone(), block, in_background, is_answered: false });
    }

    fn answered(
        &mut self,
        thread: &ConversationId,
        answer: ToolAnswer,
        beside: Option<&[u8]>,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        if let Some(Block::Subagent { .. }) = self.calls.get(&answer.call).map(|call| &call.block) {
            return self.agent_answered(answer, beside, at, out);
        }
        if let Some(OpenCall { thread, mut block, .. }) = self.calls.remove(&answer.call) {
            set_status(&mut block, answer.status());
            out.push(complete(thread, block));
            self.close_agent(&answer, at, out);
        }
        let draft = Draft::of_session(EventBody::BlockComplete { block: answer.block(at) });
        if thread.is_main() {
            self.beside(draft, at, out);
        } else {
            out.push(Output::Event(draft.within(thread.clone())));
        }
    }

    /// A person said something, or is told something.
    fn heard(&mut self, line: &Line<'_>, block: Block, at: Timestamp, out: &mut Vec<Output>) {
        if let Some(uuid) = line.uuid().as_deref() {
            self.turn.message_taken(uuid);
        }
        if matches!(&block, Block::System { .. }) {
            self.turn.note_interrupted();
        }
        if self.early.is_some() && matches!(&block, Block::UserMessage { .. }) {
            out.push(complete(ConversationId::main(), block));
            return self.release_early(out);
        }
        self.release_early(out);
        match &self.prompt {
            Begun::Waiting(prompt) if prompt.message == *block.id() => {
                self.prompt = Begun::With(block.id().clone())
            }
            Begun::With(id) if id == block.id() => return,
            _ => {}
        }
        self.beside(Draft::of_session(EventBody::BlockComplete { block }), at, out);
    }
}

/// Who is named among the speakers for a thread.
fn speaker_name(thread: &ConversationId) -> &str {
    if thread.is_main() { MAIN } else { thread.as_str() }
}

/// What is known of a call once its line is there.
fn begun_call(block: &Block) -> EventBody {
    let mut updates = serde_json::Map::new();
    let mut put = |key: &str, value: Value| updates.insert(key.to_owned(), value);
    put("timestamp", Value::String(block.timestamp().to_string()));
    match block {
        Block::ToolUse { input, description, .. } => {
            put("input", input.clone());
            description.clone().map(|text| put("description", Value::String(text)));
        }
        Block::Subagent { input, name, .. } => {
            put("input", input.clone());
            name.clone().map(|name| put("name", Value::String(name)));
        }
        _ => {}
    }
    EventBody::BlockUpdate { block_id: block.id().clone(), updates }
}

fn set_status(block: &mut Block, to: BlockStatus) {
    if let Block::ToolUse { status, .. } | Block::Subagent { status, .. } = block {
        *status = to;
    }
}
