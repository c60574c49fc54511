//! Gemini CLI, without its own screen.
//!
//! One process carries out one prompt: `gemini -o stream-json`, the prompt on stdin. What it prints lacks thoughts,
//! whole answers of tools, and subagents; these are only in its chat files. So it is started by the guest's `follow`,
//! which prints the lines of those files beside Gemini's own: see [`codec`]. [`chat`] says how ids come to be the same
//! in what is printed, what is written, and what is read again later.
//!
//! A profile's place: the system prompt and the instructions become `GEMINI.md`, after Gemini's own system prompt, which
//! stays; skills, subagents and commands become files of Gemini's own forms beneath `~/.gemini`; MCP servers, tools and
//! everything that would call home go into `settings.json`. Skills' npm and pip packages have no place.
//!
//! Permission mode `ask` is refused: without its own screen Gemini cannot ask anyone. It can ask by the Agent Client
//! Protocol (`gemini --acp`), which is the agent `acp`. Images in messages are refused too: its stdin takes text alone.
//! It takes no further message while it works, and an interrupt is a signal: it exits at once with code 0, and `follow`
//! ends the commands it was running.

mod blocks;
mod chat;
mod codec;
mod layout;
mod native;
mod parse;
mod plan;
mod record;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use warren_domain::{AgentType, Content, PermissionMode, SessionId};

use crate::{
    Adapter, Adopted, Codec, Companions, Launch, LaunchError, LaunchRequest, LayoutFile, LayoutRequest,
    ModelApi, Parsed, TranscriptPlan,
    detect::{has, word},
    transcripts::Unread,
};

/// The installed program.
pub(crate) const PROGRAM: &str = "gemini-cli";

/// Prints what Gemini writes beside what it prints.
const FOLLOW: [&str; 2] = ["/warren/guest", "follow"];

