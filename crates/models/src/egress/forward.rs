//! Passes one plain request on, and its answer back as it comes.

use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::{
    HeaderMap, Request, Response, StatusCode, Uri, Version,
    body::{Body as HttpBody, Frame, Incoming, SizeHint},
    client::conn::http1,
    header::{self, HeaderName, HeaderValue},
};
use hyper_util::rt::TokioIo;

use super::{Body, EgressStream, MAX_HEAD, StreamError, host::Target, refusal::Refusal};

/// Headers about a connection rather than about what it carries, besides those that `Connection` names.
const HOP_BY_HOP: [HeaderName; 8] = [
    header::CONNECTION,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::EXPECT,
];
const HOP_BY_HOP_TOO: [&str; 2] = ["keep-alive", "proxy-connection"];

const VIA: HeaderValue = HeaderValue::from_static("1.1 warren");

type Connection = http1::Connection<TokioIo<Box<dyn EgressStream>>, Incoming>;

/// The connection to the host, for as long as it has something to do. Nobody else drives it.
struct Driver(Option<Pin<Box<Connection>>>);

/// An answer's body together with the connection that it comes from: dropping one drops the other.
struct Carried {
    body: Incoming,
    driver: Driver,
}

/// Sends the request to its host over a connection of its own.
pub(super) async fn forward(
    request: Request<Incoming>,
    target: &Target,
    upstream: Box<dyn EgressStream>,
) -> Result<Response<Body>, Refusal> {
    let failed = |problem| Refusal::Unreachable { target: target.clone(), problem };
    let request = outgoing(request, target).ok_or_else(|| failed("the request cannot be passed on"))?;
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(MAX_HEAD)
        .handshake(TokioIo::new(upstream))
        .await
        .map_err(|_| failed("the connection was lost"))?;
    let mut driver = Driver(Some(Box::pin(connection)));
    let mut sending = Box::pin(sender.send_request(request));
    let response = poll_fn(|cx| {
        driver.drive(cx);
        sending.as_mut().poll(cx)
    });
    let mut response = response.await.map_err(|error| {
        tracing::debug!(%target, %error, "a request was not answered");
        failed("it did not answer with HTTP")
    })?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return Err(failed("it changed the protocol without being asked to"));
    }
    drop_hop_by_hop(response.headers_mut());
    response.headers_mut().append(header::VIA, VIA);
    *response.version_mut() = Version::HTTP_11;
    Ok(response.map(|body| Carried { body, driver }.boxed_unsync()))
}

/// The request as its host gets it: the target decides which host it is for, not the header that came along.
fn outgoing(request: Request<Incoming>, target: &Target) -> Option<Request<Incoming>> {
    let (mut head, body) = request.into_parts();
    drop_hop_by_hop(&mut head.headers);
    let host = if target.port == 80 { target.host.to_string() } else { target.to_string() };
    head.headers.insert(header::HOST, HeaderValue::from_str(&host).ok()?);
    head.headers.append(header::VIA, VIA);
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    head.uri = path.parse::<Uri>().ok()?;
    head.version = Version::HTTP_11;
    Some(Request::from_parts(head, body))
}

fn drop_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        // How long a body is belongs to the message, whatever `Connection` says.
        .filter(|name| *name != header::CONTENT_LENGTH && *name != header::HOST)
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
    for name in HOP_BY_HOP_TOO {
        headers.remove(name);
    }
}

impl Driver {
    fn drive(&mut self, cx: &mut Context<'_>) {
        let Some(connection) = &mut self.0 else { return };
        if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
            if let Err(error) = ended {
                // Whoever waits for the answer or reads its body is told the same.
                tracing::debug!(%error, "a connection to a host ended early");
            }
            self.0 = None;
        }
    }
}

impl HttpBody for Carried {
    type Data = Bytes;
    type Error = StreamError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, StreamError>>> {
        self.driver.drive(cx);
        Pin::new(&mut self.body).poll_frame(cx).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
