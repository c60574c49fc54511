//! Where output goes: text to standard output, what is going on right now to standard error.

use std::{
    io::{self, IsTerminal as _, Write as _},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rustix::termios::{self, LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use warren_config::Environment;

use crate::render::Paint;

/// Longer lines are hard to read.
const MAX_WIDTH: usize = 100;

/// The user's terminal, or whatever stands in for it.
pub(crate) struct Terminal {
    paint: Paint,
    /// A line that comes and goes; nothing is drawn where there is nobody to see it.
    spinner: Option<ProgressBar>,
    can_spin: bool,
    /// Standard output is a terminal that can be drawn on.
    is_drawn: bool,
}

/// Whoever reads what we print took no more of it. A type of its own: a connection to a server breaks with the same
/// words, and is another matter.
#[derive(Debug, thiserror::Error)]
#[error("failed to write to the terminal")]
pub(crate) struct OutputError {
    #[from]
    source: io::Error,
}

impl OutputError {
    /// Whether the reader has seen enough, as in `warren sessions list | head`.
    pub(crate) fn is_reader_gone(&self) -> bool {
        self.source.kind() == io::ErrorKind::BrokenPipe
    }
}

impl Terminal {
    /// Finds out what there is. Colours are for terminals only, and not for those who asked for none.
    pub(crate) fn of_process(environment: &Environment) -> Self {
        let is_dumb = environment.get("TERM").is_none_or(|term| term == "dumb");
        let wants_colour = environment.get("NO_COLOR").is_none() && !is_dumb;
        let is_terminal = io::stdout().is_terminal();
        let paint = if wants_colour && is_terminal { Paint::Ansi } else { Paint::Plain };
        let can_spin = io::stderr().is_terminal() && !is_dumb;
        Self { paint, spinner: None, can_spin, is_drawn: is_terminal && !is_dumb }
    }

    /// How to colour what goes to standard output.
    pub(crate) fn paint(&self) -> Paint {
        self.paint
    }

    /// Columns for text, at most as many as are easy to read; `None` if nobody looks.
    pub(crate) fn width(&self) -> Option<usize> {
        let columns =
            self.is_drawn.then(|| termios::tcgetwinsize(io::stdout()).ok())?.map_or(0, |size| size.ws_col);
        Some(match usize::from(columns) {
            0 => 80,
            columns => columns.min(MAX_WIDTH),
        })
    }

    /// Writes text as it is, at once.
    pub(crate) fn write(&mut self, text: &str) -> Result<(), OutputError> {
        if text.is_empty() {
            return Ok(());
        }
        self.clear();
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        Ok(out.flush()?)
    }

    /// Writes one line.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), OutputError> {
        self.write(&format!("{text}\n"))
    }

    /// Says what is going on, or that nothing is.
    pub(crate) fn status(&mut self, status: Option<String>) {
        match (status, &self.spinner) {
            (None, _) => self.clear(),
            (Some(_), _) if !self.can_spin => {}
            (Some(message), Some(spinner)) => spinner.set_message(message),
            (Some(message), None) => self.spinner = Some(spin(message)),
        }
    }

    fn clear(&mut self) {
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.clear();
    }
}

/// While it exists, typed keys are not shown and not lost: the next prompt gets them. Ctrl-C still interrupts.
pub(crate) struct Quiet {
    before: Termios,
}

impl Quiet {
    /// `None` if standard input is no terminal.
    pub(crate) fn start() -> Option<Self> {
        let before = termios::tcgetattr(io::stdin()).ok()?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO | LocalModes::ICANON);
        quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        termios::tcsetattr(io::stdin(), OptionalActions::Now, &quiet).ok()?;
        // Text that is pasted meanwhile is told from text that is typed.
        paste(true);
        Some(Self { before })
    }

    /// Hides typed keys, but leaves the editing of the line to the terminal.
    pub(crate) fn hide() -> Option<Self> {
        let before = termios::tcgetattr(io::stdin()).ok()?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        termios::tcsetattr(io::stdin(), OptionalActions::Now, &hidden).ok()?;
        Some(Self { before })
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        paste(false);
        // A terminal that is gone cannot be restored, and need not be.
        let _ = termios::tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

/// Turns bracketed paste on or off.
fn paste(is_on: bool) {
    let sequence = if is_on { "\x1b[?2004h" } else { "\x1b[?2004l" };
    let mut out = io::stderr().lock();
    // Without it a pasted text is several messages, and nothing else is lost.
    let _ = out.write_all(sequence.as_bytes()).and_then(|()| out.flush());
}

fn spin(message: String) -> ProgressBar {
    let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner:.dim} {wide_msg:.dim}") {
        spinner.set_style(style.tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "));
    }
    spinner.set_message(message);
    spinner.enable_steady_tick(Duration::from_millis(80));
    spinner
}
