//! Rollout files, line by line: what there is to tell, in the order in which it happened.
//!
//! Files of today (`history_mode: paginated`) hold every item with its times beside the model's own items; the order of
//! things is by those times, since calls stand in the file before the items that ran at once. Older files hold only the
//! model's items; the oldest hold those without a wrapper, and the very oldest are one JSON document.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use warren_domain::{Content, Timestamp};

use super::{
    calls,
    ids::Scheme,
    item::{Item, Tool, What},
    reported, stored,
    story::TurnOutcome,
    usage::Tokens,
};
use crate::{
    fields::{error_text, list, number, present, seconds, taken, text},
    transcripts::Unread,
};

/// What stands before a message that no person wrote.
const INJECTED: [&str; 9] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<subagent_notification>",
    "<permissions instructions>",
    "<INSTRUCTIONS>",
    "<skill>",
    "<user_shell_command>",
];

/// Lines that say nothing about the conversation.
const SILENT: [&str; 4] = ["world_state", "token_usage_record", "turn_context", "session_state"];

/// Something that happened.
#[derive(Debug)]
pub(super) enum Step {
    TurnBegan(Option<String>, Scheme),
    Began(Item),
    Ended(Item),
    TurnEnded(TurnOutcome),
}

/// One file.
#[derive(Debug, Default)]
pub(super) struct Rollout {
    /// The thread's name.
    pub(super) thread: Option<String>,
    pub(super) steps: Vec<(Timestamp, Step)>,
    pub(super) usage: Option<Tokens>,
    /// The model that was asked last.
    pub(super) model: Option<String>,
}

/// One line that matters.
struct Entry {
    at: Timestamp,
    kind: Kind,
    payload: Value,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Event,
    Response,
    Compacted,
}

impl Rollout {
    /// Reads a file.
    pub(super) fn read(bytes: &[u8], unread: &mut Unread) -> Self {
        let mut reader = Reader::default();
        match whole(bytes) {
            Some(document) => reader.document(document),
            None => {
                for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
                    reader.line(line, unread);
                }
            }
        }
        reader.told()
    }
}

/// The file of the very oldest versions, which is one document.
fn whole(bytes: &[u8]) -> Option<Value> {
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if serde_json::from_slice::<Value>(first).is_ok() {
        return None;
    }
    serde_json::from_slice(bytes).ok().filter(|document: &Value| document.get("items").is_some())
}

#[derive(Default)]
struct Reader {
    meta: Value,
    cwd: String,
    model: Option<String>,
    at: Timestamp,
    entries: Vec<Entry>,
}

impl Reader {
    fn document(&mut self, mut document: Value) {
        self.began(document.get_mut("session").map(Value::take).unwrap_or_default());
        let items = document.get_mut("items").map(Value::take);
        for item in items.as_ref().and_then(Value::as_array).into_iter().flatten() {
            self.push(Kind::Response, item.clone());
        }
    }

    fn line(&mut self, line: &[u8], unread: &mut Unread) {
        let Ok(mut value) = serde_json::from_slice::<Value>(line) else { return unread.note(line) };
        let Some(payload) = taken(&mut value, "payload") else { return self.bare(value, line, unread) };
        self.at = text(&value, "timestamp").and_then(Timestamp::parse).unwrap_or(self.at);
        match text(&value, "type").unwrap_or_default() {
            "session_meta" => self.began(payload),
            "event_msg" => {
                if !is_known_event(text(&payload, "type").unwrap_or_default()) {
                    unread.note(line);
                }
                self.push(Kind::Event, payload);
            }
            "response_item" => {
                if !is_known_response(text(&payload, "type").unwrap_or_default()) {
                    unread.note(line);
                }
                self.push(Kind::Response, payload);
            }
            "compacted" => self.push(Kind::Compacted, payload),
            kind if SILENT.contains(&kind) => {
                self.model = text(&payload, "model").map(str::to_owned).or(self.model.take());
                self.cwd = text(&payload, "cwd").map_or(std::mem::take(&mut self.cwd), str::to_owned);
            }
            _ => unread.note(line),
        }
    }

