//! The disk limit, as well as it can be held without a quota: look often, say when there is too much.
//!
//! A sandbox can have taken no more than its file system has lost since it was last measured. So a tick is one
//! `statvfs`, and directories are walked only when that much could matter, or when the last walk is long ago.

mod measure;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use tokio::sync::watch;
use warren_env::{TaskKind, Tasks};

use crate::LimitHit;

pub(super) use measure::{MeasureError, measure};

/// Other programs may free what a sandbox takes, so a walk is due now and then whatever `statvfs` says.
const STALE: Duration = Duration::from_secs(60);

/// What a sandbox that was too full when it started may add: whoever cleans up writes a little too.
const CLEANING_ROOM: u64 = 4 << 20;

/// Looks after the disk use of all sandboxes. Ends when it is dropped.
pub(super) struct Watcher {
    all: Arc<Mutex<Vec<Weak<Watched>>>>,
    overfull: Overfull,
}

/// Directories that were left over their limit, by the first of them, with what they held. A sandbox that finds them so
/// may run to clean up, but not grow.
type Overfull = Arc<Mutex<HashMap<PathBuf, u64>>>;

/// The disk use of one sandbox.
pub(super) struct Watched {
    roots: Vec<PathBuf>,
    limit_bytes: u64,
    /// What it found when it started, if that was too much already.
    found_bytes: Option<u64>,
    overfull: Overfull,
    measured: Mutex<Option<Measured>>,
    hits: watch::Sender<Hits>,
}

/// What is hit now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Hits {
    /// By what the sandbox holds.
    own: Option<LimitHit>,
    /// By what the host has left, if this sandbox was chosen to give way.
    host: Option<LimitHit>,
}

#[derive(Debug, Clone, Copy)]
struct Measured {
    used_bytes: u64,
    /// What the first measurement said: what the sandbox found when it started.
    first_bytes: u64,
    free_bytes: u64,
    at: Instant,
}

impl Watcher {
    /// Starts to look. Needs a running tokio.
    pub(super) fn new(interval: Duration, floor_bytes: u64, tasks: &Tasks) -> Self {
        let all = Arc::new(Mutex::new(Vec::new()));
        tasks.spawn(TaskKind::Housekeeping, run(Arc::downgrade(&all), interval, floor_bytes));
        Self { all, overfull: Overfull::default() }
    }

    /// Looks after one more sandbox, until what is returned is dropped.
    pub(super) fn watch(&self, roots: Vec<PathBuf>, limit_bytes: u64) -> Arc<Watched> {
        let found_bytes = roots.first().and_then(|root| lock(&self.overfull).get(root).copied());
        let watched = Arc::new(Watched {
            roots,
            limit_bytes,
            found_bytes,
            overfull: Arc::clone(&self.overfull),
            measured: Mutex::default(),
            hits: watch::Sender::default(),
        });
        lock(&self.all).push(Arc::downgrade(&watched));
        watched
    }
}

async fn run(all: Weak<Mutex<Vec<Weak<Watched>>>>, interval: Duration, floor_bytes: u64) {
    let mut ticks = tokio::time::interval(interval);
    // A walk that takes long must not be followed by a burst of others.
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(all) = all.upgrade() else { return };
        let watched: Vec<Arc<Watched>> = {
            let mut all = lock(&all);
            all.retain(|one| one.strong_count() > 0);
            all.iter().filter_map(Weak::upgrade).collect()
        };
        if watched.is_empty() {
            continue;
        }
        if let Err(error) = tokio::task::spawn_blocking(move || look(&watched, floor_bytes)).await {
            tracing::error!(%error, "disk use could not be measured");
        }
    }
}

