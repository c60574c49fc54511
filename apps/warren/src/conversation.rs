//! One message after the other, each followed to the end of its run.

use anyhow::{Result, bail};
use uuid::Uuid;
use warren_domain::{
    AgentType, Budget, Content, Event, EventBody, PermissionMode, ProfileId, RunId, RunStatus, Seq, SessionId,
};
use warren_wire::{MessageAccepted, MessageSend, SessionCreate, SessionOptions};

use crate::{
    answers::Person,
    cli::NewSession,
    client::{Client, Entry},
    render::{Reader, Renderer},
    report::{Advised, Outcome},
    signals::Signals,
    terminal::Terminal,
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
    /// A new session is shown from its first event on.
    is_new: bool,
}

/// What is said, under a key of its own: however often it is handed in, it is carried out once.
pub(crate) struct Message {
    text: String,
    key: Uuid,
}

impl Message {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), key: Uuid::now_v7() }
    }
}

impl Conversation {
    /// Makes a session, or goes on with one.
    pub(crate) async fn open(client: &Client, with: &NewSession) -> Result<Self> {
        let (session, is_new) = match &with.session {
            Some(named) => (find(client, named).await?, false),
            None => (client.session_create(&new_session(with)).await?.session_id, true),
        };
        Ok(Self { client: client.clone(), session, model: with.model.clone(), is_new })
    }

    pub(crate) fn session(&self) -> SessionId {
        self.session
    }

    /// Goes on with the same session at another server of the same data directory.
    pub(crate) fn move_to(&mut self, client: &Client) {
        self.client = client.clone();
    }

    /// Sends a message and prints what comes of it. Ctrl-C interrupts the run; a second one leaves.
    pub(crate) async fn send(
        &mut self,
        text: &str,
        form: Form,
        terminal: &mut Terminal,
        signals: &mut Signals,
        person: Option<&mut Person>,
    ) -> Result<Outcome> {
        let sent = self.hand_in(&Message::new(text)).await?;
        self.show(sent, form, terminal, signals, person).await
    }

    /// Hands a message in, which starts a run or makes it wait. Handed in again, the same message is the same run.
    pub(crate) async fn hand_in(&self, message: &Message) -> Result<MessageAccepted> {
        let message = MessageSend {
            content: Content::from(message.text.as_str()),
            idempotency_key: Some(message.key.to_string()),
            when_busy: None,
            model: self.model.clone(),
            time_budget: None,
            base_version: None,
            from: None,
            on_conflict: None,
        };
        Ok(self.client.message_send(self.session, &message).await?)
    }

    /// Prints what comes of a message. Ctrl-C interrupts the run; a second one leaves.
    pub(crate) async fn show(
        &mut self,
        sent: MessageAccepted,
        form: Form,
        terminal: &mut Terminal,
        signals: &mut Signals,
        person: Option<&mut Person>,
    ) -> Result<Outcome> {
        let is_first = std::mem::take(&mut self.is_new);
        let after = if is_first { Seq(0) } else { Seq(sent.seq.0.saturating_sub(1)) };
        self.follow(sent, after, form, terminal, signals, person).await
    }

    async fn follow(
        &self,
        sent: MessageAccepted,
        after: Seq,
        form: Form,
        terminal: &mut Terminal,
        signals: &mut Signals,
        mut person: Option<&mut Person>,
    ) -> Result<Outcome> {
        let mut entries = self.client.follow(self.session, after);
        let mut renderer = Renderer::new(Reader::Sender, terminal.paint());
        let mut has_interrupted = false;
        loop {
            // All heads are cancel-safe.
            let entry = tokio::select! {
                entry = entries.next() => entry?,
                () = signals.next() => {
                    if std::mem::replace(&mut has_interrupted, true) {
                        return Ok(Outcome::Left);
                    }
                    self.interrupt(sent.run_id).await?;
                    continue;
                }
                Some(line) = typed(&mut person) => {
                    self.answer(&mut person, &line).await?;
                    continue;
                }
            };
            match form {
                Form::Json => terminal.line(&entry.json)?,
                Form::Text => show(&entry, sent.run_id, &mut renderer, terminal)?,
            }
            if let Some(event) = entry.event.as_ref().filter(|event| event.run_id == Some(sent.run_id)) {
                terminal.status(None);
                ask(&mut person, event)?;
            }
            if let Some(outcome) = entry.event.as_ref().and_then(|event| ending(event, sent.run_id)) {
                terminal.status(None);
                return Ok(outcome);
            }
        }
    }

