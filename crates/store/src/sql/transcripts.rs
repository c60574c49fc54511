//! Transcripts, kept as the chunks they were saved in.

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use warren_domain::{Fence, SessionId};

use super::{
    Sql,
    args::args,
    queries::{TRANSCRIPT_GET, TRANSCRIPT_LIST, TRANSCRIPT_PART},
    while_doing,
};
use crate::{ReadError, Transcripts, WriteError};

#[async_trait]
impl Transcripts for Sql {
    /// Goes through the writer: many agents save a little very often, and share the cost of the disk.
    async fn write_transcript(
        &self,
        session: SessionId,
        fence: Fence,
        thread: &str,
        offset: u64,
        bytes: Bytes,
    ) -> Result<(), WriteError> {
        self.writer.write_transcript(session, fence, thread, offset, bytes).await
    }

    async fn transcript(&self, session: SessionId, thread: &str) -> Result<Option<Bytes>, ReadError> {
        let read = async {
            let rows = self.db.read(TRANSCRIPT_GET, args![session, thread]).await?;
            let mut whole = BytesMut::new();
            for row in &rows {
                whole.extend_from_slice(&row.bytes(0)?);
            }
            Ok::<_, sqlx::Error>((!rows.is_empty()).then(|| whole.freeze()))
        };
        read.await.map_err(while_doing("read the transcript"))
    }

    async fn transcript_part(
        &self,
        session: SessionId,
        thread: &str,
        offset: u64,
        len: u64,
    ) -> Result<Bytes, ReadError> {
        let end = offset.saturating_add(len).min(i64::MAX as u64);
        let read = async {
            let rows = self.db.read(TRANSCRIPT_PART, args![session, thread, offset, end]).await?;
            let mut part = BytesMut::new();
            for row in &rows {
                let (start, bytes) = (row.number(0)?, row.bytes(1)?);
                let at = |place: u64| (place.saturating_sub(start) as usize).min(bytes.len());
                part.extend_from_slice(&bytes[at(offset)..at(end)]);
            }
            Ok::<_, sqlx::Error>(part.freeze())
        };
        read.await.map_err(while_doing("read a part of the transcript"))
    }

    async fn transcripts(&self, session: SessionId) -> Result<Vec<(String, u64)>, ReadError> {
        let rows = self.db.read(TRANSCRIPT_LIST, args![session]).await;
        rows.and_then(|rows| rows.iter().map(|row| Ok((row.text(0)?, row.number(1)?))).collect())
            .map_err(while_doing("list the transcripts"))
    }
}
