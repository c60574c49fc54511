//! Previews: what a session serves, on host names of their own.
//!
//! In: a request that the choke point let in. Out: what listens in the sandbox answered, or a file, or a page that says
//! why there is nothing to see. Nothing of the page's goes in: no cookie of ours, no `Authorization`.

mod grants;
mod headers;
mod open;
mod pages;
mod policy;
mod proxy;

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};
use warren_domain::ErrorCode;
use warren_gateway::Validity;
use warren_runtime::api::{Behind, Dialled, FileKind, PreviewHost, SessionError};

pub(crate) use grants::{Grants, cookie_of};
pub(crate) use open::{Links, open};
pub(crate) use policy::keep_in;

use grants::PREVIEW_COOKIE;

use crate::{
    deps::App,
    failure::Failure,
    file_answer::{self, Shown},
    respond::Answer,
};

/// The path where a grant is redeemed.
pub(crate) const ENTER: &str = "/__warren/enter";

/// The path of a preview link, which redirects to a grant for its host.
pub(crate) const OPEN: &str = "/__warren/open";

/// The path that restarts an app that has exited.
const RESTART: &str = "/__warren/restart";

/// A request for a preview that was let in. Only the choke point makes one.
pub(crate) struct Visit {
    pub(crate) app: App,
    pub(crate) host: PreviewHost,
    /// Whether whoever looks may also change things, and so have them started.
    pub(crate) may_write: bool,
    /// Held by everything that must end with the token.
    pub(crate) validity: Validity,
    /// What the browser said. The rest of the request is beside this: it can be passed on once.
    pub(crate) headers: HeaderMap,
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
}

/// Answers a request for a preview.
pub(crate) async fn answer(visit: Visit, request: Request) -> Response {
    if let Err(failure) = same_origin(&visit).and_then(|()| may_ask(&visit)) {
        return pages::refused(&failure);
    }
    match visit.host.behind {
        Behind::Files => files(&visit).await,
        Behind::Port(port) => port_answer(visit, request, port).await,
    }
}

/// Puts the cookie into the browser and leads it to what it came for. In a frame of the page the cookie is another
/// site's, so it must say that it may be; where browsers do not allow that, a preview opens in a tab of its own.
pub(crate) fn welcome(pass: &str, path: &str, is_trustworthy: bool) -> Answer {
    let manner = if is_trustworthy { "SameSite=None; Secure; Partitioned" } else { "SameSite=Lax" };
    let cookie = format!("{PREVIEW_COOKIE}={pass}; Path=/; Max-Age=43200; HttpOnly; {manner}");
    let mut response = lead(&format!("/{}", warren_runtime::api::encoded_path(path)))?;
    let mut cookie = HeaderValue::from_str(&cookie).map_err(Failure::internal)?;
    cookie.set_sensitive(true);
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

/// Leads a browser on, and tells nobody where it came from.
pub(crate) fn lead(to: &str) -> Answer {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, HeaderValue::from_str(to).map_err(Failure::internal)?);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    Ok(response)
}

/// The response without a valid grant.
pub(crate) fn closed(failure: &Failure) -> Response {
    pages::refused(failure)
}

/// A page of another origin can make a browser send what changes something, or open a socket. It is not answered.
fn same_origin(visit: &Visit) -> Result<(), Failure> {
    let headers = &visit.headers;
    let is_plain = visit.method.is_safe() && !headers.contains_key(header::UPGRADE);
    let own = visit.app.deps.options.previews.as_ref().map(|hosts| hosts.origin(visit.host));
    let origin = headers.get(header::ORIGIN).map(|value| value.to_str().unwrap_or("null"));
    if is_plain || origin.is_none() || origin == own.as_deref() {
        return Ok(());
    }
    Err(Failure::new(ErrorCode::Forbidden, "the request comes from a page of another origin"))
}

/// Refuses writes to an app with a read-only token.
fn may_ask(visit: &Visit) -> Result<(), Failure> {
    if visit.may_write || visit.method.is_safe() {
        return Ok(());
    }
    Err(Failure::new(ErrorCode::Forbidden, "the preview was opened with a read-only token")
        .hint("open the preview with a token that may write"))
}

/// Files of `outputs/`; a directory is its `index.html`.
async fn files(visit: &Visit) -> Response {
    if !matches!(visit.method, Method::GET | Method::HEAD) {
        let failure = Failure::new(ErrorCode::MethodNotAllowed, "files accept GET and HEAD only");
        return pages::refused(&failure);
    }
    let path = decoded(&visit.path);
    let Some(path) = path.filter(|path| path.starts_with("/outputs/")) else {
        return pages::refused(&Failure::not_found("file", "here"));
    };
    let path = if path.ends_with('/') { format!("{path}index.html") } else { path };
    let (runtime, session) = (visit.app.runtime(), visit.host.session);
    match file_answer::answer(runtime, session, &path, &visit.headers, Shown::OnItsOwn).await {
        Ok(response) => response,
        Err(failure) => match runtime.files().file_stat(session, &path).await {
            // What it shows is relative to it.
            Ok(found) if found.kind == FileKind::Directory => beneath(visit),
            Ok(_) | Err(_) => pages::refused(&failure),
        },
    }
}

/// Leads to the same path as a directory.
fn beneath(visit: &Visit) -> Response {
    let query = visit.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
    Redirect::temporary(&format!("{}/{query}", visit.path)).into_response()
}

async fn port_answer(visit: Visit, request: Request, port: u16) -> Response {
    let session = visit.host.session;
    if visit.path == RESTART {
        return restart(&visit, port).await;
    }
    match visit.app.runtime().previews().preview_dial(session, port).await {
        Ok(Dialled::Connected(stream)) => proxy::pass(visit, request, port, stream).await,
        Ok(Dialled::Starting) => pages::starting(&visit.headers),
        Ok(Dialled::Closed { complaint: Some(said) }) => pages::ended(&visit.headers, &said, visit.may_write),
        Ok(Dialled::Closed { complaint: None } | Dialled::Asleep) => wake(&visit, port).await,
        Err(error) => pages::refused(&Failure::from(error)),
    }
}

/// Nothing listens: what once did is started again, if whoever looks may have it started.
async fn wake(visit: &Visit, port: u16) -> Response {
    let headers = &visit.headers;
    if !visit.may_write {
        return pages::asleep(headers);
    }
    match visit.app.runtime().previews().preview_wake(visit.host.session, port).await {
        Ok(()) => pages::starting(headers),
        Err(SessionError::NotFound { .. }) => pages::nothing(headers, port),
        Err(error) => pages::refused(&Failure::from(error)),
    }
}

async fn restart(visit: &Visit, port: u16) -> Response {
    if !visit.may_write {
        return pages::asleep(&visit.headers);
    }
    match visit.app.runtime().previews().preview_wake(visit.host.session, port).await {
        Ok(()) => Redirect::to("/").into_response(),
        Err(error) => pages::refused(&Failure::from(error)),
    }
}

/// What is written with `%` as text; none if it is not UTF-8.
pub(crate) fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [rest.next()?, rest.next()?];
        let digits = std::str::from_utf8(&digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn a_path_is_decoded_once() {
        assert_eq!(decoded("/outputs/a%20b/%C3%BC.html").as_deref(), Some("/outputs/a b/ü.html"));
        assert_eq!(decoded("/%252e%252e").as_deref(), Some("/%2e%2e"));
        for wrong in ["/%", "/%4", "/%zz", "/%ff"] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
    }
}
