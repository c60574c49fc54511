//! The demo model: answers the Anthropic Messages format from a script, offline.
//!
//! It keeps no state: what it says follows from the request alone (the user's words, the tools on offer, how many of
//! its calls were answered), so the same request always gets the same bytes. It refuses malformed conversations as
//! strictly as the real API does, which makes it a test of agents too. Start with `script.rs`, the table of what it
//! understands; `wire.rs` turns a turn into events.

mod conversation;
mod dashboard;
mod request;
mod scenarios;
mod script;
mod toolbox;
mod turn;
mod wire;

use std::{io, time::Duration};

use bytes::Bytes;
use hyper::{
    Request as HttpRequest, StatusCode,
    body::Incoming,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue},
};
use tokio::net::TcpListener;
use warren_env::{TaskKind, Tasks};

use crate::{
    Pace, anthropic,
    http::{self, Answer, StreamError},
    memory::Memory,
};
use request::{ApiError, Request};
use wire::Piece;

/// The demo model's name, as its answers and the price table have it.
pub const MODEL: &str = "warren-demo-1";

const MAX_REQUEST: usize = 32 * 1024 * 1024;
const MAX_REQUESTS: usize = 512 * 1024 * 1024;
const REQUEST_PATIENCE: Duration = Duration::from_mins(1);

/// The scripted model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Demo {
    pace: Pace,
}

/// Serves the demo model on a listener as if it were the provider, until the group of tasks is cancelled: for tests and
/// tools that want to point a server's `ANTHROPIC_BASE_URL` at it. Like the provider it refuses calls without a key;
/// unlike it, any key will do.
///
/// # Errors
/// When the listener fails.
pub async fn serve(listener: TcpListener, pace: Pace, tasks: &Tasks) -> io::Result<()> {
    let demo = Demo::new(pace);
    let memory = Memory::new(MAX_REQUESTS);
    let cancel = tasks.token();
    loop {
        let (stream, _) = tokio::select! {
            () = cancel.cancelled() => return Ok(()),
            accepted = listener.accept() => accepted?,
        };
        let memory = memory.clone();
        tasks.spawn(
            TaskKind::Connection,
            http::serve(stream, move |request| {
                let memory = memory.clone();
                async move { demo.handle(request, &memory).await.into_response() }
            }),
        );
    }
}

impl Demo {
    pub(crate) fn new(pace: Pace) -> Self {
        Self { pace }
    }

    /// Answers one request. The same path and body get the same bytes.
    pub(crate) fn answer(self, path: &str, body: &[u8]) -> Answer {
        let answered = Request::read(body).and_then(|request| match path {
            anthropic::COUNT_TOKENS => Ok(Answer::json(StatusCode::OK, wire::token_count(&request))),
            _ => self.message(&request, body),
        });
        answered.unwrap_or_else(|error| refused(&error))
    }

    fn message(self, request: &Request, body: &[u8]) -> Result<Answer, ApiError> {
        request.check()?;
        let reply = script::reply(request)?;
        if !request.stream {
            return Ok(Answer::json(StatusCode::OK, wire::message(request, &reply, body)));
        }
        let pieces = wire::stream(request, &reply, body);
        let content_type = HeaderValue::from_static("text/event-stream; charset=utf-8");
        Ok(Answer {
            status: StatusCode::OK,
            headers: [(CONTENT_TYPE, content_type)].into_iter().collect(),
            pieces: Box::pin(paced(pieces, self.pace)),
        })
    }

    async fn handle(self, request: HttpRequest<Incoming>, memory: &Memory) -> Answer {
        let Some(route) = anthropic::route(request.method(), request.uri()) else {
            return refused(&ApiError::new(404, "not_found_error", "Not found"));
        };
        let headers = request.headers();
        if !headers.contains_key("x-api-key") && !headers.contains_key(AUTHORIZATION) {
            return refused(&ApiError::new(401, "authentication_error", "x-api-key header is required"));
        }
        match http::read_body(request.into_body(), memory.buffer(MAX_REQUEST), REQUEST_PATIENCE).await {
            Ok(buffer) => self.answer(&route.path, buffer.as_slice()),
            Err(_) => refused(&ApiError::new(413, "request_too_large", "Request exceeds the maximum size")),
        }
    }
}

fn refused(error: &ApiError) -> Answer {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Answer::json(status, anthropic::error_body(error.kind, &error.message))
}

/// The pieces, each after its pause.
fn paced(pieces: Vec<Piece>, pace: Pace) -> impl futures::Stream<Item = Result<Bytes, StreamError>> + Send {
    futures::stream::unfold(pieces.into_iter(), move |mut pieces| async move {
        let piece = pieces.next()?;
        let pause = piece.pause(pace);
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        Some((Ok(piece.bytes), pieces))
    })
}

#[cfg(test)]
mod tests;
