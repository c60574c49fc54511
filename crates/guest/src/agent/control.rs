//! What the host says while the agent works.

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, VecDeque},
};

use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Stdin},
    sync::{oneshot, watch},
};
use warren_domain::{ApprovalDecision, BlockId, Content};

/// More messages than the host keeps waiting for one session; those beyond stay in its queue, since it sees no
/// block for them.
const MAX_WAITING: usize = 64;

/// A message to act on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Prompt {
    pub(super) message: BlockId,
    pub(super) content: Content,
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Verdict {
    pub(super) decision: ApprovalDecision,
    pub(super) message: Option<String>,
    /// To questions: by the question's text, what was chosen or written.
    pub(super) answers: Option<Map<String, Value>>,
}

/// One line of stdin.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    Prompt {
        message: BlockId,
        content: Content,
    },
    Steer {
        message: BlockId,
        content: Content,
    },
    Answer {
        key: String,
        decision: ApprovalDecision,
        #[serde(default)]
        message: Option<String>,
        #[serde(default)]
        answers: Option<Map<String, Value>>,
    },
    Interrupt,
}

/// What was said and not yet taken up.
pub(super) struct Control {
    interrupt: watch::Sender<bool>,
    waiting: RefCell<VecDeque<Prompt>>,
    /// Who waits for an answer, by what was asked.
    asked: RefCell<HashMap<String, oneshot::Sender<Verdict>>>,
    /// The host hung up: no answer will come.
    is_alone: Cell<bool>,
}

/// The lines of stdin.
pub(super) struct Lines {
    stdin: BufReader<Stdin>,
    /// Kept between calls, so that a reader that is dropped in the middle of a line loses nothing.
    buffer: Vec<u8>,
}

impl Control {
    pub(super) fn new() -> Self {
        Self {
            interrupt: watch::Sender::new(false),
            waiting: RefCell::default(),
            asked: RefCell::default(),
            is_alone: Cell::new(false),
        }
    }

    /// Stops the turn.
    pub(super) fn interrupt(&self) {
        self.interrupt.send_replace(true);
    }

    pub(super) fn is_interrupted(&self) -> bool {
        *self.interrupt.borrow()
    }

    /// Returns once the turn is to be stopped.
    pub(super) async fn interrupted(&self) {
        // The sender lives in `self`, so the wait cannot end by its loss.
        let _ = self.interrupt.subscribe().wait_for(|is_set| *is_set).await;
    }

    /// The oldest message that waits.
    pub(super) fn take(&self) -> Option<Prompt> {
        self.waiting.borrow_mut().pop_front()
    }

    pub(super) fn has_waiting(&self) -> bool {
        !self.waiting.borrow().is_empty()
    }

    /// Hears what is answered under `key`. It ends without an answer when none can come any more.
    pub(super) fn answer_to(&self, key: &str) -> oneshot::Receiver<Verdict> {
        let (sender, receiver) = oneshot::channel();
        if !self.is_alone.get() {
            self.asked.borrow_mut().insert(key.to_owned(), sender);
        }
        receiver
    }

    /// Nobody waits for what was asked under `key` any more.
    pub(super) fn forget(&self, key: &str) {
        self.asked.borrow_mut().remove(key);
    }

    /// Waits for the message that begins the turn. `None`: the host hung up, or stopped the turn before it began.
    pub(super) async fn first(&self, lines: &mut Lines) -> Option<Prompt> {
        while !self.is_interrupted() {
            if let Some(prompt) = self.take() {
                return Some(prompt);
            }
            self.hear(&lines.next().await?);
        }
        None
    }

    /// Hears the host out. A host that hangs up has nothing more to say, which is no reason to stop; but whoever waits
    /// for an answer waits in vain.
    pub(super) async fn listen(&self, mut lines: Lines) -> std::convert::Infallible {
        while let Some(line) = lines.next().await {
            self.hear(&line);
        }
        self.is_alone.set(true);
        self.asked.borrow_mut().clear();
        std::future::pending().await
    }

    fn hear(&self, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        match serde_json::from_slice(line) {
            Ok(Line::Interrupt) => self.interrupt(),
            Ok(Line::Prompt { message, content } | Line::Steer { message, content }) => {
                let mut waiting = self.waiting.borrow_mut();
                if waiting.len() < MAX_WAITING {
                    waiting.push_back(Prompt { message, content });
                } else {
                    super::warn(format_args!("too many messages wait: `{message}` is passed over"));
                }
            }
            Ok(Line::Answer { key, decision, message, answers }) => {
                let asked = self.asked.borrow_mut().remove(&key);
                // Whoever asked may have been stopped meanwhile.
                let is_heard =
                    asked.is_some_and(|asked| asked.send(Verdict { decision, message, answers }).is_ok());
                if !is_heard {
                    super::warn(format_args!("nobody waits for the answer to `{key}`"));
                }
            }
            Err(error) => super::warn(format_args!("a line of input is passed over: {error}")),
        }
    }
}

impl Lines {
    pub(super) fn of_stdin() -> Self {
        Self { stdin: BufReader::new(tokio::io::stdin()), buffer: Vec::new() }
    }

    /// The next line, or `None` when there are no more.
    async fn next(&mut self) -> Option<Vec<u8>> {
        match self.stdin.read_until(b'\n', &mut self.buffer).await {
            Ok(_) if self.buffer.is_empty() => None,
            Ok(_) => Some(std::mem::take(&mut self.buffer)),
            Err(error) => {
                super::warn(format_args!("failed to read stdin: {error}"));
                None
            }
        }
    }
}
