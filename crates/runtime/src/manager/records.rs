//! Reading what was recorded.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use warren_domain::{BlobHash, Conversations, Seq, Session, SessionId};
use warren_store::{Changes, Follow, LogEntry};

use super::SessionManager;
use crate::{
    api::{Records, SessionDetail, SessionError},
    recorder::for_each_event,
    spaces,
};

#[async_trait]
impl Records for SessionManager {
    async fn session_detail(&self, session: SessionId) -> Result<SessionDetail, SessionError> {
        let record = self.record(session).await?;
        self.roster.load(session);
        let store = &self.shared.parts.store;
        let mut conversations = Conversations::default();
        let mut state = Session::default();
        let last_seq = for_each_event(store.log.as_ref(), session, |event| {
            conversations.apply(&event);
            state = std::mem::take(&mut state).apply(event.run_id, &event.body);
        })
        .await;
        let last_seq = last_seq.map_err(|error| SessionError::internal("read the log", error))?;
        let files = store.sessions.files(session).await;
        let files = files.map_err(|error| SessionError::internal("read the list of files", error))?;
        let queue = state.queue.iter().map(|waiting| waiting.run).collect();
        Ok(SessionDetail { summary: self.summary(record), conversations, files, queue, last_seq })
    }

    async fn events_read(
        &self,
        session: SessionId,
        after: Seq,
        limit: u32,
        wait: Option<Duration>,
    ) -> Result<(Vec<LogEntry>, Seq), SessionError> {
        let mut entries = self.read(session, after, limit).await?;
        if let (true, Some(wait)) = (entries.is_empty(), wait) {
            let mut follow = self.events_follow(session, after).await?;
            // Nothing came in time: an empty answer is the right one.
            if let Ok(Ok(Some(first))) = tokio::time::timeout(wait, follow.next()).await {
                entries = self.read(session, Seq(first.seq.0 - 1), limit).await?;
            }
        }
        let head = self.shared.parts.store.log.head(session).await;
        let head = head.map_err(|error| SessionError::internal("read the log", error))?;
        let head = head.ok_or_else(|| SessionError::not_found("session", session))?;
        Ok((entries, head))
    }

    async fn events_follow(&self, session: SessionId, after: Seq) -> Result<Follow, SessionError> {
        self.record(session).await?;
        Ok(self.shared.parts.live.follow(session, after))
    }

    async fn transcript(&self, session: SessionId, thread: &str) -> Result<Bytes, SessionError> {
        let found = self.shared.parts.store.transcripts.transcript(session, thread).await;
        let found = found.map_err(|error| SessionError::internal("read the transcript", error))?;
        found.ok_or_else(|| {
            SessionError::not_found("transcript", if thread.is_empty() { "main" } else { thread })
        })
    }

    async fn blob(&self, session: SessionId, hash: &BlobHash) -> Result<Bytes, SessionError> {
        let record = self.record(session).await?;
        // Knowing a hash is no right to its bytes: only what is this session's own is looked through.
        for space in
            [spaces::of_log(&record.partition, session), spaces::of_calls(&record.partition, session)]
        {
            let found = self.shared.parts.store.blobs.blob(&space, hash).await;
            if let Some(bytes) = found.map_err(|error| SessionError::internal("read the blob", error))? {
                return Ok(bytes);
            }
        }
        Err(SessionError::not_found("blob", hash))
    }

    fn changes(&self) -> Changes {
        self.shared.parts.live.changes()
    }
}

impl SessionManager {
    async fn read(&self, session: SessionId, after: Seq, limit: u32) -> Result<Vec<LogEntry>, SessionError> {
        let entries = self.shared.parts.store.log.read(session, after, limit).await;
        entries.map_err(|error| SessionError::internal("read the log", error))
    }
}
