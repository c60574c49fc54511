//! The agent that comes with Warren, a part of the guest.
//!
//! It prints drafts as they are recorded, and its transcript holds the same drafts without the deltas; so decoding
//! is reading, and parsing is folding.

mod asks;
mod codec;
mod layout;
mod parse;

use std::collections::BTreeMap;

use serde::Deserialize as _;
use serde_json::{Map, Value};
use warren_domain::{AgentType, Draft, PermissionMode, SessionId};

use crate::{
    Adapter, Codec, Companions, HasEffort, Launch, LaunchError, LaunchRequest, LayoutFile, LayoutRequest,
    ModelApi, Parsed, PlainPlan, TranscriptPlan, detect::has,
};

/// The model that is asked for when nobody names one.
const DEFAULT_MODEL: &str = "claude-sonnet-4-5";

/// Where the sandbox has the guest.
const PROGRAM: &str = "/warren/guest";

/// Where the sandbox has what [`layout`] wrote.
const INSTRUCTIONS: &str = "/instructions";

/// The adapter.
pub(crate) struct Builtin;

impl Adapter for Builtin {
    fn agent_type(&self) -> AgentType {
        AgentType::from("builtin")
    }

    fn launch(&self, request: &LaunchRequest<'_>) -> Result<Launch, LaunchError> {
        let endpoint = request.endpoint(&self.agent_type(), ModelApi::Anthropic)?;
        let model = request.model.or(request.profile.model.as_deref()).unwrap_or(DEFAULT_MODEL);
        let session = request.session.to_string();
        let argv =
            [PROGRAM, "agent", "--session", &session, "--model", model, "--instructions", INSTRUCTIONS];
        let mut argv = argv.map(str::to_owned).to_vec();
        for (model, tokens) in windows(request, model) {
            argv.extend(["--window".to_owned(), format!("{model}={tokens}")]);
        }
        if request.permission_mode == PermissionMode::Ask {
            argv.extend(["--permission-mode".to_owned(), "ask".to_owned()]);
        }
        if request.profile.provider_tools {
            argv.extend(["--provider-tools".to_owned(), "granted".to_owned()]);
        }
        if let Some(effort) = request.effort {
            argv.extend(["--effort".to_owned(), effort.as_str().to_owned()]);
        }
        let mut env = request.profile.environment_variables.clone();
        env.insert("ANTHROPIC_BASE_URL".to_owned(), endpoint.base_url.clone());
        env.insert("ANTHROPIC_API_KEY".to_owned(), endpoint.placeholder_key.clone());
        for (api, name) in [
            (ModelApi::OpenAiResponses, "WARREN_OPENAI_BASE_URL"),
            (ModelApi::Gemini, "WARREN_GEMINI_BASE_URL"),
        ] {
            if let Ok(endpoint) = request.endpoint(&self.agent_type(), api) {
                env.insert(name.to_owned(), endpoint.base_url.clone());
            }
        }
        env.insert("HOME".to_owned(), request.home.to_owned());
        Ok(Launch { argv, env, cwd: request.workspace.to_owned() })
    }

    fn has_effort(&self) -> HasEffort {
        HasEffort::Yes
    }

    fn asks_for(&self, api: ModelApi, model: &str) -> bool {
        // As the agent itself tells them apart, in the guest.
        let name = model.rsplit('/').next().unwrap_or(model);
        let begins = |names: &[&str]| names.iter().any(|begin| name.starts_with(begin));
        let own = if begins(&["gemini", "gemma", "learnlm"]) {
            ModelApi::Gemini
        } else if begins(&["gpt", "chatgpt", "codex", "o1", "o3", "o4", "computer-use"]) {
            ModelApi::OpenAiResponses
        } else {
            ModelApi::Anthropic
        };
        api == own
    }

    fn layout(&self, request: &LayoutRequest<'_>) -> Vec<LayoutFile> {
        layout::files(request.profile)
    }

    fn transcripts(&self, session: SessionId) -> Box<dyn TranscriptPlan> {
        Box::new(PlainPlan {
            root: format!(".warren/sessions/{session}"),
            main: "main.jsonl".to_owned(),
            subagents: "subagents/".to_owned(),
            prefix: "",
            suffix: ".jsonl",
        })
    }

    fn codec(&self, request: &LaunchRequest<'_>) -> Box<dyn Codec> {
        Box::new(codec::BuiltinCodec::new(self.agent_type(), request.permission_mode))
    }

    fn recorded(&self) -> Box<dyn Codec> {
        // What was recorded ran long ago, and who allowed it is recorded elsewhere.
        Box::new(codec::BuiltinCodec::new(self.agent_type(), PermissionMode::Auto))
    }

    fn companions(&self, _file_name: &str, _main: &[u8]) -> Option<Companions> {
        Some(Companions { directory: "subagents".to_owned(), prefix: "", suffix: ".jsonl" })
    }

    fn wrote(&self, object: &Map<String, Value>) -> bool {
        // A transcript holds drafts beside what only the model needs; a recording holds drafts.
        let is_draft = |body: &Value| Draft::deserialize(body).is_ok();
        match object.get("event") {
            Some(event) => object.keys().all(|name| name == "event" || name == "native") && is_draft(event),
            None => has(object, &["type", "conversationId"]) && Draft::deserialize(object).is_ok(),
        }
    }

    fn parse(&self, main: &[u8], subagents: &[(String, Vec<u8>)]) -> Parsed {
        parse::parse(main, subagents)
    }
}

/// The windows of the models that may be asked: the agent's own and its subagents'.
fn windows(request: &LaunchRequest<'_>, model: &str) -> BTreeMap<String, u64> {
    let of_subagents = request.profile.subagents.iter().filter_map(|subagent| subagent.model.as_deref());
    let named = of_subagents.chain([model]);
    named.filter_map(|model| Some((model.to_owned(), (request.context_window)(model)?))).collect()
}

#[cfg(test)]
mod tests;
