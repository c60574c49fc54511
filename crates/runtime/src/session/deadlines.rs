//! Deadlines and timeouts of a session.

use std::time::Duration;

use tokio::time::Instant;

use super::{SessionTask, active::ActiveRun, active::Stop, sandbox::SandboxSlot};
use crate::{options::Options, recorder::RecordError, traffic::Traffic};

/// Far enough away to mean never.
pub(super) const NEVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// Between two tries to commit what is in a sandbox that is to end.
const AGAIN: Duration = Duration::from_secs(30);

/// Idle timeout of a sandbox while others wait for one.
const GIVE_WAY: Duration = Duration::from_secs(2);

/// When the session's own checks are due. The run's deadlines are the run's.
pub(super) struct Deadlines {
    idle: Duration,
    health_interval: Duration,
    /// The last moment at which there was something to do.
    busy_at: Instant,
    /// Traffic into and out of the sandbox; counts as work.
    traffic: Traffic,
    health_at: Instant,
    /// When the sandbox was asked to give way to another, if it was.
    give_way: Option<Instant>,
}

impl Deadlines {
    pub(super) fn new(options: &Options, traffic: Traffic) -> Self {
        let now = Instant::now();
        Self {
            idle: options.idle,
            health_interval: options.health_interval,
            busy_at: now,
            traffic,
            health_at: now + options.health_interval,
            give_way: None,
        }
    }

    /// Records activity.
    pub(super) fn touch(&mut self) {
        self.busy_at = self.busy_at.max(Instant::now());
    }

    /// Something began that counts as work until it is there, and for as long as this at most.
    pub(super) fn expect(&mut self, patience: Duration) {
        self.busy_at = Instant::now() + patience;
    }

    /// The expected event has happened.
    pub(super) fn expect_no_more(&mut self) {
        self.busy_at = self.busy_at.min(Instant::now());
    }

    /// What was to be done when idle was not: it is due again before long.
    pub(super) fn try_again(&mut self) {
        let now = Instant::now();
        self.give_way = None;
        self.busy_at = (now + AGAIN.min(self.idle)).checked_sub(self.idle).unwrap_or(now);
    }

    /// When nothing will have been done for as long as the sandbox may stay.
    fn idle_at(&self) -> Instant {
        let busy_at = self.busy_at.max(self.traffic.last());
        match self.give_way {
            Some(asked_at) => (busy_at + self.idle).min(busy_at.max(asked_at) + GIVE_WAY),
            None => busy_at + self.idle,
        }
    }

    /// Others wait for a sandbox: this one ends soon unless there is something to do.
    pub(super) fn hurry(&mut self) {
        self.give_way.get_or_insert_with(Instant::now);
    }

    /// There is something to do.
    pub(super) fn take_your_time(&mut self) {
        self.give_way = None;
    }

    /// The next moment at which [`SessionTask::on_time`] has something to look at.
    pub(super) fn next(&self, run: Option<&ActiveRun>, sandbox: &SandboxSlot) -> Instant {
        let never = Instant::now() + NEVER;
        // While a run waits for a sandbox, its time does not pass.
        let of_run = run.filter(|_| !sandbox.is_queued()).and_then(ActiveRun::next_deadline).unwrap_or(never);
        let of_sandbox = match (sandbox, run) {
            (SandboxSlot::Ready(_), Some(_)) => self.health_at,
            (SandboxSlot::Ready(_), None) => self.health_at.min(self.idle_at()),
            (SandboxSlot::None | SandboxSlot::Starting(_), _) => never,
        };
        of_run.min(of_sandbox)
    }
}

impl SessionTask {
    pub(super) async fn on_time(&mut self) -> Result<(), RecordError> {
        let now = Instant::now();
        if !self.sandbox.is_queued() {
            self.run_deadlines(now);
            self.note_silence(now).await?;
        }
        self.expire_approvals().await?;
        if let SandboxSlot::Ready(ready) = &self.sandbox {
            if now >= self.deadlines.health_at {
                self.deadlines.health_at = now + self.deadlines.health_interval;
                ready.check_health(
                    self.sender.clone(),
                    self.shared.options.health_patience,
                    &self.shared.parts.tasks,
                );
            }
            if self.run.is_none() && now >= self.deadlines.idle_at() {
                self.end_idle().await?;
            }
        }
        Ok(())
    }

    /// Ends the sandbox, unless what is in it cannot be committed: then that is shown, and tried again.
    async fn end_idle(&mut self) -> Result<(), RecordError> {
        match self.keep_before_end().await? {
            Ok(()) if self.deadlines.give_way.is_some() => {
                self.stop_sandbox("idle, and another session needed a sandbox").await
            }
            Ok(()) => self.stop_sandbox("idle").await,
            Err(error) => self.go_on_for_now(error.to_string()).await,
        }
    }

    fn run_deadlines(&mut self, now: Instant) {
        let patience = self.shared.options.stop_patience;
        let wall_clock = self.shared.parts.env.now();
        let Some(run) = &mut self.run else { return };
        if run.soft_at.is_some_and(|at| now >= at) {
            run.soft_at = None;
            run.ask_to_wrap_up(wall_clock);
        }
        if run.hard_at.is_some_and(|at| now >= at) {
            run.hard_at = None;
            run.stop(Stop::Timeout, now + patience);
        }
        if run.kill_at.is_some_and(|at| now >= at) {
            run.kill_at = None;
            run.kill();
        }
        if run.lost_at.is_some_and(|at| now >= at) {
            run.lost_at = None;
            run.exited.get_or_insert_default();
        }
    }

    /// Whether the session is shutting down and accepts no new work.
    pub(super) fn is_leaving(&self) -> bool {
        self.leaving.is_some()
    }
}
