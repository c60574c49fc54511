//! Answers.

mod pieces;

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use serde::Serialize;

use crate::failure::Failure;

pub(crate) use pieces::{file, not_modified, zipped};

/// The result of a handler.
pub(crate) type Answer = Result<Response, Failure>;

/// A value as JSON.
pub(crate) fn json<T: Serialize>(status: StatusCode, value: &T) -> Answer {
    let bytes = serde_json::to_vec(value).map_err(Failure::internal)?;
    Ok(bytes_of(status, "application/json", Bytes::from(bytes)))
}

/// A value as JSON, with status 200.
pub(crate) fn ok<T: Serialize>(value: &T) -> Answer {
    json(StatusCode::OK, value)
}

/// Bytes that are JSON already.
pub(crate) fn raw_json(bytes: Bytes) -> Response {
    bytes_of(StatusCode::OK, "application/json", bytes)
}

/// Bytes of some type.
pub(crate) fn bytes_of(status: StatusCode, media: &'static str, bytes: Bytes) -> Response {
    (status, [(header::CONTENT_TYPE, HeaderValue::from_static(media))], Body::from(bytes)).into_response()
}

/// Done, and nothing to say.
pub(crate) fn nothing() -> Answer {
    Ok(StatusCode::NO_CONTENT.into_response())
}
