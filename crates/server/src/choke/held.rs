//! What a request holds for as long as it goes on: the validity of its token. Bodies in both directions, and the waiting
//! for an answer, end when it does.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use axum::{body::Body, http::header, response::Response};
use bytes::Bytes;
use futures::{FutureExt as _, future::BoxFuture};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use warren_domain::ErrorCode;
use warren_gateway::{Ended, Validity};

use crate::{
    failure::{Failure, Told},
    respond::Answer,
};

/// What the edge calls a request.
#[derive(Clone)]
pub(crate) struct RequestId(pub(crate) String);

/// What a stream's last event says of the request.
pub(super) struct Asked {
    pub(super) request_id: String,
    pub(super) path: String,
}

impl From<Ended> for Failure {
    fn from(ended: Ended) -> Self {
        Failure::new(ErrorCode::Unauthorized, ended.to_string()).hint("sign in again, or use another token")
    }
}

/// The body of a request: it breaks off when the token ends.
pub(super) fn request_body(body: Body, validity: &Validity) -> Body {
    // Most requests have none, and a short one comes with the head.
    if body.is_end_stream() { body } else { Body::new(HeldBody::new(body, validity, None)) }
}

/// What is answered, if the token is still good then. What changes something (`is_safe` is false) is carried out to its
/// end, and so answered: revoking one's own token is.
pub(super) async fn answer(
    validity: &Validity,
    asked: Asked,
    is_safe: bool,
    work: impl Future<Output = Answer>,
) -> Answer {
    let answer = if is_safe {
        tokio::select! {
            biased;
            answer = work => answer,
            ended = validity.clone().ended() => Err(Failure::from(ended)),
        }
    } else {
        work.await
    };
    match answer {
        Ok(response) => Ok(hold(response, validity, Some(asked))),
        // A body that broke off because the token ended has failed for that reason.
        Err(failure) => Err(validity.has_ended().map_or(failure, Failure::from)),
    }
}

/// An answer that was not made here, as that of an app; `closed` says what somebody sees whose token ended meanwhile.
pub(super) async fn foreign_answer(
    validity: &Validity,
    work: impl Future<Output = Response>,
    closed: impl FnOnce(&Failure) -> Response,
) -> Response {
    tokio::select! {
        biased;
        response = work => hold(response, validity, None),
        ended = validity.clone().ended() => closed(&Failure::from(ended)),
    }
}

/// Lets an answer that takes its time break off when the token ends. A stream of events, if it is ours, says why.
fn hold(response: Response, validity: &Validity, asked: Option<Asked>) -> Response {
    let (parts, body) = response.into_parts();
    if body.size_hint().exact().is_some() {
        return Response::from_parts(parts, body);
    }
    let media = parts.headers.get(header::CONTENT_TYPE).map(axum::http::HeaderValue::as_bytes);
    let asked = asked.filter(|_| media.is_some_and(|media| media.starts_with(b"text/event-stream")));
    Response::from_parts(parts, Body::new(HeldBody::new(body, validity, asked)))
}

/// A body that ends when a token does.
struct HeldBody {
    body: Body,
    /// `None` once the token has ended, or the body has.
    ended: Option<BoxFuture<'static, Ended>>,
    why: Option<Ended>,
    /// For a stream of events: what the last one says.
    asked: Option<Asked>,
    /// What was sent last ended an event.
    is_between_events: bool,
}

impl HeldBody {
    fn new(body: Body, validity: &Validity, asked: Option<Asked>) -> Self {
        let ended = Some(validity.clone().ended().boxed());
        Self { body, ended, why: None, asked, is_between_events: true }
    }

    /// The last thing that is sent: an event that says why, or a break that nobody takes for the whole.
    fn last(&mut self, why: Ended) -> Result<Frame<Bytes>, axum::Error> {
        let broken = || axum::Error::new(std::io::Error::new(std::io::ErrorKind::PermissionDenied, why));
        let Some(Asked { request_id, path }) = self.asked.take() else { return Err(broken()) };
        let problem = Failure::from(why).tell(&Told { request_id: &request_id, path: &path });
        let problem = serde_json::to_string(&problem).map_err(axum::Error::new)?;
        Ok(Frame::data(Bytes::from(format!("event: problem\ndata: {problem}\n\n"))))
    }
}

impl HttpBody for HeldBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Some(ended) = &mut self.ended
            && let Poll::Ready(why) = ended.poll_unpin(context)
        {
            (self.ended, self.why) = (None, Some(why));
        }
        // An event that was begun is ended first: its pieces are all there.
        if self.is_between_events
            && let Some(why) = self.why.take()
        {
            self.body = Body::empty();
            return Poll::Ready(Some(self.last(why)));
        }
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) if self.asked.is_some() => {
                self.is_between_events = frame.data_ref().is_none_or(|data| data.ends_with(b"\n\n"));
            }
            Poll::Ready(None) => (self.ended, self.why) = (None, None),
            Poll::Ready(Some(_)) | Poll::Pending => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.why.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
