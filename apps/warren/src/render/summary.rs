//! How a run ended, and what it leaves.

use warren_domain::{Diagnostics, Event, EventBody, Timestamp, Usage};

use super::{Look, Paint, clean, duration, files::Files, usage_line};

/// How much of an agent's last words is shown.
const N_STDERR_LINES: usize = 5;

/// The paragraphs at the end of a run.
pub(super) fn lines(event: &Event, started_at: Option<Timestamp>, files: &Files, look: &Look) -> Vec<String> {
    let paint = look.paint;
    let mut paragraphs: Vec<String> = files.list(paint).into_iter().collect();
    let took = started_at.map(|at| duration(event.timestamp.as_millis() - at.as_millis()));
    let spent = |usage: &Usage, cost_usd: f64| {
        let took = took.as_deref().map(|took| format!(" · {took}")).unwrap_or_default();
        paint.dim(&format!("{}{took}", usage_line(usage, cost_usd)))
    };
    match &event.body {
        EventBody::RunCompleted { usage, cost_usd, .. } => paragraphs.push(spent(usage, *cost_usd)),
        EventBody::RunInterrupted { usage, cost_usd, by, .. } => {
            let outcome = paint.yellow(&format!("■ interrupted by {}", clean(by)));
            paragraphs.push(format!("{outcome}\n{}", spent(usage, *cost_usd)));
        }
        EventBody::RunFailed { code, message, usage, cost_usd, diagnostics, .. } => {
            let message = clean(message);
            let (message, hint) = message.split_once("; hint: ").unwrap_or((message.as_str(), ""));
            let mut outcome = paint.red(&format!("✗ failed: {} ({code})", message.trim_end()));
            if !hint.is_empty() {
                outcome.push_str(&format!("\n  hint: {}", look.invocation.adapt(hint)));
            }
            outcome.push_str(&told(diagnostics, paint));
            paragraphs.push(format!("{outcome}\n{}", spent(usage, *cost_usd)));
        }
        _ => {}
    }
    paragraphs
}

/// What is known of a failure, each on a line of its own.
fn told(diagnostics: &Diagnostics, paint: Paint) -> String {
    let mut lines = Vec::new();
    if diagnostics.out_of_memory {
        lines.push("the sandbox ran out of memory".to_owned());
    }
    match (diagnostics.exit_code, diagnostics.signal) {
        (_, Some(signal)) => lines.push(format!("the agent was killed by signal {signal}")),
        // It ended in order, and its message says why the run failed.
        (Some(0) | None, None) => {}
        (Some(code), None) => lines.push(format!("the agent exited with {code}")),
    }
    let stderr = clean(diagnostics.stderr_tail.as_deref().unwrap_or_default());
    let tail: Vec<&str> = stderr.lines().filter(|line| !line.trim().is_empty()).collect();
    let first = tail.len().saturating_sub(N_STDERR_LINES);
    lines.extend(tail[first..].iter().map(|line| format!("| {line}")));
    lines.iter().map(|line| format!("\n  {}", paint.dim(line))).collect()
}
