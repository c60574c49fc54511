//! Messages to a session, and the conversation that comes of them.

use std::time::Duration;

use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};
use warren_domain::{Block, RunOptions, Seq, SessionId};
use warren_runtime::api::{NewMessage, OnConflict, Sent};
use warren_wire::{
    self as wire, ConflictRetry, ConflictWord, Media, MessageAccepted, MessagePage, MessageSend,
};

use super::sessions::limit;
use crate::{
    choke::Call,
    failure::Failure,
    respond::{self, Answer},
    sse::{self, RunSource},
};

/// Blocks in one part of a conversation, unless the client says otherwise.
const DEFAULT_LIMIT: u64 = 100;
/// The longest idempotency key, in bytes.
const LONGEST_KEY: usize = 255;
/// How often a message with a stale base version is tried again, at most.
const MOST_RETRIES: u32 = 10;
/// How long is waited before the first time, at most, in milliseconds.
const LONGEST_BACKOFF: u64 = 10_000;
/// Names the run of a stream before its first line.
const RUN_ID: HeaderName = HeaderName::from_static("x-warren-run-id");

pub(crate) async fn send(call: Call) -> Answer {
    let wanted: MessageSend = call.json()?;
    check_key(wanted.idempotency_key.as_deref())?;
    let message = NewMessage {
        content: wanted.content,
        idempotency_key: wanted.idempotency_key,
        when_busy: wanted.when_busy.unwrap_or_default(),
        options: RunOptions { model: wanted.model, time_budget: wanted.time_budget, ..RunOptions::default() },
        base_version: wanted.base_version,
        count: Some(call.app().gateway().count_of(call.identity()?)),
        from: wanted.from.unwrap_or_default(),
        on_conflict: on_conflict(wanted.on_conflict)?,
    };
    let session = call.session()?;
    let sent = call.runtime().runs().run_send(session, message).await?;
    let mut response = match call.media() {
        Media::EventStream => follow(&call, session, sent).await?,
        _ => accepted(session, sent)?,
    };
    let headers = response.headers_mut();
    let path = format!("/api/sessions/{session}/runs/{}", sent.run);
    headers.insert(header::LOCATION, HeaderValue::from_str(&path).map_err(Failure::internal)?);
    headers.insert(RUN_ID, HeaderValue::from_str(&sent.run.to_string()).map_err(Failure::internal)?);
    Ok(response)
}

pub(crate) async fn list(call: Call) -> Answer {
    let detail = call.runtime().records().session_detail(call.session()?).await?;
    let limit = limit(&call, DEFAULT_LIMIT) as usize;
    respond::ok(&page(detail.conversations.main(), call.query().text("after"), limit)?)
}

/// The events of the run that was just sent, from the one that announced it until it ends. Whoever stops listening does
/// not stop the run.
async fn follow(call: &Call, session: SessionId, sent: Sent) -> Answer {
    let before = Seq(sent.seq.0.saturating_sub(1));
    let follow = call.runtime().records().events_follow(session, before).await?;
    Ok(sse::stream(RunSource::new(follow, sent.run), call.cancel()))
}

fn accepted(session_id: SessionId, sent: Sent) -> Result<Response, Failure> {
    let accepted = MessageAccepted { run_id: sent.run, session_id, seq: sent.seq, retries: sent.retries };
    respond::json(StatusCode::ACCEPTED, &accepted)
}

/// What to do when the base version is stale. A wait that is too long would outlast the request.
fn on_conflict(wanted: Option<wire::OnConflict>) -> Result<OnConflict, Failure> {
    match wanted {
        None | Some(wire::OnConflict::Word(ConflictWord::Reject)) => Ok(OnConflict::Reject),
        Some(wire::OnConflict::Word(ConflictWord::Retry)) => {
            Ok(OnConflict::Retry { retries: 3, backoff: Duration::from_millis(500) })
        }
        Some(wire::OnConflict::Retry(ConflictRetry { retries, backoff_ms })) => {
            if retries > MOST_RETRIES || backoff_ms > LONGEST_BACKOFF {
                return Err(Failure::bad_request(format!(
                    "`onConflict` may have at most {MOST_RETRIES} `retries` and a `backoffMs` of at most {LONGEST_BACKOFF}"
                )));
            }
            Ok(OnConflict::Retry { retries, backoff: Duration::from_millis(backoff_ms) })
        }
    }
}

pub(super) fn check_key(key: Option<&str>) -> Result<(), Failure> {
    match key {
        Some(key) if key.is_empty() || key.len() > LONGEST_KEY => {
            Err(Failure::bad_request(format!("`idempotencyKey` must have 1 to {LONGEST_KEY} bytes")))
        }
        // PostgreSQL keeps no text with it.
        Some(key) if key.contains('\0') => {
            Err(Failure::bad_request("`idempotencyKey` must not have NUL in it"))
        }
        _ => Ok(()),
    }
}

fn page(blocks: &[Block], after: Option<&str>, limit: usize) -> Result<MessagePage, Failure> {
    let start = match after {
        None => 0,
        Some(id) => {
            1 + blocks.iter().position(|block| block.id().as_str() == id).ok_or_else(|| {
                Failure::bad_request(format!("there is no block `{}` to go on after", id.escape_debug()))
                    .hint("pass `nextCursor`, or the id of a block; begin anew if it was discarded")
            })?
        }
    };
    let end = blocks.len().min(start + limit);
    let part = &blocks[start..end];
    let last = part.last().map(|block| block.id().to_string());
    Ok(MessagePage { blocks: part.to_vec(), next_cursor: last.filter(|_| end < blocks.len()) })
}

#[cfg(test)]
mod tests {
    use super::page;
    use warren_domain::{Block, BlockId, Timestamp};

    fn block(id: &str) -> Block {
        Block::AssistantText {
            id: BlockId::from(id),
            timestamp: Timestamp::default(),
            content: String::new(),
            model: None,
        }
    }

    #[test]
    fn a_conversation_pages_without_a_gap_or_a_duplicate() {
        let blocks: Vec<_> = ["a", "b", "c", "d", "e"].map(block).into();
        let mut seen = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = page(&blocks, after.as_deref(), 2).expect("a page");
            seen.extend(page.blocks);
            after = page.next_cursor;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(seen, blocks);
        assert!(page(&blocks, Some("z"), 2).is_err());
        assert_eq!(page(&blocks, Some("e"), 2).expect("the end").blocks, []);
    }
}