    /// A line of older files, where items have no wrapper.
    fn bare(&mut self, value: Value, line: &[u8], unread: &mut Unread) {
        match text(&value, "type") {
            Some(kind) => {
                if !is_known_response(kind) {
                    unread.note(line);
                }
                self.push(Kind::Response, value);
            }
            None if value.get("record_type").is_some() => {}
            None if text(&value, "id").is_some() && text(&value, "timestamp").is_some() => self.began(value),
            None => unread.note(line),
        }
    }

    /// The first head of a file is its own; a fork repeats its parent's.
    fn began(&mut self, meta: Value) {
        if self.meta.is_null() {
            self.at = text(&meta, "timestamp").and_then(Timestamp::parse).unwrap_or(self.at);
            self.cwd = text(&meta, "cwd").unwrap_or_default().to_owned();
            self.meta = meta;
        }
    }

    fn push(&mut self, kind: Kind, payload: Value) {
        self.entries.push(Entry { at: self.at, kind, payload });
    }

    fn told(self) -> Rollout {
        let thread = text(&self.meta, "id").map(str::to_owned);
        let teller = Teller::new(&self);
        let (steps, usage) = teller.tell(self.entries);
        Rollout { thread, steps, usage, model: self.model }
    }
}

/// Tells a file's entries as steps.
struct Teller {
    is_paginated: bool,
    is_exec: bool,
    has_user_messages: bool,
    has_turns: bool,
    /// Searches are told about by events, which name them.
    has_searches: bool,
    cwd: String,
    /// Items of calls, by call.
    items: HashMap<String, Item>,
    answers: HashMap<String, Value>,
    /// Calls that were made and not answered yet.
    calls: HashMap<String, Tool>,
    steps: Vec<(u32, Timestamp, Step)>,
    /// Where each turn's steps begin.
    turns: Vec<usize>,
    segment: u32,
    turn: Option<String>,
    in_turn: bool,
    ended_turns: HashSet<String>,
    failure: Option<String>,
    usage: Option<Tokens>,
}

impl Teller {
    /// Looks through the entries for what is told later than it happened.
    fn new(reader: &Reader) -> Self {
        let is_event = |entry: &Entry, kinds: &[&str]| {
            entry.kind == Kind::Event
                && text(&entry.payload, "type").is_some_and(|kind| kinds.contains(&kind))
        };
        let any = |kinds: &[&str]| reader.entries.iter().any(|entry| is_event(entry, kinds));
        let events = reader.entries.iter().filter(|entry| entry.kind == Kind::Event);
        let items = events.filter_map(|entry| stored::item(&entry.payload));
        let responses = reader.entries.iter().filter(|entry| entry.kind == Kind::Response);
        let answers = responses
            .filter(|entry| is_answer(&entry.payload))
            .filter_map(|entry| Some((text(&entry.payload, "call_id")?.to_owned(), entry.payload.clone())));
        Self {
            is_paginated: text(&reader.meta, "history_mode") == Some("paginated") || any(&["item_completed"]),
            is_exec: text(&reader.meta, "source") == Some("exec"),
            has_user_messages: any(&["user_message"]),
            has_turns: any(&["task_started", "turn_started"]),
            has_searches: any(&["web_search_end"]),
            cwd: reader.cwd.clone(),
            items: items.map(|item| (item.id.clone(), item)).collect(),
            answers: answers.collect(),
            calls: HashMap::new(),
            steps: Vec::new(),
            turns: Vec::new(),
            segment: 0,
            turn: None,
            in_turn: false,
            ended_turns: HashSet::new(),
            failure: None,
            usage: None,
        }
    }

    fn tell(mut self, entries: Vec<Entry>) -> (Vec<(Timestamp, Step)>, Option<Tokens>) {
        for (place, entry) in entries.into_iter().enumerate() {
            match entry.kind {
                Kind::Event => self.event(place, &entry),
                Kind::Response => self.response(place, &entry),
                Kind::Compacted if !self.is_paginated => self.compacted(place, &entry),
                Kind::Compacted => {}
            }
        }
        // Stable: what has no time of its own stays where it stood.
        self.steps.sort_by_key(|(segment, at, _)| (*segment, *at));
        (self.steps.into_iter().map(|(_, at, step)| (at, step)).collect(), self.usage)
    }

