//! A chat as its file tells it: records that replace one another, are taken back, or are summed up.
//!
//! The file is a log. A record with a known id replaces the earlier one; `$set.messages` replaces all; `$rewindTo`
//! takes back a record and what follows. The same reader serves the saved file and the lines that come while Gemini
//! writes it, so that both give every block the same id.
//!
//! Stdout carries no ids of messages, so ids are made of what it does carry: which prompt it was (a fingerprint of its
//! text, and how often the session had it before), and how many calls of tools were answered since. That is a
//! [`Place`]. A record keeps the place it got when it was first seen, whatever happens to those before it.

use std::collections::HashMap;

use serde_json::{Value, value::RawValue};
use warren_domain::Usage;

use super::{
    native::{ChatLine, Record, ToolCall},
    record::{Has, Role, fill_gaps, prompt_text, renewed, role, usage},
    text,
};

/// What the model says to a summary of what was said before.
const SUMMED_UP: &str = "Got it. Thanks for the additional context!";

/// The turn of what comes before any prompt.
const NO_TURN: &str = "start";

/// Where a record stands in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Place {
    /// Which prompt it answers, as an index of [`Chat::turns`].
    turn: usize,
    /// How many calls were answered since that prompt. The model speaks, then tools answer: that is a round. Some versions
    /// keep the calls of several rounds in one record, so it is calls that are counted.
    pub(super) round: u32,
    /// How many records of this round had a text before this one, and how many a thought.
    pub(super) text: u32,
    pub(super) thought: u32,
}

/// A record that was seen.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) record: Record,
    pub(super) role: Role,
    pub(super) place: Place,
    has: Has,
    /// Its number in the order in which records came to show. One that is taken back and comes again keeps it.
    number: Option<u64>,
    is_shown: bool,
    /// Whether it is among what the model remembers.
    is_current: bool,
}

/// What a line was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// Nothing anyone understands.
    Nothing,
    /// Nothing that shows.
    Quiet,
    /// A record, new or changed.
    Record(usize),
    /// What was said before was summed up in this record.
    Compacted(usize),
}

/// A chat, as far as it was read.
#[derive(Debug)]
pub(super) struct Chat {
    entries: Vec<Entry>,
    known: HashMap<String, usize>,
    /// What the model remembers, in order.
    current: Vec<usize>,
    turns: Vec<String>,
    /// How often each prompt was said, by its fingerprint.
    prompts: HashMap<u64, u32>,
    /// Whether prompts that are only repeated in a replacement are counted already.
    counts_copies: bool,
    cursor: Place,
    n_shown: u64,
    /// A summary that is shown with the next thing the model says.
    summary: Option<usize>,
    /// What tools answered, by the call.
    answers: HashMap<String, Value>,
    start_time: Option<String>,
}

impl Chat {
    pub(super) fn new() -> Self {
        Self {
            entries: Vec::new(),
            known: HashMap::new(),
            current: Vec::new(),
            turns: vec![NO_TURN.to_owned()],
            prompts: HashMap::new(),
            counts_copies: true,
            cursor: Place::default(),
            n_shown: 0,
            summary: None,
            answers: HashMap::new(),
            start_time: None,
        }
    }

    /// A chat that goes on, of which only new lines will be read.
    pub(super) fn going_on(prompts: HashMap<u64, u32>) -> Self {
        Self { prompts, counts_copies: false, ..Self::new() }
    }

    /// Reads one line.
    pub(super) fn read(&mut self, line: &str) -> Heard {
        let Ok(parsed) = serde_json::from_str::<ChatLine<'_>>(line) else { return Heard::Nothing };
        if let Some(id) = parsed.rewind_to {
            self.rewind(&id);
            Heard::Quiet
        } else if parsed.id.is_some() {
            self.append(line)
        } else if let Some(set) = parsed.set {
            set.messages.map_or(Heard::Quiet, |messages| self.replace(&messages))
        } else if parsed.session_id.is_some() {
            self.start_time = self.start_time.take().or(parsed.start_time);
            let mut heard = Heard::Quiet;
            for message in parsed.messages.into_iter().flatten() {
                if self.append(message.get()) == Heard::Nothing {
                    heard = Heard::Nothing;
                }
            }
            heard
        } else {
            Heard::Nothing
        }
    }

    /// The file begins anew.
    pub(super) fn restart(&mut self) {
        self.replace(&[]);
    }

    /// A record at the end, or one that replaces an earlier one.
    pub(super) fn append(&mut self, record: &str) -> Heard {
        let Ok(record) = serde_json::from_str::<Record>(record) else { return Heard::Nothing };
        if let Some(index) = self.known.get(&record.id).copied() {
            self.renew(index, record);
            return Heard::Record(index);
        }
        let Some(role) = role(&record) else { return Heard::Nothing };
        let index = self.add(record, role, Counted::Yes);
        self.remember(index);
        Heard::Record(index)
    }

