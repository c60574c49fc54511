//! One thread, as one file tells it.

use warren_domain::{Block, BlockStatus, Timestamp, Usage};

use super::{
    branches::Branches,
    names::{ByName, key},
};
use crate::claude_code::{
    agents::{Ending, Fate, agent_answer, end_block, is_of_subagent},
    blocks::{self, Author, Counts, Origin, Said, ToolAnswer, author, said},
    native::{Attachment, CompactMetadata, Kind, Line, Part, QUIET_SYSTEM, SYNTHETIC, Tokens},
    scan::{read, text},
    user::{self, TaskEnd, Words, words},
};

/// How many blocks may stand between a compaction and its summary.
const NEAR: usize = 4;

/// How many answers may wait for their calls.
const MAX_EARLY: usize = 64;

/// A line that cannot be understood.
#[derive(Debug)]
pub(super) struct Misread;

/// The blocks of one thread.
#[derive(Default)]
pub(super) struct Story {
    pub(super) blocks: Vec<Block>,
    /// For each block the line it is from.
    owners: Vec<u32>,
    /// The subagent whose thread it is.
    pub(super) agent_id: Option<String>,
    /// The first version that wrote to it.
    pub(super) version: Option<String>,
    /// Calls that started subagents, in order.
    pub(super) agents: Vec<AgentCall>,
    /// Blocks that came between those of one message. In the conversation a message's blocks stand together.
    held: Vec<(u32, Block)>,
    /// Those of them that answer calls which are not there yet.
    early: Vec<EarlyAnswer>,
    keeps_messages_whole: bool,
    /// The message whose blocks come last, and its place.
    message: (String, usize),
    messages: Vec<MessageState>,
    /// Where each message is.
    message_places: ByName<usize>,
    /// Where each call's block is.
    calls: ByName<usize>,
    branches: Branches,
}

/// A call that started a subagent.
pub(super) struct AgentCall {
    pub(super) id: String,
    /// Where its block is.
    pub(super) place: usize,
    pub(super) agent_id: Option<String>,
    /// How and when it ended.
    pub(super) ended: Option<(BlockStatus, Timestamp)>,
}

/// An answer that stands before the line of its call, as lines that are written at the same time may.
struct EarlyAnswer {
    owner: u32,
    answer: ToolAnswer,
    beside: Option<Vec<u8>>,
    at: Timestamp,
}

#[derive(Default)]
struct MessageState {
    counts: Counts,
    model: String,
    tokens: Option<Tokens>,
}

impl Story {
    pub(super) fn main() -> Self {
        Self { keeps_messages_whole: true, ..Self::default() }
    }

    pub(super) fn subagent(id: &str) -> Self {
        Self { agent_id: Some(id.to_owned()), ..Self::default() }
    }

    pub(super) fn sidechain() -> Self {
        Self::default()
    }

    pub(super) fn take(&mut self, line: &mut Line<'_>) -> Result<(), Misread> {
        match line.kind() {
            Kind::Assistant => self.assistant(line),
            Kind::User => self.user(line),
            Kind::System => self.system(line),
            Kind::Attachment => self.attachment(line),
            Kind::Unknown => Err(Misread),
            Kind::StreamEvent
            | Kind::Result
            | Kind::ControlRequest
            | Kind::ControlCancel
            | Kind::CostState
            | Kind::Quiet => Ok(()),
        }
    }

    /// The file is read: what was taken back goes.
    pub(super) fn finish(&mut self) {
        self.flush();
        let Some(taken_back) = self.branches.taken_back() else { return };
        let is_gone = |owner: u32| taken_back.get(owner as usize).copied().unwrap_or(false);
        let blocks = std::mem::take(&mut self.blocks);
        let mut places = Vec::with_capacity(blocks.len());
        for (block, owner) in blocks.into_iter().zip(&self.owners) {
            places.push((!is_gone(*owner)).then_some(self.blocks.len()));
            if !is_gone(*owner) {
                self.blocks.push(block);
            }
        }
        self.agents.retain_mut(|call| {
            let place = places[call.place];
            call.place = place.unwrap_or(0);
            place.is_some()
        });
    }

    /// What each message used.
    pub(super) fn usage(&self) -> impl Iterator<Item = Usage> {
        self.messages.iter().filter_map(|message| message.tokens.map(|tokens| tokens.usage(&message.model)))
    }

