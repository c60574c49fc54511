//! The client's side of a conversation, and what was recorded of one.

use std::collections::HashMap;

use serde_json::{Value, json};
use warren_domain::{
    AgentType, ApprovalDecision, Content, ConversationId, Draft, ErrorCode, EventBody, PermissionMode,
    Timestamp, Usage,
};

use super::{
    ask::Pending,
    overheard::is_clients,
    thread::{Kind, Thread},
};
use crate::{
    Answer, Codec, Exit, Output, Prompt, TurnEnd,
    fields::{number, present, text},
    rpc::{self, Failure, Message, Requests, Speaker},
    subagent,
};

/// What an agent answers who must be signed in to first.
const AUTH_REQUIRED: i64 = -32000;

/// What a run begins with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    pub(super) workspace: String,
    /// MCP servers in the protocol's form.
    pub(super) mcp_servers: Vec<Value>,
    pub(super) permission_mode: PermissionMode,
    pub(super) model: Option<String>,
    /// Goes with the first prompt of a session.
    pub(super) instructions: Option<String>,
    /// The session there was before.
    pub(super) known: Option<String>,
    /// How many prompts it had.
    pub(super) n_prompts: u64,
}

/// What a request of ours was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Initialize,
    SignIn,
    New,
    /// The session is taken up again, with or without its past being told.
    Load,
    Resume,
    /// Tells that everything before it was answered.
    Settle,
    Set,
    /// The mode in which it asks is set: without it there is no prompt.
    SetAsking,
    Prompt,
}

/// Whether what the agent says is told again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replay {
    No,
    /// The past is being told: all of it is known.
    Running,
    /// The past was told, but the agent may not have been done with it.
    Straggling,
}

pub(super) struct AcpCodec {
    pub(super) agent: AgentType,
    /// `None`: a recording, to which nobody answers.
    pub(super) plan: Option<Plan>,
    pub(super) requests: Requests<Purpose>,
    /// What the agent can do.
    pub(super) initialized: Value,
    /// The session's name at the agent.
    pub(super) main: Option<String>,
    pub(super) threads: HashMap<String, Thread>,
    pub(super) n_prompts: u64,
    pub(super) prompt: Option<Prompt>,
    /// The prompt once more, for an agent that finds only then that it has forgotten the session.
    pub(super) again: Option<Prompt>,
    pub(super) has_prompted: bool,
    /// What is set before the prompt.
    pub(super) settings: Vec<(Purpose, &'static str, Value)>,
    /// Why there is to be no prompt.
    pub(super) refusal: Option<String>,
    /// What a person should know of a new session.
    pub(super) notes: Vec<String>,
    /// Where that is said.
    pub(super) notice: Option<Thread>,
    pub(super) is_new: bool,
    pub(super) has_signed_in: bool,
    pub(super) replay: Replay,
    /// What came since it seemed that the past is told again, until that is certain.
    pub(super) held: Option<Vec<Draft>>,
    pub(super) asked: HashMap<String, Pending>,
    /// Why people said no, until it is said.
    pub(super) reasons: Vec<String>,
    pub(super) usage: Option<Usage>,
    pub(super) cost_usd: f64,
    pub(super) context_tokens: Option<u64>,
    pub(super) interrupting: bool,
    pub(super) has_ended: bool,
}

impl AcpCodec {
    pub(super) fn new(agent: AgentType, plan: Option<Plan>) -> Self {
        Self {
            agent,
            n_prompts: plan.as_ref().map_or(0, |plan| plan.n_prompts),
            plan,
            requests: Requests::default(),
            initialized: Value::Null,
            main: None,
            threads: HashMap::new(),
            prompt: None,
            again: None,
            has_prompted: false,
            settings: Vec::new(),
            refusal: None,
            notes: Vec::new(),
            notice: None,
            is_new: false,
            has_signed_in: false,
            replay: Replay::No,
            held: None,
            asked: HashMap::new(),
            reasons: Vec::new(),
            usage: None,
            cost_usd: 0.0,
            context_tokens: None,
            interrupting: false,
            has_ended: false,
        }
    }

