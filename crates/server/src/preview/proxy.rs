//! Passing a request on to what listens in a sandbox, and sockets both ways.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, StatusCode, Version, header},
    response::{IntoResponse, Response},
};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy_bidirectional};
use warren_domain::SessionId;
use warren_env::TaskKind;
use warren_runtime::api::PreviewStream;

use super::{Visit, headers, pages};
use crate::deps::App;

/// How often a request that waits for its answer, or an open socket over which something passed, counts as work.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// Sends the request through a connection of its own and gives back what is answered.
pub(super) async fn pass(visit: Visit, mut request: Request, port: u16, stream: PreviewStream) -> Response {
    let Visit { app, host, headers: shown, .. } = visit;
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
        app.clone().deps.tasks.spawn(TaskKind::Connection, async move {
            if let (Ok(outer), Ok(inner)) = (outer.await, inner.await) {
                relay(&app, host.session, TokioIo::new(outer), TokioIo::new(inner)).await;
            }
        });
    }
    headers::outwards(response.headers_mut(), is_switched);
    response.map(Body::new)
}

/// Keeps the session awake while an app works on an answer: it may have to build a page first.
async fn waiting<T>(app: &App, session: SessionId, answer: impl Future<Output = T>) -> T {
    tokio::pin!(answer);
    loop {
        tokio::select! {
            answer = &mut answer => return answer,
            () = tokio::time::sleep(SIGN_OF_LIFE) => app.runtime().previews().preview_touch(session).await,
        }
    }
}

fn is_upgrade(headers: &HeaderMap) -> bool {
    let connection = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let mut words = connection.flat_map(|value| value.split(',')).map(str::trim);
    headers.contains_key(header::UPGRADE) && words.any(|word| word.eq_ignore_ascii_case("upgrade"))
}

/// Copies both ways until one side ends. What the browser sends keeps the session awake.
async fn relay(
    app: &App,
    session: SessionId,
    outer: impl AsyncRead + AsyncWrite + Unpin,
    mut inner: impl AsyncRead + AsyncWrite + Unpin,
) {
    let passed = Arc::new(AtomicU64::new(0));
    let mut outer = Counted { io: outer, passed: passed.clone() };
    let copying = copy_bidirectional(&mut outer, &mut inner);
    tokio::pin!(copying);
    let mut told = 0;
    loop {
        tokio::select! {
            // However it ended, it ended for both.
            _ = &mut copying => return,
            () = tokio::time::sleep(SIGN_OF_LIFE) => {
                let now = passed.load(Ordering::Relaxed);
                if now != told {
                    told = now;
                    app.runtime().previews().preview_touch(session).await;
                }
            }
        }
    }
}

/// Counts what is read from it.
struct Counted<T> {
    io: T,
    passed: Arc<AtomicU64>,
}

impl<T: AsyncRead + Unpin> AsyncRead for Counted<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.io).poll_read(cx, buf);
        self.passed.fetch_add((buf.filled().len() - before) as u64, Ordering::Relaxed);
        polled
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Counted<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
