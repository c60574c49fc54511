//! Two sources, one conversation: what Gemini prints, and what it writes to its chat files meanwhile.
//!
//! Stdout is early and knows little; the files are late and know all. Each source counts prompts and answers of tools for
//! itself and so comes to the same ids, whichever is ahead: stdout opens a block, the file completes it, and what the
//! file has completed stdout does not touch again. A thought is only in the file, but stands before the text that is
//! printed first: so it gets an empty block in its place, which is filled, or discarded if there was no thought.
//! Without files (`recorded` streams that people kept) stdout completes its blocks itself.

mod outcome;
mod printed;
mod threads;
mod written;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::{Value, json};
use warren_domain::{AgentType, Block, BlockId, Content, Draft, EventBody, Timestamp, Usage};

use super::{
    blocks::{Call, prompt_id},
    chat::Chat,
    native::Said,
    text,
};
use crate::{Codec, Exit, Output, Prompt};

use outcome::Outcome;
use printed::Round;
use threads::Threads;

/// How much of an unreadable line of a file is kept.
const SHOWN: usize = 4096;

/// Translates one process of Gemini's.
pub(super) struct GeminiCodec {
    agent: AgentType,
    chat: Chat,
    threads: Threads,
    /// Lines of files come beside those of stdout.
    has_files: bool,
    turn: Turn,
    calls: HashMap<String, Tracked>,
    outcome: Outcome,
    usage: Usage,
    model: Option<String>,
    /// What an earlier process said must be known.
    before: Before,
}

/// What was before this process.
#[derive(Default)]
struct Before {
    /// Names of turns whose prompts show, though no file ever had them.
    unkept: BTreeSet<String>,
    resumable: Option<bool>,
}

/// The prompt that is being carried out.
#[derive(Default)]
struct Turn {
    /// The id of its block, if it came from us.
    message: Option<BlockId>,
    fingerprint: Option<u64>,
    /// The process has said that it works.
    has_init: bool,
    /// Its name in ids.
    name: Option<String>,
    /// The file has come to it.
    is_in_file: bool,
    /// Stdout's round, and all rounds that either source has come to.
    round: u32,
    rounds: HashMap<u32, Round>,
    /// The calls that were answered. What comes after an answer is another round.
    answered: HashSet<String>,
    /// Blocks that the file has completed.
    completed: HashSet<BlockId>,
    n_errors: u32,
    /// What happened before the prompt was heard of, and shows after it.
    held: Vec<Output>,
}

/// A call, and what was said about it.
struct Tracked {
    call: Call,
    /// The answer as stdout shows it, until the file has the whole.
    shown_result: Option<Block>,
    /// The file has it.
    is_settled: bool,
}

impl GeminiCodec {
    /// For a process that is started now, with what earlier ones said must be known.
    pub(super) fn live(agent: AgentType, state: Option<&Value>) -> Self {
        let chat = state.map_or_else(Chat::new, |state| Chat::going_on(prompts_of(state)));
        let before = state.map(Before::of).unwrap_or_default();
        Self { chat, before, has_files: true, ..Self::recorded(agent) }
    }

    /// For what a process once printed.
    pub(super) fn recorded(agent: AgentType) -> Self {
        Self {
            agent,
            chat: Chat::new(),
            threads: Threads::default(),
            has_files: false,
            turn: Turn::default(),
            calls: HashMap::new(),
            outcome: Outcome::default(),
            usage: Usage::default(),
            model: None,
            before: Before::default(),
        }
    }

    /// Begins a turn, unless it began already.
    fn enter_turn(&mut self, prompt: &str) {
        let fingerprint = text::fingerprint(prompt);
        if self.turn.name.is_none() {
            self.turn.name = Some(self.chat.next_turn(fingerprint));
        }
        self.turn.fingerprint = Some(fingerprint);
    }

    /// The name of the turn. What comes before any prompt has one too.
    fn turn_name(&self) -> String {
        self.turn.name.clone().unwrap_or_else(|| "start".to_owned())
    }

    fn unrecognized(&self, line: &[u8], out: &mut Vec<Output>) {
        let raw = String::from_utf8_lossy(line).into_owned();
        out.push(event(EventBody::Unrecognized { agent: self.agent.clone(), raw }));
    }

    fn on_said(&mut self, said: Said, at: Timestamp, out: &mut Vec<Output>) {
        match said {
            Said::Init(init) => self.on_init(init),
            Said::Message(message) if message.role == "user" => self.on_prompt(&message, at, out),
            Said::Message(message) => self.on_text(&message, at, out),
            Said::ToolUse(used) => self.on_use(used, at, out),
            Said::ToolResult(result) => self.on_result(result, at, out),
            Said::Error(problem) => self.on_problem(&problem, at, out),
            Said::Result(finish) => self.on_finish(finish, at, out),
            Said::File(line) => self.on_file(&line, at, out),
        }
    }

