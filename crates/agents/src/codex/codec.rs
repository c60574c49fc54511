//! The app server's conversation, and what was recorded of it or of `exec --json`.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};
use warren_domain::{
    AgentType, ApprovalDecision, ApprovalKind, Block, Content, Draft, ErrorCode, EventBody, PermissionMode,
    Timestamp,
};

use super::{
    ask::{Pending, input},
    ids::Scheme,
    item::{Item, Tool, What, snake},
    notices::{attempt, code, growing, is_silent},
    printed, reported,
    story::{Story, TurnOutcome},
    usage::Tokens,
};
use crate::{
    Answer, Codec, Exit, Output, Prompt, TurnEnd,
    fields::{error_text, list, millis, present, seconds, text},
    rpc::{self, Message, Requests, Speaker},
};

/// What a request of ours was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Initialize,
    Thread,
    Turn,
    Steer,
    Interrupt,
}

/// What a run begins with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// `thread/start` or `thread/resume`.
    pub(super) method: &'static str,
    /// Its parameters.
    pub(super) params: Value,
    pub(super) permission_mode: PermissionMode,
    /// Servers whose tools the first turn must have: Codex starts them beside the thread and does not wait.
    pub(super) mcp_servers: HashSet<String>,
}

pub(super) struct CodexCodec {
    pub(super) agent: AgentType,
    /// `None`: a recording, to which nobody answers.
    plan: Option<Plan>,
    requests: Requests<Purpose>,
    pub(super) story: Story,
    prompt: Option<Prompt>,
    turn: Option<String>,
    /// The thread, while its turn waits for MCP servers.
    opened: Option<String>,
    /// MCP servers that neither started nor failed yet.
    starting: HashSet<String>,
    asked: HashMap<String, Pending>,
    /// What the thread had spent before this run.
    spent_before: Option<Tokens>,
    pub(super) model: Option<String>,
    interrupting: bool,
    /// The last thing that was told of an item is that it was a compaction.
    has_compaction: bool,
    pub(super) has_ended: bool,
    /// Calls that an old version told of and that have no end yet, how much it told, and whether it is at work.
    pub(super) legacy_calls: HashMap<String, Tool>,
    pub(super) n_legacy: u64,
    pub(super) in_legacy_turn: bool,
}

impl CodexCodec {
    pub(super) fn new(agent: AgentType, plan: Option<Plan>) -> Self {
        let starting = plan.as_ref().map(|plan| plan.mcp_servers.clone()).unwrap_or_default();
        Self {
            agent,
            plan,
            opened: None,
            starting,
            requests: Requests::default(),
            story: Story::default(),
            prompt: None,
            turn: None,
            asked: HashMap::new(),
            spent_before: None,
            model: None,
            interrupting: false,
            has_compaction: false,
            has_ended: false,
            legacy_calls: HashMap::new(),
            n_legacy: 0,
            in_legacy_turn: false,
        }
    }

    fn is_live(&self) -> bool {
        self.plan.is_some()
    }

    /// A line of JSON. `false`: nobody understands it.
    fn read(&mut self, speaker: Speaker, value: Value, at: Timestamp, out: &mut Vec<Output>) -> bool {
        match speaker {
            Speaker::Other => return true,
            Speaker::Client => return self.overheard(value),
            Speaker::Agent => {}
        }
        if value.get("method").is_none() && text(&value, "type").is_some() {
            return self.printed(&value, at, out);
        }
        if let (None, Some(understood)) = (value.get("method"), self.legacy(&value, at, out)) {
            return understood;
        }
        let at = millis(&value, "emittedAtMs").unwrap_or(at);
        match Message::read(value) {
            Some(Message::Notification { method, params }) => self.told(&method, &params, at, out),
            Some(Message::Request { id, method, params }) => {
                self.asks(id, method, params, out);
                true
            }
            Some(Message::Response { id, result }) => {
                self.answered(&id, result, at, out);
                true
            }
            None => false,
        }
    }

