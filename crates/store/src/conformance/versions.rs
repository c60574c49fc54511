//! Rules of [`Versions`](crate::Versions).

use warren_domain::{Seq, SessionId, Version};

use super::{created, linear, samples};
use crate::{Change, Commit, CommitError, Page, Root, Store, VersionRecord};

fn putting(version: &VersionRecord) -> Commit {
    samples::change(version.session_id, Seq(1), vec![Change::PutVersion(Box::new(version.clone()))])
}

async fn latest(store: &Store, session: SessionId) -> Version {
    store.sessions.session(session).await.expect("it is read").expect("it is there").version
}

/// Every field; and the session says which one is the latest.
pub async fn a_version_is_read_back_whole(store: &Store) {
    let session = created(store).await.session_id;
    let full = samples::version(session, Version(0));
    let bare = VersionRecord {
        run_id: None,
        tree: None,
        memory: None,
        transcripts: Vec::new(),
        restored: None,
        shared: false,
        label: None,
        ..samples::version(session, Version(1))
    };
    for version in [full, bare] {
        store.log.commit(putting(&version)).await.expect("the version is put");
        let found = store.versions.version(session, version.version).await.expect("it is read");
        assert_eq!(found, Some(version.clone()));
        assert_eq!(latest(store, session).await, version.version);
    }
    assert_eq!(store.versions.version(session, Version(9)).await.expect("it is read"), None);
}

/// A base that is not the latest, or a number that does not follow it, is refused with the latest.
pub async fn a_version_follows_the_latest(store: &Store) {
    let session = created(store).await.session_id;
    for base in [0, 1, 2] {
        let version = samples::version(session, Version(base));
        store.log.commit(putting(&version)).await.expect("the version is put");
    }
    let skipping = VersionRecord { version: Version(5), ..samples::version(session, Version(3)) };
    let wrong = [1, 2, 4].map(|base| samples::version(session, Version(base)));
    for version in wrong.into_iter().chain([skipping]) {
        let refused = store.log.commit(putting(&version)).await;
        assert!(
            matches!(refused, Err(CommitError::VersionConflict { latest: Version(3), .. })),
            "{refused:?}"
        );
    }
    assert_eq!(latest(store, session).await, Version(3));
    let both = [3, 4].map(|base| Change::PutVersion(Box::new(samples::version(session, Version(base)))));
    store.log.commit(samples::change(session, Seq(1), both.to_vec())).await.expect("one after the other");
    assert_eq!(latest(store, session).await, Version(5));
}

/// What a session starts with is v0, whose base is itself.
pub async fn a_first_version_is_put_once(store: &Store) {
    let session = created(store).await.session_id;
    let first = VersionRecord { version: Version(0), ..samples::version(session, Version(0)) };
    store.log.commit(putting(&first)).await.expect("v0 is put");
    let again = store.log.commit(putting(&first)).await;
    assert!(matches!(again, Err(CommitError::VersionConflict { latest: Version(0), .. })), "{again:?}");
    let second = samples::version(session, Version(0));
    store.log.commit(putting(&second)).await.expect("v1 is put");
    let all = store.versions.versions(session, None, 10).await.expect("they are listed");
    assert_eq!(all, Page { items: vec![second, first], more: false });
}

/// In pages, each of which begins where the last one ended.
pub async fn versions_are_listed_newest_first(store: &Store) {
    let session = created(store).await.session_id;
    let mut all: Vec<_> = (0..5).map(|base| samples::version(session, Version(base))).collect();
    for version in &all {
        store.log.commit(putting(version)).await.expect("the version is put");
    }
    all.reverse();
    let mut before = None;
    for (items, more) in [(&all[0..2], true), (&all[2..4], true), (&all[4..5], false)] {
        let page = store.versions.versions(session, before, 2).await.expect("they are listed");
        assert_eq!(page, Page { items: items.to_vec(), more });
        before = page.items.last().map(|version| version.version);
    }
}

/// A label names one version, until another name or none is given.
pub async fn a_label_is_given_and_taken_away(store: &Store) {
    let session = created(store).await.session_id;
    let version = VersionRecord { label: None, ..samples::version(session, Version(0)) };
    store.log.commit(putting(&version)).await.expect("the version is put");
    for label in [Some("before \u{1f41b}"), Some("after"), None] {
        assert!(store.versions.label_version(session, Version(1), label).await.expect("it is labelled"));
        let found = store.versions.version(session, Version(1)).await.expect("it is read");
        let label = label.map(str::to_owned);
        assert_eq!(found, Some(VersionRecord { label, ..version.clone() }));
    }
    assert!(!store.versions.label_version(session, Version(7), Some("x")).await.expect("it is tried"));
}

/// What expires loses its files and transcripts, and stays in the list.
pub async fn a_version_expires_unless_it_is_the_latest_or_has_a_label(store: &Store) {
    let session = created(store).await.session_id;
    let versions = [0, 1, 2].map(|base| samples::version(session, Version(base)));
    for version in &versions {
        store.log.commit(putting(version)).await.expect("the version is put");
    }
    let expire = async |number| store.versions.expire_version(session, Version(number)).await.expect("tried");
    assert!(!expire(1).await, "it has a label");
    store.versions.label_version(session, Version(1), None).await.expect("the label is taken away");
    store.versions.label_version(session, Version(3), None).await.expect("the label is taken away");
    assert!(expire(1).await);
    assert!(!expire(1).await, "it has expired");
    assert!(!expire(3).await, "it is the latest");
    assert!(!expire(9).await, "there is none");
    let found = store.versions.version(session, Version(1)).await.expect("it is read");
    let left = VersionRecord { tree: None, memory: None, label: None, expired: true, ..versions[0].clone() };
    assert_eq!(found, Some(left));
    let labelled = store.versions.label_version(session, Version(1), Some("too late")).await;
    assert!(!labelled.expect("it is tried"), "a name does not bring it back");
}

/// Each once, and never those of another partition.
pub async fn what_versions_keep_alive_is_told_for_each_partition(store: &Store) {
    let one = created(store).await;
    let other = created(store).await;
    for base in [0, 1] {
        let version = samples::version(one.session_id, Version(base));
        store.log.commit(putting(&version)).await.expect("the version is put");
    }
    let bare = VersionRecord { tree: None, memory: None, ..samples::version(other.session_id, Version(0)) };
    store.log.commit(putting(&bare)).await.expect("the version is put");
    let sample = samples::version(one.session_id, Version(0));
    let roots = store.versions.version_roots(&one.partition).await.expect("they are listed");
    assert_eq!(roots, [Root { tree: sample.tree, memory: sample.memory }]);
    assert_eq!(store.versions.version_roots(&other.partition).await.expect("they are listed"), []);
}

/// Exactly one of those who name the same base makes the next version, and what they all saw fits one order.
pub async fn of_many_who_commit_at_once_one_wins_each_version(store: &Store) {
    const VERSIONS: u64 = 400;
    let session = created(store).await.session_id;
    let calls = linear::race(&[store; 6], session, VERSIONS).await;
    linear::check(&calls, VERSIONS);
    linear::check_kept(store, session, VERSIONS).await;
}
