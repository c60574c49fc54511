//! Requests with one answer, and what all requests have in common.

use std::{future::Future, time::Duration};

use serde::de::DeserializeOwned;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};
use warren_guest_api::{Frame, FrameError, FrameReader, Request, write_frame};
use warren_link::{Opener, Stream};

use super::{CallError, Guest};

/// How long the guest may keep a request, or any next piece of its answer, waiting.
pub(super) const STEP_TIMEOUT: Duration = Duration::from_secs(30);

impl Guest {
    /// A request with one answer.
    pub(super) async fn ask<T: DeserializeOwned>(&self, request: &Request) -> Result<T, CallError> {
        ask(&self.inner.opener, request).await
    }

    /// A request after which the stream goes on.
    pub(super) async fn open(&self, request: &Request) -> Result<Stream, CallError> {
        open(&self.inner.opener, request).await
    }
}

pub(super) async fn ask<T: DeserializeOwned>(opener: &Opener, request: &Request) -> Result<T, CallError> {
    let stream = open(opener, request).await?;
    reply(&mut FrameReader::new(stream)).await
}

async fn open(opener: &Opener, request: &Request) -> Result<Stream, CallError> {
    let header = serde_json::to_vec(request).map_err(|error| CallError::Protocol(FrameError::Json(error)))?;
    opener.open(&header).await.map_err(CallError::Reach)
}

/// The reply that is due next.
pub(super) async fn reply<T, R>(frames: &mut FrameReader<R>) -> Result<T, CallError>
where
    T: DeserializeOwned,
    R: AsyncRead + Unpin,
{
    match step(frames.expect()).await? {
        Frame::Reply(json) => Frame::parse(&json).map_err(CallError::Protocol),
        frame => Err(refusal(frame)),
    }
}

/// One step of the guest, in time.
pub(super) async fn step<T>(step: impl Future<Output = Result<T, FrameError>>) -> Result<T, CallError> {
    let late = |_| CallError::TimedOut { timeout: STEP_TIMEOUT };
    timeout(STEP_TIMEOUT, step).await.map_err(late)?.map_err(CallError::Protocol)
}

/// Sends a frame, in time.
pub(super) async fn send(stream: &mut (impl AsyncWrite + Unpin), frame: &Frame) -> Result<(), CallError> {
    step(write_frame(stream, frame)).await
}

/// What to make of a frame that is not the one that was due.
pub(super) fn refusal(frame: Frame) -> CallError {
    match frame {
        Frame::Error(error) => CallError::Refused(error),
        _ => CallError::Protocol(FrameError::Unexpected),
    }
}
