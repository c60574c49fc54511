//! The session's side of the model gateway: whose call it is, and what became of it.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use tokio::{sync::mpsc, time::Instant};
use warren_domain::{BlobHash, ConversationId, Draft, EventBody, RunId};
use warren_models::{Budget, Caller, Charge, Exchange, Quote, Recording, RefusalKind, Unaffordable};

use super::{SessionTask, signal::Signal};
use crate::{recorder::RecordError, spaces};

/// One sandbox as the model gateway sees it.
pub(super) struct Calls {
    active: Mutex<Active>,
    /// Calls whose end was not handed to the session yet.
    open: AtomicUsize,
    signals: mpsc::Sender<Signal>,
}

/// Whose calls they are, and what these may spend.
#[derive(Default)]
struct Active {
    run: Option<RunId>,
    budget: Option<Budget>,
}

impl Calls {
    pub(super) fn new(signals: mpsc::Sender<Signal>) -> Self {
        Self { active: Mutex::default(), open: AtomicUsize::new(0), signals }
    }

    /// From now on calls belong to `run`; with `None` they are refused.
    pub(super) fn belong_to(&self, run: Option<RunId>) {
        self.active().run = run;
    }

    /// What calls may spend from now on, all together.
    pub(super) fn limit_to(&self, budget: Option<Budget>) {
        self.active().budget = budget;
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

    fn reserve(&self, _run: RunId, quote: &Quote) -> Result<Option<Charge>, Unaffordable> {
        self.active().budget.as_mut().map(|budget| budget.reserve(quote)).transpose()
    }

    async fn ended(&self, exchange: Exchange) {
        if let (Some(settlement), Some(budget)) = (&exchange.settlement, &mut self.active().budget) {
            budget.settle(settlement);
        }
        // A session that is gone records nothing more.
        let _ = self.signals.send(Signal::Called(Box::new(exchange))).await;
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl SessionTask {
    pub(super) async fn on_called(&mut self, exchange: Exchange) -> Result<(), RecordError> {
        let recording = self.keep_recording(&exchange).await;
        let mut called = exchange.called;
        called.recording = recording;
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
        let thread = exchange.conversation.map_or_else(ConversationId::main, ConversationId);
        let draft = Draft::of_run(exchange.run, EventBody::ModelCalled(called)).within(thread);
        self.recorder.record(vec![draft], |_| late.into_iter().collect()).await?;
        Ok(())
    }

    /// Keeps the exchange as a blob, so that the run can be replayed.
    async fn keep_recording(&self, exchange: &Exchange) -> Option<BlobHash> {
        let bytes = Recording::encode(exchange);
        let space = spaces::of_calls(&self.identity.partition, self.identity.session);
        match self.shared.parts.store.blobs.put_blob(&space, bytes).await {
            Ok(hash) => Some(hash),
            Err(error) => {
                let session = self.identity.session;
                tracing::error!(%session, error = &error as &dyn std::error::Error, "a model call was not recorded");
                None
            }
        }
    }
}
