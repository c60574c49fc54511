//! Runs and sessions carried out once more.

use std::time::Duration;

use axum::http::StatusCode;
use warren_domain::{ErrorCode, ReplayId, Seq};
use warren_runtime::api::ReplayWhat;
use warren_wire::{Media, ReplayPage, ReplayStart};

use super::{
    events::{Part, check_reached, resume_after},
    runs,
    sessions::limit,
};
use crate::{
    choke::Call,
    failure::Failure,
    respond::{self, Answer},
    sse::{self, TapeSource},
};

/// Replays in one part of a list, unless the client says otherwise.
const DEFAULT_LIMIT: u64 = 50;

/// Entries in one part of a log, unless the client says otherwise.
const DEFAULT_EVENTS: u64 = 1000;

pub(crate) async fn run(call: Call) -> Answer {
    let run = runs::run(&call)?;
    start(call, ReplayWhat::Run(run)).await
}

pub(crate) async fn session(call: Call) -> Answer {
    start(call, ReplayWhat::Session).await
}

async fn start(call: Call, what: ReplayWhat) -> Answer {
    let ReplayStart { wait } = call.json_or_default()?;
    let (session, replays) = (call.session()?, call.runtime().replays());
    let begun = replays.replay_start(session, what).await?;
    if !wait {
        return respond::json(StatusCode::ACCEPTED, &begun);
    }
    let cancel = call.cancel();
    // Dropping the connection does not end it, nor does this server's end wait for whoever waits here.
    match cancel.run_until_cancelled(replays.replay_wait(session, begun.replay_id)).await {
        Some(over) => respond::ok(&over?),
        None => Err(Failure::new(ErrorCode::Unavailable, "the server is shutting down")),
    }
}

pub(crate) async fn list(call: Call) -> Answer {
    let before = call.query().text("cursor").map(cursor).transpose()?;
    let limit = limit(&call, DEFAULT_LIMIT);
    let page = call.runtime().replays().replay_list(call.session()?, before, limit).await?;
    let last = page.items.last().map(|replay| replay.replay_id.to_string());
    respond::ok(&ReplayPage { next_cursor: last.filter(|_| page.more), replays: page.items })
}

pub(crate) async fn get(call: Call) -> Answer {
    respond::ok(&call.runtime().replays().replay_get(call.session()?, replay(&call)?).await?)
}

pub(crate) async fn end(call: Call) -> Answer {
    respond::ok(&call.runtime().replays().replay_end(call.session()?, replay(&call)?).await?)
}

pub(crate) async fn events(call: Call) -> Answer {
    let (session, replay, replays) = (call.session()?, replay(&call)?, call.runtime().replays());
    if call.media() == Media::EventStream {
        let after = resume_after(&call)?;
        let (_, head) = replays.replay_events_read(session, replay, after, 0, None).await?;
        check_reached(after, head)?;
        let (follow, end) = replays.replay_events_follow(session, replay, after).await?;
        return Ok(sse::stream(TapeSource::new(follow, end), call.cancel()));
    }
    let after = Seq(call.query().number("after").unwrap_or(0));
    let limit = call.query().number("limit").unwrap_or(DEFAULT_EVENTS);
    let wait = call.query().number("wait").filter(|_| limit > 0).map(Duration::from_secs);
    let limit = u32::try_from(limit).unwrap_or(u32::MAX);
    let (entries, head) = replays.replay_events_read(session, replay, after, limit, wait).await?;
    check_reached(after, head)?;
    let last = entries.last().map_or(after, |entry| entry.seq);
    Ok(respond::raw_json(Part { entries, last, head }.to_json()))
}

fn replay(call: &Call) -> Result<ReplayId, Failure> {
    let text = call.parameter("replayId");
    text.parse().map_err(|_| Failure::not_found("replay", text.escape_debug()))
}

fn cursor(text: &str) -> Result<ReplayId, Failure> {
    text.parse().map_err(|_| {
        Failure::bad_request("`cursor` is not valid")
            .hint("pass the `nextCursor` of an earlier response unchanged")
    })
}
