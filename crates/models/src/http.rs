//! HTTP/1.1 on one byte stream: what the gateway and the demo server share.

use std::{convert::Infallible, pin::Pin, time::Duration};

use bytes::Bytes;
use futures::Stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::{
    HeaderMap, Request, Response, StatusCode,
    body::{Body, Frame, Incoming},
    header::{CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::memory::{Buffer, Full};

/// What went wrong in the middle of an answer.
pub(crate) type StreamError = Box<dyn std::error::Error + Send + Sync>;

/// The pieces of an answer, as they come.
pub(crate) type Pieces = Pin<Box<dyn Stream<Item = Result<Bytes, StreamError>> + Send>>;

/// An answer whose body has yet to come.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) pieces: Pieces,
}

/// Why a request's body is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyError {
    Full(Full),
    TooSlow,
    Broken,
}

/// For the next request's head, also on a connection that waits for one: idle ones must not use up the sandbox's streams.
const HEAD_TIMEOUT: Duration = Duration::from_mins(1);

impl Answer {
    /// An answer that is JSON and already there.
    pub(crate) fn json(status: StatusCode, body: Bytes) -> Self {
        let headers = [(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
        Self {
            status,
            headers: headers.into_iter().collect(),
            pieces: Box::pin(futures::stream::iter([Ok(body)])),
        }
    }

    pub(crate) fn content_type(&self) -> Option<&str> {
        self.headers.get(CONTENT_TYPE)?.to_str().ok()
    }

    /// The whole as a response, its pieces sent as they come.
    pub(crate) fn into_response(self) -> Response<impl Body<Data = Bytes, Error = StreamError> + Send> {
        let frames = futures::StreamExt::map(self.pieces, |piece| piece.map(Frame::data));
        let mut response = Response::new(StreamBody::new(frames));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

/// Answers requests on `io`, one after the other, until it closes. When the other side closes it in the middle of an
/// answer, that answer is dropped.
pub(crate) async fn serve<IO, H, F, B>(io: IO, handle: H)
where
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    H: Fn(Request<Incoming>) -> F,
    F: Future<Output = Response<B>>,
    B: Body<Data = Bytes, Error = StreamError> + 'static,
{
    let service = service_fn(|request| {
        let response = handle(request);
        async { Ok::<_, Infallible>(response.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(io), service);
    if let Err(error) = connection.await {
        // The other side left or spoke something else than HTTP. Whoever waits for a call's end is told by the call.
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Reads a request's body whole.
pub(crate) async fn read_body(
    body: Incoming,
    mut buffer: Buffer,
    patience: Duration,
) -> Result<Buffer, BodyError> {
    let read = async move {
        let mut body = body;
        // One that grows is copied again and again.
        buffer.expect(body.size_hint().exact().unwrap_or_default());
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return Err(BodyError::Broken) };
            if let Some(data) = frame.data_ref() {
                buffer.push(data).map_err(BodyError::Full)?;
            }
        }
        Ok(buffer)
    };
    tokio::time::timeout(patience, read).await.unwrap_or(Err(BodyError::TooSlow))
}