    fn event(&mut self, place: usize, entry: &Entry) {
        let payload = &entry.payload;
        match text(payload, "type").unwrap_or_default() {
            "task_started" | "turn_started" => self.turn_began(payload, entry.at),
            "task_complete" | "turn_complete" => self.turn_completed(payload, entry.at),
            "turn_aborted" => self.turn_ended(TurnOutcome::Interrupted, payload, entry.at),
            "thread_rolled_back" => self.rolled_back(payload),
            "error" => self.failure = text(payload, "message").map(error_text),
            "user_message" if !self.is_paginated => self.user_message(place, entry),
            "token_count" => {
                let total = payload.pointer("/info/total_token_usage");
                self.usage = total.map(Tokens::read).or(self.usage);
            }
            _ => {
                if let Some(item) = stored::item(payload) {
                    let is_late = match text(payload, "turn_id") {
                        Some(turn) => self.ended_turns.contains(turn),
                        None => !self.in_turn && self.has_turns,
                    };
                    self.item(item, is_late, entry.at);
                }
            }
        }
    }

    /// What was said before was summed up. What the model said to that end is no part of the conversation.
    fn compacted(&mut self, place: usize, entry: &Entry) {
        let summary = text(&entry.payload, "message").unwrap_or_default().trim_end();
        let is_summary = |step: &Step| match step {
            Step::Ended(Item { what: What::Text(said), .. }) => {
                !said.trim().is_empty() && summary.ends_with(said.trim())
            }
            _ => false,
        };
        let is_last =
            |(segment, _, step): &mut (u32, Timestamp, Step)| *segment == self.segment && is_summary(step);
        self.steps.pop_if(is_last);
        self.ended(place, "compaction", entry, What::Compaction);
    }

    fn turn_began(&mut self, payload: &Value, at: Timestamp) {
        self.segment += 1;
        self.in_turn = true;
        self.turn = text(payload, "turn_id").map(str::to_owned);
        let trigger = payload.pointer("/turn_attribution/turn_trigger").and_then(Value::as_str);
        let is_exec = trigger.map_or(self.is_exec, |trigger| trigger == "exec");
        self.begin(is_exec, at);
    }

    /// The last turns were taken back: Codex itself shows them no more.
    fn rolled_back(&mut self, payload: &Value) {
        let n_turns = usize::try_from(number(payload, "num_turns")).unwrap_or(usize::MAX);
        let n_kept = self.turns.len().saturating_sub(n_turns);
        if let Some(begun) = self.turns.get(n_kept) {
            self.steps.truncate(*begun);
            self.turns.truncate(n_kept);
        }
    }

    fn begin(&mut self, is_exec: bool, at: Timestamp) {
        self.turns.push(self.steps.len());
        let scheme = match (is_exec, self.is_paginated) {
            (true, _) => Scheme::Content,
            (false, true) => Scheme::Native,
            (false, false) => Scheme::Order,
        };
        self.push(at, Step::TurnBegan(self.turn.clone(), scheme));
        self.segment += 1;
    }

    fn turn_completed(&mut self, payload: &Value, at: Timestamp) {
        let error = present(payload, "error").and_then(|error| text(error, "message")).map(error_text);
        let outcome = match error.or(self.failure.take()) {
            Some(message) => TurnOutcome::Failed(message),
            None => TurnOutcome::Completed,
        };
        self.turn_ended(outcome, payload, at);
    }

    fn turn_ended(&mut self, outcome: TurnOutcome, payload: &Value, at: Timestamp) {
        self.segment += 1;
        self.in_turn = false;
        self.ended_turns.extend(self.turn.clone());
        self.push(seconds(payload, "completed_at").unwrap_or(at), Step::TurnEnded(outcome));
        self.segment += 1;
    }

