//! `warren replay`: runs again with recorded model responses, compared with the originals.

use anyhow::Result;
use serde_json::{json, value::RawValue};
use warren_domain::{Replay, ReplayCount, ReplayDivergence, ReplayOutcome, ReplayStatus, ReplayedRun, Seq};
use warren_wire::EventPage;

use crate::{
    cli, client::Client, connect::Connection, lookup::find, render::clean, report::Outcome, setting::Setting,
    signals::Signals, terminal::Terminal,
};

/// Seconds to wait for the next entry of a replay's log.
const WAIT: u64 = 5;

/// Runs the verb. Ctrl-C ends the replay; a second one leaves without waiting for its end.
pub(crate) async fn run(setting: &Setting, args: cli::Replay, terminal: &mut Terminal) -> Result<Outcome> {
    let mut signals = Signals::catch()?;
    let connection = Connection::open(setting).await?;
    let mut begun = None;
    let done = tokio::select! {
        done = act(&connection.client, &args, &mut begun, terminal) => done,
        () = signals.next() => Ok(Outcome::Interrupted),
    };
    if let (Ok(Outcome::Interrupted), Some(path)) = (&done, &begun) {
        terminal.status(None);
        tokio::select! {
            // It has just come to its end, or its server has: then nothing is left to be ended.
            _ = connection.client.delete(path) => {}
            () = signals.next() => {}
        }
    }
    connection.close(&mut signals).await;
    done
}

