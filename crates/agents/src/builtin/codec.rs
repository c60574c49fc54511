//! The built-in agent's lines are drafts already.

use serde::{Deserialize, Serialize};
use warren_domain::{AgentType, BlockId, Content, Draft, ErrorCode, EventBody, Timestamp};

use crate::{Codec, Exit, Output, Prompt, TurnEnd};

/// What the agent is told, a line each.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Input<'a> {
    Prompt { message: &'a BlockId, content: &'a Content },
    Steer { message: &'a BlockId, content: &'a Content },
    Interrupt,
}

/// The one line that is not a draft.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Last {
    TurnEnded(TurnEnd),
}

pub(super) struct BuiltinCodec {
    agent: AgentType,
    /// A process that dies after it was asked to stop was stopped, whatever it managed to say.
    interrupting: bool,
    has_ended: bool,
}

impl BuiltinCodec {
    pub(super) fn new(agent: AgentType) -> Self {
        Self { agent, interrupting: false, has_ended: false }
    }

    fn end(&mut self, end: TurnEnd, out: &mut Vec<Output>) {
        self.has_ended = true;
        out.push(Output::TurnEnded(end));
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
                out.push(Output::Event(Draft { run_id: None, ..draft }))
            }
            _ => match serde_json::from_slice::<Last>(line) {
                Ok(Last::TurnEnded(end)) if !self.has_ended => self.end(end, out),
                _ => out.push(Output::Event(self.unrecognized(line))),
            },
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

    fn ended(&mut self, exit: &Exit, _at: Timestamp, out: &mut Vec<Output>) {
        if self.has_ended {
            return;
        }
        let end = if self.interrupting {
            TurnEnd::Interrupted
        } else {
            TurnEnd::Failed {
                code: ErrorCode::AgentError,
                message: format!("the agent ended before it was done ({exit})"),
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
        | EventBody::ModelCalled(_)
        | EventBody::ApprovalRequested(_)
        | EventBody::ApprovalResolved(_)
        | EventBody::EgressDecided { .. }
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
