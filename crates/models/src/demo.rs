//! The demo model: answers from a script, offline, in the wire formats of four providers' APIs.
//!
//! One understanding, one script, four dialects: `read.rs` makes an `Ask` of a request in any dialect, `script.rs`
//! decides on the turn, `write.rs` puts it into the dialect's events. What it says follows from the request alone (the
//! person's words, the tools on offer, how many of its calls were answered), so the same request always gets the same
//! words; only an error that is to go away after some tries is counted (`attempts.rs`). Under which ids it says them is
//! for whoever starts it to choose (`Naming`). It refuses malformed conversations as strictly as the real APIs do, which
//! makes it a test of agents too.
//!
//! It knows what agents call their tools and how they wrap a person's words. With each of them these prompts do:
//!
//! | prompt | what happens |
//! |---|---|
//! | `hello` (or anything unknown) | thoughts, then text that says what it is and lists what it can do |
//! | `think about it` | thoughts and a short answer |
//! | `run: CMD`, `bash: CMD` | exactly that command in the agent's shell |
//! | `run N times: CMD` | the same, N times, each by a call of its own |
//! | `create file NAME with TEXT`, `read file NAME`, `list the files` | the agent's tools for files |
//! | `show me a failing tool` | a tool that fails, and another way |
//! | `use tools in parallel` | several calls in one answer |
//! | `ask a subagent for a review` | a subagent, which looks around and reports |
//! | `ask me a question` | a question to the person, and their answer |
//! | `mcp: NAME {json}`, `use tool NAME {json}` | the offered tool whose name is or ends with `NAME` |
//! | `build me a dashboard` | all of it: a plan, files, a check, a reviewer, an edit |
//! | `error 529`, `error 400` … | that status, every time |
//! | `error 529 twice`, `error 429 3 times` | that status for so many tries, then an answer |
//! | `error in the stream` | an answer that breaks off with an error |
//! | `count to N` | N numbers, one by one, to be interrupted |
//! | `sleep N` | a command that takes N seconds, to be interrupted |
//! | `big answer KIB`, `big output MB` | much text, from the model or from a tool |
//! | `remember the word X`, then `what word did I tell you?` | answered from the conversation in the request |
//!
//! Agents' own requests (titles, summaries, compaction, choices of a model, probes, counts of tokens) are recognised
//! and answered without following the person's words that they quote.

mod ask;
mod attempts;
mod conversation;
mod dashboard;
mod read;
mod scenarios;
mod schema;
mod script;
mod toolbox;
mod turn;
mod words;
mod write;

use std::{io, sync::Arc, time::Duration};

use bytes::Bytes;
use hyper::{
    Method, Request as HttpRequest, StatusCode,
    body::Incoming,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER},
};
use serde_json::json;
use tokio::net::TcpListener;
use warren_env::{Env, TaskKind, Tasks};

use crate::{
    Pace,
    http::{self, Answer, StreamError},
    memory::Memory,
};
use ask::ApiError;
use attempts::Attempts;
use write::Piece;

/// The demo model's name, for requests that ask for none; also in the price table.
pub const MODEL: &str = "warren-demo-1";

/// Whether a model's name means the demo model. Some agents write `provider/model`.
#[must_use]
pub fn is_named(model: &str) -> bool {
    model.rsplit('/').next() == Some(MODEL)
}

const MAX_REQUEST: usize = 32 * 1024 * 1024;
const MAX_REQUESTS: usize = 512 * 1024 * 1024;
const REQUEST_PATIENCE: Duration = Duration::from_mins(1);

/// The wire format of a request and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Anthropic's Messages.
    Anthropic,
    /// Gemini's `generateContent`, `streamGenerateContent` and `countTokens`.
    Gemini,
    /// OpenAI's chat completions.
    OpenAiChat,
    /// OpenAI's responses.
    OpenAiResponses,
}

/// The scripted model. Clones share what little it remembers.
#[derive(Clone)]
pub(crate) struct Demo {
    pace: Pace,
    naming: Naming,
    attempts: Arc<Attempts>,
}

/// What the ids of an answer follow from.
#[derive(Clone)]
pub(crate) enum Naming {
    /// The request alone: the same request gets the same bytes, which is what recordings and their tests want.
    Request,
    /// The call: no two answers share an id. A conversation that went back to an older version and asks the same again
    /// would else get blocks that are there already.
    Call(Env),
}

