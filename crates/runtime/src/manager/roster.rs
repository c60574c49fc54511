//! Who owns each session that is in memory.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::sync::{mpsc, oneshot};
use warren_domain::{Fence, Head, SessionId};
use warren_env::TaskKind;
use warren_store::{AcquireError, Granted};

use crate::{
    api::SessionError,
    options::Shared,
    recorder::Recorder,
    session::{Identity, Request, SessionTask, Status, StatusCell},
    traffic::Traffic,
};

/// How many requests may wait for one owner. When full, callers wait.
const INBOX: usize = 64;

/// Between two tries to take up a session whose log could not be written.
const AGAIN: Duration = Duration::from_secs(5);

/// All sessions in memory. An idle one costs its entry here, no task.
pub(crate) struct Roster {
    shared: Arc<Shared>,
    seats: Mutex<HashMap<SessionId, Seat>>,
    closed: AtomicBool,
    /// Sessions that [`Roster::take_up_later`] looks after.
    cut: Mutex<HashSet<SessionId>>,
}

enum Seat {
    /// In memory for clients, but nobody has asked anything of it yet.
    Loaded,
    /// Its last owner had nothing more to do.
    Parked(Box<(Identity, Recorder)>),
    Owned {
        inbox: mpsc::Sender<Request>,
        status: Arc<StatusCell>,
    },
}

/// Held by an owner for as long as it runs. One that panics cannot say that it is gone, and nobody may ask for it.
struct Fallen {
    roster: Arc<Roster>,
    session: SessionId,
}

impl Drop for Fallen {
    fn drop(&mut self) {
        if std::thread::panicking() {
            tracing::error!(session = %self.session, "the owner of a session panicked; the session is taken up again");
            self.roster.take_up_later(self.session);
        }
    }
}

