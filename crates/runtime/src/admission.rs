//! Admission of sandboxes: at most so many at once, the rest in order of arrival.
//!
//! The one owner of the count. A start takes a [`Ticket`] and waits until it is [`Admitted`]; dropping either gives the place
//! back, however that happens. While somebody waits, the sandboxes that have been idle longest are asked to give way, one for
//! each who waits.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{sync::Notify, time::Instant};

/// Counts sandboxes.
pub(crate) struct Admission {
    max: usize,
    state: Mutex<State>,
    next_id: std::sync::atomic::AtomicU64,
}

#[derive(Default)]
struct State {
    admitted: Vec<Arc<Holder>>,
    /// Oldest first.
    waiting: VecDeque<Arc<Waiter>>,
}

/// Somebody who has a place.
struct Holder {
    id: u64,
    idle: Mutex<Idle>,
    give_way: Notify,
}

#[derive(Default)]
struct Idle {
    since: Option<Instant>,
    /// It was asked to give way, and is still idle.
    is_asked: bool,
}

/// Somebody who wants one.
struct Waiter {
    id: u64,
    moved: Notify,
}

/// Where in the queue somebody stands, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) place: usize,
    pub(crate) of: usize,
}

/// A place in the queue, given up when dropped.
pub(crate) struct Ticket {
    admission: Arc<Admission>,
    waiter: Arc<Waiter>,
}

/// A place among the running sandboxes, given back when dropped.
pub(crate) struct Admitted {
    admission: Arc<Admission>,
    holder: Arc<Holder>,
}

impl Admission {
    pub(crate) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self { max: max.max(1), state: Mutex::default(), next_id: Default::default() })
    }

    /// Joins the queue at its end.
    pub(crate) fn join(self: &Arc<Self>) -> Ticket {
        let id = self.next_id.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let waiter = Arc::new(Waiter { id, moved: Notify::new() });
        let mut state = self.state();
        state.waiting.push_back(Arc::clone(&waiter));
        state.settle(self.max);
        drop(state);
        Ticket { admission: Arc::clone(self), waiter }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Tells everybody who waits that positions may have changed, and asks idle sandboxes to give way.
    fn settle(&self, max: usize) {
        self.waiting.iter().for_each(|waiter| waiter.moved.notify_one());
        let free = max.saturating_sub(self.admitted.len());
        let asked = self.admitted.iter().filter(|holder| holder.idle().is_asked).count();
        let needed = self.waiting.len().saturating_sub(free + asked);
        let mut idle: Vec<(Instant, &Arc<Holder>)> = self
            .admitted
            .iter()
            .filter_map(|holder| {
                let idle = holder.idle();
                idle.since.filter(|_| !idle.is_asked).map(|since| (since, holder))
            })
            .collect();
        idle.sort_by_key(|(since, _)| *since);
        for (_, holder) in idle.into_iter().take(needed) {
            holder.idle().is_asked = true;
            holder.give_way.notify_one();
        }
    }
}

impl Ticket {
    /// Waits for a place, or for another place in the queue than `known`. Cancel-safe.
    pub(crate) async fn next(&self, known: Option<Position>) -> Result<Admitted, Position> {
        loop {
            match self.advance() {
                // Not for everybody who joins behind.
                Err(position) if known.is_some_and(|known| known.place == position.place) => {
                    self.waiter.moved.notified().await;
                }
                step => return step,
            }
        }
    }

    /// Takes a place if it is this one's turn and there is one.
    fn advance(&self) -> Result<Admitted, Position> {
        let mut state = self.admission.state();
        let at = state.waiting.iter().position(|waiter| waiter.id == self.waiter.id).unwrap_or(0);
        if at > 0 || state.admitted.len() >= self.admission.max {
            return Err(Position { place: at + 1, of: state.waiting.len() });
        }
        state.waiting.pop_front();
        let holder = Arc::new(Holder { id: self.waiter.id, idle: Mutex::default(), give_way: Notify::new() });
        state.admitted.push(Arc::clone(&holder));
        state.settle(self.admission.max);
        Ok(Admitted { admission: Arc::clone(&self.admission), holder })
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.admission.state();
        let before = state.waiting.len();
        state.waiting.retain(|waiter| waiter.id != self.waiter.id);
        if state.waiting.len() < before {
            state.settle(self.admission.max);
        }
    }
}

