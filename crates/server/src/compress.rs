//! Long JSON answers, compressed for whoever reads gzip.
//!
//! Only answers to GET: those carry no secret that was just made beside words of the request. Streams, files (which
//! have an entity tag), short answers and what is compressed already go as they are.

use std::io::Write as _;

use axum::{
    body::{Body, HttpBody as _},
    http::{HeaderMap, HeaderValue, Method, header},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http_body_util::BodyExt as _;

use crate::failure::Failure;

/// Shorter answers fit into a packet as they are.
const SHORTEST: u64 = 1_024;

/// Longer ones are compressed on a thread where nobody waits for it.
const LONG: usize = 64 * 1_024;

/// Whether the client accepts gzip for `method` with these headers.
pub(crate) fn is_wanted(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::GET && reads(headers, "gzip")
}

/// Whether a client accepts an encoding.
pub(crate) fn reads(headers: &HeaderMap, encoding: &str) -> bool {
    let accepted =
        headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|one| {
        let mut parts = one.split(';').map(str::trim);
        parts.next() == Some(encoding) && parts.all(|part| part != "q=0")
    })
}

/// Compresses an answer if that is worth it.
pub(crate) async fn compressed(response: Response) -> Response {
    if !is_compressible(&response) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    head.headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    let bytes = match body.collect().await {
        Ok(bytes) => bytes.to_bytes(),
        Err(error) => return Failure::internal(error).into_response(),
    };
    let plain = bytes.clone();
    let made = if bytes.len() > LONG {
        tokio::task::spawn_blocking(move || gzip(&bytes)).await.unwrap_or_default()
    } else {
        gzip(&bytes)
    };
    let Some(made) = made else { return Response::from_parts(head, Body::from(plain)) };
    head.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    head.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(head, Body::from(made))
}

fn is_compressible(response: &Response) -> bool {
    let headers = response.headers();
    let is_json = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|media| media.split(';').next().is_some_and(|media| media.trim() == "application/json"));
    let is_bound = [header::CONTENT_ENCODING, header::CONTENT_RANGE, header::ETAG]
        .iter()
        .any(|name| headers.contains_key(name));
    let is_long = response.body().size_hint().exact().is_some_and(|length| length >= SHORTEST);
    response.status().is_success() && is_json && !is_bound && is_long
}

fn gzip(bytes: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use axum::{
        body::Body,
        http::{HeaderMap, HeaderValue, Method, StatusCode, header},
        response::Response,
    };
    use flate2::read::GzDecoder;
    use http_body_util::BodyExt as _;

    use super::{compressed, is_wanted};

    fn answer(media: &str, body: Body) -> Response {
        Response::builder().header(header::CONTENT_TYPE, media).body(body).expect("an answer")
    }

    fn headers(accepted: &str) -> HeaderMap {
        [(header::ACCEPT_ENCODING, HeaderValue::from_str(accepted).expect("a value"))].into_iter().collect()
    }

    #[test]
    fn only_answers_to_get_are_compressed_and_only_for_readers_of_gzip() {
        assert!(is_wanted(&Method::GET, &headers("br, gzip;q=0.5")));
        assert!(!is_wanted(&Method::POST, &headers("gzip")));
        assert!(!is_wanted(&Method::GET, &headers("gzip;q=0, br")));
        assert!(!is_wanted(&Method::GET, &HeaderMap::new()));
    }

    #[tokio::test]
    async fn long_json_is_compressed_and_reads_back_the_same() {
        for length in [2_000, 200_000] {
            let text = format!("[{}1]", "1,".repeat(length / 2));
            let sent = compressed(answer("application/json", Body::from(text.clone()))).await;
            assert_eq!(sent.headers()[header::CONTENT_ENCODING], "gzip");
            assert_eq!(sent.headers()[header::VARY], "Accept-Encoding");
            let bytes = sent.into_body().collect().await.expect("a body").to_bytes();
            assert!(bytes.len() < text.len() / 10, "{} of {}", bytes.len(), text.len());
            let mut read = String::new();
            GzDecoder::new(&bytes[..]).read_to_string(&mut read).expect("gzip");
            assert_eq!(read, text);
        }
    }

    #[tokio::test]
    async fn streams_files_failures_and_short_answers_go_as_they_are() {
        let long = || Body::from("1".repeat(5_000));
        let stream = Body::from_stream(futures::stream::iter([Ok::<_, std::io::Error>("1".repeat(5_000))]));
        let mut file = answer("application/json", long());
        file.headers_mut().insert(header::ETAG, HeaderValue::from_static("\"a\""));
        let mut failed = answer("application/json", long());
        *failed.status_mut() = StatusCode::BAD_REQUEST;
        for plain in [
            answer("application/json", Body::from("1".repeat(500))),
            answer("application/json", stream),
            answer("text/event-stream", long()),
            answer("application/gzip", long()),
            file,
            failed,
        ] {
            let sent = compressed(plain).await;
            assert!(!sent.headers().contains_key(header::CONTENT_ENCODING), "{sent:?}");
        }
    }
}
