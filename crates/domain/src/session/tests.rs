use serde_json::{Value, json};
use uuid::Uuid;

use super::{Command, Outcome, Phase, QUEUE_LIMIT, Rejection, Session, Start};
use crate::{
    ApprovalDecision, ApprovalId, ApprovalKind, ApprovalRequest, ApprovalResolution, ApprovalRule, Block,
    BlockId, Content, Diagnostics, Draft, ErrorCode, EventBody, FileChange, FileCounts, Head, Resolution,
    RuleError, RuleScope, RunId, SessionChanges, Timestamp, Usage, Version, VersionCause, WhenBusy, matter,
};

fn run(n: u128) -> RunId {
    RunId(Uuid::from_u128(n))
}

fn send(n: u128, when_busy: WhenBusy) -> Command {
    Command::Send {
        run: run(n),
        content: Content::from("do it"),
        when_busy,
        base_version: None,
        start: Start::AtOnce,
        title: None,
    }
}

fn completed(n: u128) -> Command {
    let outcome = Outcome::Completed { usage: Usage::default(), summary: None };
    Command::Conclude { run: run(n), outcome, files: Some(FileCounts::default()) }
}

/// Carries out commands that must be accepted, and returns the state they leave.
fn after(commands: Vec<Command>) -> Session {
    let create = Command::Create {
        agent_type: "builtin".into(),
        profile: "default".into(),
        name: None,
        forked_from: None,
        options: None,
    };
    std::iter::once(create).chain(commands).fold(Session::default(), |session, command| {
        let drafts = session.decide(command).expect("the command is allowed");
        fold(session, &drafts)
    })
}

fn fold(session: Session, drafts: &[Draft]) -> Session {
    drafts.iter().fold(session, |session, draft| session.apply(draft.run_id, &draft.body))
}

#[test]
fn a_second_message_waits_and_then_runs() {
    let session = after(vec![send(1, WhenBusy::Queue), send(2, WhenBusy::Queue)]);
    assert_eq!(session.phase, Phase::Running { run: run(1) });
    assert_eq!(session.queue.len(), 1);

    let session = fold(session.clone(), &session.decide(completed(1)).expect("ends"));
    assert_eq!((session.phase, session.version), (Phase::Idle, Version(1)));
    let session = fold(session.clone(), &session.decide(Command::StartNext).expect("starts"));
    assert_eq!((session.phase, session.queue.len()), (Phase::Running { run: run(2) }, 0));
}

fn stopped(n: u128) -> Command {
    let outcome = Outcome::Interrupted {
        by: "you".to_owned(),
        holds_queue: true,
        usage: Usage::default(),
        diagnostics: Diagnostics::default(),
    };
    Command::Conclude { run: run(n), outcome, files: Some(FileCounts::default()) }
}

fn held(held: bool) -> Command {
    Command::Update(SessionChanges { queue_held: Some(held), ..SessionChanges::default() })
}

#[test]
fn queued_messages_are_held_after_a_person_stops_the_run_until_they_are_resumed() {
    let session = after(vec![send(1, WhenBusy::Queue), send(2, WhenBusy::Queue), stopped(1)]);
    assert_eq!((session.phase, session.held), (Phase::Idle, true));
    assert_eq!(session.decide(Command::StartNext), Ok(Vec::new()));

    let session = fold(session.clone(), &session.decide(held(false)).expect("resumes"));
    let session = fold(session.clone(), &session.decide(Command::StartNext).expect("starts"));
    assert_eq!((session.phase, session.held), (Phase::Running { run: run(2) }, false));
}

#[test]
fn message_sent_while_others_are_held_runs_first_and_releases_them() {
    let session = after(vec![send(1, WhenBusy::Queue), send(2, WhenBusy::Queue), stopped(1)]);
    // Even for a sender that would not wait: nothing is going on.
    let sent = session.decide(send(3, WhenBusy::Reject)).expect("taken");
    let session = fold(session, &sent);
    assert_eq!(
        (session.phase, session.held, session.queue.len()),
        (Phase::Running { run: run(3) }, false, 1)
    );
    let session = fold(session.clone(), &session.decide(completed(3)).expect("ends"));
    let session = fold(session.clone(), &session.decide(Command::StartNext).expect("starts"));
    assert_eq!(session.phase, Phase::Running { run: run(2) });
}

