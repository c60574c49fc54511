//! Runs.

use warren_domain::{RunId, Usage};
use warren_runtime::api::RunChange;
use warren_wire::{RunPage, RunPatch};

use super::sessions::limit;
use crate::{
    choke::Call,
    convert,
    failure::Failure,
    respond::{self, Answer},
};

/// Runs in one part of a list, unless the client says otherwise.
const DEFAULT_LIMIT: u64 = 50;
/// Runs that are read at a time to sum up their usage.
const SUMMED_AT_ONCE: u32 = 500;

pub(crate) async fn list(call: Call) -> Answer {
    let before = call.query().text("cursor").map(cursor).transpose()?;
    let limit = limit(&call, DEFAULT_LIMIT);
    let page = call.runtime().runs().run_list(call.session()?, before, limit).await?;
    let last = page.items.last().map(|run| run.run_id).filter(|_| page.more);
    let earlier = match call.query().text("sum") {
        Some(_) => Some(usage_before(&call, last).await?),
        None => None,
    };
    respond::ok(&RunPage {
        next_cursor: last.map(|run| run.to_string()),
        runs: page.items.into_iter().map(convert::run).collect(),
        earlier,
    })
}

/// The total usage of all runs before `last`; nothing if there is none.
async fn usage_before(call: &Call, mut last: Option<RunId>) -> Result<Usage, Failure> {
    let mut total = Usage::default();
    while last.is_some() {
        let page = call.runtime().runs().run_list(call.session()?, last, SUMMED_AT_ONCE).await?;
        page.items.iter().for_each(|run| total.add(&run.usage));
        last = page.items.last().map(|run| run.run_id).filter(|_| page.more);
    }
    Ok(total)
}

pub(crate) async fn get(call: Call) -> Answer {
    let run = call.runtime().runs().run_get(call.session()?, run(&call)?).await?;
    respond::ok(&convert::run(run))
}

pub(crate) async fn update(call: Call) -> Answer {
    let RunPatch { content, position } = call.json()?;
    let change = RunChange { content, position };
    let run = call.runtime().runs().run_update(call.session()?, run(&call)?, change).await?;
    respond::ok(&convert::run(run))
}

pub(crate) async fn drop_queued(call: Call) -> Answer {
    let by = call.identity()?.name.clone();
    call.runtime().runs().run_drop(call.session()?, run(&call)?, by).await?;
    respond::nothing()
}

pub(super) fn run(call: &Call) -> Result<RunId, Failure> {
    let text = call.parameter("runId");
    text.parse().map_err(|_| Failure::not_found("run", text.escape_debug()))
}

fn cursor(text: &str) -> Result<RunId, Failure> {
    text.parse().map_err(|_| {
        Failure::bad_request("`cursor` is not valid")
            .hint("pass the `nextCursor` of an earlier response unchanged")
    })
}
