//! Compares two logs of the same run: what was said and done, not when, in what pieces or under what ids.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};
use warren_domain::{
    Block, ConversationId, Conversations, Event, EventBody, FileChange, ReplayCount, ReplayDifference,
    ReplayDivergence, ReplayDivergenceKind, Usage,
};
use warren_models::{Moments, normal_text, said, unified_diff};

use crate::session::is_silence;

/// The longest difference that is shown.
const LONGEST_DIFF: usize = 16 << 10;

/// What a fact about how the run ended is called.
const END: &str = "end";

/// What the comparison of two logs came to.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Comparison {
    pub(super) count: ReplayCount,
    /// The first thing that is not the same.
    pub(super) divergence: Option<ReplayDivergence>,
    /// Tools that said something else.
    pub(super) differences: Vec<ReplayDifference>,
    was_stopped: bool,
}

/// What a fact is about: the same in both logs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    /// `main`, or how a thread can be known again.
    thread: String,
    kind: &'static str,
    /// A path, a host, or its number among those of its kind.
    name: String,
}

#[derive(Debug)]
struct Fact {
    key: Key,
    conversation: ConversationId,
    value: Value,
    /// The agent's own name of the tool's call.
    call: Option<String>,
    /// Whether its thread said nothing after it, so that it may not be all there.
    is_last: bool,
}

/// What is known of two logs that are compared.
#[derive(Debug, Clone, Default)]
pub(super) struct Circumstances {
    /// Where a run was stopped is a moment, and no two are the same: it may have come further or less far.
    pub(super) was_stopped: bool,
    /// When the two took place.
    pub(super) moments: Moments,
}

/// Compares what was recorded with what was replayed.
pub(super) fn compare(recorded: &[Event], replayed: &[Event], known: &Circumstances) -> Comparison {
    let facts = |events: &[Event]| Facts::of(events, known.moments.clone());
    let (recorded, replayed) = (facts(recorded), facts(replayed));
    let mut others: HashMap<&Key, &Fact> = replayed.iter().map(|fact| (&fact.key, fact)).collect();
    let mut all = Comparison { was_stopped: known.was_stopped, ..Comparison::default() };
    for fact in &recorded {
        let other = others.remove(&fact.key);
        all.note(Some(fact), other);
    }
    // In their own order, not in that of the map.
    for fact in replayed.iter().filter(|fact| others.contains_key(&fact.key)) {
        all.note(None, Some(fact));
    }
    all
}

impl Comparison {
    fn note(&mut self, before: Option<&Fact>, after: Option<&Fact>) {
        let Some(fact) = before.or(after) else { return };
        let is_same = before.map(|fact| &fact.value) == after.map(|fact| &fact.value);
        if !is_same && self.was_stopped && is_left_open(before, after) {
            return;
        }
        self.count.compared += 1;
        if is_same {
            self.count.equal += 1;
            return;
        }
        let text = |fact: Option<&Fact>| fact.map(Fact::text).unwrap_or_default();
        let diff = unified_diff(&text(before), &text(after), LONGEST_DIFF);
        let Key { kind, name, .. } = &fact.key;
        if *kind == "tool_result" && before.is_some() && after.is_some() {
            self.differences.push(ReplayDifference {
                run_id: None,
                conversation_id: Some(fact.conversation.clone()),
                tool_use_id: fact.call.clone(),
                message: format!("the output of tool call {name} differs"),
                diff,
            });
            return;
        }
        let what = match (before, after) {
            (Some(_), Some(_)) => "differs",
            (Some(_), None) => "is missing",
            _ => "is new",
        };
        let is_end = *kind == END;
        let about = if is_end {
            "the end of the run".to_owned()
        } else {
            format!("{} {name}", kind.replace('_', " "))
        };
        let kind = if is_end { ReplayDivergenceKind::Outcome } else { ReplayDivergenceKind::Event };
        self.divergence.get_or_insert_with(|| ReplayDivergence {
            kind,
            run_id: None,
            conversation_id: Some(fact.conversation.clone()),
            index: None,
            message: format!("{about} {what}"),
            diff: Some(diff),
        });
    }
}