    /// What the next process must know.
    fn state(&self) -> Output {
        let is_kept = self.turn.is_in_file;
        let begun = self.turn.name.iter().filter(|_| !is_kept);
        let unkept = self.before.unkept.iter().chain(begun).filter(|name| !self.chat.has_begun(name));
        let resumable = if is_kept { Some(self.chat.is_resumable()) } else { self.before.resumable };
        Output::State(known(&self.chat, unkept.cloned().collect(), resumable))
    }

    /// The id of our prompt's block: the one it will have in the file. An earlier prompt that never came to a file may
    /// have that one; then it is the one it was given.
    fn message_id(&self, given: &BlockId) -> BlockId {
        let name = self.turn_name();
        if self.before.unkept.contains(&name) { given.clone() } else { prompt_id(&name) }
    }

    /// Completes what nobody else will complete.
    fn wind_up(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        out.append(&mut self.turn.held);
        self.close_rounds(at, out);
        self.close_results(out);
        self.close_threads(at, out);
        if self.has_files {
            out.push(self.state());
        }
    }
}

impl Codec for GeminiCodec {
    fn decode(&mut self, line: &[u8], at: Timestamp, out: &mut Vec<Output>) {
        if line.trim_ascii().is_empty() {
            return;
        }
        match serde_json::from_str::<Said>(&String::from_utf8_lossy(line)) {
            Ok(said) => self.on_said(said, at, out),
            Err(_) => self.unrecognized(line, out),
        }
    }

    fn begin(&mut self, prompt: &Prompt, at: Timestamp, out: &mut Vec<Output>) {
        let said = prompt.content.to_text();
        self.turn.message = Some(prompt.message.clone());
        self.enter_turn(&said);
        // A text always serialises; an empty line, which means an empty prompt, is the floor.
        let mut line = serde_json::to_vec(&said).unwrap_or_default();
        line.push(b'\n');
        out.push(Output::Send(line));
        // Its name is used from here on, whatever becomes of the process.
        out.push(self.state());
        let (id, content) = (self.message_id(&prompt.message), prompt.content.clone());
        out.push(complete(Block::UserMessage { id, timestamp: at, content }));
    }

    /// Gemini has no word for it: it is sent a signal.
    fn interrupt(&mut self, _out: &mut Vec<Output>) -> bool {
        self.outcome.interrupted();
        false
    }

    fn ended(&mut self, exit: &Exit, at: Timestamp, out: &mut Vec<Output>) {
        if self.outcome.has_ended() {
            return;
        }
        self.wind_up(at, out);
        out.extend(self.outcome.of_exit(exit).map(Output::TurnEnded));
    }
}

impl Before {
    fn of(state: &Value) -> Self {
        let names = state.get("unkept").and_then(Value::as_array).into_iter().flatten();
        let unkept = names.filter_map(Value::as_str).map(str::to_owned).collect();
        Self { unkept, resumable: state.get("resumable").and_then(Value::as_bool) }
    }
}

/// What a process must know of a chat that it goes on from.
pub(super) fn known(chat: &Chat, unkept: BTreeSet<String>, resumable: Option<bool>) -> Value {
    let prompts = chat.prompts().iter().filter(|(_, said)| **said > 0);
    let prompts: BTreeMap<String, u32> =
        prompts.map(|(fingerprint, said)| (format!("{fingerprint:016x}"), *said)).collect();
    let mut state = json!({ "prompts": prompts });
    if !unkept.is_empty() {
        state["unkept"] = json!(unkept);
    }
    if let Some(resumable) = resumable {
        state["resumable"] = json!(resumable);
    }
    state
}

/// How often each prompt was said, from what an earlier process said must be known.
fn prompts_of(state: &Value) -> HashMap<u64, u32> {
    let prompts = state.get("prompts").and_then(Value::as_object).into_iter().flatten();
    let entry = |(fingerprint, said): (&String, &Value)| {
        Some((u64::from_str_radix(fingerprint, 16).ok()?, u32::try_from(said.as_u64()?).ok()?))
    };
    prompts.filter_map(entry).collect()
}

fn event(body: EventBody) -> Output {
    Output::Event(Draft::of_session(body))
}

fn start(block: Block) -> Output {
    event(EventBody::BlockStart { block })
}

fn complete(block: Block) -> Output {
    event(EventBody::BlockComplete { block })
}

fn update(block_id: &str, updates: Value) -> Output {
    let updates = if let Value::Object(updates) = updates { updates } else { serde_json::Map::new() };
    event(EventBody::BlockUpdate { block_id: BlockId(block_id.to_owned()), updates })
}

fn discard(block_id: BlockId, reason: &str) -> Output {
    event(EventBody::BlockDiscarded { block_id, reason: reason.to_owned() })
}

/// The block of a prompt that Gemini repeats.
fn prompt_block(turn: &str, text: &str, at: Timestamp) -> Block {
    Block::UserMessage { id: prompt_id(turn), timestamp: at, content: Content::Text(text.to_owned()) }
}
