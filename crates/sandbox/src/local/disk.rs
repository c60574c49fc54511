//! The disk limit, as well as it can be held without a quota: look often, report when there is too much.
//!
//! With a quota the kernel refuses what goes far beyond the limit, and counts what is held; who is over it is reported all the
//! same.
//!
//! What a sandbox holds is what its directories hold by name, and what its processes hold by descriptor or mapping after the
//! name is gone. It can have taken no more than its file system has lost since it was last measured, and nothing while none
//! of its processes ran. So a tick is one `statvfs` and one counter for each sandbox; directories are walked only when that
//! much could matter, or when a busy sandbox was not measured for long.

mod held;
mod measure;
mod processes;
mod quota;

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, Instant},
};

use tokio::sync::watch;
use warren_env::{TaskKind, Tasks};

use crate::LimitHit;

pub(super) use held::Held;
pub(super) use measure::{MeasureError, measure};
pub(super) use processes::Processes;
pub(super) use quota::{Quota, adopt, disown, has_quotas, release};

/// Other programs may free what a sandbox takes, so a walk is due now and then whatever `statvfs` says.
const STALE: Duration = Duration::from_secs(60);

/// What a sandbox that was too full when it started may add: whoever cleans up writes a little too.
const CLEANING_ROOM: Held = Held { bytes: 4 << 20, inodes: 1000 };

/// How long the end of the sandbox that was chosen to give way may take before another is.
const ENDING: Duration = Duration::from_secs(15);

/// Whoever took more than this gives way when the host has no room, however much others took.
const MUCH_BYTES: u64 = 256 << 20;

/// Looks after the disk use of all sandboxes. Ends when it is dropped.
pub(super) struct Watcher {
    all: Arc<Mutex<Vec<Weak<Watched>>>>,
    overfull: Overfull,
}

/// Directories that were left over their limit, by the first of them, with what they held. A sandbox that finds them so
/// may run to clean up, but not grow.
type Overfull = Arc<Mutex<HashMap<PathBuf, Held>>>;

/// The disk use of one sandbox.
pub(super) struct Watched {
    roots: Vec<PathBuf>,
    processes: Processes,
    /// Holds the limit where the file system can.
    quota: Option<Quota>,
    limit: Held,
    /// What it found when it started, if that was too much already.
    found: Option<Held>,
    overfull: Overfull,
    measured: Mutex<Option<Measured>>,
    hits: watch::Sender<Hits>,
}

/// What is hit now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Hits {
    /// By what the sandbox holds.
    own: Option<LimitHit>,
    /// By what the host has left, if this sandbox was chosen to give way, and when it was.
    host: Option<(LimitHit, Instant)>,
}

#[derive(Debug, Clone, Copy)]
struct Measured {
    used: Held,
    /// What it found when it started.
    first: Held,
    /// The least it held since.
    low: Held,
    /// What was free then, and at the first measurement.
    free: Held,
    first_free: Held,
    /// CPU time and bytes written by then.
    cpu_nanos: Option<u64>,
    written_bytes: u64,
    at: Instant,
}

/// What must stay free on the file system.
#[derive(Debug, Clone, Copy)]
pub(super) struct Floor {
    pub(super) bytes: u64,
    /// At most; never more than a twentieth of all inodes.
    pub(super) inodes: u64,
}

/// The state of a file system.
#[derive(Debug, Clone, Copy)]
struct Space {
    free: Held,
    /// 0 where the file system has no fixed number.
    all_inodes: u64,
}

impl Watcher {
    /// Starts to look. Needs a running tokio.
    pub(super) fn new(interval: Duration, floor: Floor, tasks: &Tasks) -> Self {
        let all = Arc::new(Mutex::new(Vec::new()));
        tasks.spawn(TaskKind::Housekeeping, run(Arc::downgrade(&all), interval, floor));
        Self { all, overfull: Overfull::default() }
    }

    /// Looks after one more sandbox, until what is returned is dropped.
    pub(super) fn watch(
        &self,
        roots: Vec<PathBuf>,
        processes: Processes,
        limit: Held,
        quota: Option<Quota>,
    ) -> Arc<Watched> {
        let found = roots.first().and_then(|root| lock(&self.overfull).get(root).copied());
        let watched = Arc::new(Watched {
            roots,
            processes,
            quota,
            limit,
            found,
            overfull: Arc::clone(&self.overfull),
            measured: Mutex::default(),
            hits: watch::Sender::default(),
        });
        lock(&self.all).push(Arc::downgrade(&watched));
        watched
    }
}

async fn run(all: Weak<Mutex<Vec<Weak<Watched>>>>, interval: Duration, floor: Floor) {
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
        if let Err(error) = tokio::task::spawn_blocking(move || look(&watched, floor)).await {
            tracing::error!(%error, "disk use could not be measured");
        }
    }
}

fn look(watched: &[Arc<Watched>], floor: Floor) {
    let mut crowded = Vec::new();
    for one in watched {
        let scarce = one.space().and_then(|space| floor.hit(&space));
        if one.is_walk_due(scarce.is_some()) {
            one.walk();
        }
        match scarce {
            Some(hit) => crowded.push((one, hit)),
            None => one.report(|hits| hits.host = None),
        }
    }
    if let Some((one, hit)) = choose(&crowded) {
        one.report(|hits| hits.host = Some((hit, Instant::now())));
    }
}

