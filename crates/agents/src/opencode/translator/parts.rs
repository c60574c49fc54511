//! Parts of messages: texts and thoughts, and what a step used.

use warren_domain::{Block, BlockId, Draft, EventBody, Timestamp};

use super::{Translator, tools::Call};
use crate::{
    Output,
    opencode::{
        blocks::{self, Context},
        names,
        native::Part,
    },
};

/// What of a part is shown already.
pub(super) struct Shown {
    session: String,
    pub(super) what: What,
}

/// How far a part is.
pub(super) enum What {
    /// A text or a thought that grows: the block as it was shown, or as it will be when there is something in it.
    Text { block: Block, has_begun: bool },
    /// A tool at work.
    Tool(Call),
    /// It is whole: what was shown of it, and how long its text is.
    Whole { ids: Vec<BlockId>, len: usize },
}

impl Translator {
    /// A part began, grew or is whole. `false`: it is of a kind that nobody here knows.
    pub(in crate::opencode) fn part(
        &mut self,
        part: &Part<'_>,
        at: Timestamp,
        out: &mut Vec<Output>,
    ) -> bool {
        if part.id.is_empty() || part.session.is_empty() {
            return false;
        }
        let thread = self.thread(&part.session);
        thread.is_touched = true;
        // The model answers again.
        thread.retrying = None;
        let context = self.context(part, at);
        if self.messages.get(&part.message).is_some_and(|told| told.is_person) {
            self.heard(part, &context, out);
            return true;
        }
        match part.kind.as_str() {
            "text" | "reasoning" => self.text(part, &context, out),
            "tool" => self.tool(part, &context, out),
            "step-finish" => self.step(part, &context, out),
            "compaction" => {
                let block = blocks::compaction(part, &context);
                self.emit(&part.session, EventBody::BlockComplete { block }, out);
            }
            "step-start" | "snapshot" | "patch" | "agent" | "retry" | "file" | "subtask" => {}
            _ => return false,
        }
        true
    }

    /// A text or a thought grew.
    pub(in crate::opencode) fn delta(&mut self, part: &str, delta: &str, out: &mut Vec<Output>) {
        let Some(shown) = self.parts.get_mut(part).filter(|_| !delta.is_empty()) else { return };
        let What::Text { block, has_begun } = &mut shown.what else { return };
        let start = (!*has_begun).then(|| block.clone());
        *has_begun = true;
        block.push_delta(delta);
        let session = shown.session.clone();
        if let Some(block) = start {
            self.emit(&session, EventBody::BlockStart { block }, out);
        }
        let body = EventBody::TextDelta { block_id: BlockId(part.to_owned()), delta: delta.to_owned() };
        self.emit(&session, body, out);
    }

    /// A part is no longer in its message.
    pub(in crate::opencode) fn part_removed(&mut self, part: &str, out: &mut Vec<Output>) {
        let Some(shown) = self.parts.remove(part) else { return };
        let ids = match shown.what {
            What::Text { has_begun: false, .. } => Vec::new(),
            What::Text { .. } => vec![BlockId(part.to_owned())],
            What::Tool(call) => call.ids(part),
            What::Whole { ids, .. } => ids,
        };
        ids.into_iter().for_each(|id| self.discard(&shown.session, id, out));
    }

    pub(super) fn discard(&mut self, session: &str, block_id: BlockId, out: &mut Vec<Output>) {
        self.emit(session, EventBody::BlockDiscarded { block_id, reason: "removed".to_owned() }, out);
    }

    pub(super) fn remember(&mut self, part: &Part<'_>, what: What) {
        let shown = Shown { session: part.session.clone(), what };
        let is_new = self.parts.insert(part.id.clone(), shown).is_none();
        if let Some(told) = self.messages.get_mut(&part.message).filter(|_| is_new) {
            told.parts.push(part.id.clone());
        }
    }

    /// What is known of a part's message; of one that was never told of, what its id says.
    fn context(&self, part: &Part<'_>, at: Timestamp) -> Context {
        let told = self.messages.get(&part.message).map(|told| told.context.clone());
        told.unwrap_or_else(|| {
            let created = names::born(&part.message, at.as_millis()).unwrap_or(at.as_millis());
            Context { created, model: None }
        })
    }

    fn text(&mut self, part: &Part<'_>, context: &Context, out: &mut Vec<Output>) {
        let before = match self.parts.get(&part.id).map(|shown| &shown.what) {
            Some(What::Text { block, has_begun: true }) => content(block).to_owned(),
            // It was told before, or again.
            Some(What::Whole { len, .. }) if *len == part.text.len() => return,
            _ => String::new(),
        };
        let is_whole = part.time.is_none_or(|time| time.end.is_some());
        let block = blocks::text(part, context);
        if let Some(body) = growth(&before, &part.text, &block, is_whole) {
            self.emit(&part.session, body, out);
        }
        let has_begun = !part.text.is_empty();
        if !is_whole {
            return self.remember(part, What::Text { block, has_begun });
        }
        let ids = has_begun.then(|| BlockId(part.id.clone())).into_iter().collect();
        self.remember(part, What::Whole { ids, len: part.text.len() });
        if has_begun && part.kind == "text" {
            self.thread(&part.session).last_text = Some(part.text.clone());
        }
    }

    fn step(&mut self, part: &Part<'_>, context: &Context, out: &mut Vec<Output>) {
        if self.parts.contains_key(&part.id) {
            return;
        }
        self.remember(part, What::Whole { ids: Vec::new(), len: 0 });
        self.thread(&part.session).finish.clone_from(&part.reason);
        self.stepped.insert(part.session.clone());
        let Some(tokens) = &part.tokens else { return };
        let usage = blocks::usage(tokens, part.cost, context);
        self.spent.add(&usage);
        let context_tokens = self.is_root(&part.session).then_some(usage.total_tokens);
        let body = EventBody::MetadataUpdate {
            usage: self.spent.clone(),
            cost_usd: self.spent.cost_usd,
            model: self.spent.model.clone(),
            context_tokens,
        };
        out.push(Output::Event(Draft::of_session(body)));
    }
}

/// How a text that was shown as `before` becomes `text`. An empty one is nothing to see.
fn growth(before: &str, text: &str, block: &Block, is_whole: bool) -> Option<EventBody> {
    let (block_id, block) = (block.id().clone(), block.clone());
    match (before, text) {
        ("", "") => None,
        (_, "") => Some(EventBody::BlockDiscarded { block_id, reason: "empty".to_owned() }),
        _ if is_whole => Some(EventBody::BlockComplete { block }),
        ("", _) => Some(EventBody::BlockStart { block }),
        (before, text) => match text.strip_prefix(before) {
            Some("") => None,
            Some(more) => Some(EventBody::TextDelta { block_id, delta: more.to_owned() }),
            None => Some(EventBody::BlockStart { block }),
        },
    }
}

fn content(block: &Block) -> &str {
    match block {
        Block::AssistantText { content, .. } | Block::Thinking { content, .. } => content,
        _ => "",
    }
}
