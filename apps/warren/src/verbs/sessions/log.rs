//! A log, one entry a line.

use anyhow::Result;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use warren_domain::{Seq, SessionId};

use crate::{
    client::Client,
    render::{Paint, clean},
    terminal::Terminal,
};

/// How much of an entry is shown on a line for people.
const WIDTH: usize = 100;

/// How entries are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Number, time, kind and the most telling part.
    Text,
    /// As they were recorded.
    Json,
}

/// A part of the log with the entries' own text.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    events: Vec<Box<RawValue>>,
    last_seq: Seq,
    head: Seq,
}

/// Prints what was recorded so far, and says where that ends.
pub(super) async fn past(
    client: &Client,
    session: SessionId,
    after: Seq,
    form: Form,
    terminal: &mut Terminal,
) -> Result<Seq> {
    let mut after = after;
    loop {
        let page: Page =
            client.get(&format!("/api/sessions/{session}/events?after={after}&limit=1000")).await?;
        for event in &page.events {
            terminal.line(&line(event.get(), form, terminal.paint()))?;
        }
        let is_end = page.events.is_empty() || page.last_seq >= page.head;
        after = Seq(after.0.max(page.last_seq.0));
        if is_end {
            return Ok(after);
        }
    }
}

/// Prints entries as they come, for ever.
pub(super) async fn follow(
    client: &Client,
    session: SessionId,
    after: Seq,
    form: Form,
    terminal: &mut Terminal,
) -> Result<()> {
    let mut entries = client.follow(session, after);
    loop {
        let entry = entries.next().await?;
        terminal.line(&line(&entry.json, form, terminal.paint()))?;
    }
}

fn line(json: &str, form: Form, paint: Paint) -> String {
    match (form, serde_json::from_str::<Value>(json)) {
        (Form::Text, Ok(event)) => describe(&event, paint),
        (Form::Json, _) | (Form::Text, Err(_)) => json.to_owned(),
    }
}

fn describe(event: &Value, paint: Paint) -> String {
    let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
    let seq = event.get("seq").and_then(Value::as_u64).unwrap_or_default();
    let thread = match text("conversationId") {
        "main" | "" => String::new(),
        other => format!("[{}] ", clean(other)),
    };
    let time = paint.dim(text("timestamp"));
    let line = format!("{seq:>6}  {time}  {:<18}  {thread}{}", text("type"), rest(event));
    line.trim_end().to_owned()
}

/// The fields that are not in every entry, as compact JSON, cut to one line.
fn rest(event: &Value) -> String {
    const ENVELOPE: [&str; 6] = ["seq", "sessionId", "runId", "conversationId", "timestamp", "type"];
    let Value::Object(fields) = event else { return String::new() };
    let own = fields.iter().filter(|(key, _)| !ENVELOPE.contains(&key.as_str()));
    let text = own.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ");
    let text = clean(&text);
    match text.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{Form, line};
    use crate::render::Paint;

    const ENTRY: &str = r#"{"seq":7,"sessionId":"s","runId":"r","conversationId":"t1","timestamp":"2026-01-01T00:00:00.000Z","type":"text_delta","blockId":"b","delta":"hi\u001b"}"#;

    #[test]
    fn an_entry_is_one_line_for_people_and_itself_for_programs() {
        assert_eq!(line(ENTRY, Form::Json, Paint::Plain), ENTRY);
        assert_eq!(
            line(ENTRY, Form::Text, Paint::Plain),
            r#"     7  2026-01-01T00:00:00.000Z  text_delta          [t1] blockId="b" delta="hi\u001b""#
        );
    }
}