    /// An item with its times. One that ended after its turn was cut by it: nobody was told its end.
    fn item(&mut self, item: Item, is_late: bool, at: Timestamp) {
        let (started, completed) = (item.started.unwrap_or(at), item.completed.unwrap_or(at));
        match &item.what {
            What::Tool(_) if is_late => {
                self.items.remove(&item.id);
            }
            What::Tool(tool) => {
                let began = Item { what: What::Tool(Tool { end: None, ..tool.clone() }), ..item.clone() };
                self.push(started, Step::Began(began));
                self.push(completed, Step::Ended(item));
            }
            What::Spawn(_) => self.push(completed, Step::Ended(item)),
            _ => self.push(started, Step::Ended(item)),
        }
    }

    fn user_message(&mut self, place: usize, entry: &Entry) {
        if !self.has_turns {
            self.segment += 1;
            self.begin(self.is_exec, entry.at);
        }
        let said = text(&entry.payload, "message").unwrap_or_default();
        let of = |key: &str, name: &str| -> Vec<Value> {
            list(&entry.payload, key).iter().map(|image| serde_json::json!({name: image})).collect()
        };
        let images = [of("images", "url"), of("local_images", "path")].concat();
        // A picture may stand alone.
        let said = (!said.is_empty() || images.is_empty()).then(|| serde_json::json!({"text": said}));
        let parts: Vec<Value> = said.into_iter().chain(images).collect();
        let content = reported::content(&parts);
        self.ended(place, "user", entry, What::User { client_id: None, content });
    }

    fn response(&mut self, place: usize, entry: &Entry) {
        let payload = &entry.payload;
        match text(payload, "type").unwrap_or_default() {
            "message" if !self.is_paginated => self.message(place, entry),
            "reasoning" if !self.is_paginated => {
                let texts = |key| -> Vec<String> {
                    list(payload, key)
                        .iter()
                        .filter_map(|part| text(part, "text"))
                        .map(str::to_owned)
                        .collect()
                };
                let what = What::Thinking(reported::thinking(&texts("summary"), &texts("content")));
                self.ended(place, "thinking", entry, what);
            }
            _ => {
                if let Some((id, tool)) = calls::call(payload, &self.cwd) {
                    self.call(id, tool, entry.at);
                } else if text(payload, "type") == Some("web_search_call") && !self.has_searches {
                    let search = What::Tool(reported::web_search(payload, text(payload, "status")));
                    self.ended(place, "search", entry, search);
                } else if is_answer(payload) {
                    self.answer(payload, entry.at);
                }
            }
        }
    }

    fn message(&mut self, place: usize, entry: &Entry) {
        let parts = list(&entry.payload, "content");
        let said: String = parts.iter().filter_map(|part| text(part, "text")).collect();
        match text(&entry.payload, "role").unwrap_or_default() {
            "assistant" => self.ended(place, "text", entry, What::Text(said)),
            "user" if !self.has_user_messages && !is_injected(&said) => {
                if !self.has_turns {
                    self.segment += 1;
                    self.begin(self.is_exec, entry.at);
                }
                let content = if parts.len() > 1 { reported::content(parts) } else { Content::Text(said) };
                self.ended(place, "user", entry, What::User { client_id: None, content });
            }
            _ => {}
        }
    }

    /// A call that no item tells about, or whose item came too late.
    fn call(&mut self, id: String, tool: Tool, at: Timestamp) {
        let item = self.items.get(&id);
        if item.is_some_and(|item| matches!(item.what, What::Spawn(_))) {
            return;
        }
        let started = item.and_then(|item| item.started);
        let tool = match (item.map(|item| &item.what), self.answers.get(&id)) {
            (Some(What::Tool(told)), _) => Tool { end: None, ..told.clone() },
            (_, Some(answer)) if calls::is_untold(answer) => {
                Tool { key: format!("untold\0{}", tool.key), ..tool }
            }
            _ => tool,
        };
        if let (Some(answer), true) = (self.answers.get(&id), tool.is_plan) {
            let end = calls::end(&tool, answer);
            if end.output.is_none() {
                return self.plan(Tool { end: Some(end), ..tool }, at);
            }
        }
        let tool = Tool { is_plan: false, ..tool };
        let step = if tool.end.is_some() { Step::Ended } else { Step::Began };
        self.calls.insert(id.clone(), tool.clone());
        let what = What::Tool(tool);
        self.push(started.unwrap_or(at), step(Item { id, started, completed: None, what }));
    }

