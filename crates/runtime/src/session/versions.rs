//! Versions: committed with the run's last entry, or while no run is going on.

use std::time::Duration;

use tokio::sync::OwnedRwLockReadGuard;
use warren_domain::{
    BlobHash, Command, Draft, ErrorCode, Event, EventBody, FileCounts, Head, RunFrom, RunStatus, Usage,
    Version, VersionCause,
};
use warren_sandbox::{CallError, FilesAt};
use warren_snapshots::{Hold, ReadTreeError, Source, TakeError, TakeRequest, Taken, Why};
use warren_store::{Change, ReadError, RunRecord, VersionRecord};

use super::{
    SessionTask, is_shared,
    memory::Memory,
    restore::Told,
    sandbox::SandboxSlot,
    start::chain,
    tree::{NotATree, counts, tree_id},
};
use crate::{
    api::SessionError,
    places::{Part, Places},
    recorder::RecordError,
};

/// Timeout of a snapshot. A guest that takes longer does not hold up the session forever.
const TAKE: Duration = Duration::from_secs(600);

/// At most this many paths of each kind that could not be kept are listed.
const MOST_LISTED: usize = 1_000;

/// Everything of a version but its number and its place in the log.
pub(super) struct Prepared {
    pub(super) files: FileCounts,
    record: VersionRecord,
    /// Its tree is another than its base's.
    is_changed: bool,
    /// Keeps the tree until the record is committed.
    _hold: Option<Hold>,
    /// Keeps the transcripts until then.
    _gate: Option<OwnedRwLockReadGuard<()>>,
}

/// Which files a version has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Files {
    /// The files in the sandbox.
    Now,
    /// The files of its base: nothing has run since.
    AsBefore,
}

