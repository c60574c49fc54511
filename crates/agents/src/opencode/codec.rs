//! Drives OpenCode's server through the bridge, and tells what it does.
//!
//! A turn: find or make the session, say the prompt, follow the events until the session is at rest, save what was
//! said, end. One that reads a recording only follows.

mod catching_up;
mod opening;

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use warren_domain::{AgentType, Block, Draft, ErrorCode, EventBody, Timestamp};

use super::{
    asks::{AboutCall, Asks},
    events::{Heard, hear},
    native::{Asked, Session, read_borrowed},
    requests::{Purpose, Requests, prompt_body},
    translator::Translator,
};
use crate::{Answer, Codec, Exit, Output, Prompt, TurnEnd};

/// A session that works is saved after a step, but not more often than this.
const KEEP_MS: i64 = 3_000;

/// What arrives after OpenCode said that it is idle arrives in this time.
const LATE_MS: u64 = 2_000;

/// What must be known to continue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Saved {
    /// OpenCode's own name of the session.
    #[serde(default)]
    pub(super) session: Option<String>,
    /// The sessions of its subagents.
    #[serde(default)]
    pub(super) children: Vec<String>,
}

/// How a live server is driven.
pub(super) struct Driving {
    pub(super) resume: bool,
    pub(super) saved: Saved,
    /// `{"providerID", "modelID"}`.
    pub(super) model: Value,
    /// The words that start OpenCode.
    pub(super) program: Vec<String>,
    /// The agent's home.
    pub(super) home: String,
    /// Where sessions are saved, beneath the home.
    pub(super) directory: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// There is no session to talk to yet.
    Opening,
    Working,
    /// It says it is idle, but not everything it did has arrived.
    Resting,
    Saving,
    Ended,
}

pub(super) struct OpenCodeCodec {
    agent: AgentType,
    translator: Translator,
    asks: Asks,
    requests: Requests,
    phase: Phase,
    /// `None`: this is a recording.
    driving: Option<Driving>,
    /// Not said yet, or not heard of since.
    prompt: Option<Prompt>,
    /// To be said as soon as there is a session.
    more: Vec<Prompt>,
    interrupting: bool,
    /// It was to stop before it began to work, which it does not hear.
    abort_is_due: bool,
    /// Why it cannot go on.
    problem: Option<TurnEnd>,
    /// When the run began, in milliseconds: what is older was told before.
    since: i64,
    /// Imports that follow.
    imports: Vec<String>,
    /// When it was last saved, in milliseconds.
    kept: Option<i64>,
}

impl OpenCodeCodec {
    pub(super) fn new(agent: AgentType, driving: Option<Driving>) -> Self {
        Self {
            agent,
            translator: Translator::default(),
            asks: Asks::default(),
            requests: Requests::default(),
            phase: if driving.is_some() { Phase::Opening } else { Phase::Working },
            driving,
            prompt: None,
            more: Vec::new(),
            interrupting: false,
            abort_is_due: false,
            problem: None,
            since: 0,
            imports: Vec::new(),
            kept: None,
        }
    }

    fn heard(&mut self, heard: Heard<'_>, line: &str, at: Timestamp, out: &mut Vec<Output>) {
        match heard {
            Heard::Told => {}
            Heard::Permission(asked) => self.ask_permission(asked, out),
            Heard::Question(asked) => self.asks.question(asked, out),
            Heard::Answered(key) => self.asks.answered(key, out),
            Heard::Reply { id, status, body } => self.replied(id, status, body, at, out),
            Heard::Reconnected => self.reread(out),
            Heard::Unknown => out.push(Output::Event(self.unrecognized(line))),
        }
        self.advance(at, out);
    }

    fn ask_permission(&mut self, asked: Asked<'_>, out: &mut Vec<Output>) {
        let call = asked.tool.call.as_ref().or(asked.call.as_ref());
        let call = call.and_then(|call| self.translator.call(call));
        let call = call.map(|(tool, input)| AboutCall { tool, input });
        self.asks.permission(asked, call, out);
    }

