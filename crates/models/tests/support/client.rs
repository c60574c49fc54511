//! An HTTP client in the sandbox.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{
    HeaderMap, Method, Request,
    body::Incoming,
    client::conn::http1::{SendRequest, handshake},
};
use hyper_util::rt::TokioIo;
use tokio::io::DuplexStream;
use warren_env::{TaskKind, Tasks};

pub(crate) struct Client {
    sender: SendRequest<Full<Bytes>>,
}

/// An answer whose body is still coming.
pub(crate) struct Incomplete {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    body: Incoming,
}

/// An answer that is there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Client {
    pub(crate) async fn over(stream: DuplexStream, tasks: &Tasks) -> Self {
        let (sender, connection) = handshake(TokioIo::new(stream)).await.expect("a connection");
        tasks.spawn(TaskKind::Connection, connection);
        Self { sender }
    }

    pub(crate) async fn post(&mut self, path: &str, body: impl Into<Bytes>) -> Answer {
        self.begin(Method::POST, path, &[], body.into()).await.whole().await.expect("a whole answer")
    }

    /// Sends a request with what agents usually send; gives the answer when it begins.
    pub(crate) async fn begin(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Incomplete {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "127.0.0.1:4000")
            .header("x-api-key", "placeholder")
            .header("anthropic-version", "2023-06-01");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body)).expect("a request");
        self.sender.ready().await.expect("the connection is open");
        let (head, body) = self.sender.send_request(request).await.expect("an answer").into_parts();
        Incomplete { status: head.status.as_u16(), headers: head.headers, body }
    }
}

impl Incomplete {
    /// The next piece; `None` at the end.
    pub(crate) async fn piece(&mut self) -> Option<Result<Bytes, hyper::Error>> {
        let frame = self.body.frame().await?;
        Some(frame.map(|frame| frame.into_data().expect("no trailers")))
    }

    pub(crate) async fn whole(mut self) -> Result<Answer, hyper::Error> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece().await {
            body.extend_from_slice(&piece?);
        }
        Ok(Answer { status: self.status, body: String::from_utf8(body).expect("text") })
    }
}
