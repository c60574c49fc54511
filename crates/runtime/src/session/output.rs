//! The agent's output on its way into the log.

use std::time::Duration;

use tokio::time::Instant;
use warren_agents::{Exit as AgentEnd, Output};
use warren_domain::{Draft, ErrorCode, EventBody, RunId, RunStatus};
use warren_guest_api::Exit;
use warren_store::Change;

use super::{
    SessionTask,
    agent::{Agent, AgentExit, Line},
    signal::Signal,
    silence::is_answer,
    transcripts::save_state,
};
use crate::{coalesce::coalesce, recorder::RecordError};

/// At most this many lines go into one commit, so that none waits for long.
const LINES_AT_ONCE: usize = 512;

/// Timeout for the end of a sandbox whose link broke.
const END_OF_SANDBOX: Duration = Duration::from_secs(2);

impl SessionTask {
    /// Takes a line and all that arrived while the last commit was in flight, and records them together.
    pub(super) async fn on_lines(&mut self, of: RunId, first: Line) -> Result<(), RecordError> {
        self.deadlines.touch();
        let mut lines = vec![first];
        while lines.len() < LINES_AT_ONCE
            && let Some(signal) = self.held.pop_front().or_else(|| self.signals.try_recv().ok())
        {
            match signal {
                Signal::Line(run, line) if run == of => lines.push(line),
                other => {
                    self.held.push_front(other);
                    break;
                }
            }
        }
        let now = self.shared.parts.env.now();
        // What an agent says after its run was ended without it belongs to nobody.
        let run = self.run.as_mut().filter(|run| run.record.run_id == of && !run.is_log_full);
        let agent = run.and_then(|run| run.agent.as_mut());
        let outputs = agent.map(|agent| agent.decode(&lines, now)).unwrap_or_default();
        self.on_outputs(outputs).await
    }

    /// Records what the codec made of what it was told: an answer, a message, a wish to stop.
    pub(super) async fn take_pending(&mut self) -> Result<(), RecordError> {
        let agent = self.run.as_mut().and_then(|run| run.agent.as_mut());
        let outputs = agent.map(Agent::take_pending).unwrap_or_default();
        if outputs.is_empty() { Ok(()) } else { self.on_outputs(outputs).await }
    }

    pub(super) async fn on_exited(&mut self, of: RunId, exit: AgentExit) -> Result<(), RecordError> {
        let Some(run) = self.run.as_mut().filter(|run| run.record.run_id == of) else { return Ok(()) };
        let was_lost = exit.exit.is_none() && run.lost_at.is_none();
        run.exited = Some(exit);
        match self.sandbox.ready().filter(|_| was_lost).map(|ready| ready.sandbox.clone()) {
            // The link broke: the sandbox is about to end, and how it ended says more.
            Some(sandbox) => {
                let ended = tokio::time::timeout(END_OF_SANDBOX, sandbox.exited()).await.unwrap_or_default();
                self.on_sandbox_gone(&sandbox.id, &ended).await
            }
            None => Ok(()),
        }
    }

    /// Asks the codec what the end of the process means, after all its lines.
    pub(super) async fn on_end_of_output(&mut self) -> Result<(), RecordError> {
        let Some(run) = &mut self.run else { return Ok(()) };
        let Some(exit) = &run.exited else { return Ok(()) };
        let end = match exit.exit {
            Some(Exit::Code(code)) => AgentEnd { code: Some(code), signal: None },
            Some(Exit::Signal(signal)) => AgentEnd { code: None, signal: Some(signal) },
            None => AgentEnd::default(),
        };
        let now = self.shared.parts.env.now();
        let outputs = run.agent.as_mut().map(|agent| agent.ended(&end, now)).unwrap_or_default();
        self.on_outputs(outputs).await
    }

    /// Records what the agent says, then acts on it: answers its program, asks people, remembers, ends the turn.
    async fn on_outputs(&mut self, outputs: Vec<Output>) -> Result<(), RecordError> {
        let Some(run) = self.run.as_ref().filter(|run| !run.is_log_full) else { return Ok(()) };
        let mut drafts = Vec::new();
        let mut acts = Vec::new();
        for output in outputs {
            match output {
                Output::Event(Draft { conversation_id, body, .. }) => {
                    drafts.push(
                        Draft::of_run(run.record.run_id, run.priced(body)).within(conversation_id.bounded()),
                    );
                }
                other => acts.push(other),
            }
        }
        self.record_said(coalesce(drafts)).await?;
        for act in acts {
            self.act(act).await?;
        }
        Ok(())
    }

    async fn record_said(&mut self, drafts: Vec<Draft>) -> Result<(), RecordError> {
        if drafts.is_empty() {
            return Ok(());
        }
        let completed = drafts.iter().any(|draft| matches!(draft.body, EventBody::BlockComplete { .. }));
        let taken_up = self.taken_up(&drafts).await?;
        let has_answered = drafts.iter().any(|draft| is_answer(&draft.body));
        let events = self.recorder.record(drafts, |_| taken_up).await?;
        if let Some(run) = &mut self.run {
            run.silent_at = run.silent_at.filter(|_| !has_answered);
            events.iter().for_each(|event| run.blocks.apply(&event.conversation_id, &event.body));
        }
        if completed && let Some(ready) = self.sandbox.ready() {
            ready.transcripts.nudge();
        }
        Ok(())
    }

    async fn act(&mut self, output: Output) -> Result<(), RecordError> {
        match output {
            // Recorded already.
            Output::Event(_) => Ok(()),
            Output::Send(bytes) => {
                self.send(bytes);
                Ok(())
            }
            Output::Asked(ask) => {
                self.run.iter_mut().for_each(|run| run.silent_at = None);
                self.on_asked(ask).await
            }
            Output::Withdrawn(key) => self.on_withdrawn(&key).await,
            Output::Unapproved { tool_name, tool_use_id } => {
                if let Some(run) = &mut self.run {
                    let message =
                        format!("the agent ran `{tool_name}` (call `{tool_use_id}`) without approval");
                    run.fail(ErrorCode::AgentError, message);
                }
                Ok(())
            }
            Output::State(state) => {
                let transcripts = &self.shared.parts.store.transcripts;
                save_state(&self.identity, &state, transcripts.as_ref()).await.map_err(RecordError::Write)
            }
            Output::TurnEnded(end) => {
                let kill_at = Instant::now() + self.shared.options.stop_patience;
                if let Some(run) = &mut self.run {
                    run.turn_ended(end, kill_at);
                }
                Ok(())
            }
        }
    }

    /// Writes to the agent's stdin. One that lets its input pile up cannot be talked to.
    fn send(&mut self, bytes: Vec<u8>) {
        let Some(run) = &mut self.run else { return };
        let is_deaf = run.agent.as_ref().is_some_and(|agent| !agent.write(bytes) && agent.is_open());
        if is_deaf {
            run.fail(ErrorCode::AgentError, "the agent stopped reading its input".to_owned());
        }
    }

    /// Records of waiting messages that the running agent has taken up.
    async fn taken_up(&self, drafts: &[Draft]) -> Result<Vec<Change>, RecordError> {
        let before = &self.recorder.state;
        if before.queue.is_empty() {
            return Ok(Vec::new());
        }
        let after = drafts.iter().fold(before.clone(), |state, draft| state.apply(draft.run_id, &draft.body));
        let gone = before.queue.iter().filter(|waiting| !after.queue.contains(waiting));
        let mut changes = Vec::new();
        for waiting in gone {
            changes.extend(self.never_started(waiting.run, RunStatus::Steered).await?);
        }
        Ok(changes)
    }
}
