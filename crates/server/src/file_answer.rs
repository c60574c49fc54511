//! A file as an answer: parts of it, its state, its type, and nothing that could act in the page's name.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use warren_domain::{ErrorCode, SessionId};
use warren_runtime::api::{Converted, FileContent, FileEntry, FileKind, FilePart, Runtime};

use crate::{failure::Failure, respond::Answer};

/// Policy that keeps a file shown by a browser from acting as a page of ours.
const HARMLESS: &str =
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'";

/// Names the program that converted a document.
pub(crate) const CONVERTER: HeaderName = HeaderName::from_static("x-warren-converter");

/// How often a file is looked at that is another each time it is read. Then all of it is the answer, as it is when it is
/// opened: that is right whatever part was asked for.
const LOOKS: usize = 4;

/// The audience of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The page's own origin: whatever it is, it must not run there.
    OnOurOrigin,
    /// A host of its own, on which it may do what it likes.
    OnItsOwn,
}

/// Answers with a file of a session, or the part that is asked for.
pub(crate) async fn answer(
    runtime: &dyn Runtime,
    session: SessionId,
    path: &str,
    headers: &HeaderMap,
    shown: Shown,
) -> Answer {
    for _ in 0..LOOKS {
        let entry = runtime.files().file_stat(session, path).await?;
        if entry.kind != FileKind::File {
            return Err(Failure::bad_request(format!("`{}` is not a regular file", entry.path)));
        }
        let tag = etag(&entry);
        if is_known(headers, &tag) {
            let mut response = StatusCode::NOT_MODIFIED.into_response();
            describe(response.headers_mut(), &entry, &tag, shown);
            return Ok(response);
        }
        match wanted(headers, &tag, entry.size_bytes) {
            None => break,
            Some(Range::Beyond) => return Ok(beyond(entry.size_bytes)),
            Some(Range::Part { first, last }) => {
                let part = FilePart { offset: first, len: Some(last - first + 1) };
                let content = runtime.files().file_read(session, path, part).await?;
                // Else another took its place meanwhile, and this is not the part that was asked for.
                if content.entry.tag() == entry.tag() {
                    return Ok(partial(content, first, last, shown));
                }
            }
        }
    }
    whole(runtime, session, path, shown).await
}

fn partial(content: FileContent, first: u64, last: u64, shown: Shown) -> Response {
    let entry = content.entry;
    let mut response = Body::from_stream(content.bytes).into_response();
    *response.status_mut() = StatusCode::PARTIAL_CONTENT;
    let headers = response.headers_mut();
    describe(headers, &entry, &etag(&entry), shown);
    put(headers, header::CONTENT_RANGE, &format!("bytes {first}-{last}/{}", entry.size_bytes));
    put(headers, header::CONTENT_LENGTH, &(last - first + 1).to_string());
    response
}

async fn whole(runtime: &dyn Runtime, session: SessionId, path: &str, shown: Shown) -> Answer {
    let content = runtime.files().file_read(session, path, FilePart::default()).await?;
    // As it was when it was opened, which may be later than when it was looked at.
    let entry = content.entry;
    // It may grow while it is sent; what was promised is what is sent.
    let part = FilePart { offset: 0, len: Some(entry.size_bytes) };
    let bytes = limited(content.bytes, part.len.unwrap_or_default());
    let mut response = Body::from_stream(bytes).into_response();
    describe(response.headers_mut(), &entry, &etag(&entry), shown);
    put(response.headers_mut(), header::CONTENT_LENGTH, &entry.size_bytes.to_string());
    Ok(response)
}

/// Answers with a document that was converted. The same document converted by the same program has the same `ETag`.
pub(crate) fn converted(Converted { content, by }: Converted, headers: &HeaderMap) -> Answer {
    let entry = content.entry;
    let tag = entry.hash.as_ref().map_or_else(|| etag(&entry), |hash| format!("\"{hash}\""));
    let is_known = is_known(headers, &tag);
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Body::from_stream(content.bytes).into_response()
    };
    let headers = response.headers_mut();
    describe(headers, &entry, &tag, Shown::OnOurOrigin);
    // It is made as a whole, and read as one.
    headers.remove(header::ACCEPT_RANGES);
    put(headers, CONVERTER, &by);
    if !is_known {
        put(headers, header::CONTENT_LENGTH, &entry.size_bytes.to_string());
    }
    Ok(response)
}

/// The first `left` bytes of a stream.
fn limited<S, E>(stream: S, left: u64) -> impl futures::Stream<Item = Result<bytes::Bytes, E>> + Send
where
    S: futures::Stream<Item = Result<bytes::Bytes, E>> + Send + Unpin,
    E: Send,
{
    futures::stream::try_unfold((stream, left), |(mut stream, left)| async move {
        use futures::TryStreamExt as _;
        if left == 0 {
            return Ok(None);
        }
        let piece = stream.try_next().await?;
        Ok(piece.map(|mut piece: bytes::Bytes| {
            piece.truncate(usize::try_from(left).unwrap_or(usize::MAX));
            let left = left - piece.len() as u64;
            (piece, (stream, left))
        }))
    })
}

/// Whether the client already has this state of the file.
pub(crate) fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    text(headers, header::IF_NONE_MATCH).is_some_and(|known| names(known, tag))
}

