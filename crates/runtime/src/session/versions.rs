//! Versions: committed with the run's last entry, or while no run is going on.

use warren_domain::{Command, ErrorCode, Event, EventBody, FileCounts, Head, RunId, Usage, VersionCause};
use warren_store::{Change, ReadError, VersionRecord};

use super::{SessionTask, memory::Memory, sandbox::SandboxSlot};
use crate::recorder::RecordError;

/// Everything of a version but its number and its place in the log.
pub(super) struct Prepared {
    pub(super) files: FileCounts,
    record: VersionRecord,
}

/// Why no version can be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum PrepareError {
    /// The version before it, or the transcripts, could not be read or kept.
    #[error("failed to keep what the agent remembers")]
    Memory(#[from] ReadError),
}

impl SessionTask {
    /// Keeps everything a version needs, so that nothing is left to do but to commit it.
    pub(super) async fn prepare_version(&self) -> Result<Prepared, PrepareError> {
        let (identity, store) = (&self.identity, &self.shared.parts.store);
        let base = self.recorder.state.version;
        let before = store.versions.version(identity.session, base).await?;
        let known = before.as_ref().and_then(|version| version.memory.clone());
        let known = Memory::open(&identity.partition, known.as_ref(), store.blobs.as_ref()).await;
        // Lost or not, all of it is there: what cannot be compared is kept again.
        let known = known.unwrap_or_default();
        let memory = Memory::keep(identity.session, &identity.partition, &known, store).await?;
        let files = FileCounts::default();
        let mut usage = before.map(|version| version.usage).unwrap_or_default();
        usage.add(&self.recorder.state.spent);
        let record = VersionRecord {
            session_id: identity.session,
            version: base.next(),
            base,
            cause: VersionCause::Manual,
            run_id: None,
            seq: self.recorder.head,
            created_at: self.shared.parts.env.now(),
            tree: None,
            transcripts: memory.lengths(),
            memory: memory.save(&identity.partition, store.blobs.as_ref()).await?,
            size_bytes: 0,
            files,
            blocks: 0,
            excluded: Vec::new(),
            shared: false,
            restored: None,
            expired: false,
            usage,
            label: None,
        };
        Ok(Prepared { files, record })
    }

    /// Makes a version of what is there while no run is going on.
    pub(super) async fn commit_head(&mut self, cause: VersionCause) -> Result<(), CommitHeadError> {
        let prepared = self.prepare_version().await?;
        let command = Command::Commit { cause, files: prepared.files, restored: None };
        self.recorder.carry_out(command, |events| prepared.change(events).into_iter().collect()).await?;
        Ok(())
    }

    /// Sees to it that the waiting run starts from a version. Says whether it can start now.
    pub(super) async fn settle_head(&mut self, run: RunId) -> Result<bool, RecordError> {
        let cause = match self.recorder.state.head {
            Head::Clean => return Ok(true),
            Head::Touched => VersionCause::Idle,
            Head::Cut => VersionCause::Recovered,
        };
        match self.sandbox {
            SandboxSlot::None => self.start_sandbox(0).await.map(|()| false),
            // It is looked at again when the sandbox is ready, or cannot be made.
            SandboxSlot::Starting(_) => Ok(false),
            SandboxSlot::Ready(_) => match self.commit_head(cause).await {
                Ok(()) => Ok(true),
                Err(CommitHeadError::Record(error)) => Err(error),
                Err(CommitHeadError::Prepare(error)) => {
                    let message = format!(
                        "what an earlier run left could not be committed: {}; hint: send with `from: \"version\"` to give it up",
                        super::start::chain(&error)
                    );
                    self.refuse(run, ErrorCode::SandboxError, message).await.map(|()| false)
                }
            },
        }
    }

    /// Ends a waiting message that cannot be carried out.
    pub(super) async fn refuse(
        &mut self,
        run: RunId,
        code: ErrorCode,
        message: String,
    ) -> Result<(), RecordError> {
        let record = self.never_started(run, warren_domain::RunStatus::Failed).await?;
        let failed = record.map(|change| match change {
            Change::PutRun(mut record) => {
                record.error = Some((code.to_string(), message.clone()));
                Change::PutRun(record)
            }
            other => other,
        });
        self.recorder
            .carry_out(Command::Refuse { run, code, message }, |_| failed.into_iter().collect())
            .await?;
        Ok(())
    }
}

/// Why what is there did not become a version.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommitHeadError {
    /// Something of it cannot be kept: nothing happened.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The log cannot be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl Prepared {
    /// The record that goes with `events`, if they publish it.
    pub(super) fn change(mut self, events: &[Event]) -> Option<Change> {
        let (event, last) = (events.iter().find(is_publishing)?, events.last()?);
        let EventBody::VersionCommitted { version, base, cause, blocks, restored, .. } = &event.body else {
            return None;
        };
        (self.record.version, self.record.base, self.record.cause) = (*version, *base, *cause);
        (self.record.blocks, self.record.restored, self.record.run_id) = (*blocks, *restored, event.run_id);
        (self.record.seq, self.record.created_at) = (last.seq, last.timestamp);
        Some(Change::PutVersion(Box::new(self.record)))
    }

    /// The same with what the run that ends now has spent.
    pub(super) fn spending(mut self, usage: &Usage) -> Self {
        self.record.usage.add(usage);
        self
    }
}

fn is_publishing(event: &&Event) -> bool {
    matches!(event.body, EventBody::VersionCommitted { .. })
}

/// What a session starts with.
pub(crate) fn first_version(session: warren_domain::SessionId, event: &Event) -> VersionRecord {
    VersionRecord {
        session_id: session,
        version: warren_domain::Version(0),
        base: warren_domain::Version(0),
        cause: VersionCause::Manual,
        run_id: None,
        seq: event.seq,
        created_at: event.timestamp,
        tree: None,
        memory: None,
        transcripts: Vec::new(),
        size_bytes: 0,
        files: FileCounts::default(),
        blocks: 0,
        excluded: Vec::new(),
        shared: false,
        restored: None,
        expired: false,
        usage: Usage::default(),
        label: None,
    }
}
