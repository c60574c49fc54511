//! Text of agents and people, written as it arrives.

use std::collections::HashMap;

use warren_domain::BlockId;

use super::{
    Group, Look, Page, clean,
    markdown::{self, Chunks, Run, Style},
};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    Text,
    Thinking,
    User,
}

/// The blocks of text that have begun and not ended.
///
/// One block at a time, of the main thread, is written as it comes. The others wait until they are whole, so that
/// two agents who speak at once can both be understood.
#[derive(Default)]
pub(super) struct Prose {
    /// The block that is written as it comes.
    live: Option<Live>,
    /// What came of the others.
    waiting: HashMap<BlockId, String>,
}

struct Live {
    id: BlockId,
    voice: Voice,
    /// All pieces that came.
    received: String,
    /// Something of it stands on the page; leading white space does not.
    has_written: bool,
    /// On a terminal: what is not drawn yet.
    chunks: Chunks,
}

impl Prose {
    /// Whether a block is being written, which other lines must not cut in two.
    pub(super) fn is_live(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.has_written || live.chunks.tail().is_some())
    }

    /// The end of the text that is not drawn yet.
    pub(super) fn tail(&self) -> Option<&str> {
        self.live.as_ref()?.chunks.tail()
    }

    pub(super) fn start(
        &mut self,
        id: &BlockId,
        voice: Voice,
        content: &str,
        depth: usize,
        page: &mut Page,
        look: &Look,
    ) {
        if depth > 0 || self.live.is_some() {
            self.waiting.insert(id.clone(), content.to_owned());
            return;
        }
        let (received, chunks) = (String::new(), Chunks::default());
        self.live = Some(Live { id: id.clone(), voice, received, has_written: false, chunks });
        self.delta(id, content, page, look);
    }

    pub(super) fn delta(&mut self, id: &BlockId, delta: &str, page: &mut Page, look: &Look) {
        match &mut self.live {
            Some(live) if live.id == *id => live.write(delta, page, look),
            _ => {
                if let Some(text) = self.waiting.get_mut(id) {
                    text.push_str(delta);
                }
            }
        }
    }

    pub(super) fn complete(
        &mut self,
        id: &BlockId,
        voice: Voice,
        content: &str,
        depth: usize,
        page: &mut Page,
        look: &Look,
    ) {
        let Some(mut live) = self.live.take_if(|live| live.id == *id) else {
            let waited = self.waiting.remove(id).unwrap_or_default();
            let whole = if content.is_empty() { waited } else { content.to_owned() };
            self.whole(voice, &whole, depth, page, look);
            return;
        };
        // A block may end with more than its pieces said.
        if let Some(rest) = content.strip_prefix(live.received.as_str()) {
            live.write(rest, page, look);
        }
        live.finish(page, look);
    }

    /// The block turned out not to be part of the conversation.
    pub(super) fn discard(&mut self, id: &BlockId, page: &mut Page, look: &Look) {
        self.waiting.remove(id);
        if self.live.take_if(|live| live.id == *id).is_some_and(|live| live.has_written) {
            page.line(0, &look.paint.dim("(the text above was withdrawn)"));
        }
    }

    /// Writes the rest of a block that will not be completed.
    pub(super) fn end(&mut self, page: &mut Page, look: &Look) {
        if let Some(mut live) = self.live.take() {
            live.finish(page, look);
        }
    }

    /// Text that is there as a whole.
    pub(super) fn whole(&mut self, voice: Voice, text: &str, depth: usize, page: &mut Page, look: &Look) {
        let text = clean(text);
        let text = text.trim_end();
        if text.is_empty() {
            return;
        }
        page.open(Group::Prose);
        let indent = "  ".repeat(depth);
        let drawn = match look.width {
            Some(width) => voice.draw(text, width.saturating_sub(indent.len()), look),
            None => text.to_owned(),
        };
        for line in drawn.lines() {
            let line = match look.width {
                Some(_) => format!("{indent}{line}"),
                None => format!("{indent}{}{}", voice.prefix(look), voice.colour(line, look)),
            };
            page.text.push_str(line.trim_end());
            page.text.push('\n');
        }
    }
}

impl Live {
    fn write(&mut self, delta: &str, page: &mut Page, look: &Look) {
        self.received.push_str(delta);
        let text = clean(delta);
        match look.width {
            Some(width) => {
                let blocks = self.chunks.push(&text);
                self.draw(&blocks, width, page, look);
            }
            None => self.stream(&text, page, look),
        }
    }

    fn finish(&mut self, page: &mut Page, look: &Look) {
        if let Some(width) = look.width {
            let blocks = self.chunks.finish();
            self.draw(&blocks, width, page, look);
        }
        page.end_line();
    }

    fn draw(&mut self, blocks: &[String], width: usize, page: &mut Page, look: &Look) {
        for block in blocks {
            // The first opens the paragraph; the others stand apart from it.
            page.open(Group::Prose);
            self.has_written = true;
            page.text.push_str(&self.voice.draw(block, width, look));
            page.text.push('\n');
        }
    }

    /// In a pipe: as it comes.
    fn stream(&mut self, text: &str, page: &mut Page, look: &Look) {
        let text = if self.has_written { text } else { text.trim_start() };
        if text.is_empty() {
            return;
        }
        // Lines about tools may have come in between.
        if !std::mem::replace(&mut self.has_written, true) || page.last == Some(Group::Lines) {
            page.open(Group::Prose);
        }
        for piece in text.split_inclusive('\n') {
            let (line, ends) = piece.strip_suffix('\n').map_or((piece, false), |line| (line, true));
            if !line.is_empty() {
                if !std::mem::replace(&mut page.is_mid_line, true) {
                    page.text.push_str(&self.voice.prefix(look));
                }
                page.text.push_str(&self.voice.colour(line, look));
            }
            if ends {
                page.text.push('\n');
                page.is_mid_line = false;
            }
        }
    }
}

impl Voice {
    /// For a terminal: agents write Markdown, people and thoughts are plain text.
    fn draw(self, text: &str, width: usize, look: &Look) -> String {
        let style = match self {
            Voice::Text => return markdown::draw(text, width, look.paint),
            Voice::Thinking => Style { dim: true, ..Style::default() },
            Voice::User => Style { bold: true, ..Style::default() },
        };
        let prefix = self.prefix(look);
        let runs = [Run { text: text.to_owned(), style }];
        let lines = markdown::wrap(&runs, width.saturating_sub(2).max(1), look.paint);
        lines
            .iter()
            .map(|line| format!("{prefix}{line}").trim_end().to_owned())
            .collect::<Vec<_>>()
            .join("\n")
    }

    fn prefix(self, look: &Look) -> String {
        match self {
            Voice::Text => String::new(),
            Voice::Thinking => look.paint.dim("· "),
            Voice::User => look.paint.cyan("› "),
        }
    }

    fn colour(self, line: &str, look: &Look) -> String {
        match self {
            Voice::Text => line.to_owned(),
            Voice::Thinking => look.paint.dim(line),
            Voice::User => look.paint.bold(line),
        }
    }
}