impl Roster {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, seats: Mutex::default(), closed: AtomicBool::new(false), cut: Mutex::default() }
    }

    /// No session gets an owner from now on.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    /// Puts a session into memory, if it is not there.
    pub(crate) fn load(&self, session: SessionId) {
        self.seats().entry(session).or_insert(Seat::Loaded);
    }

    /// Takes a session that nobody owns out of memory. Says whether somebody owns it.
    pub(crate) fn unload_unowned(&self, session: SessionId) -> Option<Recorder> {
        let mut seats = self.seats();
        match seats.get(&session) {
            Some(Seat::Loaded | Seat::Parked(_)) => match seats.remove(&session) {
                Some(Seat::Parked(parked)) => Some(parked.1),
                _ => None,
            },
            Some(Seat::Owned { .. }) | None => None,
        }
    }

    pub(crate) fn is_owned(&self, session: SessionId) -> bool {
        matches!(self.seats().get(&session), Some(Seat::Owned { .. }))
    }

    /// Where to say that something moves into a session's sandbox or out of it, if somebody owns the session.
    pub(crate) fn traffic(&self, session: SessionId) -> Option<Traffic> {
        match self.seats().get(&session)? {
            Seat::Owned { status, .. } => Some(status.traffic.clone()),
            Seat::Loaded | Seat::Parked(_) => None,
        }
    }

    /// State right now.
    pub(crate) fn status(&self, session: SessionId) -> Status {
        match self.seats().get(&session) {
            None => Status::default(),
            Some(Seat::Loaded | Seat::Parked(_)) => StatusCell::loaded().get(),
            Some(Seat::Owned { status, .. }) => status.get(),
        }
    }

    /// Whether a session has something that is in no version, as far as memory knows.
    pub(crate) fn is_dirty(&self, session: SessionId) -> Option<bool> {
        match self.seats().get(&session)? {
            Seat::Loaded => None,
            Seat::Parked(parked) => Some(parked.1.state.head != Head::Clean),
            Seat::Owned { status, .. } => Some(status.get().is_dirty),
        }
    }

    /// Sessions that have an owner.
    pub(crate) fn owned(&self) -> Vec<SessionId> {
        self.having(|seat| matches!(seat, Seat::Owned { .. }))
    }

    /// Sessions in memory whose state satisfies `wanted`.
    pub(crate) fn matching(&self, wanted: impl Fn(&Status) -> bool) -> Vec<SessionId> {
        self.having(|seat| match seat {
            Seat::Loaded | Seat::Parked(_) => wanted(&StatusCell::loaded().get()),
            Seat::Owned { status, .. } => wanted(&status.get()),
        })
    }

    fn having(&self, wanted: impl Fn(&Seat) -> bool) -> Vec<SessionId> {
        self.seats().iter().filter(|(_, seat)| wanted(seat)).map(|(session, _)| *session).collect()
    }

    /// The leases this node believes to hold.
    pub(crate) fn leases(&self) -> Vec<(SessionId, Fence)> {
        let fence = |seat: &Seat| match seat {
            Seat::Loaded => None,
            Seat::Parked(parked) => Some(parked.1.fence),
            Seat::Owned { status, .. } => status.fence(),
        };
        self.seats().iter().filter_map(|(session, seat)| Some((*session, fence(seat)?))).collect()
    }

    /// A lease was taken over: whoever works under it stops, and what was known under it is forgotten.
    pub(crate) fn lose(&self, session: SessionId, fence: Fence) {
        let mut seats = self.seats();
        match seats.get(&session) {
            Some(Seat::Parked(parked)) if parked.1.fence == fence => {
                seats.remove(&session);
                drop(seats);
                tracing::warn!(%session, "another server has taken over a session that was asleep here");
                self.shared.parts.live.runtime_changed(session);
            }
            Some(Seat::Owned { inbox, status }) if status.fence() == Some(fence) => {
                // Full: it is told again when the leases are renewed next.
                if inbox.try_send(Request::Lost(fence)).is_err() {
                    tracing::warn!(%session, "an owner that lost its lease is too busy to be told");
                }
            }
            Some(Seat::Loaded | Seat::Parked(_) | Seat::Owned { .. }) | None => {}
        }
    }

    /// Gives a request to the session's owner, making one if need be.
    pub(crate) async fn dispatch(
        self: &Arc<Self>,
        session: SessionId,
        mut request: Request,
    ) -> Result<(), SessionError> {
        loop {
            let inbox = match self.owner(session).await {
                Ok(inbox) => inbox,
                Err(error) => {
                    // A late request has nobody else to tell its caller why.
                    request.refuse(error.again());
                    return Err(error);
                }
            };
            match inbox.send(request).await {
                Ok(()) => return Ok(()),
                // The owner parked itself between our finding it and asking it.
                Err(back) => request = back.0,
            }
        }
    }

    async fn owner(self: &Arc<Self>, session: SessionId) -> Result<mpsc::Sender<Request>, SessionError> {
        if let Some(owner) = self.owner_in_memory(session)? {
            return Ok(owner);
        }
        let found = self.shared.parts.store.sessions.session(session).await;
        let record = found
            .map_err(|error| SessionError::internal("read the session", error))?
            .ok_or_else(|| SessionError::not_found("session", session))?;
        // Two callers may come here at once: the second finds the first one's owner, or what it left.
        let mut seats = self.seats();
        if let Some(Seat::Owned { inbox, .. }) = seats.get(&session)
            && !inbox.is_closed()
        {
            return Ok(inbox.clone());
        }
        // Asked again under the lock: whoever drains has counted the owners by now.
        if self.closed.load(Ordering::SeqCst) {
            return Err(SessionError::Draining);
        }
        let parked = match seats.remove(&session) {
            Some(Seat::Parked(parked)) => Some(parked.1),
            _ => None,
        };
        Ok(self.seat_owner(&mut seats, Identity::from(&record), parked))
    }

    fn owner_in_memory(
        self: &Arc<Self>,
        session: SessionId,
    ) -> Result<Option<mpsc::Sender<Request>>, SessionError> {
        let mut seats = self.seats();
        match seats.remove(&session) {
            // An owner says so before it closes its inbox; one that did not has panicked, and its session is read anew.
            Some(Seat::Owned { inbox, status }) if !inbox.is_closed() => {
                let owner = inbox.clone();
                seats.insert(session, Seat::Owned { inbox, status });
                Ok(Some(owner))
            }
            other if self.closed.load(Ordering::SeqCst) => {
                seats.extend(other.map(|seat| (session, seat)));
                Err(SessionError::Draining)
            }
            Some(Seat::Parked(parked)) => Ok(Some(self.seat_owner(&mut seats, parked.0, Some(parked.1)))),
            Some(Seat::Loaded) => {
                seats.insert(session, Seat::Loaded);
                Ok(None)
            }
            Some(Seat::Owned { .. }) | None => Ok(None),
        }
    }

    fn seat_owner(
        self: &Arc<Self>,
        seats: &mut HashMap<SessionId, Seat>,
        identity: Identity,
        parked: Option<Recorder>,
    ) -> mpsc::Sender<Request> {
        let (inbox, requests) = mpsc::channel(INBOX);
        let status = Arc::new(StatusCell::loaded());
        seats.insert(identity.session, Seat::Owned { inbox: inbox.clone(), status: status.clone() });
        let owner = self.clone().own(identity, parked, status, requests);
        self.shared.parts.tasks.spawn_to_end(TaskKind::Session, owner);
        inbox
    }

    /// The life of an owner: takes charge unless its predecessor parked the session with everything known, then runs.
    async fn own(
        self: Arc<Self>,
        identity: Identity,
        parked: Option<Recorder>,
        status: Arc<StatusCell>,
        inbox: mpsc::Receiver<Request>,
    ) {
        let _fallen = Fallen { roster: self.clone(), session: identity.session };
        let taken = match parked {
            Some(recorder) => Ok(recorder),
            None => self.take_charge(&identity).await,
        };
        match taken {
            Ok(recorder) => {
                let identity = Identity { fence: recorder.fence, ..identity };
                status.owned_under(recorder.fence);
                SessionTask::new(identity, self.shared.clone(), recorder, status, inbox).run(self).await;
            }
            Err(error) => self.turn_away(identity.session, inbox, &error),
        }
    }

    /// Nobody can own the session now: whoever asked something of it hears why.
    pub(crate) fn turn_away(
        &self,
        session: SessionId,
        mut inbox: mpsc::Receiver<Request>,
        error: &SessionError,
    ) {
        self.seats().remove(&session);
        self.shared.parts.live.runtime_changed(session);
        inbox.close();
        while let Ok(request) = inbox.try_recv() {
            request.refuse(error.again());
        }
    }

    /// An owner that could not write may have left a run open. Has it ended as soon as the log can be written again, or
    /// is not ours to write.
    pub(crate) fn take_up_later(self: &Arc<Self>, session: SessionId) {
        if !self.cut().insert(session) {
            return;
        }
        let roster = self.clone();
        self.shared.parts.tasks.spawn(TaskKind::Session, async move {
            loop {
                tokio::time::sleep(AGAIN).await;
                let (reply, answer) = oneshot::channel();
                // If it could not be handed over, the answer says so.
                let _ = roster.dispatch(session, Request::PickUp(reply)).await;
                match answer.await {
                    Err(_) | Ok(Err(SessionError::Internal { .. })) => {}
                    Ok(_) => break,
                }
            }
            roster.cut().remove(&session);
        });
    }

    /// Takes a session's lease for this node.
    pub(crate) async fn lease(&self, session: SessionId) -> Result<Granted, SessionError> {
        let (parts, options) = (&self.shared.parts, &self.shared.options);
        let granted = parts.store.leases.acquire(session, &options.node, options.lease).await;
        granted.map_err(|error| match error {
            AcquireError::Held { session, holder, .. } => {
                SessionError::Elsewhere { session, holder: holder.to_string() }
            }
            AcquireError::NoSession(session) => SessionError::not_found("session", session),
            other @ AcquireError::Backend { .. } => SessionError::internal("take the session's lease", other),
        })
    }

    /// Takes the lease and reads the log.
    async fn take_charge(&self, identity: &Identity) -> Result<Recorder, SessionError> {
        let granted = self.lease(identity.session).await?;
        Recorder::open(identity.session, identity.partition.clone(), granted.fence, self.shared.clone())
            .await
            .map_err(|error| SessionError::internal("read the session's log", error))
    }

    /// An owner has nothing more to do.
    pub(crate) fn park(
        self: &Arc<Self>,
        identity: Identity,
        recorder: Recorder,
        inbox: mpsc::Receiver<Request>,
    ) {
        let session = identity.session;
        self.seats().insert(session, Seat::Parked(Box::new((identity, recorder))));
        self.redirect(session, inbox);
    }

    /// An owner is done with the session, for good or because its log cannot be written.
    pub(crate) fn forget(self: &Arc<Self>, session: SessionId, inbox: mpsc::Receiver<Request>) {
        self.seats().remove(&session);
        self.shared.parts.live.runtime_changed(session);
        self.redirect(session, inbox);
    }

    /// Requests that reached an owner after its last look go to the next one.
    fn redirect(self: &Arc<Self>, session: SessionId, mut inbox: mpsc::Receiver<Request>) {
        inbox.close();
        let mut late = Vec::new();
        while let Ok(request) = inbox.try_recv() {
            late.push(request);
        }
        if late.is_empty() {
            return;
        }
        let roster = self.clone();
        self.shared.parts.tasks.spawn_to_end(TaskKind::Session, async move {
            for request in late {
                // Whoever asked sees its answer channel close, which is an error to it.
                if let Err(error) = roster.dispatch(session, request).await {
                    tracing::debug!(%session, error = &error as &dyn std::error::Error, "a late request found no owner");
                }
            }
        });
    }

    fn cut(&self) -> MutexGuard<'_, HashSet<SessionId>> {
        self.cut.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seats(&self) -> MutexGuard<'_, HashMap<SessionId, Seat>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
