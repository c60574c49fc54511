//! Messages to a session, and the conversation that comes of them.

use std::time::Duration;

use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::Response,
};
use warren_domain::{Block, BlockId, ConversationId, ErrorCode, RunOptions, Seq, SessionId};
use warren_gateway::Allowance;
use warren_runtime::api::{MessagePart, Messages, NewMessage, OnConflict, Sent, SessionError};
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
/// Maximum number of IDs in `only`.
const MAX_ONLY: usize = 100;
/// The longest idempotency key, in bytes.
const LONGEST_KEY: usize = 255;
/// Maximum number of retries of a message with a stale base version.
const MOST_RETRIES: u32 = 10;
/// Maximum delay before the first retry, in milliseconds.
const LONGEST_BACKOFF: u64 = 10_000;
/// Names the run of a stream before its first line.
const RUN_ID: HeaderName = HeaderName::from_static("x-warren-run-id");

pub(crate) async fn send(call: Call) -> Answer {
    let wanted: MessageSend = call.json()?;
    check_key("idempotencyKey", wanted.idempotency_key.as_deref())?;
    let message = NewMessage {
        content: wanted.content,
        idempotency_key: wanted.idempotency_key,
        when_busy: wanted.when_busy.unwrap_or_default(),
        options: RunOptions {
            model: wanted.model,
            time_budget: wanted.time_budget,
            effort: wanted.effort,
            ..RunOptions::default()
        },
        base_version: wanted.base_version,
        count: Some(call.app().gateway().count_of(call.identity()?)),
        from: wanted.from.unwrap_or_default(),
        on_conflict: on_conflict(wanted.on_conflict)?,
    };
    let session = call.session()?;
    let sent = match call.runtime().runs().run_send(session, message).await {
        Ok(sent) => sent,
        Err(error) => return Err(limited(&call, error).await),
    };
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
    let query = call.query();
    let name = |name| query.text(name).map(BlockId::from);
    let is_backwards = query.text("before").is_some() || query.text("order") == Some("newest");
    if is_backwards && query.text("after").is_some() {
        return Err(Failure::bad_request(
            "`after` goes on towards the end, `before` and `order` towards the beginning",
        )
        .hint("pass one of them"));
    }
    let thread = query.text("conversationId").map_or_else(ConversationId::main, ConversationId::from);
    let part = match is_backwards {
        true => MessagePart::Before(name("before")),
        false => MessagePart::After(name("after")),
    };
    let session = call.session()?;
    let limit = limit(&call, DEFAULT_LIMIT);
    let only = query.text("only").map(block_ids).transpose()?;
    let records = call.runtime().records();
    let found = records.messages(session, &thread, part.clone(), only.as_deref(), limit).await?;
    respond::ok(&page(part, found)?)
}

pub(crate) async fn get(call: Call) -> Answer {
    let thread = call.query().text("conversationId").map_or_else(ConversationId::main, ConversationId::from);
    let id = BlockId::from(call.parameter("blockId"));
    respond::ok(&call.runtime().records().message(call.session()?, &thread, &id).await?)
}

fn block_ids(text: &str) -> Result<Vec<BlockId>, Failure> {
    let ids: Vec<BlockId> = serde_json::from_str(text).map_err(|error| {
        Failure::bad_request(format!("`only` is not a JSON list of IDs: {error}"))
            .hint("pass a list such as `[\"a\",\"b\"]`")
    })?;
    if ids.len() > MAX_ONLY {
        return Err(Failure::bad_request(format!("`only` has {} ids, more than {MAX_ONLY}", ids.len())));
    }
    Ok(ids)
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

/// The failure of a message that was not taken. One beyond the plan says when there will be more.
pub(super) async fn limited(call: &Call, error: SessionError) -> Failure {
    let failure = Failure::from(error);
    if failure.code != ErrorCode::MessageLimit {
        return failure;
    }
    let Ok(identity) = call.identity() else { return failure };
    match call.app().gateway().allowance(identity).await {
        Ok(Allowance { resets_at: Some(resets_at), .. }) => {
            let millis = resets_at.as_millis().saturating_sub(call.app().now().as_millis());
            failure.retry_after(u64::try_from(millis).unwrap_or(0).div_ceil(1000).max(1))
        }
        // Without an end there is nothing to wait for; a count that cannot be read has another failure first.
        Ok(_) | Err(_) => failure,
    }
}

/// Checks an idempotency key, which the client calls `name`.
pub(super) fn check_key(name: &str, key: Option<&str>) -> Result<(), Failure> {
    match key {
        Some(key) if key.is_empty() || key.len() > LONGEST_KEY => {
            Err(Failure::bad_request(format!("`{name}` must have 1 to {LONGEST_KEY} bytes")))
        }
        // PostgreSQL keeps no text with it.
        Some(key) if key.contains('\0') => {
            Err(Failure::bad_request(format!("`{name}` must not contain NUL")))
        }
        _ => Ok(()),
    }
}

fn page(part: MessagePart, found: Option<Messages>) -> Result<MessagePage, Failure> {
    let Some(Messages { blocks, more, seq: last_seq }) = found else {
        let (MessagePart::After(id) | MessagePart::Before(id)) = part;
        let id = id.map(|id| id.0).unwrap_or_default();
        return Err(Failure::bad_request(format!(
            "there is no block `{}` to continue from",
            id.escape_debug()
        ))
        .hint("pass a cursor or the ID of a block; start over if that block was discarded"));
    };
    let id = |block: Option<&Block>| block.map(|block| block.id().to_string()).filter(|_| more);
    let (next_cursor, previous_cursor) = match part {
        MessagePart::After(_) => (id(blocks.last()), None),
        MessagePart::Before(_) => (None, id(blocks.first())),
    };
    Ok(MessagePage { blocks, next_cursor, previous_cursor, last_seq })
}
