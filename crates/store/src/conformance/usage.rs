//! Rules of [`Runs::usage`](crate::Runs::usage). Only runs that ended count.

use warren_domain::{AgentType, ProjectId, Seq, Timestamp, Usage};

use super::samples;
use crate::{Change, RunRecord, SessionRecord, Store, UsageGroup, UsageQuery, UsageRow};

/// 2026-11-15T00:00:00Z.
const MIDNIGHT: i64 = 1_794_700_800_000;
const DAY: i64 = 86_400_000;

/// Two sessions of one partition: the first spent twice with one model, the second once with another; and a run waits.
async fn spent(store: &Store) -> [SessionRecord; 2] {
    let first = samples::session();
    let second = SessionRecord {
        partition: first.partition.clone(),
        agent_type: AgentType::from("codex"),
        ..samples::session()
    };
    for record in [&first, &second] {
        store.log.commit(samples::create(record)).await.expect("a session is created");
    }
    run(store, &first, MIDNIGHT - 1, 1, Some("model a")).await;
    run(store, &first, MIDNIGHT, 10, Some("model a")).await;
    run(store, &second, MIDNIGHT + DAY, 100, None).await;
    let waiting = Change::PutRun(Box::new(samples::queued(first.session_id)));
    store.log.commit(samples::change(first.session_id, Seq(1), vec![waiting])).await.expect("the run is put");
    [first, second]
}

async fn run(store: &Store, session: &SessionRecord, ended_at: i64, tokens: u64, model: Option<&str>) {
    let run = RunRecord {
        ended_at: Some(Timestamp::from_millis(ended_at)),
        usage: usage(tokens, model),
        ..samples::run(session.session_id)
    };
    let commit = samples::change(session.session_id, Seq(1), vec![Change::PutRun(Box::new(run))]);
    store.log.commit(commit).await.expect("the run is put");
}

fn usage(tokens: u64, model: Option<&str>) -> Usage {
    Usage { model: model.map(str::to_owned), ..samples::usage(tokens) }
}

fn row(group: impl ToString, runs: u64, usage: Usage) -> UsageRow {
    UsageRow { group: group.to_string(), runs, usage: Usage { cost_usd: 0.25 * runs as f64, ..usage } }
}

fn by(session: &SessionRecord, group_by: UsageGroup) -> UsageQuery {
    UsageQuery { partition: Some(session.partition.clone()), project: None, from: None, to: None, group_by }
}

async fn ask(store: &Store, query: UsageQuery) -> Vec<UsageRow> {
    let mut rows = store.runs.usage(&query).await.expect("it is summed");
    rows.sort_by(|a, b| a.group.cmp(&b.group));
    rows
}

/// A group's model is named if all its runs agree on it.
pub async fn what_was_spent_is_summed_by_group(store: &Store) {
    let [first, second] = spent(store).await;
    let ours = usage(11, Some("model a"));
    let theirs = usage(100, None);
    let expected = |a: &dyn ToString, b: &dyn ToString| {
        let mut rows = vec![row(a.to_string(), 2, ours.clone()), row(b.to_string(), 1, theirs.clone())];
        rows.sort_by(|a, b| a.group.cmp(&b.group));
        rows
    };
    let by_session = expected(&first.session_id, &second.session_id);
    assert_eq!(ask(store, by(&first, UsageGroup::Session)).await, by_session);
    let by_project = expected(&first.project_id, &second.project_id);
    assert_eq!(ask(store, by(&first, UsageGroup::Project)).await, by_project);
    assert_eq!(ask(store, by(&first, UsageGroup::Agent)).await, expected(&"builtin", &"codex"));
    assert_eq!(ask(store, by(&first, UsageGroup::Model)).await, expected(&"model a", &"unknown"));
}

/// A run belongs to the day it ended on.
pub async fn days_are_those_of_utc(store: &Store) {
    let [first, second] = spent(store).await;
    run(store, &second, MIDNIGHT + DAY - 1, 1_000, Some("model b")).await;
    let expected = [
        row("2026-11-14", 1, usage(1, Some("model a"))),
        row("2026-11-15", 2, usage(1_010, None)),
        row("2026-11-16", 1, usage(100, None)),
    ];
    assert_eq!(ask(store, by(&first, UsageGroup::Day)).await, expected);
}

/// From a moment on, before a moment, in a project, in a partition.
pub async fn only_what_was_asked_for_is_summed(store: &Store) {
    let [first, second] = spent(store).await;
    let at = |millis| Some(Timestamp::from_millis(millis));
    let day = || by(&first, UsageGroup::Day);
    let days = |rows: Vec<UsageRow>| rows.into_iter().map(|row| row.group).collect::<Vec<_>>();
    let from = UsageQuery { from: at(MIDNIGHT), ..day() };
    assert_eq!(days(ask(store, from).await), ["2026-11-15", "2026-11-16"]);
    let to = UsageQuery { to: at(MIDNIGHT), ..day() };
    assert_eq!(days(ask(store, to).await), ["2026-11-14"]);
    let none = UsageQuery { from: at(MIDNIGHT + 1), to: at(MIDNIGHT + DAY), ..day() };
    assert_eq!(ask(store, none).await, []);
    let project = UsageQuery { project: Some(second.project_id), ..day() };
    assert_eq!(days(ask(store, project).await), ["2026-11-16"]);
    let nowhere = UsageQuery { project: Some(ProjectId(second.session_id.0)), ..day() };
    assert_eq!(ask(store, nowhere).await, []);
    let elsewhere = by(&samples::session(), UsageGroup::Day);
    assert_eq!(ask(store, elsewhere).await, []);
}
