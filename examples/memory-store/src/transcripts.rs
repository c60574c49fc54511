//! Transcripts.

use async_trait::async_trait;
use bytes::Bytes;
use warren_domain::{Fence, SessionId};
use warren_store::{ReadError, Transcripts, WriteError};

use crate::{Memory, Refusal};

#[async_trait]
impl Transcripts for Memory {
    async fn write_transcript(
        &self,
        session: SessionId,
        fence: Fence,
        thread: &str,
        offset: u64,
        bytes: Bytes,
    ) -> Result<(), WriteError> {
        let doing = "write the transcript";
        let mut state = self.state();
        state.check_fence(session, fence)?;
        let Some(existing) = state.sessions.get_mut(&session) else {
            return Err(Refusal::NoSession(session).while_doing(doing).into());
        };
        let end = existing.transcripts.get(thread).map_or(0, Vec::len);
        match usize::try_from(offset) {
            Ok(start) if start <= end => {
                let transcript = existing.transcripts.entry(thread.to_owned()).or_default();
                transcript.truncate(start);
                transcript.extend_from_slice(&bytes);
                Ok(())
            }
            _ => Err(Refusal::Hole { end, offset }.while_doing(doing).into()),
        }
    }

    async fn transcript(&self, session: SessionId, thread: &str) -> Result<Option<Bytes>, ReadError> {
        let state = self.state();
        let transcript = state.sessions.get(&session).and_then(|session| session.transcripts.get(thread));
        Ok(transcript.map(|bytes| Bytes::copy_from_slice(bytes)))
    }

    async fn transcripts(&self, session: SessionId) -> Result<Vec<(String, u64)>, ReadError> {
        let state = self.state();
        let threads = state.sessions.get(&session).into_iter().flat_map(|session| &session.transcripts);
        Ok(threads.map(|(thread, bytes)| (thread.clone(), bytes.len() as u64)).collect())
    }
}
