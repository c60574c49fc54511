//! Counts what the peer has sent and nobody has read, and knows how streams end.
//!
//! yamux bounds the *bytes* of a stream by its window, but keeps one allocation per frame: a peer that sends
//! one-byte frames makes us pay about a hundred times its window. So every data frame is counted here, with its
//! overhead, before yamux sees it ([`crate::io`] calls [`Meter::on_frame`]), and taken off as it is read.
//!
//! yamux tells the peer of a dropped stream only where neither half was ended. The other two cases are mended here, in
//! what [`crate::io`] writes: see [`Table`].

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use crate::options::Options;

/// What a queued frame costs besides its bytes: the smallest heap block, and a slot in a queue that grows by doubling.
const FRAME_OVERHEAD: usize = 96;

/// Frames that share one mark in a [`Ledger`]: the account is exact to this many frames, and small.
const FRAMES_PER_MARK: usize = 32;

/// More streams than can be on their way out at a time.
const MAX_CUT: usize = 1024;

/// The account of one link.
pub(crate) struct Meter {
    options: Options,
    table: Mutex<Table>,
    /// Cost of what is queued on living streams.
    queued: AtomicUsize,
    /// Cost of what dropped streams had queued, until yamux can be known to have freed it.
    abandoned: AtomicUsize,
    /// The frame that opens the stream yamux will hand out next, if it carries data.
    opening: Mutex<Option<DataFrame>>,
    /// Whether the peer was taking no bytes when yamux last wrote.
    write_blocked: AtomicBool,
}

/// The streams, and those of the dropped ones whose end the peer would not hear of.
#[derive(Default)]
struct Table {
    lanes: HashMap<u32, Arc<Lane>>,
    /// Dropped after we ended our half, while the peer may still send: without a reset it would wait for ever for somebody to
    /// read. These wait for the end of our half to be written, lest the reset overtakes it,
    ending: HashSet<u32>,
    /// and these are to be reset now.
    resets: Vec<u32>,
    /// Dropped before we ended our half, but after the peer ended its own: yamux will say that we ended ours too, which
    /// the peer would take for the whole of what we had to say. That end is turned into a reset.
    cut: HashSet<u32>,
}

/// One stream as the meter sees it. Shared with the [`crate::Stream`] that reads it.
pub(crate) struct Lane {
    id: u32,
    /// Gone once the stream was dropped or reset; taking it out is what resets the stream.
    yamux: Mutex<Option<yamux::Stream>>,
    ledger: Mutex<Ledger>,
    /// Set when the peer ended its half properly. Without it an end of file is a lost connection.
    finished: AtomicBool,
    /// Set when we ended our half,
    shut: AtomicBool,
    /// and when yamux has written so.
    shut_written: AtomicBool,
}

/// A data frame as it is about to come in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DataFrame {
    pub(crate) stream: u32,
    pub(crate) len: usize,
    pub(crate) fin: bool,
}

/// What is to become of a frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Deliver,
    /// Its stream is gone: yamux may still hold what was queued, and must not get more.
    Discard,
    /// The peer made us hold too much that we cannot free.
    EndLink,
}

/// What a frame that ends our half of a stream becomes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Fin,
    FinThenReset,
    Reset,
}

