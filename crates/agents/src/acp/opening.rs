//! How a session begins: what the agent can do, which session it is, what is set, and then the prompt.

use serde_json::{Value, json};
use warren_domain::{Content, ContentPart, ConversationId, ErrorCode, Timestamp};

use super::{
    codec::{AcpCodec, Purpose, Replay},
    modes,
    thread::Thread,
};
use crate::{Output, TurnEnd, fields::text, rpc::Failure};

impl AcpCodec {
    /// Takes the session up again, or begins one.
    pub(super) fn open(&mut self, out: &mut Vec<Output>) {
        let Some(plan) = &self.plan else { return };
        let can = |pointer: &str| self.initialized.pointer(pointer).is_some_and(|it| !it.is_null());
        let loads = self.initialized.pointer("/agentCapabilities/loadSession") == Some(&json!(true));
        let known = plan.known.clone();
        let (purpose, method) = match &known {
            Some(_) if can("/agentCapabilities/sessionCapabilities/resume") => {
                (Purpose::Resume, "session/resume")
            }
            Some(_) if loads => (Purpose::Load, "session/load"),
            _ => (Purpose::New, "session/new"),
        };
        let servers: Vec<&Value> = plan.mcp_servers.iter().filter(|server| self.takes(server)).collect();
        let mut params = json!({"cwd": plan.workspace, "mcpServers": servers});
        if purpose != Purpose::New {
            params["sessionId"] = json!(known);
            self.main = known;
        }
        if purpose == Purpose::Load {
            self.replay = Replay::Running;
        }
        out.push(self.requests.request(purpose, method, &params));
    }

    /// Whether the agent can use a server. All can start one; not all can reach one elsewhere.
    fn takes(&self, server: &Value) -> bool {
        let Some(kind) = text(server, "type") else { return true };
        let can = self.initialized.pointer(&format!("/agentCapabilities/mcpCapabilities/{kind}"));
        can == Some(&json!(true))
    }

    pub(super) fn sign_in(&mut self, failure: &Failure, at: Timestamp, out: &mut Vec<Output>) {
        let method = modes::sign_in(&self.initialized).filter(|_| !self.has_signed_in);
        let (Some(method), true) = (method, self.is_live()) else {
            return self.fail(ErrorCode::AgentError, failure.message.clone(), at, out);
        };
        self.has_signed_in = true;
        let params = json!({"methodId": method});
        out.push(self.requests.request(Purpose::SignIn, "authenticate", &params));
    }

    /// The agent has forgotten the session: better a new one than none, but it must be said.
    pub(super) fn begin_anew(&mut self, failure: &Failure, at: Timestamp, out: &mut Vec<Output>) {
        let Some(plan) = &mut self.plan else { return };
        plan.known = None;
        self.replay = Replay::No;
        self.main = None;
        let message =
            format!("The agent does not remember this session ({}); it begins anew.", failure.message);
        let mut drafts = Vec::new();
        let n_prompts = self.n_prompts;
        let main = ConversationId::main();
        Thread::new(main, n_prompts + 1).said(&message, at, &mut drafts);
        out.extend(drafts.into_iter().map(Output::Event));
        self.open(out);
    }

    pub(super) fn opened(&mut self, result: &Value, is_new: bool) {
        if let Some(session) = text(result, "sessionId") {
            self.main = Some(session.to_owned());
        }
        self.is_new = is_new;
        let (Some(plan), Some(session)) = (&self.plan, &self.main) else { return };
        self.settings = modes::settings(session, result, plan.permission_mode, plan.model.as_deref());
        self.settings.reverse();
    }

    /// Some agents tell the past on after they said that they had. One more question, whose answer is of no interest,
    /// comes back after that.
    pub(super) fn loaded(&mut self, result: &Value, out: &mut Vec<Output>) {
        self.opened(result, false);
        if self.is_live() {
            out.push(self.requests.request(Purpose::Settle, "_warren/settle", &json!({})));
        } else {
            self.replay = Replay::Straggling;
        }
    }

    /// The next thing to set, or the prompt itself.
    pub(super) fn go_on(&mut self, at: Timestamp, out: &mut Vec<Output>) {
        if let Some((method, params)) = self.settings.pop() {
            out.push(self.requests.request(Purpose::Set, method, &params));
            return;
        }
        let (Some(prompt), Some(session)) = (self.prompt.take(), self.main.clone()) else { return };
        let blocks = self.prompt_blocks(&prompt.content);
        self.again = (!self.is_new).then(|| prompt.clone());
        self.prompted(Some(prompt.clone()), prompt.content, at, out);
        let state = json!({"sessionId": session, "prompts": self.n_prompts});
        out.push(Output::State(state));
        if self.interrupting {
            return self.end(TurnEnd::Interrupted, out);
        }
        let params = json!({"sessionId": session, "prompt": blocks});
        out.push(self.requests.request(Purpose::Prompt, "session/prompt", &params));
    }

    fn prompt_blocks(&self, content: &Content) -> Vec<Value> {
        let can = |what: &str| {
            let pointer = format!("/agentCapabilities/promptCapabilities/{what}");
            self.initialized.pointer(&pointer) == Some(&json!(true))
        };
        let words = |text: &str| json!({"type": "text", "text": text});
        let part = |part: &ContentPart| match part {
            ContentPart::Text { text } => words(text),
            ContentPart::Image { image, media_type } if can("image") => {
                json!({"type": "image", "data": image, "mimeType": media_type})
            }
            ContentPart::Image { media_type, .. } => words(&format!("[image {media_type}]")),
            ContentPart::File { file } => {
                json!({"type": "resource_link", "name": file, "uri": format!("file:///{}", file.trim_start_matches('/'))})
            }
        };
        let instructions =
            self.plan.as_ref().and_then(|plan| plan.instructions.as_deref()).filter(|_| self.is_new);
        let instructions = instructions.map(|text| {
            if can("embeddedContext") {
                let resource = json!({"uri": "file:///instructions/AGENTS.md", "mimeType": "text/markdown", "text": text});
                json!({"type": "resource", "resource": resource})
            } else {
                words(text)
            }
        });
        let said: Vec<Value> = match content {
            Content::Text(text) => vec![words(text)],
            Content::Parts(parts) => parts.iter().map(part).collect(),
        };
        instructions.into_iter().chain(said).collect()
    }
}