/// The part that the client wants, if not all of it: of a file that changed since it got the others, all.
pub(crate) fn wanted(headers: &HeaderMap, tag: &str, size: u64) -> Option<Range> {
    let is_same = text(headers, header::IF_RANGE).is_none_or(|known| known == tag);
    text(headers, header::RANGE).filter(|_| is_same).and_then(|range| Range::parse(range, size))
}

/// There are no such bytes.
pub(crate) fn beyond(size: u64) -> Response {
    let mut response =
        Failure::new(ErrorCode::RangeNotSatisfiable, format!("the file has {size} bytes")).into_response();
    put(response.headers_mut(), header::CONTENT_RANGE, &format!("bytes */{size}"));
    response
}

fn describe(headers: &mut HeaderMap, entry: &FileEntry, tag: &str, shown: Shown) {
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(shown_as(media_type(&entry.path), shown)));
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    put(headers, header::ETAG, tag);
    if shown == Shown::OnOurOrigin {
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(HARMLESS));
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
    }
}

/// The state of a file, as `ETag` writes it.
pub(crate) fn etag(entry: &FileEntry) -> String {
    format!("\"{}\"", entry.tag().0)
}

fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    // Numbers and hashes are always legal.
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Whether a list of states names this one.
fn names(list: &str, tag: &str) -> bool {
    list.split(',').map(str::trim).any(|one| one == "*" || one.trim_start_matches("W/") == tag)
}

/// The part of a file that is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Range {
    Part { first: u64, last: u64 },
    Beyond,
}

impl Range {
    /// One range of bytes. Anything else, also several ranges, is passed over: the whole file is a right answer to it.
    fn parse(text: &str, size: u64) -> Option<Self> {
        let (first, last) = text.strip_prefix("bytes=")?.split_once('-')?;
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let (first, last) = match (first.trim(), last.trim()) {
            ("", last) => {
                let n = number(last)?;
                (size.saturating_sub(n), if n == 0 { 0 } else { size.saturating_sub(1) })
            }
            (first, "") => (number(first)?, size.saturating_sub(1)),
            (first, last) => (number(first)?, number(last)?.min(size.saturating_sub(1))),
        };
        if first >= size || first > last {
            return Some(Range::Beyond);
        }
        Some(Range::Part { first, last })
    }
}

/// The media type that a file is sent with. On the page's origin a script or a style is text: browsers that are told not to
/// guess neither run nor apply it there, whoever makes the page ask for it.
fn shown_as(media: &'static str, shown: Shown) -> &'static str {
    match (media.split(';').next(), shown) {
        (Some("text/javascript" | "text/css"), Shown::OnOurOrigin) => "text/plain; charset=utf-8",
        _ => media,
    }
}

/// The media type of a file, by its name. What is not known is bytes.
pub(crate) fn media_type(path: &str) -> &'static str {
    let extension =
        path.rsplit('/').next().unwrap_or(path).rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension.to_ascii_lowercase().as_str() {
        "html" | "htm" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" | "map" => "application/json",
        "md" | "markdown" | "mdx" => "text/markdown; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        "txt" | "log" | "py" | "rs" | "go" | "ts" | "tsx" | "jsx" | "sh" | "sql" | "toml" | "yaml"
        | "yml" | "c" | "h" | "cpp" | "java" | "rb" | "r" | "tsv" | "jsonl" | "xml" => {
            "text/plain; charset=utf-8"
        }
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "svg" => "image/svg+xml",
        "ico" => "image/x-icon",
        "bmp" => "image/bmp",
        "pdf" => "application/pdf",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "wasm" => "application/wasm",
        "woff2" => "font/woff2",
        "woff" => "font/woff",
        "mp4" => "video/mp4",
        "mp3" => "audio/mpeg",
        "zip" => "application/zip",
        "gz" | "tgz" => "application/gzip",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::{Range, names};

    #[test]
    fn a_range_is_a_part_of_the_file_or_beyond_it_or_none() {
        for (text, expect) in [
            ("bytes=0-3", Some((0, 3))),
            ("bytes=2-", Some((2, 9))),
            ("bytes=-4", Some((6, 9))),
            ("bytes=-40", Some((0, 9))),
            ("bytes=5-500", Some((5, 9))),
            ("bytes=9-9", Some((9, 9))),
        ] {
            let part = expect.map(|(first, last)| Range::Part { first, last });
            assert_eq!(Range::parse(text, 10), part, "{text}");
        }
        for text in ["bytes=10-", "bytes=7-3", "bytes=-0", "bytes=99-100"] {
            assert_eq!(Range::parse(text, 10), Some(Range::Beyond), "{text}");
        }
        assert_eq!(Range::parse("bytes=0-", 0), Some(Range::Beyond));
        for text in ["", "bytes", "bytes=a-b", "bytes=0-1,3-4", "items=0-1", "bytes=-", "bytes=--1"] {
            assert_eq!(Range::parse(text, 10), None, "{text}");
        }
    }

    #[test]
    fn a_state_is_found_in_a_list_of_states() {
        assert!(names("\"a\", W/\"b\"", "\"b\"") && names("*", "\"x\""));
        assert!(!names("\"a\"", "\"b\"") && !names("", "\"b\""));
    }
}
