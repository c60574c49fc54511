//! Blocks from rollout files.

use std::collections::HashMap;

use warren_domain::{Conversations, Draft, Timestamp};

use super::{
    rollout::{Rollout, Step},
    story::Story,
};
use crate::{Parsed, transcripts::Unread};

pub(super) fn parse(main: &[u8], subagents: &[(String, Vec<u8>)]) -> Parsed {
    let mut unread = Unread::default();
    let rollout = Rollout::read(main, &mut unread);
    let mut library: HashMap<String, Rollout> = HashMap::new();
    for (id, bytes) in subagents {
        let rollout = Rollout::read(bytes, &mut unread);
        library.insert(rollout.thread.clone().unwrap_or_else(|| id.clone()), rollout);
    }
    let usage = rollout.usage.map(|tokens| tokens.usage(rollout.model.as_deref()));
    let thread = rollout.thread.clone().unwrap_or_else(|| "main".to_owned());
    let mut telling = Telling { story: Story::default(), library, conversations: Conversations::default() };
    telling.tell(&thread, rollout);
    telling.tell_rest();
    unread.parsed(telling.conversations, usage)
}

/// Tells files as one story. A subagent's file is told where the subagent begins.
struct Telling {
    story: Story,
    library: HashMap<String, Rollout>,
    conversations: Conversations,
}

impl Telling {
    fn tell(&mut self, thread: &str, rollout: Rollout) {
        for (at, step) in rollout.steps {
            for opened in self.step(thread, at, step) {
                // Taken out, so that no file is told twice and none tells itself.
                if let Some(rollout) = self.library.remove(&opened) {
                    self.tell(&opened, rollout);
                }
            }
        }
    }

    /// Files of subagents that nobody began, as far as the main file says.
    fn tell_rest(&mut self) {
        let mut rest: Vec<String> = self.library.keys().cloned().collect();
        rest.sort();
        for thread in rest {
            if let Some(rollout) = self.library.remove(&thread) {
                self.tell(&thread, rollout);
            }
        }
    }

    fn step(&mut self, thread: &str, at: Timestamp, step: Step) -> Vec<String> {
        let (mut out, mut opened) = (Vec::new(), Vec::new());
        match step {
            Step::TurnBegan(turn, scheme) => {
                self.story.scheme = scheme;
                self.story.turn_began(thread, turn.as_deref(), at, &mut out);
            }
            Step::Began(item) => self.story.began(thread, &item, at, &mut out),
            Step::Ended(item) => opened = self.story.ended(thread, &item, at, &mut out),
            Step::TurnEnded(outcome) => self.story.turn_ended(thread, &outcome, at, &mut out),
        }
        out.iter().for_each(|draft: &Draft| self.conversations.apply_draft(draft));
        opened
    }
}
