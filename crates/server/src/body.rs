//! Reading JSON bodies: bounded, timed, and with the place of every mistake.

use std::{io, time::Duration};

use axum::{
    body::Body,
    http::{HeaderMap, header},
};
use bytes::Bytes;
use futures::{StreamExt as _, stream::BoxStream};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use warren_domain::ErrorCode;
use warren_wire::At;

use crate::failure::Failure;

/// A client that sends its body more slowly than this is not waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// A body as it comes.
pub(crate) type ByteStream = BoxStream<'static, io::Result<Bytes>>;

/// The whole body.
pub(crate) async fn read(headers: &HeaderMap, body: Body, limit: usize) -> Result<Bytes, Failure> {
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: usize| length > limit) {
        return Err(too_large(limit));
    }
    let collected = tokio::time::timeout(PATIENCE, Limited::new(body, limit).collect()).await;
    match collected {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(limit)),
        Ok(Err(_)) => Err(Failure::bad_request("the request body was interrupted")),
        Err(_) => {
            Err(Failure::bad_request(format!("the body did not arrive within {} s", PATIENCE.as_secs())))
        }
    }
}

/// The body as it comes: bounded, and given up when nothing comes any more.
pub(crate) fn stream(headers: &HeaderMap, body: Body, limit: usize) -> Result<ByteStream, Failure> {
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: usize| length > limit) {
        return Err(too_large(limit));
    }
    let pieces =
        futures::stream::try_unfold((body.into_data_stream(), 0), move |(mut pieces, before)| async move {
            let broken = |what: String| io::Error::new(io::ErrorKind::UnexpectedEof, what);
            let next = tokio::time::timeout(PATIENCE, pieces.next()).await;
            let next = next.map_err(|_| broken(format!("nothing came for {} s", PATIENCE.as_secs())))?;
            let Some(piece) =
                next.transpose().map_err(|_| broken("the request body was interrupted".to_owned()))?
            else {
                return Ok(None);
            };
            let length = before + piece.len();
            if length > limit {
                let what = format!("the body is larger than {limit} bytes");
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
            }
            Ok(Some((piece, (pieces, length))))
        });
    Ok(Box::pin(pieces))
}

/// The value in a body that must be JSON.
pub(crate) fn parse<T: DeserializeOwned>(headers: &HeaderMap, bytes: &[u8]) -> Result<T, Failure> {
    if !is_json(headers) {
        return Err(Failure::new(ErrorCode::UnsupportedMediaType, "the body must be JSON")
            .hint("send `Content-Type: application/json`"));
    }
    // A list of values in the order of the fields would pass for an object; no route takes one.
    if bytes.trim_ascii_start().starts_with(b"[") {
        return Err(Failure::bad_request("the body must be a JSON object, not an array"));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        mistake(error.inner(), Some(path).filter(|path| path != "."))
    })?;
    deserializer.end().map_err(|error| mistake(&error, None))?;
    Ok(value)
}

fn mistake(error: &serde_json::Error, path: Option<String>) -> Failure {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let what = text.strip_suffix(&place).unwrap_or(&text);
    let field = if error.is_data() { path } else { None };
    let detail = match &field {
        Some(field) => format!("`{field}`: {what} (line {}, column {})", error.line(), error.column()),
        None if error.is_data() => format!("{what} (line {}, column {})", error.line(), error.column()),
        None => format!("the body is not JSON: {what} (line {}, column {})", error.line(), error.column()),
    };
    Failure::bad_request(detail).at(At { field, line: error.line(), column: error.column() })
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

fn too_large(limit: usize) -> Failure {
    Failure::new(ErrorCode::TooLarge, format!("the body is larger than {limit} bytes"))
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::failure::Told;
    use axum::http::{HeaderMap, HeaderValue, header};
    use warren_domain::ErrorCode;
    use warren_wire::{At, MessageSend, SessionCreate};

    fn json() -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
        headers
    }

    #[track_caller]
    fn check<T: serde::de::DeserializeOwned>(body: &[u8], detail: &str, field: Option<&str>) {
        let Err(failure) = parse::<T>(&json(), body) else { panic!("it was accepted") };
        let problem = failure.tell(&Told { request_id: "", path: "" });
        assert_eq!(problem.detail, detail);
        assert_eq!(problem.at.and_then(|at: At| at.field).as_deref(), field);
    }

    #[test]
    fn a_mistake_is_told_with_its_place_and_its_field() {
        check::<SessionCreate>(
            b"{\"name\": 5}",
            "`name`: invalid type: integer `5`, expected a string (line 1, column 10)",
            Some("name"),
        );
        check::<SessionCreate>(
            b"{\"options\":\n {\"model\": []}}",
            "`options.model`: invalid type: sequence, expected a string (line 2, column 11)",
            Some("options.model"),
        );
        check::<MessageSend>(b"{}", "missing field `content` (line 1, column 2)", None);
    }

    #[test]
    fn what_is_not_json_is_told_where_it_stops_being_json() {
        check::<SessionCreate>(
            b"{\"name\": ",
            "the body is not JSON: EOF while parsing a value (line 1, column 9)",
            None,
        );
        check::<SessionCreate>(
            b"{} {}",
            "the body is not JSON: trailing characters (line 1, column 4)",
            None,
        );
        check::<SessionCreate>(
            b"{\"name\": \"\xff\xfe\"}",
            "the body is not JSON: invalid unicode code point (line 1, column 11)",
            None,
        );
    }

    #[test]
    fn array_is_refused_where_an_object_is_expected() {
        for body in [&b"[]"[..], b" [\"claude-code\"]", b"\n[{}]"] {
            check::<SessionCreate>(body, "the body must be a JSON object, not an array", None);
        }
    }

    #[test]
    fn an_unknown_field_is_refused_by_name() {
        let Err(failure) = parse::<SessionCreate>(&json(), b"{\"nmae\": \"x\"}") else { panic!("accepted") };
        let problem = failure.tell(&Told { request_id: "", path: "" });
        assert!(
            problem.detail.contains("unknown field `nmae`, expected one of `type`"),
            "{}",
            problem.detail
        );
    }

    #[test]
    fn only_json_is_read_as_json() {
        for wrong in ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"] {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(wrong));
            let Err(failure) = parse::<SessionCreate>(&headers, b"{}") else { panic!("{wrong}") };
            assert_eq!(failure.code, ErrorCode::UnsupportedMediaType);
        }
    }
}
