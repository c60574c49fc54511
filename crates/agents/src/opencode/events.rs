//! Lines: events of the server as they are, or as a recording of its stream has them, and what else people keep.

use serde_json::value::RawValue;
use warren_domain::Timestamp;

use super::{
    export,
    native::{Asked, Line, Message, Part, Properties, Session, read_borrowed},
    translator::Translator,
};
use crate::Output;

/// What a line was.
pub(super) enum Heard<'a> {
    /// Something the translator now knows, or nothing of interest.
    Told,
    /// A person is asked for a permission.
    Permission(Asked<'a>),
    /// A person is asked questions.
    Question(Asked<'a>),
    /// Somebody answered what was asked under this id.
    Answered(String),
    /// The bridge answers a request.
    Reply { id: u64, status: i64, body: Option<&'a RawValue> },
    /// The bridge lost the stream and has it again.
    Reconnected,
    /// Nobody here understands it.
    Unknown,
}

/// Events that say nothing about a conversation, by how they begin.
const QUIET: &[&str] = &[
    "server.",
    "plugin.",
    "catalog.",
    "integration.",
    "reference.",
    "file.",
    "todo.",
    "lsp.",
    "mcp.",
    "command.",
    "project.",
    "vcs.",
    "installation.",
    "models-dev.",
    "pty.",
    "tui.",
    "workspace.",
    "worktree.",
    "global.",
    "ide.",
    "storage.",
    "session.diff",
    "session.deleted",
    "session.next.",
    "step_start",
    "sync",
    "account.",
    "config.",
];

/// Reads one line.
pub(super) fn hear<'a>(
    translator: &mut Translator,
    line: &'a str,
    at: Timestamp,
    out: &mut Vec<Output>,
) -> Heard<'a> {
    let line = line.trim();
    let json = line.strip_prefix("data:").unwrap_or(line);
    let is_frame = ["event:", "id:", "retry:", ":"].iter().any(|field| line.starts_with(field));
    if json.is_empty() || is_frame {
        return Heard::Told;
    }
    let Ok(mut event) = serde_json::from_str::<Line<'a>>(json) else { return Heard::Unknown };
    if let Some(inner) = read_borrowed::<Line<'a>>(event.payload) {
        event = inner;
    }
    if event.kind == "warren.reply" {
        return match event.id {
            Some(id) => Heard::Reply { id, status: event.status, body: event.body },
            None => Heard::Unknown,
        };
    }
    if event.kind.is_empty() && event.messages.is_some() {
        return told_if(tell_export(translator, json, i64::MIN, at, out));
    }
    let properties = event.properties.or(event.data);
    match (properties, event.part) {
        (None, Some(part)) => told_if(tell_part(translator, part, at, out)),
        (properties, _) => about(translator, &event, properties, at, out),
    }
}

/// Tells a list of messages, or an export, to the translator: all that is in it and not older than `since` has happened.
pub(super) fn tell_export(
    translator: &mut Translator,
    text: &str,
    since: i64,
    at: Timestamp,
    out: &mut Vec<Output>,
) -> bool {
    let mut is_understood = true;
    for export in export::read(text, &mut |_| is_understood = false) {
        translator.session(export.session);
        for entry in export.messages.into_iter().filter(|entry| entry.created >= since) {
            translator.message(&entry.info.begun(), at, out);
            for part in entry.parts {
                tell_part(translator, part, at, out);
            }
            translator.message(&entry.info, at, out);
        }
    }
    is_understood
}

fn about<'a>(
    translator: &mut Translator,
    event: &Line<'a>,
    raw: Option<&'a RawValue>,
    at: Timestamp,
    out: &mut Vec<Output>,
) -> Heard<'a> {
    let properties: Properties<'a> = read_borrowed(raw).unwrap_or_default();
    let session = properties.session.as_deref();
    match (event.kind.as_str(), session) {
        ("warren.reconnected", _) => return Heard::Reconnected,
        ("session.created" | "session.updated", _) => {
            let Some(info) = read_borrowed::<Session>(properties.info) else { return Heard::Unknown };
            translator.session(info);
        }
        ("message.updated", _) => {
            let Some(info) = read_borrowed::<Message>(properties.info) else { return Heard::Unknown };
            translator.message(&info, at, out);
        }
        ("message.part.updated", _) => {
            return match properties.part {
                Some(part) => told_if(tell_part(translator, part, at, out)),
                None => Heard::Unknown,
            };
        }
        ("message.part.delta", _) if properties.field == "text" => {
            translator.delta(&properties.part_id, &properties.delta, out);
        }
        ("message.part.delta", _) => {}
        ("message.part.removed", _) => translator.part_removed(&properties.part_id, out),
        ("message.removed", _) => translator.message_removed(&properties.message, out),
        ("session.status", Some(session)) => translator.status(session, &properties.status, out),
        ("session.idle", Some(session)) => translator.idle(session, out),
        ("session.compacted", Some(session)) => translator.compacted(session, out),
        ("session.error" | "error", session) => {
            let failure = properties.error.or_else(|| event.error.clone()).unwrap_or_default();
            translator.stopped(session, failure);
        }
        (kind, _) => return asked(kind, raw),
    }
    Heard::Told
}

fn asked<'a>(kind: &str, raw: Option<&'a RawValue>) -> Heard<'a> {
    if QUIET.iter().any(|quiet| kind.starts_with(quiet)) {
        return Heard::Told;
    }
    let Some(asked) = read_borrowed::<Asked<'a>>(raw) else { return Heard::Unknown };
    match kind {
        "permission.asked" | "permission.v2.asked" | "permission.updated" => Heard::Permission(asked),
        "question.asked" | "question.v2.asked" => Heard::Question(asked),
        "permission.replied"
        | "permission.v2.replied"
        | "question.replied"
        | "question.rejected"
        | "question.v2.replied"
        | "question.v2.rejected" => match asked.request {
            Some(request) => Heard::Answered(request),
            None => Heard::Unknown,
        },
        _ => Heard::Unknown,
    }
}

fn tell_part(translator: &mut Translator, raw: &RawValue, at: Timestamp, out: &mut Vec<Output>) -> bool {
    read_borrowed::<Part<'_>>(Some(raw)).is_some_and(|part| translator.part(&part, at, out))
}

fn told_if<'a>(is_understood: bool) -> Heard<'a> {
    if is_understood { Heard::Told } else { Heard::Unknown }
}
