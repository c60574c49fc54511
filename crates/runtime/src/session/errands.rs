//! What people want done with a session's versions, besides sending messages.

use warren_domain::{ErrorCode, Head, Rejection, Version, VersionCause};

use super::{
    Reply, SessionTask,
    requests::{Failure, answer},
    sandbox::SandboxSlot,
    versions::CommitHeadError,
};
use crate::{api::SessionError, recorder::RecordError};

/// Something that may need a sandbox first.
pub(crate) enum Errand {
    /// Make a version of what is there.
    Commit(Reply<Version>),
    /// Make an older version the latest.
    Restore(Version, Reply<Version>),
}

impl Errand {
    pub(crate) fn refuse(self, error: SessionError) {
        match self {
            // A caller that is gone needs no answer.
            Errand::Commit(reply) | Errand::Restore(_, reply) => drop(reply.send(Err(error))),
        }
    }
}

impl SessionTask {
    /// Does what waits, as far as it can be done now.
    pub(super) async fn run_errands(&mut self) -> Result<(), RecordError> {
        while let Some(errand) = self.errands.pop_front() {
            if self.run.is_some() {
                errand.refuse(Rejection::Busy.into());
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
            }
        }
        Ok(())
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
        self.commit_now(VersionCause::Idle).await?;
        self.restore(version).await
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
