//! The web page: files that were put into the program when it was built, and the headers that keep it safe.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::compress;

/// One file of the page.
struct File {
    /// Relative to the page's root.
    path: &'static str,
    /// Changes with its content.
    etag: &'static str,
    plain: &'static [u8],
    br: Option<&'static [u8]>,
    gz: Option<&'static [u8]>,
}

/// By path.
static FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Shown when the program was built without the page.
const ABSENT: &str = include_str!("page/absent.html");

/// What the page may do: run its own scripts, use its own styles, talk to this server, and show previews in frames, which
/// are on hosts of their own. `blob:` is what it made itself, as the picture of an artifact.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
     font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// Where previews are when nothing else was configured: hosts below `localhost`.
const LOCAL_FRAMES: &str = "http://*.localhost:*";

/// The page's document, the same for each of its addresses.
pub(crate) fn document(status: StatusCode, headers: &HeaderMap, frames: &[String]) -> Response {
    let mut response = match find("index.html") {
        Some(file) if status == StatusCode::OK => send(file, headers),
        Some(file) => {
            let mut response = send(file, &HeaderMap::new());
            *response.status_mut() = status;
            response
        }
        None => (status, Body::from(ABSENT)).into_response(),
    };
    let policy = format!("{POLICY}; frame-src {LOCAL_FRAMES} {}", frames.join(" "));
    let sent = response.headers_mut();
    sent.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    sent.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(policy) = HeaderValue::from_str(policy.trim()) {
        sent.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    sent.insert(
        "permissions-policy",
        HeaderValue::from_static("camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    );
    response
}

/// A script, style or picture of the page, if there is one of that name.
pub(crate) fn asset(name: &str, headers: &HeaderMap) -> Option<Response> {
    let file = find(&format!("assets/{name}"))?;
    let mut response = send(file, headers);
    // A name with a hash in it never means anything else.
    let kept = if has_hash(name) { "public, max-age=31536000, immutable" } else { "no-cache" };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(kept));
    Some(response)
}

/// Whether a request that no route answers is a browser looking for a place of the page.
pub(crate) fn is_visit<B>(request: &Request<B>) -> bool {
    let wishes = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let path = request.uri().path();
    matches!(*request.method(), Method::GET | Method::HEAD)
        && wishes.is_some_and(|wishes| wishes.contains("text/html"))
        && !["/api/", "/assets/", "/socket.io"].iter().any(|prefix| path.starts_with(prefix))
}

/// Places that the page knows; at others it says that there is nothing.
pub(crate) fn status_of(path: &str) -> StatusCode {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    match (parts.next(), parts.next(), parts.next()) {
        (None | Some("board" | "overview" | "doctor" | "settings"), None, _)
        | (Some("sessions"), Some(_), None) => StatusCode::OK,
        _ => StatusCode::NOT_FOUND,
    }
}

fn find(path: &str) -> Option<&'static File> {
    FILES.binary_search_by(|file| file.path.cmp(path)).ok().map(|place| &FILES[place])
}

fn send(file: &'static File, headers: &HeaderMap) -> Response {
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let is_known = known
        .is_some_and(|known| known.split(',').any(|etag| etag.trim().trim_start_matches("W/") == file.etag));
    let (bytes, encoding) = form(file, headers);
    let mut response =
        if is_known { StatusCode::NOT_MODIFIED.into_response() } else { Body::from(bytes).into_response() };
    let sent = response.headers_mut();
    sent.insert(header::ETAG, HeaderValue::from_static(file.etag));
    sent.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    if !is_known {
        sent.insert(header::CONTENT_TYPE, HeaderValue::from_static(media(file.path)));
        if let Some(encoding) = encoding {
            sent.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
    }
    response
}

/// The smallest form that the browser reads.
fn form(file: &File, headers: &HeaderMap) -> (&'static [u8], Option<&'static str>) {
    let reads = |encoding| compress::reads(headers, encoding);
    match (file.br, file.gz) {
        (Some(br), _) if reads("br") => (br, Some("br")),
        (_, Some(gz)) if reads("gzip") => (gz, Some("gzip")),
        _ => (file.plain, None),
    }
}

fn media(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        Some("wasm") => "application/wasm",
        Some("woff2") => "font/woff2",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
}

/// Whether a name ends as those that the page's build makes: `index-BACbF2Kc.css`.
fn has_hash(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let Some(from) = stem.len().checked_sub(8) else { return false };
    let Some((head, hash)) = stem.split_at_checked(from) else { return false };
    let is_hash = hash.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    head.ends_with('-')
        && is_hash
        && hash.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

#[cfg(test)]
mod tests;
