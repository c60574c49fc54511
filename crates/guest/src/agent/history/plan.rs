//! What a compaction keeps.

use super::{History, Item, Placed};
use crate::agent::compaction::Compaction;

/// Texts that are kept are shortened to this first, if they must be, then to half of it, and so on.
const FIRST_MAX_TEXT: usize = 32 * 1024;
const LAST_MAX_TEXT: usize = 128;

/// The parts of what is left out and kept, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::agent) struct Kept {
    pub(in crate::agent) n_all: usize,
    pub(in crate::agent) n_first: usize,
    pub(in crate::agent) n_latest: usize,
}

impl History {
    /// What to keep, so that it fills about a third of `limit` tokens; half of that for each step of `pressure`. `None`:
    /// nothing can be left out or shortened.
    pub(in crate::agent) fn plan(&self, limit: u64, pressure: u32) -> Option<Compaction> {
        let target = (limit / 3) >> pressure.min(16);
        let n_head = self.items.iter().take_while(|placed| matches!(placed.item, Item::User { .. })).count();
        let tail = self.tail(n_head, target);
        let latest = self.latest(n_head, tail);
        let is_left_out =
            |placed: &&Placed| !matches!(placed.item, Item::Summary(_)) && Some(placed.line) != latest;
        let n_left_out = self.items[n_head..tail].iter().filter(is_left_out).count();
        let tail_start = self.items.get(tail).map_or(self.n_lines, |placed| placed.line);
        let head_end = n_head.checked_sub(1).map_or(0, |last| self.items[last].line + 1);
        let mut compaction = Compaction { head_end, tail_start, latest, ..Compaction::default() };
        if n_left_out > 0 {
            // Whatever it will say is short beside the rest.
            compaction.summary = Some(String::new());
        }
        compaction.max_text = self.max_text(&compaction, target.saturating_mul(2));
        (n_left_out > 0 || compaction.max_text.is_some()).then_some(compaction)
    }

    /// Keeps all but pictures and documents. `None`: there are none.
    pub(in crate::agent) fn without_media(&self) -> Option<Compaction> {
        let all = self.n_lines;
        let has_media = self.items.iter().any(|placed| placed.item.has_media());
        has_media.then(|| Compaction {
            head_end: all,
            tail_start: all,
            without_media: true,
            ..Compaction::default()
        })
    }

    /// How many messages there are, and how many of them a compaction keeps.
    pub(in crate::agent) fn kept(&self, compaction: &Compaction) -> Kept {
        let n = |is_meant: &dyn Fn(usize) -> bool| {
            let is_message = |placed: &&Placed| !matches!(placed.item, Item::Summary(_));
            self.items.iter().filter(is_message).filter(|placed| is_meant(placed.line)).count()
        };
        Kept {
            n_all: n(&|_| true),
            n_first: n(&|line| line < compaction.head_end),
            n_latest: n(&|line| line >= compaction.tail_start || Some(line) == compaction.latest),
        }
    }

    /// Folds a compaction.
    pub(super) fn compact(&mut self, compaction: &Compaction) {
        let Compaction { head_end, tail_start, latest, summary, max_text, without_media, window } =
            compaction;
        let is_kept = |placed: &Placed| match placed.item {
            Item::Summary(_) => summary.is_none(),
            _ => placed.line < *head_end || placed.line >= *tail_start || Some(placed.line) == *latest,
        };
        self.items.retain(is_kept);
        if let Some(summary) = summary {
            let at = self.items.iter().take_while(|placed| placed.line < *head_end).count();
            self.items.insert(at, Placed { line: self.n_lines, item: Item::Summary(summary.clone()) });
        }
        if let Some(max_text) = max_text {
            self.items.iter_mut().for_each(|placed| placed.item.shorten(*max_text));
        }
        if *without_media {
            self.items.iter_mut().for_each(|placed| placed.item.drop_media());
        }
        self.measured = None;
        self.window = window.clone().or(self.window.take());
    }

    /// Where the tail begins: as early as its items fit `target`, but never between the calls of one answer, and never
    /// after the last answer.
    fn tail(&self, n_head: usize, target: u64) -> usize {
        let is_boundary = |n: usize| match &self.items[n].item {
            Item::User { .. } => true,
            Item::Said { .. } => n == 0 || !matches!(self.items[n - 1].item, Item::Said { .. }),
            Item::Result { .. } | Item::Summary(_) => false,
        };
        let (mut tail, mut tokens) = (self.items.len(), 0);
        for n in (n_head..self.items.len()).rev() {
            tokens += self.items[n].item.tokens();
            if tokens > target && tail < self.items.len() {
                break;
            }
            if is_boundary(n) {
                tail = n;
            }
        }
        tail
    }

    /// The line of the person's last message, if it is between head and tail.
    fn latest(&self, n_head: usize, tail: usize) -> Option<usize> {
        let is_message = |placed: &&Placed| matches!(placed.item, Item::User { is_note: false, .. });
        if self.items[tail..].iter().any(|placed| is_message(&placed)) {
            return None;
        }
        self.items[n_head..tail].iter().rfind(is_message).map(|placed| placed.line)
    }

    /// The longest text to keep, so that what is kept fits `target`.
    fn max_text(&self, compaction: &Compaction, target: u64) -> Option<usize> {
        let shortened = |max_text: Option<usize>| {
            let mut history = self.clone();
            history.compact(&Compaction { max_text, ..compaction.clone() });
            history.tokens(0)
        };
        let whole = shortened(None);
        if whole <= target {
            return None;
        }
        let steps = std::iter::successors(Some(FIRST_MAX_TEXT), |max| Some(max / 2));
        let mut steps = steps.take_while(|max| *max >= LAST_MAX_TEXT);
        let fits = steps.find(|max| shortened(Some(*max)) <= target).unwrap_or(LAST_MAX_TEXT);
        // A text that is short already cannot be made shorter: then there is nothing to gain.
        (shortened(Some(fits)) < whole).then_some(fits)
    }
}
