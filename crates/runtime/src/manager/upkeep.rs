//! Upkeep: versions that nobody keeps any more, what only they needed, and entries nobody reads word for word.
//!
//! One server at a time does it, by a lease. Nothing of it is needed for anything else to go on, and all of it can be cut
//! at any moment: what was not done is done the next time.

mod memories;

use std::{
    collections::{HashMap, HashSet},
    ops::RangeInclusive,
    time::Duration,
};

use warren_domain::{
    BlobHash, Compactable, Event, EventBody, Fence, Partition, Seq, SessionId, Timestamp, Version,
    VersionCause,
};
use warren_env::TaskKind;
use warren_snapshots::{CollectError, TreeId};
use warren_store::{
    AcquireError, Compaction, EventLog, LogEntry, ReadError, SessionQuery, SessionRecord, UPKEEP,
    VersionRecord,
};

use self::memories::LostLists;
use super::SessionManager;
use crate::{
    options::Retention,
    recorder::{Pages, RecordError},
    recordings,
    session::Memory,
    spaces,
};

/// How many records are read at a time.
const PAGE: u32 = 200;

/// Longer than any window in which messages are counted lasts, whatever the clocks of other servers say.
const MESSAGE_WINDOW: Duration = Duration::from_secs(60 * 24 * 3600);

const DAY: i64 = 24 * 3600 * 1000;

/// What need not be looked at again.
#[derive(Default)]
struct Done {
    /// Logs that are compacted, and where they ended then.
    compacted: HashMap<SessionId, Seq>,
    /// Sessions without any recording, and when they were last active then.
    forgotten: HashMap<SessionId, Timestamp>,
    lost: LostLists,
}

