//! Blocks from saved sessions.
//!
//! An export is told to the [`Translator`] as if it happened: a message, then its parts, and a subagent's messages while
//! its task runs.

use std::collections::{BTreeMap, VecDeque};

use serde_json::value::RawValue;
use warren_domain::{Conversations, Draft, EventBody, SubagentStarted, Timestamp};

use super::{
    events::{Heard, hear},
    export::{self, Entry, Export},
    names,
    native::{Part, Progress, millis, read_borrowed},
    translator::Translator,
};
use crate::{Output, Parsed, transcripts::Unread};

/// How deep tasks are followed into their own tasks; what is deeper is told after the rest.
const MAX_DEPTH: usize = 32;

/// The time of what has none.
const NO_TIME: i64 = 0;

/// A session that is being told.
struct Telling<'a> {
    messages: VecDeque<Entry<'a>>,
    created: i64,
}

#[derive(Default)]
struct Parser<'a> {
    translator: Translator,
    sessions: BTreeMap<String, Telling<'a>>,
    out: Vec<Output>,
    conversations: Conversations,
    unread: Unread,
}

pub(super) fn parse(main: &[u8], subagents: &[(String, Vec<u8>)]) -> Parsed {
    let main = String::from_utf8_lossy(main);
    let children: Vec<_> = subagents.iter().map(|(_, bytes)| String::from_utf8_lossy(bytes)).collect();
    let mut parser = Parser::default();
    let exports = parser.read(&main);
    if exports.is_empty() {
        parser.tell_lines(&main);
    } else {
        parser.translator.set_root(&root(&exports));
    }
    parser.add(exports);
    for text in &children {
        let mut exports = parser.read(text);
        exports.iter_mut().for_each(|export| export.is_child = true);
        parser.add(exports);
    }
    parser.open_in_order();
    if let Some(root) = parser.translator.root().map(str::to_owned) {
        parser.tell_session(&root, i64::MAX, 0);
    }
    parser.tell_the_rest();
    parser.finish()
}