/// Gives the chat that is gone on from an old name. Gemini names a chat by the minute: one that it goes on from within the
/// minute of its last start it writes over while it reads it, and the calls of tools in it are lost.
const BACKDATE: &str = r#"d=$1; shift
for c in "$d"/*/chats; do
  new=$(ls -S "$c"/session-*.jsonl 2>/dev/null | head -n 1)
  old="$c/session-2000-01-01T00-00-${new##*-}"
  if [ -n "$new" ] && [ "$new" != "$old" ]; then mv -f "$new" "$old"; fi
done
exec "$@""#;

/// The model that is asked for when nobody names one. A name always goes along: left to itself, Gemini asks a model
/// which model to ask.
const DEFAULT_MODEL: &str = "gemini-2.5-pro";

/// The adapter.
pub(crate) struct GeminiCli;

impl Adapter for GeminiCli {
    fn agent_type(&self) -> AgentType {
        AgentType::from("gemini-cli")
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["gemini"]
    }

    fn program(&self) -> Option<&'static str> {
        Some(PROGRAM)
    }

    fn accepts(&self, mode: PermissionMode, content: Option<&Content>) -> Result<(), LaunchError> {
        if mode == PermissionMode::Ask {
            let instead = "use the agent `acp` with a profile whose `command` is `gemini-cli --acp`";
            return Err(LaunchError::CannotAsk { agent: self.agent_type(), instead });
        }
        match content {
            Some(content) if content.has_image() => Err(LaunchError::NoImages { agent: self.agent_type() }),
            _ => Ok(()),
        }
    }

    fn launch(&self, request: &LaunchRequest<'_>) -> Result<Launch, LaunchError> {
        self.accepts(request.permission_mode, None)?;
        let program = request.program(&self.agent_type(), PROGRAM)?;
        let chats = format!("{}/{}", request.home, plan::ROOT);
        let mut argv: Vec<String> = Vec::new();
        if goes_on(request) {
            argv.extend(backdated(request.home));
        }
        argv.extend(FOLLOW.map(str::to_owned));
        argv.extend(["--dir", &chats, "--suffix", ".jsonl", "--prompt-line"].map(str::to_owned));
        if !goes_on(request) {
            // A chat that Gemini cannot go on from would only be taken for this session's.
            argv.push("--clear".to_owned());
        }
        argv.push("--".to_owned());
        argv.extend_from_slice(program);
        argv.extend(options(request));
        Ok(Launch { argv, env: self.environment(request)?, cwd: request.workspace.to_owned() })
    }

    fn asks_for(&self, api: ModelApi, _model: &str) -> bool {
        api == ModelApi::Gemini
    }

    fn layout(&self, request: &LayoutRequest<'_>) -> Vec<LayoutFile> {
        layout::files(request)
    }

    fn transcripts(&self, session: SessionId) -> Box<dyn TranscriptPlan> {
        Box::new(plan::ChatPlan { session })
    }

    fn codec(&self, request: &LaunchRequest<'_>) -> Box<dyn Codec> {
        Box::new(codec::GeminiCodec::live(self.agent_type(), request.state))
    }

    fn recorded(&self) -> Box<dyn Codec> {
        Box::new(codec::GeminiCodec::recorded(self.agent_type()))
    }

    fn companions(&self, _file_name: &str, main: &[u8]) -> Option<Companions> {
        let session = plan::session_of(main)?;
        Some(Companions { directory: session, prefix: "", suffix: ".jsonl" })
    }

    fn wrote(&self, object: &Map<String, Value>) -> bool {
        let is_saved = has(object, &["sessionId", "projectHash"])
            || has(object, &["$set"])
            || has(object, &["role", "parts"])
            || has(object, &["history", "authType"]);
        is_saved
            || match word(object, "type") {
                "init" => has(object, &["session_id", "model"]),
                "message" => has(object, &["role", "content", "timestamp"]),
                "gemini" => has(object, &["id", "content"]),
                "warren.file" => true,
                _ => false,
            }
    }

    /// A prompt that the chat has already gets another name when it is said again.
    fn adopt(&self, _session: SessionId, main: &[u8]) -> Adopted {
        let mut chat = chat::Chat::new();
        parse::read_into(&mut chat, main, &mut Unread::default());
        let state = codec::known(&chat, BTreeSet::new(), Some(chat.is_resumable()));
        Adopted { main: main.to_vec(), state: Some(state) }
    }

    fn parse(&self, main: &[u8], subagents: &[(String, Vec<u8>)]) -> Parsed {
        parse::parse(main, subagents)
    }
}

impl GeminiCli {
    fn environment(&self, request: &LaunchRequest<'_>) -> Result<BTreeMap<String, String>, LaunchError> {
        let endpoint = request.endpoint(&self.agent_type(), ModelApi::Gemini)?;
        let mut env = request.profile.environment_variables.clone();
        let own = [
            ("GOOGLE_GEMINI_BASE_URL", endpoint.base_url.as_str()),
            ("GEMINI_API_KEY", &endpoint.placeholder_key),
            ("HOME", request.home),
            // Otherwise it starts itself anew, and signals do not reach the one that works.
            ("GEMINI_CLI_NO_RELAUNCH", "true"),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
            ("NO_COLOR", "1"),
        ];
        env.extend(own.map(|(name, value)| (name.to_owned(), value.to_owned())));
        Ok(env)
    }
}

/// The beginning of a command that goes on from what Gemini remembers in a home. The command itself follows.
pub(crate) fn backdated(home: &str) -> [String; 5] {
    let chats = format!("{home}/{}", plan::ROOT);
    ["/bin/sh", "-c", BACKDATE, "backdate", &chats].map(str::to_owned)
}

/// Whether there is a chat that Gemini will go on from. Its codec knows; else whoever looked at the transcripts does.
fn goes_on(request: &LaunchRequest<'_>) -> bool {
    let known = request.state.and_then(|state| state.get("resumable")).and_then(Value::as_bool);
    request.resume && known.unwrap_or(true)
}

fn options(request: &LaunchRequest<'_>) -> Vec<String> {
    let model = request.model.or(request.profile.model.as_deref()).unwrap_or(DEFAULT_MODEL);
    let mut options = vec!["-o", "stream-json", "--approval-mode", "yolo", "--skip-trust", "-m", model];
    if goes_on(request) {
        // There is only one. Its own name would do no better, and one that Gemini does not know ends it.
        options.extend(["--resume", "latest"]);
    }
    options.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
