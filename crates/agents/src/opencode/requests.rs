//! What the bridge is asked to do: one line for each request, one line back.
//!
//! `{"id", "method", "path", "body"?}` calls the server; `{"id", "save", "fields"}` puts answers of the server into one
//! file; `{"id", "run"}` runs a command; `{"id", "delayMs"}` only answers later. All take `timeoutMs`.

use std::collections::HashMap;

use serde_json::{Value, json};
use warren_domain::{Content, ContentPart};

use super::{blocks::UPLOADS, names};
use crate::{Output, Prompt};

/// Why something was asked for: what its answer means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Make a session.
    Create,
    /// See whether the session is there.
    Find,
    /// Bring a saved session in; a child's may fail.
    Import {
        is_main: bool,
    },
    /// Say the prompt.
    Prompt,
    /// Say something more.
    Steer,
    /// Keep a session in a file.
    Save,
    /// The same while it works.
    Keep,
    /// Let some time pass, so that what is on its way arrives.
    Wait,
    /// Read a session's messages again.
    Reread,
    /// See which sessions work.
    Status,
    /// See what people are asked.
    Permissions,
    Questions,
    /// Stop, or answer what was asked.
    Tell,
}

/// Requests that are under way.
#[derive(Default)]
pub(super) struct Requests {
    last: u64,
    open: HashMap<u64, Purpose>,
}

/// Local calls answer in milliseconds; a server that is starting plugins may not.
const CALL_MS: u64 = 60_000;
const SAVE_MS: u64 = 30_000;
/// An import starts the whole program.
const IMPORT_MS: u64 = 120_000;

impl Requests {
    /// What the answer with this number is for.
    pub(super) fn answered(&mut self, id: u64) -> Option<Purpose> {
        self.open.remove(&id)
    }

    /// Whether anything with this purpose is under way.
    pub(super) fn waits_for(&self, purpose: &Purpose) -> bool {
        self.open.values().any(|open| open == purpose)
    }

    pub(super) fn get(&mut self, purpose: Purpose, path: &str, out: &mut Vec<Output>) {
        self.send(purpose, json!({"method": "GET", "path": path, "timeoutMs": CALL_MS}), out);
    }

    pub(super) fn post(&mut self, purpose: Purpose, path: &str, body: Value, out: &mut Vec<Output>) {
        self.send(purpose, json!({"method": "POST", "path": path, "body": body, "timeoutMs": CALL_MS}), out);
    }

    /// Puts a session into a file that `opencode import` takes.
    pub(super) fn save(&mut self, purpose: Purpose, session: &str, file: &str, out: &mut Vec<Output>) {
        let info = format!("/session/{session}");
        let messages = format!("/session/{session}/message");
        let request =
            json!({"save": file, "fields": [["info", info], ["messages", messages]], "timeoutMs": SAVE_MS});
        self.send(purpose, request, out);
    }

    pub(super) fn run(&mut self, purpose: Purpose, argv: &[String], out: &mut Vec<Output>) {
        self.send(purpose, json!({"run": argv, "timeoutMs": IMPORT_MS}), out);
    }

    pub(super) fn wait(&mut self, ms: u64, out: &mut Vec<Output>) {
        self.send(Purpose::Wait, json!({"delayMs": ms}), out);
    }

    fn send(&mut self, purpose: Purpose, mut request: Value, out: &mut Vec<Output>) {
        self.last += 1;
        self.open.insert(self.last, purpose);
        request["id"] = json!(self.last);
        out.push(Output::Send(format!("{request}\n").into_bytes()));
    }
}

/// A prompt as the server takes it.
pub(super) fn prompt_body(prompt: &Prompt, model: &Value) -> Value {
    let mut parts: Vec<Value> = match &prompt.content {
        Content::Text(text) => vec![json!({"type": "text", "text": text})],
        Content::Parts(parts) => parts.iter().map(input_part).collect(),
    };
    if let Some(id) = names::prompt_part(&prompt.message) {
        // Only texts are sure to keep the id they are given.
        if parts.first().is_none_or(|first| first["type"] != "text") {
            parts.insert(0, json!({"type": "text", "text": "", "ignored": true}));
        }
        parts[0]["id"] = json!(id);
    }
    json!({"parts": parts, "model": model})
}

fn input_part(part: &ContentPart) -> Value {
    match part {
        ContentPart::Text { text } => json!({"type": "text", "text": text}),
        ContentPart::Image { image, media_type } => {
            json!({"type": "file", "mime": media_type, "url": format!("data:{media_type};base64,{image}")})
        }
        ContentPart::File { file } => {
            let name = file.rsplit('/').next().unwrap_or(file);
            let url = format!("file://{UPLOADS}{}", file.trim_start_matches('/'));
            json!({"type": "file", "mime": media_type(name), "filename": name, "url": url})
        }
    }
}

/// What decides how OpenCode reads a file; all else is text to it.
fn media_type(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    match extension.as_deref() {
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("webp") => "image/webp",
        Some("pdf") => "application/pdf",
        _ => "text/plain",
    }
}