#[test]
fn message_sent_while_others_are_held_is_first_even_where_it_has_to_wait() {
    let session = after(vec![send(1, WhenBusy::Queue), send(2, WhenBusy::Queue), stopped(1)]);
    let Command::Send { run: id, content, when_busy, base_version, title, .. } = send(3, WhenBusy::Queue)
    else {
        unreachable!("a message")
    };
    let later = Command::Send { run: id, content, when_busy, base_version, title, start: Start::Later };
    let session = fold(session.clone(), &session.decide(later).expect("taken"));
    let waiting: Vec<_> = session.queue.iter().map(|queued| queued.run).collect();
    assert_eq!((waiting, session.held), (vec![run(3), run(2)], false));
}

#[test]
fn stop_without_queued_messages_holds_nothing() {
    let session = after(vec![send(1, WhenBusy::Queue), stopped(1), send(2, WhenBusy::Queue)]);
    assert_eq!((session.phase, session.held), (Phase::Running { run: run(2) }, false));
}

#[test]
fn edited_message_stays_held() {
    let session = after(vec![
        send(1, WhenBusy::Queue),
        send(2, WhenBusy::Queue),
        stopped(1),
        Command::Requeue { run: run(2), content: Some(Content::from("better")), position: None },
    ]);
    assert!(session.held);
}

#[test]
fn title_of_a_message_is_recorded_with_it() {
    let Command::Send { run, content, when_busy, base_version, start, .. } = send(1, WhenBusy::Queue) else {
        unreachable!("a message")
    };
    let title = Some("Do it".to_owned());
    let drafts = after(Vec::new())
        .decide(Command::Send { run, content, when_busy, base_version, start, title: title.clone() })
        .expect("taken");
    let changes = SessionChanges { name: title, ..SessionChanges::default() };
    assert!(matches!(drafts[0].body, EventBody::RunStarted { .. }), "{drafts:?}");
    assert_eq!(drafts[1..], [Draft::of_session(EventBody::SessionUpdated { changes })]);
}

#[test]
fn a_message_is_refused_when_the_sender_will_not_wait() {
    let session = after(vec![send(1, WhenBusy::Queue)]);
    assert_eq!(session.decide(send(2, WhenBusy::Reject)), Err(Rejection::Busy));
}

#[test]
fn the_queue_has_an_end() {
    let mut commands = vec![send(1, WhenBusy::Queue)];
    commands.extend((0..QUEUE_LIMIT as u128).map(|n| send(10 + n, WhenBusy::Queue)));
    assert_eq!(after(commands).decide(send(99, WhenBusy::Steer)), Err(Rejection::QueueFull));
}

#[test]
fn a_stale_base_version_is_refused_with_the_latest() {
    let session = after(vec![send(1, WhenBusy::Queue), completed(1)]);
    let stale = Command::Send {
        run: run(2),
        content: Content::from("x"),
        when_busy: WhenBusy::Queue,
        base_version: Some(Version(0)),
        start: Start::AtOnce,
        title: None,
    };
    assert_eq!(
        session.decide(stale),
        Err(Rejection::VersionConflict { wanted: Version(0), latest: Version(1) })
    );
}

#[test]
fn a_steered_message_leaves_the_queue_when_the_agent_takes_it_up() {
    let session = after(vec![send(1, WhenBusy::Queue), send(2, WhenBusy::Steer)]);
    let block = Block::UserMessage {
        id: BlockId::of_message(run(2)),
        timestamp: Timestamp::default(),
        content: Content::from("do it"),
    };
    let session = session.apply(Some(run(1)), &EventBody::BlockComplete { block });
    assert_eq!((session.phase, session.queue.len()), (Phase::Running { run: run(1) }, 0));
}

