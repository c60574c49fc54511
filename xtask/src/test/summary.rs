//! Steps with their outcome and time, and the table at the end.

use std::{
    io::Write as _,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

/// What happened so far.
#[derive(Default)]
pub(super) struct Summary {
    steps: Vec<Step>,
}

struct Step {
    name: String,
    took: Duration,
    /// What went wrong, if anything did.
    error: Option<String>,
}

impl Summary {
    /// Runs one step, notes how it went, and goes on whatever that was.
    pub(super) fn step(&mut self, name: &str, work: impl FnOnce() -> Result<()>) {
        self.attempt(name, work);
    }

    /// A step whose result the following ones need.
    pub(super) fn attempt<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Option<T> {
        println!("\n── {name}");
        let started = Instant::now();
        let outcome = work();
        let error = outcome.as_ref().err().map(|error| format!("{error:#}"));
        if let Some(error) = &error {
            println!("error: {error}");
        }
        // Cargo writes to the other stream: keep the two in order when they meet in one log.
        let _ = std::io::stdout().flush();
        self.steps.push(Step { name: name.to_owned(), took: started.elapsed(), error });
        outcome.ok()
    }

    /// Prints the table; an error if any step had one.
    pub(super) fn print(&self) -> Result<()> {
        println!("\n── summary");
        for Step { name, took, error } in &self.steps {
            let outcome = if error.is_some() { "FAILED" } else { "ok" };
            println!("{outcome:<6}  {name:<24} {:>8.1} s", took.as_secs_f64());
        }
        let total: Duration = self.steps.iter().map(|step| step.took).sum();
        println!("{:<6}  {:<24} {:>8.1} s", "", "total", total.as_secs_f64());
        let failed: Vec<&str> =
            self.steps.iter().filter(|step| step.error.is_some()).map(|step| step.name.as_str()).collect();
        if !failed.is_empty() {
            bail!("failed: {}", failed.join(", "));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_does_not_stop_the_next_and_fails_the_whole() {
        let mut summary = Summary::default();
        summary.step("a", || bail!("no"));
        assert_eq!(summary.attempt("b", || Ok(7)), Some(7));
        assert_eq!(summary.print().unwrap_err().to_string(), "failed: a");
    }

    #[test]
    fn nothing_failed_is_a_success() {
        let mut summary = Summary::default();
        summary.step("a", || Ok(()));
        summary.print().unwrap();
    }
}
