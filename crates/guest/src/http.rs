//! HTTP on the sandbox's loopback: one exchange at a time, on a connection of its own, because it costs nothing to
//! make one.

mod sse;

use std::{
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    time::Duration,
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Request, Response,
    body::Incoming,
    client::conn::http1,
    http::uri::{Authority, Uri},
};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, time::timeout};

pub(crate) use sse::{Splitter, TooLong};

/// A loopback server that does not take a connection in this time is not there.
const CONNECT: Duration = Duration::from_secs(10);

/// A connection that is driven by whoever waits for something on it.
pub(crate) struct Driver(Option<Pin<Box<dyn Future<Output = ()>>>>);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExchangeError {
    #[error("failed to connect")]
    Connect(#[source] io::Error),
    #[error("failed to send the request")]
    Send(#[source] hyper::Error),
    #[error("no answer for {0:?}")]
    Silent(Duration),
}

/// Sends a request and returns when the answer begins.
pub(crate) async fn exchange(
    address: SocketAddr,
    request: Request<Full<Bytes>>,
    patience: Duration,
) -> Result<(Driver, Response<Incoming>), ExchangeError> {
    let connected = timeout(CONNECT, TcpStream::connect(address)).await;
    let stream = connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    let stream = TokioIo::new(stream.map_err(ExchangeError::Connect)?);
    let (mut sender, connection) = http1::handshake(stream).await.map_err(ExchangeError::Send)?;
    // Its failure shows in the request or the body that it carries.
    let mut connection = Driver(Some(Box::pin(async move { drop(connection.await) })));
    let head = connection.drive(timeout(patience, sender.send_request(request))).await;
    let response = head.map_err(|_| ExchangeError::Silent(patience))?.map_err(ExchangeError::Send)?;
    Ok((connection, response))
}

/// The address in a URL of plain HTTP: a number, or the one name that needs no resolver. A static program has none that
/// it can rely on.
pub(crate) fn address(authority: &Authority) -> Option<SocketAddr> {
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let host = if host == "localhost" { IpAddr::from([127, 0, 0, 1]) } else { host.parse().ok()? };
    Some(SocketAddr::new(host, authority.port_u16().unwrap_or(80)))
}

/// Whether it is plain HTTP.
pub(crate) fn is_plain(uri: &Uri) -> bool {
    uri.scheme_str() == Some("http")
}

impl Driver {
    /// Waits for something on this connection.
    pub(crate) async fn drive<T>(&mut self, wanted: impl Future<Output = T>) -> T {
        let mut wanted = std::pin::pin!(wanted);
        if let Some(connection) = &mut self.0 {
            tokio::select! {
                biased;
                value = &mut wanted => return value,
                () = connection => self.0 = None,
            }
        }
        wanted.await
    }
}
