//! Claude Code's output as it works, and what it is told.
//!
//! Blocks are named as [`blocks`](super::blocks) says. A message's blocks stand together: what comes in between, such
//! as the answer of a tool that was quicker than the message's end, is held until the message is whole, here as in
//! the parser.

mod control;
mod messages;
mod stream;
mod system;
mod tasks;
mod turn;

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use warren_domain::{
    AgentType, Block, BlockId, BlockStatus, ConversationId, Draft, EventBody, Timestamp, Usage,
};

use super::{
    blocks::Counts,
    native::{Kind, Line},
    user,
};
use crate::{Answer, Codec, Exit, LaunchRequest, Output, Prompt};
use control::Asks;
use stream::OpenMessage;
use tasks::AgentThread;
use turn::Turn;

/// The translator of one process.
pub(super) struct ClaudeCodec {
    agent: AgentType,
    turn: Turn,
    asks: Asks,
    prompt: Begun,
    /// The first deltas of a turn that somebody recorded: most versions repeat the prompt only after them, and it
    /// stands before them. `None` if there is nothing to wait for: our own prompts are known.
    early: Option<Vec<Output>>,
    /// The message that is being written in the main thread.
    open: Option<OpenMessage>,
    /// Whether the API's own stream is part of the output.
    has_stream: bool,
    /// What each message used, where nothing is streamed.
    messages: BTreeMap<String, Usage>,
    /// Blocks that wait until the open message is whole.
    held: Vec<Draft>,
    /// In each thread, the message whose blocks come last.
    speakers: HashMap<String, Speaker>,
    /// Calls without an answer.
    calls: HashMap<String, OpenCall>,
    /// Subagents' threads, by the call that started each.
    agents: HashMap<String, AgentThread>,
    /// The same calls, by the threads that they started.
    tasks: HashMap<String, String>,
    /// How tasks ended, by the calls that started them, as long as nothing else told of it.
    untold: BTreeMap<String, BlockStatus>,
    /// The block of a compaction, until its summary comes.
    compaction: Option<Block>,
    is_resumed: bool,
    usage: Usage,
}

/// What the run begins with.
enum Begun {
    Unknown,
    /// It is not part of the conversation yet.
    Waiting(Prompt),
    /// It is part of the conversation, under this name.
    With(BlockId),
}

/// Who speaks in a thread.
#[derive(Default)]
struct Speaker {
    message: String,
    counts: Counts,
}

/// A call without an answer.
struct OpenCall {
    thread: ConversationId,
    block: Block,
    /// Nobody waits for the subagent that it started.
    in_background: bool,
    /// It has an answer, but the subagent it started works on.
    is_answered: bool,
}

impl ClaudeCodec {
    /// For the process of this request.
    pub(super) fn launched(agent: AgentType, request: &LaunchRequest<'_>) -> Self {
        Self {
            turn: Turn::live(),
            asks: Asks::default(),
            is_resumed: request.resume,
            early: None,
            ..Self::recorded(agent)
        }
    }

    /// For what some process once printed.
    pub(super) fn recorded(agent: AgentType) -> Self {
        Self {
            agent,
            turn: Turn::default(),
            asks: Asks::default(),
            prompt: Begun::Unknown,
            early: Some(Vec::new()),
            open: None,
            has_stream: false,
            messages: BTreeMap::new(),
            held: Vec::new(),
            speakers: HashMap::new(),
            calls: HashMap::new(),
            agents: HashMap::new(),
            tasks: HashMap::new(),
            untold: BTreeMap::new(),
            compaction: None,
            is_resumed: false,
            usage: Usage::default(),
        }
    }

    fn line(&mut self, raw: &[u8], at: Timestamp, out: &mut Vec<Output>) -> Result<(), Unreadable> {
        let mut line = Line::read(raw).map_err(|_| Unreadable)?;
        match line.kind() {
            Kind::StreamEvent => self.stream_event(&mut line, at, out),
            Kind::Assistant => self.assistant(&mut line, at, out),
            Kind::User => self.user(&mut line, at, out),
            Kind::System => self.system(&line, raw, at, out),
            Kind::Result => self.result(raw, at, out),
            Kind::ControlRequest => self.asks.asked(raw, out),
            Kind::ControlCancel => self.asks.withdrawn(raw, out),
            Kind::Quiet => {
                self.turn.note_lifecycle(&line, raw);
                Ok(())
            }
            Kind::Attachment | Kind::CostState | Kind::Unknown => Err(Unreadable),
        }
    }