/// Why upkeep stopped half-way.
#[derive(Debug, thiserror::Error)]
enum UpkeepError {
    #[error("failed to read or write records")]
    Records(#[from] ReadError),
    #[error("failed to read a log")]
    Log(#[from] RecordError),
    #[error("failed to garbage-collect files")]
    Collect(#[source] CollectError),
}

impl SessionManager {
    /// Does the upkeep again and again for as long as the server runs.
    pub(super) fn keep_up(&self) {
        let manager = self.clone();
        self.shared.parts.tasks.spawn(TaskKind::Housekeeping, async move {
            let mut ticks = tokio::time::interval(manager.shared.options.retention.interval);
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            // The first tick is at once: a server that is often restarted must not put it off for ever.
            let mut done = Done::default();
            loop {
                ticks.tick().await;
                // Each server by itself: they are on its own disk.
                if let Err(error) = manager.clear_strays().await {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        "files of erased sessions were not cleared away; it is tried again"
                    );
                }
                if let Err(error) = manager.keep_up_once(&mut done).await {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        "upkeep was not finished; it is tried again"
                    );
                }
            }
        });
    }

    async fn keep_up_once(&self, done: &mut Done) -> Result<(), UpkeepError> {
        let (store, options) = (&self.shared.parts.store, &self.shared.options);
        let now = self.shared.parts.env.now();
        let granted = match store.leases.acquire(UPKEEP, &options.node, options.lease).await {
            Ok(granted) => granted,
            // Somebody else does it.
            Err(AcquireError::Held { .. }) => return Ok(()),
            Err(error @ AcquireError::NoSession(_)) => {
                let source = Box::new(error);
                return Err(ReadError { doing: "take the lease on upkeep", source }.into());
            }
            Err(AcquireError::Backend { source, .. }) => {
                return Err(ReadError { doing: "take the lease on upkeep", source }.into());
            }
        };
        let finished = self.collect_and_expire(done, now, granted.fence).await;
        store.leases.release(UPKEEP, &options.node, granted.fence).await?;
        finished
    }

    /// Collects first: what is let go of in this round stays until the next, and with it what another server needs that was
    /// just going back to it.
    async fn collect_and_expire(
        &self,
        done: &mut Done,
        now: Timestamp,
        fence: Fence,
    ) -> Result<(), UpkeepError> {
        let projects = self.shared.parts.store.projects.projects(None).await?;
        let partitions: HashSet<Partition> = projects.into_iter().map(|project| project.partition).collect();
        for partition in &partitions {
            self.collect(partition, &mut done.lost, now).await;
        }
        let spaces = self.collect_spaces(now).await;
        self.shared.parts.store.tokens.forget_counts(before(now, MESSAGE_WINDOW)).await?;
        let mut query = SessionQuery { limit: PAGE, ..SessionQuery::default() };
        loop {
            let page = self.shared.parts.store.sessions.sessions(&query).await?;
            for session in &page.items {
                if let Err(error) = self.look_after(session, done, now, fence).await {
                    // What is damaged there must not keep others from being looked after.
                    let (session, error) = (session.session_id, &error as &dyn std::error::Error);
                    tracing::error!(%session, error, "a session was not looked after; it is tried again");
                }
            }
            query.before = page.items.last().map(|session| session.session_id);
            if !page.more {
                return Ok(spaces?);
            }
        }
    }

    async fn look_after(
        &self,
        session: &SessionRecord,
        done: &mut Done,
        now: Timestamp,
        fence: Fence,
    ) -> Result<(), UpkeepError> {
        self.expire(session, now).await?;
        self.compact(session, done, now, fence).await?;
        self.forget_recordings(session, done, now).await?;
        Ok(())
    }

    /// Lets go of the versions of a session that retention does not keep.
    async fn expire(&self, session: &SessionRecord, now: Timestamp) -> Result<(), ReadError> {
        let (versions, id) = (&self.shared.parts.store.versions, session.session_id);
        let mut all: Vec<VersionRecord> = Vec::new();
        loop {
            let before = all.last().map(|version| version.version);
            let page = versions.versions(id, before, PAGE).await?;
            all.extend(page.items);
            if !page.more {
                break;
            }
        }
        for version in superfluous(&all, &self.shared.options.retention, now) {
            versions.expire_version(id, version).await?;
        }
        Ok(())
    }

    /// Removes what no version of a partition needs. What is damaged there must not keep others from being collected.
    async fn collect(&self, partition: &Partition, lost: &mut LostLists, now: Timestamp) {
        let files = self.collect_files(partition).await.map_err(UpkeepError::Collect);
        let memories = self.collect_memories(partition, lost, now).await.map_err(UpkeepError::Records);
        for error in [files, memories].into_iter().filter_map(Result::err) {
            let error = &error as &dyn std::error::Error;
            tracing::error!(%partition, error, "a partition was not collected; it is tried again");
        }
    }

    async fn collect_files(&self, partition: &Partition) -> Result<(), CollectError> {
        let parts = &self.shared.parts;
        let live = || async {
            let roots = parts.store.versions.version_roots(partition).await;
            let roots =
                roots.map_err(|error| -> Box<dyn std::error::Error + Send + Sync> { Box::new(error) })?;
            let trees = roots.iter().filter_map(|root| root.tree.as_ref());
            trees.map(|tree| tree.as_str().parse::<TreeId>().map_err(Into::into)).collect()
        };
        let collected = parts.snapshots.collect(partition, live).await?;
        tracing::debug!(%partition, ?collected, "collected files");
        Ok(())
    }

    /// The same for transcripts. Nobody of this server commits a version meanwhile; for what others commit there is the
    /// grace period, which begins again with every put. While a version's list cannot be read nothing is removed; see
    /// [`LostLists`] for how long.
    async fn collect_memories(
        &self,
        partition: &Partition,
        lost: &mut LostLists,
        now: Timestamp,
    ) -> Result<(), ReadError> {
        let parts = &self.shared.parts;
        let _alone = self.shared.gate.write().await;
        let grace = before(now, self.shared.options.retention.grace);
        let roots = parts.store.versions.version_roots(partition).await?;
        let lists = roots.into_iter().filter_map(|root| root.memory).collect();
        let needed = lost.needed(partition, lists, parts.store.blobs.as_ref(), (now, grace)).await?;
        let own = Memory::partition(partition);
        let swept = parts.store.blobs.sweep_blobs(&own, &needed, grace).await?;
        tracing::debug!(%partition, swept, "collected transcripts");
        Ok(())
    }

    /// Removes what a session said to models so long ago. Later recordings may be based on it for a while.
    async fn forget_recordings(
        &self,
        session: &SessionRecord,
        done: &mut Done,
        now: Timestamp,
    ) -> Result<(), ReadError> {
        let (id, active) = (session.session_id, session.last_activity);
        let old = before(now, recordings::kept_for(self.shared.options.retention.recordings));
        if session.created_at > old || done.forgotten.get(&id) == Some(&active) {
            return Ok(());
        }
        let space = spaces::of_calls(&session.partition, id);
        let swept = self.shared.parts.store.blobs.sweep_blobs(&space, &HashSet::new(), old).await?;
        tracing::debug!(session = %id, swept, "removed old recordings");
        if active <= old {
            done.forgotten.insert(id, active);
        }
        Ok(())
    }

    /// Removes the blobs of sessions that are gone: their erasing was cut.
    async fn collect_spaces(&self, now: Timestamp) -> Result<(), ReadError> {
        let store = &self.shared.parts.store;
        let grace = before(now, self.shared.options.retention.grace);
        for space in store.blobs.blob_spaces().await? {
            let Some(owner) = spaces::owner(&space) else { continue };
            if store.sessions.session(owner).await?.is_none() {
                let swept = store.blobs.sweep_blobs(&space, &HashSet::new(), grace).await?;
                tracing::debug!(session = %owner, swept, "removed what a session left");
            }
        }
        Ok(())
    }

    /// Puts one entry in the place of old deltas of blocks that are whole. `fence` is that of the lease on upkeep.
    async fn compact(
        &self,
        session: &SessionRecord,
        done: &mut Done,
        now: Timestamp,
        fence: Fence,
    ) -> Result<(), UpkeepError> {
        let id = session.session_id;
        let old = before(now, self.shared.options.retention.deltas);
        // Young enough to be read as it happened; or nothing new is old by now.
        if session.created_at > old || done.compacted.get(&id) == Some(&session.head) {
            return Ok(());
        }
        let (log, mut found) = (self.shared.parts.store.log.as_ref(), Compactable::default());
        let mut is_all_old = true;
        crate::recorder::for_each_event(log, id, |event| {
            if event.timestamp <= old {
                found.see(&event);
            } else {
                is_all_old = false;
            }
        })
        .await?;
        let mut is_all_done = is_all_old;
        for piece in found.pieces() {
            let compacted = match stand_in(log, id, &piece).await? {
                Some(entry) => {
                    let piece = Compaction { from: *piece.start(), entry, lease: UPKEEP, fence };
                    log.compact(id, piece).await?
                }
                None => false,
            };
            // Somebody else was there: what is left is looked at the next time.
            is_all_done &= compacted;
        }
        if is_all_done {
            done.compacted.insert(id, session.head);
        }
        Ok(())
    }
}

/// So long ago.
fn before(now: Timestamp, age: Duration) -> Timestamp {
    now.plus_millis(-i64::try_from(age.as_millis()).unwrap_or(i64::MAX))
}

/// The versions that retention does not keep: neither the last ones, nor the last of a day, nor one with a label, nor the last
/// one with imported files, which the session's work is compared with. `all` begins with the newest.
fn superfluous(all: &[VersionRecord], retention: &Retention, now: Timestamp) -> Vec<Version> {
    let mut days = HashSet::new();
    let horizon = now.as_millis() - i64::from(retention.daily_days) * DAY;
    let mut found = Vec::new();
    let is_imported =
        |version: &&VersionRecord| version.cause == VersionCause::Import && version.tree.is_some();
    let imported = all.iter().find(is_imported).map(|version| version.version);
    for (n, version) in all.iter().enumerate() {
        let at = version.created_at.as_millis();
        let is_last_of_day = at >= horizon && days.insert(at.div_euclid(DAY));
        let is_kept = n < retention.versions as usize || is_last_of_day || version.label.is_some();
        let is_kept = is_kept || imported == Some(version.version);
        // What has nothing of its own costs nothing: the beginning of most sessions.
        let costs_something = version.tree.is_some() || version.memory.is_some();
        if !is_kept && !version.expired && costs_something {
            found.push(version.version);
        }
    }
    found
}

/// What stands for the entries of a piece, which are read page by page. `None` if they are not exactly the deltas of the
/// piece: somebody compacted there since it was found, and what was read in their place must stay.
async fn stand_in(
    log: &dyn EventLog,
    session: SessionId,
    piece: &RangeInclusive<Seq>,
) -> Result<Option<LogEntry>, RecordError> {
    let mut pages = Pages::after(Seq(piece.start().0.saturating_sub(1)));
    let mut stand_in = StandIn::of(piece);
    while !stand_in.is_whole() && !pages.is_over() {
        if !stand_in.take(&pages.next(log, session).await?) {
            return Ok(None);
        }
    }
    Ok(stand_in.into_entry())
}

/// Names entries that go, and hashes their bytes.
struct StandIn<'a> {
    piece: &'a RangeInclusive<Seq>,
    first: Option<Event>,
    last: Option<Event>,
    hasher: blake3::Hasher,
}

