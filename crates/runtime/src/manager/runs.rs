//! Sending messages and looking after what becomes of them.

use async_trait::async_trait;
use warren_domain::{Rejection, RunId, SessionId};
use warren_store::{Page, RunRecord, UsageQuery, UsageRow};

use super::SessionManager;
use crate::{
    api::{NewMessage, OnConflict, RunChange, Runs, Sent, SessionError},
    session::Request,
};

#[async_trait]
impl Runs for SessionManager {
    async fn run_send(&self, session: SessionId, message: NewMessage) -> Result<Sent, SessionError> {
        let OnConflict::Retry { retries, backoff } = message.on_conflict else {
            return self.send(session, message).await;
        };
        let mut message = message;
        for n in 0..retries {
            match self.send(session, message.clone()).await {
                Err(SessionError::Rejected(Rejection::VersionConflict { .. })) => {
                    tokio::time::sleep(backoff * 2_u32.saturating_pow(n)).await;
                    message.base_version = Some(self.record(session).await?.version);
                }
                answer => return answer.map(|sent| Sent { retries: n, ..sent }),
            }
        }
        self.send(session, message).await.map(|sent| Sent { retries, ..sent })
    }

    async fn run_interrupt(&self, session: SessionId, by: String) -> Result<Option<RunId>, SessionError> {
        self.record(session).await?;
        if !self.roster.is_owned(session) {
            return Ok(None);
        }
        self.ask(session, |reply| Request::Interrupt(by, reply)).await
    }

    async fn run_get(&self, session: SessionId, run: RunId) -> Result<RunRecord, SessionError> {
        let found = self.shared.parts.store.runs.run(session, run).await;
        let found = found.map_err(|error| SessionError::internal("read the run", error))?;
        found.ok_or_else(|| SessionError::not_found("run", run))
    }

    async fn run_list(
        &self,
        session: SessionId,
        before: Option<RunId>,
        limit: u32,
    ) -> Result<Page<RunRecord>, SessionError> {
        self.record(session).await?;
        let page = self.shared.parts.store.runs.runs(session, before, limit).await;
        page.map_err(|error| SessionError::internal("list the runs", error))
    }

    async fn run_update(
        &self,
        session: SessionId,
        run: RunId,
        change: RunChange,
    ) -> Result<RunRecord, SessionError> {
        self.ask(session, |reply| Request::Requeue(run, change, reply)).await?;
        self.run_get(session, run).await
    }

    async fn run_drop(&self, session: SessionId, run: RunId, by: String) -> Result<(), SessionError> {
        self.ask(session, |reply| Request::Drop(run, by, reply)).await
    }

    async fn usage(&self, query: UsageQuery) -> Result<Vec<UsageRow>, SessionError> {
        let rows = self.shared.parts.store.runs.usage(&query).await;
        rows.map_err(|error| SessionError::internal("sum up what was spent", error))
    }
}

impl SessionManager {
    async fn send(&self, session: SessionId, message: NewMessage) -> Result<Sent, SessionError> {
        self.ask(session, |reply| Request::Send(Box::new(message), reply)).await
    }
}
