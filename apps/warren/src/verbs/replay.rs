//! `warren replay`: a run, or a whole session, once more, and whether it was the same.

use anyhow::Result;
use serde_json::{json, value::RawValue};
use warren_domain::{Replay, ReplayCount, ReplayDivergence, ReplayOutcome, ReplayStatus, Seq, SessionId};
use warren_wire::EventPage;

use crate::{
    cli, client::Client, connect::with_server, conversation::find, render::clean, report::Outcome,
    setting::Setting, terminal::Terminal,
};

/// Seconds to wait for the next entry of a replay's log.
const WAIT: u64 = 5;

/// Runs the verb.
pub(crate) async fn run(setting: &Setting, args: cli::Replay, terminal: &mut Terminal) -> Result<Outcome> {
    let mut came_to = Outcome::Failed;
    let called = with_server(setting, async |client| {
        came_to = act(client, &args, terminal).await?;
        Ok(())
    });
    match called.await? {
        Outcome::Done => Ok(came_to),
        other => Ok(other),
    }
}

async fn act(client: &Client, args: &cli::Replay, terminal: &mut Terminal) -> Result<Outcome> {
    let session = find(client, &args.session).await?;
    let path = match &args.run {
        Some(run) => format!("/api/sessions/{session}/runs/{run}/replay"),
        None => format!("/api/sessions/{session}/replay"),
    };
    let begun: Replay = client.post(&path, &json!({})).await?;
    let replay = follow(client, session, &begun, terminal).await?;
    terminal.status(None);
    if args.json {
        let path = format!("/api/sessions/{session}/replays/{}", replay.replay_id);
        let answer: Box<RawValue> = client.get(&path).await?;
        terminal.line(answer.get())?;
    } else {
        terminal.write(&report(&replay))?;
    }
    Ok(match (replay.status, replay.outcome.diverged) {
        (ReplayStatus::Done, Some(false)) => Outcome::Done,
        (ReplayStatus::Done, _) => Outcome::Diverged,
        (ReplayStatus::Running | ReplayStatus::Failed, _) => Outcome::Failed,
    })
}

/// Shows how far it is until it is over.
async fn follow(
    client: &Client,
    session: SessionId,
    begun: &Replay,
    terminal: &mut Terminal,
) -> Result<Replay> {
    let path = format!("/api/sessions/{session}/replays/{}", begun.replay_id);
    let mut after = Seq(0);
    loop {
        terminal.status(Some(format!("Replaying… {after} entries")));
        let page: EventPage = client.get(&format!("{path}/events?after={after}&wait={WAIT}")).await?;
        after = page.last_seq;
        let replay: Replay = client.get(&path).await?;
        if replay.status != ReplayStatus::Running {
            return Ok(replay);
        }
    }
}

/// What came of it, for people.
fn report(replay: &Replay) -> String {
    let mut text = String::new();
    for run in &replay.runs {
        let word = match (&run.outcome.error, run.outcome.diverged) {
            (Some(error), _) => format!("failed: {}", error.message),
            (None, Some(true)) => "diverged".to_owned(),
            (None, _) => "the same".to_owned(),
        };
        text.push_str(&format!("run {}  {}\n", run.run_id, clean(&word)));
    }
    let outcome = &replay.outcome;
    match (&outcome.error, &outcome.first_divergence) {
        (Some(error), _) => {
            text.push_str(&format!("The replay failed: {} ({})\n", clean(&error.message), error.code));
        }
        (None, None) => text.push_str("The replay was the same.\n"),
        (None, Some(divergence)) => text.push_str(&diverged(divergence)),
    }
    text.push_str(&differences(outcome));
    let counts = |count: ReplayCount| format!("{} of {}", count.equal, count.compared);
    let files = ReplayCount { compared: outcome.files.compared, equal: outcome.files.equal };
    text.push_str(&format!(
        "calls to the model {}, entries of the log {}, files {}\n",
        counts(outcome.calls),
        counts(outcome.events),
        counts(files)
    ));
    for path in &outcome.files.different {
        text.push_str(&format!("  {}\n", clean(path)));
    }
    for note in &outcome.notes {
        text.push_str(&format!("note: {}\n", clean(note)));
    }
    text
}

fn diverged(divergence: &ReplayDivergence) -> String {
    let mut text = format!("The replay diverged: {}\n", clean(&divergence.message));
    if let Some(run) = divergence.run_id {
        text.push_str(&format!("  in run {run}\n"));
    }
    if let Some(conversation) = &divergence.conversation_id {
        text.push_str(&format!("  in conversation {}\n", clean(conversation.as_str())));
    }
    text.push_str(&indented(divergence.diff.as_deref().unwrap_or_default()));
    text
}

fn differences(outcome: &ReplayOutcome) -> String {
    let shown = outcome.differences.iter().map(|difference| {
        format!("difference: {}\n{}", clean(&difference.message), indented(&difference.diff))
    });
    shown.collect()
}

fn indented(diff: &str) -> String {
    diff.lines().map(|line| format!("    {}\n", clean(line))).collect()
}
