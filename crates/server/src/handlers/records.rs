//! Transcripts and blobs stored beside the log.

use axum::http::{HeaderValue, StatusCode, header};
use warren_domain::BlobHash;

use crate::{
    choke::Call,
    failure::Failure,
    respond::{self, Answer},
};

pub(crate) async fn transcript(call: Call) -> Answer {
    let thread = call.query().text("subagent").unwrap_or_default();
    let bytes = call.runtime().records().transcript(call.session()?, thread).await?;
    Ok(respond::bytes_of(StatusCode::OK, "text/plain; charset=utf-8", bytes))
}

/// Always a download: what is in a blob was written by an agent, and must not run as a page of ours.
pub(crate) async fn blob(call: Call) -> Answer {
    let text = call.parameter("hash");
    let is_hash = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !is_hash {
        return Err(Failure::not_found("blob", text.escape_debug()));
    }
    let hash = BlobHash::from(text);
    let bytes = call.runtime().records().blob(call.session()?, &hash).await?;
    let mut response = respond::bytes_of(StatusCode::OK, "application/octet-stream", bytes);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    let forever = HeaderValue::from_static("private, max-age=31536000, immutable");
    headers.insert(header::CACHE_CONTROL, forever);
    Ok(response)
}