#[test]
fn steered_message_ends_like_the_run_that_took_it_up_and_costs_nothing() {
    let session = after(vec![send(1, WhenBusy::Queue), send(2, WhenBusy::Steer), send(3, WhenBusy::Steer)]);
    let block = Block::UserMessage {
        id: BlockId::of_message(run(2)),
        timestamp: Timestamp::default(),
        content: Content::from("do it"),
    };
    let session = session.apply(Some(run(1)), &EventBody::BlockStart { block: block.clone() });
    let session = session.apply(Some(run(1)), &EventBody::BlockComplete { block });
    let usage = Usage { output_tokens: 7, cost_usd: 0.5, ..Usage::default() };
    let failed = |usage: Usage| EventBody::RunFailed {
        code: ErrorCode::Timeout,
        message: "late".to_owned(),
        recoverable: true,
        cost_usd: usage.cost_usd,
        usage,
        diagnostics: Diagnostics::default(),
    };
    let outcome = Outcome::Failed {
        code: ErrorCode::Timeout,
        message: "late".to_owned(),
        recoverable: true,
        usage: usage.clone(),
        diagnostics: Diagnostics::default(),
    };
    let conclude = Command::Conclude { run: run(1), outcome, files: None };
    let drafts = session.decide(conclude).expect("it ends");
    // The third message was not taken up: it waits.
    let expected =
        [Draft::of_run(run(2), failed(Usage::default())), Draft::of_run(run(1), failed(usage.clone()))];
    assert_eq!(drafts, expected);
    let session = fold(session, &drafts);
    assert_eq!((session.phase, session.steered.len(), session.spent), (Phase::Idle, 0, usage));
    assert_eq!(session.queue.iter().map(|queued| queued.run).collect::<Vec<_>>(), [run(3)]);

    let session = after(vec![send(1, WhenBusy::Queue), completed(1), send(2, WhenBusy::Queue)]);
    let ends = session.decide(completed(2)).expect("it ends");
    assert_eq!(ends.iter().filter(|draft| draft.body.ends_run()).count(), 1, "nothing is left of the first");
}

#[test]
fn a_dropped_message_never_runs_and_a_reworded_one_runs_reworded() {
    let session = after(vec![
        send(1, WhenBusy::Queue),
        send(2, WhenBusy::Queue),
        send(3, WhenBusy::Queue),
        Command::Drop { run: run(2), by: "user".to_owned() },
        Command::Requeue { run: run(3), content: Some(Content::from("better")), position: None },
    ]);
    let waiting: Vec<_> = session.queue.iter().map(|q| (q.run, q.content.to_text())).collect();
    assert_eq!(waiting, [(run(3), "better".to_owned())]);
    assert_eq!(
        session.decide(Command::Drop { run: run(1), by: "user".to_owned() }),
        Err(Rejection::NotQueued(run(1)))
    );
}

#[test]
fn a_waiting_message_takes_the_place_it_is_given() {
    let moved = |n, position| Command::Requeue { run: run(n), content: None, position: Some(position) };
    let check = |commands: Vec<Command>, expected: [u128; 3]| {
        let sent = (1..=4).map(|n| send(n, WhenBusy::Queue));
        let session = after(sent.chain(commands).collect());
        let waiting: Vec<_> = session.queue.iter().map(|queued| queued.run).collect();
        assert_eq!(waiting, expected.map(run));
    };
    check(vec![moved(4, 1)], [4, 2, 3]);
    check(vec![moved(2, 2)], [3, 2, 4]);
    check(vec![moved(2, 99)], [3, 4, 2]);
    check(vec![moved(3, 0), moved(4, 2)], [3, 4, 2]);
    let reworded =
        Command::Requeue { run: run(4), content: Some(Content::from("better")), position: Some(1) };
    check(vec![reworded], [4, 2, 3]);
}

#[test]
fn a_waiting_message_that_stays_where_it_is_is_not_recorded_again() {
    let session = after(vec![send(1, WhenBusy::Queue), send(2, WhenBusy::Queue)]);
    let same = Command::Requeue { run: run(2), content: None, position: Some(1) };
    assert_eq!(session.decide(same), Ok(Vec::new()));
    let started = Command::Requeue { run: run(1), content: None, position: Some(1) };
    assert_eq!(session.decide(started), Err(Rejection::NotQueued(run(1))));
}

#[test]
fn a_late_event_does_not_reopen_an_ended_session() {
    let session = after(vec![Command::End { reason: "done".to_owned() }]);
    let late = EventBody::TextDelta { block_id: BlockId::from("b"), delta: "x".to_owned() };
    assert_eq!(session.clone().apply(None, &late), session);
    assert_eq!(session.decide(send(1, WhenBusy::Queue)), Err(Rejection::Ended));
}

#[test]
fn an_ended_run_cannot_end_again() {
    let session = after(vec![send(1, WhenBusy::Queue), completed(1)]);
    assert_eq!(session.decide(completed(1)), Err(Rejection::NotRunning(run(1))));
}

