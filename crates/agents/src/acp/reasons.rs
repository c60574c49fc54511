//! Why a person said no. The protocol's answer has no place for words, so they are said as soon as the agent listens.

use serde_json::json;
use warren_domain::{Content, Timestamp};

use super::codec::{AcpCodec, Purpose};
use crate::Output;

impl AcpCodec {
    /// Says why something was refused, as a further prompt. `false`: there is nothing to say.
    pub(super) fn tell_reasons(&mut self, at: Timestamp, out: &mut Vec<Output>) -> bool {
        let reasons = std::mem::take(&mut self.reasons);
        let Some(session) = self.main.clone().filter(|_| !reasons.is_empty() && !self.interrupting) else {
            return false;
        };
        let said = reasons.join("\n");
        self.has_prompted = false;
        self.prompted(None, Content::from(said.as_str()), at, out);
        out.push(Output::State(json!({"sessionId": session, "prompts": self.n_prompts})));
        let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": said}]});
        out.push(self.requests.request(Purpose::Prompt, "session/prompt", &params));
        true
    }
}
