//! Requests: what is asked, and what is answered.

use std::{path::PathBuf, process::Stdio, rc::Rc, time::Duration};

use http_body_util::{BodyExt, Limited};
use hyper::Method;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::Command,
    time::timeout,
};

use super::{
    call::{CallError, Server},
    described, program, save,
};

/// As much of an answer as is passed on.
const MAX_BODY: usize = 32 * 1024 * 1024;

/// As much of what a command prints as is passed on.
const MAX_PRINTED: u64 = 64 * 1024;

/// How long an answer may take if the request does not say.
const USUAL_PATIENCE: Duration = Duration::from_secs(60);

/// A request, as a line has it. What is to be done is told by which fields it has.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request {
    id: u64,
    #[serde(default)]
    timeout_ms: Option<u64>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    path: String,
    #[serde(default)]
    body: Option<Box<RawValue>>,
    #[serde(default)]
    save: Option<String>,
    #[serde(default)]
    fields: Vec<(String, String)>,
    #[serde(default)]
    run: Vec<String>,
    #[serde(default)]
    delay_ms: Option<u64>,
}

/// An answer.
#[derive(Serialize)]
struct Reply<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    id: u64,
    status: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a RawValue>,
}

/// A status and what goes with it.
type Answer = (i32, Vec<u8>);

/// What requests need.
pub(super) struct Means {
    pub(super) server: Rc<Server>,
    pub(super) home: Option<PathBuf>,
}

/// Does what a line asks for. The answer is a line too; `None`, if nobody could tell whom to answer.
pub(super) async fn carry_out(line: Vec<u8>, means: Rc<Means>) -> Option<Vec<u8>> {
    let request: Request = match serde_json::from_slice(&line) {
        Ok(request) => request,
        Err(error) => return not_understood(&line, &error),
    };
    let id = request.id;
    let patience = request.timeout_ms.map_or(USUAL_PATIENCE, Duration::from_millis);
    let (status, body) = match timeout(patience, answer(request, &means, patience)).await {
        Ok(answer) => answer,
        Err(_) => (0, format!("no answer for {patience:?}").into_bytes()),
    };
    Some(reply(id, status, &body))
}

/// Whoever can be told is told.
fn not_understood(line: &[u8], error: &serde_json::Error) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    struct Numbered {
        id: u64,
    }
    let problem = format!("the request is not understood: {error}");
    super::warn(format_args!("{problem}"));
    let numbered: Numbered = serde_json::from_slice(line).ok()?;
    Some(reply(numbered.id, 0, problem.as_bytes()))
}

async fn answer(request: Request, means: &Means, patience: Duration) -> Answer {
    if let Some(ms) = request.delay_ms {
        tokio::time::sleep(Duration::from_millis(ms)).await;
        return (200, Vec::new());
    }
    if let Some(file) = &request.save {
        let saved = save::save(means, file, &request.fields, patience).await;
        return saved.map_or_else(|error| (0, described(&error).into_bytes()), |()| (200, Vec::new()));
    }
    if !request.run.is_empty() {
        return run(&request.run).await;
    }
    let called = call(request, &means.server, patience).await;
    called.unwrap_or_else(|error| (0, described(&error).into_bytes()))
}

async fn call(request: Request, server: &Server, patience: Duration) -> Result<Answer, CallError> {
    let method = request.method.as_deref().and_then(|it| it.parse().ok()).unwrap_or(Method::GET);
    let body = request.body.map(|body| Box::<str>::from(body).into_string().into_bytes()).unwrap_or_default();
    let (mut connection, response) = server.call(method, &request.path, body, patience).await?;
    let status = i32::from(response.status().as_u16());
    let whole = connection.drive(Limited::new(response.into_body(), MAX_BODY).collect()).await;
    let whole = whole.map_err(|error| match error.downcast::<hyper::Error>() {
        Ok(error) => CallError::Broken(*error),
        Err(_) => CallError::TooLong(MAX_BODY),
    })?;
    Ok((status, whole.to_bytes().to_vec()))
}

/// Runs a command to its end. If nobody waits any more, it is killed.
async fn run(words: &[String]) -> Answer {
    let child = Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return (127, error.to_string().into_bytes()),
    };
    let mut printed = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        read_some(stdout, &mut printed).await;
    }
    match child.wait().await {
        Ok(status) => (program::code(status), printed),
        Err(error) => (127, error.to_string().into_bytes()),
    }
}

/// Reads to the end, but keeps only so much.
async fn read_some(mut stream: impl AsyncRead + Unpin, kept: &mut Vec<u8>) {
    // What cannot be read was not printed.
    let _ = (&mut stream).take(MAX_PRINTED).read_to_end(kept).await;
    let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
}

fn reply(id: u64, status: i32, body: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(body);
    let body = if text.trim().is_empty() {
        None
    } else {
        let as_json = serde_json::from_str::<Box<RawValue>>(&text);
        as_json.or_else(|_| to_raw_value(&text)).ok()
    };
    let reply = Reply { kind: "warren.reply", id, status, body: body.as_deref() };
    // Numbers, and a body that is JSON already, always serialise.
    serde_json::to_vec(&reply).unwrap_or_default()
}
