//! Ends what fills the log: runs that reach a limit, and sandboxes that go on growing it without one.

use warren_domain::{Draft, ErrorCode};

use super::{SessionTask, requests::Failure};
use crate::{api::SessionError, limit::Use, recorder::RecordError};

impl SessionTask {
    /// Asks the store what the session and its project take.
    async fn refresh_log_size(&mut self) -> Result<(), RecordError> {
        let stored = self.shared.parts.store.sessions.stored(self.identity.session).await;
        self.recorder.size.checked(stored.map_err(RecordError::Read)?.unwrap_or_default());
        Ok(())
    }

    /// The limit that keeps another run from beginning, if there is one.
    pub(super) async fn full_log(&mut self) -> Result<Option<Use>, RecordError> {
        self.refresh_log_size().await?;
        Ok(self.recorder.size.reached(&self.shared.options.log_limits))
    }

    /// Refuses a message that could not be run.
    pub(super) async fn check_log_room(&mut self) -> Result<(), Failure> {
        match self.full_log().await? {
            None => Ok(()),
            Some(limit) => Err(Failure::Refused(SessionError::Invalid {
                code: ErrorCode::StorageLimit,
                message: description(limit),
                hint: Some(hint(limit).to_owned()),
            })),
        }
    }

    /// Ends the run that reached a limit, and says so in the log. Called after every step: it compares numbers, and asks the
    /// store only once in a while.
    pub(super) async fn enforce_log_limits(&mut self) -> Result<(), RecordError> {
        if self.recorder.size.is_stale() {
            self.refresh_log_size().await?;
        }
        let limits = &self.shared.options.log_limits;
        match &self.run {
            Some(run) if run.is_log_full => Ok(()),
            Some(run) => {
                let Some(limit) = self.recorder.size.reached_by_run(limits) else { return Ok(()) };
                let reached = Draft::of_run(run.record.run_id, limit.reached());
                self.recorder.record(vec![reached], |_| Vec::new()).await?;
                if let Some(run) = &mut self.run {
                    run.is_log_full = true;
                    run.fail(
                        ErrorCode::StorageLimit,
                        format!("{}; hint: {}", description(limit), hint(limit)),
                    );
                }
                Ok(())
            }
            // What an earlier run left running goes on writing.
            None if self.sandbox.ready().is_some() => {
                let Some(limit) = self.recorder.size.reached(limits) else { return Ok(()) };
                self.recorder.record(vec![Draft::of_session(limit.reached())], |_| Vec::new()).await?;
                self.end_greedy(description(limit)).await
            }
            None => Ok(()),
        }
    }
}

pub(super) fn description(limit: Use) -> String {
    let Use { limit: key, scope, used, allowed } = limit;
    match scope {
        "project" => format!("the project's logs have {used} bytes; the limit is {allowed} (`{key}`)"),
        _ => format!("the log of the {scope} has {used} bytes; the limit is {allowed} (`{key}`)"),
    }
}

pub(super) fn hint(limit: Use) -> &'static str {
    match limit.scope {
        "run" => "have programs write to files instead of printing, or raise the limit",
        "session" => "continue in a new session or in a fork of an earlier version, or raise the limit",
        _ => "erase sessions of the project, or raise the limit",
    }
}
