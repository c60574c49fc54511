//! Rules of [`EventLog`](crate::EventLog) when many write at once.

use std::collections::BTreeMap;

use futures::future::{join, join_all};
use warren_domain::{Fence, Seq, SessionId, Version};

use super::{created, samples};
use crate::{Change, Commit, CommitError, SessionUpdate, Store};

/// A reader sees all of a commit or nothing of it, at any moment.
pub async fn entries_and_records_appear_together(store: &Store) {
    const COMMITS: u64 = 40;
    let session = created(store).await.session_id;
    let write = async {
        let run = samples::queued(session);
        for n in 0..COMMITS {
            let head = Seq(1 + 3 * n);
            let announced = crate::RunRecord { seq: Seq(head.0 + 3), ..run.clone() };
            let changes = vec![Change::PutRun(Box::new(announced))];
            let commit = Commit { changes, ..samples::append(session, head, 3) };
            store.log.commit(commit).await.expect("it is appended");
        }
    };
    let watch = async {
        let end = Seq(1 + 3 * COMMITS);
        loop {
            let runs = store.runs.runs(session, None, 1).await.expect("runs are listed");
            let read = store.log.read(session, Seq(0), 1_000).await.expect("the log is read");
            let record = store.sessions.session(session).await.expect("it is read").expect("it is there");
            let seen = read.last().map_or(Seq(0), |entry| entry.seq);
            assert_eq!((seen.0 - 1) % 3, 0, "part of a commit was seen");
            let announced = runs.items.first().map_or(Seq(1), |run| run.seq);
            assert!(announced <= seen, "the run of entry {announced} was seen before the entry");
            assert!(seen <= record.head, "entry {seen} was seen before the head moved there");
            if announced == end {
                break;
            }
            tokio::task::yield_now().await;
        }
    };
    join(write, watch).await;
}

/// Good and bad commits handed in at the same moment: each gets the answer it would have got alone.
pub async fn a_refused_commit_harms_no_other(store: &Store) {
    let good: Vec<SessionId> =
        join_all((0..20).map(|_| created(store))).await.iter().map(|s| s.session_id).collect();
    let bad = created(store).await;
    let key = samples::key("k", samples::time(100 * 365 * 86_400_000));
    let refused: Vec<Commit> = vec![
        samples::append(samples::session().session_id, Seq(0), 1),
        samples::append(bad.session_id, Seq(9), 1),
        samples::create(&bad),
        Commit {
            entries: vec![samples::entry(bad.session_id, Seq(5))],
            ..samples::append(bad.session_id, Seq(1), 0)
        },
        samples::change(
            bad.session_id,
            Seq(1),
            vec![Change::PutVersion(Box::new(samples::version(bad.session_id, Version(3))))],
        ),
        samples::change(
            bad.session_id,
            Seq(1),
            vec![Change::PutRun(Box::new(samples::run(samples::session().session_id)))],
        ),
        // The same key twice.
        samples::change(bad.session_id, Seq(1), vec![Change::PutKey(key.clone()), Change::PutKey(key)]),
    ];
    let accepted =
        join_all(good.iter().map(|session| store.log.commit(samples::append(*session, Seq(1), 2))));
    let refused = join_all(refused.into_iter().map(|commit| store.log.commit(commit)));
    let (accepted, refused) = join(accepted, refused).await;
    for answer in accepted {
        assert_eq!(answer.expect("it is appended"), Seq(3));
    }
    assert!(refused.iter().all(Result::is_err), "{refused:?}");
    for session in good {
        let read = store.log.read(session, Seq(0), 10).await.expect("the log is read");
        assert_eq!(read, samples::entries(session, Seq(0), 3));
    }
    assert_eq!(store.sessions.session(bad.session_id).await.expect("it is read"), Some(bad));
}

/// As above, when all commits add entries and nothing else: the way that most go.
pub async fn a_refused_line_harms_no_other(store: &Store) {
    let sessions: Vec<SessionId> =
        join_all((0..24).map(|_| created(store))).await.iter().map(|s| s.session_id).collect();
    let stale = |n: usize| n % 4 == 3;
    let commits = sessions.iter().enumerate().map(|(n, session)| {
        let head = if stale(n) { Seq(7) } else { Seq(1) };
        store.log.commit(samples::append(*session, head, 1 + n as u64 % 3))
    });
    let unknown = store.log.commit(samples::append(samples::session().session_id, Seq(1), 1));
    let (answers, unknown) = join(join_all(commits), unknown).await;
    assert!(matches!(unknown, Err(CommitError::NoSession(_))), "{unknown:?}");
    for (n, (session, answer)) in sessions.into_iter().zip(answers).enumerate() {
        let head = if stale(n) { 1 } else { 2 + n as u64 % 3 };
        match answer {
            Ok(found) => assert_eq!((found, stale(n)), (Seq(head), false)),
            Err(CommitError::Conflict { found, .. }) => assert_eq!((found, stale(n)), (Seq(1), true)),
            Err(error) => panic!("{error:?}"),
        }
        let read = store.log.read(session, Seq(0), 10).await.expect("the log is read");
        assert_eq!(read, samples::entries(session, Seq(0), head));
    }
}