    fn assistant(&mut self, line: &mut Line<'_>) -> Result<(), Misread> {
        let message = line.message.take().ok_or(Misread)?;
        let Some(owner) = self.node(line) else { return Ok(()) };
        let at = line.time().unwrap_or_default();
        let id = message.name(line);
        let id = &*id;
        let parts = message.content.into_parts();
        let early = self.awaited(&parts);
        let place = self.begin_message(id);
        let model = &*message.model;
        let state = &mut self.messages[place];
        if let Some(tokens) = message.usage.filter(|_| model != SYNTHETIC) {
            state.tokens = Some(tokens);
            model.clone_into(&mut state.model);
        }
        let mut counts = state.counts;
        match author(line, Origin { message: id, model, at }, &parts) {
            Author::Model => {}
            Author::Program(block) => return self.push(owner, block),
            Author::Nobody => return Ok(()),
        }
        let mut outcome = Ok(());
        for part in parts {
            match said(part, Origin { message: id, model, at }, &mut counts) {
                Said::Whole(block) => self.push(owner, block)?,
                Said::Call { block, .. } => self.call(owner, block),
                Said::Answer(answer) => self.answer(owner, answer, line.tool_use_result, at),
                Said::Unknown => outcome = Err(Misread),
            }
        }
        self.messages[place].counts = counts;
        for early in early {
            self.answer(early.owner, early.answer, early.beside.as_deref(), early.at);
        }
        outcome
    }

