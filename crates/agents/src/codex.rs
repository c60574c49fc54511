//! Codex, driven by its app server: JSON-RPC on stdin and stdout, with deltas, approvals and steering.
//!
//! What the app server reports, what `codex exec --json` prints and what rollout files keep become one kind of
//! [`item`](item::Item); [`story`] writes items down as events, live and from files alike. [`ids`] says why a block has
//! the same name everywhere.
//! Of a profile it has no place for `tools`; npm and pip packages of skills are not installed.

mod adopt;
mod ask;
mod calls;
mod codec;
mod exec;
mod ids;
mod item;
mod layout;
mod legacy;
mod notices;
mod parse;
mod plan;
mod printed;
mod reported;
mod rollout;
mod scribe;
mod shell;
mod stored;
mod story;
mod usage;

use serde_json::{Map, Value, json};
use warren_domain::{AgentType, PermissionMode, SessionId};

use crate::{
    Adapter, Adopted, Codec, HasEffort, Launch, LaunchError, LaunchRequest, LayoutFile, LayoutRequest,
    ModelApi, Parsed, ProfilePart, TranscriptPlan,
    detect::{has, word},
    fields::text,
};

/// The installed program.
const PROGRAM: &str = "codex";

/// The model that is asked for when nobody names one. Codex's own choice changes with its releases and with what an
/// account may use, and some of its models work by writing programs instead of calling tools.
const DEFAULT_MODEL: &str = "gpt-5.5";

/// What Codex is told of processes that are to go on. It kills the process group of a command that has ended, and its own
/// sessions when it exits, which it does after each turn.
const BACKGROUND: &str = "Processes that a command leaves in the background end with that command, and commands that are still \
    running end with your turn. To leave a server or another process running for the user, start it with `setsid`, as in \
    `setsid npm run dev > /tmp/dev.log 2>&1 < /dev/null &`.";

/// The adapter.
pub(crate) struct Codex;

impl Adapter for Codex {
    fn agent_type(&self) -> AgentType {
        AgentType::from("codex")
    }

    fn program(&self) -> Option<&'static str> {
        Some(PROGRAM)
    }

    fn ignores(&self) -> &'static [ProfilePart] {
        &[ProfilePart::Tools]
    }

    fn launch(&self, request: &LaunchRequest<'_>) -> Result<Launch, LaunchError> {
        let endpoint = request.endpoint(&self.agent_type(), ModelApi::OpenAiResponses)?;
        let program = request.program(&self.agent_type(), PROGRAM)?;
        let mut argv: Vec<String> = program.iter().cloned().chain(["app-server".to_owned()]).collect();
        if let Some(effort) = request.effort {
            argv.extend(["-c".to_owned(), format!("model_reasoning_effort=\"{}\"", effort.as_str())]);
        }
        let mut env = request.profile.environment_variables.clone();
        env.insert("HOME".to_owned(), request.home.to_owned());
        env.insert("CODEX_HOME".to_owned(), format!("{}/{}", request.home, layout::HOME));
        env.insert(layout::KEY_VARIABLE.to_owned(), endpoint.placeholder_key.clone());
        Ok(Launch { argv, env, cwd: request.workspace.to_owned() })
    }

    fn has_effort(&self) -> HasEffort {
        HasEffort::Yes
    }

    fn asks_for(&self, api: ModelApi, _model: &str) -> bool {
        api == ModelApi::OpenAiResponses
    }

    fn layout(&self, request: &LayoutRequest<'_>) -> Vec<LayoutFile> {
        layout::files(request)
    }

    fn transcripts(&self, _session: SessionId) -> Box<dyn TranscriptPlan> {
        Box::new(plan::Rollouts)
    }

    fn codec(&self, request: &LaunchRequest<'_>) -> Box<dyn Codec> {
        Box::new(codec::CodexCodec::new(self.agent_type(), Some(beginning(request))))
    }

    fn recorded(&self) -> Box<dyn Codec> {
        Box::new(codec::CodexCodec::new(self.agent_type(), None))
    }

    fn adopt(&self, _session: SessionId, main: &[u8]) -> Adopted {
        let state = rollout::thread(main).map(|thread| json!({"threadId": thread}));
        Adopted { main: adopt::with_own_provider(main), state }
    }

    fn adopt_subagent(&self, transcript: Vec<u8>) -> Vec<u8> {
        adopt::with_own_provider(&transcript)
    }

    fn wrote(&self, object: &Map<String, Value>) -> bool {
        let begins = |text: &str, heads: &[&str]| heads.iter().any(|head| text.starts_with(head));
        let is_saved = has(object, &["type", "payload", "timestamp"]);
        // Its server leaves the protocol's name out, ACP does not.
        let is_call = !has(object, &["jsonrpc"])
            && begins(word(object, "method"), &["thread/", "turn/", "item/", "codex/", "initialize"]);
        // What older versions saved and printed.
        let is_old = has(object, &["record_type"])
            || has(object, &["id", "timestamp", "instructions"])
            || has(object, &["session", "items"])
            || (has(object, &["id"]) && object.get("msg").is_some_and(|told| told.get("type").is_some()));
        is_saved || is_call || is_old || begins(word(object, "type"), &["thread.", "turn.", "item."])
    }

    fn parse(&self, main: &[u8], subagents: &[(String, Vec<u8>)]) -> Parsed {
        parse::parse(main, subagents)
    }
}

/// How a run begins: in a new thread, or in the one that the session had.
fn beginning(request: &LaunchRequest<'_>) -> codec::Plan {
    // Codex asks about everything it does not know to be harmless, or about nothing.
    let policy = match request.permission_mode {
        PermissionMode::Auto => "never",
        PermissionMode::Ask => "untrusted",
    };
    let mut params = json!({
        "cwd": request.workspace,
        "approvalPolicy": policy,
        "sandbox": "danger-full-access",
    });
    let model = request.model.or(request.profile.model.as_deref()).or(Some(DEFAULT_MODEL));
    let own = request.profile.system_prompt.as_deref().filter(|text| !text.trim().is_empty());
    let instructions = own.into_iter().chain([BACKGROUND]).collect::<Vec<_>>().join("\n\n");
    for (key, value) in [("model", model), ("developerInstructions", Some(instructions.as_str()))] {
        if let Some(value) = value {
            params[key] = json!(value);
        }
    }
    let known = request.state.and_then(|state: &Value| text(state, "threadId"));
    let method = match known {
        Some(thread) => {
            params["threadId"] = json!(thread);
            params["excludeTurns"] = json!(true);
            "thread/resume"
        }
        None => "thread/start",
    };
    let profile = request.profile;
    let servers = profile.bundled_mcps.iter().chain(&profile.external_mcps);
    let mcp_servers = servers.map(|server| server.name.clone()).collect();
    codec::Plan { method, params, permission_mode: request.permission_mode, mcp_servers }
}

#[cfg(test)]
mod tests;