    /// What a client said, in a recording.
    fn overheard(&mut self, value: Value) -> bool {
        match Message::read(value) {
            Some(Message::Request { id, method, .. }) => {
                let purpose = match method.as_str() {
                    "thread/start" | "thread/resume" => Purpose::Thread,
                    "turn/start" => Purpose::Turn,
                    "turn/interrupt" => Purpose::Interrupt,
                    _ => return true,
                };
                self.interrupting |= purpose == Purpose::Interrupt;
                self.requests.overheard(&id, purpose);
            }
            Some(Message::Response { id, .. }) => {
                self.asked.remove(&rpc::key(&id));
            }
            Some(Message::Notification { .. }) => {}
            None => return false,
        }
        true
    }

    fn answered(
        &mut self,
        id: &Value,
        result: Result<Value, rpc::Failure>,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        match (self.requests.answered(id), result) {
            (Some(Purpose::Initialize), Ok(_)) => self.open_thread(out),
            (Some(Purpose::Thread), Ok(result)) => self.opened(&result, out),
            (Some(Purpose::Initialize | Purpose::Thread | Purpose::Turn), Err(failure)) => {
                self.repeat_prompt(at, out);
                self.fail(ErrorCode::AgentError, error_text(&failure.message), out);
            }
            _ => {}
        }
    }

    fn open_thread(&mut self, out: &mut Vec<Output>) {
        let Some(plan) = &self.plan else { return };
        out.push(rpc::notification("initialized", &json!({})));
        out.push(self.requests.request(Purpose::Thread, plan.method, &plan.params));
    }

    /// The thread is there: the turn can begin.
    fn opened(&mut self, result: &Value, out: &mut Vec<Output>) {
        let thread = result.get("thread").unwrap_or(&Value::Null);
        let Some(id) = text(thread, "id") else { return };
        self.know_thread(thread);
        self.model = text(result, "model").map(str::to_owned).or(self.model.take());
        if self.is_live() {
            out.push(Output::State(json!({"threadId": id})));
            self.opened = Some(id.to_owned());
            self.start_turn(out);
        }
    }

    /// Begins the turn once everything it needs is there.
    fn start_turn(&mut self, out: &mut Vec<Output>) {
        let Some(prompt) = self.prompt.as_ref().filter(|_| self.starting.is_empty()) else { return };
        let Some(id) = self.opened.take() else { return };
        let input = input(&prompt.content);
        let params = json!({"threadId": id, "clientUserMessageId": prompt.message, "input": input});
        out.push(self.requests.request(Purpose::Turn, "turn/start", &params));
    }

    /// Which thread it is, and whether its rollout will name things as the stream does.
    fn know_thread(&mut self, thread: &Value) {
        let id = text(thread, "id").map(str::to_owned);
        let is_main = text(thread, "parentThreadId").is_none();
        if is_main && self.story.main.is_none() {
            self.story.main = id;
            let mode = text(thread, "historyMode");
            self.story.scheme = if mode == Some("paginated") { Scheme::Native } else { Scheme::Order };
        }
    }

    fn asks(&mut self, id: Value, method: String, params: Value, out: &mut Vec<Output>) {
        let Some(pending) = Pending::new(id.clone(), method.clone(), params) else {
            if self.is_live() {
                out.push(rpc::refusal(&id, &method));
            }
            return;
        };
        let (thread, item) = pending.about();
        let call = thread.zip(item).and_then(|(thread, item)| self.story.input_of(thread, item));
        let ask = pending.ask(call);
        let is_permission = ask.kind == ApprovalKind::Permission;
        let is_auto = self.plan.as_ref().is_some_and(|plan| plan.permission_mode == PermissionMode::Auto);
        if is_permission && is_auto {
            let yes = Answer { decision: ApprovalDecision::Allow, message: None, answers: None };
            out.push(rpc::response(&pending.id, &pending.answer(&yes)));
            return;
        }
        self.asked.insert(ask.key.clone(), pending);
        out.push(Output::Asked(ask));
    }

