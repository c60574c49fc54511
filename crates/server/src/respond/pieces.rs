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
