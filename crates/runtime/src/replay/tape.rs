//! A replay's own log: grows while it runs, and only then.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use async_trait::async_trait;
use bytes::{BufMut, Bytes, BytesMut};
use warren_domain::{Event, Seq, SessionId};
use warren_store::{Commit, CommitError, Compaction, EventLog, LogEntry, ReadError};

/// The entries, numbered from 1 over all runs.
#[derive(Default)]
pub(crate) struct Tape {
    entries: Mutex<Vec<LogEntry>>,
    /// Nothing comes any more: whoever follows it has reached its end.
    is_closed: AtomicBool,
}

impl Tape {
    /// A tape that has ended, from what [`Tape::to_lines`] made.
    pub(crate) fn of_lines(lines: &Bytes) -> Self {
        let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let entry =
            |(line, seq): (&[u8], u64)| LogEntry { seq: Seq(seq), json: Bytes::copy_from_slice(line) };
        let entries = lines.zip(1..).map(entry).collect();
        Self { entries: Mutex::new(entries), is_closed: AtomicBool::new(true) }
    }

    /// All entries, a line each.
    pub(crate) fn to_lines(&self) -> Bytes {
        let entries = self.entries();
        let mut lines = BytesMut::with_capacity(entries.iter().map(|entry| entry.json.len() + 1).sum());
        for entry in entries.iter() {
            lines.put_slice(&entry.json);
            lines.put_u8(b'\n');
        }
        lines.freeze()
    }

    /// The event as the next entry.
    pub(crate) fn next(&self, mut event: Event) -> Result<LogEntry, serde_json::Error> {
        event.seq = self.last().next();
        LogEntry::of(&event)
    }

    pub(crate) fn last(&self) -> Seq {
        self.entries().last().map_or(Seq(0), |entry| entry.seq)
    }

    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }

    fn entries(&self) -> MutexGuard<'_, Vec<LogEntry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl EventLog for Tape {
    async fn commit(&self, commit: Commit) -> Result<Seq, CommitError> {
        let found = self.last();
        if commit.expected != found {
            return Err(CommitError::Conflict { session: commit.session, expected: commit.expected, found });
        }
        self.entries().extend(commit.entries);
        Ok(self.last())
    }

    async fn read(&self, _session: SessionId, after: Seq, limit: u32) -> Result<Vec<LogEntry>, ReadError> {
        let entries = self.entries();
        let from = usize::try_from(after.0).unwrap_or(usize::MAX).min(entries.len());
        Ok(entries[from..].iter().take(limit as usize).cloned().collect())
    }

    /// A replay's log is kept as it is.
    async fn compact(&self, _session: SessionId, _compaction: Compaction) -> Result<bool, ReadError> {
        Ok(false)
    }

    /// None once it is closed, so that whoever has read to its end stops waiting.
    async fn head(&self, _session: SessionId) -> Result<Option<Seq>, ReadError> {
        Ok((!self.is_closed()).then(|| self.last()))
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use warren_domain::{Draft, EventBody, Fence, Seq, Timestamp};
    use warren_env::Env;
    use warren_store::{Commit, EventLog as _};

    use super::Tape;

    #[tokio::test]
    async fn a_tape_is_numbered_anew_and_read_back_from_its_lines() {
        let session = Env::system().session_id();
        let tape = Tape::default();
        for (n, of_run) in [3_u64, 9].into_iter().enumerate() {
            let body = EventBody::SessionEnded { reason: n.to_string() };
            let event = Draft::of_session(body).numbered(Seq(of_run), session, Timestamp::from_millis(0));
            let entry = tape.next(event).expect("JSON");
            let commit = Commit {
                session,
                fence: Fence(0),
                expected: tape.last(),
                entries: vec![entry],
                changes: vec![],
            };
            tape.commit(commit).await.expect("it grows");
        }
        let read = tape.read(session, Seq(0), 10).await.expect("it is read");
        assert_eq!(read.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [Seq(1), Seq(2)]);
        let again = Tape::of_lines(&tape.to_lines());
        assert_eq!(again.read(session, Seq(0), 10).await.expect("it is read"), read);
        assert_eq!(again.read(session, Seq(1), 10).await.expect("it is read"), read[1..]);
        assert_eq!(
            (tape.head(session).await.expect("a head"), again.head(session).await.expect("a head")),
            (Some(Seq(2)), None)
        );
        assert_eq!(Tape::of_lines(&Bytes::new()).last(), Seq(0));
    }
}
