//! Any agent that speaks ACP, the Agent Client Protocol (version 1), on stdin and stdout; the profile says by which
//! command it starts.
//!
//! The agent is its own keeper: what it remembers lies in its home, under a name that the codec asks to remember as
//! state. Instructions go with the first prompt, MCP servers with the session. The protocol has no place for a profile's
//! skills, subagents, commands and tools.

mod ask;
mod call;
mod codec;
mod ending;
mod modes;
mod opening;
mod overheard;
mod reasons;
mod thread;
mod usage;

use serde_json::{Map, Value, json};
use warren_domain::{AgentType, Conversations, McpServer, SessionId, Timestamp};

use crate::{
    Adapter, Codec, Launch, LaunchError, LaunchRequest, LayoutFile, LayoutRequest, ModelApi, ModelEndpoint,
    Output, Parsed, ProfilePart, TranscriptFile, TranscriptName, TranscriptPlan,
    detect::{has, word},
    fields::{text, texts},
    gemini_cli,
    layout::workspace_files,
    transcripts::Unread,
};

/// The adapter.
pub(crate) struct Acp;

impl Adapter for Acp {
    fn agent_type(&self) -> AgentType {
        AgentType::from("acp")
    }

    fn ignores(&self) -> &'static [ProfilePart] {
        &[ProfilePart::Skills, ProfilePart::Subagents, ProfilePart::Commands, ProfilePart::Tools]
    }

    fn launch(&self, request: &LaunchRequest<'_>) -> Result<Launch, LaunchError> {
        let missing = || LaunchError::NoCommand { agent: self.agent_type() };
        let command = request.profile.command.as_deref().unwrap_or_default();
        let (first, rest) = command.split_first().ok_or_else(missing)?;
        // The first word may be the name of an installed program, which knows better how it starts.
        let program = request.programs.get(first).cloned().unwrap_or_else(|| vec![first.clone()]);
        let is_known = request.state.is_some_and(|state| text(state, "sessionId").is_some());
        // It forgets what it did within the same minute, by this protocol too.
        let forgets = first == gemini_cli::PROGRAM && is_known;
        let before = forgets.then(|| gemini_cli::backdated(request.home)).into_iter().flatten();
        let argv = before.chain(program).chain(rest.iter().cloned()).collect();
        let mut env = request.profile.environment_variables.clone();
        for (key, value) in request.endpoints.iter().flat_map(variables) {
            env.entry(key.to_owned()).or_insert(value);
        }
        env.insert("HOME".to_owned(), request.home.to_owned());
        Ok(Launch { argv, env, cwd: request.workspace.to_owned() })
    }

    fn asks_for(&self, _api: ModelApi, _model: &str) -> bool {
        // Whatever the profile's command is, it decides for itself.
        true
    }

    fn layout(&self, request: &LayoutRequest<'_>) -> Vec<LayoutFile> {
        workspace_files(request.profile).collect()
    }

    fn transcripts(&self, _session: SessionId) -> Box<dyn TranscriptPlan> {
        Box::new(Nothing)
    }

    fn codec(&self, request: &LaunchRequest<'_>) -> Box<dyn Codec> {
        Box::new(codec::AcpCodec::new(self.agent_type(), Some(beginning(request))))
    }

    fn recorded(&self) -> Box<dyn Codec> {
        Box::new(codec::AcpCodec::new(self.agent_type(), None))
    }

    /// What was said on the wire is all there is to keep, so a recording of it is the transcript.
    fn wrote(&self, object: &Map<String, Value>) -> bool {
        has(object, &["jsonrpc"]) || word(object, "method").starts_with("session/")
    }

    fn parse(&self, main: &[u8], _subagents: &[(String, Vec<u8>)]) -> Parsed {
        let (mut codec, mut unread) = (codec::AcpCodec::new(self.agent_type(), None), Unread::default());
        let (mut conversations, mut usage) = (Conversations::default(), None);
        let mut out = Vec::new();
        for line in main.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
            if !codec.read(line, Timestamp::from_millis(0), &mut out) {
                unread.note(line);
            }
            for output in out.drain(..) {
                if let Output::Event(draft) = output {
                    conversations.apply_draft(&draft);
                    usage = codec.spent().cloned().or(usage);
                }
            }
        }
        unread.parsed(conversations, usage)
    }
}

/// Nothing to keep: the agent's home is kept as a whole, elsewhere.
struct Nothing;

impl TranscriptPlan for Nothing {
    fn root(&self) -> String {
        ".warren/acp".to_owned()
    }

    fn file(&self, _path: &str) -> Option<TranscriptFile> {
        None
    }

    fn path(&self, _name: &TranscriptName, _content: &[u8]) -> Option<String> {
        None
    }

    fn is_resumable(&self, _main: &[u8]) -> bool {
        false
    }
}

/// The variables by which programs usually learn where a model API is.
fn variables(endpoint: &ModelEndpoint) -> Vec<(&'static str, String)> {
    let (url, key) = (endpoint.base_url.clone(), endpoint.placeholder_key.clone());
    match endpoint.api {
        ModelApi::Anthropic => vec![("ANTHROPIC_BASE_URL", url), ("ANTHROPIC_API_KEY", key)],
        ModelApi::Gemini => vec![("GOOGLE_GEMINI_BASE_URL", url), ("GEMINI_API_KEY", key)],
        ModelApi::OpenAiChat | ModelApi::OpenAiResponses => {
            let url = if url.ends_with("/v1") { url } else { format!("{url}/v1") };
            vec![("OPENAI_BASE_URL", url), ("OPENAI_API_KEY", key)]
        }
    }
}

/// How a run begins.
fn beginning(request: &LaunchRequest<'_>) -> codec::Plan {
    let profile = request.profile;
    let texts = [profile.system_prompt.as_deref(), profile.agent_md_file.as_deref()];
    let texts: Vec<&str> =
        texts.into_iter().flatten().map(str::trim).filter(|text| !text.is_empty()).collect();
    let known = request.state.and_then(|state| text(state, "sessionId"));
    codec::Plan {
        workspace: request.workspace.to_owned(),
        mcp_servers: profile.bundled_mcps.iter().chain(&profile.external_mcps).map(mcp_server).collect(),
        permission_mode: request.permission_mode,
        model: request.model.or(profile.model.as_deref()).map(str::to_owned),
        instructions: (!texts.is_empty()).then(|| texts.join("\n\n")),
        known: known.map(str::to_owned),
        n_prompts: request.state.map_or(0, |state| crate::fields::number(state, "prompts")),
    }
}

/// An MCP server in the protocol's form.
fn mcp_server(server: &McpServer) -> Value {
    let settings = Value::Object(server.settings.clone());
    let pairs = |key: &str| -> Vec<Value> {
        let fields = settings.get(key).and_then(Value::as_object).into_iter().flatten();
        let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        fields.map(|(name, field)| json!({"name": name, "value": value(field)})).collect()
    };
    match text(&settings, "url") {
        Some(url) => {
            let kind = text(&settings, "type").unwrap_or("http");
            json!({"type": kind, "name": server.name, "url": url, "headers": pairs("headers")})
        }
        None => json!({
            "name": server.name, "command": text(&settings, "command").unwrap_or_default(),
            "args": texts(&settings, "args"), "env": pairs("env"),
        }),
    }
}

#[cfg(test)]
mod tests;
