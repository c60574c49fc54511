//! One message after the other, each followed to the end of its run.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use tokio::time::Instant;
use uuid::Uuid;
use warren_domain::{
    AgentType, ArtifactId, Budget, Event, EventBody, PermissionMode, ProfileId, ReasoningEffort, RunId,
    RunStatus, Seq, SessionId, TimeBudget, WhenBusy,
};
use warren_wire::{AgentList, MessageAccepted, MessageSend, SessionCreate, SessionListItem, SessionOptions};

use crate::{
    answers::{self, Person, Reply},
    attach::Attached,
    cli::NewSession,
    client::{Client, Entry},
    invocation::Invocation,
    lookup::find,
    pack::Packing,
    render::{Look, Reader, Renderer},
    report::{Advised, Outcome},
    setting::Setting,
    signals::Signals,
    suggest::nearest,
    terminal::{Quiet, Terminal},
    watch::{self, Watch},
};

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Text for people.
    Text,
    /// Events as they were recorded.
    Json,
}

/// A session we talk to.
pub(crate) struct Conversation {
    client: Client,
    session: SessionId,
    model: Option<String>,
    effort: Option<ReasoningEffort>,
    time_budget: Option<TimeBudget>,
    invocation: Invocation,
    /// A new session is shown from its first event on.
    is_new: bool,
    /// Artifacts that the last run made or changed, by ID, with their names.
    artifacts: BTreeMap<ArtifactId, String>,
}

/// A message under a key of its own: however often it is sent, it runs once.
pub(crate) struct Message {
    text: String,
    attached: Attached,
    is_steer: bool,
    key: Uuid,
}

/// Where a run is shown, and who can be asked.
pub(crate) struct Seat<'a> {
    pub(crate) terminal: &'a mut Terminal,
    pub(crate) signals: &'a mut Signals,
    pub(crate) person: Option<&'a mut Person>,
}

/// A message that the server has accepted.
pub(crate) struct Sent {
    accepted: MessageAccepted,
    /// The run that was active when a steering message was sent: it may take the message up.
    steered: Option<RunId>,
}

impl Message {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), attached: Attached::default(), is_steer: false, key: Uuid::now_v7() }
    }

    pub(crate) fn with(self, attached: Attached, is_steer: bool) -> Self {
        Self { attached, is_steer, ..self }
    }
}

impl Conversation {
    /// Creates a session, or continues one.
    pub(crate) async fn open(
        client: &Client,
        with: &NewSession,
        form: Form,
        setting: &Setting,
    ) -> Result<Self> {
        let packed = match packing(with, setting) {
            Some(packing) => Some(packing.look().await?),
            None => None,
        };
        let (session, is_new) = match &with.session {
            Some(named) => (find(client, named).await?, false),
            None => {
                check_agent(client, with.agent.as_deref()).await?;
                (client.session_create(&new_session(with)).await?.session_id, true)
            }
        };
        let opened = Self {
            client: client.clone(),
            session,
            model: with.model.clone(),
            effort: with.effort,
            time_budget: time_budget(with),
            invocation: setting.invocation.clone(),
            is_new,
            artifacts: BTreeMap::new(),
        };
        let Some(packed) = packed else { return Ok(opened) };
        match packed.send(client, session, form).await {
            Ok(()) => Ok(opened),
            Err(error) => {
                opened.abandon().await;
                Err(error)
            }
        }
    }

    pub(crate) fn session(&self) -> SessionId {
        self.session
    }

    /// The model that messages ask for.
    pub(crate) fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    pub(crate) fn use_model(&mut self, model: Option<String>) {
        self.model = model;
    }

    /// How much the model thinks before it answers messages.
    pub(crate) fn effort(&self) -> Option<ReasoningEffort> {
        self.effort
    }

    pub(crate) fn use_effort(&mut self, effort: Option<ReasoningEffort>) {
        self.effort = effort;
    }

    /// Artifacts of the last run.
    pub(crate) fn artifacts(&self) -> &BTreeMap<ArtifactId, String> {
        &self.artifacts
    }

    /// Continues the same session at another server of the same data directory.
    pub(crate) fn move_to(&mut self, client: &Client) {
        self.client = client.clone();
    }

    /// Deletes a session that was created for a message which was not accepted.
    pub(crate) async fn abandon(self) {
        if self.is_new
            && let Err(error) = self.client.delete(&format!("/api/sessions/{}", self.session)).await
        {
            tracing::debug!(%error, "an empty session was not deleted");
        }
    }

    /// Sends a message and shows its run. Ctrl-C interrupts the run; a second one leaves.
    pub(crate) async fn send(&mut self, text: &str, form: Form, seat: Seat<'_>) -> Result<Outcome> {
        let sent = self.hand_in(&Message::new(text)).await?;
        self.show(&sent, form, seat).await
    }