    /// What was spent so far, as far as the agent says.
    pub(super) fn spent(&self) -> Option<&Usage> {
        self.usage.as_ref()
    }

    /// Reads a line. `false`: nobody understands it.
    pub(super) fn read(&mut self, line: &[u8], at: Timestamp, out: &mut Vec<Output>) -> bool {
        let Some((speaker, value)) = rpc::line(line) else { return false };
        match speaker {
            Speaker::Other => true,
            Speaker::Client => self.overheard(value, at, out),
            Speaker::Agent => match Message::read(value) {
                Some(Message::Notification { method, params }) => self.told(&method, &params, at, out),
                Some(Message::Request { id, method, params }) => {
                    // A log without directions holds what the client said too.
                    if self.plan.is_none() && is_clients(&method) {
                        self.overheard_request(&id, &method, &params, at, out);
                    } else {
                        self.asks(id, &method, &params, at, out);
                    }
                    true
                }
                Some(Message::Response { id, result }) => {
                    self.answered(&id, result, at, out);
                    true
                }
                None => false,
            },
        }
    }

    fn answered(&mut self, id: &Value, result: Result<Value, Failure>, at: Timestamp, out: &mut Vec<Output>) {
        let Some(purpose) = self.requests.answered(id) else { return };
        match (purpose, result) {
            (Purpose::Initialize, Ok(result)) => {
                self.initialized = result;
                self.open(out);
            }
            (Purpose::SignIn, Ok(_)) => self.open(out),
            (Purpose::New, Ok(result)) => self.opened(&result, true),
            (Purpose::Resume, Ok(result)) => self.opened(&result, false),
            (Purpose::Load, Ok(result)) => self.loaded(&result, out),
            (Purpose::Settle, _) => {
                self.replay = Replay::No;
                self.go_on(at, out);
            }
            (Purpose::SetAsking, Err(failure)) => self.cannot_ask(&failure, at, out),
            (Purpose::Set | Purpose::SetAsking, _) => self.go_on(at, out),
            (Purpose::Prompt, result) => self.prompt_answered(result, at, out),
            (Purpose::New, Err(failure)) if failure.code == AUTH_REQUIRED => self.sign_in(&failure, at, out),
            (Purpose::Load | Purpose::Resume, Err(failure)) => self.begin_anew(&failure, at, out),
            (Purpose::Initialize | Purpose::SignIn | Purpose::New, Err(failure)) => {
                self.fail(ErrorCode::AgentError, failure.message, at, out);
            }
        }
        if !self.is_live() || self.has_ended {
            return;
        }
        if matches!(purpose, Purpose::New | Purpose::Resume) && self.main.is_some() {
            self.go_on(at, out);
        }
    }

    pub(super) fn is_live(&self) -> bool {
        self.plan.is_some()
    }

    pub(super) fn prompted(
        &mut self,
        prompt: Option<Prompt>,
        content: Content,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        let is_live = self.is_live();
        if std::mem::replace(&mut self.has_prompted, is_live) {
            return;
        }
        self.n_prompts += 1;
        let n_prompts = self.n_prompts;
        let mut drafts = Vec::new();
        let thread = self.main_thread();
        thread.n_prompts = n_prompts;
        thread.prompted(prompt.map(|prompt| prompt.message), content, at, &mut drafts);
        out.extend(drafts.into_iter().map(Output::Event));
    }

    pub(super) fn main_thread(&mut self) -> &mut Thread {
        let main = self.main.clone().unwrap_or_default();
        let n_prompts = self.n_prompts;
        self.threads.entry(main).or_insert_with(|| Thread::new(ConversationId::main(), n_prompts))
    }

    /// The thread of a session. One that nobody opened is a subagent's.
    fn thread(&mut self, session: &str, at: Timestamp, out: &mut Vec<Draft>) -> &mut Thread {
        if self.main.get_or_insert_with(|| session.to_owned()) == session {
            return self.main_thread();
        }
        self.threads.entry(session.to_owned()).or_insert_with(|| {
            let thread = ConversationId(session.to_owned()).bounded();
            let opened = subagent::Thread { id: thread.clone(), name: None };
            out.extend(opened.opened("", None, ConversationId::main(), at));
            Thread::new(thread, 1)
        })
    }