impl Admitted {
    /// The sandbox has nothing to do. Repeated, it counts from the first time.
    pub(crate) fn idle(&self) {
        let mut idle = self.holder.idle();
        if idle.since.is_some() {
            return;
        }
        idle.since = Some(Instant::now());
        drop(idle);
        self.admission.state().settle(self.admission.max);
    }

    /// The sandbox has something to do again. Somebody else is asked if it was to give way.
    pub(crate) fn busy(&self) {
        let was_asked = std::mem::take(&mut *self.holder.idle()).is_asked;
        if was_asked {
            self.admission.state().settle(self.admission.max);
        }
    }

    /// Waits until the sandbox is asked to give way. Cancel-safe.
    pub(crate) async fn asked_to_give_way(&self) {
        loop {
            self.holder.give_way.notified().await;
            if self.holder.idle().is_asked {
                return;
            }
        }
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        let mut state = self.admission.state();
        state.admitted.retain(|holder| holder.id != self.holder.id);
        state.settle(self.admission.max);
    }
}

impl Holder {
    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    /// Takes a place that is free.
    async fn admitted(ticket: Ticket) -> Admitted {
        ticket.next(None).await.unwrap_or_else(|position| panic!("no place is free: {position:?}"))
    }

    /// Waits for a place and reports each position on the way.
    async fn wait(ticket: Ticket, mut report: impl FnMut(Position)) -> Admitted {
        let mut known = None;
        loop {
            match ticket.next(known).await {
                Ok(admitted) => return admitted,
                Err(position) => {
                    report(position);
                    known = Some(position);
                }
            }
        }
    }

    #[tokio::test]
    async fn starts_beyond_the_maximum_wait_in_order_and_learn_their_position() {
        let admission = Admission::new(1);
        let first = admitted(admission.join()).await;
        let (seen, mut positions) = tokio::sync::mpsc::unbounded_channel();
        let queue = |name: &'static str| {
            let (ticket, seen) = (admission.join(), seen.clone());
            async move {
                let admitted =
                    wait(ticket, |at| seen.send((name, at.place, at.of)).expect("somebody listens")).await;
                seen.send((name, 0, 0)).expect("somebody listens");
                admitted
            }
        };
        let (mut second, mut third) = (Box::pin(queue("second")), Box::pin(queue("third")));
        assert!(second.as_mut().now_or_never().is_none());
        assert!(third.as_mut().now_or_never().is_none());
        drop(first);
        assert!(third.as_mut().now_or_never().is_none(), "it is not its turn");
        let admitted = second.await;
        assert!(third.as_mut().now_or_never().is_none());
        drop(admitted);
        third.await;
        let mut all = Vec::new();
        while let Ok(position) = positions.try_recv() {
            all.push(position);
        }
        let expected =
            [("second", 1, 2), ("third", 2, 2), ("second", 0, 0), ("third", 1, 1), ("third", 0, 0)];
        assert_eq!(all, expected);
    }

    #[tokio::test]
    async fn ticket_that_is_dropped_lets_the_next_one_through() {
        let admission = Admission::new(1);
        let first = admitted(admission.join()).await;
        let (second, third) = (admission.join(), admission.join());
        drop(second);
        drop(first);
        admitted(third).await;
    }

    #[tokio::test]
    async fn longest_idle_sandbox_is_asked_to_give_way_once_for_each_who_waits() {
        let admission = Admission::new(3);
        let mut all = Vec::new();
        for _ in 0..3 {
            all.push(admitted(admission.join()).await);
        }
        all[1].idle();
        all[0].idle();
        let is_asked =
            |all: &[Admitted]| all.iter().map(|one| one.holder.idle().is_asked).collect::<Vec<_>>();
        assert_eq!(is_asked(&all), [false, false, false], "nobody waits");
        let ticket = admission.join();
        assert_eq!(is_asked(&all), [false, true, false]);
        all[1].asked_to_give_way().await;
        // It got work in the meantime: the next one is asked.
        all[1].busy();
        assert_eq!(is_asked(&all), [true, false, false]);
        drop(all.remove(0));
        admitted(ticket).await;
        assert_eq!(is_asked(&all), [false, false]);
    }
}
