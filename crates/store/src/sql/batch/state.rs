//! Where a log stands in the middle of a batch.

use warren_domain::{Fence, Seq, SessionId, Timestamp, Version};

use crate::{Change, Commit, sql::row::Row};

/// One log as the jobs before this one leave it. A log that nobody has heard of is the default.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LogState {
    /// Its name among the entries; known once there is a row for it.
    pub(super) log: i64,
    /// `None` while there is no session.
    pub(super) head: Option<Seq>,
    pub(super) version: Version,
    pub(super) fence: Fence,
    last_activity: Option<Timestamp>,
    /// How many bytes it grows by.
    added: u64,
    moved: bool,
}

impl LogState {
    /// From a row of the statement that locks the logs.
    pub(super) fn read(row: &Row) -> Result<(SessionId, Self), sqlx::Error> {
        let log = Self {
            log: row.int(1)?,
            head: row.maybe_number(2)?.map(Seq),
            version: Version(row.number(3)?),
            fence: Fence(row.number(4)?),
            last_activity: None,
            added: 0,
            moved: false,
        };
        Ok((row.id(0)?, log))
    }

    /// What an accepted commit makes of it.
    pub(super) fn advance(&mut self, commit: &Commit, head: Seq) {
        self.head = Some(head);
        self.moved = true;
        self.added += commit.entries.iter().map(|entry| entry.json.len() as u64).sum::<u64>();
        for change in &commit.changes {
            match change {
                Change::CreateSession(record) => self.last_activity = Some(record.last_activity),
                Change::UpdateSession(update) => {
                    self.last_activity = update.last_activity.or(self.last_activity);
                }
                Change::PutVersion(record) => self.version = record.version,
                Change::AddBlobBytes(bytes) => self.added = self.added.saturating_add(*bytes),
                Change::PutRun(_)
                | Change::PutApproval(_)
                | Change::PutKey(_)
                | Change::Count(_)
                | Change::PutFile(_)
                | Change::RemoveFile(_) => {}
            }
        }
    }

    /// Whether its row must be written.
    pub(super) fn is_moved(&self) -> bool {
        self.moved
    }

    /// Its row for the statement that moves the logs.
    pub(super) fn row(&self) -> (i64, Seq, Version, Option<i64>, u64) {
        let head = self.head.unwrap_or_default();
        (self.log, head, self.version, self.last_activity.map(Timestamp::as_millis), self.added)
    }
}
