//! The remaining request body of a refused request.
//!
//! A connection that is closed under a client's hands breaks its writing, and the answer is lost with it: the client
//! hears of a broken pipe and not of the reason. So the rest is read for a while, and thrown away.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, header},
};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Frame, SizeHint};

/// More than the largest body that any route takes, archives apart. Whoever sends more did not look at the limits.
const MOST: usize = 256 * 1024 * 1024;

/// The answer is on its way all this time.
const PATIENCE: Duration = Duration::from_secs(10);

/// The body of a request, for what is left of it when the request was answered.
pub(crate) struct Rest(Shared);

/// One body, read by whoever answers and then by nobody else.
#[derive(Clone)]
struct Shared(Arc<Mutex<Kept>>);

struct Kept {
    body: Body,
    /// The client sends nothing before somebody reads: who refuses it need not ask for what it refuses.
    is_held_back: bool,
}

impl Rest {
    /// Keeps hold of a request's body.
    pub(crate) fn of(request: Request) -> (Request, Self) {
        let (parts, body) = request.into_parts();
        let kept = Kept { body, is_held_back: is_held_back(&parts.headers) };
        let shared = Shared(Arc::new(Mutex::new(kept)));
        (Request::from_parts(parts, Body::new(shared.clone())), Self(shared))
    }

    /// Whether the client is still sending.
    pub(crate) fn is_coming(&self) -> bool {
        self.0.with(|kept| !kept.is_held_back && !hyper::body::Body::is_end_stream(&kept.body))
    }

    /// Reads it to its end, if that is not too far.
    pub(crate) async fn discard(self) {
        let mut body = Limited::new(self.0, MOST);
        let to_the_end = async { while let Some(Ok(_)) = body.frame().await {} };
        // Nobody is served by waiting longer: the connection then closes as it would have at once.
        if tokio::time::timeout(PATIENCE, to_the_end).await.is_err() {
            tracing::debug!("a refused client goes on sending");
        }
    }
}

impl Shared {
    fn with<T>(&self, look: impl FnOnce(&mut Kept) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl hyper::body::Body for Shared {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.with(|kept| {
            kept.is_held_back = false;
            Pin::new(&mut kept.body).poll_frame(context)
        })
    }

    fn is_end_stream(&self) -> bool {
        self.with(|kept| kept.body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.with(|kept| kept.body.size_hint())
    }
}

fn is_held_back(headers: &HeaderMap) -> bool {
    headers.get(header::EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}