    /// Moves on if what it waits for has come.
    fn advance(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        if self.driving.is_none() || matches!(self.phase, Phase::Opening | Phase::Ended) {
            return;
        }
        if self.abort_is_due && self.translator.is_busy() {
            self.abort(out);
        }
        let is_over = self.translator.is_idle() || self.translator.is_refused();
        match self.phase {
            // It was told something more at the last moment.
            Phase::Resting | Phase::Saving if !is_over => self.phase = Phase::Working,
            Phase::Working if is_over => {
                self.phase = Phase::Resting;
                if !self.translator.is_at_rest() {
                    self.requests.wait(LATE_MS, out);
                }
            }
            _ => {}
        }
        if self.phase == Phase::Working {
            self.keep(at, out);
        }
        let is_waiting = self.requests.waits_for(&Purpose::Wait) && !self.translator.is_at_rest();
        // Two that write one file would be in each other's way.
        if self.phase == Phase::Resting && !is_waiting && !self.requests.waits_for(&Purpose::Keep) {
            self.save(out);
        }
        if self.phase == Phase::Saving && !self.requests.waits_for(&Purpose::Save) {
            self.finish(at, out);
        }
    }

    /// Saves what changed while it works, so that whoever kills it loses little.
    fn keep(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        let is_early = self.kept.is_some_and(|kept| at.as_millis() < kept.saturating_add(KEEP_MS));
        if is_early || !self.translator.has_stepped() || self.requests.waits_for(&Purpose::Keep) {
            return;
        }
        self.kept = Some(at.as_millis());
        for session in self.translator.take_stepped() {
            self.write(Purpose::Keep, &session, out);
        }
        out.push(self.state());
    }

    fn save(&mut self, out: &mut Vec<Output>) {
        self.phase = Phase::Saving;
        let Some(root) = self.translator.root().map(str::to_owned) else { return };
        self.write(Purpose::Save, &root, out);
        for child in self.translator.children() {
            self.write(Purpose::Save, &child, out);
        }
        out.push(self.state());
    }

    fn write(&mut self, purpose: Purpose, session: &str, out: &mut Vec<Output>) {
        let Some(directory) = self.driving.as_ref().map(|driving| &driving.directory) else { return };
        let file = if self.translator.root() == Some(session) {
            format!("{directory}/main.json")
        } else {
            format!("{directory}/subagents/{session}.json")
        };
        self.requests.save(purpose, session, &file, out);
    }

    fn state(&self) -> Output {
        let mut children = self.translator.children();
        children.extend(self.driving.iter().flat_map(|driving| driving.saved.children.iter().cloned()));
        children.sort();
        children.dedup();
        Output::State(json!({"session": self.translator.root(), "children": children}))
    }

    fn finish(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        if self.phase == Phase::Ended {
            return;
        }
        self.phase = Phase::Ended;
        self.translator.settle(at, out);
        self.show_unheard(at, out);
        self.asks.withdraw_all(out);
        let told = self.problem.take().or_else(|| self.translator.outcome());
        let end = match told {
            _ if self.interrupting => TurnEnd::Interrupted,
            Some(end) => end,
            None => failed("OpenCode exited before it finished"),
        };
        out.push(Output::TurnEnded(end));
    }

    /// A prompt that OpenCode never repeated was said all the same.
    fn show_unheard(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        let Some(prompt) = self.prompt.take().filter(|prompt| !self.translator.has_shown(&prompt.message))
        else {
            return;
        };
        let block = Block::UserMessage { id: prompt.message, timestamp: at, content: prompt.content };
        out.push(Output::Event(Draft::of_session(EventBody::BlockComplete { block })));
    }