    fn asks(&mut self, id: Value, method: &str, params: &Value, at: Timestamp, out: &mut Vec<Output>) {
        if method != "session/request_permission" {
            // Files and terminals were not offered, and the agent has its own.
            if self.is_live() {
                out.push(rpc::refusal(&id, method));
            }
            return;
        }
        let mut pending = Pending::new(id, params);
        let call = params.get("toolCall").unwrap_or(&Value::Null);
        let session = text(params, "sessionId").unwrap_or_default().to_owned();
        let mut drafts = Vec::new();
        let known = self.thread(&session, at, &mut drafts).asked_about(call, at, &mut drafts);
        let (name, input) = known.map_or(("tool", &Value::Null), |known| (known.name(), known.input()));
        let (name, input) = (name.to_owned(), present(call, "rawInput").unwrap_or(input).clone());
        out.extend(drafts.into_iter().map(Output::Event));
        let is_auto = self.plan.as_ref().is_some_and(|plan| plan.permission_mode == PermissionMode::Auto);
        if is_auto {
            out.push(rpc::response(&pending.id, &pending.answer(ApprovalDecision::Allow)));
            return;
        }
        let ask = pending.ask(call, &name, &input);
        pending.title.clone_from(&ask.title);
        out.push(Output::Asked(ask));
        self.asked.insert(pending.key(), pending);
    }

    /// A notification. `false`: nobody knows it.
    fn told(&mut self, method: &str, params: &Value, at: Timestamp, out: &mut Vec<Output>) -> bool {
        if method == "session/cancel" && !self.is_live() {
            self.interrupting = true;
            return true;
        }
        let (true, Some(update)) = (method == "session/update", params.get("update")) else {
            // What begins so is an agent's own affair.
            return method.starts_with('_');
        };
        let kind = text(update, "sessionUpdate").unwrap_or_default();
        let session = text(params, "sessionId").unwrap_or_default().to_owned();
        if self.is_told_again(kind) {
            return true;
        }
        let mut drafts = Vec::new();
        let known = self.updated(&session, kind, update, at, &mut drafts);
        match &mut self.held {
            Some(held) => held.extend(drafts),
            None => out.extend(drafts.into_iter().map(Output::Event)),
        }
        known
    }

    /// Whether an update only tells the past. After the past was told, what a person said can only be the past again,
    /// and with it what follows until the agent says what it can do.
    fn is_told_again(&mut self, kind: &str) -> bool {
        match (self.replay, kind) {
            (Replay::Running, _) => true,
            (Replay::Straggling, "available_commands_update") => {
                self.replay = Replay::No;
                if self.held.take().is_some() {
                    *self.main_thread() = Thread::new(ConversationId::main(), self.n_prompts);
                }
                true
            }
            (Replay::Straggling, "user_message_chunk") => {
                self.held = Some(Vec::new());
                true
            }
            _ => false,
        }
    }

