//! Rules of [`Change::Count`](crate::Change::Count).

use futures::future::join_all;
use uuid::Uuid;
use warren_domain::{Seq, Timestamp};

use super::{created, samples};
use crate::{Change, Commit, CommitError, Count, SessionRecord, Store};

fn count(account: &str, most: Option<u64>) -> Count {
    Count { account: account.to_owned(), since: samples::time(0), most }
}

fn account() -> String {
    format!("account {}", Uuid::now_v7())
}

/// A commit that only counts.
fn counting(record: &SessionRecord, count: Count) -> Commit {
    samples::change(record.session_id, record.head, vec![Change::Count(count)])
}

async fn counted(store: &Store, account: &str) -> u64 {
    store.tokens.counted(account, samples::time(0)).await.expect("it is read")
}

/// With the commit, or not at all; what is refused leaves nothing.
pub async fn a_count_stops_at_its_limit(store: &Store) {
    let (record, account) = (created(store).await, account());
    assert_eq!(counted(store, &account).await, 0);
    for n in 1..=3 {
        store.log.commit(counting(&record, count(&account, Some(3)))).await.expect("there is room");
        assert_eq!(counted(store, &account).await, n);
    }
    let refused = store.log.commit(counting(&record, count(&account, Some(3)))).await;
    assert!(matches!(refused, Err(CommitError::LimitReached { most: 3 })), "{refused:?}");
    let none = store.log.commit(counting(&record, count(&self::account(), Some(0)))).await;
    assert!(matches!(none, Err(CommitError::LimitReached { most: 0 })), "{none:?}");
    store.log.commit(counting(&record, count(&account, None))).await.expect("without a limit");
    assert_eq!(counted(store, &account).await, 4);
}

/// Another time or another account has a count of its own.
pub async fn counts_are_apart(store: &Store) {
    let (record, account) = (created(store).await, account());
    store.log.commit(counting(&record, count(&account, Some(1)))).await.expect("there is room");
    let later = Count { since: samples::time(5), ..count(&account, Some(1)) };
    store.log.commit(counting(&record, later)).await.expect("another time");
    store.log.commit(counting(&record, count(&self::account(), Some(1)))).await.expect("another account");
    assert_eq!(counted(store, &account).await, 1);
    assert_eq!(store.tokens.counted(&account, Timestamp::default()).await.expect("it is read"), 0);
}

/// Windows that began earlier; the count since the beginning has no end.
pub async fn counts_of_past_windows_are_removed(store: &Store) {
    let (record, account) = (created(store).await, account());
    let windows = [Timestamp::default(), samples::time(1), samples::time(5), samples::time(9)];
    for since in windows {
        let count = Count { since, ..count(&account, Some(1)) };
        store.log.commit(counting(&record, count)).await.expect("there is room");
    }
    assert!(store.tokens.forget_counts(samples::time(5)).await.expect("they are removed") >= 1);
    let mut left = Vec::new();
    for since in windows {
        left.push(store.tokens.counted(&account, since).await.expect("it is read"));
    }
    assert_eq!(left, [1, 0, 1, 1]);
}

/// All of one account, and of no other.
pub async fn counts_of_a_removed_account_are_removed(store: &Store) {
    let (record, account, other) = (created(store).await, account(), self::account());
    let counts = [(&account, 0), (&account, 5), (&other, 0)];
    for (account, since) in counts {
        let count = Count { since: samples::time(since), ..count(account, None) };
        store.log.commit(counting(&record, count)).await.expect("there is room");
    }
    store.tokens.remove_counts(&account).await.expect("they are removed");
    let mut left = Vec::new();
    for (account, since) in counts {
        left.push(store.tokens.counted(account, samples::time(since)).await.expect("it is read"));
    }
    assert_eq!(left, [0, 0, 1]);
}

/// A commit that is refused for another reason is not counted.
pub async fn what_is_refused_is_not_counted(store: &Store) {
    let (record, account) = (created(store).await, account());
    let stale = Commit { expected: Seq(99), ..counting(&record, count(&account, Some(9))) };
    store.log.commit(stale).await.expect_err("it is stale");
    assert_eq!(counted(store, &account).await, 0);
}

/// Of many at once, in sessions of their own, exactly as many as there may be.
pub async fn of_many_at_once_as_many_as_allowed_are_counted(store: &Store) {
    let account = account();
    let records = join_all((0..12).map(|_| created(store))).await;
    let commits = records.iter().map(|record| store.log.commit(counting(record, count(&account, Some(5)))));
    let done = join_all(commits).await.into_iter().filter(Result::is_ok).count();
    assert_eq!((done, counted(store, &account).await), (5, 5));
}
