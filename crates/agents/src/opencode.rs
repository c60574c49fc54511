//! OpenCode: a server with an HTTP interface, driven through the guest's bridge.
//!
//! The bridge starts `opencode serve`, prints the server's events as lines, and takes requests as lines; so to the
//! runtime it is a process like any other. OpenCode's own memory is a database in the home. What is kept of a session
//! is what `opencode export` would give, saved after each turn: one file for it and one for each of its subagents,
//! from which any other machine can go on.
//!
//! A profile's settings, instructions, skills, subagents, commands and MCP servers all have a place. A skill's npm and
//! pip dependencies have none, and an allowed tool is known by its permission: all that write files are one. Of the
//! workspace only `AGENTS.md` is read: settings that lie there could allow what a person is to be asked.

mod asks;
mod blocks;
mod codec;
mod config;
mod events;
mod export;
mod layout;
mod lenient;
mod names;
mod native;
mod parse;
mod requests;
mod translator;

use serde::Deserialize;
use serde_json::{Map, Value};
use warren_domain::{AgentType, SessionId};

use self::{
    codec::{Driving, OpenCodeCodec, Saved},
    config::Wanted,
};
use crate::{
    Adapter, Codec, Growth, Launch, LaunchError, LaunchRequest, LayoutFile, LayoutRequest, ModelApi, Parsed,
    PlainPlan, TranscriptFile, TranscriptName, TranscriptPlan, detect::has,
};

/// The installed program.
const PROGRAM: &str = "opencode";

/// Where the sandbox has the guest.
const GUEST: &str = "/warren/guest";

/// The adapter.
pub(crate) struct OpenCode;

impl Adapter for OpenCode {
    fn agent_type(&self) -> AgentType {
        AgentType::from("opencode")
    }

    fn program(&self) -> Option<&'static str> {
        Some(PROGRAM)
    }

    fn launch(&self, request: &LaunchRequest<'_>) -> Result<Launch, LaunchError> {
        let program = request.program(&self.agent_type(), PROGRAM)?;
        let wanted = wanted(request);
        if wanted.endpoint(wanted.model()).is_none() {
            return Err(LaunchError::NoEndpoint { agent: self.agent_type(), api: ModelApi::OpenAiChat });
        }
        let bridge = [
            GUEST,
            "bridge",
            "--ready",
            "listening on",
            "--events",
            "/event",
            "--password",
            "OPENCODE_SERVER_PASSWORD",
            "--user",
            "opencode",
            "--",
        ];
        let serve = ["serve", "--hostname", "127.0.0.1", "--port", "0"];
        let argv = bridge.iter().map(|word| (*word).to_owned()).chain(program.iter().cloned());
        let argv = argv.chain(serve.iter().map(|word| (*word).to_owned())).collect();
        let mut env = request.profile.environment_variables.clone();
        env.extend(QUIET.iter().map(|name| ((*name).to_owned(), "1".to_owned())));
        env.insert("OPENCODE_CONFIG_CONTENT".to_owned(), wanted.run(request.workspace).to_string());
        env.insert("HOME".to_owned(), request.home.to_owned());
        Ok(Launch { argv, env, cwd: request.workspace.to_owned() })
    }

    fn asks_for(&self, api: ModelApi, model: &str) -> bool {
        api == config::api_of(model)
    }

    fn layout(&self, request: &LayoutRequest<'_>) -> Vec<LayoutFile> {
        layout::files(&Wanted {
            profile: request.profile,
            endpoints: request.endpoints,
            model: request.model,
            permission_mode: request.permission_mode,
        })
    }

    fn transcripts(&self, session: SessionId) -> Box<dyn TranscriptPlan> {
        Box::new(Plan(PlainPlan {
            root: directory(session),
            main: "main.json".to_owned(),
            subagents: "subagents/".to_owned(),
            prefix: "",
            suffix: ".json",
        }))
    }

    fn codec(&self, request: &LaunchRequest<'_>) -> Box<dyn Codec> {
        let driving = Driving {
            resume: request.resume,
            saved: request.state.and_then(|state| Saved::deserialize(state).ok()).unwrap_or_default(),
            model: wanted(request).model_ref(),
            program: request.programs.get(PROGRAM).cloned().unwrap_or_default(),
            home: request.home.to_owned(),
            directory: directory(request.session),
        };
        Box::new(OpenCodeCodec::new(self.agent_type(), Some(driving)))
    }

    fn tells_cost(&self) -> bool {
        true
    }

    fn recorded(&self) -> Box<dyn Codec> {
        Box::new(OpenCodeCodec::new(self.agent_type(), None))
    }

    fn wrote(&self, object: &Map<String, Value>) -> bool {
        has(object, &["info", "messages"])
            || has(object, &["session", "messages", "children"])
            || has(object, &["type", "properties"])
            || has(object, &["type", "sessionID", "part"])
            || has(object, &["info", "parts"])
    }

    fn parse(&self, main: &[u8], subagents: &[(String, Vec<u8>)]) -> Parsed {
        parse::parse(main, subagents)
    }
}

/// What keeps it from reaching for the network, or for settings that somebody left in the workspace.
const QUIET: &[&str] = &[
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_CLAUDE_CODE",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    "OPENCODE_DISABLE_EMBEDDED_WEB_UI",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_PROJECT_CONFIG",
    "OPENCODE_DISABLE_SHARE",
    "OPENCODE_DISABLE_TERMINAL_TITLE",
];

/// Exports are written anew after each turn.
struct Plan(PlainPlan);

impl TranscriptPlan for Plan {
    fn root(&self) -> String {
        self.0.root()
    }

    fn file(&self, path: &str) -> Option<TranscriptFile> {
        self.0.file(path).map(|file| TranscriptFile { growth: Growth::Rewritten, ..file })
    }

    fn path(&self, name: &TranscriptName, content: &[u8]) -> Option<String> {
        self.0.path(name, content)
    }
}

/// Where a session is saved, beneath the home.
fn directory(session: SessionId) -> String {
    format!(".warren/opencode/{session}")
}

fn wanted<'a>(request: &LaunchRequest<'a>) -> Wanted<'a> {
    Wanted {
        profile: request.profile,
        endpoints: request.endpoints,
        model: request.model,
        permission_mode: request.permission_mode,
    }
}

#[cfg(test)]
mod tests;
