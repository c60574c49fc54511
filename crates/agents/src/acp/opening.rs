//! How a session begins: what the agent can do, which session it is, what is set, and then the prompt.

use serde_json::{Value, json};
use warren_domain::{Content, ContentPart, ConversationId, ErrorCode, PermissionMode, Timestamp};

use super::{
    codec::{AcpCodec, Purpose, Replay},
    modes::{self, Mode},
    thread::Thread,
};
use crate::{Output, TurnEnd, fields::text, rpc::Failure};

/// What to do about an agent that would not ask.
const ASK_OTHERWISE: &str = "leave out `permissionMode: \"ask\"` (`--ask`), or use an agent that asks: `claude-code`, \
     `opencode`, `codex` or `builtin`";

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
        let (servers, others): (Vec<&Value>, Vec<&Value>) =
            plan.mcp_servers.iter().partition(|server| self.takes(server));
        self.notes = unreachable_servers(&others).into_iter().collect();
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
            format!("The agent does not remember this session ({}); it starts over.", failure.message);
        self.note(&message, at, out);
        self.open(out);
    }

    pub(super) fn opened(&mut self, result: &Value, is_new: bool) {
        if let Some(session) = text(result, "sessionId") {
            self.main = Some(session.to_owned());
        }
        self.is_new = is_new;
        let (Some(plan), Some(session)) = (&self.plan, &self.main) else { return };
        let model = modes::model(session, result, plan.model.as_deref());
        self.settings = model.map(|(method, params)| (Purpose::Set, method, params)).into_iter().collect();
        let asks = plan.permission_mode == PermissionMode::Ask;
        match modes::mode(session, result, plan.permission_mode) {
            Mode::Right => {}
            Mode::Set(method, params) => {
                let purpose = if asks { Purpose::SetAsking } else { Purpose::Set };
                // Taken from the end: the mode comes first.
                self.settings.push((purpose, method, params));
            }
            Mode::Missing(names) => {
                let names = names.join("`, `");
                self.refusal =
                    Some(format!("the agent offers no mode in which it asks before it acts, only `{names}`"));
            }
            Mode::Unknown(names) => {
                let modes = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                self.notes.push(format!(
                    "This agent has no mode of which Warren knows that it asks before it acts (its modes: {modes}). \
                     Its own settings decide what it asks."
                ));
            }
        }
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
        if let Some(why) = self.refusal.take() {
            return self.refuse(&why, ASK_OTHERWISE, at, out);
        }
        let notes = std::mem::take(&mut self.notes);
        if self.is_new {
            notes.iter().for_each(|note| self.note(note, at, out));
        }
        if let Some((purpose, method, params)) = self.settings.pop() {
            out.push(self.requests.request(purpose, method, &params));
            return;
        }
        if self.prompt.as_ref().is_some_and(|prompt| prompt.content.has_image()) && !self.can_prompt("image")
        {
            let hint = "send the message without images, or put them into the workspace as files";
            return self.refuse("the agent does not accept images in messages", hint, at, out);
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

    pub(super) fn cannot_ask(&mut self, failure: &Failure, at: Timestamp, out: &mut Vec<Output>) {
        let why = format!("the agent refused to switch to the mode in which it asks: {}", failure.message);
        self.refuse(&why, ASK_OTHERWISE, at, out);
    }

    fn refuse(&mut self, why: &str, hint: &str, at: Timestamp, out: &mut Vec<Output>) {
        self.fail(ErrorCode::BadRequest, format!("{why}; hint: {hint}"), at, out);
    }

    /// Something that a person should know of the session, in its conversation.
    fn note(&mut self, message: &str, at: Timestamp, out: &mut Vec<Output>) {
        let mut drafts = Vec::new();
        let n_prompts = self.n_prompts;
        let thread = self.notice.get_or_insert_with(|| Thread::new(ConversationId::main(), n_prompts + 1));
        thread.said(message, at, &mut drafts);
        out.extend(drafts.into_iter().map(Output::Event));
    }

    /// Whether a prompt may have this in it.
    fn can_prompt(&self, what: &str) -> bool {
        let pointer = format!("/agentCapabilities/promptCapabilities/{what}");
        self.initialized.pointer(&pointer) == Some(&json!(true))
    }

    fn prompt_blocks(&self, content: &Content) -> Vec<Value> {
        let can = |what: &str| self.can_prompt(what);
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

fn unreachable_servers(servers: &[&Value]) -> Option<String> {
    let names: Vec<&str> = servers.iter().filter_map(|server| text(server, "name")).collect();
    (!names.is_empty()).then(|| {
        format!(
            "This agent cannot reach these MCP servers of its profile by their kind of address: {}.",
            names.join(", ")
        )
    })
}
