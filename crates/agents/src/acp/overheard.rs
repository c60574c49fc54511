//! What a client said, in a recording of both sides.

use serde_json::Value;
use warren_domain::{Content, Timestamp};

use super::{
    codec::{AcpCodec, Purpose, Replay},
    thread::shown,
};
use crate::{
    Output,
    fields::{list, text},
    rpc::{self, Message},
};

impl AcpCodec {
    /// What a client said, in a recording.
    pub(super) fn overheard(&mut self, value: Value, at: Timestamp, out: &mut Vec<Output>) -> bool {
        match Message::read(value) {
            Some(Message::Request { id, method, params }) => {
                self.overheard_request(&id, &method, &params, at, out);
            }
            Some(Message::Response { id, .. }) => {
                self.asked.remove(&rpc::key(&id));
            }
            Some(Message::Notification { method, .. }) => self.interrupting |= method == "session/cancel",
            None => return false,
        }
        true
    }

    pub(super) fn overheard_request(
        &mut self,
        id: &Value,
        method: &str,
        params: &Value,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) {
        let purpose = match method {
            "initialize" => Purpose::Initialize,
            "session/new" => Purpose::New,
            "session/load" => Purpose::Load,
            "session/resume" => Purpose::Resume,
            "session/prompt" => Purpose::Prompt,
            _ => return,
        };
        self.requests.overheard(id, purpose);
        if let Some(session) = text(params, "sessionId") {
            self.main = Some(session.to_owned());
        }
        match purpose {
            Purpose::Load => self.replay = Replay::Running,
            Purpose::Prompt => {
                let parts = list(params, "prompt");
                let content = Content::Text(parts.iter().map(shown).collect::<Vec<_>>().join("\n"));
                (self.has_ended, self.interrupting) = (false, false);
                self.prompted(None, content, at, out);
            }
            _ => {}
        }
    }
}

/// Whether a request is one that only clients make.
pub(super) fn is_clients(method: &str) -> bool {
    matches!(method, "initialize" | "authenticate" | "logout")
        || (method.starts_with("session/") && method != "session/request_permission")
}