    fn replied(
        &mut self,
        id: u64,
        status: i64,
        body: Option<&RawValue>,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        let is_good = (200..300).contains(&status);
        match self.requests.answered(id) {
            Some(Purpose::Create) => match read_borrowed::<Session>(body).filter(|_| is_good) {
                Some(session) if !session.id.is_empty() => self.adopt(&session.id, at, out),
                _ => self.give_up(&format!("OpenCode made no session ({})", why(status, body)), at, out),
            },
            Some(Purpose::Find) if is_good => self.adopt_saved(at, out),
            Some(Purpose::Find) => self.import(out),
            Some(Purpose::Import { is_main }) => self.imported(is_main, status, body, at, out),
            Some(Purpose::Prompt) if !is_good => {
                self.give_up(&format!("OpenCode refused the message ({})", why(status, body)), at, out);
            }
            Some(
                purpose @ (Purpose::Reread | Purpose::Status | Purpose::Permissions | Purpose::Questions),
            ) => {
                if let Some(body) = body.filter(|_| is_good) {
                    self.caught_up(&purpose, body, at, out);
                }
            }
            Some(
                Purpose::Prompt
                | Purpose::Steer
                | Purpose::Save
                | Purpose::Keep
                | Purpose::Wait
                | Purpose::Tell,
            )
            | None => {}
        }
    }

    fn say(&mut self, purpose: Purpose, prompt: &Prompt, out: &mut Vec<Output>) {
        let (Some(driving), Some(root)) = (&self.driving, self.translator.root()) else { return };
        let path = format!("/session/{root}/prompt_async");
        self.requests.post(purpose, &path, prompt_body(prompt, &driving.model), out);
    }

    fn abort(&mut self, out: &mut Vec<Output>) {
        self.abort_is_due = !self.translator.is_busy();
        if let Some(root) = self.translator.root() {
            let path = format!("/session/{root}/abort");
            self.requests.post(Purpose::Tell, &path, json!({}), out);
        }
    }

    fn give_up(&mut self, message: &str, at: Timestamp, out: &mut Vec<Output>) {
        self.problem = Some(failed(message));
        self.finish(at, out);
    }

    fn unrecognized(&self, line: &str) -> Draft {
        Draft::of_session(EventBody::Unrecognized { agent: self.agent.clone(), raw: line.to_owned() })
    }
}

impl Codec for OpenCodeCodec {
    fn decode(&mut self, line: &[u8], at: Timestamp, out: &mut Vec<Output>) {
        let line = String::from_utf8_lossy(line);
        let heard = hear(&mut self.translator, &line, at, out);
        self.heard(heard, &line, at, out);
    }

    fn begin(&mut self, prompt: &Prompt, at: Timestamp, out: &mut Vec<Output>) {
        self.since = at.as_millis();
        self.prompt = Some(prompt.clone());
        let Some(driving) = &self.driving else { return };
        match (driving.resume, &driving.saved.session) {
            (true, Some(session)) => {
                let path = format!("/session/{session}");
                self.requests.get(Purpose::Find, &path, out);
            }
            (true, None) => self.import(out),
            (false, _) => self.requests.post(Purpose::Create, "/session", json!({}), out),
        }
    }

    fn interrupt(&mut self, out: &mut Vec<Output>) -> bool {
        if self.driving.is_none() || self.phase == Phase::Ended {
            return false;
        }
        self.interrupting = true;
        self.abort(out);
        true
    }

    fn steer(&mut self, prompt: &Prompt, _at: Timestamp, out: &mut Vec<Output>) -> bool {
        match self.phase {
            _ if self.driving.is_none() || self.interrupting => return false,
            Phase::Opening => self.more.push(prompt.clone()),
            Phase::Working => self.say(Purpose::Steer, prompt, out),
            Phase::Resting | Phase::Saving | Phase::Ended => return false,
        }
        true
    }

    fn answer(&mut self, key: &str, answer: &Answer, _at: Timestamp, out: &mut Vec<Output>) -> bool {
        self.asks.answer(key, answer, &mut self.requests, out)
    }

    fn ended(&mut self, exit: &Exit, at: Timestamp, out: &mut Vec<Output>) {
        if self.driving.is_some() && self.phase != Phase::Ended && !self.translator.is_idle() {
            self.problem = Some(failed(&format!("OpenCode exited before it finished ({exit})")));
        }
        self.finish(at, out);
    }
}

fn failed(message: &str) -> TurnEnd {
    TurnEnd::Failed { code: ErrorCode::AgentError, message: message.to_owned(), recoverable: true }
}

/// What is known of a request that went wrong, in a few words.
fn why(status: i64, body: Option<&RawValue>) -> String {
    let body: String = body.map_or("", RawValue::get).chars().take(300).collect();
    format!("{status}: {body}")
}
