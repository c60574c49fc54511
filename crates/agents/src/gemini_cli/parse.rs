//! Blocks from saved chats, without a sandbox.

use std::collections::HashMap;

use serde_json::{Deserializer, Value, json, value::RawValue};
use warren_domain::{BlockStatus, ConversationId, Conversations, Draft, EventBody, Timestamp};

use super::{
    blocks::{self, Call},
    chat::{Chat, Heard},
    native::{ToolCall, time},
    record::{Role, prompt_text},
};
use crate::{Parsed, subagent::Thread, transcripts::Unread};

/// A subagent's chat.
struct Child {
    id: ConversationId,
    chat: Chat,
}

/// The call that a subagent carried out.
struct Origin {
    parent: ConversationId,
    call: ToolCall,
    /// When the call was made.
    at: Timestamp,
}

/// All threads of a session.
pub(super) fn parse(main: &[u8], subagents: &[(String, Vec<u8>)]) -> Parsed {
    let mut unread = Unread::default();
    let mut chat = Chat::new();
    read_into(&mut chat, main, &mut unread);
    let mut children: Vec<Child> = subagents
        .iter()
        .map(|(id, bytes)| {
            let mut chat = Chat::new();
            read_into(&mut chat, bytes, &mut unread);
            Child { id: ConversationId(id.clone()), chat }
        })
        .collect();
    // Threads stand in the order in which they opened, whatever the order of their files.
    children.sort_by(|a, b| (a.chat.start_time(), &a.id.0).cmp(&(b.chat.start_time(), &b.id.0)));
    let mut usage = chat.usage();
    children.iter().for_each(|child| usage.add(&child.chat.usage()));
    let conversations = conversations(&chat, &children);
    unread.parsed(conversations, (usage.total_tokens > 0).then_some(usage))
}

/// Reads a whole file: lines, or one document.
pub(super) fn read_into(chat: &mut Chat, bytes: &[u8], unread: &mut Unread) {
    if let Some(records) = list(bytes) {
        let records = records.iter().filter(|record| chat.append(record) == Heard::Nothing);
        return records.for_each(|record| unread.note(record.as_bytes()));
    }
    if is_document(bytes) {
        return read_document(chat, bytes, unread);
    }
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        if chat.read(&String::from_utf8_lossy(line)) == Heard::Nothing {
            unread.note(line);
        }
    }
}

/// The records of a file that is a list: what `/chat save` keeps of a conversation, or the log of all prompts.
fn list(bytes: &[u8]) -> Option<Vec<String>> {
    let is_list = bytes.trim_ascii_start().starts_with(b"[");
    if !is_list && memchr::memmem::find(&bytes[..bytes.len().min(SEEN)], b"\"history\"").is_none() {
        return None;
    }
    let value: Value = serde_json::from_slice(bytes).ok()?;
    let items = value.as_array().or_else(|| value.get("history")?.as_array())?;
    Some(items.iter().enumerate().map(|(n, item)| listed(n, item)).collect())
}

/// How much of a file is looked at to see whether it is such a list.
const SEEN: usize = 4096;

/// An item of such a list as a record.
fn listed(n: usize, item: &Value) -> String {
    let record = match (item.get("role").and_then(Value::as_str), item.get("parts"), item.get("message")) {
        (Some(role), Some(parts), _) => {
            let kind = if role == "model" { "gemini" } else { "user" };
            json!({"id": format!("turn-{n}"), "type": kind, "content": parts})
        }
        (_, _, Some(said)) => {
            json!({"id": format!("log-{n}"), "type": item.get("type"), "timestamp": item.get("timestamp"), "content": said})
        }
        _ => return item.to_string(),
    };
    record.to_string()
}

/// Whether a file is one document, as older versions wrote it, and not lines.
pub(super) fn is_document(bytes: &[u8]) -> bool {
    let first = bytes.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    first.is_some_and(|line| line.trim_ascii() == b"{")
}