/// Chooses the sandbox that took most of what is scarce. One at a time: its end may already be enough. Whoever took little is
/// left alone, even if what is scarce stays so: the files of a sandbox that was ended are still there.
fn choose<'a>(crowded: &[(&'a Arc<Watched>, LimitHit)]) -> Option<(&'a Arc<Watched>, LimitHit)> {
    if crowded.iter().any(|(one, _)| one.is_ending()) {
        return None;
    }
    let lost = crowded.iter().map(|(one, _)| one.lost()).fold(Held::default(), Held::max);
    let seen: u64 = crowded.iter().map(|(one, _)| one.growth().bytes).sum();
    let untold = crowded.iter().filter(|(one, _)| one.hits.borrow().host.is_none());
    let taken = untold.map(|(one, hit)| match hit {
        LimitHit::HostInodes { .. } => (one.growth().inodes, lost.inodes / 10, *one, *hit),
        _ => {
            (one.taken_bytes(lost.bytes.saturating_sub(seen)), (lost.bytes / 10).min(MUCH_BYTES), *one, *hit)
        }
    });
    let most = taken.filter(|(taken, little, ..)| taken > little).max_by_key(|(taken, ..)| *taken);
    most.map(|(_, _, one, hit)| (one, hit))
}

impl Floor {
    /// What is reported if less is free than must be.
    fn hit(&self, space: &Space) -> Option<LimitHit> {
        if space.free.bytes < self.bytes {
            return Some(LimitHit::HostDisk { free_bytes: space.free.bytes, floor_bytes: self.bytes });
        }
        let floor = self.inodes.min(space.all_inodes / 20);
        (space.free.inodes < floor)
            .then_some(LimitHit::HostInodes { free_inodes: space.free.inodes, floor_inodes: floor })
    }
}

impl Watched {
    /// What the sandbox holds, as last measured; measured now if that never happened.
    pub(super) async fn used(self: &Arc<Self>) -> Held {
        if let Some(measured) = *lock(&self.measured) {
            return measured.used;
        }
        let this = Arc::clone(self);
        // A walk that panicked has told nothing; the watcher's next one is a second away.
        let _ = tokio::task::spawn_blocking(move || this.walk()).await;
        lock(&self.measured).map_or(Held::default(), |measured| measured.used)
    }

    /// Waits until there is too much.
    pub(super) async fn limit_hit(&self) -> LimitHit {
        let mut hits = self.hits.subscribe();
        loop {
            let Hits { own, host } = *hits.borrow_and_update();
            if let Some(hit) = own.or(host.map(|(hit, _)| hit)) {
                return hit;
            }
            if hits.changed().await.is_err() {
                // The sender is in `self`, so this does not happen; waiting is right whatever does.
                std::future::pending::<()>().await;
            }
        }
    }

    fn is_walk_due(&self, is_crowded: bool) -> bool {
        let (Some(last), Some(space)) = (*lock(&self.measured), self.space()) else { return true };
        if last.cpu_nanos.is_some() && last.cpu_nanos == self.processes.cpu_nanos() {
            return false;
        }
        // To ask the kernel costs nothing.
        if self.quota.is_some() {
            return true;
        }
        // Others may have freed what it took since.
        let written = self.processes.written_bytes().saturating_sub(last.written_bytes);
        let taken = last.free.saturating_sub(space.free).max(Held { bytes: written, inodes: 0 });
        let possible = last.used + taken;
        is_crowded || possible.exceeds(self.limit) || last.at.elapsed() > STALE
    }

    fn walk(&self) {
        // Before the walk: what changes during it is seen by the next.
        let cpu_nanos = self.processes.cpu_nanos();
        let written_bytes = self.processes.written_bytes();
        let free = self.space().map(|space| space.free).unwrap_or_default();
        let hit = match self.measure() {
            Ok(used) => {
                self.remember(used, free, cpu_nanos, written_bytes);
                self.note_overfull(used);
                self.own_hit(used)
            }
            Err(MeasureError::TooDeep) => Some(LimitHit::TreeTooDeep),
            Err(MeasureError::Read(error)) => {
                tracing::warn!(%error, "disk use of a sandbox could not be measured");
                return;
            }
        };
        self.report(|hits| hits.own = hit);
    }

    fn measure(&self) -> Result<Held, MeasureError> {
        // Quotas that were switched off meanwhile count nothing.
        if let Some(used) = self.quota.as_ref().and_then(|quota| quota.used().ok()) {
            return Ok(used);
        }
        let named = self.roots.iter().map(|root| measure(root)).sum::<Result<Held, MeasureError>>()?;
        let device =
            self.roots.first().and_then(|root| rustix::fs::stat(root).ok()).map(|found| found.st_dev);
        Ok(named + device.map(|device| self.processes.unlinked(device)).unwrap_or_default())
    }

