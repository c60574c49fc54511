//! Compares two logs of the same run: what was said and done, not when, in what pieces or under what ids.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};
use warren_domain::{
    Block, ConversationId, Conversations, Event, EventBody, FileChange, ReplayCount, ReplayDifference,
    ReplayDivergence, ReplayDivergenceKind, Usage,
};
use warren_models::{normal_text, unified_diff};

/// The longest difference that is shown.
const LONGEST_DIFF: usize = 16 << 10;

/// What the comparison of two logs came to.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Comparison {
    pub(super) count: ReplayCount,
    /// The first thing that is not the same.
    pub(super) divergence: Option<ReplayDivergence>,
    /// Tools that said something else.
    pub(super) differences: Vec<ReplayDifference>,
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
}

/// Compares what was recorded with what was replayed.
pub(super) fn compare(recorded: &[Event], replayed: &[Event]) -> Comparison {
    let (recorded, replayed) = (Facts::of(recorded), Facts::of(replayed));
    let mut others: HashMap<&Key, &Fact> = replayed.iter().map(|fact| (&fact.key, fact)).collect();
    let mut all = Comparison::default();
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
        self.count.compared += 1;
        let text = |fact: Option<&Fact>| fact.map(|fact| readable(&fact.value)).unwrap_or_default();
        if before.map(|fact| &fact.value) == after.map(|fact| &fact.value) {
            self.count.equal += 1;
            return;
        }
        let diff = unified_diff(&text(before), &text(after), LONGEST_DIFF);
        let Key { kind, name, .. } = &fact.key;
        if *kind == "tool_result" && before.is_some() && after.is_some() {
            self.differences.push(ReplayDifference {
                run_id: None,
                conversation_id: Some(fact.conversation.clone()),
                tool_use_id: fact.call.clone(),
                message: format!("tool call {name} said something else"),
                diff,
            });
            return;
        }
        let what = match (before, after) {
            (Some(_), Some(_)) => "is another one",
            (Some(_), None) => "is missing",
            _ => "was not there",
        };
        let kind = if *kind == "end" { ReplayDivergenceKind::Outcome } else { ReplayDivergenceKind::Event };
        self.divergence.get_or_insert_with(|| ReplayDivergence {
            kind,
            run_id: None,
            conversation_id: Some(fact.conversation.clone()),
            index: None,
            message: format!("{} {name} {what}", fact.key.kind.replace('_', " ")),
            diff: Some(diff),
        });
    }
}

/// Gathers what a log says.
#[derive(Default)]
struct Facts {
    all: Vec<Fact>,
    /// How a thread can be known again, by its id.
    threads: HashMap<ConversationId, String>,
    counts: HashMap<(String, &'static str), usize>,
    files: BTreeMap<String, Value>,
}

impl Facts {
    fn of(events: &[Event]) -> Vec<Fact> {
        let mut facts = Self::default();
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
        for (path, value) in std::mem::take(&mut facts.files) {
            facts.add("file", path, &ConversationId::main(), value);
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
        self.all.push(Fact { key, conversation: id.clone(), value: normal(value), call: None });
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
        for block in blocks {
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
                self.add_next("egress_decided", id, json!([host, port, allowed]));
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
                let size = size_bytes.filter(|_| *change != FileChange::Deleted);
                self.files
                    .insert(path.clone(), json!({"there": *change != FileChange::Deleted, "size": size}));
            }
            EventBody::RunCompleted { usage, summary, .. } => {
                self.add("end", String::new(), id, json!(["completed", summary, spent(usage)]));
            }
            EventBody::RunFailed { code, message, usage, .. } => {
                self.add("end", String::new(), id, json!(["failed", code, message, spent(usage)]));
            }
            EventBody::RunInterrupted { usage, .. } => {
                self.add("end", String::new(), id, json!(["interrupted", spent(usage)]));
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
    Value::Object(fields)
}

/// Costs are sums of fractions, and calls end in any order.
fn spent(usage: &Usage) -> Value {
    let micros = (usage.cost_usd * 1e6).round();
    json!([
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        micros
    ])
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
