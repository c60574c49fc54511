//! How far an installation is: bars on a terminal, lines in a pipe.

use std::{
    io::{self, IsTerminal as _},
    sync::{Arc, Mutex},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use warren_programs::{Progress, Report};

/// What is shown of one installation, on standard error.
pub(in crate::verbs) struct Bars {
    shown: Arc<Shown>,
}

enum Shown {
    /// A bar that is drawn again and again.
    Bar(ProgressBar),
    /// A line for each step; the last one that was written.
    Lines { agent: String, last: Mutex<String> },
    /// Nothing: the output is for a program.
    Nothing,
}

impl Bars {
    pub(in crate::verbs) fn new(agent: &str, is_quiet: bool) -> Self {
        let shown = if is_quiet {
            Shown::Nothing
        } else if io::stderr().is_terminal() {
            Shown::Bar(bar(agent))
        } else {
            Shown::Lines { agent: agent.to_owned(), last: Mutex::default() }
        };
        Self { shown: Arc::new(shown) }
    }

    pub(in crate::verbs) fn report(&self) -> Report {
        let shown = Arc::clone(&self.shown);
        Arc::new(move |progress| shown.show(&progress))
    }

    pub(in crate::verbs) fn finish(self) {
        if let Shown::Bar(bar) = &*self.shown {
            bar.finish_and_clear();
        }
    }
}

impl Shown {
    fn show(&self, progress: &Progress) {
        match self {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                let (step, package, done, total) = parts(progress);
                bar.set_message(format!("{step} {package}"));
                bar.set_length(total.unwrap_or(0));
                bar.set_position(done);
            }
            Shown::Lines { agent, last } => {
                let (step, package, ..) = parts(progress);
                let line = format!("{agent}: {step} {package}");
                // A panic elsewhere while a line was kept does not make it wrong.
                let mut last = last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                if *last != line {
                    eprintln!("{}", line.trim_end());
                    *last = line;
                }
            }
        }
    }
}

/// The step, what it is about, and how far it is.
fn parts(progress: &Progress) -> (&'static str, &str, u64, Option<u64>) {
    match progress {
        Progress::Waiting => ("waiting for another installation", "", 0, None),
        Progress::Resolving { package } => ("looking up", package, 0, None),
        Progress::Downloading { package, received, total } => ("downloading", package, *received, *total),
        Progress::Unpacking { package, read, total } => ("unpacking", package, *read, Some(*total)),
    }
}

fn bar(agent: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let template = "{prefix:.bold} {bar:24.cyan/dim} {bytes:>10}/{total_bytes:<10} {wide_msg:.dim}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━╸─"));
    }
    bar.set_prefix(agent.to_owned());
    bar
}