    /// All entries that show, in the order in which they came to show.
    pub(super) fn shown(&self) -> Vec<&Entry> {
        let mut shown: Vec<&Entry> = self.entries.iter().filter(|entry| entry.is_shown).collect();
        // A summary that nothing follows has no number yet: it shows last.
        shown.sort_by_key(|entry| entry.number.unwrap_or(u64::MAX));
        shown
    }

    pub(super) fn entry(&self, index: usize) -> &Entry {
        &self.entries[index]
    }

    /// The name of an entry's turn.
    pub(super) fn turn(&self, entry: &Entry) -> &str {
        &self.turns[entry.place.turn]
    }

    /// The name of the turn that a prompt will begin.
    pub(super) fn next_turn(&self, fingerprint: u64) -> String {
        turn_name(fingerprint, self.prompts.get(&fingerprint).copied().unwrap_or_default())
    }

    /// Whether a turn of this name was counted: the next prompt with its words gets another.
    pub(super) fn has_begun(&self, name: &str) -> bool {
        let (words, nth) = name.split_once('.').unwrap_or((name, "0"));
        let said = u64::from_str_radix(words, 16).ok().and_then(|fingerprint| self.prompts.get(&fingerprint));
        matches!((said, nth.parse::<u32>()), (Some(said), Ok(nth)) if *said > nth)
    }

    /// Counts a prompt that no file will tell of.
    pub(super) fn count(&mut self, fingerprint: u64) {
        *self.prompts.entry(fingerprint).or_default() += 1;
    }

    /// How often each prompt was said.
    pub(super) fn prompts(&self) -> &HashMap<u64, u32> {
        &self.prompts
    }

    /// When the chat began, as the file says.
    pub(super) fn start_time(&self) -> Option<&str> {
        self.start_time.as_deref()
    }

    /// Whether Gemini would go on from this: the rule is its own.
    pub(super) fn is_resumable(&self) -> bool {
        self.current.iter().map(|index| &self.entries[*index]).any(|entry| match entry.role {
            Role::Prompt => !text::of_content(&entry.record.content).trim_start().starts_with(['/', '?']),
            Role::Agent => entry.has.text || entry.has.thoughts || entry.has.calls > 0,
            Role::Answers | Role::Summary => true,
            Role::Note | Role::Hidden => false,
        })
    }

    /// What was spent, also on what was taken back.
    pub(super) fn usage(&self) -> Usage {
        let mut sum = Usage::default();
        let mut model = None;
        for entry in &self.entries {
            // A record that names no model is from the same one.
            model = entry.record.model.as_ref().or(model);
            if let Some(tokens) = entry.record.tokens {
                sum.add(&usage(tokens, model.cloned()));
            }
        }
        sum
    }

    /// The calls of an entry. A record that was only ever copied has them among its parts, and their answers elsewhere.
    pub(super) fn calls(&self, entry: &Entry) -> Vec<ToolCall> {
        if let Some(calls) = &entry.record.tool_calls {
            return calls.clone();
        }
        let parts = text::parts(&entry.record.content).filter_map(|part| part.get("functionCall"));
        parts.map(|call| self.copied_call(call)).collect()
    }

    fn copied_call(&self, call: &Value) -> ToolCall {
        let field = |name: &str| call.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let answer = self.answers.get(&field("id"));
        let failed =
            answer.is_some_and(|answer| answer.pointer("/functionResponse/response/error").is_some());
        let status = answer.map(|_| if failed { "error" } else { "success" }.to_owned());
        ToolCall {
            id: field("id"),
            name: field("name"),
            args: call.get("args").cloned().unwrap_or_default(),
            result: answer.cloned().unwrap_or_default(),
            status,
            timestamp: None,
            agent_id: None,
            render_output_as_markdown: None,
        }
    }

    /// Replaces all there is.
    fn replace(&mut self, messages: &[&RawValue]) -> Heard {
        let before = std::mem::take(&mut self.cursor);
        let old = std::mem::take(&mut self.current);
        for index in &old {
            self.entries[*index].is_current = false;
        }
        let is_loaded = old.iter().all(|index| self.entries[*index].role == Role::Hidden);
        let mut copies = Copies { is_loaded, ..Copies::default() };
        let mut heard = Heard::Quiet;
        for message in messages {
            match serde_json::from_str::<Record>(message.get()) {
                Ok(record) => self.copy(record, &mut copies),
                // What else there is counts all the same.
                Err(_) => heard = Heard::Nothing,
            }
        }
        if let Some(summary) = copies.summary {
            // What the model forgot was said nevertheless, and the turn goes on as if nothing had happened.
            self.cursor = before;
            self.entries[summary].is_shown = true;
            self.summary = Some(summary);
            return Heard::Compacted(summary);
        }
        self.take_back(&old);
        for place in 0..self.current.len() {
            self.show(self.current[place]);
        }
        heard
    }

    fn copy(&mut self, record: Record, copies: &mut Copies) {
        let index = match self.known.get(&record.id).copied() {
            Some(index) => {
                let entry = &mut self.entries[index];
                fill_gaps(&mut entry.record, record);
                entry.has = Has::of(&entry.record);
                self.cursor = self.after(index);
                index
            }
            None => match role(&record) {
                Some(role) => self.add_copy(record, role, copies),
                None => return,
            },
        };
        if !std::mem::replace(&mut self.entries[index].is_current, true) {
            self.current.push(index);
        }
    }