fn ask(n: u128) -> Command {
    Command::Ask(ApprovalRequest {
        approval_id: ApprovalId(Uuid::from_u128(n)),
        kind: ApprovalKind::Permission,
        tool_use_id: None,
        title: "Run `ls`".to_owned(),
        detail: serde_json::json!({"toolName": "bash", "input": {"command": "ls"}}),
        options: vec![ApprovalDecision::Allow, ApprovalDecision::Deny],
        rules: Vec::new(),
        expires_at: Timestamp::from_millis(0),
    })
}

fn resolve(n: u128, decision: Resolution) -> Command {
    let expired = ApprovalResolution::expired(ApprovalId(Uuid::from_u128(n)), "someone");
    Command::Resolve(ApprovalResolution { decision, ..expired })
}

fn cut(n: u128) -> Command {
    let outcome = Outcome::Failed {
        code: ErrorCode::ServerRestarted,
        message: "the server stopped during the run".to_owned(),
        recoverable: true,
        usage: Usage::default(),
        diagnostics: Diagnostics::default(),
    };
    Command::Conclude { run: run(n), outcome, files: None }
}

#[test]
fn an_approval_is_answered_once_and_only_as_it_was_offered() {
    let session = after(vec![send(1, WhenBusy::Queue), ask(7)]);
    let id = ApprovalId(Uuid::from_u128(7));
    assert_eq!(session.decide(resolve(7, Resolution::AllowAlways)), Err(Rejection::NotOffered(id)));
    let answered = fold(session.clone(), &session.decide(resolve(7, Resolution::Allow)).expect("pending"));
    assert_eq!(answered.approvals, []);
    assert_eq!(answered.decide(resolve(7, Resolution::Deny)), Err(Rejection::NotPending(id)));
}

/// A session in which `git push` was asked for, and may be allowed by a rule.
fn asked_to_push() -> Session {
    let Command::Ask(mut request) = ask(7) else { panic!("it asks") };
    request.options.push(ApprovalDecision::AllowAlways);
    request.detail = push("/workspace");
    after(vec![send(1, WhenBusy::Queue), Command::Ask(request)])
}

fn push(cwd: &str) -> Value {
    json!({"toolName": "bash", "input": {"command": "git push"}, "cwd": cwd})
}

fn always(rule: Option<ApprovalRule>) -> Command {
    let Command::Resolve(resolution) = resolve(7, Resolution::AllowAlways) else { panic!("it resolves") };
    Command::Resolve(ApprovalResolution { rule, ..resolution })
}

fn rule_of(scope: RuleScope, pattern: &str) -> ApprovalRule {
    ApprovalRule { tool: "bash".to_owned(), scope, pattern: pattern.to_owned() }
}

#[test]
fn granted_rule_is_in_the_log_and_counts_as_long_as_the_session() {
    let session = asked_to_push();
    let rule = rule_of(RuleScope::Prefix, "git");
    let drafts = session.decide(always(Some(rule.clone()))).expect("pending");
    let EventBody::ApprovalResolved(resolution) = &drafts[0].body else { panic!("it is resolved") };
    assert_eq!(resolution.rule, Some(rule));
    let answered = fold(session, &drafts);
    let over = fold(answered.clone(), &answered.decide(completed(1)).expect("ends"));
    let covers = |detail: Value| over.grants.iter().any(|it| it.covers(ApprovalKind::Permission, &detail));
    assert!(covers(push("/workspace")));
    assert!(!covers(push("/tmp")), "asked for elsewhere");
    let mut other = push("/workspace");
    other["input"]["command"] = json!("git log");
    assert!(covers(other.clone()));
    other["input"]["command"] = json!("git log; rm -rf /");
    assert!(!covers(other));
}

#[test]
fn yes_for_good_without_a_rule_allows_the_very_same_and_records_that() {
    let session = asked_to_push();
    let drafts = session.decide(always(None)).expect("pending");
    let EventBody::ApprovalResolved(resolution) = &drafts[0].body else { panic!("it is resolved") };
    assert_eq!(resolution.rule, Some(rule_of(RuleScope::Exact, "git push")));
}

#[test]
fn yes_for_good_without_a_rule_allows_a_file_no_other_content() {
    let write = |content: &str| json!({"toolName": "write", "input": {"path": "a", "content": content}});
    let Command::Ask(mut request) = ask(7) else { panic!("it asks") };
    request.options.push(ApprovalDecision::AllowAlways);
    request.detail = write("x");
    let session = after(vec![send(1, WhenBusy::Queue), Command::Ask(request)]);
    let granted = fold(session.clone(), &session.decide(always(None)).expect("pending"));
    assert!(granted.grants[0].covers(ApprovalKind::Permission, &write("x")));
    assert!(!granted.grants[0].covers(ApprovalKind::Permission, &write("y")));
}