    /// The plan, of which there is one in a turn.
    fn plan(&mut self, tool: Tool, at: Timestamp) {
        let what = What::Tool(tool);
        self.push(at, Step::Ended(Item { id: "plan".to_owned(), started: None, completed: None, what }));
    }

    fn answer(&mut self, answer: &Value, at: Timestamp) {
        let Some(id) = text(answer, "call_id") else { return };
        if self.items.contains_key(id) {
            return;
        }
        let (id, answer) = (id.to_owned(), calls::modern(answer).unwrap_or_else(|| answer.clone()));
        let Some(tool) = self.calls.remove(&id) else { return };
        let end = Some(calls::end(&tool, &answer));
        let item = Item { id, started: None, completed: None, what: What::Tool(Tool { end, ..tool }) };
        self.push(at, Step::Ended(item));
    }

    fn ended(&mut self, place: usize, kind: &str, entry: &Entry, what: What) {
        let id = text(&entry.payload, "id").map_or_else(|| format!("{kind}-{place}"), str::to_owned);
        self.push(entry.at, Step::Ended(Item { id, started: None, completed: None, what }));
    }

    fn push(&mut self, at: Timestamp, step: Step) {
        self.steps.push((self.segment, at, step));
    }
}

/// Whether an event tells something that is shown, or is known to tell nothing that is not told elsewhere too.
fn is_known_event(kind: &str) -> bool {
    const KNOWN: &str = "agent_message agent_message_content_delta agent_message_delta agent_reasoning \
        agent_reasoning_delta agent_reasoning_raw_content agent_reasoning_raw_content_delta \
        agent_reasoning_section_break apply_patch_approval_request background_event context_compacted \
        deprecation_notice elicitation_request entered_review_mode error exec_approval_request \
        exec_command_begin exec_command_end exec_command_output_delta exited_review_mode hook_completed \
        hook_started image_generation_begin image_generation_end item_completed item_started item_updated \
        mcp_startup_complete mcp_startup_update mcp_tool_call_begin mcp_tool_call_end model_reroute \
        model_verification patch_apply_begin patch_apply_end patch_apply_updated plan_delta plan_update \
        raw_response_item reasoning_content_delta reasoning_raw_content_delta request_permissions \
        request_user_input session_configured shutdown_complete skills_update_available stream_error \
        task_complete task_started terminal_interaction thread_goal_updated thread_name_updated \
        thread_rolled_back thread_settings_applied token_count turn_aborted turn_complete turn_diff \
        turn_started undo_completed undo_started user_message view_image_tool_call warning web_search_begin \
        web_search_end";
    let is_of = |topic: &str| kind.starts_with(topic);
    KNOWN.split_whitespace().any(|known| known == kind)
        || ["collab_", "sub_agent_", "dynamic_tool_call_", "guardian_", "realtime_"].into_iter().any(is_of)
}

/// The same for what the model said, or was told.
fn is_known_response(kind: &str) -> bool {
    let is_other = matches!(
        kind,
        "message"
            | "reasoning"
            | "ghost_snapshot"
            | "compaction"
            | "compaction_summary"
            | "context_compaction"
    );
    is_other || kind.ends_with("_call") || kind.ends_with("_output")
}

fn is_answer(item: &Value) -> bool {
    text(item, "type").is_some_and(|kind| kind.ends_with("_output"))
}

fn is_injected(said: &str) -> bool {
    INJECTED.iter().any(|head| said.trim_start().starts_with(head))
}

/// The thread that a rollout is of.
pub(super) fn thread(rollout: &[u8]) -> Option<String> {
    let first = rollout.split(|byte| *byte == b'\n').next()?;
    let line: serde_json::Value = serde_json::from_slice(first).ok()?;
    let id = line.pointer("/payload/id").or_else(|| line.get("id"))?;
    id.as_str().map(str::to_owned)
}
