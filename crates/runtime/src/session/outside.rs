//! The session's side of the egress proxy: what its sandbox may reach, and what was decided.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{mpsc, oneshot, watch},
};
use warren_domain::{AgentProfile, Draft, EventBody, RunId};
use warren_env::{TaskKind, Tasks};
use warren_models::{Egress, EgressCaller, EgressDecision, EgressRules, EgressSlots, RuleError};
use warren_sandbox::Guest;

use super::{SessionTask, signal::Signal};
use crate::recorder::RecordError;

/// The port inside every sandbox where the proxy listens.
pub(super) const PORT: u16 = 4180;

/// Addresses of the sandbox itself need no proxy.
const LOCAL: &str = "127.0.0.1,localhost,::1";

/// One sandbox as the egress proxy sees it.
pub(super) struct Outside {
    run: watch::Sender<Option<RunId>>,
    /// Egress rules of the profile.
    rules: EgressRules,
    slots: EgressSlots,
    signals: mpsc::Sender<Signal>,
}

/// A decision that waits to be recorded.
pub(super) struct Decided {
    run: RunId,
    decision: EgressDecision,
    /// Dropped or answered when it is.
    done: oneshot::Sender<()>,
}

impl Outside {
    /// Parses the egress rules of the profile.
    ///
    /// # Errors
    /// When the profile has a rule that is none.
    pub(super) fn new(profile: &AgentProfile, signals: mpsc::Sender<Signal>) -> Result<Self, RuleError> {
        let rules = EgressRules::parse(&profile.egress_allow)?;
        Ok(Self { run: watch::Sender::new(None), rules, slots: EgressSlots::default(), signals })
    }

    /// From now on connections belong to `run`; with `None` they are refused. Those of the run before are closed.
    pub(super) fn belong_to(&self, run: Option<RunId>) {
        self.run.send_replace(run);
    }

    fn run(&self) -> Option<RunId> {
        *self.run.borrow()
    }

    /// Returns when the active run has ended; if there is none, when the next one has.
    async fn run_ended(&self) {
        let mut runs = self.run.subscribe();
        // The sender is `self`'s own, so there always is a next value to wait for.
        let Ok(run) = runs.wait_for(Option::is_some).await.map(|run| *run) else { return };
        let _ = runs.wait_for(|now| *now != run).await;
    }
}

#[async_trait]
impl EgressCaller for Outside {
    fn rules(&self) -> Option<EgressRules> {
        self.run().map(|_| self.rules.clone())
    }

    fn slots(&self) -> &EgressSlots {
        &self.slots
    }

    async fn decided(&self, decision: EgressDecision) {
        // Refused because no run is active: there is no run to tell it of.
        let Some(run) = self.run() else { return };
        let (done, recorded) = oneshot::channel();
        let signal = Signal::Egress(Box::new(Decided { run, decision, done }));
        if self.signals.send(signal).await.is_ok() {
            // Dropped without an answer: the session stops, and the sandbox with it.
            let _ = recorded.await;
        }
    }
}

/// The environment variables by which programs in a sandbox find the proxy.
pub(super) fn environment() -> BTreeMap<String, String> {
    let proxy = format!("http://127.0.0.1:{PORT}");
    let names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"];
    let mut all: BTreeMap<String, String> =
        names.into_iter().map(|name| (name.to_owned(), proxy.clone())).collect();
    all.extend(["NO_PROXY", "no_proxy"].map(|name| (name.to_owned(), LOCAL.to_owned())));
    all
}

/// Makes the proxy reachable on the sandbox's loopback.
pub(super) async fn serve(
    guest: &Guest,
    egress: Egress,
    outside: Arc<Outside>,
    tasks: &Tasks,
) -> Result<(), warren_sandbox::CallError> {
    let mut listener = guest.listen("egress", PORT).await?;
    let inner = tasks.clone();
    tasks.spawn(TaskKind::Sandbox, async move {
        while let Some(stream) = listener.accept().await {
            let (egress, outside) = (egress.clone(), outside.clone());
            inner.spawn(TaskKind::Sandbox, serve_connection(egress, stream, outside));
        }
    });
    Ok(())
}

/// Serves one connection until it closes or its run ends: what a run was allowed ends with it, tunnels too.
async fn serve_connection<IO>(egress: Egress, stream: IO, outside: Arc<Outside>)
where
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    tokio::select! {
        () = egress.serve(stream, Arc::<Outside>::clone(&outside)) => {}
        () = outside.run_ended() => tracing::debug!("a connection was closed because its run has ended"),
    }
}

impl SessionTask {
    pub(super) async fn on_egress(&mut self, decided: Decided) -> Result<(), RecordError> {
        let EgressDecision { host, port, allowed, rule } = decided.decision;
        let body = EventBody::EgressDecided { host, port, allowed, rule };
        self.recorder.record(vec![Draft::of_run(decided.run, body)], |_| Vec::new()).await?;
        // Whoever waited may have closed its connection.
        let _ = decided.done.send(());
        Ok(())
    }
}

#[cfg(test)]
mod tests;
