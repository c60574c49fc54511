//! What people were asked.

use async_trait::async_trait;
use warren_domain::ApprovalId;

use super::{
    Sql,
    args::{Arg, args},
    queries::{APPROVAL_GET, APPROVAL_LIST},
    row::{Row, to_json, undecodable},
    sessions::page,
    while_doing,
};
use crate::{ApprovalQuery, ApprovalRecord, Approvals, Page, Pending, ReadError};

#[async_trait]
impl Approvals for Sql {
    async fn approval(&self, approval: ApprovalId) -> Result<Option<ApprovalRecord>, ReadError> {
        let row = self.db.read_one(APPROVAL_GET, args![approval]).await;
        row.and_then(|row| row.as_ref().map(read_approval).transpose())
            .map_err(while_doing("read the approval"))
    }

    async fn approvals(&self, query: &ApprovalQuery) -> Result<Page<ApprovalRecord>, ReadError> {
        let (pending, settled) = match query.pending {
            None => (None, None),
            Some((Pending::Yes, now)) => (Some(now), None),
            Some((Pending::No, now)) => (None, Some(now)),
        };
        let args = args![
            query.partition.as_ref(),
            query.project,
            query.session,
            pending,
            settled,
            query.before,
            // One more than asked for tells whether there is more.
            i64::from(query.limit) + 1,
        ];
        let rows = self.db.read(APPROVAL_LIST, args).await;
        rows.and_then(|rows| page(&rows, query.limit, read_approval))
            .map_err(while_doing("list the approvals"))
    }
}

pub(super) fn approval_args(record: &ApprovalRecord) -> Result<Vec<Arg>, sqlx::Error> {
    let resolution = record.resolution.as_ref().map(|(resolution, _)| to_json(resolution)).transpose()?;
    Ok(args![
        record.request.approval_id,
        record.session_id,
        record.run_id,
        to_json(&record.request)?,
        record.requested_at,
        record.request.expires_at,
        resolution,
        record.resolution.as_ref().map(|(_, at)| *at),
    ])
}

fn read_approval(row: &Row) -> Result<ApprovalRecord, sqlx::Error> {
    let resolution = row.maybe_text("resolution")?;
    let resolution = resolution.as_deref().map(serde_json::from_str).transpose().map_err(undecodable)?;
    Ok(ApprovalRecord {
        session_id: row.id("session_id")?,
        run_id: row.maybe_id("run_id")?,
        request: row.json("request")?,
        requested_at: row.time("requested_at")?,
        resolution: resolution.zip(row.maybe_time("resolved_at")?),
    })
}
