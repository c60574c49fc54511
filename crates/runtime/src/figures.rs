//! The runtime's figures in `/metrics`: counted from what is recorded, so that they say what the log says.
//!
//! No label holds what an agent or a caller can choose: each new value would cost memory for ever.

use std::time::Duration;

use warren_domain::{Event, EventBody, Usage};

/// Counts one commit and what is in it.
pub(crate) fn committed(events: &[Event], took: Duration) {
    metrics::counter!("warren_log_commits_total").increment(1);
    metrics::counter!("warren_log_events_total").increment(events.len() as u64);
    metrics::histogram!("warren_log_commit_seconds").record(took);
    events.iter().for_each(|event| count(&event.body));
}

fn count(body: &EventBody) {
    match body {
        EventBody::SessionCreated { .. } => metrics::counter!("warren_sessions_created_total").increment(1),
        EventBody::RunStarted { .. } => metrics::counter!("warren_runs_started_total").increment(1),
        EventBody::RunCompleted { .. } => ended("completed"),
        EventBody::RunFailed { .. } => ended("failed"),
        EventBody::RunInterrupted { .. } => ended("interrupted"),
        EventBody::ModelCalled(called) => {
            metrics::counter!("warren_model_calls_total", "status" => called.status.to_string()).increment(1);
            spent(&called.usage);
        }
        EventBody::EgressDecided { allowed, .. } => {
            let decision = if *allowed { "allowed" } else { "refused" };
            metrics::counter!("warren_egress_decisions_total", "decision" => decision).increment(1);
        }
        // The rest is what agents say and do; there is no end to it, and the log has it all.
        _ => {}
    }
}

fn ended(outcome: &'static str) {
    metrics::counter!("warren_runs_ended_total", "outcome" => outcome).increment(1);
}

fn spent(usage: &Usage) {
    for (kind, tokens) in [
        ("input", usage.input_tokens),
        ("output", usage.output_tokens),
        ("cache_read", usage.cache_read_tokens),
        ("cache_write", usage.cache_write_tokens),
        ("estimated", usage.estimated_tokens),
    ] {
        metrics::counter!("warren_model_tokens_total", "kind" => kind).increment(tokens);
    }
    // Counters are whole numbers.
    let micros = (usage.cost_usd * 1e6).round().max(0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded, and not below zero"
    )]
    metrics::counter!("warren_model_cost_microdollars_total").increment(micros as u64);
}

/// One of the things there are now, until it is dropped.
pub(crate) struct Held(&'static str);

impl Held {
    /// A session in memory.
    pub(crate) fn session() -> Self {
        Self::new("warren_sessions_loaded")
    }

    /// A run that goes on.
    pub(crate) fn run() -> Self {
        Self::new("warren_runs_active")
    }

    /// A sandbox that answers.
    pub(crate) fn sandbox() -> Self {
        Self::new("warren_sandboxes_ready")
    }

    fn new(name: &'static str) -> Self {
        metrics::gauge!(name).increment(1.0);
        Self(name)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        metrics::gauge!(self.0).decrement(1.0);
    }
}
