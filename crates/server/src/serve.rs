//! Takes connections and serves them.

use std::{sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::sync::CancellationToken;
use warren_env::{TaskKind, Tasks};

/// Bounds on connections.
#[derive(Debug, Clone, Copy)]
pub struct ServeOptions {
    /// A client that has not sent its whole header by then is hung up on; so is an idle connection.
    pub header_timeout: Duration,
    /// More connections than this wait in the listener's queue until one ends.
    pub max_connections: usize,
    /// The longest header, in bytes.
    pub max_header_bytes: usize,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self { header_timeout: Duration::from_secs(30), max_connections: 8192, max_header_bytes: 64 * 1024 }
    }
}

/// Serves until `tasks` is cancelled; then takes no more connections and lets those that are open finish their answers.
/// Whoever cancels waits for `tasks` to know that they did.
pub async fn serve(listener: TcpListener, router: Router, tasks: Tasks, options: ServeOptions) {
    let cancel = tasks.token();
    let places = Arc::new(Semaphore::new(options.max_connections));
    loop {
        let next = async {
            // Closed never: it lives as long as this function.
            let place = places.clone().acquire_owned().await.ok();
            (place, listener.accept().await)
        };
        let Some((place, accepted)) = cancel.run_until_cancelled(next).await else { return };
        match accepted {
            Ok((stream, _)) => {
                let connection = connection(stream, router.clone(), cancel.clone(), options);
                tasks.spawn_to_end(TaskKind::Connection, async move {
                    connection.await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "failed to take a connection");
                // Too many open files do not go away by asking again at once.
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

async fn connection(stream: TcpStream, router: Router, cancel: CancellationToken, options: ServeOptions) {
    // Events are small and wanted now.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(error = &error as &dyn std::error::Error, "the connection keeps its delay");
    }
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(options.header_timeout)
        .max_buf_size(options.max_header_bytes)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        // Sockets of previews.
        .with_upgrades();
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = cancel.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(error = &error as &dyn std::error::Error, "a connection broke off");
    }
}