#[test]
fn rule_that_does_not_cover_the_request_is_refused() {
    let refused = asked_to_push().decide(always(Some(rule_of(RuleScope::Prefix, "ls"))));
    let id = ApprovalId(Uuid::from_u128(7));
    assert_eq!(refused, Err(Rejection::Rule(id, RuleError::NotCovering)));
}

#[test]
fn log_older_than_rules_allows_the_very_same_request() {
    let session = asked_to_push();
    let older = ApprovalResolution {
        decision: Resolution::AllowAlways,
        ..ApprovalResolution::expired(ApprovalId(Uuid::from_u128(7)), "someone")
    };
    let session = session.apply(Some(run(1)), &EventBody::ApprovalResolved(older));
    assert!(session.grants[0].covers(ApprovalKind::Permission, &push("/workspace")));
    assert!(!session.grants[0].covers(ApprovalKind::Permission, &push("/tmp")));
}

#[test]
fn withdrawn_rule_counts_no_more() {
    let session = asked_to_push();
    let id = ApprovalId(Uuid::from_u128(7));
    let withdraw = Command::WithdrawRule { approval: id, by: "someone".to_owned() };
    assert_eq!(session.decide(withdraw.clone()), Err(Rejection::NoRule(id)));
    let granted = fold(session.clone(), &session.decide(always(None)).expect("pending"));
    let withdrawn = fold(granted.clone(), &granted.decide(withdraw.clone()).expect("in force"));
    assert_eq!(withdrawn.grants, []);
    assert_eq!(withdrawn.decide(withdraw), Err(Rejection::NoRule(id)));
}

#[test]
fn a_question_is_the_same_only_if_all_but_its_explanation_is() {
    let permission = |detail: Value| matter(ApprovalKind::Permission, &detail);
    let asked =
        json!({"toolName": "shell", "input": {"command": "make"}, "cwd": "/outputs", "reason": "to build"});
    let with = |name: &str, value: Value| {
        let mut other = asked.clone();
        other[name] = value;
        permission(other)
    };
    assert_eq!(with("reason", json!("again")), permission(asked.clone()));
    for (name, value) in [
        ("toolName", json!("bash")),
        ("input", json!({"command": "make all"})),
        ("cwd", json!("/tmp")),
        ("permissions", json!({"network": {"enabled": true}})),
        ("what nobody knew when this was written", json!(1)),
    ] {
        assert_ne!(with(name, value), permission(asked.clone()), "{name}");
    }
    let unsaid = json!({"toolName": "apply_patch", "input": null});
    assert_eq!(permission(unsaid), None, "it says nothing of what would be done");
    assert_eq!(permission(json!({"toolName": "apply_patch"})), None);
    assert_eq!(permission(json!("make")), None);
}

#[test]
fn what_a_run_asked_ends_with_it() {
    let session = after(vec![send(1, WhenBusy::Queue), ask(7)]);
    let drafts = session.decide(completed(1)).expect("it may end");
    let expired = ApprovalResolution::expired(ApprovalId(Uuid::from_u128(7)), "run");
    assert_eq!(drafts[0].body, EventBody::ApprovalResolved(expired));
    assert_eq!(fold(session, &drafts).approvals, []);
}

#[test]
fn what_a_cut_run_asked_can_still_be_answered_and_is_kept_for_the_next_run_only() {
    let cut_off = after(vec![send(1, WhenBusy::Queue), ask(7), cut(1)]);
    assert_eq!(cut_off.approvals.len(), 1, "the question outlives the server");
    let answered = fold(cut_off.clone(), &cut_off.decide(resolve(7, Resolution::Allow)).expect("pending"));
    let answer = answered.approvals[0].answer.as_ref().map(|answer| answer.decision);
    assert_eq!(answer, Some(Resolution::Allow), "kept for a run that asks the same");
    assert_eq!(answered.decide(resolve(7, Resolution::Allow)), Ok(Vec::new()), "the same answer again");
    let kept = fold(answered.clone(), &answered.decide(commit(VersionCause::Recovered)).expect("committed"));
    let next = fold(kept.clone(), &kept.decide(send(2, WhenBusy::Queue)).expect("starts"));
    let over = fold(next.clone(), &next.decide(completed(2)).expect("ends"));
    assert_eq!(over.approvals, []);
}

