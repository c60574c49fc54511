//! Answers that are long: files, in whole or in part, and archives.

use std::{io::Write as _, ops::Range};

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use futures::stream;
use warren_runtime::api::{Pieces, SessionError, TreeFile};

use crate::{failure::Failure, respond::Answer};

/// Which bytes a client wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ranged {
    /// All: it did not say, or in a way that may be passed over.
    Whole,
    /// These.
    Part(Range<u64>),
    /// Some that are not there.
    Outside,
}

/// Reads a `Range` header. Several ranges at once are passed over, as HTTP allows.
pub(crate) fn range(header: Option<&str>, size: u64) -> Ranged {
    let Some(range) = header.and_then(|text| text.trim().strip_prefix("bytes=")) else {
        return Ranged::Whole;
    };
    let Some((first, last)) = range.split_once('-') else { return Ranged::Whole };
    let number = |text: &str| text.trim().parse::<u64>();
    let wanted = match (number(first), number(last)) {
        (Ok(first), Ok(last)) if first <= last => first..last.saturating_add(1).min(size),
        (Ok(first), Err(_)) if last.trim().is_empty() => first..size,
        (Err(_), Ok(n_last)) if first.trim().is_empty() && n_last > 0 => size.saturating_sub(n_last)..size,
        (Err(_), Ok(_)) if first.trim().is_empty() => return Ranged::Outside,
        _ => return Ranged::Whole,
    };
    if wanted.start >= size { Ranged::Outside } else { Ranged::Part(wanted) }
}

/// A file, always as a download: an agent wrote it, and it must not run as a page of ours.
pub(crate) fn file(status: StatusCode, file: TreeFile, tag: &str) -> Answer {
    let Range { start, end } = file.range;
    let body = Body::from_stream(stream::unfold(Some(file.pieces), next));
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(header::ETAG, HeaderValue::from_str(tag).map_err(Failure::internal)?);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(end - start));
    if status == StatusCode::PARTIAL_CONTENT {
        let range = format!("bytes {start}-{}/{}", end.saturating_sub(1), file.size_bytes);
        headers.insert(header::CONTENT_RANGE, HeaderValue::from_str(&range).map_err(Failure::internal)?);
    }
    Ok(response)
}

/// The client has it already.
pub(crate) fn not_modified(tag: &str) -> Answer {
    let mut response = StatusCode::NOT_MODIFIED.into_response();
    response.headers_mut().insert(header::ETAG, HeaderValue::from_str(tag).map_err(Failure::internal)?);
    Ok(response)
}

/// There are no such bytes.
pub(crate) fn no_such_range(size: u64) -> Response {
    let mut response = StatusCode::RANGE_NOT_SATISFIABLE.into_response();
    if let Ok(range) = HeaderValue::from_str(&format!("bytes */{size}")) {
        response.headers_mut().insert(header::CONTENT_RANGE, range);
    }
    response
}

/// Pieces, compressed on their way.
pub(crate) fn zipped(pieces: Box<dyn Pieces>) -> Response {
    let encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let body = Body::from_stream(stream::unfold(Some((pieces, encoder)), zip));
    let gzip = HeaderValue::from_static("application/gzip");
    (StatusCode::OK, [(header::CONTENT_TYPE, gzip)], body).into_response()
}

type Open = Option<Box<dyn Pieces>>;

/// A body that breaks off is one the client knows to be cut.
async fn next(pieces: Open) -> Option<(Result<Bytes, SessionError>, Open)> {
    let mut pieces = pieces?;
    match pieces.next().await {
        Ok(piece) => piece.map(|piece| (Ok(piece), Some(pieces))),
        Err(error) => Some((Err(logged(error)), None)),
    }
}

type Zipping = Option<(Box<dyn Pieces>, GzEncoder<Vec<u8>>)>;

async fn zip(zipping: Zipping) -> Option<(Result<Bytes, SessionError>, Zipping)> {
    let (mut pieces, mut encoder) = zipping?;
    loop {
        match pieces.next().await {
            Err(error) => return Some((Err(logged(error)), None)),
            Ok(None) => {
                // Writing to memory cannot fail.
                let rest = encoder.finish().unwrap_or_default();
                return Some((Ok(Bytes::from(rest)), None));
            }
            Ok(Some(piece)) => {
                let _ = encoder.write_all(&piece);
                let done = std::mem::take(encoder.get_mut());
                if !done.is_empty() {
                    return Some((Ok(Bytes::from(done)), Some((pieces, encoder))));
                }
            }
        }
    }
}

fn logged(error: SessionError) -> SessionError {
    tracing::error!(error = &error as &dyn std::error::Error, "a download breaks off");
    error
}

#[cfg(test)]
mod tests {
    use super::{Ranged, range};

    #[test]
    fn ranges_are_read_as_http_says() {
        let check =
            |header: &str, expected: Ranged| assert_eq!(range(Some(header), 100), expected, "{header}");
        check("bytes=0-9", Ranged::Part(0..10));
        check("bytes=90-", Ranged::Part(90..100));
        check("bytes=-5", Ranged::Part(95..100));
        check("bytes=-500", Ranged::Part(0..100));
        check("bytes=50-1000", Ranged::Part(50..100));
        check("bytes=100-", Ranged::Outside);
        check("bytes=-0", Ranged::Outside);
        check("bytes=9-1", Ranged::Whole);
        check("bytes=0-1,5-6", Ranged::Whole);
        check("lines=0-1", Ranged::Whole);
        assert_eq!(range(None, 100), Ranged::Whole);
    }
}
