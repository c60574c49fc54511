//! Runs, idempotency keys and what was spent.

use async_trait::async_trait;
use warren_domain::{BlobHash, RunId, RunStatus, Seq, SessionId, Timestamp, Usage, Version};

use super::{
    Sql,
    args::{Arg, args},
    queries::{KEY_GET, RUN_GET, RUN_LIST, RUN_UNFINISHED, RUN_USAGE},
    row::{Row, to_json, undecodable},
    sessions::page,
    while_doing,
};
use crate::{Key, Page, ReadError, RunRecord, Runs, UsageGroup, UsageQuery, UsageRow};

#[async_trait]
impl Runs for Sql {
    async fn run(&self, session: SessionId, run: RunId) -> Result<Option<RunRecord>, ReadError> {
        let row = self.db.read_one(RUN_GET, args![session, run]).await;
        row.and_then(|row| row.as_ref().map(read_run).transpose()).map_err(while_doing("read the run"))
    }

    async fn runs(
        &self,
        session: SessionId,
        before: Option<RunId>,
        limit: u32,
    ) -> Result<Page<RunRecord>, ReadError> {
        let rows = self.db.read(RUN_LIST, args![session, before, i64::from(limit) + 1]).await;
        rows.and_then(|rows| page(&rows, limit, read_run)).map_err(while_doing("list the runs"))
    }

    async fn unfinished(&self) -> Result<Vec<RunRecord>, ReadError> {
        let rows = self.db.read(RUN_UNFINISHED, args![]).await;
        rows.and_then(|rows| rows.iter().map(read_run).collect())
            .map_err(while_doing("list the unfinished runs"))
    }

    async fn key(&self, session: SessionId, key: &str, now: Timestamp) -> Result<Option<Key>, ReadError> {
        let row = self.db.read_one(KEY_GET, args![session, key, now]).await;
        row.and_then(|row| row.as_ref().map(read_key).transpose())
            .map_err(while_doing("read the idempotency key"))
    }

    async fn usage(&self, query: &UsageQuery) -> Result<Vec<UsageRow>, ReadError> {
        let args =
            args![spender(query.group_by), query.partition.as_ref(), query.project, query.from, query.to,];
        let rows = self.db.read(RUN_USAGE, args).await;
        let rows: Result<Vec<_>, _> =
            rows.and_then(|rows| rows.iter().map(|row| read_usage_row(row, query.group_by)).collect());
        rows.map_err(while_doing("sum up the usage"))
    }
}

fn spender(group: UsageGroup) -> &'static str {
    match group {
        UsageGroup::Day => "day",
        UsageGroup::Model => "model",
        UsageGroup::Session => "session",
        UsageGroup::Agent => "agent",
        UsageGroup::Project => "project",
    }
}

pub(super) fn run_args(record: &RunRecord) -> Result<Vec<Arg>, sqlx::Error> {
    let usage = &record.usage;
    let error = record.error.clone().unzip();
    let model = usage.model.clone().map(without_nul);
    Ok(args![
        record.session_id,
        record.run_id,
        record.status.as_str(),
        to_json(&record.input)?,
        record.created_at,
        record.started_at,
        record.ended_at,
        record.base_version,
        record.version,
        record.seq,
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.thinking_tokens,
        usage.estimated_tokens,
        usage.total_tokens,
        usage.cost_usd,
        model,
        error.0,
        error.1.map(without_nul),
    ])
}

/// An agent's or a provider's words, as every database keeps them: PostgreSQL has no text with NUL in it, and a run
/// must end whatever its agent says.
fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

fn read_run(row: &Row) -> Result<RunRecord, sqlx::Error> {
    let status = row.text("status")?;
    Ok(RunRecord {
        run_id: row.id("run_id")?,
        session_id: row.id("session_id")?,
        status: RunStatus::parse(&status).ok_or_else(|| undecodable(UnknownStatus(status)))?,
        input: row.json("input")?,
        created_at: row.time("created_at")?,
        started_at: row.maybe_time("started_at")?,
        ended_at: row.maybe_time("ended_at")?,
        base_version: row.maybe_number("base_version")?.map(Version),
        version: row.maybe_number("version")?.map(Version),
        seq: Seq(row.number("seq")?),
        usage: read_usage(row)?,
        error: row.maybe_text("error_code")?.zip(row.maybe_text("error_message")?),
    })
}

/// A newer program wrote it.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a run's status")]
struct UnknownStatus(String);

fn read_usage(row: &Row) -> Result<Usage, sqlx::Error> {
    Ok(Usage {
        input_tokens: row.number("input_tokens")?,
        output_tokens: row.number("output_tokens")?,
        cache_read_tokens: row.number("cache_read_tokens")?,
        cache_write_tokens: row.number("cache_write_tokens")?,
        thinking_tokens: row.number("thinking_tokens")?,
        estimated_tokens: row.number("estimated_tokens")?,
        total_tokens: row.number("total_tokens")?,
        cost_usd: row.real("cost_usd")?,
        model: row.maybe_text("model")?,
    })
}

fn read_usage_row(row: &Row, group_by: UsageGroup) -> Result<UsageRow, sqlx::Error> {
    let group = match group_by {
        UsageGroup::Day => day(row.id("spender")?),
        UsageGroup::Model | UsageGroup::Session | UsageGroup::Agent | UsageGroup::Project => {
            row.text("spender")?
        }
    };
    Ok(UsageRow { group, runs: row.number("runs")?, usage: read_usage(row)? })
}

/// The name of a day that is counted from 1970.
fn day(number: i64) -> String {
    let mut name = Timestamp::from_millis(number.saturating_mul(86_400_000)).to_string();
    name.truncate("2026-11-15".len());
    name
}

pub(super) fn read_key(row: &Row) -> Result<Key, sqlx::Error> {
    Ok(Key {
        key: row.text("key")?,
        request: BlobHash(row.text("request")?),
        run_id: row.id("run_id")?,
        seq: Seq(row.number("seq")?),
        expires_at: row.time("expires_at")?,
    })
}
