//! What an adapter answers for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use warren_domain::{
    AgentProfile, AgentType, ApprovalDecision, ApprovalKind, BlockId, Content, Draft, ErrorCode,
    PermissionMode, ReasoningEffort, SessionId, Timestamp,
};

use crate::{Adopted, Companions, LayoutFile, LayoutRequest, Parsed, ProfilePart, TranscriptPlan};

/// One agent: how it is started and what it leaves behind.
///
/// One process carries out one run. Its stdin stays open during the run, for interrupts, answers and steering, and is
/// closed after [`Output::TurnEnded`]; then it exits.
pub trait Adapter: Send + Sync {
    /// Its name in requests and records.
    fn agent_type(&self) -> AgentType;

    /// Other names under which requests may ask for it.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// The installed program it needs, as [`LaunchRequest::programs`] names it. `None`: every sandbox has it.
    fn program(&self) -> Option<&'static str> {
        None
    }

    /// Checks what a session or a message asks of it, before anything starts. `content` is the message, if there is one.
    ///
    /// # Errors
    /// When this agent could only ignore it.
    fn accepts(&self, _mode: PermissionMode, _content: Option<&Content>) -> Result<(), LaunchError> {
        Ok(())
    }

    /// The parts of a profile that it has no place for. What it reports by itself is not among them.
    fn ignores(&self) -> &'static [ProfilePart] {
        &[]
    }

    /// The process to start for one run.
    ///
    /// # Errors
    /// When the request lacks something this agent cannot do without.
    fn launch(&self, request: &LaunchRequest<'_>) -> Result<Launch, LaunchError>;

    /// Whether it can be told how much its model thinks ([`LaunchRequest::effort`]).
    fn has_effort(&self) -> HasEffort {
        HasEffort::No
    }

    /// Whether a run with this model asks for it by this API.
    fn asks_for(&self, api: ModelApi, model: &str) -> bool;

    /// The files a profile becomes. Paths never leave their place.
    fn layout(&self, request: &LayoutRequest<'_>) -> Vec<LayoutFile>;

    /// Where the agent keeps its own memory of a session.
    fn transcripts(&self, session: SessionId) -> Box<dyn TranscriptPlan>;

    /// A translator for the process that [`launch`](Adapter::launch) describes for the same request.
    fn codec(&self, request: &LaunchRequest<'_>) -> Box<dyn Codec>;

    /// A translator for what a process once printed, in any form in which people keep such recordings.
    fn recorded(&self) -> Box<dyn Codec>;

    /// Where the subagents' transcripts of a main transcript lie, by the main one's file name and content. `None`: the
    /// main one holds everything, or nothing tells.
    fn companions(&self, _file_name: &str, _main: &[u8]) -> Option<Companions> {
        None
    }

    /// Whether whatever it says of tokens says what they cost, too: 0 is then a price, and not that nothing was said.
    fn tells_cost(&self) -> bool {
        false
    }

    /// The subagent whose transcript a file is that lies in the same directory as the main one, by its name and, if that
    /// does not rule it out, the beginning of its content, which `head` reads. `None`: it is something else, or of another
    /// session. Versions that put subagents there put those of all sessions there.
    fn beside(&self, _main: (&str, &[u8]), _name: &str, _head: &dyn Fn() -> Vec<u8>) -> Option<String> {
        None
    }

    /// Whether an object, at the beginning of a transcript or of a recording, is one that only this agent writes. It may
    /// be known by its outermost names alone, without their values.
    fn wrote(&self, _object: &Map<String, Value>) -> bool {
        false
    }

    /// Makes somebody's transcript one of `session`, so that the agent goes on from it.
    fn adopt(&self, _session: SessionId, main: &[u8]) -> Adopted {
        Adopted { main: main.to_vec(), state: None }
    }

    /// The same for the transcript of one of its subagents.
    fn adopt_subagent(&self, transcript: Vec<u8>) -> Vec<u8> {
        transcript
    }

    /// Blocks from saved transcripts, without a sandbox. `subagents` are pairs of id and file content, in any order.
    fn parse(&self, main: &[u8], subagents: &[(String, Vec<u8>)]) -> Parsed;
}

/// Translates one process's stream into events, and what people say into its input.
///
/// Every event it makes may need a time: `at` is now, and counts only where the agent gives no time of its own.
pub trait Codec: Send + Sync {
    /// Reads one line, without its end. A line it cannot read becomes `Unrecognized`.
    fn decode(&mut self, line: &[u8], at: Timestamp, out: &mut Vec<Output>);

    /// The process has started: begins the run. The prompt becomes a block, now or when the agent repeats it, but only
    /// once. Its id is [`Prompt::message`], unless the agent keeps no such name: then it is the one that its transcript
    /// will give it.
    fn begin(&mut self, prompt: &Prompt, at: Timestamp, out: &mut Vec<Output>);

    /// Stops the turn by what it puts into `out`. `false`: this agent has no word for that.
    fn interrupt(&mut self, _out: &mut Vec<Output>) -> bool {
        false
    }

    /// Tells a working agent something more. Its block appears when the agent takes it up. `false`: this agent hears
    /// nothing now.
    fn steer(&mut self, _prompt: &Prompt, _at: Timestamp, _out: &mut Vec<Output>) -> bool {
        false
    }

    /// Answers what was [`Asked`](Output::Asked) under `key`. `false`: nobody waits for it any more.
    fn answer(&mut self, _key: &str, _answer: &Answer, _at: Timestamp, _out: &mut Vec<Output>) -> bool {
        false
    }

    /// The process is gone. Gives the end of the turn if the process did not.
    fn ended(&mut self, exit: &Exit, at: Timestamp, out: &mut Vec<Output>);
}

/// A message for an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The id its block must have: `msg-` and a UUID.
    pub message: BlockId,
    /// What it says.
    pub content: Content,
}

/// What a codec makes of what an agent says.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Something to record.
    Event(Draft),
    /// Bytes for the agent's stdin.
    Send(Vec<u8>),
    /// The agent waits for a person.
    Asked(Ask),
    /// It waits no longer for what was asked under this key, though nobody answered.
    Withdrawn(String),
    /// A tool call ran that a person had to allow first, and nobody did. Only codecs that can tell say so.
    Unapproved {
        /// The tool.
        tool_name: String,
        /// The call.
        tool_use_id: String,
    },
    /// What must be known to continue this session later; replaces what was said before. See [`LaunchRequest::state`].
    State(Value),
    /// The agent is done with the prompt; it says nothing after this that matters.
    TurnEnded(TurnEnd),
}

