//! The session's side of the model gateway: whose call it is, and what became of it.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use warren_domain::{ConversationId, Draft, EventBody, RECORDED_PER_RUN, RECORDED_PER_SESSION, RunId};
use warren_models::{
    Budget, Caller, Charge, Exchange, Feature, Format, NotRecorded, Quote, RefusalKind, Starting,
    Unaffordable,
};

use super::{SessionTask, active::DEMO, signal::Signal};
use crate::{
    limit::Use,
    recorder::RecordError,
    recordings::{Allowed, StoreError, Stored},
    spaces,
};

/// One sandbox as the model gateway sees it.
pub(super) struct Calls {
    active: Mutex<Active>,
    /// Calls whose end was not handed to the session yet.
    open: AtomicUsize,
    signals: mpsc::Sender<Signal>,
}

/// The run that calls belong to, and its budget.
#[derive(Default)]
struct Active {
    run: Option<RunId>,
    /// The budget of a run, which calls of others neither draw on nor give back to.
    budget: Option<(RunId, Budget)>,
    /// The models that a run was told to use.
    models: Vec<String>,
    /// The model that somebody chose, and the formats in which the agent asks for it.
    chosen: Option<(String, Vec<Format>)>,
    /// Whether the run may use tools that the provider runs.
    provider_tools: bool,
}

impl Calls {
    pub(super) fn new(signals: mpsc::Sender<Signal>) -> Self {
        Self { active: Mutex::default(), open: AtomicUsize::new(0), signals }
    }

    /// From now on calls belong to `run`; with `None` they are refused.
    pub(super) fn belong_to(&self, run: Option<RunId>) {
        self.active().run = run;
    }

    /// What calls of `run` may spend, all together. Calls of an earlier run that have not ended do not draw on it.
    pub(super) fn limit_to(&self, run: RunId, budget: Option<Budget>) {
        self.active().budget = budget.map(|budget| (run, budget));
    }

    /// The models that the session, its profile or the message named: they may be asked for.
    pub(super) fn told_to_use(&self, models: Vec<String>) {
        self.active().models = models;
    }

    /// The model that somebody chose for the run, and the formats of its calls: the demo model does not answer them.
    pub(super) fn answered_only_by(&self, chosen: Option<(String, Vec<Format>)>) {
        self.active().chosen = chosen;
    }

    /// Whether calls may make the provider run tools of its own.
    pub(super) fn grant_provider_tools(&self, granted: bool) {
        self.active().provider_tools = granted;
    }