    /// Says why a person said no: the answer itself has no place for words, but the turn goes on and listens.
    fn tell_reason(&mut self, pending: &Pending, answer: &Answer, out: &mut Vec<Output>) {
        let (thread, item) = pending.about();
        let is_main = thread.is_none() || thread == self.story.main.as_deref();
        let Some(said) = pending.reason(answer).filter(|_| is_main) else { return };
        let (Some(thread), Some(turn)) = (&self.story.main, &self.turn) else { return };
        let message = format!("{}-reason", item.unwrap_or(turn));
        let params = json!({
            "threadId": thread, "expectedTurnId": turn, "clientUserMessageId": message,
            "input": input(&Content::Text(said)),
        });
        out.push(self.requests.request(Purpose::Steer, "turn/steer", &params));
    }

    /// A notification. `false`: nobody knows it.
    fn told(&mut self, method: &str, params: &Value, at: Timestamp, out: &mut Vec<Output>) -> bool {
        let thread = text(params, "threadId").unwrap_or_default().to_owned();
        let mut drafts = Vec::new();
        match method {
            "thread/started" => self.know_thread(params.get("thread").unwrap_or(&Value::Null)),
            "turn/started" => {
                self.turn_started(&thread, params, at, &mut drafts);
                // Somebody was faster than the turn.
                if self.interrupting && self.is_live() {
                    self.interrupt(out);
                }
            }
            "item/started" | "item/completed" => self.item(method, &thread, params, at, &mut drafts),
            "turn/plan/updated" => self.planned(&thread, params, at, &mut drafts),
            // Some versions tell of it as of an item, and then again.
            "thread/compacted" if std::mem::take(&mut self.has_compaction) => {}
            "thread/compacted" if self.story.scheme != Scheme::Native => {
                let what = What::Compaction;
                let id = format!("compaction-{}", at.as_millis());
                let item = Item { id, started: None, completed: None, what };
                self.story.ended(&thread, &item, at, &mut drafts);
            }
            "thread/tokenUsage/updated" => drafts.extend(self.spent(&thread, params)),
            "error" => self.erred(&thread, params, at, &mut drafts),
            "warning" | "guardianWarning" if !thread.is_empty() => {
                self.story.warned(&thread, text(params, "message").unwrap_or_default(), at, &mut drafts);
            }
            "mcpServer/startupStatus/updated" if text(params, "status") != Some("starting") => {
                self.starting.remove(text(params, "name").unwrap_or_default());
                self.start_turn(out);
            }
            "model/rerouted" => self.model = text(params, "toModel").map(str::to_owned),
            "serverRequest/resolved" => self.resolved(params, out),
            "turn/completed" => return self.turn_completed(&thread, params, at, out),
            _ => {
                let Some(growing) = growing(method, params) else { return is_silent(method) };
                let item = text(params, "itemId").unwrap_or_default();
                let delta = text(params, "delta").unwrap_or_default();
                self.story.grew((&thread, item), growing, delta, at, &mut drafts);
            }
        }
        out.extend(drafts.into_iter().map(Output::Event));
        true
    }

    fn turn_started(&mut self, thread: &str, params: &Value, at: Timestamp, out: &mut Vec<Draft>) {
        let turn = params.get("turn").and_then(|turn| text(turn, "id"));
        self.story.turn_began(thread, turn, at, out);
        if self.story.main.as_deref() == Some(thread) {
            self.turn = turn.map(str::to_owned);
        }
    }

    fn item(&mut self, method: &str, thread: &str, params: &Value, at: Timestamp, out: &mut Vec<Draft>) {
        let Some(mut item) = params.get("item").and_then(reported::item) else { return };
        item.started = item.started.or(millis(params, "startedAtMs"));
        // Some versions tell of a turn after what it begins with.
        if let (What::User { .. } | What::Compaction, Some(turn)) = (&item.what, text(params, "turnId")) {
            self.story.in_turn(thread, turn, at, out);
            self.has_compaction = matches!(item.what, What::Compaction);
        }
        if method == "item/started" {
            return self.story.began(thread, &item, at, out);
        }
        item.completed = item.completed.or(millis(params, "completedAtMs"));
        self.taken_up(&item);
        self.story.ended(thread, &item, at, out);
    }

