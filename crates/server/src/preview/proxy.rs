//! Passing a request on to what listens in a sandbox, and sockets both ways.

use std::time::Duration;

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, StatusCode, Version, header},
    response::{IntoResponse, Response},
};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite, copy, copy_bidirectional, sink, split},
    time::Instant,
};
use warren_domain::SessionId;
use warren_env::TaskKind;
use warren_runtime::api::PreviewStream;

use super::{Visit, headers, pages};
use crate::deps::App;

/// How long a pending request counts as work. An app may have to build a page first, or never answer.
const BUILDING: Duration = Duration::from_secs(600);

/// Sends the request through a connection of its own and gives back what is answered.
pub(super) async fn pass(visit: Visit, mut request: Request, port: u16, stream: PreviewStream) -> Response {
    let Visit { app, host, may_write, validity, headers: shown, .. } = visit;
    let is_upgrade = is_upgrade(request.headers());
    let outer = is_upgrade.then(|| hyper::upgrade::on(&mut request));
    let inner = headers::inwards(request.headers(), port, is_upgrade);
    *request.headers_mut() = inner;
    *request.version_mut() = Version::HTTP_11;
    // The app is asked as a server, not as a proxy.
    let target = request.uri().path_and_query().map_or("/", |path| path.as_str()).parse();
    *request.uri_mut() = target.unwrap_or_default();

    let Ok((mut sender, connection)) = http1::handshake::<_, Body>(TokioIo::new(stream)).await else {
        return pages::starting(&shown);
    };
    app.deps.tasks.spawn(TaskKind::Connection, async move {
        // Whoever asked sees the same end.
        let _ = connection.with_upgrades().await;
    });
    let mut response = match waiting(&app, host.session, sender.send_request(request)).await {
        Ok(response) => response,
        Err(error) => {
            tracing::debug!(error = &error as &dyn std::error::Error, "an app did not answer");
            return (StatusCode::BAD_GATEWAY, "the app closed the connection\n").into_response();
        }
    };
    let is_switched = response.status() == StatusCode::SWITCHING_PROTOCOLS;
    if let Some(outer) = outer.filter(|_| is_switched) {
        let inner = hyper::upgrade::on(&mut response);
        app.deps.tasks.spawn(TaskKind::Connection, async move {
            if let (Ok(outer), Ok(inner)) = (outer.await, inner.await) {
                let relay = relay(TokioIo::new(outer), TokioIo::new(inner), may_write);
                tokio::select! {
                    () = relay => {}
                    ended = validity.ended() => tracing::debug!(%ended, "a preview's socket is closed"),
                }
            }
        });
    }
    let origin = app.deps.options.previews.as_ref().map(|hosts| hosts.origin(host)).unwrap_or_default();
    headers::outwards(response.headers_mut(), port, &origin, is_switched);
    response.map(Body::new)
}

/// Keeps the session awake while an app works on an answer. What passes over the connection does so by itself.
async fn waiting<T>(app: &App, session: SessionId, answer: impl Future<Output = T>) -> T {
    tokio::pin!(answer);
    let previews = app.runtime().previews();
    let end = Instant::now() + BUILDING;
    while Instant::now() < end {
        tokio::select! {
            answer = &mut answer => return answer,
            () = tokio::time::sleep(previews.preview_pulse()) => previews.preview_touch(session).await,
        }
    }
    answer.await
}

fn is_upgrade(headers: &HeaderMap) -> bool {
    let connection = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let mut words = connection.flat_map(|value| value.split(',')).map(str::trim);
    headers.contains_key(header::UPGRADE) && words.any(|word| word.eq_ignore_ascii_case("upgrade"))
}

/// Copies both ways until one side ends. Of who may change nothing, nothing goes in: a message over a socket may do
/// whatever the app does for it.
async fn relay(
    mut outer: impl AsyncRead + AsyncWrite + Unpin,
    mut inner: impl AsyncRead + AsyncWrite + Unpin,
    may_write: bool,
) {
    // However it ends, it ends for both.
    if may_write {
        let _ = copy_bidirectional(&mut outer, &mut inner).await;
        return;
    }
    let ((mut said, mut shown), mut nowhere) = (split(outer), sink());
    tokio::select! {
        _ = copy(&mut inner, &mut shown) => {}
        _ = copy(&mut said, &mut nowhere) => {}
    }
}