/// Whether a difference is only that a run was stopped here and its replay there: what one of them did not come to, what
/// was being said, subagents that were at work, and how it all ended. All that was said before must be the same.
fn is_left_open(before: Option<&Fact>, after: Option<&Fact>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return true };
    before.is_last || after.is_last || [END, "subagent", "subagent_completed"].contains(&before.key.kind)
}

impl Fact {
    /// For people.
    fn text(&self) -> String {
        match self.key.kind {
            "tool_result" => said(&json!([self.value["output"], self.value["isError"]])),
            _ => readable(&self.value),
        }
    }
}

/// Gathers what a log says.
#[derive(Default)]
struct Facts {
    all: Vec<Fact>,
    /// How a thread can be known again, by its id.
    threads: HashMap<ConversationId, String>,
    counts: HashMap<(String, &'static str), usize>,
    files: BTreeMap<String, FileFact>,
    /// How often each host was reached, and how often not.
    egress: BTreeMap<String, [u64; 2]>,
    moments: Moments,
}

/// What a log says of a file, at first and at last.
struct FileFact {
    was_made: bool,
    is_there: bool,
    size: Option<u64>,
}

impl Facts {
    fn of(events: &[Event], moments: Moments) -> Vec<Fact> {
        let mut facts = Self { moments, ..Self::default() };
        let mut conversations = Conversations::default();
        for event in events {
            facts.name_thread(event);
            conversations.apply(event);
        }
        facts.blocks(&ConversationId::main(), conversations.main());
        for (id, blocks) in conversations.subagents() {
            facts.blocks(id, blocks);
        }
        events.iter().for_each(|event| facts.event(event));
        for (path, file) in std::mem::take(&mut facts.files) {
            // Nobody can say that it was ever there: a watcher may have seen it or not.
            if file.is_there || !file.was_made {
                let value = json!({"there": file.is_there, "size": file.size});
                facts.add("file", path, &ConversationId::main(), value);
            }
        }
        for (host, [allowed, denied]) in std::mem::take(&mut facts.egress) {
            let value = json!({"allowed": allowed, "denied": denied});
            facts.add("egress_decided", host, &ConversationId::main(), value);
        }
        facts.all
    }

    /// A thread is known by the call that made it, or else by its place among the others.
    fn name_thread(&mut self, event: &Event) {
        let id = &event.conversation_id;
        if id.is_main() || self.threads.contains_key(id) {
            return;
        }
        let name = match &event.body {
            EventBody::SubagentStarted(started) => started.tool_use_id.clone(),
            _ => None,
        };
        let place = format!("thread {}", self.threads.len() + 1);
        self.threads.insert(id.clone(), name.unwrap_or(place));
    }

    fn thread(&self, id: &ConversationId) -> String {
        self.threads.get(id).cloned().unwrap_or_else(|| "main".to_owned())
    }

    fn add(&mut self, kind: &'static str, name: String, id: &ConversationId, value: Value) {
        let key = Key { thread: self.thread(id), kind, name };
        let value = if kind == "tool_result" { self.moments.normal_output(value) } else { normal(value) };
        self.all.push(Fact { key, conversation: id.clone(), value, call: None, is_last: false });
    }

    /// Its number among those of its kind in its thread.
    fn add_next(&mut self, kind: &'static str, id: &ConversationId, value: Value) {
        let count = self.counts.entry((self.thread(id), kind)).or_default();
        *count += 1;
        let name = count.to_string();
        self.add(kind, name, id, value);
    }

