//! The record of a run, stored beside its log entries.

use warren_domain::{Event, EventBody, RunId, RunStatus, Usage};
use warren_store::{Change, RunRecord};

use super::SessionTask;
use crate::recorder::RecordError;

impl SessionTask {
    /// The record of a waiting message that will never be carried out by itself.
    pub(super) async fn never_started(
        &self,
        run: RunId,
        status: RunStatus,
    ) -> Result<Option<Change>, RecordError> {
        let found = self.shared.parts.store.runs.run(self.identity.session, run).await;
        Ok(found.map_err(RecordError::Read)?.map(|mut record| {
            record.status = status;
            record.ended_at = Some(self.shared.parts.env.now());
            Change::PutRun(Box::new(record))
        }))
    }

    /// The record of a run that has ended, with a call that was still to be paid.
    pub(super) async fn late_call(&self, run: RunId, usage: &Usage) -> Result<Option<Change>, RecordError> {
        let found = self.shared.parts.store.runs.run(self.identity.session, run).await;
        Ok(found.map_err(RecordError::Read)?.map(|mut record| {
            record.usage.add(usage);
            Change::PutRun(Box::new(record))
        }))
    }
}

/// Fills a run's record from the entry that ends it.
pub(super) trait EndRecord {
    fn end(&mut self, last: &Event);
}

impl EndRecord for RunRecord {
    fn end(&mut self, last: &Event) {
        self.ended_at = Some(last.timestamp);
        match &last.body {
            EventBody::RunCompleted { version, usage, .. } => {
                (self.status, self.version, self.usage) = (RunStatus::Completed, *version, usage.clone());
            }
            EventBody::RunInterrupted { version, usage, .. } => {
                (self.status, self.version, self.usage) = (RunStatus::Interrupted, *version, usage.clone());
            }
            EventBody::RunFailed { code, message, usage, .. } => {
                (self.status, self.usage) = (RunStatus::Failed, usage.clone());
                self.error = Some((code.to_string(), message.clone()));
            }
            _ => {}
        }
    }
}