    fn own_hit(&self, used: Held) -> Option<LimitHit> {
        // The sandbox before may have grown after it was last measured.
        let first = lock(&self.measured).map_or(Held::default(), |measured| measured.first);
        let limit = self.found.map_or(self.limit, |found| self.limit.max(found.max(first) + CLEANING_ROOM));
        if used.bytes > limit.bytes {
            return Some(LimitHit::Disk { used_bytes: used.bytes, limit_bytes: limit.bytes });
        }
        (used.inodes > limit.inodes)
            .then_some(LimitHit::Inodes { used_inodes: used.inodes, limit_inodes: limit.inodes })
    }

    /// Changes what is hit, and wakes those who wait only if that is news.
    fn report(&self, change: impl FnOnce(&mut Hits)) {
        self.hits.send_if_modified(|hits| {
            let before = *hits;
            change(hits);
            *hits != before
        });
    }

    /// Remembers for the next sandbox of these directories whether they hold too much.
    fn note_overfull(&self, used: Held) {
        let Some(root) = self.roots.first() else { return };
        let mut overfull = lock(&self.overfull);
        if used.exceeds(self.limit) {
            overfull.insert(root.clone(), used);
        } else {
            overfull.remove(root);
        }
    }

    fn remember(&self, used: Held, free: Held, cpu_nanos: Option<u64>, written_bytes: u64) {
        let mut measured = lock(&self.measured);
        // What was written before the first measurement is growth too.
        let written = Held { bytes: written_bytes, inodes: 0 };
        let first = measured.map_or(used.saturating_sub(written), |before| before.first);
        let low = measured.map_or(first, |before| before.low.min(used));
        let first_free = measured.map_or(free + written, |before| before.first_free);
        let at = Instant::now();
        *measured = Some(Measured { used, first, low, free, first_free, cpu_nanos, written_bytes, at });
    }

    /// How much the sandbox has added to the least it held.
    fn growth(&self) -> Held {
        lock(&self.measured).map_or(Held::default(), |measured| measured.used.saturating_sub(measured.low))
    }

    /// How much its file system has lost since it started, to whomever.
    fn lost(&self) -> Held {
        let Some(first) = lock(&self.measured).map(|measured| measured.first_free) else {
            return Held::default();
        };
        self.space().map_or(Held::default(), |space| first.saturating_sub(space.free))
    }

    /// How many bytes this sandbox took: what it was seen to hold, or what it can have hidden of `unseen_bytes`, which the
    /// file system has lost to nobody that was seen: the only descriptor of a file may wait in a socket. That counts only for
    /// whoever wrote most of it, because programs outside the sandboxes take space too.
    fn taken_bytes(&self, unseen_bytes: u64) -> u64 {
        let seen = self.growth().bytes;
        let written = lock(&self.measured).map_or(0, |measured| measured.written_bytes);
        let hidden = written.saturating_sub(seen).min(unseen_bytes);
        if hidden > unseen_bytes / 2 { seen.max(hidden) } else { seen }
    }

    /// It was chosen to give way just now.
    fn is_ending(&self) -> bool {
        self.hits.borrow().host.is_some_and(|(_, at)| at.elapsed() < ENDING)
    }

    fn space(&self) -> Option<Space> {
        self.roots.first().and_then(|root| space(root))
    }
}

/// What an unprivileged user can still take on the file system of `path`.
fn space(path: &Path) -> Option<Space> {
    let found = rustix::fs::statvfs(path).ok()?;
    let free = Held { bytes: found.f_bavail * found.f_frsize, inodes: found.f_favail };
    Some(Space { free, all_inodes: found.f_files })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::{cgroup::Layout, local::client::State};

    #[tokio::test]
    async fn sandbox_that_used_no_cpu_time_is_not_walked_even_when_the_disk_is_full() {
        let (tree, groups) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let accounting = json!({
            "base": groups.path(), "memory": false, "cpu": false, "cpuacct": true, "pids": false, "freezer": false,
        });
        let layout: Layout =
            serde_json::from_value(json!({ "version": 1, "hierarchies": [accounting] })).unwrap();
        fs::create_dir(groups.path().join("one")).unwrap();
        let run_until = |nanos: &str| fs::write(groups.path().join("one/cpuacct.usage"), nanos).unwrap();
        let state = State { group: Some("one".into()), ..State::default() };
        let (_state, receiver) = watch::channel(state);
        let processes = Processes { cgroups: Some(Arc::new(layout)), state: receiver };
        let floor = Floor { bytes: u64::MAX, inodes: 0 };
        let watcher = Watcher::new(Duration::MAX / 4, floor, &Tasks::new());
        let limit = Held { bytes: u64::MAX, inodes: u64::MAX };
        let watched = watcher.watch(vec![tree.path().to_owned()], processes, limit, None);

        run_until("100");
        assert!(watched.is_walk_due(false), "never measured");
        watched.walk();
        assert!(!watched.is_walk_due(true), "nothing ran since");
        run_until("101");
        assert!(watched.is_walk_due(true), "something ran, and the disk is full");
        assert!(!watched.is_walk_due(false), "something ran, but nothing can have grown too large");
    }
}
