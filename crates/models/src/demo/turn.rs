//! One answer of the demo model, before it is put into events.

use serde_json::Value;

use super::ask::Form;

/// What the model says in one go, and how fast.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Turn {
    pub(super) blocks: Vec<Part>,
    pub(super) tempo: Tempo,
    /// The stream ends with an error in place of its end.
    pub(super) breaks: bool,
    /// Tools that were wanted but are not on offer.
    n_missing: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    Thinking(String),
    Text(String),
    Call(Call),
}

/// A tool is called.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    pub(super) form: Form,
    /// What it is given; a text for a tool of free form.
    pub(super) input: Value,
    /// What it is good for.
    pub(super) aim: Aim,
}

/// Whether a call is part of the story or only prepares the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Aim {
    Story,
    /// Asks for tools that are not on offer yet. The answer that needed them comes again afterwards.
    Search,
}

/// How an answer is cut into pieces and how long each takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tempo {
    /// A few words at a time, quickly.
    Normal,
    /// Word by word, slowly enough to interrupt.
    Slow,
    /// Large pieces, as fast as they are taken.
    Flood,
}

impl Turn {
    pub(super) fn new() -> Self {
        Self { blocks: Vec::new(), tempo: Tempo::Normal, breaks: false, n_missing: 0 }
    }

    pub(super) fn think(mut self, text: &str) -> Self {
        self.blocks.push(Part::Thinking(text.to_owned()));
        self
    }

    pub(super) fn say(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(Part::Text(text.into()));
        self
    }

    /// Calls a tool, if it is on offer.
    pub(super) fn call(mut self, call: Option<Call>) -> Self {
        match call {
            Some(call) => self.blocks.push(Part::Call(call)),
            None => self.n_missing += 1,
        }
        self
    }

    pub(super) fn at(self, tempo: Tempo) -> Self {
        Self { tempo, ..self }
    }

    pub(super) fn breaking(self) -> Self {
        Self { breaks: true, ..self }
    }

    pub(super) fn calls_tools(&self) -> bool {
        self.blocks.iter().any(|part| matches!(part, Part::Call(_)))
    }

    /// Nothing but the searches, if there are any: what needs the tools waits until they are there.
    pub(super) fn searching_first(mut self) -> Self {
        let searches = |part: &Part| matches!(part, Part::Call(Call { aim: Aim::Search, .. }));
        if self.blocks.iter().any(searches) {
            self.blocks.retain(searches);
        }
        self
    }

    /// All that is said, thoughts apart.
    pub(super) fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Thinking(_) | Part::Call(_) => None,
        });
        texts.collect()
    }

    /// It was about calling tools, and none of them is on offer.
    pub(super) fn is_hollow(&self) -> bool {
        self.n_missing > 0 && !self.calls_tools()
    }
}