/// Reads as many messages of a document as there are before it breaks off.
fn read_document(chat: &mut Chat, bytes: &[u8], unread: &mut Unread) {
    const MESSAGES: &str = "\"messages\":";
    let text = String::from_utf8_lossy(bytes);
    let found = text.find(MESSAGES).map(|at| text.split_at(at));
    let (head, rest) = found.unwrap_or((&text, ""));
    // The head lacks its end; with one it is a header like that of a file of lines.
    chat.read(&format!("{}}}", head.trim_end().trim_end_matches(',')));
    let mut rest = rest.trim_start_matches(MESSAGES).trim_start().strip_prefix('[').unwrap_or_default();
    loop {
        rest = rest.trim_start().trim_start_matches(',').trim_start();
        if rest.is_empty() || rest.starts_with(']') {
            return;
        }
        let mut values = Deserializer::from_str(rest).into_iter::<&RawValue>();
        let Some(Ok(message)) = values.next() else { return unread.note(rest.as_bytes()) };
        if chat.append(message.get()) == Heard::Nothing {
            unread.note(message.get().as_bytes());
        }
        rest = &rest[values.byte_offset()..];
    }
}

fn conversations(main: &Chat, children: &[Child]) -> Conversations {
    let origins = origins(main, children);
    let mut all = Conversations::default();
    for draft in drafts(main, &ConversationId::main(), Role::Hidden) {
        all.apply_draft(&draft);
    }
    for child in children {
        for draft in thread(child, origins.get(child.id.as_str())) {
            all.apply_draft(&draft);
        }
    }
    all
}

/// Which call each subagent carried out, by the subagent.
fn origins(main: &Chat, children: &[Child]) -> HashMap<String, Origin> {
    let main = std::iter::once((ConversationId::main(), main));
    let chats = main.chain(children.iter().map(|child| (child.id.clone(), &child.chat)));
    let mut origins = HashMap::new();
    for (parent, chat) in chats {
        for entry in chat.shown() {
            let at = time(entry.record.timestamp.as_deref(), start(chat));
            for call in chat.calls(entry) {
                if let Some(agent) = call.agent_id.clone() {
                    origins.insert(agent, Origin { parent: parent.clone(), call, at });
                }
            }
        }
    }
    origins
}

/// A chat's blocks, without those of one role.
fn drafts(chat: &Chat, id: &ConversationId, without: Role) -> Vec<Draft> {
    let entries = chat.shown().into_iter().filter(|entry| entry.role != without);
    let blocks = entries.flat_map(|entry| blocks::of_entry(chat, entry, start(chat)));
    blocks.map(|block| Draft::of_session(EventBody::BlockComplete { block }).within(id.clone())).collect()
}

/// A subagent's thread, with its beginning and its end.
fn thread(child: &Child, origin: Option<&Origin>) -> Vec<Draft> {
    let shown = child.chat.shown();
    let task = shown.iter().find(|entry| entry.role == Role::Prompt);
    let began =
        task.map_or(start(&child.chat), |task| time(task.record.timestamp.as_deref(), start(&child.chat)));
    let call = origin.map(|origin| Call::of(&origin.call, origin.at));
    let thread = Thread { id: child.id.clone(), name: call.as_ref().and_then(Call::agent_name) };
    let task = task.map(|task| prompt_text(&task.record)).unwrap_or_default();
    let parent = origin.map_or(ConversationId::main(), |origin| origin.parent.clone());
    let opened = thread.opened(&task, call.map(|call| call.id), parent, began);
    let last = shown.last().map_or(began, |last| time(last.record.timestamp.as_deref(), began));
    let (status, report, ended) = match origin {
        Some(origin) => {
            let ended = time(origin.call.timestamp.as_deref(), last);
            (blocks::status(&origin.call), Some(blocks::output(&origin.call)), ended)
        }
        // Whoever called it never heard of its end.
        None => (BlockStatus::Error, None, last),
    };
    let closed = thread.closed(status, report.map(Value::String), Some(child.chat.usage()), ended);
    let said = drafts(&child.chat, &child.id, Role::Prompt);
    opened.into_iter().chain(said).chain(closed).collect()
}

/// When a chat began: the time of what has none of its own.
fn start(chat: &Chat) -> Timestamp {
    time(chat.start_time(), Timestamp::default())
}
