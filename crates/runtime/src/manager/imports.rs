//! Sessions made of what an agent left elsewhere.

use std::{collections::BTreeMap, io, path::Path};

use async_trait::async_trait;
use bytes::Bytes;
use warren_agents::{Adapter, TranscriptName};
use warren_domain::{SessionId, VersionCause};

use super::{SessionManager, sessions::First};
use crate::{
    api::{Imports, NewSession, SessionError, SessionSummary, Sessions as _, Transcripts},
    session::{Imported, Origin},
    spool::SpooledBlocks,
};

#[async_trait]
impl Imports for SessionManager {
    async fn session_import(
        &self,
        new: NewSession,
        transcripts: Transcripts,
    ) -> Result<SessionSummary, SessionError> {
        let created = self.create(new, None, First::Later).await?;
        let session = created.record.session_id;
        let programs = self.shared.parts.programs.as_ref();
        let (adapter, _) = super::sessions::find_adapter(&created.record.agent_type, programs)?;
        // Long transcripts take their time, and others share this thread.
        let directory = self.shared.options.directory.clone();
        let read = tokio::task::spawn_blocking(move || read(adapter, session, transcripts, &directory)).await;
        let past = read.unwrap_or_else(|panicked| Err(io::Error::other(panicked)));
        let past = past.map_err(|error| SessionError::internal("read the transcript", error));
        self.finish_making(session, past).await?;
        self.session_get(session).await
    }
}

fn read(
    adapter: &dyn Adapter,
    session: SessionId,
    transcripts: Transcripts,
    directory: &Path,
) -> io::Result<Imported> {
    let Transcripts { main, subagents } = transcripts;
    let blocks = SpooledBlocks::of(&adapter.parse(&main, &subagents).conversations, directory)?;
    let adopted = adapter.adopt(session, &main);
    let subagent = |(id, content)| (TranscriptName::Subagent(id).stored(), adapter.adopt_subagent(content));
    let files = subagents.into_iter().map(subagent);
    let main = (TranscriptName::Main.stored(), adopted.main);
    let files = std::iter::once(main).chain(files).map(|(name, content)| (name, Bytes::from(content)));
    let origin = Origin { cause: VersionCause::Import, version: None, listed: BTreeMap::new() };
    Ok(Imported { blocks, files: files.collect(), state: adopted.state, origin })
}
