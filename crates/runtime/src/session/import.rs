//! A past that was somebody else's, put before a session's own.

use std::{collections::BTreeMap, io};

use bytes::Bytes;
use serde_json::Value;
use warren_domain::{Draft, ErrorCode, EventBody, Seq, VersionCause};
use warren_guest_api::FileStat;
use warren_store::{Change, VersionRecord, WriteError};

use super::{Memory, SessionTask, empty_version, requests::Failure, transcripts::save_state};
use crate::{api::SessionError, recorder::RecordError, spool::SpooledBlocks};

/// An imported history.
pub(crate) struct Imported {
    pub(crate) blocks: SpooledBlocks,
    /// The transcripts, by the name under which each is stored.
    pub(crate) files: Vec<(String, Bytes)>,
    /// The transcripts that the agent resumes from.
    pub(crate) state: Option<Value>,
    pub(crate) origin: Origin,
}

/// Source of an imported history.
pub(crate) struct Origin {
    pub(crate) cause: VersionCause,
    /// The version whose files the session begins with.
    pub(crate) version: Option<VersionRecord>,
    /// Files of its workspace.
    pub(crate) listed: BTreeMap<String, FileStat>,
}

impl SessionTask {
    /// Records the blocks of a past, and keeps what the agent needs to go on from it. Only a session in which nothing
    /// happened can get one.
    pub(super) async fn on_import(&mut self, imported: Imported) -> Result<(), Failure> {
        if self.recorder.head != Seq(1) {
            return Err(Failure::Refused(SessionError::Invalid {
                code: ErrorCode::Conflict,
                message: "the session already has a history".to_owned(),
                hint: None,
            }));
        }
        let is_import = imported.origin.cause == VersionCause::Import;
        if is_import && imported.blocks.is_empty() {
            return Err(Failure::Refused(SessionError::Invalid {
                code: ErrorCode::BadRequest,
                message: "the transcript contains no conversation".to_owned(),
                hint: Some("check that `type` names the agent that wrote it".to_owned()),
            }));
        }
        self.keep(&imported).await.map_err(RecordError::Write)?;
        let Imported { blocks, origin, .. } = imported;
        self.record_past(blocks).await?;
        self.begin_with(origin).await
    }

    async fn record_past(&mut self, mut blocks: SpooledBlocks) -> Result<(), RecordError> {
        loop {
            let read = tokio::task::spawn_blocking(move || (blocks.next_page(), blocks)).await;
            let (page, rest) = read.map_err(io::Error::other).map_err(RecordError::Spool)?;
            let page = page.map_err(RecordError::Spool)?;
            if page.is_empty() {
                return Ok(());
            }
            self.recorder.record(page, |_| Vec::new()).await?;
            blocks = rest;
        }
    }

    /// Publishes what the session starts with.
    async fn begin_with(&mut self, origin: Origin) -> Result<(), Failure> {
        let Origin { cause, version, listed } = origin;
        let outputs = self.outputs_of(version.as_ref()).await.map_err(Failure::Refused)?;
        let (identity, store) = (&self.identity, &self.shared.parts.store);
        let _gate = self.shared.gate.clone().read_owned().await;
        let kept = Memory::keep(identity.session, &identity.partition, &Memory::default(), store).await;
        let kept = kept.map_err(RecordError::Read)?;
        let memory = kept.save(&identity.partition, store.blobs.as_ref()).await.map_err(RecordError::Read)?;
        let record = VersionRecord {
            cause,
            memory,
            transcripts: kept.lengths(),
            tree: version.as_ref().and_then(|version| version.tree.clone()),
            size_bytes: version.as_ref().map_or(0, |version| version.size_bytes),
            excluded: version.as_ref().map(|version| version.excluded.clone()).unwrap_or_default(),
            skipped: version.as_ref().map(|version| version.skipped.clone()).unwrap_or_default(),
            unstable: version.map(|version| version.unstable).unwrap_or_default(),
            blocks: self.recorder.state.fresh.count(),
            ..empty_version(identity.session)
        };
        let begun = EventBody::VersionCommitted {
            version: record.version,
            base: record.base,
            cause,
            files: record.files,
            blocks: record.blocks,
            label: None,
            restored: None,
        };
        let (_, mut changes) = self.files.become_these(&listed);
        let mut drafts = self.artifacts_become(outputs, 0, record.version);
        drafts.push(Draft::of_session(begun));
        self.recorder
            .record(drafts, |events| {
                let made = events.last().map(|last| VersionRecord {
                    seq: last.seq,
                    created_at: last.timestamp,
                    ..record
                });
                changes.extend(made.map(|made| Change::PutVersion(Box::new(made))));
                changes
            })
            .await?;
        Ok(())
    }

    async fn keep(&self, imported: &Imported) -> Result<(), WriteError> {
        let (identity, store) = (&self.identity, &self.shared.parts.store.transcripts);
        for (name, content) in &imported.files {
            store.write_transcript(identity.session, identity.fence, name, 0, content.clone()).await?;
        }
        match &imported.state {
            Some(state) => save_state(identity, state, store.as_ref()).await,
            None => Ok(()),
        }
    }
}
