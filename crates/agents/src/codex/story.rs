//! All threads of a session: the main one, and those of subagents.

use std::collections::HashMap;

use serde_json::{Value, json};
use warren_domain::{
    Block, BlockId, BlockStatus, ConversationId, Draft, EventBody, SystemSubtype, Timestamp,
};

use super::{
    ids::{Ids, Scheme},
    item::{Item, Spawn, Tool, What},
    scribe::{Growing, Scribe},
};
use crate::subagent::Thread;

/// What Codex's subagents are called: only some sources know the nickname it gives them.
const SUBAGENT: &str = "agent";

/// All threads.
#[derive(Debug, Default)]
pub(super) struct Story {
    /// The session's own thread, as Codex names it.
    pub(super) main: Option<String>,
    pub(super) scheme: Scheme,
    threads: HashMap<String, Scribe>,
    subagents: HashMap<String, Subagent>,
    /// Subagents that are being made: their thread has no name yet, but may already speak.
    spawning: Vec<Spawning>,
}

#[derive(Debug)]
struct Subagent {
    thread: Thread,
    /// The caller, as Codex names it, and the block that stands for the subagent there.
    caller: String,
    block: Option<Block>,
    /// Its first message is the task, which the opening already told.
    has_task: bool,
    closed: Option<(BlockStatus, Option<String>)>,
}

#[derive(Debug)]
struct Spawning {
    caller: String,
    item: String,
    prompt: String,
}

/// How a turn of a thread ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TurnOutcome {
    Completed,
    Interrupted,
    Failed(String),
}

impl Story {
    /// The scribe of a thread. The first thread there is is the session's own.
    pub(super) fn thread(&mut self, thread: &str, at: Timestamp, out: &mut Vec<Draft>) -> &mut Scribe {
        let main = self.main.get_or_insert_with(|| thread.to_owned());
        if main != thread && !self.subagents.contains_key(thread) {
            let spawning = if self.spawning.is_empty() { None } else { Some(self.spawning.remove(0)) };
            let (caller, item, prompt) = match spawning {
                Some(spawning) => (spawning.caller, Some(spawning.item), spawning.prompt),
                None => (self.main.clone().unwrap_or_default(), None, String::new()),
            };
            self.open(thread, &caller, item.as_deref(), &prompt, at, out);
        }
        self.scribe(thread)
    }

    /// The name and arguments of a call that is under way.
    pub(super) fn input_of(&self, thread: &str, item: &str) -> Option<(&str, &Value)> {
        self.threads.get(thread)?.input_of(item)
    }

    /// The last thing that was said in a thread.
    pub(super) fn last_text(&self, thread: &str) -> Option<String> {
        self.threads.get(thread)?.last_text.clone()
    }

    /// A turn begins.
    pub(super) fn turn_began(
        &mut self,
        thread: &str,
        turn: Option<&str>,
        at: Timestamp,
        out: &mut Vec<Draft>,
    ) {
        let scheme = self.scheme;
        let scribe = self.thread(thread, at, out);
        scribe.ids.scheme = scheme;
        if turn.is_none_or(|turn| !scribe.ids.is_in(turn)) {
            scribe.ids.turn(turn);
        }
    }

    /// Something is told of a turn, which may be the first that is heard of it.
    pub(super) fn in_turn(&mut self, thread: &str, turn: &str, at: Timestamp, out: &mut Vec<Draft>) {
        let is_number = turn.chars().all(|c| c.is_ascii_digit());
        if self.scheme == Scheme::Order && !is_number && !self.thread(thread, at, out).ids.in_turn() {
            self.turn_began(thread, Some(turn), at, out);
        }
    }

    /// An item begins.
    pub(super) fn began(&mut self, thread: &str, item: &Item, at: Timestamp, out: &mut Vec<Draft>) {
        if let What::Spawn(spawn) = &item.what {
            self.thread(thread, at, out);
            self.spawning.push(Spawning {
                caller: thread.to_owned(),
                item: item.id.clone(),
                prompt: spawn.prompt.clone(),
            });
            return;
        }
        self.thread(thread, at, out).began(item, at, out);
    }

