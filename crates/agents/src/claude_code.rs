//! Claude Code, started headless and driven over its stdin.
//!
//! Its session id is ours, and a message's UUID is the one of its block, so that its output, its transcript and our
//! log name everything alike. Claude Code runs on its own hands (`bypassPermissions`: the sandbox is the guard) or
//! asks; see [`launch`]. A profile's npm and pip dependencies have no place here: whoever makes the sandbox installs
//! them. A file that a message names is named in its text, since Claude Code takes only texts and pictures.

mod agents;
mod blocks;
mod codec;
mod launch;
mod layout;
mod native;
mod parse;
mod scan;
mod transcripts;
mod user;

use serde_json::{Map, Value};
use warren_domain::{AgentType, Content, PermissionMode, SessionId};

use crate::{
    Adapter, Adopted, Codec, Companions, HasEffort, Launch, LaunchError, LaunchRequest, LayoutFile,
    LayoutRequest, ModelApi, Parsed, TranscriptPlan,
    detect::{has, word},
};
use codec::ClaudeCodec;

/// Its name in requests, and among the installed programs.
const NAME: &str = "claude-code";

/// Its command that begins a conversation without a past, and what else that is called.
const CLEAR: &str = "/clear";
const CLEAR_ALIASES: [&str; 2] = ["/new", "/reset"];

/// Where it keeps everything of its own, beneath the home.
const CONFIG_DIRECTORY: &str = ".claude";

/// The adapter.
pub(crate) struct ClaudeCode;

impl Adapter for ClaudeCode {
    fn agent_type(&self) -> AgentType {
        AgentType::from(NAME)
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["claude-agent-sdk", "claude"]
    }

    fn program(&self) -> Option<&'static str> {
        Some(NAME)
    }

    /// `/clear` begins a conversation under a name of its own, and the next message would go on with the old one.
    fn accepts(&self, _mode: PermissionMode, content: Option<&Content>) -> Result<(), LaunchError> {
        let said = content.map(Content::to_text).unwrap_or_default();
        let said = said.trim();
        let command = said.split_whitespace().next().unwrap_or_default();
        // Its other names could be those of a command of the profile, with words behind it.
        if command != CLEAR && !CLEAR_ALIASES.contains(&said) {
            return Ok(());
        }
        Err(LaunchError::NoEffect {
            agent: self.agent_type(),
            command: command.to_owned(),
            instead: "begin a new session, which can share the workspace (`workspaceId`); `/compact` shortens this one",
        })
    }

    fn launch(&self, request: &LaunchRequest<'_>) -> Result<Launch, LaunchError> {
        launch::launch(&self.agent_type(), request)
    }

    fn has_effort(&self) -> HasEffort {
        HasEffort::Since(launch::EFFORT_SINCE)
    }

    fn asks_for(&self, api: ModelApi, _model: &str) -> bool {
        api == ModelApi::Anthropic
    }

    fn layout(&self, request: &LayoutRequest<'_>) -> Vec<LayoutFile> {
        layout::files(request.profile)
    }

    fn transcripts(&self, session: SessionId) -> Box<dyn TranscriptPlan> {
        Box::new(transcripts::Plan::of(session))
    }

    fn codec(&self, request: &LaunchRequest<'_>) -> Box<dyn Codec> {
        Box::new(ClaudeCodec::launched(self.agent_type(), request))
    }

    fn recorded(&self) -> Box<dyn Codec> {
        Box::new(ClaudeCodec::recorded(self.agent_type()))
    }

    fn companions(&self, file_name: &str, _main: &[u8]) -> Option<Companions> {
        let session = file_name.strip_suffix(".jsonl")?;
        Some(Companions { directory: format!("{session}/subagents"), prefix: "agent-", suffix: ".jsonl" })
    }

    fn beside(&self, main: (&str, &[u8]), name: &str, head: &dyn Fn() -> Vec<u8>) -> Option<String> {
        transcripts::beside(main, name, head)
    }

    fn adopt(&self, session: SessionId, main: &[u8]) -> Adopted {
        Adopted { main: transcripts::renamed(main, session), state: None }
    }

    fn wrote(&self, object: &Map<String, Value>) -> bool {
        let is_saved = has(object, &["type", "sessionId"])
            && (has(object, &["uuid", "parentUuid"]) || has(object, &["operation"]));
        let is_told = match word(object, "type") {
            "system" | "result" => has(object, &["subtype"]),
            "assistant" | "user" => has(object, &["message"]),
            "control_request" | "control_response" | "command_lifecycle" | "stream_event" => true,
            _ => false,
        };
        is_saved || is_told
    }

    fn parse(&self, main: &[u8], subagents: &[(String, Vec<u8>)]) -> Parsed {
        parse::parse(main, subagents)
    }
}

#[cfg(test)]
mod tests;