    /// A record that is first seen as a copy. Those after a summary are what was said before, under new names.
    fn add_copy(&mut self, record: Record, role: Role, copies: &mut Copies) -> usize {
        let is_summed_up = role == Role::Agent && text::of_content(&record.content).trim() == SUMMED_UP;
        let role = if copies.summary.is_some() { Role::Hidden } else { role };
        let counted = if self.counts_copies { Counted::Yes } else { Counted::Already };
        let index = self.add(record, role, counted);
        match copies.last_prompt.take() {
            Some(prompt) if is_summed_up => {
                copies.summary = (!copies.is_loaded).then_some(prompt);
                self.entries[prompt].role = Role::Summary;
                self.entries[index].role = Role::Hidden;
            }
            _ if role == Role::Prompt => copies.last_prompt = Some(index),
            _ => {}
        }
        index
    }

    fn rewind(&mut self, id: &str) {
        let index = self.known.get(id).copied();
        let place = index.and_then(|index| self.current.iter().rposition(|current| *current == index));
        // Gemini forgets everything when it does not know the place.
        let gone = self.current.split_off(place.unwrap_or(0));
        for index in &gone {
            self.entries[*index].is_current = false;
        }
        self.take_back(&gone);
        self.cursor = self.current.last().map_or(Place::default(), |last| self.after(*last));
    }

    /// What is no longer among the current ones does not show.
    fn take_back(&mut self, old: &[usize]) {
        for index in old {
            let entry = &mut self.entries[*index];
            entry.is_shown &= entry.is_current;
        }
    }

    /// A record is written again.
    fn renew(&mut self, index: usize, record: Record) {
        let entry = &mut self.entries[index];
        entry.record = renewed(&entry.record, record);
        entry.has = Has::of(&entry.record);
        self.remember(index);
        if self.current.last() == Some(&index) {
            self.cursor = self.after(index);
        }
    }

    /// The model remembers it, and it shows.
    fn remember(&mut self, index: usize) {
        if !std::mem::replace(&mut self.entries[index].is_current, true) {
            self.current.push(index);
        }
        self.show(index);
    }

    fn add(&mut self, record: Record, role: Role, counted: Counted) -> usize {
        if role == Role::Prompt {
            self.cursor = Place { turn: self.begin_turn(&record, counted), ..Place::default() };
        }
        self.keep_answers(&record);
        let index = self.entries.len();
        self.known.insert(record.id.clone(), index);
        let has = Has::of(&record);
        self.entries.push(Entry {
            record,
            role,
            place: self.cursor,
            has,
            number: None,
            is_shown: false,
            is_current: false,
        });
        self.cursor = self.after(index);
        index
    }

    fn begin_turn(&mut self, record: &Record, counted: Counted) -> usize {
        let fingerprint = text::fingerprint(&prompt_text(record));
        let said = self.prompts.entry(fingerprint).or_default();
        self.turns.push(turn_name(fingerprint, *said));
        if matches!(counted, Counted::Yes) {
            *said += 1;
        }
        self.turns.len() - 1
    }

    fn keep_answers(&mut self, record: &Record) {
        for part in text::parts(&record.content) {
            if let Some(id) = part.pointer("/functionResponse/id").and_then(Value::as_str) {
                self.answers.entry(id.to_owned()).or_insert_with(|| part.clone());
            }
        }
    }

    /// Where the record after this one stands.
    fn after(&self, index: usize) -> Place {
        let Entry { role, place, has, .. } = &self.entries[index];
        match role {
            Role::Agent if has.calls > 0 => {
                Place { turn: place.turn, round: place.round.saturating_add(has.calls), ..Place::default() }
            }
            Role::Agent => Place {
                text: place.text + u32::from(has.text),
                thought: place.thought + u32::from(has.thoughts),
                ..*place
            },
            Role::Prompt | Role::Answers | Role::Summary | Role::Note | Role::Hidden => *place,
        }
    }

    fn show(&mut self, index: usize) {
        if self.entries[index].role == Role::Agent
            && let Some(summary) = self.summary.take()
        {
            self.show(summary);
        }
        let entry = &mut self.entries[index];
        entry.is_shown = true;
        if entry.number.is_none() {
            self.n_shown += 1;
            entry.number = Some(self.n_shown);
        }
    }
}

/// Whether a prompt is said for the first time as far as counting goes.
#[derive(Clone, Copy)]
enum Counted {
    Yes,
    Already,
}

/// What was found out about the records that a replacement brings.
#[derive(Default)]
struct Copies {
    /// Nothing was there before: it is not a change but what is gone on from.
    is_loaded: bool,
    /// The record just before was a new prompt.
    last_prompt: Option<usize>,
    summary: Option<usize>,
}

fn turn_name(fingerprint: u64, said_before: u32) -> String {
    match said_before {
        0 => format!("{fingerprint:016x}"),
        n => format!("{fingerprint:016x}.{n}"),
    }
}

#[cfg(test)]
mod tests;
