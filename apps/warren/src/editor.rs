//! Reads what a person types at a terminal: editing, history, completion, pasted text as one message.
//!
//! A thread of its own owns the keyboard while a line is typed, because a read of a terminal cannot be cancelled.

mod complete;

use std::{
    borrow::Cow,
    fs::OpenOptions,
    io,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc as blocking,
    },
    time::Duration,
};

use anyhow::{Context as _, Result};
use reedline::{
    ColumnarMenu, EditCommand, Emacs, FileBackedHistory, KeyCode, KeyModifiers, MenuBuilder as _, Prompt,
    PromptEditMode, PromptHistorySearch, Reedline, ReedlineEvent, ReedlineMenu, Signal, ValidationResult,
    Validator, default_emacs_keybindings,
};
use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::mpsc;

pub(crate) use complete::Completion;

/// Messages that are kept in the history.
const HISTORY: usize = 2000;
const MENU: &str = "completions";

/// The keyboard of a person.
pub(crate) struct Editor {
    requests: blocking::Sender<Request>,
    typed: mpsc::Receiver<Typed>,
    cancel: Arc<AtomicBool>,
    is_reading: bool,
}

/// What is read next.
enum Request {
    /// A message, after the usual prompt.
    Message,
    /// The answer to a question, after this prompt. Keys that were typed before the question are thrown away.
    Answer(String),
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Typed {
    Line(String),
    /// Ctrl-C: the line was cleared.
    Cleared,
    /// Ctrl-D, or the terminal is gone.
    End,
    /// Nobody waits for it any more.
    Cancelled,
}

impl Editor {
    /// An editor for answers only.
    pub(crate) fn new() -> Self {
        Self::start(Reedline::create())
    }

    /// An editor for messages, with a history on the disk.
    pub(crate) fn with_history(history: &Path, completion: Completion) -> Result<Self> {
        private_file(history)
            .with_context(|| format!("failed to open the history `{}`", history.display()))?;
        let history = FileBackedHistory::with_file(HISTORY, PathBuf::from(history))
            .map_err(|error| io::Error::other(error.to_string()))
            .context("failed to read the history")?;
        let menu = ColumnarMenu::default().with_name(MENU);
        Ok(Self::start(
            Reedline::create()
                .with_history(Box::new(history))
                // A line that starts with a space is not kept, as in a shell.
                .with_history_exclusion_prefix(Some(" ".to_owned()))
                .with_completer(Box::new(completion))
                .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
                .with_quick_completions(true)
                .with_validator(Box::new(Continuation))
                .with_edit_mode(Box::new(Emacs::new(keys()))),
        ))
    }

    fn start(messages: Reedline) -> Self {
        let (requests, incoming) = blocking::channel();
        // One place: there is at most one request at a time.
        let (outgoing, typed) = mpsc::channel(1);
        let cancel = Arc::new(AtomicBool::new(false));
        let messages = messages.use_bracketed_paste(true).with_break_signal(Arc::clone(&cancel));
        let answers = Reedline::create().use_bracketed_paste(true).with_break_signal(Arc::clone(&cancel));
        std::thread::spawn(move || serve(messages, answers, &incoming, &outgoing));
        Self { requests, typed, cancel, is_reading: false }
    }

    /// Begins to read a message.
    pub(crate) fn read_message(&mut self) {
        self.begin(Request::Message);
    }

    /// Begins to read an answer.
    pub(crate) fn read_answer(&mut self, prompt: &str) {
        self.begin(Request::Answer(prompt.to_owned()));
    }

    fn begin(&mut self, request: Request) {
        // Nothing is being read, so nobody looks at it now.
        self.cancel.store(false, Ordering::Relaxed);
        self.is_reading = self.requests.send(request).is_ok();
    }

    pub(crate) fn is_reading(&self) -> bool {
        self.is_reading
    }

    /// What was typed. Cancel-safe; waits for ever if nothing is being read.
    pub(crate) async fn typed(&mut self) -> Typed {
        if !self.is_reading {
            return std::future::pending().await;
        }
        let typed = self.typed.recv().await.unwrap_or(Typed::End);
        self.is_reading = false;
        typed
    }

    /// Ends the reading; [`Typed::Cancelled`] follows, or what was typed just before.
    pub(crate) fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// Ends the reading and waits until the terminal is as it was.
    pub(crate) async fn settle(&mut self) {
        if self.is_reading {
            self.cancel();
            self.typed().await;
        }
    }
}

fn serve(
    messages: Reedline,
    answers: Reedline,
    requests: &blocking::Receiver<Request>,
    typed: &mpsc::Sender<Typed>,
) {
    let interval = Duration::from_millis(50);
    let mut messages = messages.with_poll_interval(interval);
    let mut answers = answers.with_poll_interval(interval);
    for request in requests {
        let read = match request {
            Request::Message => messages.read_line(&Words("› ".to_owned())),
            Request::Answer(prompt) => {
                throw_away();
                answers.read_line(&Words(prompt))
            }
        };
        let result = match read {
            Ok(Signal::Success(line)) => Typed::Line(line),
            Ok(Signal::CtrlC) => Typed::Cleared,
            Ok(Signal::ExternalBreak(_)) => {
                // The line that was being typed must not be the beginning of the next one.
                answers.run_edit_commands(&[EditCommand::Clear]);
                Typed::Cancelled
            }
            Ok(Signal::HostCommand(_)) => Typed::Cancelled,
            Ok(Signal::CtrlD) | Err(_) => Typed::End,
            Ok(_) => Typed::Cancelled,
        };
        // The history is on the disk after every message, however the program ends.
        if let Err(error) = messages.sync_history() {
            tracing::warn!(%error, "the history was not written");
        }
        if typed.blocking_send(result).is_err() {
            return;
        }
    }
}

/// Drops keys that were typed before a question was shown: they cannot be its answer.
fn throw_away() {
    // Nothing to drop is nothing lost.
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    while crossterm::event::poll(Duration::ZERO).is_ok_and(|is_there| is_there) {
        if crossterm::event::read().is_err() {
            return;
        }
    }
}

fn private_file(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    // One that an earlier program left open to others.
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))
}

fn keys() -> reedline::Keybindings {
    let mut keys = default_emacs_keybindings();
    let menu = vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext];
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(menu));
    for modifier in [KeyModifiers::ALT, KeyModifiers::SHIFT] {
        let newline = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
        keys.add_binding(modifier, KeyCode::Enter, newline);
    }
    keys
}

/// A line that ends with a backslash goes on.
struct Continuation;

impl Validator for Continuation {
    fn validate(&self, line: &str) -> ValidationResult {
        if line.ends_with('\\') { ValidationResult::Incomplete } else { ValidationResult::Complete }
    }
}

/// The words before the cursor.
struct Words(String);

impl Prompt for Words {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _mode: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed(&self.0)
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("· ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("(search: {}) ", search.term))
    }
}