    /// Sends a message, which starts a run or queues one. Sent again, the same message is the same run.
    pub(crate) async fn hand_in(&self, message: &Message) -> Result<Sent> {
        let steered = if message.is_steer { self.active_run().await? } else { None };
        let body = MessageSend {
            content: message.attached.send(&self.client, self.session, &message.text).await?,
            idempotency_key: Some(message.key.to_string()),
            when_busy: message.is_steer.then_some(WhenBusy::Steer),
            model: self.model.clone(),
            effort: self.effort,
            time_budget: self.time_budget,
            base_version: None,
            from: None,
            on_conflict: None,
        };
        let accepted = self.client.message_send(self.session, &body).await?;
        Ok(Sent { accepted, steered })
    }

    async fn active_run(&self) -> Result<Option<RunId>> {
        let item: SessionListItem =
            self.client.get(&format!("/api/sessions/{}?limit=1", self.session)).await?;
        Ok(item.active_run_id)
    }

    /// Shows the run of a message. Ctrl-C interrupts the run; a second one leaves.
    pub(crate) async fn show(&mut self, sent: &Sent, form: Form, mut seat: Seat<'_>) -> Result<Outcome> {
        let is_first = std::mem::take(&mut self.is_new);
        let after = if is_first { Seq(0) } else { Seq(sent.accepted.seq.0.saturating_sub(1)) };
        self.artifacts.clear();
        // Keys that are typed during the run wait for the next prompt.
        let quiet = seat.person.as_mut().and_then(|person| person.editor()).and_then(|_| Quiet::start());
        let shown = self.follow(sent, after, form, &mut seat).await;
        if let Some(person) = &mut seat.person {
            person.settle().await;
        }
        drop(quiet);
        shown
    }

    async fn follow(&mut self, sent: &Sent, after: Seq, form: Form, seat: &mut Seat<'_>) -> Result<Outcome> {
        let mut entries = self.client.follow(self.session, after);
        let mut renderer = Renderer::new(self.look(seat));
        let mut has_interrupted = false;
        let mut watch = Watch::default();
        // Text that waits while an answer is typed.
        let mut held = String::new();
        loop {
            // All heads are cancel-safe.
            let entry = tokio::select! {
                entry = entries.next() => entry?,
                () = seat.signals.next() => {
                    if std::mem::replace(&mut has_interrupted, true) {
                        return Ok(Outcome::Left);
                    }
                    self.interrupt(sent).await?;
                    continue;
                }
                () = watch.silence() => {
                    seat.terminal.status(None);
                    eprintln!("{}", silent());
                    continue;
                }
                reply = reply(&mut seat.person) => {
                    self.answer(seat, reply?, sent).await?;
                    if !is_typing(seat) {
                        seat.terminal.write(&std::mem::take(&mut held))?;
                    }
                    continue;
                }
            };
            let Some(event) = entry.event.as_ref().filter(|event| sent.is_shown(event)) else {
                if form == Form::Json {
                    seat.terminal.line(&entry.json)?;
                }
                continue;
            };
            watch.see(event, Instant::now());
            self.note_artifact(event);
            match form {
                Form::Json => seat.terminal.line(&entry.json)?,
                Form::Text => held.push_str(&renderer.event(event)),
            }
            if !is_typing(seat) {
                seat.terminal.write(&std::mem::take(&mut held))?;
                seat.terminal.status(renderer.status().filter(|_| form == Form::Text));
            }
            if event.run_id.is_some() {
                self.ask(seat, event)?;
            }
            if let Some(outcome) = self.ending(&entry, sent).await? {
                seat.terminal.status(None);
                seat.terminal.write(&held)?;
                return Ok(outcome);
            }
        }
    }

    /// Asks the person at the terminal. Without a terminal, reports on standard error how to answer, because a program may
    /// read standard output, and the run waits.
    fn ask(&self, seat: &mut Seat<'_>, event: &Event) -> Result<()> {
        match (&event.body, &mut seat.person) {
            (EventBody::ApprovalRequested(request), Some(person)) => {
                seat.terminal.status(None);
                person.ask(request.clone())?;
            }
            (EventBody::ApprovalRequested(request), None) => {
                seat.terminal.status(None);
                eprintln!("{}", answers::waiting(request, &self.invocation));
            }
            (EventBody::ApprovalResolved(resolution), Some(person)) => {
                person.forget(resolution.approval_id)?
            }
            _ => {}
        }
        Ok(())
    }

    fn look(&self, seat: &Seat<'_>) -> Look {
        Look {
            reader: Reader::Sender,
            paint: seat.terminal.paint(),
            width: seat.terminal.width(),
            invocation: self.invocation.clone(),
            shows_answers: false,
        }
    }

    fn note_artifact(&mut self, event: &Event) {
        if let EventBody::ArtifactCreated { artifact } | EventBody::ArtifactUpdated { artifact, .. } =
            &event.body
        {
            self.artifacts.insert(artifact.id, artifact.name.clone());
        }
    }

    /// How the message ended, if it did. A message that an active run took up ends with that run.
    async fn ending(&self, entry: &Entry, sent: &Sent) -> Result<Option<Outcome>> {
        let Some(event) = &entry.event else { return Ok(None) };
        let run = sent.accepted.run_id;
        let own = ending(event, run);
        let Some(active) = sent.steered else { return Ok(own) };
        let outcome = own.or_else(|| ending(event, active));
        let Some(outcome) = outcome else { return Ok(None) };
        let is_taken_up = self.client.run_get(self.session, run).await?.status == RunStatus::Steered;
        // Its own end comes just before that of the run, which has what was spent.
        let is_last = event.run_id == Some(if is_taken_up { active } else { run });
        Ok(is_last.then_some(outcome))
    }