    /// Takes back the answers that came before these calls.
    fn awaited(&mut self, parts: &[Part<'_>]) -> Vec<EarlyAnswer> {
        if self.early.is_empty() {
            return Vec::new();
        }
        let is_awaited = |call: &str| parts.iter().any(|part| part.id == call && part.tool_use_id.is_empty());
        let awaited: Vec<EarlyAnswer> =
            self.early.extract_if(.., |early| is_awaited(&early.answer.call)).collect();
        for early in &awaited {
            let is_its = |block: &Block| matches!(block, Block::ToolResult { tool_use_id, .. } if *tool_use_id == early.answer.call);
            let place = self.held.iter().rposition(|(_, block)| is_its(block));
            place.map(|place| self.held.remove(place));
        }
        awaited
    }

    fn user(&mut self, line: &mut Line<'_>) -> Result<(), Misread> {
        let message = line.message.take().ok_or(Misread)?;
        let Some(owner) = self.node(line) else { return Ok(()) };
        let at = line.time().unwrap_or_default();
        let (answers, body) = blocks::split(message.content);
        for answer in answers {
            self.answer(owner, answer, line.tool_use_result, at);
        }
        let Some(body) = body else { return Ok(()) };
        let outcome = if blocks::has_unknown(&body) { Err(Misread) } else { Ok(()) };
        match words(line, body, at) {
            Words::Shown(block) => {
                if matches!(block, Block::UserMessage { .. }) {
                    self.branches.is_prompt(owner);
                }
                self.hold(owner, block);
            }
            Words::Task(end) => self.task_ended(end, at),
            Words::Summary(summary) => self.summary(owner, &line.uuid().unwrap_or_default(), summary, at),
            Words::Hidden => {}
        }
        outcome
    }

    fn system(&mut self, line: &Line<'_>) -> Result<(), Misread> {
        let Some(owner) = self.node(line) else { return Ok(()) };
        let (id, at) = (line.uuid().unwrap_or_default(), line.time().unwrap_or_default());
        match &*line.subtype() {
            "compact_boundary" => {
                let done: CompactMetadata = line.compact_metadata.and_then(read).unwrap_or_default();
                self.hold(owner, blocks::compaction(&id, &done, at));
            }
            "local_command" => {
                let output = line.content.and_then(text).unwrap_or_default();
                user::local_output(&output).into_iter().for_each(|output| {
                    self.hold(owner, blocks::notice(&id, output.to_owned(), at));
                });
            }
            "informational" if !line.is_hidden => {
                let message = line.content.and_then(text).unwrap_or_default().into_owned();
                self.hold(owner, blocks::notice(&id, message, at));
            }
            subtype if QUIET_SYSTEM.contains(&subtype) => {}
            _ => return Err(Misread),
        }
        Ok(())
    }

    fn attachment(&mut self, line: &Line<'_>) -> Result<(), Misread> {
        let Some(owner) = self.node(line) else { return Ok(()) };
        let Some(raw) = line.attachment.filter(|_| line.may_be_queued()) else { return Ok(()) };
        let queued = Attachment::of(raw).ok_or(Misread)?;
        if queued.kind != "queued_command" || queued.is_meta {
            return Ok(());
        }
        let at = line.time().unwrap_or_default();
        match &*queued.command_mode {
            "task-notification" => {
                let told = blocks::content(queued.prompt).to_text();
                user::task_end(&told).into_iter().for_each(|end| self.task_ended(end, at));
            }
            "bash" => {}
            _ => {
                let source = Some(queued.source_uuid).filter(|uuid| !uuid.is_empty());
                let uuid = source.or(line.uuid()).unwrap_or_default();
                if let Words::Shown(block) = user::said(&uuid, queued.prompt, at) {
                    self.hold(owner, block);
                }
            }
        }
        Ok(())
    }

    /// The line's place in the tree; `None` if it was there before.
    fn node(&mut self, line: &Line<'_>) -> Option<u32> {
        if self.version.is_none() {
            self.version = line.version().as_deref().map(str::to_owned);
        }
        if self.agent_id.is_none() && line.is_sidechain {
            self.agent_id = line.agent_id().as_deref().map(str::to_owned);
        }
        self.branches.add(line.name().map(key), line.parent_name().map(key))
    }

    /// The message's place; what waited for the one before it waits no longer.
    fn begin_message(&mut self, id: &str) -> usize {
        if self.message.0 == id && !self.messages.is_empty() {
            return self.message.1;
        }
        self.flush();
        let next = self.messages.len();
        let place = *self.message_places.entry(key(id.as_bytes())).or_insert(next);
        if place == next {
            self.messages.push(MessageState::default());
        }
        id.clone_into(&mut self.message.0);
        self.message.1 = place;
        place
    }

    fn call(&mut self, owner: u32, block: Block) {
        let (id, place) = (block.id().as_str(), self.blocks.len());
        self.calls.insert(key(id.as_bytes()), place);
        if matches!(block, Block::Subagent { .. }) {
            self.agents.push(AgentCall { id: id.to_owned(), place, agent_id: None, ended: None });
        }
        self.blocks.push(block);
        self.owners.push(owner);
    }

    fn answer(&mut self, owner: u32, answer: ToolAnswer, beside: Option<&[u8]>, at: Timestamp) {
        let block =
            self.calls.get(&key(answer.call.as_bytes())).and_then(|place| self.blocks.get_mut(*place));
        match block {
            Some(Block::Subagent { .. }) => self.agent_answered(answer, beside, at),
            Some(Block::ToolUse { status, .. }) => {
                *status = answer.status();
                if !answer.is_of_cut_call() {
                    self.hold(owner, answer.block(at));
                }
            }
            _ => {
                // That of a subagent's call is no block, whether its call comes or the transcript ends here.
                if !is_of_subagent(beside) {
                    self.held.push((owner, answer.clone().block(at)));
                }
                let beside = beside.map(<[u8]>::to_vec);
                if self.early.len() == MAX_EARLY {
                    self.early.remove(0);
                }
                self.early.push(EarlyAnswer { owner, answer, beside, at });
            }
        }
    }

    fn agent_answered(&mut self, answer: ToolAnswer, beside: Option<&[u8]>, at: Timestamp) {
        let Some(call) = agent_call(&self.calls, &mut self.agents, &answer.call) else { return };
        let answer = agent_answer(answer, beside);
        call.agent_id = answer.agent_id.or(call.agent_id.take());
        match answer.fate {
            Fate::Working => {}
            Fate::Cut => {
                if let Block::Subagent { status, .. } = &mut self.blocks[call.place] {
                    *status = BlockStatus::Error;
                }
            }
            Fate::Ended(ending) => {
                end_block(&mut self.blocks[call.place], &ending);
                call.ended = Some((ending.status, at));
            }
        }
    }

    fn task_ended(&mut self, end: TaskEnd, at: Timestamp) {
        let Some(call) = agent_call(&self.calls, &mut self.agents, &end.call) else { return };
        let output = end.result.map(serde_json::Value::String);
        let ending = Ending { status: end.status, output, duration_ms: end.duration_ms };
        end_block(&mut self.blocks[call.place], &ending);
        call.ended = Some((ending.status, at));
    }

    /// The summary belongs to the compaction before it. Older versions write no line for that: then it stands for it.
    fn summary(&mut self, owner: u32, id: &str, summary: String, at: Timestamp) {
        let lacks_summary = |block: &Block| matches!(block, Block::System { metadata: Some(more), .. } if !more.contains_key("summary"));
        let held = self.held.iter_mut().rev().map(|(_, block)| block);
        let mut last = held.chain(self.blocks.iter_mut().rev()).take(NEAR);
        match last.find(|block| lacks_summary(block)) {
            Some(block) => {
                let nothing = blocks::notice("", String::new(), Timestamp::default());
                *block = blocks::with_summary(std::mem::replace(block, nothing), summary);
            }
            None => {
                let compaction = blocks::compaction(id, &CompactMetadata::default(), at);
                self.hold(owner, blocks::with_summary(compaction, summary));
            }
        }
    }

    fn push(&mut self, owner: u32, block: Block) -> Result<(), Misread> {
        self.blocks.push(block);
        self.owners.push(owner);
        Ok(())
    }

    /// Adds a block that is not part of a message of the assistant.
    fn hold(&mut self, owner: u32, block: Block) {
        if self.keeps_messages_whole || !self.held.is_empty() {
            self.held.push((owner, block));
        } else {
            self.blocks.push(block);
            self.owners.push(owner);
        }
    }

    fn flush(&mut self) {
        self.early.clear();
        for (owner, block) in self.held.drain(..) {
            self.blocks.push(block);
            self.owners.push(owner);
        }
    }
}

/// The call of this id. Calls stand in the order of their blocks.
fn agent_call<'s>(
    places: &ByName<usize>,
    agents: &'s mut [AgentCall],
    id: &str,
) -> Option<&'s mut AgentCall> {
    let place = places.get(&key(id.as_bytes()))?;
    let found = agents.binary_search_by_key(place, |call| call.place).ok()?;
    agents.get_mut(found)
}