    /// Passes on what was typed to the question that is shown. If somebody was faster, that is told and no more.
    async fn answer(&self, person: &mut Option<&mut Person>, line: &str) -> Result<()> {
        let Some(person) = person else { return Ok(()) };
        if let Some((approval, answer)) = person.understand(line)? {
            let path = format!("/api/approvals/{approval}");
            let sent: Result<serde_json::Value, _> = self.client.post(&path, &answer).await;
            if let Err(error) = sent {
                eprintln!("{error:#}");
            }
            person.forget(approval)?;
        }
        Ok(())
    }

    /// Stops our run; if it waits behind another, takes it out of the queue instead.
    async fn interrupt(&self, run: RunId) -> Result<()> {
        let status = self.client.run_get(self.session, run).await?.status;
        match status {
            RunStatus::Queued => self.client.run_drop(self.session, run).await?,
            RunStatus::Running | RunStatus::Steered => drop(self.client.interrupt(self.session).await?),
            RunStatus::Completed | RunStatus::Failed | RunStatus::Interrupted => {}
        }
        Ok(())
    }
}

/// The next line of somebody who is asked something; never, if nobody is.
async fn typed(person: &mut Option<&mut Person>) -> Option<String> {
    match person {
        Some(person) if person.is_asked() => person.lines.recv().await,
        _ => std::future::pending().await,
    }
}

/// Asks whoever sits there what the agent asks.
fn ask(person: &mut Option<&mut Person>, event: &Event) -> Result<()> {
    match (person, &event.body) {
        (Some(person), EventBody::ApprovalRequested(request)) => person.ask(request.clone())?,
        (Some(person), EventBody::ApprovalResolved(resolution)) => person.forget(resolution.approval_id)?,
        _ => {}
    }
    Ok(())
}

/// The session of this id; `last` is the newest.
pub(crate) async fn find(client: &Client, named: &str) -> Result<SessionId> {
    if named == "last" {
        return match client.session_newest().await? {
            Some(session) => Ok(session.session_id),
            None => bail!(Advised::new("there is no session yet", "make one with `warren run \"…\"`")),
        };
    }
    let advice = "`warren sessions list` shows the ids; `last` is the newest one";
    named.parse().map_err(|_| Advised::new(format!("`{named}` is not a session's id"), advice).into())
}

fn new_session(with: &NewSession) -> SessionCreate {
    SessionCreate {
        agent_type: with.agent.as_deref().map(AgentType::from),
        agent_profile_reference: with.profile.as_deref().map(ProfileId::from),
        name: with.name.clone(),
        options: Some(SessionOptions {
            permission_mode: with.ask.then_some(PermissionMode::Ask),
            budget: with.budget.map(|cost| Budget { cost_usd: Some(cost), tokens: None }),
            ..SessionOptions::default()
        }),
        ..SessionCreate::default()
    }
}

/// Shows what belongs to our run or to the session; other runs are not ours to tell.
fn show(entry: &Entry, run: RunId, renderer: &mut Renderer, terminal: &mut Terminal) -> Result<()> {
    let Some(event) = &entry.event else { return Ok(()) };
    if event.run_id.is_none_or(|of| of == run) {
        terminal.write(&renderer.event(event))?;
        terminal.status(renderer.status());
    }
    Ok(())
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