/// Several writers at the same position: one goes on, the others learn that they are late.
pub async fn of_many_equal_commits_one_wins(store: &Store) {
    let session = created(store).await.session_id;
    let commits = (0..16).map(|_| store.log.commit(samples::append(session, Seq(1), 2)));
    let answers = join_all(commits).await;
    assert_eq!(answers.iter().filter(|answer| matches!(answer, Ok(Seq(3)))).count(), 1);
    let late = answers.iter().filter(|a| matches!(a, Err(CommitError::Conflict { found: Seq(3), .. })));
    assert_eq!(late.count(), 15);
    let read = store.log.read(session, Seq(0), 10).await.expect("the log is read");
    assert_eq!(read, samples::entries(session, Seq(0), 3));
}

/// Each log has its own numbers, whatever the others do.
pub async fn many_sessions_grow_at_once(store: &Store) {
    let grow = |n_commits: u64| async move {
        let session = created(store).await.session_id;
        let mut head = Seq(1);
        for n in 0..n_commits {
            head = store.log.commit(samples::append(session, head, n % 4)).await.expect("it is appended");
        }
        let read = store.log.read(session, Seq(0), 1_000).await.expect("the log is read");
        assert_eq!(read, samples::entries(session, Seq(0), head.0));
    };
    join_all((0..48).map(|n| grow(5 + n % 7))).await;
}

/// Random commits, right and wrong ones, handed in at random moments: at the end the store holds what a map would.
pub async fn random_interleavings_agree_with_a_model(store: &Store) {
    join_all((0..8).map(|seed| random_session(store, seed))).await;
}

async fn random_session(store: &Store, seed: u64) {
    let mut random = Random(seed);
    let mut record = created(store).await;
    let session = record.session_id;
    let mut files = BTreeMap::new();
    let mut runs = Vec::new();
    for step in 0..40 {
        let head = record.head;
        let right = random.below(4) != 0;
        let expected = if right { head } else { Seq(head.0 + 1 + random.below(3)) };
        let mut commit = Commit { fence: Fence(0), ..samples::append(session, expected, random.below(4)) };
        let path = format!("file {}", random.below(5));
        let change = match random.below(4) {
            0 => Change::PutFile(samples::file(&path, step)),
            1 => Change::RemoveFile(path.clone()),
            2 => Change::PutRun(Box::new(samples::run(session))),
            _ => Change::UpdateSession(SessionUpdate {
                name: Some(format!("name {step}")),
                ..SessionUpdate::default()
            }),
        };
        commit.changes.push(change.clone());
        let n = commit.entries.len() as u64;
        let answer = store.log.commit(commit).await;
        assert_eq!(answer.is_ok(), right, "seed {seed}, step {step}: {answer:?}");
        if !right {
            continue;
        }
        record.head = Seq(head.0 + n);
        match change {
            Change::PutFile(file) => drop(files.insert(path, file)),
            Change::RemoveFile(path) => drop(files.remove(&path)),
            Change::PutRun(run) => runs.insert(0, *run),
            Change::UpdateSession(update) => record.name = update.name,
            other => unreachable!("not made here: {other:?}"),
        }
    }
    let read = store.log.read(session, Seq(0), 1_000).await.expect("the log is read");
    assert_eq!(read, samples::entries(session, Seq(0), record.head.0), "seed {seed}");
    let kept = store.sessions.files(session).await.expect("files are listed");
    assert_eq!(kept, files.into_values().collect::<Vec<_>>(), "seed {seed}");
    let kept = store.runs.runs(session, None, 1_000).await.expect("runs are listed").items;
    assert_eq!(kept, runs, "seed {seed}");
    assert_eq!(store.sessions.session(session).await.expect("it is read"), Some(record), "seed {seed}");
}

/// SplitMix64: the same numbers for the same seed, so that a failure can be seen again.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}