/// Replays and tells what came of it. Where the replay is found goes to `begun`, for whoever must end it.
async fn act(
    client: &Client,
    args: &cli::Replay,
    begun: &mut Option<String>,
    terminal: &mut Terminal,
) -> Result<Outcome> {
    let session = find(client, &args.session).await?;
    let path = match &args.run {
        Some(run) => format!("/api/sessions/{session}/runs/{run}/replay"),
        None => format!("/api/sessions/{session}/replay"),
    };
    let replay: Replay = client.post(&path, &json!({})).await?;
    let path = format!("/api/sessions/{session}/replays/{}", replay.replay_id);
    *begun = Some(path.clone());
    let replay = follow(client, &path, terminal).await?;
    terminal.status(None);
    if args.json {
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
async fn follow(client: &Client, path: &str, terminal: &mut Terminal) -> Result<Replay> {
    let mut after = Seq(0);
    loop {
        terminal.status(Some(format!("Replaying… {after} entries")));
        let page: EventPage = client.get(&format!("{path}/events?after={after}&wait={WAIT}")).await?;
        after = page.last_seq;
        let replay: Replay = client.get(path).await?;
        if replay.status != ReplayStatus::Running {
            return Ok(replay);
        }
    }
}

/// What came of it, for people.
fn report(replay: &Replay) -> String {
    let outcome = &replay.outcome;
    if replay.run_id.is_some() {
        let counts = if outcome.error.is_none() { counts(outcome) } else { String::new() };
        return format!("{}\n{counts}{}", verdict(outcome), details(outcome));
    }
    let mut text: String = replay.runs.iter().map(of_run).collect();
    text.push_str(&format!("{}\n", of_all(replay)));
    if !replay.runs.is_empty() {
        text.push_str(&counts(outcome));
    }
    text
}

/// One run of a session: in a line, if there is nothing to tell.
fn of_run(run: &ReplayedRun) -> String {
    let outcome = &run.outcome;
    let word = match (&outcome.error, &outcome.first_divergence) {
        (Some(error), _) => format!("failed: {} ({})", clean(&error.message), error.code),
        (None, Some(divergence)) => format!("diverged: {}", clean(&divergence.message)),
        (None, None) => same(outcome),
    };
    format!("run {}  {word}\n{}", run.run_id, indented(&details(outcome), 2))
}

/// What all runs of a session came to, in a line.
fn of_all(replay: &Replay) -> String {
    let count = |is: fn(&ReplayOutcome) -> bool| replay.runs.iter().filter(|run| is(&run.outcome)).count();
    let n_failed = count(|outcome| outcome.error.is_some());
    let n_diverged = count(|outcome| outcome.first_divergence.is_some());
    let n_all = replay.runs.len();
    if replay.outcome.error.is_some() || (n_all > 0 && n_failed + n_diverged == 0) {
        return verdict(&replay.outcome);
    }
    if n_all == 0 {
        return "Nothing was replayed: no run of the session has ended.".to_owned();
    }
    let n_same = n_all - n_failed - n_diverged;
    format!(
        "Of {n_all} runs {n_same} were the same, {n_diverged} diverged and {n_failed} could not be replayed."
    )
}

fn verdict(outcome: &ReplayOutcome) -> String {
    match (&outcome.error, &outcome.first_divergence) {
        (Some(error), _) => format!("The replay failed: {} ({})", clean(&error.message), error.code),
        (None, Some(divergence)) => format!("The replay diverged: {}", clean(&divergence.message)),
        (None, None) => format!("The replay was {}.", same(outcome)),
    }
}

/// How much the same it was.
fn same(outcome: &ReplayOutcome) -> String {
    match outcome.differences.len() {
        0 => "the same".to_owned(),
        1 => "the same except for the output of 1 tool".to_owned(),
        n => format!("the same except for the output of {n} tools"),
    }
}

/// What was different, and what a reader should know.
fn details(outcome: &ReplayOutcome) -> String {
    let mut text = outcome.first_divergence.as_ref().map(diverged).unwrap_or_default();
    text.push_str(&differences(outcome));
    let files = outcome.files.different.iter();
    text.extend(files.map(|path| format!("file: {}\n", clean(path))));
    text.extend(outcome.notes.iter().map(|note| format!("note: {}\n", clean(note))));
    text
}

fn counts(outcome: &ReplayOutcome) -> String {
    let count = |count: ReplayCount| format!("{} of {}", count.equal, count.compared);
    let files = ReplayCount { compared: outcome.files.compared, equal: outcome.files.equal };
    format!(
        "model calls {}, log entries {}, files {}\n",
        count(outcome.calls),
        count(outcome.events),
        count(files)
    )
}

fn diverged(divergence: &ReplayDivergence) -> String {
    let conversation = divergence.conversation_id.as_ref();
    let conversation = conversation.map(|id| format!("in conversation {}\n", clean(id.as_str())));
    conversation.unwrap_or_default() + &indented(divergence.diff.as_deref().unwrap_or_default(), 4)
}

fn differences(outcome: &ReplayOutcome) -> String {
    let shown = outcome.differences.iter().map(|difference| {
        format!("difference: {}\n{}", clean(&difference.message), indented(&difference.diff, 4))
    });
    shown.collect()
}

fn indented(text: &str, by: usize) -> String {
    text.lines().map(|line| format!("{}{}\n", " ".repeat(by), clean(line))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::report;

    fn outcome(fields: Value) -> Value {
        let count = json!({"compared": 2, "equal": 2});
        let mut all = json!({"differences": [], "calls": count, "events": count, "files": {"compared": 1,
            "equal": 1, "different": []}});
        all.as_object_mut().expect("an object").extend(fields.as_object().cloned().expect("an object"));
        all
    }

    fn shown(report_fields: Value, fields: Value) -> String {
        let mut all = outcome(fields);
        let id = "00000000-0000-0000-0000-000000000000";
        let own = json!({"replayId": id, "sessionId": id, "status": "done", "startedAt": "2026-11-16T10:00:00.000Z"});
        let all_fields = all.as_object_mut().expect("an object");
        all_fields.extend(own.as_object().cloned().expect("an object"));
        all_fields.extend(report_fields.as_object().cloned().expect("an object"));
        report(&serde_json::from_value(all).expect("a report"))
    }

    const RUN: &str = "00000000-0000-0000-0000-00000000000a";
    const COUNTS: &str = "model calls 2 of 2, log entries 2 of 2, files 1 of 1\n";

    #[test]
    fn what_tools_said_otherwise_is_in_the_verdict() {
        let one = json!({"message": "tool call 1 said something else", "diff": "-a\n+b\n"});
        let difference =
            |differences: Value| shown(json!({"runId": RUN}), json!({"differences": differences}));
        assert_eq!(difference(json!([])), format!("The replay was the same.\n{COUNTS}"));
        assert_eq!(
            difference(json!([one])),
            format!(
                "The replay was the same except for the output of 1 tool.\n{COUNTS}difference: tool call 1 said something else\n    -a\n    +b\n"
            )
        );
        assert!(
            difference(json!([one, one]))
                .starts_with("The replay was the same except for the output of 2 tools.\n")
        );
    }

    #[test]
    fn every_run_of_a_session_is_told_of_by_itself() {
        let divergence = json!({"kind": "files", "message": "the file `x` is not as the run left it", "diff": "- x\n+ x\n"});
        let run = |status: &str, fields: Value| {
            let mut run = outcome(fields);
            (run["runId"], run["status"]) = (json!(RUN), json!(status));
            run
        };
        let runs = json!([
            run("failed", json!({"error": {"code": "NOT_FOUND", "message": "its files are not kept"}})),
            run("done", json!({"diverged": true, "firstDivergence": divergence, "notes": ["a word"]})),
            run("done", json!({"diverged": false})),
        ]);
        let text = shown(json!({"runs": runs}), json!({"diverged": true, "firstDivergence": divergence}));
        let expected = format!(
            "run {RUN}  failed: its files are not kept (NOT_FOUND)\n\
             run {RUN}  diverged: the file `x` is not as the run left it\n      - x\n      + x\n  note: a word\n\
             run {RUN}  the same\n\
             Of 3 runs 1 were the same, 1 diverged and 1 could not be replayed.\n{COUNTS}"
        );
        assert_eq!(text, expected);
        assert_eq!(shown(json!({}), json!({})), "Nothing was replayed: no run of the session has ended.\n");
    }
}