impl<'a> StandIn<'a> {
    fn of(piece: &'a RangeInclusive<Seq>) -> Self {
        Self { piece, first: None, last: None, hasher: blake3::Hasher::new() }
    }

    /// Takes those of the next entries that are in the piece. Says whether all that were due are there and are deltas.
    fn take(&mut self, entries: &[LogEntry]) -> bool {
        for entry in entries {
            if self.is_whole() {
                break;
            }
            let due = self.last.as_ref().map_or(*self.piece.start(), |last| last.seq.next());
            let Some(event) = entry.event().ok().filter(|_| entry.seq == due) else { return false };
            if !matches!(event.body, EventBody::TextDelta { .. }) {
                return false;
            }
            self.hasher.update(&entry.json);
            self.hasher.update(b"\n");
            self.first.get_or_insert_with(|| event.clone());
            self.last = Some(event);
        }
        true
    }

    fn is_whole(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.seq == *self.piece.end())
    }

    fn into_entry(self) -> Option<LogEntry> {
        let is_whole = self.is_whole();
        let (first, last) = (self.first?, self.last.filter(|_| is_whole)?);
        let hash = BlobHash(self.hasher.finalize().to_hex().to_string());
        let body = EventBody::LogCompacted { from: first.seq, to: last.seq, hash };
        LogEntry::of(&Event { run_id: first.run_id, body, spilled: Vec::new(), ..last }).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::{ops::RangeInclusive, time::Duration};

    use serde_json::{Value, json};
    use warren_domain::{BlobHash, Draft, Seq, SessionId, Timestamp, Version, VersionCause};
    use warren_store::{LogEntry, VersionRecord};

    use super::{DAY, StandIn, superfluous};
    use crate::{options::Retention, session::empty_version};

    fn version(number: u64, day: i64, label: Option<&str>) -> VersionRecord {
        VersionRecord {
            version: Version(number),
            created_at: Timestamp::from_millis(day * DAY + i64::try_from(number).expect("small")),
            label: label.map(str::to_owned),
            tree: Some(BlobHash("a tree".to_owned())),
            ..empty_version(SessionId(uuid::Uuid::nil()))
        }
    }

    #[test]
    fn the_last_ones_the_last_of_each_day_those_with_a_label_and_those_without_anything_are_kept() {
        let retention = Retention {
            versions: 2,
            daily_days: 10,
            deltas: Duration::ZERO,
            recordings: Duration::ZERO,
            grace: Duration::ZERO,
            interval: Duration::from_secs(1),
        };
        let all = [
            version(9, 100, None),
            version(8, 100, None),
            version(7, 100, None),
            version(6, 95, None),
            version(5, 95, None),
            version(4, 95, Some("kept")),
            version(3, 50, None),
            version(2, 50, Some("kept")),
            VersionRecord { tree: None, ..version(0, 50, None) },
        ];
        let now = Timestamp::from_millis(100 * DAY + 1000);
        assert_eq!(superfluous(&all, &retention, now), [Version(7), Version(5), Version(3)]);
    }

    #[test]
    fn last_version_with_imported_files_is_kept_however_old_it_is() {
        let retention = Retention {
            versions: 1,
            daily_days: 0,
            deltas: Duration::ZERO,
            recordings: Duration::ZERO,
            grace: Duration::ZERO,
            interval: Duration::from_secs(1),
        };
        let imported = |number| VersionRecord { cause: VersionCause::Import, ..version(number, 50, None) };
        let all = [version(4, 100, None), version(3, 60, None), imported(2), imported(1)];
        let now = Timestamp::from_millis(100 * DAY + 1000);
        assert_eq!(superfluous(&all, &retention, now), [Version(3), Version(1)]);
    }

    fn entry(seq: u64, draft: Value) -> LogEntry {
        let draft: Draft = serde_json::from_value(draft).expect("a draft");
        let session = SessionId(uuid::Uuid::nil());
        LogEntry::of(&draft.numbered(Seq(seq), session, Timestamp::from_millis(0))).expect("an entry")
    }

    fn delta(seq: u64) -> LogEntry {
        entry(seq, json!({"type": "text_delta", "blockId": "b", "delta": "x"}))
    }

    /// What stands for a piece if the log is read in pages of `size`.
    fn stand_in_by(size: usize, piece: &RangeInclusive<Seq>, read: &[LogEntry]) -> Option<LogEntry> {
        let mut stand_in = StandIn::of(piece);
        if read.chunks(size).any(|page| !stand_in.take(page)) { None } else { stand_in.into_entry() }
    }

    fn stand_in(piece: &RangeInclusive<Seq>, read: &[LogEntry]) -> Option<LogEntry> {
        let found = stand_in_by(read.len().max(1), piece, read);
        assert_eq!(stand_in_by(1, piece, read), found, "pages of one entry");
        assert_eq!(stand_in_by(2, piece, read), found, "pages of two entries");
        found
    }

    #[test]
    fn only_the_deltas_of_the_piece_itself_are_compacted() {
        let piece = Seq(4)..=Seq(6);
        let deltas = [delta(4), delta(5), delta(6)];
        let stands_for = stand_in(&piece, &deltas).expect("an entry");
        assert_eq!(stands_for.seq, Seq(6));

        let whole = json!({"type": "block_complete", "block": {"type": "assistant_text", "id": "b",
            "timestamp": "2026-01-01T00:00:00.000Z", "content": "xxx"}});
        // Another server compacted the piece first: a read of as many entries goes past its end.
        let past_the_end = [stands_for.clone(), entry(7, whole.clone()), delta(8)];
        assert_eq!(stand_in(&piece, &past_the_end), None);
        assert_eq!(stand_in(&piece, &[delta(4), delta(6)]), None, "one is gone");
        assert_eq!(stand_in(&piece, &[delta(4), delta(5), entry(6, whole)]), None, "one is no delta");
        assert_eq!(stand_in(&piece, &[delta(4), delta(5), stands_for]), None, "one stands for others");
        assert_eq!(stand_in(&piece, &[]), None);
    }
}