    /// Passes an answer on. If somebody else was faster, that is shown and no more.
    async fn answer(&self, seat: &mut Seat<'_>, reply: Reply, sent: &Sent) -> Result<()> {
        let Some(person) = &mut seat.person else { return Ok(()) };
        let line = match reply {
            Reply::Line(line) => line,
            Reply::Stop | Reply::End => return self.interrupt(sent).await,
        };
        if let Some((approval, answer)) = person.understand(&line)? {
            let path = format!("/api/approvals/{approval}");
            let sent: Result<serde_json::Value, _> = self.client.post(&path, &answer).await;
            if let Err(error) = sent {
                eprintln!("{error:#}");
            }
            person.forget(approval)?;
        }
        Ok(())
    }

    /// Stops our run; a queued one is removed from the queue.
    async fn interrupt(&self, sent: &Sent) -> Result<()> {
        let run = sent.accepted.run_id;
        let status = self.client.run_get(self.session, run).await?.status;
        match status {
            RunStatus::Queued => self.client.run_drop(self.session, run).await?,
            RunStatus::Running | RunStatus::Steered => drop(self.client.interrupt(self.session).await?),
            RunStatus::Completed | RunStatus::Failed | RunStatus::Interrupted => {}
        }
        Ok(())
    }
}

impl Sent {
    /// Events of our run, of the run that we steer, and of the session; other runs are not ours.
    fn is_shown(&self, event: &Event) -> bool {
        event.run_id.is_none_or(|run| run == self.accepted.run_id || Some(run) == self.steered)
    }
}

fn silent() -> String {
    let seconds = watch::LIMIT.as_secs();
    format!(
        "The agent has not answered for {seconds} s after its start. It may still be starting; Ctrl-C stops the run."
    )
}

fn is_typing(seat: &Seat<'_>) -> bool {
    seat.person.as_ref().is_some_and(|person| person.is_typing())
}

/// The next reply of somebody who is asked something; never, if nobody is.
async fn reply(person: &mut Option<&mut Person>) -> Result<Reply> {
    match person {
        Some(person) => Ok(person.reply().await?),
        None => std::future::pending().await,
    }
}

/// Refuses an agent that cannot start, before a session is created for it.
async fn check_agent(client: &Client, agent: Option<&str>) -> Result<()> {
    let Some(name) = agent else { return Ok(()) };
    let list: AgentList = client.get("/api/agents").await?;
    match list.agents.iter().find(|item| item.name == name && item.is_agent) {
        Some(item) if item.ready => Ok(()),
        Some(_) => bail!(Advised::new(
            format!("agent `{name}` is not installed"),
            format!("install it with `warren agents install {name}`"),
        )),
        None => {
            let known = list.agents.iter().filter(|item| item.is_agent).map(|item| item.name.as_str());
            let known: Vec<&str> = known.collect();
            let hint = match nearest(name, known.iter().copied()).first() {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the agents are {}", known.join(", ")),
            };
            bail!(Advised::new(format!("there is no agent `{name}`"), hint))
        }
    }
}

/// Without a soft limit of its own, the agent is asked to wrap up as early as the server's rule says.
fn time_budget(with: &NewSession) -> Option<TimeBudget> {
    with.time_budget.map(|limit| TimeBudget { soft_seconds: None, hard_seconds: limit.0.as_secs() })
}

/// The directory that a new session begins with.
fn packing(with: &NewSession, setting: &Setting) -> Option<Packing> {
    let directory = with.workspace.clone()?;
    let data = setting.home.directory();
    // One that is not there yet is in no directory.
    let data = data.canonicalize().unwrap_or_else(|_| data.to_owned());
    let (respects_ignore, without_git) = (with.respect_ignore, with.without_git);
    Some(Packing { directory, data, respects_ignore, without_git })
}

fn new_session(with: &NewSession) -> SessionCreate {
    SessionCreate {
        agent_type: with.agent.as_deref().map(AgentType::from),
        agent_profile_reference: with.profile.as_deref().map(ProfileId::from),
        name: with.name.clone(),
        options: Some(SessionOptions {
            permission_mode: with.ask.then_some(PermissionMode::Ask),
            budget: with.budget.map(|cost| Budget { cost_usd: Some(cost), tokens: None }),
            time_budget: time_budget(with),
            effort: with.effort,
            ..SessionOptions::default()
        }),
        ..SessionCreate::default()
    }
}

fn ending(event: &Event, run: RunId) -> Option<Outcome> {
    if event.run_id != Some(run) {
        return None;
    }
    match &event.body {
        EventBody::RunCompleted { .. } => Some(Outcome::Done),
        EventBody::RunFailed { .. } => Some(Outcome::Failed),
        EventBody::RunInterrupted { .. } => Some(Outcome::Interrupted),
        _ => None,
    }
}
