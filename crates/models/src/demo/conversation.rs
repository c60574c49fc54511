//! What the script goes by: the user's last words and what has happened since.

use serde_json::Value;

use super::{
    ask::{Ask, Message, Role, ToolResult},
    toolbox::{Chore, Toolbox, chore},
    words::{Heard, heard, tool_output},
};

#[derive(Debug)]
pub(super) struct Conversation {
    /// What the user asked last.
    pub(super) prompt: String,
    /// What the user said before, oldest first.
    pub(super) earlier: Vec<String>,
    /// How many answers were given since the prompt, chores apart.
    pub(super) step: usize,
    /// Results of tools since the prompt, oldest first.
    pub(super) results: Vec<ToolResult>,
    /// How many of them came with the last message.
    pub(super) n_latest: usize,
    /// The tools that were called last.
    pub(super) called: Vec<String>,
    pub(super) system: String,
    pub(super) toolbox: Toolbox,
    /// The answer must be JSON of this schema.
    pub(super) schema: Option<Value>,
    pub(super) max_tokens: Option<u64>,
    /// How often tools were looked for since the prompt.
    n_searches: usize,
    /// What the last answer did beside the story.
    chore: Option<Chore>,
}

impl Conversation {
    pub(super) fn of(ask: &Ask) -> Self {
        let mut conversation = Self {
            prompt: String::new(),
            earlier: Vec::new(),
            step: 0,
            results: Vec::new(),
            n_latest: 0,
            called: Vec::new(),
            system: ask.system.clone(),
            toolbox: Toolbox::default(),
            schema: ask.schema.clone(),
            max_tokens: ask.max_tokens,
            n_searches: 0,
            chore: None,
        };
        for message in &ask.messages {
            match message.role {
                Role::User => conversation.heard(message),
                Role::Model => conversation.said(message),
                Role::System => {
                    conversation.system.push('\n');
                    conversation.system.push_str(&message.texts.join("\n"));
                }
            }
        }
        let may_search = conversation.n_searches == 0;
        conversation.toolbox = Toolbox::new(&ask.tools, &conversation.system, may_search);
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

    fn said(&mut self, message: &Message) {
        // Some agents keep a summary as something that the model said.
        for text in &message.texts {
            if let Heard::Summary(earlier) = heard(text) {
                self.earlier.extend(earlier);
            }
        }
        let mut chores = message.calls.iter().map(|call| chore(&call.tool));
        self.chore = chores.next().flatten().filter(|first| chores.all(|chore| chore == Some(*first)));
        self.called = message.calls.iter().map(|call| call.tool.clone()).collect();
        if self.chore.is_none() {
            self.step += 1;
        }
    }

    fn heard(&mut self, message: &Message) {
        let searched = self.chore == Some(Chore::Search) && !message.results.is_empty();
        self.answered(&message.results);
        let mut said = Vec::new();
        // What comes along with found tools is the agent's remark on them.
        for text in message.texts.iter().filter(|_| !searched) {
            match heard(text) {
                Heard::Words(words) => said.push(words),
                Heard::Summary(earlier) => self.earlier.extend(earlier),
                Heard::Nothing => {}
            }
        }
        // An agent that was cut off says what it said before once more, in front of what is new.
        if let Some(last) = said.pop() {
            let before = std::mem::replace(&mut self.prompt, last);
            self.earlier.extend((!before.is_empty()).then_some(before));
            self.earlier.append(&mut said);
            self.step = 0;
            self.results.clear();
            self.n_latest = 0;
            self.n_searches = 0;
            self.chore = None;
            self.called.clear();
        }
    }

    fn answered(&mut self, results: &[ToolResult]) {
        let plain = |result: &ToolResult| ToolResult {
            text: tool_output(&result.text).into_owned(),
            ..result.clone()
        };
        match (self.chore.take(), results) {
            (_, []) => {}
            (Some(Chore::Search), _) => self.n_searches += 1,
            // What was waited for takes the place of what said to wait.
            (Some(Chore::Wait), [.., last]) if self.n_latest > 0 => {
                self.results.pop();
                self.results.push(plain(last));
            }
            (None | Some(Chore::Wait), results) => {
                self.results.extend(results.iter().map(plain));
                self.n_latest = results.len();
            }
        }
    }
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
    use crate::demo::{Dialect, read::read};

    #[test]
    fn the_users_last_words_count_and_agents_notes_do_not() {
        let body = json!({
            "max_tokens": 9,
            "messages": [
                { "role": "user", "content": [
                    { "type": "text", "text": "<system-reminder>dashboard</system-reminder>" },
                    { "type": "text", "text": "hello" }] },
                { "role": "assistant", "content": "hi" },
                { "role": "user", "content": "[Request interrupted by user]" },
                { "role": "user", "content": "list files<system-reminder>x</system-reminder>" },
                { "role": "system", "content": "a word from the agent" },
                { "role": "assistant", "content": [{ "type": "tool_use", "id": "t", "name": "glob", "input": {} }] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "t", "is_error": true, "content": [{ "type": "text", "text": "no" }] },
                    { "type": "text", "text": "<system-reminder>x</system-reminder>" }] },
            ]
        });
        let ask = read(Dialect::Anthropic, "/v1/messages", body.to_string().as_bytes()).expect("a request");
        let conversation = Conversation::of(&ask);
        assert_eq!(conversation.prompt, "list files");
        assert_eq!(conversation.earlier, ["hello"]);
        assert_eq!(conversation.step, 1);
        let failed = ToolResult { id: "t".to_owned(), text: "no".to_owned(), is_error: true };
        assert_eq!(conversation.latest(), [failed]);
    }
}
