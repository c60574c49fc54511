//! One turn of a session, from the prompt to `turn_ended`.

use std::{
    cell::{Cell, RefCell},
    io,
    path::PathBuf,
    rc::Rc,
};

use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};
use warren_domain::{
    ConversationId, Conversations, ErrorCode, EventBody, ReasoningEffort, SystemSubtype, Usage,
};

use super::{
    api::{Client, ClientError, Endpoint},
    block,
    clock::{Clock, now},
    control::{Control, Lines, Prompt},
    converse::End,
    options::Options,
    permit::Permits,
    profile::{Profile, ProfileError, Surroundings},
    role::Role,
    shells::Shells,
    thread::{Thread, Voice},
    window::Windows,
};

/// Everything a turn needs. It has one thread of execution, hence cells.
pub(super) struct Agent {
    pub(super) client: Client,
    pub(super) control: Rc<Control>,
    pub(super) profile: Profile,
    /// Where the tools work.
    pub(super) cwd: PathBuf,
    pub(super) max_turns: Option<u32>,
    pub(super) windows: Windows,
    pub(super) clock: Clock,
    /// What it may do unasked.
    pub(super) permits: Permits,
    /// Runs its commands.
    pub(super) shells: Shells,
    /// What all threads cost in this turn.
    pub(super) usage: RefCell<Usage>,
    /// The run may use tools that providers run.
    pub(super) provider_tools: bool,
    /// How much the model thinks, if somebody said so.
    pub(super) effort: Option<ReasoningEffort>,
    /// The provider has not refused to let the model think.
    pub(super) thinks: Cell<bool>,
    model: String,
    voice: Rc<Voice>,
    /// Where the session's transcripts are.
    directory: PathBuf,
    /// How many subagents the session had so far.
    n_opened: Cell<u64>,
}

/// Why a turn cannot begin.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartError {
    #[error("the model's address is not usable")]
    Client(#[source] ClientError),
    #[error("the profile is not usable")]
    Profile(#[source] ProfileError),
    #[error("failed to listen to signals")]
    Signals(#[source] io::Error),
}

/// The last line of a turn.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Last<'a> {
    TurnEnded(&'a End),
}

/// Waits for a prompt and carries it out.
pub(super) async fn run(options: Options) -> Result<(), StartError> {
    let control = Rc::new(Control::new());
    let voice = Rc::new(Voice::new(Rc::clone(&control)));
    let agent = Agent::new(options, Rc::clone(&control), Rc::clone(&voice))?;
    let mut lines = Lines::of_stdin();
    let end = match control.first(&mut lines).await {
        Some(prompt) => tokio::select! {
            // What was said is heard before the work goes on.
            biased;
            never = control.listen(lines) => match never {},
            stopped = interrupt_on_signal(&control) => return stopped.map_err(StartError::Signals),
            end = agent.carry_out(prompt) => end,
        },
        None if control.is_interrupted() => End::Interrupted,
        None => return Ok(()),
    };
    voice.say(&Last::TurnEnded(&end));
    Ok(())
}

impl Agent {
    fn new(options: Options, control: Rc<Control>, voice: Rc<Voice>) -> Result<Self, StartError> {
        let directory = options.home.join(".warren/sessions").join(options.session.to_string());
        let n_opened = std::fs::read_dir(directory.join("subagents")).map_or(0, |files| files.count() as u64);
        let surroundings = Surroundings { cwd: options.cwd.clone(), at: now() };
        let endpoint = |(api, (url, key)): (_, (String, String))| Ok((api, Endpoint::new(&url, &key)?));
        let endpoints: Result<_, ClientError> = options.endpoints.into_iter().map(endpoint).collect();
        Ok(Self {
            client: Client::new(endpoints.map_err(StartError::Client)?),
            profile: Profile::read(&options.instructions, surroundings).map_err(StartError::Profile)?,
            control,
            cwd: options.cwd,
            max_turns: options.max_turns,
            windows: Windows::new(options.windows),
            clock: Clock::new(options.clock_speed),
            permits: options.permits,
            shells: Shells::default(),
            usage: RefCell::default(),
            provider_tools: options.provider_tools,
            effort: options.effort,
            thinks: Cell::new(true),
            model: options.model,
            voice,
            directory,
            n_opened: Cell::new(n_opened),
        })
    }

    /// Takes the session up where it was left, and works until the prompt is dealt with.
    async fn carry_out(&self, prompt: Prompt) -> End {
        let opened = self.open_thread(&ConversationId::main()).and_then(|(thread, kept)| {
            self.heal(&thread, &kept)?;
            Ok(thread)
        });
        let thread = match opened {
            Ok(thread) => thread,
            Err(error) => {
                return End::failed(ErrorCode::AgentError, format!("failed to open the transcript: {error}"));
            }
        };
        self.take_up(&thread, prompt);
        self.name_unused(&thread);
        let role = Role::main(&self.profile, &self.model, self.provider_tools);
        self.converse(&thread, &role).await
    }

    /// Names, once in a session, what the profile has and this agent does not use.
    fn name_unused(&self, thread: &Thread) {
        const ID: &str = "unused-mcp-servers";
        let settings = &self.profile.settings;
        let servers = settings.bundled_mcps.iter().chain(&settings.external_mcps);
        let names: Vec<&str> = servers.map(|server| server.name.as_str()).collect();
        if names.is_empty() || thread.has(ID) {
            return;
        }
        let message = format!(
            "The built-in agent does not use the MCP servers of this profile: {}. Claude Code, Gemini CLI, OpenCode and \
             Codex do.",
            names.join(", ")
        );
        let block = block::system(ID.to_owned(), SystemSubtype::Status, message);
        thread.record(EventBody::BlockComplete { block });
    }

    /// A thread of the session, and what is kept of it.
    pub(super) fn open_thread(&self, id: &ConversationId) -> io::Result<(Thread, Conversations)> {
        let path = if id.is_main() {
            self.directory.join("main.jsonl")
        } else {
            self.directory.join("subagents").join(format!("{id}.jsonl"))
        };
        Thread::open(&path, id.clone(), Rc::clone(&self.voice))
    }

    /// The place of a new subagent in the order of all.
    pub(super) fn next_opened(&self) -> u64 {
        self.n_opened.replace(self.n_opened.get() + 1)
    }
}

/// A polite kill stops the turn like an interrupt, so that nothing the tools started is left behind.
async fn interrupt_on_signal(control: &Control) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    loop {
        tokio::select! {
            _ = terminate.recv() => control.interrupt(),
            _ = interrupt.recv() => control.interrupt(),
        }
    }
}
