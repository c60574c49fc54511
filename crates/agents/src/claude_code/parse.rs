//! Blocks from Claude Code's transcripts, of any version.
//!
//! A file is read once, line by line; of lines that show nothing only the type is looked at. What was taken back by a
//! rewind is left out, as Claude Code itself leaves it out; see [`branches`].

mod branches;
mod names;
mod story;
mod threads;

use warren_domain::Usage;

use super::{
    native::{CostState, Kind, Line, total},
    scan::read,
};
use crate::{Parsed, transcripts::Unread};
use names::{ByName, key};
use story::{Misread, Story};

pub(super) fn parse(main: &[u8], subagents: &[(String, Vec<u8>)]) -> Parsed {
    let mut reading = Reading::default();
    let main = reading.main(main);
    let mut threads = std::mem::take(&mut reading.sidechains.stories);
    threads.extend(subagents.iter().map(|(id, bytes)| reading.subagent(id, bytes)));
    let usage = reading.usage(&main, &threads);
    let conversations = threads::assembled(main, threads);
    reading.unread.parsed(conversations, usage)
}

/// What is gathered beside the threads.
#[derive(Default)]
struct Reading {
    unread: Unread,
    sidechains: Sidechains,
    /// The last line that tells what everything cost.
    cost: Vec<u8>,
}

/// Subagents' threads that older versions wrote between the lines of the conversation.
#[derive(Default)]
struct Sidechains {
    stories: Vec<Story>,
    /// Which thread a line belongs to, by the line's name.
    places: ByName<usize>,
}

impl Reading {
    fn main(&mut self, bytes: &[u8]) -> Story {
        let (mut story, mut sidechains) = (Story::main(), std::mem::take(&mut self.sidechains));
        for raw in lines(bytes) {
            self.take(
                raw,
                |line| {
                    if line.is_sidechain { sidechains.of(line).take(line) } else { story.take(line) }
                },
            );
        }
        story.finish();
        sidechains.stories.iter_mut().for_each(Story::finish);
        self.sidechains = sidechains;
        story
    }

    fn subagent(&mut self, id: &str, bytes: &[u8]) -> Story {
        let mut story = Story::subagent(id.strip_prefix("agent-").unwrap_or(id));
        for raw in lines(bytes) {
            self.take(raw, |line| story.take(line));
        }
        story.finish();
        story
    }

    fn take(&mut self, raw: &[u8], mut story: impl FnMut(&mut Line<'_>) -> Result<(), Misread>) {
        let mut read = |raw: &[u8]| match Line::read(raw) {
            Ok(line) if line.kind() == Kind::CostState => {
                raw.clone_into(&mut self.cost);
                Ok(())
            }
            Ok(mut line) => story(&mut line),
            Err(_) => Err(Misread),
        };
        // Bytes that are no text spoil their line only as far as they go.
        let is_read = read(raw).is_ok()
            || (std::str::from_utf8(raw).is_err() && read(String::from_utf8_lossy(raw).as_bytes()).is_ok());
        if !is_read {
            self.unread.note(raw);
        }
    }

    /// What was spent: what Claude Code says itself, or what its messages add up to.
    fn usage(&mut self, main: &Story, threads: &[Story]) -> Option<Usage> {
        match read::<CostState>(&self.cost) {
            Some(cost) => return Some(Usage { cost_usd: cost.total_cost_usd, ..total(&cost.model_usage) }),
            None if !self.cost.is_empty() => self.unread.note(&self.cost),
            None => {}
        }
        let mut sum = Usage::default();
        std::iter::once(main).chain(threads).flat_map(Story::usage).for_each(|usage| sum.add(&usage));
        (sum.total_tokens > 0).then_some(sum)
    }
}

impl Sidechains {
    /// The thread that a line belongs to: that of the line before it, or a new one.
    fn of(&mut self, line: &Line<'_>) -> &mut Story {
        let before = line.parent_name().and_then(|name| self.places.get(&key(name)));
        let place = before.copied().unwrap_or_else(|| {
            self.stories.push(Story::sidechain());
            self.stories.len() - 1
        });
        if let Some(name) = line.name() {
            self.places.insert(key(name), place);
        }
        &mut self.stories[place]
    }
}

/// Lines end with `\n` and nothing else: other line breaks stand within texts.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    let next = move || {
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let line = (!rest.is_empty()).then_some(&rest[..end]);
        rest = rest.get(end + 1..).unwrap_or_default();
        line
    };
    std::iter::from_fn(next).filter(|line| !line.iter().all(u8::is_ascii_whitespace))
}