    /// The agent repeats the prompt: its block need not be made.
    fn taken_up(&mut self, item: &Item) {
        let What::User { client_id: Some(id), .. } = &item.what else { return };
        if self.prompt.as_ref().is_some_and(|prompt| prompt.message.as_str() == id) {
            self.prompt = None;
        }
    }

    fn planned(&mut self, thread: &str, params: &Value, at: Timestamp, out: &mut Vec<Draft>) {
        let step = |step: &Value| {
            let status = snake(text(step, "status").unwrap_or("pending"));
            json!({"step": text(step, "step").unwrap_or_default(), "status": status})
        };
        let tool = printed::plan(list(params, "plan").iter().map(step).collect());
        let item = Item { id: "plan".to_owned(), started: None, completed: None, what: What::Tool(tool) };
        self.story.ended(thread, &item, at, out);
    }

    /// Usage counts for the run: the thread's own sum goes on from runs before.
    fn spent(&mut self, thread: &str, params: &Value) -> Option<Draft> {
        if self.story.main.as_deref() != Some(thread) {
            return None;
        }
        let usage = params.get("tokenUsage")?;
        let (total, last) = (reported::tokens(usage.get("total")?), reported::tokens(usage.get("last")?));
        let before = *self.spent_before.get_or_insert(total.since(last));
        Some(self.metadata(total.since(before), Some(last.context())))
    }

    pub(super) fn metadata(&self, tokens: Tokens, context_tokens: Option<u64>) -> Draft {
        Draft::of_session(EventBody::MetadataUpdate {
            usage: tokens.usage(self.model.as_deref()),
            cost_usd: 0.0,
            model: self.model.clone(),
            context_tokens,
        })
    }

    /// An error that Codex gets over; the last one comes again with the turn's end.
    fn erred(&mut self, thread: &str, params: &Value, at: Timestamp, out: &mut Vec<Draft>) {
        if params.get("willRetry").and_then(Value::as_bool) != Some(true) {
            return;
        }
        let error = params.get("error").unwrap_or(&Value::Null);
        let message = text(error, "message").unwrap_or_default();
        let reason = text(error, "additionalDetails").unwrap_or(message);
        let scribe = self.story.thread(thread, at, out);
        scribe.abandon(reason, out);
        let body =
            EventBody::Retrying { attempt: attempt(message), reason: reason.to_owned(), next_at: None };
        out.push(scribe.draft(body));
    }

    fn resolved(&mut self, params: &Value, out: &mut Vec<Output>) {
        let key = params.get("requestId").map(rpc::key).unwrap_or_default();
        if self.asked.remove(&key).is_some() {
            out.push(Output::Withdrawn(key));
        }
    }

    fn turn_completed(&mut self, thread: &str, params: &Value, at: Timestamp, out: &mut Vec<Output>) -> bool {
        let turn = params.get("turn").unwrap_or(&Value::Null);
        let error = present(turn, "error");
        let message = error.and_then(|error| text(error, "message")).map(error_text);
        let outcome = match (text(turn, "status").unwrap_or("completed"), message) {
            ("interrupted", _) => TurnOutcome::Interrupted,
            ("failed", _) if self.interrupting => TurnOutcome::Interrupted,
            ("failed", message) => {
                TurnOutcome::Failed(message.unwrap_or_else(|| "the turn failed".to_owned()))
            }
            _ => TurnOutcome::Completed,
        };
        let is_main = self.story.main.as_deref().is_none_or(|main| main == thread);
        if is_main {
            self.repeat_prompt(at, out);
        }
        let mut drafts = Vec::new();
        let at = seconds(turn, "completedAt").unwrap_or(at);
        self.story.turn_ended(thread, &outcome, at, &mut drafts);
        out.extend(drafts.into_iter().map(Output::Event));
        if is_main {
            self.turn = None;
            let info = error.and_then(|error| error.get("codexErrorInfo"));
            self.end(outcome, code(info), out);
        }
        true
    }