    fn blocks(&mut self, id: &ConversationId, blocks: &[Block]) {
        // Tools are known by the order in which they were called; what they said may come in any order.
        let mut calls: HashMap<&str, usize> = HashMap::new();
        for block in blocks {
            if let Block::ToolUse { tool_use_id, .. } = block {
                let number = calls.len() + 1;
                calls.entry(tool_use_id).or_insert(number);
            }
        }
        // A word of the platform comes after what the agent was at.
        let is_agents = |block: &Block| !matches!(block, Block::System { .. } | Block::Error { .. });
        let last = blocks.iter().rposition(is_agents);
        // How long an agent takes to start is no part of what it does.
        for (place, block) in blocks.iter().enumerate().filter(|(_, block)| !is_silence(block)) {
            let value = bare(block);
            match block {
                Block::ToolUse { tool_use_id, .. } | Block::ToolResult { tool_use_id, .. } => {
                    let number = calls.get(tool_use_id.as_str());
                    let name = number.map_or_else(|| tool_use_id.clone(), ToString::to_string);
                    let kind =
                        if matches!(block, Block::ToolUse { .. }) { "tool_use" } else { "tool_result" };
                    self.add(kind, name, id, value);
                    if let Some(fact) = self.all.last_mut() {
                        fact.call = Some(tool_use_id.clone());
                    }
                }
                Block::UserMessage { .. } => self.add_next("user_message", id, value),
                Block::AssistantText { .. } => self.add_next("assistant_text", id, value),
                Block::Thinking { .. } => self.add_next("thinking", id, value),
                Block::System { .. } => self.add_next("system", id, value),
                Block::Subagent { .. } => self.add_next("subagent", id, value),
                Block::Error { .. } => self.add_next("error", id, value),
            }
            if let Some(fact) = self.all.last_mut() {
                fact.is_last = last.is_none_or(|last| place >= last);
            }
        }
    }

    fn event(&mut self, event: &Event) {
        let id = &event.conversation_id;
        match &event.body {
            EventBody::SubagentStarted(started) => {
                self.add_next("subagent_started", id, json!([started.name, started.input]));
            }
            EventBody::SubagentCompleted { status, output, .. } => {
                self.add_next("subagent_completed", id, json!([status, output]));
            }
            EventBody::ApprovalRequested(asked) => {
                self.add_next("approval_requested", id, json!([asked.kind, asked.title, asked.detail]));
            }
            EventBody::ApprovalResolved(resolved) => {
                self.add_next("approval_resolved", id, json!([resolved.decision, resolved.answers]));
            }
            EventBody::EgressDecided { host, port, allowed, .. } => {
                self.egress.entry(format!("{host}:{port}")).or_default()[usize::from(!allowed)] += 1;
            }
            EventBody::ContextCompacted { before, after, .. } => {
                self.add_next("context_compacted", id, json!([before, after]));
            }
            EventBody::Retrying { attempt, reason, .. } => {
                self.add_next("retrying", id, json!([attempt, reason]));
            }
            EventBody::Unrecognized { raw, .. } => self.add_next("unrecognized", id, json!(raw)),
            // Only how it ended: how often a watcher told of it says nothing.
            EventBody::FileChanged { path, change, size_bytes, .. } => {
                let is_there = *change != FileChange::Deleted;
                let was_made = *change == FileChange::Created;
                let file = self.files.entry(path.clone());
                let file = file.or_insert(FileFact { was_made, is_there, size: None });
                (file.is_there, file.size) = (is_there, size_bytes.filter(|_| is_there));
            }
            EventBody::RunCompleted { usage, summary, .. } => {
                self.add(END, String::new(), id, json!(["completed", summary, spent(usage)]));
            }
            EventBody::RunFailed { code, message, usage, .. } => {
                self.add(END, String::new(), id, json!(["failed", code, message, spent(usage)]));
            }
            EventBody::RunInterrupted { usage, .. } => {
                self.add(END, String::new(), id, json!(["interrupted", spent(usage)]));
            }
            // How far something is, what it cost so far, and the history of the sandbox and of versions.
            _ => {}
        }
    }
}

/// Without what is never the same.
fn bare(block: &Block) -> Value {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(block) else { return Value::Null };
    for name in ["id", "timestamp", "durationMs", "toolUseId", "subagentId"] {
        fields.remove(name);
    }
    // Whether a tool failed is part of what it said.
    if matches!(block, Block::ToolUse { .. }) {
        fields.remove("status");
    }
    Value::Object(fields)
}

/// Not what it cost: that follows from these and from prices, which are the operator's and change.
fn spent(usage: &Usage) -> Value {
    json!([usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens])
}

fn normal(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(normal_text(&text).into_owned()),
        Value::Array(items) => Value::Array(items.into_iter().map(normal).collect()),
        Value::Object(fields) => {
            let fields: Map<String, Value> =
                fields.into_iter().map(|(key, value)| (key, normal(value))).collect();
            Value::Object(fields)
        }
        other => other,
    }
}

fn readable(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default().replace("\\n", "\n").replace("\\\"", "\"")
}

#[cfg(test)]
mod tests;