/// What an agent asks a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// The agent's own name for it, unique within its process.
    pub key: String,
    /// What is asked for.
    pub kind: ApprovalKind,
    /// The tool call it is about.
    pub tool_use_id: Option<String>,
    /// One line for people.
    pub title: String,
    /// A permission: `{"toolName", "input", …}`. A question: `{"questions": [{"question", "header"?, "options":
    /// [{"label", "description"?}], "multiSelect"?}]}`, whichever agent asks.
    pub detail: Value,
    /// What may be answered.
    pub options: Vec<ApprovalDecision>,
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Yes, yes for the rest of the session, or no.
    pub decision: ApprovalDecision,
    /// What the agent is told with it.
    pub message: Option<String>,
    /// For questions: the question's text → the chosen label, or a list of labels, or free text.
    pub answers: Option<Map<String, Value>>,
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
    /// The session has a past that the agent can go on from: its transcripts are back in the home, and
    /// [`TranscriptPlan::is_resumable`] said yes, or there is a [`state`](LaunchRequest::state).
    pub resume: bool,
    /// What the agent's codec last said must be known to continue.
    pub state: Option<&'a Value>,
    /// Whether the agent must ask before it acts.
    pub permission_mode: PermissionMode,
    /// Programs that are installed: by name, the words that start each. All are mounted read-only.
    pub programs: &'a BTreeMap<String, Vec<String>>,
    /// The model the run asks for; else the profile's, else the agent's own default.
    pub model: Option<&'a str>,
    /// How much the model thinks; the agent's own choice if absent. Only for who [has it](Adapter::has_effort).
    pub effort: Option<ReasoningEffort>,
    /// The window of a model in tokens, by its name; `None` where nobody knows.
    pub context_window: fn(&str) -> Option<u64>,
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