/// Why a version could not be created.
#[derive(Debug, thiserror::Error)]
pub(super) enum PrepareError {
    /// There is no sandbox that could be asked for the files.
    #[error("the sandbox has stopped")]
    NoSandbox,
    /// It does not answer.
    #[error("failed to request the sandbox's files")]
    Ask(#[source] CallError),
    /// The files could not be kept.
    #[error("failed to save the files")]
    Take(#[source] TakeError),
    /// It took too long.
    #[error("the sandbox did not send its files in time")]
    TooSlow,
    /// The tree could not be compared.
    #[error("failed to compare the files with the previous version")]
    Compare(#[source] ReadTreeError),
    /// A record is not what it should be.
    #[error("failed to read the previous version")]
    Record(#[from] NotATree),
    /// The version before it, or the transcripts, could not be read or kept.
    #[error("failed to save the agent's transcripts")]
    Memory(#[from] ReadError),
}

/// Why uncommitted changes did not become a version.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommitHeadError {
    /// A part of it cannot be saved: nothing was changed.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// The log cannot be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl SessionTask {
    /// Keeps everything a version needs, so that nothing is left to do but to commit it.
    pub(super) async fn prepare_version(&self, files: Files) -> Result<Prepared, PrepareError> {
        let (identity, store) = (&self.identity, &self.shared.parts.store);
        let base = self.recorder.state.version;
        let before = store.versions.version(identity.session, base).await?;
        let mut record = self.record_after(before.as_ref());
        record.shared = self.is_shared().await?;
        let taken = match files {
            Files::Now => Some(self.take_tree(record.tree.as_ref()).await?),
            Files::AsBefore => None,
        };
        let mut is_changed = false;
        if let Some(taken) = &taken {
            record.files = self.compare(record.tree.as_ref(), taken).await?;
            let tree = Some(BlobHash(taken.tree.to_string()));
            is_changed = std::mem::replace(&mut record.tree, tree.clone()) != tree;
            note_taken(&mut record, taken);
        }
        let gate = self.shared.gate.clone().read_owned().await;
        self.keep_memory(&mut record).await?;
        let (files, hold) = (record.files, taken.map(|taken| taken.hold));
        Ok(Prepared { files, record, is_changed, _hold: hold, _gate: Some(gate) })
    }

    /// Keeps what the agent remembers.
    async fn keep_memory(&self, record: &mut VersionRecord) -> Result<(), ReadError> {
        let (identity, store) = (&self.identity, &self.shared.parts.store);
        let known = Memory::open(&identity.partition, record.memory.as_ref(), store.blobs.as_ref()).await;
        // Lost or not, all of it is there: what cannot be compared is kept again.
        let known = known.unwrap_or_default();
        let memory = Memory::keep(identity.session, &identity.partition, &known, store).await?;
        record.transcripts = memory.lengths();
        record.memory = memory.save(&identity.partition, store.blobs.as_ref()).await?;
        Ok(())
    }

    /// The record of a version that follows the latest and differs from it in nothing yet.
    pub(super) fn record_after(&self, before: Option<&VersionRecord>) -> VersionRecord {
        let base = self.recorder.state.version;
        let mut usage = before.map(|version| version.usage.clone()).unwrap_or_default();
        usage.add(&self.recorder.state.spent);
        VersionRecord {
            version: base.next(),
            base,
            tree: before.and_then(|version| version.tree.clone()),
            memory: before.and_then(|version| version.memory.clone()),
            transcripts: before.map(|version| version.transcripts.clone()).unwrap_or_default(),
            size_bytes: before.map_or(0, |version| version.size_bytes),
            excluded: before.map(|version| version.excluded.clone()).unwrap_or_default(),
            skipped: before.map(|version| version.skipped.clone()).unwrap_or_default(),
            unstable: before.map(|version| version.unstable.clone()).unwrap_or_default(),
            usage,
            ..empty_version(self.identity.session)
        }
    }

    async fn take_tree(&self, base: Option<&BlobHash>) -> Result<Taken, PrepareError> {
        let base = base.map(|base| tree_id(Some(base))).transpose()?;
        match self.take_tree_after(base).await {
            // A base that is damaged must not keep what is whole from being kept.
            Err(PrepareError::Take(error @ TakeError::Base { .. })) => {
                let session = self.identity.session;
                tracing::error!(%session, error = &error as &dyn std::error::Error, "a version cannot be read");
                self.take_tree_after(None).await
            }
            other => other,
        }
    }

    async fn take_tree_after(&self, base: Option<warren_snapshots::TreeId>) -> Result<Taken, PrepareError> {
        let ready = self.sandbox.ready().ok_or(PrepareError::NoSandbox)?;
        let taking = async {
            let source = match self.files_at() {
                FilesAt::Host => Source::directories(self.places().roots(Part::All)),
                FilesAt::Guest => {
                    Source::guest(ready.sandbox.guest.scan_tree().await.map_err(PrepareError::Ask)?)
                }
            };
            let request = TakeRequest {
                place: self.shared.place(self.identity.session),
                base,
                excludes: self.shared.options.excludes.clone(),
            };
            let taken = self.shared.parts.snapshots.take(&self.identity.partition, source, request);
            taken.await.map_err(PrepareError::Take)
        };
        let taken = tokio::time::timeout(TAKE, taking).await.unwrap_or(Err(PrepareError::TooSlow))?;
        let (session, at) = (self.identity.session, self.files_at());
        tracing::debug!(%session, ?at, tree = %taken.tree, sent = taken.sent_bytes, stored = taken.stored_bytes, "a tree was taken");
        Ok(taken)
    }

    /// Changes that people see.
    async fn compare(&self, base: Option<&BlobHash>, taken: &Taken) -> Result<FileCounts, PrepareError> {
        let base = tree_id(base)?;
        if base == taken.tree {
            return Ok(FileCounts::default());
        }
        let snapshots = &self.shared.parts.snapshots;
        match snapshots.diff(&self.identity.partition, base, taken.tree, usize::MAX).await {
            Ok(diff) => Ok(counts(&diff.differences)),
            // The base is damaged, as was said when the tree was taken.
            Err(_) => {
                let all = warren_snapshots::TreeId::empty();
                let diff = snapshots.diff(&self.identity.partition, all, taken.tree, usize::MAX).await;
                diff.map(|diff| counts(&diff.differences)).map_err(PrepareError::Compare)
            }
        }
    }

    /// Whether another session works in the same workspace.
    pub(super) async fn is_shared(&self) -> Result<bool, ReadError> {
        is_shared(&self.shared.parts.store, self.identity.workspace).await
    }

    /// Whether the latest version and the log are all there is to know of the files. While a session has no sandbox, others may
    /// change what it shares with them.
    pub(super) async fn has_looked(&self) -> Result<bool, ReadError> {
        Ok(self.sandbox.ready().is_some() || !self.is_shared().await?)
    }

    /// Makes a version of what is there while no run is going on, unless it is the latest already. Says which it is.
    ///
    /// What changed may be left out of versions. Then one is made all the same, because only that says that nothing else did;
    /// where a message waits, the start of its run says so.
    pub(super) async fn commit_head(&mut self, cause: VersionCause) -> Result<Version, CommitHeadError> {
        let prepared = self.prepare_version(Files::Now).await?;
        let state = &self.recorder.state;
        let is_settled = match state.head {
            Head::Clean => true,
            Head::Touched => !state.queue.is_empty(),
            Head::Cut => false,
        };
        if is_settled && !prepared.is_changed && state.fresh.is_empty() {
            return Ok(state.version);
        }
        let cause = if self.is_template(&prepared) { VersionCause::Template } else { cause };
        let command = Command::Commit { cause, files: prepared.files, restored: None };
        self.recorder.carry_out(command, |events| prepared.change(events).into_iter().collect()).await?;
        self.at_version().await;
        Ok(self.recorder.state.version)
    }

    /// Whether a version has the files of the template and no others: nobody made them, they came with the sandbox.
    fn is_template(&self, prepared: &Prepared) -> bool {
        let template = self.shared.options.template.as_ref();
        let n_given = template.map_or(0, |template| u64::try_from(template.files.len()).unwrap_or(u64::MAX));
        let given = FileCounts { added: n_given, ..FileCounts::default() };
        self.recorder.state.version == Version(0) && n_given > 0 && prepared.files == given
    }

    /// Makes a version of what is in none. `cause` says why now, unless a run that was cut left it.
    pub(super) async fn commit_uncommitted(
        &mut self,
        cause: VersionCause,
    ) -> Result<Version, CommitHeadError> {
        let cause = match self.recorder.state.head {
            Head::Cut => VersionCause::Recovered,
            Head::Clean | Head::Touched => cause,
        };
        self.commit_head(cause).await
    }

    /// Where the files are that programs of the session write.
    pub(super) fn files_at(&self) -> FilesAt {
        self.shared.parts.backend.files()
    }

    pub(super) fn places(&self) -> Places {
        Places::of(&self.shared.options.directory, self.identity.session, self.identity.workspace)
    }

    /// The directories are what the latest version says, if they stay.
    pub(super) async fn at_version(&self) {
        if self.files_at() == FilesAt::Guest {
            return;
        }
        let (places, version) = (self.places(), self.recorder.state.version);
        let noted = tokio::task::spawn_blocking(move || places.note_version(version)).await;
        if !matches!(noted, Ok(Ok(()))) {
            // They are then written anew from the version before they are used.
            tracing::warn!(session = %self.identity.session, %version, "it was not noted that the files are those of a version");
        }
    }

    /// Sees to it that a waiting run starts from a version. Says whether it can start now.
    pub(super) async fn settle_head(&mut self, record: &RunRecord) -> Result<bool, RecordError> {
        let is_clean = self.recorder.state.head == Head::Clean;
        let is_given = !self.awaits_template(record.input.base_version);
        if is_clean && is_given && self.has_looked().await.map_err(RecordError::Read)? {
            return Ok(true);
        }
        if !is_clean && record.input.from == RunFrom::Version {
            return self.go_back(record).await;
        }
        match self.sandbox {
            SandboxSlot::None => self.start_sandbox(0).await.map(|()| false),
            // It is looked at again when the sandbox is ready, or cannot be made.
            SandboxSlot::Starting(_) => Ok(false),
            SandboxSlot::Ready(_) => match self.commit_uncommitted(VersionCause::Edited).await {
                Ok(_) => Ok(true),
                Err(CommitHeadError::Record(error)) => Err(error),
                Err(CommitHeadError::Prepare(_)) if self.stop_sandbox_that_is_gone().await? => {
                    Box::pin(self.settle_head(record)).await
                }
                Err(CommitHeadError::Prepare(error)) => {
                    let message = format!(
                        "the uncommitted changes of an earlier run could not be saved: {}; hint: send with `from: \"version\"` to discard them",
                        chain(&error)
                    );
                    self.refuse(record.run_id, ErrorCode::SandboxError, message).await.map(|()| false)
                }
            },
        }
    }

    /// Whether the workspace is still to be given the template. Its files are a version of their own, so that no run's diff
    /// has them: the first run starts once they are there, unless its sender wants it to start from the version before.
    pub(super) fn awaits_template(&self, base: Option<Version>) -> bool {
        let template = self.shared.options.template.as_ref();
        let is_new = self.recorder.state.version == Version(0);
        let is_given = match self.sandbox {
            SandboxSlot::Ready(_) => true,
            // Whether it is given any is known when it is ready.
            SandboxSlot::Starting(_) => false,
            SandboxSlot::None => self.files_at() == FilesAt::Host && self.places().has_workspace(),
        };
        is_new && !is_given && base.is_none() && template.is_some_and(|template| !template.files.is_empty())
    }

    /// Gives up what is in no version. Says whether the run can start now.
    async fn go_back(&mut self, record: &RunRecord) -> Result<bool, RecordError> {
        let version = self.recorder.state.version;
        let found = self.shared.parts.store.versions.version(self.identity.session, version).await;
        let Some(target) = found.map_err(RecordError::Read)? else { return Ok(true) };
        match self.put_back_files(&target, &format!("back to version {version}"), Told::OneByOne).await? {
            Ok((drafts, _closed)) => {
                let message = format!(
                    "Uncommitted changes were discarded; the session continues from version {version}."
                );
                let said = self.said(format!("back-{}", record.run_id), message);
                self.record_files(drafts, vec![said]).await?;
                Ok(true)
            }
            Err(error) => {
                let message = format!("failed to go back to version {version}: {error}");
                self.refuse(record.run_id, error.code(), message).await.map(|()| false)
            }
        }
    }

    /// A line of ours in the conversation.
    pub(super) fn said(&self, id: String, message: String) -> Draft {
        let block = warren_domain::Block::System {
            id: warren_domain::BlockId(id),
            timestamp: self.shared.parts.env.now(),
            subtype: warren_domain::SystemSubtype::Status,
            message,
            metadata: None,
        };
        Draft::of_session(EventBody::BlockComplete { block })
    }

    /// Ends a waiting message that cannot be carried out.
    pub(super) async fn refuse(
        &mut self,
        run: warren_domain::RunId,
        code: ErrorCode,
        message: String,
    ) -> Result<(), RecordError> {
        let record = self.never_started(run, RunStatus::Failed).await?;
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

    /// Commits what is in no version before the sandbox ends. Where that cannot be done, the sandbox must not end.
    pub(super) async fn keep_before_end(&mut self) -> Result<Result<(), SessionError>, RecordError> {
        if self.sandbox.ready().is_none() {
            return Ok(Ok(()));
        }
        match self.commit_uncommitted(VersionCause::Idle).await {
            Ok(_) => Ok(Ok(())),
            Err(CommitHeadError::Record(error)) => Err(error),
            Err(CommitHeadError::Prepare(error)) => {
                let session = self.identity.session;
                tracing::error!(%session, error = &error as &dyn std::error::Error, "a sandbox cannot end: what is in it is in no version");
                Ok(Err(SessionError::Invalid {
                    code: ErrorCode::SandboxError,
                    message: format!("the sandbox's changes could not be committed: {}", chain(&error)),
                    hint: Some("this is retried; the sandbox keeps running until then".to_owned()),
                }))
            }
        }
    }
}

impl Prepared {
    /// One that is an older version once more.
    pub(super) fn again(record: VersionRecord, files: FileCounts) -> Self {
        Self { files, record: VersionRecord { files, ..record }, is_changed: true, _hold: None, _gate: None }
    }

    /// The same, which keeps what it needs from being collected until it is committed.
    pub(super) fn keeping(self, hold: Hold, gate: OwnedRwLockReadGuard<()>) -> Self {
        Self { _hold: Some(hold), _gate: Some(gate), ..self }
    }

    /// The record that goes with `events`, if they publish it. What it needs is kept only as long as `self` is: until the
    /// record is committed.
    pub(super) fn change(&self, events: &[Event]) -> Option<Change> {
        let mut record = self.record.clone();
        let (event, last) = (events.iter().find(is_publishing)?, events.last()?);
        let EventBody::VersionCommitted { version, base, cause, blocks, restored, .. } = &event.body else {
            return None;
        };
        (record.version, record.base, record.cause) = (*version, *base, *cause);
        (record.blocks, record.restored, record.run_id) = (*blocks, *restored, event.run_id);
        (record.seq, record.created_at) = (last.seq, last.timestamp);
        Some(Change::PutVersion(Box::new(record)))
    }

    /// The same with what the run that ends now has spent.
    pub(super) fn spending(&mut self, usage: &Usage) -> &Self {
        self.record.usage.add(usage);
        self
    }
}

/// The contents of a tree, and what it lacks.
fn note_taken(record: &mut VersionRecord, taken: &Taken) {
    (record.size_bytes, record.excluded) = (taken.size_bytes, taken.excluded.clone());
    let skipped = taken.skipped.iter().take(MOST_LISTED);
    record.skipped = skipped.map(|it| (it.path.clone(), why(it.why).to_owned())).collect();
    record.unstable = taken.unstable.iter().take(MOST_LISTED).cloned().collect();
}

/// Its name in records.
fn why(why: Why) -> &'static str {
    match why {
        Why::Special => "special",
        Why::Unreadable => "unreadable",
        Why::TooLong => "too_long",
        Why::Excluded => "excluded",
        Why::Unstable => "unstable",
    }
}

fn is_publishing(event: &&Event) -> bool {
    matches!(event.body, EventBody::VersionCommitted { .. })
}

/// The initial state of a session.
pub(crate) fn first_version(session: warren_domain::SessionId, event: &Event) -> VersionRecord {
    VersionRecord { seq: event.seq, created_at: event.timestamp, ..empty_version(session) }
}

/// A version without anything in it.
pub(crate) fn empty_version(session: warren_domain::SessionId) -> VersionRecord {
    VersionRecord {
        session_id: session,
        version: Version(0),
        base: Version(0),
        cause: VersionCause::Manual,
        run_id: None,
        seq: warren_domain::Seq(0),
        created_at: warren_domain::Timestamp::default(),
        tree: None,
        memory: None,
        transcripts: Vec::new(),
        size_bytes: 0,
        files: FileCounts::default(),
        blocks: 0,
        excluded: Vec::new(),
        skipped: Vec::new(),
        unstable: Vec::new(),
        shared: false,
        restored: None,
        expired: false,
        usage: Usage::default(),
        label: None,
    }
}
