//! One thread of a session: what is said in it goes to its transcript and to stdout.

use std::{
    cell::{Cell, RefCell},
    collections::HashSet,
    io::{self, Write},
    path::Path,
    rc::Rc,
};

use serde::Serialize;
use serde_json::Value;
use warren_domain::{ConversationId, Conversations, Draft, EventBody, Usage};

use super::{
    compaction::Compaction,
    control::Control,
    history::{History, Kept},
    transcript::{Entry, Native, Transcript},
};

/// Stdout. When nobody reads it any more the turn is over.
pub(super) struct Voice {
    control: Rc<Control>,
    is_closed: Cell<bool>,
}

/// One thread of a session.
pub(super) struct Thread {
    id: ConversationId,
    voice: Rc<Voice>,
    state: RefCell<State>,
}

struct State {
    transcript: Transcript,
    history: History,
    /// Ids that are taken: a provider that gives one twice must not make one block of two.
    ids: HashSet<String>,
    /// The first write that failed. What cannot be kept cannot be gone on from.
    failure: Option<io::Error>,
    usage: Usage,
}

impl Voice {
    pub(super) fn new(control: Rc<Control>) -> Self {
        Self { control, is_closed: Cell::new(false) }
    }

    /// Prints one line.
    pub(super) fn say<T: Serialize>(&self, line: &T) {
        if !self.is_closed.get() && write_line(line).is_err() {
            self.is_closed.set(true);
            self.control.interrupt();
        }
    }
}

impl Thread {
    /// Takes up the thread that is kept in `path`, or begins it. Gives what was kept, folded.
    pub(super) fn open(
        path: &Path,
        id: ConversationId,
        voice: Rc<Voice>,
    ) -> io::Result<(Self, Conversations)> {
        let (transcript, entries) = Transcript::open(path)?;
        let mut kept = Conversations::default();
        let mut state = State {
            transcript,
            history: History::default(),
            ids: HashSet::new(),
            failure: None,
            usage: Usage::default(),
        };
        for entry in &entries {
            state.fold(entry);
            if let Some(draft) = &entry.event {
                kept.apply_draft(&draft.clone().within(ConversationId::main()));
            }
        }
        Ok((Self { id, voice, state: RefCell::new(state) }, kept))
    }

    pub(super) fn id(&self) -> &ConversationId {
        &self.id
    }

    /// Prints, and does not keep: deltas, and beginnings of what will be kept when it is whole.
    pub(super) fn say(&self, body: EventBody) {
        self.voice.say(&self.draft(body));
    }

    /// Prints something that is no part of the conversation.
    pub(super) fn say_aside<T: Serialize>(&self, line: &T) {
        self.voice.say(line);
    }

    /// Keeps, then prints.
    pub(super) fn record(&self, body: EventBody) {
        self.record_with(body, None);
    }

    /// Keeps together with what only the model needs, then prints.
    pub(super) fn record_with(&self, body: EventBody, native: Option<Native>) {
        let entry = Entry { event: Some(self.draft(body)), native };
        self.keep_entry(&entry);
        self.voice.say(&entry.event);
    }

    /// Keeps what was printed already, in other words.
    pub(super) fn keep(&self, body: EventBody, native: Option<Native>) {
        self.keep_entry(&Entry { event: Some(self.draft(body)), native });
    }

    /// Tells the model something that people are not shown.
    pub(super) fn note(&self, text: &str) {
        let native = Native { note: Some(text.to_owned()), ..Native::default() };
        self.keep_entry(&Entry { event: None, native: Some(native) });
    }

    /// Adds to what the thread has cost.
    pub(super) fn spend(&self, usage: &Usage) {
        self.state.borrow_mut().usage.add(usage);
    }

    /// What the thread has cost in this turn.
    pub(super) fn usage(&self) -> Usage {
        self.state.borrow().usage.clone()
    }

    /// The thread as the model is told it.
    pub(super) fn messages(&self) -> Vec<Value> {
        self.state.borrow().history.messages()
    }

    /// About how many tokens a request takes; `fixed` are those before the messages.
    pub(super) fn tokens(&self, fixed: u64) -> u64 {
        self.state.borrow().history.tokens(fixed)
    }

    /// The same after a compaction.
    pub(super) fn tokens_after(&self, compaction: &Compaction, fixed: u64) -> u64 {
        let mut history = self.state.borrow().history.clone();
        let native = Native { compaction: Some(compaction.clone()), ..Native::default() };
        history.apply(&Entry { event: None, native: Some(native) });
        history.tokens(fixed)
    }

    /// What a compaction to about a third of `limit` keeps.
    pub(super) fn plan(&self, limit: u64, pressure: u32) -> Option<Compaction> {
        self.state.borrow().history.plan(limit, pressure)
    }

    /// A compaction that keeps all but pictures and documents. `None`: there are none.
    pub(super) fn without_media(&self) -> Option<Compaction> {
        self.state.borrow().history.without_media()
    }

    /// How much a compaction keeps.
    pub(super) fn kept(&self, compaction: &Compaction) -> Kept {
        self.state.borrow().history.kept(compaction)
    }

    /// What a compaction leaves out, as a text: an earlier summary, and what was said since.
    pub(super) fn told(
        &self,
        compaction: &Compaction,
        max_bytes: usize,
        n_shorter: u32,
    ) -> (Option<String>, String) {
        self.state.borrow().history.told(compaction, max_bytes, n_shorter)
    }

    /// What the person said in what a compaction leaves out.
    pub(super) fn said_by_person(&self, compaction: &Compaction) -> String {
        self.state.borrow().history.said_by_person(compaction)
    }

    /// A model, and its window, if an earlier refusal taught it.
    pub(super) fn learned_window(&self) -> Option<(String, u64)> {
        self.state.borrow().history.window().cloned()
    }

    /// Whether a block or a message of this id is in the thread.
    pub(super) fn has(&self, id: &str) -> bool {
        self.state.borrow().ids.contains(id)
    }

    /// `wanted`, or something like it that is not taken. It is taken from now on.
    pub(super) fn unique(&self, wanted: &str) -> String {
        let ids = &mut self.state.borrow_mut().ids;
        let numbered = (2_u64..).map(|n| format!("{wanted}-{n}"));
        let free = std::iter::once(wanted.to_owned()).chain(numbered).find(|id| !ids.contains(id));
        let id = free.unwrap_or_default();
        ids.insert(id.clone());
        id
    }

    /// The first write to the transcript that failed, if one did.
    pub(super) fn failure(&self) -> Option<io::Error> {
        self.state.borrow_mut().failure.take()
    }

    fn draft(&self, body: EventBody) -> Draft {
        Draft::of_session(body).within(self.id.clone())
    }

    fn keep_entry(&self, entry: &Entry) {
        let mut state = self.state.borrow_mut();
        state.fold(entry);
        if let Err(error) = state.transcript.append(entry) {
            state.failure.get_or_insert(error);
        }
    }
}

impl State {
    fn fold(&mut self, entry: &Entry) {
        self.history.apply(entry);
        let message = entry.native.as_ref().and_then(|native| native.message_id.clone());
        self.ids.extend(message);
        if let Some(Draft {
            body: EventBody::BlockStart { block } | EventBody::BlockComplete { block },
            ..
        }) = &entry.event
        {
            self.ids.insert(block.id().0.clone());
        }
    }
}

fn write_line<T: Serialize>(line: &T) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    let mut stdout = io::stdout().lock();
    stdout.write_all(&bytes)?;
    stdout.flush()
}