    /// An item is whole. Gives the threads that it opened.
    pub(super) fn ended(
        &mut self,
        thread: &str,
        item: &Item,
        at: Timestamp,
        out: &mut Vec<Draft>,
    ) -> Vec<String> {
        match &item.what {
            What::Spawn(spawn) => return self.spawned(thread, item, spawn, at, out),
            What::User { .. } if self.is_task(thread) => return Vec::new(),
            _ => self.thread(thread, at, out).ended(item, at, out),
        }
        if let What::Tool(tool) = &item.what {
            self.heard_of(tool, item.completed.unwrap_or(at), out);
        }
        Vec::new()
    }

    /// More of something.
    pub(super) fn grew(
        &mut self,
        (thread, item): (&str, &str),
        what: Growing,
        delta: &str,
        at: Timestamp,
        out: &mut Vec<Draft>,
    ) {
        self.thread(thread, at, out).grew(item, what, delta, at, out);
    }

    /// A turn is over; with it a subagent is done.
    pub(super) fn turn_ended(
        &mut self,
        thread: &str,
        outcome: &TurnOutcome,
        at: Timestamp,
        out: &mut Vec<Draft>,
    ) {
        let scribe = self.thread(thread, at, out);
        scribe.turn_ended(out);
        if let TurnOutcome::Failed(message) = outcome {
            scribe.failed(message, at, out);
        }
        let (status, report) = match outcome {
            TurnOutcome::Completed => (BlockStatus::Success, scribe.last_text.clone()),
            TurnOutcome::Interrupted => (BlockStatus::Error, None),
            TurnOutcome::Failed(message) => (BlockStatus::Error, Some(message.clone())),
        };
        if self.main.as_deref() == Some(thread) {
            self.cut_subagents(out);
        } else {
            self.close(thread, status, report, at, out);
        }
    }

    /// Something about the whole session.
    pub(super) fn warned(&mut self, thread: &str, message: &str, at: Timestamp, out: &mut Vec<Draft>) {
        let scribe = self.thread(thread, at, out);
        let id = format!("warning-{}", at.as_millis());
        scribe.said(&id, SystemSubtype::Status, message, at, out);
    }

    fn scribe(&mut self, thread: &str) -> &mut Scribe {
        let is_main = self.main.as_deref() == Some(thread);
        let scheme = self.scheme;
        self.threads.entry(thread.to_owned()).or_insert_with(|| {
            let id =
                if is_main { ConversationId::main() } else { ConversationId(thread.to_owned()).bounded() };
            Scribe::new(id, Ids::new(scheme))
        })
    }

    fn is_task(&mut self, thread: &str) -> bool {
        self.subagents
            .get_mut(thread)
            .is_some_and(|subagent| std::mem::replace(&mut subagent.has_task, false))
    }

    fn spawned(
        &mut self,
        caller: &str,
        item: &Item,
        spawn: &Spawn,
        at: Timestamp,
        out: &mut Vec<Draft>,
    ) -> Vec<String> {
        self.thread(caller, at, out);
        if spawn.threads.is_empty() && !spawn.failed {
            return Vec::new();
        }
        self.spawning.retain(|spawning| spawning.item != item.id);
        if spawn.failed {
            let tool = Tool::new("spawn_agent", json!({"prompt": spawn.prompt}), None);
            let end = super::item::End::silent(BlockStatus::Error);
            let failed = Item { what: What::Tool(Tool { end: Some(end), ..tool }), ..item.clone() };
            self.scribe(caller).ended(&failed, at, out);
            return Vec::new();
        }
        for thread in &spawn.threads {
            let opened = item.completed.unwrap_or(at);
            if !self.subagents.contains_key(thread) {
                self.open(thread, caller, Some(&item.id), &spawn.prompt, opened, out);
            }
            self.stand_for(thread, caller, item, spawn, at, out);
        }
        spawn.threads.clone()
    }