/// Serves the demo model on a listener as if it were a provider, in all dialects, until the group of tasks is cancelled:
/// for tests and tools that want to point an agent or a server's `ANTHROPIC_BASE_URL` at it. Like a provider it refuses
/// calls without a key; unlike one, any key will do.
///
/// # Errors
/// When the listener fails.
pub async fn serve(listener: TcpListener, pace: Pace, tasks: &Tasks) -> io::Result<()> {
    let demo = Demo::new(pace, Naming::Request);
    let memory = Memory::new(MAX_REQUESTS);
    let cancel = tasks.token();
    loop {
        let (stream, _) = tokio::select! {
            () = cancel.cancelled() => return Ok(()),
            accepted = listener.accept() => accepted?,
        };
        let (demo, memory) = (demo.clone(), memory.clone());
        tasks.spawn(
            TaskKind::Connection,
            http::serve(stream, move |request| {
                let (demo, memory) = (demo.clone(), memory.clone());
                async move { demo.handle(request, &memory).await.into_response() }
            }),
        );
    }
}

impl Dialect {
    /// The dialect of a path, whatever stands before the API's own part of it.
    fn of(path: &str) -> Option<Self> {
        let ends = |end: &str| path.ends_with(end);
        if ends("/messages") || ends("/messages/count_tokens") {
            Some(Dialect::Anthropic)
        } else if ends(":generateContent") || ends(":streamGenerateContent") || ends(":countTokens") {
            Some(Dialect::Gemini)
        } else if ends("/chat/completions") {
            Some(Dialect::OpenAiChat)
        } else if ends("/responses") || ends("/responses/input_tokens") {
            Some(Dialect::OpenAiResponses)
        } else {
            None
        }
    }
}

impl Demo {
    pub(crate) fn new(pace: Pace, naming: Naming) -> Self {
        Self { pace, naming, attempts: Arc::default() }
    }

    /// Answers one request. The same path and body get the same words, but for errors that are to go away.
    pub(crate) fn answer(&self, dialect: Dialect, path: &str, body: &[u8]) -> Answer {
        let path = path.split('?').next().unwrap_or(path);
        self.try_answer(dialect, path, body).unwrap_or_else(|error| refused(dialect, &error))
    }

    fn try_answer(&self, dialect: Dialect, path: &str, body: &[u8]) -> Result<Answer, ApiError> {
        let ask = read::read(dialect, path, body)?;
        if ["/count_tokens", ":countTokens", "/input_tokens"].iter().any(|end| path.ends_with(end)) {
            return Ok(Answer::json(StatusCode::OK, write::token_count(dialect, &ask)));
        }
        read::check(dialect, &ask)?;
        let turn = script::reply(&ask, &self.attempts)?;
        let answer = write::Answer::new(&ask, &turn, self.naming.seed(body));
        if !ask.stream {
            return Ok(Answer::json(StatusCode::OK, answer.whole(dialect)));
        }
        let content_type = match dialect {
            Dialect::Gemini => "text/event-stream",
            _ => "text/event-stream; charset=utf-8",
        };
        Ok(Answer {
            status: StatusCode::OK,
            headers: [(CONTENT_TYPE, HeaderValue::from_static(content_type))].into_iter().collect(),
            pieces: Box::pin(paced(answer.stream(dialect), self.pace)),
        })
    }

    async fn handle(&self, request: HttpRequest<Incoming>, memory: &Memory) -> Answer {
        let path = request.uri().path().to_owned();
        if request.method() == Method::GET && path.ends_with("/models") {
            return models();
        }
        let dialect = Dialect::of(&path).filter(|_| request.method() == Method::POST);
        let Some(dialect) = dialect else {
            return refused(Dialect::Anthropic, &ApiError::new(404, "Not found"));
        };
        let keys = ["x-api-key", "x-goog-api-key", AUTHORIZATION.as_str()];
        if !keys.iter().any(|key| request.headers().contains_key(*key)) {
            return refused(dialect, &ApiError::new(401, "x-api-key header is required"));
        }
        match http::read_body(request.into_body(), memory.buffer(MAX_REQUEST), REQUEST_PATIENCE).await {
            Ok(buffer) => self.answer(dialect, &path, buffer.as_slice()),
            Err(_) => refused(dialect, &ApiError::new(413, "Request exceeds the maximum size")),
        }
    }
}

impl Naming {
    fn seed(&self, body: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(body);
        if let Naming::Call(env) = self {
            hasher.update(env.uuid().as_bytes());
        }
        hasher.finalize()
    }
}

/// Agents ask for a list of models; every name is one, so this is the one that is always there.
fn models() -> Answer {
    let model = json!({ "created": 0, "id": MODEL, "object": "model", "owned_by": "warren" });
    Answer::json(StatusCode::OK, json!({ "data": [model], "object": "list" }).to_string().into())
}

fn refused(dialect: Dialect, error: &ApiError) -> Answer {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut answer = Answer::json(status, write::error(dialect, error));
    // Agents that may try again do so soon, so that a scripted error does not take minutes.
    if matches!(error.status, 429 | 500..) {
        answer.headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    answer
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