    fn updated(
        &mut self,
        session: &str,
        kind: &str,
        update: &Value,
        at: Timestamp,
        out: &mut Vec<Draft>,
    ) -> bool {
        match kind {
            // Gemini tells of a mode that was set as if it said so.
            "agent_message_chunk" if is_notice(update) => {}
            "agent_message_chunk" => self.thread(session, at, out).wrote(Kind::Text, update, at, out),
            "agent_thought_chunk" => self.thread(session, at, out).wrote(Kind::Thinking, update, at, out),
            "tool_call" | "tool_call_update" => {
                return self.thread(session, at, out).called(update, at, out).is_some();
            }
            "plan" => self.thread(session, at, out).planned(update, at, out),
            // The same in a later version of the protocol, which has plans that are texts, too.
            "plan_update" => {
                let plan = update.get("plan").unwrap_or(update);
                let entries = text(plan, "content").map(|words| json!({"entries": [{"content": words}]}));
                self.thread(session, at, out).planned(entries.as_ref().unwrap_or(plan), at, out);
            }
            "notice" => {
                let words: Vec<&str> =
                    ["title", "description"].iter().filter_map(|key| text(update, key)).collect();
                self.thread(session, at, out).said(&words.join(": "), at, out);
            }
            "usage_update" => {
                self.context_tokens = Some(number(update, "used"));
                let cost = update.pointer("/cost/amount").and_then(Value::as_f64);
                self.cost_usd = cost.unwrap_or(self.cost_usd);
                out.push(self.metadata());
            }
            "available_commands_update"
            | "current_mode_update"
            | "config_option_update"
            | "session_info_update"
            | "user_message_chunk" => {}
            // What begins so is an agent's own affair.
            _ => return kind.starts_with('_'),
        }
        true
    }

    pub(super) fn metadata(&self) -> Draft {
        let usage = self.usage.clone().unwrap_or_default();
        Draft::of_session(EventBody::MetadataUpdate {
            model: usage.model.clone(),
            usage: Usage { cost_usd: self.cost_usd, ..usage },
            cost_usd: self.cost_usd,
            context_tokens: self.context_tokens,
        })
    }
}

fn is_notice(update: &Value) -> bool {
    let said = update.pointer("/content/text").and_then(Value::as_str);
    said.is_some_and(|said| said.starts_with("[MODE_UPDATE] "))
}

impl Codec for AcpCodec {
    fn decode(&mut self, line: &[u8], at: Timestamp, out: &mut Vec<Output>) {
        if !line.trim_ascii().is_empty() && !self.read(line, at, out) {
            let raw = String::from_utf8_lossy(line).into_owned();
            let body = EventBody::Unrecognized { agent: self.agent.clone(), raw };
            out.push(Output::Event(Draft::of_session(body)));
        }
    }

    fn begin(&mut self, prompt: &Prompt, _at: Timestamp, out: &mut Vec<Output>) {
        self.prompt = Some(prompt.clone());
        if self.is_live() {
            let params = json!({
                "protocolVersion": 1,
                "clientCapabilities": {"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false},
                "clientInfo": {"name": "warren", "title": "Warren", "version": env!("CARGO_PKG_VERSION")},
            });
            out.push(self.requests.request(Purpose::Initialize, "initialize", &params));
        }
    }

    fn interrupt(&mut self, out: &mut Vec<Output>) -> bool {
        self.interrupting = true;
        let mut waiting: Vec<(String, Pending)> = self.asked.drain().collect();
        waiting.sort_by(|(a, _), (b, _)| a.cmp(b));
        for (key, pending) in waiting {
            out.push(rpc::response(&pending.id, &Pending::cancelled()));
            out.push(Output::Withdrawn(key));
        }
        if let (Some(session), None) = (&self.main, &self.prompt) {
            out.push(rpc::notification("session/cancel", &json!({"sessionId": session})));
        }
        true
    }

    fn answer(&mut self, key: &str, answer: &Answer, _at: Timestamp, out: &mut Vec<Output>) -> bool {
        let Some(pending) = self.asked.remove(key) else { return false };
        out.push(rpc::response(&pending.id, &pending.answer(answer.decision)));
        self.reasons.extend(answer.reason(&pending.title));
        true
    }

    fn ended(&mut self, exit: &Exit, at: Timestamp, out: &mut Vec<Output>) {
        if !self.has_ended {
            let mut drafts = self.held.take().unwrap_or_default();
            self.main_thread().stop_writing(&mut drafts);
            out.extend(drafts.into_iter().map(Output::Event));
            self.repeat_prompt(at, out);
            let message = format!("the agent exited before it finished ({exit})");
            let end = match self.interrupting {
                true => TurnEnd::Interrupted,
                false => TurnEnd::Failed { code: ErrorCode::AgentError, message, recoverable: true },
            };
            self.end(end, out);
        }
    }
}