    fn active(&self) -> MutexGuard<'_, Active> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls that have not ended.
    pub(super) fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Caller for Calls {
    fn admit(&self) -> Option<RunId> {
        let run = self.active().run;
        if run.is_some() {
            self.open.fetch_add(1, Ordering::SeqCst);
        }
        run
    }

    fn granted(&self, feature: Feature) -> bool {
        feature == Feature::ServerTools && self.active().provider_tools
    }

    fn own_models(&self) -> Vec<String> {
        self.active().models.clone()
    }

    fn chosen(&self, format: Format) -> Option<String> {
        let active = self.active();
        let (model, _) = active.chosen.as_ref().filter(|(_, formats)| formats.contains(&format))?;
        Some(model.clone())
    }

    fn reserve(&self, run: RunId, quote: &Quote) -> Result<Option<Charge>, Unaffordable> {
        match &mut self.active().budget {
            None => Ok(None),
            Some((owner, budget)) if *owner == run => budget.reserve(quote).map(Some),
            Some(_) => Err(Unaffordable::RunEnded),
        }
    }

    async fn starting(&self, starting: Starting) -> Result<(), NotRecorded> {
        let (recorded, answer) = oneshot::channel();
        let calling = Signal::Calling(Box::new(starting), recorded);
        // A session that is gone takes no signal, or drops those that it has not taken up.
        self.signals.send(calling).await.map_err(|_| NotRecorded)?;
        answer.await.map_err(|_| NotRecorded)
    }

    async fn ended(&self, exchange: Exchange) {
        if let (Some(settlement), Some((owner, budget))) = (&exchange.settlement, &mut self.active().budget) {
            if *owner == exchange.run {
                budget.settle(settlement);
            } else {
                // Budgets are the session's: what a late call used is spent, though nothing is given back for it here.
                budget.charge(settlement.used);
            }
        }
        // A session that is gone records nothing more.
        let _ = self.signals.send(Signal::Called(Box::new(exchange))).await;
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl SessionTask {
    /// Records a call before it is sent. Calls of a run that has ended are refused.
    pub(super) async fn on_calling(
        &mut self,
        starting: Starting,
        recorded: oneshot::Sender<()>,
    ) -> Result<(), RecordError> {
        let Starting { run, conversation, started } = starting;
        let active = self.run.as_mut().filter(|active| active.record.run_id == run);
        let Some(active) = active.filter(|_| !recorded.is_closed()) else { return Ok(()) };
        active.silent_at = None;
        active.is_demo |= started.model == DEMO;
        let started = EventBody::ModelCallStarted(started);
        let draft = Draft::of_run(run, started).within(thread(conversation));
        self.recorder.record(vec![draft], |_| Vec::new()).await?;
        // A caller that left meanwhile has ended its call, which comes as the next signal.
        let _ = recorded.send(());
        Ok(())
    }

    /// Ends calls of an earlier owner that were in flight when it stopped: nobody knows what they used, so each counts as the
    /// most that it can have used. A call whose end was recorded is not among them, so none counts twice.
    pub(super) async fn settle_unseen_calls(&mut self) -> Result<(), RecordError> {
        for call in self.recorder.open_calls.all().to_vec() {
            let (run, draft) = (call.run, call.ended_unseen());
            let late = match &draft.body {
                // The record of a run that was cut is written with its end.
                EventBody::ModelCalled(called) if self.recorder.state.running() != Some(run) => {
                    self.late_call(run, &called.usage).await?
                }
                _ => None,
            };
            self.recorder.record(vec![draft], |_| late.into_iter().collect()).await?;
        }
        Ok(())
    }

    pub(super) async fn on_called(&mut self, exchange: Exchange) -> Result<(), RecordError> {
        let mut drafts = Vec::with_capacity(2);
        let kept = self.keep_recording(exchange.clone()).await;
        let mut called = exchange.called;
        match kept {
            Kept::Stored(Stored { hash, bytes }) => {
                (called.recording, called.recording_bytes) = (Some(hash), Some(bytes));
            }
            Kept::LimitReached(reached) => drafts.push(Draft::of_run(exchange.run, *reached)),
            Kept::Not => {}
        }
        let late = match &mut self.run {
            Some(run) if run.record.run_id == exchange.run => {
                run.usage.add(&called.usage);
                if matches!(exchange.refusal, Some(RefusalKind::BudgetSpent | RefusalKind::NoPrice)) {
                    run.over_budget(Instant::now() + self.shared.options.stop_patience);
                }
                None
            }
            _ => self.late_call(exchange.run, &called.usage).await?,
        };
        let called = EventBody::ModelCalled(called);
        drafts.push(Draft::of_run(exchange.run, called).within(thread(exchange.conversation)));
        self.recorder.record(drafts, |_| late.into_iter().collect()).await?;
        Ok(())
    }

    /// Stores the exchange as a blob, so that the run can be replayed. A run that reached a limit is not recorded any further.
    async fn keep_recording(&mut self, exchange: Exchange) -> Kept {
        let (run, session) = (exchange.run, self.identity.session);
        let (options, recorded) = (&self.shared.options, &self.recorder.recorded);
        if recorded.has_reached_limit(run) {
            return Kept::Not;
        }
        let now = self.shared.parts.env.now();
        let retention = options.retention.recordings;
        let since = now.plus_millis(-i64::try_from(retention.as_millis()).unwrap_or(i64::MAX));
        let of_run =
            Use::new(RECORDED_PER_RUN, "run", recorded.bytes_of_run(run), options.recording_limits.per_run);
        let of_session = Use::new(
            RECORDED_PER_SESSION,
            "session",
            recorded.bytes_since(since),
            options.recording_limits.per_session,
        );
        let tighter = if of_run.left() <= of_session.left() { of_run } else { of_session };
        let allowed = Allowed { bytes: tighter.left(), retention };
        let space = spaces::of_calls(&self.identity.partition, session);
        let (blobs, recent) = (self.shared.parts.store.blobs.as_ref(), recorded.latest());
        match self.recordings.store(blobs, &space, exchange, &recent, now, allowed).await {
            Ok(stored) => Kept::Stored(stored),
            Err(StoreError::NoRoom { .. }) => Kept::LimitReached(Box::new(tighter.reached())),
            Err(error) => {
                tracing::error!(%session, error = &error as &dyn std::error::Error, "a model call was not recorded");
                Kept::Not
            }
        }
    }
}

fn thread(conversation: Option<String>) -> ConversationId {
    conversation.map_or_else(ConversationId::main, ConversationId)
}

/// The outcome of recording a call.
enum Kept {
    Stored(Stored),
    /// There is no room for it. Told once: nothing more of the run is recorded.
    LimitReached(Box<EventBody>),
    Not,
}

#[cfg(test)]
mod tests;