/// The session that is the conversation itself. Where it is torn off, its children may still name it, and if they do not,
/// nothing that is there has this name.
fn root(exports: &[Export<'_>]) -> String {
    let main = exports.iter().find(|export| !export.is_child).map(|export| &export.session.id);
    let named = || exports.iter().find_map(|export| export.session.parent.as_ref());
    main.or_else(named).cloned().unwrap_or_default()
}

impl<'a> Parser<'a> {
    fn read(&mut self, text: &'a str) -> Vec<Export<'a>> {
        let unread = &mut self.unread;
        export::read(text, &mut |lost| unread.note(lost.as_bytes()))
    }

    fn add(&mut self, exports: Vec<Export<'a>>) {
        for Export { mut session, messages, is_child } in exports {
            if is_child && session.parent.is_none() {
                session.parent = self.translator.root().map(str::to_owned);
            }
            let created = session.time.created.map(millis).unwrap_or_default();
            let telling = Telling { messages: messages.into(), created };
            self.sessions.entry(session.id.clone()).or_insert(telling);
            self.translator.session(session);
        }
    }

    /// Threads stand in the order in which they were opened, whatever the order of their files.
    fn open_in_order(&mut self) {
        if self.sessions.len() < 3 {
            return;
        }
        let mut tasks = Vec::new();
        for entry in self.sessions.values().flat_map(|telling| &telling.messages) {
            let parts = entry.parts.iter().filter(|part| part.get().contains("essionI"));
            for part in parts.filter_map(|raw| read_borrowed::<Part<'_>>(Some(raw))) {
                let child = part.state().metadata().session.filter(|child| self.sessions.contains_key(child));
                let at = names::born(&part.id, entry.created).unwrap_or(entry.created);
                tasks.extend(child.filter(|_| part.tool == "task").map(|child| (at, part.id, child)));
            }
        }
        tasks.sort();
        for (_, _, child) in tasks {
            let start = SubagentStarted {
                subagent_id: child.clone(),
                name: None,
                input: serde_json::Value::Null,
                tool_use_id: None,
                parent: warren_domain::ConversationId::main(),
            };
            let draft = Draft::of_session(EventBody::SubagentStarted(start));
            self.conversations.apply_draft(&draft.within(warren_domain::ConversationId(child)));
        }
    }

    /// Tells the messages of a session that were made until then.
    fn tell_session(&mut self, session: &str, until: i64, depth: usize) {
        while let Some(telling) = self.sessions.get_mut(session)
            && telling.messages.front().is_some_and(|entry| entry.created <= until)
            && let Some(entry) = telling.messages.pop_front()
        {
            self.tell(entry, depth);
        }
    }

    fn tell(&mut self, entry: Entry<'a>, depth: usize) {
        let at = Timestamp::from_millis(NO_TIME);
        // What ended a message stands after its parts.
        self.translator.message(&entry.info.begun(), at, &mut self.out);
        self.tell_parts(&entry.parts, entry.created, depth);
        self.translator.message(&entry.info, at, &mut self.out);
        self.fold();
    }

    /// A tool's result stands where the tool began to run, which may be after the next part was announced.
    fn tell_parts(&mut self, raw: &[&'a RawValue], created: i64, depth: usize) {
        let mut parts: VecDeque<Part<'a>> = VecDeque::new();
        for raw in raw {
            match read_borrowed::<Part<'a>>(Some(raw)) {
                Some(part) => parts.push_back(part),
                None => self.unread.note(raw.get().as_bytes()),
            }
        }
        let mut waiting: Vec<(i64, Part<'a>)> = Vec::new();
        while let Some(mut part) = parts.pop_front() {
            let begins = names::born(&part.id, created).unwrap_or(i64::MAX);
            while let Some(place) = waiting.iter().position(|(runs, _)| *runs <= begins) {
                let (_, earlier) = waiting.remove(place);
                self.tell_part(&earlier, depth);
            }
            let runs = part.state().time.start.map_or(i64::MIN, millis);
            let next = parts.front().and_then(|next| names::born(&next.id, created)).unwrap_or(i64::MAX);
            if part.kind == "tool" && runs > next && waiting.len() < MAX_WAITING {
                part.no_further = Some(Progress::Pending);
                self.tell_part(&part, depth);
                part.no_further = None;
                let place = waiting.partition_point(|(other, _)| *other <= runs);
                waiting.insert(place, (runs, part));
            } else {
                self.tell_part(&part, depth);
            }
        }
        waiting.iter().for_each(|(_, part)| self.tell_part(part, depth));
    }

    fn tell_part(&mut self, part: &Part<'a>, depth: usize) {
        let at = Timestamp::from_millis(NO_TIME);
        let child = (part.tool == "task").then(|| part.state().metadata().session).flatten();
        if let Some(child) = child.filter(|child| depth < MAX_DEPTH && self.sessions.contains_key(child)) {
            let running = Part { no_further: Some(Progress::Running), ..part.clone() };
            self.translator.part(&running, at, &mut self.out);
            let until = part.state().time.end.map_or(i64::MAX, millis);
            self.tell_session(&child, until, depth + 1);
        }
        if !self.translator.part(part, at, &mut self.out) {
            self.unread.note(format!("part `{}` of kind `{}`", part.id, part.kind).as_bytes());
        }
        self.fold();
    }

    /// What no task led to, oldest first.
    fn tell_the_rest(&mut self) {
        let mut rest: Vec<(i64, String)> =
            self.sessions.iter().map(|(id, telling)| (telling.created, id.clone())).collect();
        rest.sort();
        for (_, id) in rest {
            self.tell_session(&id, i64::MAX, MAX_DEPTH);
        }
    }

    fn tell_lines(&mut self, text: &str) {
        let at = Timestamp::from_millis(NO_TIME);
        for line in text.split('\n') {
            if matches!(hear(&mut self.translator, line, at, &mut self.out), Heard::Unknown) {
                self.unread.note(line.as_bytes());
            }
            self.fold();
        }
    }

    fn fold(&mut self) {
        for output in self.out.drain(..) {
            if let Output::Event(draft) = output {
                self.conversations.apply_draft(&draft);
            }
        }
    }

    fn finish(mut self) -> Parsed {
        self.translator.settle(Timestamp::from_millis(NO_TIME), &mut self.out);
        self.fold();
        let usage = Some(self.translator.spent().clone()).filter(|usage| usage.total_tokens > 0);
        self.unread.parsed(self.conversations, usage)
    }
}

/// How many tools can be announced before the first runs, for their order to be told exactly.
const MAX_WAITING: usize = 64;