/// Whether an agent can be told how much its model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HasEffort {
    /// It has no word for it.
    No,
    /// It can.
    Yes,
    /// It can from this version of its program on; older ones do not start with what they do not know.
    Since(&'static str),
}

impl HasEffort {
    /// Whether it has it in the version that is installed; `None` if none is, and the pinned one will be.
    #[must_use]
    pub fn in_version(self, installed: Option<&str>) -> bool {
        let numbers = |version: &str| -> Vec<u64> {
            version.split(['.', '-']).map_while(|part| part.parse().ok()).collect()
        };
        match self {
            HasEffort::No => false,
            HasEffort::Yes => true,
            HasEffort::Since(first) => installed.is_none_or(|version| numbers(version) >= numbers(first)),
        }
    }
}

/// A provider's wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelApi {
    /// Anthropic's Messages API.
    Anthropic,
    /// Google's generateContent.
    Gemini,
    /// OpenAI's chat completions.
    OpenAiChat,
    /// OpenAI's responses.
    OpenAiResponses,
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
    /// Its program is not installed.
    #[error("agent `{agent}` is not installed")]
    NotInstalled {
        /// Which agent.
        agent: AgentType,
        /// The program it needs.
        program: String,
    },
    /// It cannot ask before it acts.
    #[error("agent `{agent}` cannot ask before it acts")]
    CannotAsk {
        /// Which agent.
        agent: AgentType,
        /// What to do instead.
        instead: &'static str,
    },
    /// Images in messages do not reach its model.
    #[error("agent `{agent}` does not accept images in messages")]
    NoImages {
        /// Which agent.
        agent: AgentType,
    },
    /// The message is a command of the agent's own that has no effect in a session.
    #[error("`{command}` of agent `{agent}` has no effect in a session")]
    NoEffect {
        /// Which agent.
        agent: AgentType,
        /// The command.
        command: String,
        /// What to do instead.
        instead: &'static str,
    },
    /// The profile names no command.
    #[error("agent `{agent}` needs a command in its profile")]
    NoCommand {
        /// Which agent.
        agent: AgentType,
    },
}

impl LaunchError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            LaunchError::NoEndpoint { .. } => None,
            LaunchError::NotInstalled { program, .. } => {
                Some(format!("run `warren agents install {program}`"))
            }
            LaunchError::CannotAsk { instead, .. } => Some(format!(
                "{instead}, or leave out `permissionMode: \"ask\"` (`--ask`): the sandbox isolates it either way"
            )),
            LaunchError::NoEffect { instead, .. } => Some((*instead).to_owned()),
            LaunchError::NoImages { .. } => Some(
                "upload the image as a file of the session and name its path in the message: the agent can read it"
                    .to_owned(),
            ),
            LaunchError::NoCommand { .. } => Some("set `command` in the profile".to_owned()),
        }
    }
}

impl Answer {
    /// What a no says, for an agent whose own way to be told no has no place for words. `None`: there is nothing to say.
    pub(crate) fn reason(&self, about: &str) -> Option<String> {
        let said = self.message.as_deref().map(str::trim).filter(|said| !said.is_empty())?;
        (self.decision == ApprovalDecision::Deny).then(|| format!("I said no to `{about}`: {said}"))
    }
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

    /// The words that start an installed program.
    ///
    /// # Errors
    /// When it is not installed; `agent` is named in the error.
    pub(crate) fn program(&self, agent: &AgentType, program: &str) -> Result<&[String], LaunchError> {
        let missing = || LaunchError::NotInstalled { agent: agent.clone(), program: program.to_owned() };
        self.programs.get(program).map(Vec::as_slice).ok_or_else(missing)
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

#[cfg(test)]
mod tests {
    use super::HasEffort;

    #[test]
    fn effort_of_an_older_program_is_not_known() {
        let since = HasEffort::Since("2.1.325");
        let known = |version| since.in_version(Some(version));
        assert_eq!(["2.1.325", "2.1.1000", "2.2.0", "3.0"].map(known), [true; 4]);
        assert_eq!(["2.0.999", "2.1.324", "1.9", "2.1"].map(known), [false; 4]);
        // Then the pinned version will be.
        assert!(since.in_version(None) && HasEffort::Yes.in_version(Some("0.1")));
        assert!(!HasEffort::No.in_version(None));
    }
}