    pub(super) fn end(&mut self, outcome: TurnOutcome, code: ErrorCode, out: &mut Vec<Output>) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        let main = self.story.main.clone().unwrap_or_default();
        out.push(Output::TurnEnded(match outcome {
            TurnOutcome::Completed => TurnEnd::Completed { summary: self.story.last_text(&main) },
            TurnOutcome::Interrupted => TurnEnd::Interrupted,
            TurnOutcome::Failed(message) => TurnEnd::Failed { code, message, recoverable: true },
        }));
    }

    fn fail(&mut self, code: ErrorCode, message: String, out: &mut Vec<Output>) {
        let outcome = if self.interrupting { TurnOutcome::Interrupted } else { TurnOutcome::Failed(message) };
        self.end(outcome, code, out);
    }

    /// The prompt becomes a block even if the agent never came to repeat it.
    fn repeat_prompt(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        if let Some(Prompt { message, content }) = self.prompt.take() {
            let block = Block::UserMessage { id: message, timestamp: at, content };
            out.push(Output::Event(Draft::of_session(EventBody::BlockComplete { block })));
        }
    }
}

impl Codec for CodexCodec {
    fn decode(&mut self, line: &[u8], at: Timestamp, out: &mut Vec<Output>) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let understood = match rpc::line(line) {
            Some((speaker, value)) => self.read(speaker, value, at, out),
            None => false,
        };
        if !understood {
            let raw = String::from_utf8_lossy(line).into_owned();
            let body = EventBody::Unrecognized { agent: self.agent.clone(), raw };
            out.push(Output::Event(Draft::of_session(body)));
        }
    }

    fn begin(&mut self, prompt: &Prompt, _at: Timestamp, out: &mut Vec<Output>) {
        self.prompt = Some(prompt.clone());
        if self.is_live() {
            let client = json!({"name": "warren", "title": "Warren", "version": env!("CARGO_PKG_VERSION")});
            let params = json!({"clientInfo": client, "capabilities": {"experimentalApi": true}});
            out.push(self.requests.request(Purpose::Initialize, "initialize", &params));
        }
    }

    fn interrupt(&mut self, out: &mut Vec<Output>) -> bool {
        self.interrupting = true;
        if let (Some(thread), Some(turn)) = (&self.story.main, &self.turn) {
            let params = json!({"threadId": thread, "turnId": turn});
            out.push(self.requests.request(Purpose::Interrupt, "turn/interrupt", &params));
        }
        true
    }

    fn steer(&mut self, prompt: &Prompt, _at: Timestamp, out: &mut Vec<Output>) -> bool {
        let (Some(thread), Some(turn)) = (&self.story.main, &self.turn) else { return false };
        let params = json!({
            "threadId": thread, "expectedTurnId": turn, "clientUserMessageId": prompt.message,
            "input": input(&prompt.content),
        });
        out.push(self.requests.request(Purpose::Steer, "turn/steer", &params));
        true
    }

    fn answer(&mut self, key: &str, answer: &Answer, _at: Timestamp, out: &mut Vec<Output>) -> bool {
        let Some(pending) = self.asked.remove(key) else { return false };
        out.push(rpc::response(&pending.id, &pending.answer(answer)));
        self.tell_reason(&pending, answer, out);
        true
    }

    fn ended(&mut self, exit: &Exit, at: Timestamp, out: &mut Vec<Output>) {
        if !self.has_ended {
            self.repeat_prompt(at, out);
            let message = format!("the agent exited before it finished ({exit})");
            self.fail(ErrorCode::AgentError, message, out);
        }
    }
}