    /// Records something of the main thread that is no part of the assistant's message: now, or when that is whole.
    fn beside(&mut self, draft: Draft, at: Timestamp, out: &mut Vec<Output>) {
        self.take_up_prompt(at, out);
        if self.is_message_open() {
            self.held.push(draft);
        } else {
            out.push(Output::Event(draft));
        }
    }

    fn is_message_open(&self) -> bool {
        let speaks = || self.speakers.get(MAIN).is_some_and(|speaker| !speaker.message.is_empty());
        self.open.as_ref().is_some_and(OpenMessage::has_blocks) || (!self.has_stream && speaks())
    }

    fn flush(&mut self, out: &mut Vec<Output>) {
        out.extend(self.held.drain(..).map(Output::Event));
    }

    /// The prompt is part of the conversation before anything answers it, even if the agent did not repeat it.
    fn take_up_prompt(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        if let Begun::Waiting(prompt) = &self.prompt {
            let id = prompt.message.clone();
            let block = Block::UserMessage { id: id.clone(), timestamp: at, content: prompt.content.clone() };
            out.push(event(ConversationId::main(), EventBody::BlockComplete { block }));
            self.prompt = Begun::With(id);
        }
    }

    /// What waited for the prompt waits no longer.
    fn release_early(&mut self, out: &mut Vec<Output>) {
        out.extend(self.early.take().into_iter().flatten());
    }

    /// Takes back what was begun and never became whole.
    fn discard_open(&mut self, reason: &str, out: &mut Vec<Output>) {
        let Some(open) = self.open.take() else { return };
        for block_id in open.unfinished() {
            let body = EventBody::BlockDiscarded { block_id, reason: reason.to_owned() };
            out.push(event(ConversationId::main(), body));
        }
    }

    fn unrecognized(&self, line: &[u8]) -> Output {
        let raw = String::from_utf8_lossy(line).into_owned();
        event(ConversationId::main(), EventBody::Unrecognized { agent: self.agent.clone(), raw })
    }
}

impl Codec for ClaudeCodec {
    fn decode(&mut self, line: &[u8], at: Timestamp, out: &mut Vec<Output>) {
        if line.iter().all(u8::is_ascii_whitespace) || self.line(line, at, out).is_ok() {
            return;
        }
        // Bytes that are no text spoil their line only as far as they go.
        let is_text = std::str::from_utf8(line).is_ok();
        if is_text || self.line(String::from_utf8_lossy(line).as_bytes(), at, out).is_err() {
            out.push(self.unrecognized(line));
        }
    }

    fn begin(&mut self, prompt: &Prompt, _at: Timestamp, out: &mut Vec<Output>) {
        out.push(control::prompt(prompt));
        self.prompt = Begun::Waiting(prompt.clone());
    }

    fn interrupt(&mut self, out: &mut Vec<Output>) -> bool {
        out.push(self.turn.interrupt());
        true
    }

    fn steer(&mut self, prompt: &Prompt, _at: Timestamp, out: &mut Vec<Output>) -> bool {
        if !self.turn.expect_message(prompt) {
            return false;
        }
        out.push(control::prompt(prompt));
        true
    }

    fn answer(&mut self, key: &str, answer: &Answer, _at: Timestamp, out: &mut Vec<Output>) -> bool {
        self.asks.answer(key, answer, out)
    }

    fn ended(&mut self, exit: &Exit, at: Timestamp, out: &mut Vec<Output>) {
        self.take_up_prompt(at, out);
        self.release_early(out);
        self.discard_open("the agent ended before it was whole", out);
        self.flush(out);
        self.end_untold_agents(at, out);
        self.asks.withdraw_all(out);
        self.turn.exited(exit, out);
    }
}

/// The name of the main thread among the speakers.
const MAIN: &str = "";

/// A line that cannot be understood.
#[derive(Debug)]
struct Unreadable;

fn event(thread: ConversationId, body: EventBody) -> Output {
    Output::Event(Draft::of_session(body).within(thread))
}

fn complete(thread: ConversationId, block: Block) -> Output {
    event(thread, EventBody::BlockComplete { block })
}

fn update<const N: usize>(thread: ConversationId, block_id: BlockId, updates: [(&str, Value); N]) -> Output {
    let updates = updates.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    event(thread, EventBody::BlockUpdate { block_id, updates })
}

/// The UUID that a message's block is named after.
fn uuid_of(message: &BlockId) -> &str {
    message.as_str().strip_prefix(user::MESSAGE_PREFIX).unwrap_or(message.as_str())
}
