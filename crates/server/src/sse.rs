//! Server-sent events. The bytes of an entry go out as they were stored: serialised once, whoever reads them.

mod packets;
mod source;

use std::{convert::Infallible, fmt::Write, time::Duration};

use axum::{
    body::Body,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use bytes::{BufMut, Bytes, BytesMut};
use futures::{StreamExt, stream};
use tokio_util::sync::CancellationToken;
use warren_runtime::api::LogEntry;

pub(crate) use packets::PacketSource;
pub(crate) use source::{LogSource, NewsSource, RunSource, Source, TapeSource};

/// After this much silence a comment is sent, so that proxies and clients know the stream is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Browsers come back this many milliseconds after a stream broke off.
const OPENING: &str = "retry: 1000\n\n";
/// Up to this length copying an entry costs less than sending it as a piece of its own.
const COPIED: usize = 2048;

/// Lines of a stream, ready to be sent.
#[derive(Default)]
pub(crate) struct Frames {
    done: Vec<Bytes>,
    small: BytesMut,
}

impl Frames {
    /// Adds an entry: its number as `id:`, its JSON as `data:`. There is no `event:` line, so that `onmessage` sees it.
    pub(crate) fn entry(&mut self, entry: &LogEntry) {
        // Writing to a buffer that grows cannot fail.
        let _ = writeln!(self.small, "id: {}", entry.seq);
        self.data(&entry.json);
    }

    /// Adds data without a number.
    pub(crate) fn data(&mut self, json: &Bytes) {
        self.small.put_slice(b"data: ");
        if json.len() > COPIED && !json.iter().any(|byte| is_line_end(*byte)) {
            self.done.push(self.small.split().freeze());
            self.done.push(json.clone());
        } else {
            self.lines(json);
        }
        self.small.put_slice(b"\n\n");
    }

    /// Adds data as an event named `message`, as some clients want it said.
    pub(crate) fn message(&mut self, json: &Bytes) {
        self.small.put_slice(b"event: message\n");
        self.data(json);
    }

    /// Everything added so far.
    pub(crate) fn take(&mut self) -> Vec<Bytes> {
        if !self.small.is_empty() {
            self.done.push(self.small.split().freeze());
        }
        std::mem::take(&mut self.done)
    }

    /// A line end inside the data would end it early: each line gets a `data:` of its own, and the reader joins them.
    fn lines(&mut self, json: &[u8]) {
        for (index, line) in json.split(|byte| is_line_end(*byte)).enumerate() {
            if index > 0 {
                self.small.put_slice(b"\ndata: ");
            }
            self.small.put_slice(line);
        }
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// A stream of whatever `source` has, until it ends or the server stops.
///
/// A slow reader holds one batch and no more: the next is asked for when this one was sent.
pub(crate) fn stream<S: Source>(source: S, cancel: CancellationToken) -> Response {
    let feed = Feed { source, cancel, is_open: false, _counted: Counted::new() };
    let batches = stream::unfold(feed, |mut feed| async move {
        let batch = feed.next().await?;
        Some((stream::iter(batch.into_iter().map(Ok::<_, Infallible>)), feed))
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // Some proxies gather a stream before they pass it on.
        (header::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, Body::from_stream(batches.flatten())).into_response()
}

struct Feed<S> {
    source: S,
    cancel: CancellationToken,
    is_open: bool,
    _counted: Counted,
}

/// One more open stream in the figures, for as long as it lives.
struct Counted(metrics::Gauge);

impl Counted {
    fn new() -> Self {
        let open = metrics::gauge!("warren_http_streams_open");
        open.increment(1.0);
        Self(open)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

impl<S: Source> Feed<S> {
    async fn next(&mut self) -> Option<Vec<Bytes>> {
        if !self.is_open {
            self.is_open = true;
            return Some(vec![Bytes::from_static(OPENING.as_bytes())]);
        }
        // Every head is cancel-safe: what a source has not given out it gives out next time.
        tokio::select! {
            () = self.cancel.cancelled() => None,
            batch = self.source.next() => batch,
            () = tokio::time::sleep(KEEP_ALIVE) => Some(vec![Bytes::from_static(b": keep-alive\n\n")]),
        }
    }
}

#[cfg(test)]
mod tests;