impl Meter {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            options,
            table: Mutex::default(),
            queued: AtomicUsize::new(0),
            abandoned: AtomicUsize::new(0),
            opening: Mutex::default(),
            write_blocked: AtomicBool::new(false),
        }
    }

    /// Takes a stream into the account, which must happen before yamux reads another frame.
    pub(crate) fn add(&self, stream: yamux::Stream) -> Arc<Lane> {
        let id = stream.id().val();
        let lane = Arc::new(Lane {
            id,
            yamux: Mutex::new(Some(stream)),
            ledger: Mutex::default(),
            finished: AtomicBool::new(false),
            shut: AtomicBool::new(false),
            shut_written: AtomicBool::new(false),
        });
        lock(&self.table).lanes.insert(id, lane.clone());
        if let Some(frame) = lock(&self.opening).take_if(|frame| frame.stream == id) {
            // yamux has this frame already; the verdict can only matter to the next.
            self.on_frame(frame);
        }
        lane
    }

    /// Notes a frame that opens a stream. It is counted when the stream is added.
    pub(crate) fn on_opening(&self, frame: DataFrame) {
        *lock(&self.opening) = Some(frame);
    }

    /// Notes whether the peer takes our bytes.
    pub(crate) fn on_write(&self, blocked: bool) {
        self.write_blocked.store(blocked, Ordering::Relaxed);
    }

    /// Counts a data frame, and resets the stream it makes too greedy.
    pub(crate) fn on_frame(&self, frame: DataFrame) -> Verdict {
        // Charged under the lock, so that a stream dropped meanwhile is charged either before or not at all.
        let table = lock(&self.table);
        let Some(lane) = table.lanes.get(&frame.stream).cloned() else {
            drop(table);
            return self.verdict(Verdict::Discard);
        };
        let cost = self.charge(&lane, |ledger| ledger.receive(frame.len));
        drop(table);
        if frame.fin {
            lane.finished.store(true, Ordering::Release);
        }
        if cost > self.options.max_queued_per_stream {
            self.reset(&lane);
            return self.verdict(Verdict::Discard);
        }
        if self.queued.load(Ordering::Relaxed) > self.options.max_queued {
            self.reset_greediest();
        }
        self.verdict(Verdict::Deliver)
    }

    /// Takes what a reader consumed off the account.
    pub(crate) fn on_read(&self, lane: &Lane, n: usize) {
        self.charge(lane, |ledger| ledger.read(n));
    }

    /// Drops a stream: the peer is told, and what was queued is freed when yamux next can write.
    pub(crate) fn reset(&self, lane: &Lane) {
        if lock(&self.table).remove(lane) {
            // The yamux stream goes first: what is counted as abandoned must already be on its way out.
            drop(lock(&lane.yamux).take());
            let cost = std::mem::take(&mut *lock(&lane.ledger)).cost();
            self.queued.fetch_sub(cost, Ordering::Relaxed);
            self.abandoned.fetch_add(cost, Ordering::Relaxed);
        }
    }

    /// What to write for a frame in which yamux ends our half of a stream.
    pub(crate) fn on_fin_written(&self, stream: u32) -> Ending {
        let mut table = lock(&self.table);
        if let Some(lane) = table.lanes.get(&stream) {
            lane.shut_written.store(true, Ordering::Relaxed);
        }
        match (table.cut.remove(&stream), table.ending.remove(&stream)) {
            (true, _) => Ending::Reset,
            (false, true) => Ending::FinThenReset,
            (false, false) => Ending::Fin,
        }
    }

    /// Streams to be reset now, between two frames of yamux.
    pub(crate) fn take_resets(&self) -> Vec<u32> {
        std::mem::take(&mut lock(&self.table).resets)
    }

    /// Cost of what dropped streams still hold. To be read before yamux is polled; see [`Meter::after_poll`].
    pub(crate) fn abandoned(&self) -> usize {
        self.abandoned.load(Ordering::Relaxed)
    }

    /// Says that yamux was polled until it had nothing more to do. Unless the peer would not take our bytes, it has then
    /// removed every stream that was dropped when [`Meter::abandoned`] gave `abandoned`.
    pub(crate) fn after_poll(&self, abandoned: usize) {
        if !self.write_blocked.load(Ordering::Relaxed) {
            self.abandoned.fetch_sub(abandoned, Ordering::Relaxed);
        }
    }

    fn verdict(&self, otherwise: Verdict) -> Verdict {
        if self.abandoned() > self.options.max_queued { Verdict::EndLink } else { otherwise }
    }

    fn reset_greediest(&self) {
        let cost = |lane: &Arc<Lane>| lock(&lane.ledger).cost();
        let greediest = lock(&self.table).lanes.values().max_by_key(|lane| cost(lane)).cloned();
        if let Some(lane) = greediest {
            self.reset(&lane);
        }
    }

    /// Changes a ledger and the total alike. Returns the lane's new cost.
    fn charge(&self, lane: &Lane, change: impl FnOnce(&mut Ledger)) -> usize {
        let mut ledger = lock(&lane.ledger);
        let before = ledger.cost();
        change(&mut ledger);
        let after = ledger.cost();
        if after >= before {
            self.queued.fetch_add(after - before, Ordering::Relaxed);
        } else {
            self.queued.fetch_sub(before - after, Ordering::Relaxed);
        }
        after
    }
}

