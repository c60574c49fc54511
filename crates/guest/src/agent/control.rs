//! What the host says while the agent works.

use std::{cell::RefCell, collections::VecDeque};

use serde::Deserialize;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Stdin},
    sync::watch,
};
use warren_domain::{BlockId, Content};

/// More messages than the host keeps waiting for one session; those beyond stay in its queue, since it sees no
/// block for them.
const MAX_WAITING: usize = 64;

/// A message to act on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Prompt {
    pub(super) message: BlockId,
    pub(super) content: Content,
}

/// One line of stdin.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    Prompt { message: BlockId, content: Content },
    Steer { message: BlockId, content: Content },
    Interrupt,
}

/// What was said and not yet taken up.
pub(super) struct Control {
    interrupt: watch::Sender<bool>,
    waiting: RefCell<VecDeque<Prompt>>,
}

/// The lines of stdin.
pub(super) struct Lines {
    stdin: BufReader<Stdin>,
    /// Kept between calls, so that a reader that is dropped in the middle of a line loses nothing.
    buffer: Vec<u8>,
}

impl Control {
    pub(super) fn new() -> Self {
        Self { interrupt: watch::Sender::new(false), waiting: RefCell::default() }
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

    /// Hears the host out. A host that hangs up has nothing more to say, which is no reason to stop.
    pub(super) async fn listen(&self, mut lines: Lines) -> std::convert::Infallible {
        while let Some(line) = lines.next().await {
            self.hear(&line);
        }
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