fn look(watched: &[Arc<Watched>], floor_bytes: u64) {
    let mut crowded = Vec::new();
    for one in watched {
        let is_crowded = one.free().is_some_and(|free| free < floor_bytes);
        if is_crowded || one.is_walk_due() {
            one.walk();
        }
        if is_crowded {
            crowded.push(one);
        } else {
            one.say(|hits| hits.host = None);
        }
    }
    // One at a time: ending the one that grew most may already be enough.
    let untold = crowded.into_iter().filter(|one| one.hits.borrow().host.is_none() && one.growth() > 0);
    if let Some(one) = untold.max_by_key(|one| one.growth()) {
        let free_bytes = one.free().unwrap_or(0);
        one.say(|hits| hits.host = Some(LimitHit::HostDisk { free_bytes, floor_bytes }));
    }
}

impl Watched {
    /// What the directories hold, as last measured; measured now if that never happened.
    pub(super) async fn used(self: &Arc<Self>) -> u64 {
        if let Some(measured) = *lock(&self.measured) {
            return measured.used_bytes;
        }
        let this = Arc::clone(self);
        // A walk that panicked has told nothing; the watcher's next one is a second away.
        let _ = tokio::task::spawn_blocking(move || this.walk()).await;
        lock(&self.measured).map_or(0, |measured| measured.used_bytes)
    }

    /// Waits until there is too much.
    pub(super) async fn limit_hit(&self) -> LimitHit {
        let mut hits = self.hits.subscribe();
        loop {
            let Hits { own, host } = *hits.borrow_and_update();
            if let Some(hit) = own.or(host) {
                return hit;
            }
            if hits.changed().await.is_err() {
                // The sender is in `self`, so this does not happen; waiting is right whatever does.
                std::future::pending::<()>().await;
            }
        }
    }

    fn is_walk_due(&self) -> bool {
        let (Some(last), Some(free)) = (*lock(&self.measured), self.free()) else { return true };
        let possible = last.used_bytes + last.free_bytes.saturating_sub(free);
        possible > self.limit_bytes || last.at.elapsed() > STALE
    }

    fn walk(&self) {
        let free_bytes = self.free().unwrap_or(0);
        let total = self.roots.iter().map(|root| measure(root)).sum::<Result<u64, MeasureError>>();
        let hit = match total {
            Ok(used_bytes) => {
                self.remember(used_bytes, free_bytes);
                let limit_bytes = self.found_bytes.map_or(self.limit_bytes, |found| found + CLEANING_ROOM);
                self.note_overfull(used_bytes);
                (used_bytes > limit_bytes).then_some(LimitHit::Disk { used_bytes, limit_bytes })
            }
            Err(MeasureError::TooDeep) => Some(LimitHit::TreeTooDeep),
            Err(MeasureError::Read(error)) => {
                tracing::warn!(%error, "disk use of a sandbox could not be measured");
                return;
            }
        };
        self.say(|hits| hits.own = hit);
    }

    /// Changes what is hit, and wakes those who wait only if that is news.
    fn say(&self, change: impl FnOnce(&mut Hits)) {
        self.hits.send_if_modified(|hits| {
            let before = *hits;
            change(hits);
            *hits != before
        });
    }

    /// Remembers for the next sandbox of these directories whether they hold too much.
    fn note_overfull(&self, used_bytes: u64) {
        let Some(root) = self.roots.first() else { return };
        let mut overfull = lock(&self.overfull);
        if used_bytes > self.limit_bytes {
            overfull.insert(root.clone(), used_bytes);
        } else {
            overfull.remove(root);
        }
    }

    fn remember(&self, used_bytes: u64, free_bytes: u64) {
        let mut measured = lock(&self.measured);
        let first_bytes = measured.map_or(used_bytes, |before| before.first_bytes);
        *measured = Some(Measured { used_bytes, first_bytes, free_bytes, at: Instant::now() });
    }

    fn growth(&self) -> u64 {
        lock(&self.measured).map_or(0, |measured| measured.used_bytes.saturating_sub(measured.first_bytes))
    }

    fn free(&self) -> Option<u64> {
        self.roots.first().and_then(|root| free_bytes(root))
    }
}

/// What an unprivileged user can still take on the file system of `path`.
fn free_bytes(path: &Path) -> Option<u64> {
    rustix::fs::statvfs(path).ok().map(|found| found.f_bavail * found.f_frsize)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
