//! What a request asks, in no dialect: the conversation so far, the tools on offer, and how to answer.

use serde_json::Value;

/// A request as the script reads it.
#[derive(Debug, Default)]
pub(super) struct Ask {
    /// The model that is asked for; the answer says it is that one.
    pub(super) model: String,
    pub(super) system: String,
    pub(super) messages: Vec<Message>,
    pub(super) tools: Vec<Tool>,
    pub(super) stream: bool,
    /// Whether thoughts may be part of the answer.
    pub(super) thinks: bool,
    /// The answer's text must be JSON of this schema.
    pub(super) schema: Option<Value>,
    /// The longest answer, in tokens; agents probe a key with one token.
    pub(super) max_tokens: Option<u64>,
    /// The provider's cache is in use.
    pub(super) caches: bool,
    /// A stream ends with its usage; some dialects only do so when told to.
    pub(super) tells_usage: bool,
    /// What the agent says of its session, so that two sessions with the same words are told apart.
    pub(super) session: String,
}

/// One message, or several of one side that follow each other.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) role: Role,
    pub(super) texts: Vec<String>,
    pub(super) calls: Vec<Made>,
    pub(super) results: Vec<ToolResult>,
    /// Images, thoughts and whatever else the script does not read.
    pub(super) n_other: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Role {
    #[default]
    User,
    Model,
    /// The agent itself, in the middle of a conversation.
    System,
}

/// A tool was called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Made {
    pub(super) id: String,
    pub(super) tool: String,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolResult {
    /// The call it answers.
    pub(super) id: String,
    pub(super) text: String,
    pub(super) is_error: bool,
}

/// A tool on offer.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Tool {
    pub(super) name: String,
    /// Some dialects put tools into groups, which a call must name.
    pub(super) namespace: Option<String>,
    pub(super) description: String,
    pub(super) schema: Value,
    pub(super) form: Form,
}

/// How a tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Form {
    /// With a JSON object.
    #[default]
    Function,
    /// With a text of the tool's own grammar.
    Freeform,
    /// The dialect's own search for tools that are not on offer yet.
    Search,
    /// The dialect's own shell.
    Shell,
}

/// An answer that is an error. What it is called follows from the status, in each dialect differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ApiError {
    pub(super) status: u16,
    pub(super) message: String,
}

impl ApiError {
    pub(super) fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }
}

impl Ask {
    /// Adds a message; one of the same side is joined to the one before.
    pub(super) fn push(&mut self, message: Message) {
        match self.messages.last_mut() {
            Some(last)
                if last.role == message.role && message.role != Role::System && last.joins(&message) =>
            {
                last.join(message);
            }
            _ => self.messages.push(message),
        }
    }

    /// A call that the next message of the user does not answer. Every provider refuses such a conversation.
    pub(super) fn unanswered(&self) -> Option<&str> {
        let spoken: Vec<&Message> =
            self.messages.iter().filter(|message| message.role != Role::System).collect();
        spoken.iter().enumerate().find_map(|(idx, message)| {
            let answers = spoken.get(idx + 1).map_or(&[][..], |next| &next.results[..]);
            let is_answered = |call: &&Made| answers.iter().any(|result| result.id == call.id);
            message.calls.iter().find(|call| !is_answered(call)).map(|call| call.id.as_str())
        })
    }
}

impl Message {
    pub(super) fn of(role: Role) -> Self {
        Self { role, ..Self::default() }
    }

    pub(super) fn text(role: Role, text: impl Into<String>) -> Self {
        Self { texts: vec![text.into()], ..Self::of(role) }
    }

    /// Results and what is said after them stay apart: new words begin a new turn.
    fn joins(&self, next: &Self) -> bool {
        self.role == Role::Model || (self.texts.is_empty() && next.texts.is_empty())
    }

    fn join(&mut self, mut next: Self) {
        self.texts.append(&mut next.texts);
        self.calls.append(&mut next.calls);
        self.results.append(&mut next.results);
        self.n_other += next.n_other;
    }
}
