//! The built-in agent's lines are drafts already.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use warren_domain::{
    AgentType, ApprovalDecision, BlockId, Content, Draft, ErrorCode, EventBody, PermissionMode, Timestamp,
};

use super::asks::{Asks, Questions, Request};
use crate::{Answer, Codec, Exit, Output, Prompt, TurnEnd};

/// What the agent is told, a line each.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Input<'a> {
    Prompt {
        message: &'a BlockId,
        content: &'a Content,
    },
    Steer {
        message: &'a BlockId,
        content: &'a Content,
    },
    Answer {
        key: &'a str,
        decision: ApprovalDecision,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        answers: Option<&'a Map<String, Value>>,
    },
    Interrupt,
}

/// The lines that are no drafts.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Aside {
    ApprovalAsked(Request),
    QuestionAsked(Questions),
    ApprovalWithdrawn { key: String },
    TurnEnded(TurnEnd),
}

pub(super) struct BuiltinCodec {
    agent: AgentType,
    /// A process that dies after it was asked to stop was stopped, whatever it managed to say.
    interrupting: bool,
    has_ended: bool,
    asks: Asks,
}

impl BuiltinCodec {
    pub(super) fn new(agent: AgentType, mode: PermissionMode) -> Self {
        Self { agent, interrupting: false, has_ended: false, asks: Asks::new(mode) }
    }

    fn end(&mut self, end: TurnEnd, out: &mut Vec<Output>) {
        self.has_ended = true;
        self.asks.withdraw_all(out);
        out.push(Output::TurnEnded(end));
    }

    /// Takes in a line that is no draft. `false`: it is not what this agent says now.
    fn heard(&mut self, aside: Aside, out: &mut Vec<Output>) -> bool {
        match aside {
            _ if self.has_ended => false,
            Aside::ApprovalAsked(request) => self.asks.asked(request, out),
            Aside::QuestionAsked(questions) => self.asks.questioned(questions, out),
            Aside::ApprovalWithdrawn { key } => self.asks.withdrawn(key, out),
            Aside::TurnEnded(end) => {
                self.end(end, out);
                true
            }
        }
    }

    fn unrecognized(&self, line: &[u8]) -> Draft {
        let raw = String::from_utf8_lossy(line).into_owned();
        Draft::of_session(EventBody::Unrecognized { agent: self.agent.clone(), raw })
    }
}

impl Codec for BuiltinCodec {
    fn decode(&mut self, line: &[u8], _at: Timestamp, out: &mut Vec<Output>) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match serde_json::from_slice::<Draft>(line) {
            // Which run it belongs to is not for whoever is in the sandbox to say.
            Ok(draft) if is_agents_to_say(&draft.body) => {
                let unapproved = self.asks.observe(&draft);
                out.push(Output::Event(Draft { run_id: None, ..draft }));
                out.extend(unapproved);
            }
            _ => {
                let aside = serde_json::from_slice::<Aside>(line);
                if !aside.is_ok_and(|aside| self.heard(aside, out)) {
                    out.push(Output::Event(self.unrecognized(line)));
                }
            }
        }
    }

    fn begin(&mut self, prompt: &Prompt, _at: Timestamp, out: &mut Vec<Output>) {
        out.push(send(&Input::Prompt { message: &prompt.message, content: &prompt.content }));
    }

    fn interrupt(&mut self, out: &mut Vec<Output>) -> bool {
        self.interrupting = true;
        out.push(send(&Input::Interrupt));
        true
    }

    fn steer(&mut self, prompt: &Prompt, _at: Timestamp, out: &mut Vec<Output>) -> bool {
        out.push(send(&Input::Steer { message: &prompt.message, content: &prompt.content }));
        true
    }

    fn answer(&mut self, key: &str, answer: &Answer, _at: Timestamp, out: &mut Vec<Output>) -> bool {
        if !self.asks.answered(key, answer) {
            return false;
        }
        let (decision, message) = (answer.decision, answer.message.as_deref());
        out.push(send(&Input::Answer { key, decision, message, answers: answer.answers.as_ref() }));
        true
    }

    fn ended(&mut self, exit: &Exit, _at: Timestamp, out: &mut Vec<Output>) {
        if self.has_ended {
            return;
        }
        let end = if self.interrupting {
            TurnEnd::Interrupted
        } else {
            TurnEnd::Failed {
                code: ErrorCode::AgentError,
                message: format!("the agent exited before it finished ({exit})"),
                recoverable: true,
            }
        };
        self.end(end, out);
    }
}

/// Whether an agent may say this. A session's own history is not for the sandbox to write.
fn is_agents_to_say(body: &EventBody) -> bool {
    match body {
        EventBody::BlockStart { .. }
        | EventBody::TextDelta { .. }
        | EventBody::BlockUpdate { .. }
        | EventBody::BlockComplete { .. }
        | EventBody::BlockDiscarded { .. }
        | EventBody::MetadataUpdate { .. }
        | EventBody::Retrying { .. }
        | EventBody::ContextCompacted { .. }
        | EventBody::SubagentStarted(_)
        | EventBody::SubagentCompleted { .. } => true,
        EventBody::SessionCreated { .. }
        | EventBody::SessionUpdated { .. }
        | EventBody::SessionStatus { .. }
        | EventBody::SessionEnded { .. }
        | EventBody::RunQueued { .. }
        | EventBody::RunStarted { .. }
        | EventBody::ModelCallStarted(_)
        | EventBody::ModelCalled(_)
        | EventBody::ApprovalRequested(_)
        | EventBody::ApprovalResolved(_)
        | EventBody::ApprovalRuleWithdrawn { .. }
        | EventBody::EgressDecided { .. }
        | EventBody::LimitReached { .. }
        | EventBody::FileChanged { .. }
        | EventBody::ArtifactCreated { .. }
        | EventBody::ArtifactUpdated { .. }
        | EventBody::ArtifactDeleted { .. }
        | EventBody::PortOpened { .. }
        | EventBody::PortClosed { .. }
        | EventBody::RunCompleted { .. }
        | EventBody::RunFailed { .. }
        | EventBody::RunInterrupted { .. }
        | EventBody::VersionCommitted { .. }
        | EventBody::LogCompacted { .. }
        | EventBody::Unrecognized { .. } => false,
    }
}

fn send(input: &Input<'_>) -> Output {
    // Strings and lists of strings always serialise; an empty line, which the agent passes over, is the floor.
    let mut bytes = serde_json::to_vec(input).unwrap_or_default();
    bytes.push(b'\n');
    Output::Send(bytes)
}
