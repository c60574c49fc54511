//! Text that comes piece by piece.

use std::collections::HashMap;

use warren_domain::BlockId;

use super::{Group, Page, Paint, clean};

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
}

impl Prose {
    pub(super) fn start(
        &mut self,
        id: &BlockId,
        voice: Voice,
        content: &str,
        depth: usize,
        page: &mut Page,
        paint: Paint,
    ) {
        if depth > 0 || self.live.is_some() {
            self.waiting.insert(id.clone(), content.to_owned());
            return;
        }
        self.live = Some(Live { id: id.clone(), voice, received: String::new(), has_written: false });
        self.delta(id, content, page, paint);
    }

    pub(super) fn delta(&mut self, id: &BlockId, delta: &str, page: &mut Page, paint: Paint) {
        match &mut self.live {
            Some(live) if live.id == *id => live.write(delta, page, paint),
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
        paint: Paint,
    ) {
        let Some(mut live) = self.live.take_if(|live| live.id == *id) else {
            let waited = self.waiting.remove(id).unwrap_or_default();
            let whole = if content.is_empty() { waited } else { content.to_owned() };
            self.whole(voice, &whole, depth, page, paint);
            return;
        };
        // A block may end with more than its pieces said.
        if let Some(rest) = content.strip_prefix(live.received.as_str()) {
            live.write(rest, page, paint);
        }
        page.end_line();
    }

    /// The block turned out not to be part of the conversation.
    pub(super) fn discard(&mut self, id: &BlockId, page: &mut Page, paint: Paint) {
        self.waiting.remove(id);
        if self.live.take_if(|live| live.id == *id).is_some_and(|live| live.has_written) {
            page.line(0, &paint.dim("(the above was withdrawn)"));
        }
    }

    /// Text that is there as a whole.
    pub(super) fn whole(&mut self, voice: Voice, text: &str, depth: usize, page: &mut Page, paint: Paint) {
        let text = clean(text);
        let text = text.trim_end();
        if text.is_empty() {
            return;
        }
        page.open(Group::Prose);
        for line in text.lines() {
            let line = format!("{}{}{}", "  ".repeat(depth), voice.prefix(paint), voice.colour(line, paint));
            page.text.push_str(line.trim_end());
            page.text.push('\n');
        }
    }
}

impl Live {
    fn write(&mut self, delta: &str, page: &mut Page, paint: Paint) {
        self.received.push_str(delta);
        let text = clean(delta);
        let text = if self.has_written { text.as_str() } else { text.trim_start() };
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
                    page.text.push_str(&self.voice.prefix(paint));
                }
                page.text.push_str(&self.voice.colour(line, paint));
            }
            if ends {
                page.text.push('\n');
                page.is_mid_line = false;
            }
        }
    }
}

impl Voice {
    fn prefix(self, paint: Paint) -> String {
        match self {
            Voice::Text => String::new(),
            Voice::Thinking => paint.dim("· "),
            Voice::User => paint.cyan("› "),
        }
    }

    fn colour(self, line: &str, paint: Paint) -> String {
        match self {
            Voice::Text => line.to_owned(),
            Voice::Thinking => paint.dim(line),
            Voice::User => paint.bold(line),
        }
    }
}
