//! Rules of [`Runs`](crate::Runs), but for what was spent.

use warren_domain::{RunStatus, Seq, Version};

use super::{created, samples};
use crate::{Change, Commit, CommitError, Page, RunRecord, Store};

async fn put(store: &Store, run: &RunRecord) {
    let commit = samples::change(run.session_id, Seq(1), vec![Change::PutRun(Box::new(run.clone()))]);
    store.log.commit(commit).await.expect("the run is put");
}

/// Every field.
pub async fn a_run_is_read_back_whole(store: &Store) {
    let session = created(store).await.session_id;
    for run in [samples::run(session), samples::queued(session)] {
        assert_eq!(store.runs.run(session, run.run_id).await.expect("the run is read"), None);
        put(store, &run).await;
        assert_eq!(store.runs.run(session, run.run_id).await.expect("the run is read"), Some(run.clone()));
        let other = created(store).await.session_id;
        assert_eq!(store.runs.run(other, run.run_id).await.expect("the run is read"), None);
    }
}

/// Words of an agent and names a provider gives may hold anything; where a database has no place for NUL, it stands as
/// U+FFFD, whichever database it is.
pub async fn no_words_of_an_agent_keep_a_run_from_ending(store: &Store) {
    let session = created(store).await.session_id;
    let run = samples::run(session);
    let said = |nul: &str| {
        let mut run = run.clone();
        run.error = Some(("AGENT_ERROR".to_owned(), format!("{nul}it said{nul}{nul} nothing{nul}")));
        run.usage.model = Some(format!("a{nul}model"));
        run
    };
    put(store, &said("\0")).await;
    let kept = store.runs.run(session, run.run_id).await.expect("the run is read");
    assert_eq!(kept, Some(said("\u{fffd}")));
}

/// The new record is the record; nothing of the old one stays.
pub async fn a_run_is_replaced_whole(store: &Store) {
    let session = created(store).await.session_id;
    let run = samples::run(session);
    let replaced = RunRecord { run_id: run.run_id, ..samples::queued(session) };
    for run in [&run, &replaced, &run] {
        put(store, run).await;
        assert_eq!(store.runs.run(session, run.run_id).await.expect("the run is read"), Some(run.clone()));
    }
    assert_eq!(store.runs.runs(session, None, 10).await.expect("they are listed").items, [run]);
}

/// In pages, each of which begins where the last one ended.
pub async fn runs_are_listed_newest_first(store: &Store) {
    let session = created(store).await.session_id;
    let mut all: Vec<_> = (0..5).map(|_| samples::run(session)).collect();
    for run in &all {
        put(store, run).await;
    }
    all.reverse();
    let mut before = None;
    for (items, more) in [(&all[0..2], true), (&all[2..4], true), (&all[4..5], false)] {
        let page = store.runs.runs(session, before, 2).await.expect("they are listed");
        assert_eq!(page, Page { items: items.to_vec(), more });
        before = page.items.last().map(|run| run.run_id);
    }
}

/// Those that wait or run, of all sessions.
pub async fn unfinished_runs_are_listed_oldest_first(store: &Store) {
    let mut expected = Vec::new();
    let statuses = [
        RunStatus::Queued,
        RunStatus::Running,
        RunStatus::Completed,
        RunStatus::Failed,
        RunStatus::Interrupted,
        RunStatus::Steered,
    ];
    for _ in 0..2 {
        let session = created(store).await.session_id;
        for status in statuses {
            let run = RunRecord { status, ..samples::queued(session) };
            put(store, &run).await;
            if !status.is_over() {
                expected.push(run);
            }
        }
    }
    let ours = |run: &RunRecord| expected.iter().any(|e| e.session_id == run.session_id);
    let mut found = store.runs.unfinished().await.expect("they are listed");
    found.retain(ours);
    assert_eq!(found, expected);
}

/// At the moment it expires, it is gone.
pub async fn a_key_is_known_until_it_expires(store: &Store) {
    let session = created(store).await.session_id;
    let key = samples::key("the client's \"text\" ü", samples::time(1_000));
    let commit = samples::change(session, Seq(1), vec![Change::PutKey(key.clone())]);
    store.log.commit(commit).await.expect("the key is put");
    for (now, expected) in [(0, Some(&key)), (999, Some(&key)), (1_000, None), (5_000, None)] {
        let found = store.runs.key(session, &key.key, samples::time(now)).await.expect("it is read");
        assert_eq!(found.as_ref(), expected, "at {now}");
    }
    assert_eq!(store.runs.key(session, "other", samples::time(0)).await.expect("it is read"), None);
}

/// The refusal carries what the key stands for.
pub async fn a_taken_key_refuses_the_whole_commit(store: &Store) {
    let session = created(store).await.session_id;
    let far = samples::time(100 * 365 * 86_400_000);
    let first = samples::key("k", far);
    let commit = samples::change(session, Seq(1), vec![Change::PutKey(first.clone())]);
    store.log.commit(commit).await.expect("the key is put");
    let run = samples::run(session);
    let changes = vec![Change::PutRun(Box::new(run.clone())), Change::PutKey(samples::key("k", far))];
    let refused = store.log.commit(Commit { changes, ..samples::append(session, Seq(1), 1) }).await;
    assert!(matches!(&refused, Err(CommitError::KeyTaken(found)) if **found == first), "{refused:?}");
    assert_eq!(store.runs.run(session, run.run_id).await.expect("the run is read"), None);
    assert_eq!(store.log.head(session).await.expect("the head is read"), Some(Seq(1)));
    assert_eq!(store.runs.key(session, "k", samples::time(0)).await.expect("it is read"), Some(first));
}

/// A key whose time is over by the store's own clock is as good as new.
pub async fn an_expired_key_can_be_used_again(store: &Store) {
    let session = created(store).await.session_id;
    let long_ago = warren_domain::Timestamp::from_millis(1);
    let far = samples::time(100 * 365 * 86_400_000);
    for key in [samples::key("k", long_ago), samples::key("k", long_ago), samples::key("k", far)] {
        let commit = samples::change(session, Seq(1), vec![Change::PutKey(key.clone())]);
        store.log.commit(commit).await.expect("the key is free");
    }
    let taken = samples::change(session, Seq(1), vec![Change::PutKey(samples::key("k", far))]);
    assert!(matches!(store.log.commit(taken).await, Err(CommitError::KeyTaken(_))));
}

/// The same text in another session is another key.
pub async fn keys_of_two_sessions_are_apart(store: &Store) {
    let far = samples::time(100 * 365 * 86_400_000);
    let mut keys = Vec::new();
    for _ in 0..2 {
        let session = created(store).await.session_id;
        let key = samples::key("the same", far);
        let version = Change::PutVersion(Box::new(samples::version(session, Version(0))));
        let commit = samples::change(session, Seq(1), vec![Change::PutKey(key.clone()), version]);
        store.log.commit(commit).await.expect("the key is put");
        keys.push((session, key));
    }
    for (session, key) in keys {
        let found = store.runs.key(session, "the same", samples::time(0)).await.expect("it is read");
        assert_eq!(found, Some(key));
    }
}
