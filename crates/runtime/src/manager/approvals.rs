//! What agents ask people.

use async_trait::async_trait;
use warren_domain::{ApprovalId, ApprovalResolution};
use warren_store::{ApprovalQuery, ApprovalRecord, Page};

use super::SessionManager;
use crate::{
    api::{Approvals, SessionError},
    session::Request,
};

#[async_trait]
impl Approvals for SessionManager {
    async fn approval_list(&self, query: ApprovalQuery) -> Result<Page<ApprovalRecord>, SessionError> {
        let page = self.shared.parts.store.approvals.approvals(&query).await;
        page.map_err(|error| SessionError::internal("list the approvals", error))
    }

    async fn approval_get(&self, approval: ApprovalId) -> Result<ApprovalRecord, SessionError> {
        let found = self.shared.parts.store.approvals.approval(approval).await;
        let found = found.map_err(|error| SessionError::internal("read the approval", error))?;
        found.ok_or_else(|| SessionError::not_found("approval", approval))
    }

    async fn approval_resolve(&self, resolution: ApprovalResolution) -> Result<ApprovalRecord, SessionError> {
        let id = resolution.approval_id;
        let session = self.approval_get(id).await?.session_id;
        self.ask(session, |reply| Request::Resolve(Box::new(resolution), reply)).await?;
        self.approval_get(id).await
    }

    async fn approval_rule_withdraw(
        &self,
        approval: ApprovalId,
        by: String,
    ) -> Result<ApprovalRecord, SessionError> {
        let session = self.approval_get(approval).await?.session_id;
        self.ask(session, |reply| Request::WithdrawRule(approval, by, reply)).await?;
        self.approval_get(approval).await
    }
}