fn commit(cause: VersionCause) -> Command {
    Command::Commit { cause, files: FileCounts::default(), restored: None }
}

#[test]
fn a_run_that_ends_well_publishes_its_version_before_its_last_entry() {
    let session = after(vec![send(1, WhenBusy::Queue)]);
    let drafts = session.decide(completed(1)).expect("it may end");
    let kinds: Vec<_> = drafts.iter().map(|draft| draft.body.ends_run()).collect();
    assert_eq!(kinds, [false, true]);
    assert!(
        matches!(
            drafts[0].body,
            EventBody::VersionCommitted {
                version: Version(1),
                base: Version(0),
                cause: VersionCause::Run,
                ..
            }
        ),
        "{drafts:?}"
    );
    assert_eq!(drafts[0].run_id, Some(run(1)));
}

#[test]
fn what_a_cut_run_left_becomes_a_version_before_the_next_run_starts() {
    let session = after(vec![send(1, WhenBusy::Queue), cut(1)]);
    assert_eq!((session.head, session.version), (Head::Cut, Version(0)));
    // Even one that would not wait for a run: there is none.
    let session = fold(session.clone(), &session.decide(send(2, WhenBusy::Reject)).expect("taken"));
    assert_eq!((session.phase, session.queue.len()), (Phase::Idle, 1));
    let session = fold(session.clone(), &session.decide(commit(VersionCause::Recovered)).expect("committed"));
    assert_eq!((session.head, session.version), (Head::Clean, Version(1)));
    let started = session.decide(Command::StartNext).expect("starts");
    assert!(matches!(started[0].body, EventBody::RunStarted { base_version: Version(1), .. }), "{started:?}");
}

#[test]
fn files_that_change_between_runs_are_in_no_version_and_those_of_a_run_are_the_runs() {
    let changed = EventBody::FileChanged {
        path: "a".to_owned(),
        change: FileChange::Created,
        size_bytes: None,
        hash: None,
    };
    let running = after(vec![send(1, WhenBusy::Queue)]).apply(Some(run(1)), &changed);
    assert_eq!(running.head, Head::Clean);
    let idle = after(vec![send(1, WhenBusy::Queue), completed(1)]).apply(None, &changed);
    assert_eq!(idle.head, Head::Touched);
    let committed = fold(idle.clone(), &idle.decide(commit(VersionCause::Idle)).expect("committed"));
    assert_eq!((committed.head, committed.version), (Head::Clean, Version(2)));
}

#[test]
fn a_version_is_not_published_beside_a_run() {
    let session = after(vec![send(1, WhenBusy::Queue)]);
    assert_eq!(session.decide(commit(VersionCause::Manual)), Err(Rejection::Busy));
}

#[test]
fn a_waiting_message_that_cannot_be_carried_out_leaves_the_queue_and_nothing_else() {
    let session = after(vec![send(1, WhenBusy::Queue), send(2, WhenBusy::Queue)]);
    let refuse = Command::Refuse {
        run: run(2),
        code: ErrorCode::VersionConflict,
        message: "version 0 is not the latest".to_owned(),
    };
    let session = fold(session.clone(), &session.decide(refuse).expect("it waits"));
    assert_eq!((session.phase, session.queue.len()), (Phase::Running { run: run(1) }, 0));
    assert_eq!(session.head, Head::Clean);
}

#[test]
fn a_version_counts_the_blocks_since_the_last_one() {
    let text = |id: &str| Block::AssistantText {
        id: BlockId::from(id),
        timestamp: Timestamp::default(),
        content: String::new(),
        model: None,
    };
    let mut session = after(vec![send(1, WhenBusy::Queue)]);
    for id in ["a", "b", "a"] {
        session = session.apply(Some(run(1)), &EventBody::BlockStart { block: text(id) });
        session = session.apply(Some(run(1)), &EventBody::BlockComplete { block: text(id) });
    }
    let blocks = |drafts: Vec<Draft>| match drafts[0].body {
        EventBody::VersionCommitted { blocks, .. } => blocks,
        _ => panic!("{drafts:?}"),
    };
    let drafts = session.decide(completed(1)).expect("it may end");
    let session = fold(session, &drafts);
    assert_eq!(blocks(drafts), 2);
    assert_eq!(blocks(session.decide(commit(VersionCause::Manual)).expect("it may")), 0);
}
