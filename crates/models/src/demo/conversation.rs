//! What the script goes by: the user's last words and what has happened since.

use super::{
    request::{Block, Content, Request, Role},
    toolbox::Toolbox,
};

#[derive(Debug)]
pub(super) struct Conversation {
    /// What the user asked last.
    pub(super) prompt: String,
    /// What the user said before, oldest first.
    pub(super) earlier: Vec<String>,
    /// How many answers were given since the prompt.
    pub(super) step: usize,
    /// Results of tools since the prompt, oldest first.
    pub(super) results: Vec<ToolResult>,
    /// How many of them came with the last message.
    pub(super) n_latest: usize,
    pub(super) system: String,
    pub(super) toolbox: Toolbox,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolResult {
    pub(super) text: String,
    pub(super) is_error: bool,
}

/// Agents put notes of their own between the user's words, in these tags.
const REMINDER: (&str, &str) = ("<system-reminder>", "</system-reminder>");

impl Conversation {
    pub(super) fn of(request: &Request) -> Self {
        let system = request.system.text();
        let toolbox = Toolbox::new(&request.tools, &system);
        let mut conversation = Self {
            prompt: String::new(),
            earlier: Vec::new(),
            step: 0,
            results: Vec::new(),
            n_latest: 0,
            system,
            toolbox,
        };
        for message in &request.messages {
            match message.role {
                Role::User => conversation.heard(&message.content),
                Role::Assistant => conversation.step += 1,
            }
        }
        conversation
    }

    /// The latest results.
    pub(super) fn latest(&self) -> &[ToolResult] {
        &self.results[self.results.len() - self.n_latest..]
    }

    /// The text of the latest result, shortened to be quoted.
    pub(super) fn latest_quoted(&self) -> String {
        self.latest().last().map(|result| quote(&result.text)).unwrap_or_default()
    }

    fn heard(&mut self, content: &Content) {
        let results = content.blocks().iter().filter_map(|block| match block {
            Block::ToolResult { content, is_error, .. } => {
                Some(ToolResult { text: content.text(), is_error: *is_error })
            }
            Block::Text { .. } | Block::ToolUse { .. } | Block::Other => None,
        });
        let before = self.results.len();
        self.results.extend(results);
        self.n_latest = self.results.len() - before;
        let said: Vec<String> = content.texts().map(users_words).filter(|said| !said.is_empty()).collect();
        let said = said.join("\n");
        if !said.is_empty() {
            let before = std::mem::replace(&mut self.prompt, said);
            self.earlier.extend((!before.is_empty()).then_some(before));
            self.step = 0;
            self.results.clear();
            self.n_latest = 0;
        }
    }
}

/// The text without agents' notes. A text in brackets is one too: `[Request interrupted by user]`.
fn users_words(text: &str) -> String {
    let mut words = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(REMINDER.0) {
        words.push_str(before);
        rest = after.split_once(REMINDER.1).map_or("", |(_, after)| after);
    }
    words.push_str(rest);
    let words = words.trim();
    let is_note = words.starts_with('[') && words.ends_with(']');
    if is_note { String::new() } else { words.to_owned() }
}

/// The beginning of a text, in a fence that the text cannot close.
fn quote(text: &str) -> String {
    const MAX: usize = 1500;
    let text = text.trim_end();
    let end = text.char_indices().map(|(at, _)| at).find(|at| *at >= MAX).unwrap_or(text.len());
    let more = if end < text.len() { "\n…" } else { "" };
    format!("```text\n{}{more}\n```", text[..end].replace("```", "'''"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Conversation, ToolResult};
    use crate::demo::request::Request;

    #[test]
    fn the_users_last_words_count_and_agents_notes_do_not() {
        let body = json!({
            "messages": [
                { "role": "user", "content": [
                    { "type": "text", "text": "<system-reminder>dashboard</system-reminder>" },
                    { "type": "text", "text": "hello" }] },
                { "role": "assistant", "content": "hi" },
                { "role": "user", "content": "[Request interrupted by user]" },
                { "role": "user", "content": "list files<system-reminder>x</system-reminder>" },
                { "role": "assistant", "content": [{ "type": "tool_use", "id": "t", "name": "glob", "input": {} }] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "t", "is_error": true, "content": [{ "type": "text", "text": "no" }] },
                    { "type": "text", "text": "<system-reminder>x</system-reminder>" }] },
            ]
        });
        let request = Request::read(body.to_string().as_bytes()).expect("a request");
        let conversation = Conversation::of(&request);
        assert_eq!(conversation.prompt, "list files");
        assert_eq!(conversation.earlier, ["hello"]);
        assert_eq!(conversation.step, 1);
        assert_eq!(conversation.latest(), [ToolResult { text: "no".to_owned(), is_error: true }]);
    }
}