impl Table {
    /// Takes a stream out, and notes what the peer must hear that yamux will not say. False if it was out already.
    fn remove(&mut self, lane: &Lane) -> bool {
        if self.lanes.remove(&lane.id).is_none() {
            return false;
        }
        match (lane.shut.load(Ordering::Relaxed), lane.finished()) {
            (true, false) if lane.shut_written.load(Ordering::Relaxed) => self.resets.push(lane.id),
            (true, false) => _ = self.ending.insert(lane.id),
            (false, true) => {
                // A peer that also resets the stream leaves an entry behind: it must not fill our memory with them.
                if self.cut.len() >= MAX_CUT {
                    self.cut.clear();
                }
                self.cut.insert(lane.id);
            }
            (true, true) | (false, false) => {}
        }
        true
    }
}

impl Lane {
    /// Runs `f` on the yamux stream, or returns `None` if it was reset.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut yamux::Stream) -> R) -> Option<R> {
        lock(&self.yamux).as_mut().map(f)
    }

    /// Notes that our half was ended.
    pub(crate) fn shut(&self) {
        self.shut.store(true, Ordering::Relaxed);
    }

    /// Whether the peer ended its half of the stream, rather than reset or lost it.
    pub(crate) fn finished(&self) -> bool {
        self.finished.load(Ordering::Acquire)
    }
}

/// Bytes and frames that wait on one stream.
#[derive(Debug, Default)]
struct Ledger {
    /// Totals since the stream began.
    received: u64,
    read: u64,
    /// The value of `received` after every [`FRAMES_PER_MARK`] frames: read past a mark, and those frames are gone.
    marks: VecDeque<u64>,
    /// Frames since the last mark.
    unmarked: usize,
}

impl Ledger {
    fn receive(&mut self, len: usize) {
        if len == 0 {
            return; // yamux keeps nothing of an empty frame.
        }
        self.received += len as u64;
        self.unmarked += 1;
        if self.unmarked == FRAMES_PER_MARK {
            self.marks.push_back(self.received);
            self.unmarked = 0;
        }
    }

    fn read(&mut self, n: usize) {
        // A reader may be ahead of a ledger that was taken away by a reset: never below nothing.
        self.read = self.received.min(self.read + n as u64);
        while self.marks.front().is_some_and(|mark| *mark <= self.read) {
            self.marks.pop_front();
        }
        if self.read == self.received {
            self.unmarked = 0;
        }
    }

    fn cost(&self) -> usize {
        let bytes = usize::try_from(self.received - self.read).unwrap_or(usize::MAX);
        bytes + (self.marks.len() * FRAMES_PER_MARK + self.unmarked) * FRAME_OVERHEAD
    }
}

/// The locks here are held for a few lines that do not panic; a poisoned one is as good as any.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::{FRAME_OVERHEAD, FRAMES_PER_MARK, Ledger};

    #[test]
    fn a_ledger_costs_nothing_once_everything_is_read() {
        let mut ledger = Ledger::default();
        for _ in 0..1000 {
            ledger.receive(3);
        }
        assert_eq!(ledger.cost(), 3000 + 1000 * FRAME_OVERHEAD);
        ledger.read(3000);
        assert_eq!(ledger.cost(), 0);
    }

    #[test]
    fn small_frames_behind_a_big_one_keep_their_cost_until_they_are_read() {
        let mut ledger = Ledger::default();
        ledger.receive(100_000);
        for _ in 0..10_000 {
            ledger.receive(1);
        }
        ledger.read(100_000);
        let exact = 10_000 * (1 + FRAME_OVERHEAD);
        let off_by = ledger.cost().abs_diff(exact);
        assert!(off_by <= FRAMES_PER_MARK * FRAME_OVERHEAD, "off by {off_by}");
    }

    #[test]
    fn reading_more_than_was_received_does_not_go_below_nothing() {
        let mut ledger = Ledger::default();
        ledger.read(10);
        ledger.receive(5);
        assert_eq!(ledger.cost(), 5 + FRAME_OVERHEAD);
    }
}