    /// The block that stands for a subagent in its caller's thread.
    fn stand_for(
        &mut self,
        thread: &str,
        caller: &str,
        item: &Item,
        spawn: &Spawn,
        at: Timestamp,
        out: &mut Vec<Draft>,
    ) {
        let scribe = self.scribe(caller);
        let id = scribe.ids.of(&item.id, "tool", &format!("spawn_agent\0{}", spawn.prompt));
        let block = Block::Subagent {
            id: BlockId(id.clone()),
            timestamp: item.started.unwrap_or(at),
            subagent_id: thread.to_owned(),
            name: Some(SUBAGENT.to_owned()),
            input: json!(spawn.prompt),
            status: BlockStatus::Running,
            output: None,
            duration_ms: None,
            tool_use_id: Some(id),
        };
        out.push(scribe.draft(EventBody::BlockStart { block: block.clone() }));
        let closed = self.subagents.get_mut(thread).and_then(|subagent| {
            subagent.block = Some(block);
            subagent.closed.take()
        });
        // It was faster than the call that made it.
        if let Some((status, report)) = closed {
            self.close(thread, status, report, at, out);
        }
    }

    fn open(
        &mut self,
        thread: &str,
        caller: &str,
        item: Option<&str>,
        prompt: &str,
        at: Timestamp,
        out: &mut Vec<Draft>,
    ) {
        let key = format!("spawn_agent\0{prompt}");
        let scribe = self.scribe(caller);
        let parent = scribe.thread().clone();
        let tool_use_id = item.map(|item| scribe.ids.of(item, "tool", &key));
        let id = self.scribe(thread).thread().clone();
        let opened = Thread { id, name: Some(SUBAGENT.to_owned()) };
        out.extend(opened.opened(prompt, tool_use_id, parent, at));
        let subagent =
            Subagent { thread: opened, caller: caller.to_owned(), block: None, has_task: true, closed: None };
        self.subagents.insert(thread.to_owned(), subagent);
    }

    /// What a call tells about subagents that do not tell it themselves.
    fn heard_of(&mut self, tool: &Tool, at: Timestamp, out: &mut Vec<Draft>) {
        for agent in &tool.agents {
            let status = match agent.status.as_str() {
                "completed" => BlockStatus::Success,
                "errored" | "interrupted" | "shutdown" | "not_found" => BlockStatus::Error,
                _ => continue,
            };
            let is_open = self.subagents.get(&agent.thread).is_some_and(|subagent| subagent.closed.is_none());
            if is_open {
                self.close(&agent.thread, status, agent.message.clone(), at, out);
            }
        }
    }

    fn close(
        &mut self,
        thread: &str,
        status: BlockStatus,
        report: Option<String>,
        at: Timestamp,
        out: &mut Vec<Draft>,
    ) {
        let Some(subagent) = self.subagents.get_mut(thread) else { return };
        out.extend(subagent.thread.closed(status, report.clone().map(Value::String), None, at));
        let ended = subagent.block.clone().map(|mut block| {
            if let Block::Subagent { status: of_block, output, .. } = &mut block {
                *of_block = status;
                *output = report.as_ref().map(|text| json!(text));
            }
            block
        });
        subagent.closed = Some((status, report));
        let caller = subagent.caller.clone();
        if let Some(block) = ended {
            out.push(self.scribe(&caller).draft(EventBody::BlockComplete { block }));
        }
    }

    /// The main turn is over: subagents that still work are cut with it.
    fn cut_subagents(&mut self, out: &mut Vec<Draft>) {
        let open = self.subagents.values_mut().filter(|subagent| subagent.closed.is_none());
        let mut cut: Vec<(String, Block)> = open
            .filter_map(|subagent| Some((subagent.caller.clone(), subagent.block.as_ref()?.cut_short()?)))
            .collect();
        cut.sort_by(|(_, a), (_, b)| a.id().cmp(b.id()));
        for (caller, block) in cut {
            out.push(self.scribe(&caller).draft(EventBody::BlockComplete { block }));
        }
    }
}
