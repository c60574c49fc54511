//! Reading logs: a part of one, or followed as it grows; and news about the list of sessions.

use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use warren_domain::{ErrorCode, Seq, SessionId};
use warren_runtime::api::{LogEntry, SessionError};
use warren_wire::Media;

use crate::{
    choke::Call,
    failure::Failure,
    respond::{self, Answer},
    sse::{self, LogSource, NewsSource},
};

/// Entries in one part, unless the client says otherwise.
const DEFAULT_LIMIT: u64 = 1000;
/// A part ends early when it has about this many bytes: entries may be long, and memory is shared.
const ENOUGH_BYTES: u64 = 8 * 1024 * 1024;
/// Entries asked of the store at first, before it is known how long they are.
const FIRST_BATCH: u64 = 64;
/// Entries asked of the store at once.
const LARGEST_BATCH: u64 = 1024;

pub(crate) async fn read(call: Call) -> Answer {
    let session = call.session()?;
    if call.media() == Media::EventStream {
        let after = resume_after(&call)?;
        let (_, head) = call.runtime().records().events_read(session, after, 0, None).await?;
        check_reached(after, head)?;
        let follow = call.runtime().records().events_follow(session, after).await?;
        return Ok(sse::stream(LogSource(follow), call.cancel()));
    }
    let after = Seq(call.query().number("after").unwrap_or(0));
    let cancel = call.cancel();
    match cancel.run_until_cancelled(part(&call, session, after)).await {
        Some(part) => {
            let part = part?;
            check_reached(after, part.head)?;
            Ok(respond::raw_json(part.to_json()))
        }
        None => Err(Failure::new(ErrorCode::Unavailable, "the server is shutting down")),
    }
}

pub(crate) async fn changes(call: Call) -> Answer {
    let identity = call.identity()?.clone();
    let source = NewsSource::new(call.app().clone(), identity, call.runtime().records().changes());
    Ok(sse::stream(source, call.cancel()))
}

/// A part of a log.
pub(super) struct Part {
    pub(super) entries: Vec<LogEntry>,
    /// The position after which the next part starts.
    pub(super) last: Seq,
    pub(super) head: Seq,
}

async fn part(call: &Call, session: SessionId, after: Seq) -> Result<Part, SessionError> {
    let records = call.runtime().records();
    let limit = call.query().number("limit").unwrap_or(DEFAULT_LIMIT);
    let wait = call.query().number("wait").filter(|_| limit > 0).map(Duration::from_secs);
    let mut part = Part { entries: Vec::new(), last: after, head: after };
    let mut n_bytes = 0;
    loop {
        let asked = batch_size(part.entries.len() as u64, n_bytes).min(limit - part.entries.len() as u64);
        let wait = wait.filter(|_| part.entries.is_empty());
        let (batch, head) =
            records.events_read(session, part.last, u32::try_from(asked).unwrap_or(u32::MAX), wait).await?;
        let n_read = batch.len() as u64;
        n_bytes += batch.iter().map(|entry| entry.json.len() as u64).sum::<u64>();
        part.last = batch.last().map_or(part.last, |entry| entry.seq);
        part.head = head;
        part.entries.extend(batch);
        let is_full = part.entries.len() as u64 >= limit || n_bytes >= ENOUGH_BYTES;
        if is_full || n_read < asked {
            return Ok(part);
        }
    }
}

/// How many entries to ask for next: about as many as there is room for, if they are as long as those before.
fn batch_size(n_entries: u64, n_bytes: u64) -> u64 {
    if n_entries == 0 {
        return FIRST_BATCH;
    }
    let average = (n_bytes / n_entries).max(1);
    (ENOUGH_BYTES.saturating_sub(n_bytes) / average).clamp(1, LARGEST_BATCH)
}

impl Part {
    /// Joins the stored bytes; nothing is parsed or written anew.
    pub(super) fn to_json(&self) -> Bytes {
        let n_bytes: usize = self.entries.iter().map(|entry| entry.json.len() + 1).sum();
        let mut json = BytesMut::with_capacity(n_bytes + 64);
        json.put_slice(b"{\"events\":[");
        for (index, entry) in self.entries.iter().enumerate() {
            if index > 0 {
                json.put_u8(b',');
            }
            json.put_slice(&entry.json);
        }
        json.put_slice(format!("],\"lastSeq\":{},\"head\":{}}}", self.last, self.head).as_bytes());
        json.freeze()
    }
}

/// Nobody can have seen what is not written yet: such a number belongs to another log, and waiting for it would be
/// waiting in silence.
pub(crate) fn check_reached(after: Seq, head: Seq) -> Result<(), Failure> {
    if after <= head {
        return Ok(());
    }
    Err(Failure::bad_request(format!("`after` is {after}, but the log ends at {head}"))
        .hint("read it from the beginning: `after=0`"))
}

/// A browser that comes back says where it was in `Last-Event-ID`, and repeats the address it began with.
pub(super) fn resume_after(call: &Call) -> Result<Seq, Failure> {
    match call.header("last-event-id") {
        Some(text) => text.trim().parse().map(Seq).map_err(|_| {
            Failure::bad_request(format!(
                "`Last-Event-ID` is `{}`, which is not a number",
                text.escape_debug()
            ))
        }),
        None => Ok(Seq(call.query().number("after").unwrap_or(0))),
    }
}

#[cfg(test)]
mod tests {
    use super::{ENOUGH_BYTES, FIRST_BATCH, LARGEST_BATCH, Part, batch_size};
    use bytes::Bytes;
    use warren_domain::Seq;
    use warren_runtime::api::LogEntry;

    #[test]
    fn a_part_is_the_stored_bytes_and_two_numbers() {
        let entry =
            |seq, json: &'static str| LogEntry { seq: Seq(seq), json: Bytes::from_static(json.as_bytes()) };
        let part = Part { entries: vec![entry(1, "{\"a\": 1}"), entry(2, "{}")], last: Seq(2), head: Seq(9) };
        assert_eq!(part.to_json(), "{\"events\":[{\"a\": 1},{}],\"lastSeq\":2,\"head\":9}");
        let empty = Part { entries: Vec::new(), last: Seq(5), head: Seq(5) };
        assert_eq!(empty.to_json(), "{\"events\":[],\"lastSeq\":5,\"head\":5}");
    }

    #[test]
    fn short_entries_are_read_in_few_batches_and_long_ones_do_not_fill_the_memory() {
        assert_eq!(batch_size(0, 0), FIRST_BATCH);
        assert_eq!(batch_size(64, 64 * 300), LARGEST_BATCH);
        assert_eq!(batch_size(64, 64 * 100_000), (ENOUGH_BYTES - 6_400_000) / 100_000);
        assert_eq!(batch_size(64, 64 * 250_000), 1);
    }
}
