//! Operations on a session's versions: snapshots, restores, imports.

use warren_domain::{ErrorCode, Head, Version, VersionCause};

use super::{
    Reply, SessionTask,
    incoming::Incoming,
    requests::{Failure, answer, busy},
    sandbox::SandboxSlot,
    versions::CommitHeadError,
};
use crate::{api::SessionError, recorder::RecordError};

/// An operation that may need a sandbox first.
pub(crate) enum Errand {
    /// Make a version of what is there.
    Commit(Reply<Version>),
    /// Make an older version the latest.
    Restore(Version, Reply<Version>),
    /// Put the files of an archive into the workspace.
    Import(Box<Incoming>, Reply<Version>),
}

impl Errand {
    pub(crate) fn refuse(self, error: SessionError) {
        match self {
            // A caller that is gone needs no answer.
            Errand::Commit(reply) | Errand::Restore(_, reply) | Errand::Import(_, reply) => {
                drop(reply.send(Err(error)));
            }
        }
    }

    /// Whether its caller has gone.
    fn is_abandoned(&self) -> bool {
        match self {
            Errand::Commit(reply) | Errand::Restore(_, reply) | Errand::Import(_, reply) => reply.is_closed(),
        }
    }
}

impl SessionTask {
    /// Does what waits, as far as it can be done now.
    pub(super) async fn run_errands(&mut self) -> Result<(), RecordError> {
        while let Some(errand) = self.errands.pop_front() {
            // Whoever gave up waiting would be surprised by it later.
            if errand.is_abandoned() {
                continue;
            }
            if let Some(error) = self.objection(&errand).await? {
                errand.refuse(error);
                continue;
            }
            if self.waits_for_sandbox().await? {
                self.errands.push_front(errand);
                return Ok(());
            }
            match errand {
                Errand::Commit(reply) => {
                    let result = self.commit_now(VersionCause::Manual).await;
                    answer(reply, result)?;
                }
                Errand::Restore(version, reply) => {
                    let result = self.keep_and_restore(version).await;
                    answer(reply, result)?;
                }
                Errand::Import(incoming, reply) => {
                    let result = self.keep_and_import(*incoming).await;
                    answer(reply, result)?;
                }
            }
        }
        Ok(())
    }

    /// Checks whether it can be done, before anything is started for it.
    async fn objection(&self, errand: &Errand) -> Result<Option<SessionError>, RecordError> {
        if self.run.is_some() {
            return Ok(Some(busy("wait for the run to end, or interrupt it")));
        }
        let found = match errand {
            Errand::Commit(_) => return Ok(None),
            Errand::Restore(version, _) => self.target(*version).await.map(drop),
            Errand::Import(..) => self.can_import(),
        };
        match found {
            Ok(_) => Ok(None),
            Err(Failure::Refused(error)) => Ok(Some(error)),
            Err(Failure::Fatal(error)) => Err(error),
        }
    }

    /// What is in no version can only be looked at in a sandbox: makes one if need be.
    async fn waits_for_sandbox(&mut self) -> Result<bool, RecordError> {
        match self.sandbox {
            SandboxSlot::Ready(_) => Ok(false),
            SandboxSlot::Starting(_) => Ok(true),
            SandboxSlot::None
                if self.recorder.state.head == Head::Clean
                    && self.has_looked().await.map_err(RecordError::Read)? =>
            {
                Ok(false)
            }
            SandboxSlot::None => self.start_sandbox(0).await.map(|()| true),
        }
    }

    async fn commit_now(&mut self, cause: VersionCause) -> Result<Version, Failure> {
        if self.sandbox.ready().is_none() {
            // Nothing ran since the latest.
            return Ok(self.recorder.state.version);
        }
        let cause = if self.recorder.state.head == Head::Cut { VersionCause::Recovered } else { cause };
        self.commit_head(cause).await.map_err(Failure::from)
    }

    /// What is in no version is not lost when an older one is restored.
    async fn keep_and_restore(&mut self, version: Version) -> Result<Version, Failure> {
        self.commit_now(VersionCause::Edited).await?;
        self.restore(version).await
    }

    /// Nor when files are imported over it.
    async fn keep_and_import(&mut self, incoming: Incoming) -> Result<Version, Failure> {
        self.commit_now(VersionCause::Edited).await?;
        self.import_files(incoming).await
    }

    /// There will be no sandbox for what waits.
    pub(super) fn refuse_errands(&mut self, code: ErrorCode, message: &str) {
        for errand in self.errands.drain(..) {
            errand.refuse(SessionError::Invalid { code, message: message.to_owned(), hint: None });
        }
    }
}

impl From<CommitHeadError> for Failure {
    fn from(error: CommitHeadError) -> Self {
        match error {
            CommitHeadError::Record(error) => error.into(),
            CommitHeadError::Prepare(error) => Failure::Refused(SessionError::Invalid {
                code: ErrorCode::SandboxError,
                message: format!("the version could not be committed: {}", super::start::chain(&error)),
                hint: None,
            }),
        }
    }
}
