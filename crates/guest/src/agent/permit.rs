//! Asks a person before a call that changes something, when the session is to ask.

use serde::Serialize;
use serde_json::Value;
use warren_domain::ApprovalDecision;

use super::{
    control::Verdict,
    session::Agent,
    thread::Thread,
    tools::{Call, Output, Tool},
};

const DENIED: &str = "The person does not allow this.";
const NOBODY: &str = "Nobody is there to allow this.";

/// What may be done unasked.
pub(super) enum Permits {
    /// Everything: the sandbox is the guard.
    All,
    /// What changes nothing. The host knows which rules people granted, and is asked about all else.
    Asks,
}

/// Lines beside the drafts, for whoever asks people.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum Line<'a> {
    ApprovalAsked { key: &'a str, tool_use_id: &'a str, tool_name: &'a str, title: String, input: &'a Value },
    ApprovalWithdrawn { key: &'a str },
}

impl Permits {
    fn covers(&self, tool: Tool) -> bool {
        match self {
            Permits::All => true,
            Permits::Asks => !tool.changes_things(),
        }
    }
}

impl Agent {
    /// Returns when the call may be carried out, or with the result of one that may not.
    pub(super) async fn permit(&self, thread: &Thread, tool: Tool, call: &Call) -> Result<(), Output> {
        if self.permits.covers(tool) {
            return Ok(());
        }
        let key = call.path_in(thread.id());
        let answer = self.control.answer_to(&key);
        thread.say_aside(&Line::ApprovalAsked {
            key: &key,
            tool_use_id: &call.id,
            tool_name: tool.name(),
            title: call.title(),
            input: &call.input,
        });
        tokio::select! {
            biased;
            () = self.control.interrupted() => {
                self.control.forget(&key);
                thread.say_aside(&Line::ApprovalWithdrawn { key: &key });
                Err(Output::failed(Output::INTERRUPTED))
            }
            answer = answer => match answer {
                Ok(verdict) => heed(verdict),
                Err(_) => Err(Output::failed(NOBODY)),
            },
        }
    }
}

fn heed(verdict: Verdict) -> Result<(), Output> {
    match verdict.decision {
        ApprovalDecision::Allow | ApprovalDecision::AllowAlways => Ok(()),
        ApprovalDecision::Deny => {
            let said = verdict.message.filter(|said| !said.trim().is_empty());
            Err(Output::failed(said.unwrap_or_else(|| DENIED.to_owned())))
        }
    }
}
