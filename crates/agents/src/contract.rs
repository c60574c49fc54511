//! What an adapter answers for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use warren_domain::{AgentProfile, AgentType, BlockId, Content, Draft, ErrorCode, SessionId};

use crate::{LayoutFile, Parsed, TranscriptPlan};

/// One agent: how it is started and what it leaves behind.
///
/// One process carries out one run. Its stdin stays open during the run, for interrupts and steering, and is closed
/// after [`Output::TurnEnded`]; then it exits.
pub trait Adapter: Send + Sync {
    /// Its name in requests and records.
    fn agent_type(&self) -> AgentType;

    /// Other names under which requests may ask for it.
    fn aliases(&self) -> &'static [&'static str];

    /// The process to start for one run.
    ///
    /// # Errors
    /// When the request lacks something this agent cannot do without.
    fn launch(&self, request: &LaunchRequest<'_>) -> Result<Launch, LaunchError>;

    /// The files a profile becomes. Paths never leave their place.
    fn layout(&self, profile: &AgentProfile) -> Vec<LayoutFile>;

    /// Where the agent keeps its own memory of a session.
    fn transcripts(&self, session: SessionId) -> TranscriptPlan;

    /// A translator for one process.
    fn codec(&self) -> Box<dyn Codec>;

    /// Blocks from saved transcripts, without a sandbox. `subagents` are pairs of id and file content.
    fn parse(&self, main: &[u8], subagents: &[(String, Vec<u8>)]) -> Parsed;
}

/// Translates one process's stream into events, and prompts into its input.
pub trait Codec: Send + Sync {
    /// Reads one line, without its end. A line it cannot read becomes `Unrecognized`.
    fn decode(&mut self, line: &[u8], out: &mut Vec<Output>);

    /// Bytes for stdin that begin the run.
    fn prompt(&mut self, prompt: &Prompt) -> Vec<u8>;

    /// Bytes for stdin that stop the turn. `None`: this agent can only be killed.
    fn interrupt(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// Bytes for stdin that tell a working agent something more. `None`: this agent hears nothing while it works.
    fn steer(&mut self, _prompt: &Prompt) -> Option<Vec<u8>> {
        None
    }

    /// The process is gone. Gives the end of the turn if the process did not.
    fn ended(&mut self, exit: &Exit, out: &mut Vec<Output>);
}

/// A message for an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The id its block must have.
    pub message: BlockId,
    /// What it says.
    pub content: Content,
}

/// What a codec makes of what an agent says.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every output is an event: a box would only cost an allocation"
)]
pub enum Output {
    /// Something to record.
    Event(Draft),
    /// The agent is done with the prompt; it says nothing after this that matters.
    TurnEnded(TurnEnd),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum TurnEnd {
    /// The agent did what it could.
    Completed {
        /// The last thing it said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
    },
    /// It could not go on.
    Failed {
        /// What kind of failure.
        code: ErrorCode,
        /// What happened, for people.
        message: String,
        /// Whether the next message may go on from here.
        recoverable: bool,
    },
    /// It was stopped.
    Interrupted,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exit {
    /// Its exit code, if it exited.
    pub code: Option<i32>,
    /// The signal that killed it, if one did.
    pub signal: Option<i32>,
}

/// What the runtime knows when it starts an agent.
#[derive(Debug, Clone, Copy)]
pub struct LaunchRequest<'a> {
    /// Whose run it is.
    pub session: SessionId,
    /// The workspace's path in the sandbox.
    pub workspace: &'a str,
    /// The agent's home in the sandbox.
    pub home: &'a str,
    /// The session has had a run before: its transcripts go back first.
    pub resume: bool,
    /// The model the run asks for; else the profile's, else the agent's own default.
    pub model: Option<&'a str>,
    /// What the agent is given.
    pub profile: &'a AgentProfile,
    /// The model APIs that listen inside the sandbox.
    pub endpoints: &'a [ModelEndpoint],
}

/// A model API on the sandbox's loopback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelEndpoint {
    /// What it speaks.
    pub api: ModelApi,
    /// Its address as seen by the agent, without a trailing slash.
    pub base_url: String,
    /// Stands for the key, which never enters a sandbox.
    pub placeholder_key: String,
}

/// A provider's wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelApi {
    /// Anthropic's Messages API.
    Anthropic,
}

/// The process to start for one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Its environment, beside `PATH` and what else every process of a sandbox is given.
    pub env: BTreeMap<String, String>,
    /// Where it starts.
    pub cwd: String,
    /// The model APIs it will call: they must listen before it starts.
    pub apis: Vec<ModelApi>,
    /// Transcripts that must be back in the home before it starts.
    pub put_back: Option<TranscriptPlan>,
}

/// Why an agent cannot be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// It needs a model API that the sandbox does not offer.
    #[error("agent `{agent}` needs the {api:?} API, which the sandbox does not offer")]
    NoEndpoint {
        /// Which agent.
        agent: AgentType,
        /// What it needs.
        api: ModelApi,
    },
}

impl LaunchRequest<'_> {
    /// The endpoint that speaks `api`.
    ///
    /// # Errors
    /// When there is none; `agent` is named in the error.
    pub(crate) fn endpoint(&self, agent: &AgentType, api: ModelApi) -> Result<&ModelEndpoint, LaunchError> {
        let found = self.endpoints.iter().find(|endpoint| endpoint.api == api);
        found.ok_or_else(|| LaunchError::NoEndpoint { agent: agent.clone(), api })
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.code, self.signal) {
            (_, Some(signal)) => write!(f, "killed by signal {signal}"),
            (Some(code), None) => write!(f, "exit code {code}"),
            (None, None) => f.write_str("no exit code"),
        }
    }
}
