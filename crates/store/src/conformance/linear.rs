//! Whether what many writers of versions saw can have happened in one order, the order of the clock respected.
//!
//! A session's latest version is a register with one operation: "make the next one, if this is still the latest". So a
//! history is linearizable if each version was made once, by someone who named the one before it; if no version was made
//! by a call that began after a later version's call had ended; and if each refusal named a version that was the latest
//! at some moment of its call.

use std::time::Instant;

use futures::future::join_all;
use warren_domain::{Seq, SessionId, Version};

use super::samples;
use crate::{Change, Commit, CommitError, Store};

/// One call and its answer.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// When it began.
    pub began: Instant,
    /// When it was answered.
    pub ended: Instant,
    /// The answer.
    pub answer: Answer,
}

/// What a call was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// This version was made.
    Made(Version),
    /// Nothing was made, because this is the latest.
    Refused(Version),
    /// Nothing was made: the log had moved on.
    Behind,
}

/// Lets one writer for each store make versions of a session until there are `n_versions`. Returns what they saw.
pub async fn race(stores: &[&Store], session: SessionId, n_versions: u64) -> Vec<Call> {
    let writers = stores.iter().map(|store| write(store, session, n_versions));
    join_all(writers).await.into_iter().flatten().collect()
}

async fn write(store: &Store, session: SessionId, n_versions: u64) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut latest = Version(0);
    // What this writer believes may be old by the time it writes: that is the point.
    let mut head = store.log.head(session).await.expect("the head is read").expect("it is there");
    while latest.0 < n_versions {
        let version = samples::version(session, latest);
        let changes = vec![Change::PutVersion(Box::new(version))];
        let commit = Commit { changes, ..samples::append(session, head, 1) };
        let began = Instant::now();
        let answer = match store.log.commit(commit).await {
            Ok(new) => {
                head = new;
                latest = latest.next();
                Answer::Made(latest)
            }
            Err(CommitError::VersionConflict { latest: found, .. }) => {
                latest = found;
                Answer::Refused(found)
            }
            Err(CommitError::Conflict { found, .. }) => {
                head = found;
                Answer::Behind
            }
            Err(error) => panic!("a writer failed: {error}"),
        };
        calls.push(Call { began, ended: Instant::now(), answer });
    }
    calls
}

/// Panics unless the history is linearizable and made every version up to `n_versions` once.
pub fn check(calls: &[Call], n_versions: u64) {
    let mut made: Vec<(Version, &Call)> = calls
        .iter()
        .filter_map(|call| match call.answer {
            Answer::Made(version) => Some((version, call)),
            Answer::Refused(_) | Answer::Behind => None,
        })
        .collect();
    made.sort_by_key(|(version, _)| *version);
    let numbers: Vec<u64> = made.iter().map(|(version, _)| version.0).collect();
    assert_eq!(numbers, (1..=n_versions).collect::<Vec<_>>(), "each version is made once");
    let mut latest_begin = None;
    for (version, call) in &made {
        assert!(
            latest_begin.is_none_or(|began| call.ended >= began),
            "version {version} was made before one with a lower number was asked for"
        );
        latest_begin = latest_begin.max(Some(call.began));
    }
    for call in calls {
        if let Answer::Refused(found) = call.answer {
            let before = made.iter().filter(|(_, other)| other.ended < call.began);
            let at_least = before.map(|(version, _)| version.0).max().unwrap_or(0);
            let until = made.iter().filter(|(_, other)| other.began <= call.ended);
            let at_most = until.map(|(version, _)| version.0).max().unwrap_or(0);
            assert!(
                (at_least..=at_most).contains(&found.0),
                "a refusal named version {found}, which was not the latest then ({at_least} to {at_most})"
            );
        }
    }
}

/// The log of a session whose versions were raced for: each version's last entry is one of it, in order.
pub async fn check_kept(store: &Store, session: SessionId, n_versions: u64) {
    let page = store.versions.versions(session, None, u32::MAX - 1).await.expect("they are listed");
    let kept: Vec<u64> = page.items.iter().rev().map(|version| version.version.0).collect();
    assert_eq!(kept, (1..=n_versions).collect::<Vec<_>>());
    let head = store.log.head(session).await.expect("the head is read");
    assert_eq!(head, Some(Seq(1 + n_versions)), "one entry for each version, and the first");
}
