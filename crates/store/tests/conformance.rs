//! Both backends keep every rule of the contracts.
//!
//! PostgreSQL is tested when `WARREN_TEST_POSTGRES_URL` names one; `WARREN_TEST_REQUIRE` makes its absence a failure.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "helpers of tests fail and skip aloud")]

use std::{path::Path, time::Duration};

use warren_env::{Env, Tasks};
use warren_store::{Database, Options, Store, open};

mod sqlite {
    use warren_store::{Database, conformance::Rule};

    async fn check(rule: Rule) {
        let directory = tempfile::tempdir().expect("a directory");
        let database = Database::Sqlite(directory.path().join("data/warren.db"));
        let opened = super::Opened::new(database, directory.path()).await;
        rule.check(&opened.store).await;
        opened.close().await;
    }

    warren_store::conformance_tests!(check);
}

mod scratch {
    use warren_env::{Env, Tasks};
    use warren_store::conformance::Rule;

    async fn check(rule: Rule) {
        let directory = tempfile::tempdir().expect("a directory");
        let tasks = Tasks::new();
        let store = warren_store::scratch(directory.path(), Env::system(), &tasks).await.expect("it opens");
        let opened = super::Opened { store, tasks };
        rule.check(&opened.store).await;
        opened.close().await;
    }

    warren_store::conformance_tests!(check);
}

mod postgres {
    use std::time::Duration;

    use futures::future::{join, join_all};
    use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
    use uuid::Uuid;
    use warren_domain::{NodeId, Seq, SessionId};
    use warren_env::{Env, ManualClock};
    use warren_store::{
        AcquireError, Change, CommitError, Database, EventLog as _, Live, Store,
        conformance::{Rule, linear, samples},
    };

    use super::Opened;

    async fn check(rule: Rule) {
        let Some(schema) = Schema::new().await else { return };
        let directory = tempfile::tempdir().expect("a directory");
        let opened = Opened::new(schema.database(), directory.path()).await;
        rule.check(&opened.store).await;
        opened.close().await;
        schema.remove().await;
    }

    warren_store::conformance_tests!(check);

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn two_nodes_on_one_database_keep_every_log_contiguous() {
        let Some(schema) = Schema::new().await else { return };
        let directory = tempfile::tempdir().expect("a directory");
        let one = Opened::new(schema.database(), directory.path()).await;
        let two = Opened::new(schema.database(), directory.path()).await;
        let records: Vec<_> = (0..12).map(|_| samples::session()).collect();
        for record in &records {
            let both = join(
                one.store.log.commit(samples::create(record)),
                two.store.log.commit(samples::create(record)),
            );
            let (first, second) = both.await;
            assert_eq!(u8::from(first.is_ok()) + u8::from(second.is_ok()), 1, "{first:?}, {second:?}");
        }
        let sessions = || records.iter().map(|record| record.session_id);
        let grown = join(
            join_all(sessions().map(|session| grow(&one.store, session))),
            join_all(sessions().map(|session| grow(&two.store, session))),
        );
        let (by_one, by_two) = grown.await;
        for ((session, by_one), by_two) in sessions().zip(by_one).zip(by_two) {
            let read = one.store.log.read(session, Seq(0), 1_000).await.expect("the log is read");
            assert_eq!(read, samples::entries(session, Seq(0), 1 + 2 * (by_one + by_two)));
        }
        one.close().await;
        two.close().await;
        schema.remove().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn of_two_nodes_that_commit_versions_at_once_one_wins_each_and_all_they_saw_fits_one_order() {
        const VERSIONS: u64 = 2_000;
        let Some(schema) = Schema::new().await else { return };
        let directory = tempfile::tempdir().expect("a directory");
        let one = Opened::new(schema.database(), directory.path()).await;
        let two = Opened::new(schema.database(), directory.path()).await;
        let record = samples::session();
        one.store.log.commit(samples::create(&record)).await.expect("a session is created");
        let stores = [&one.store, &two.store, &one.store, &two.store];
        let calls = linear::race(&stores, record.session_id, VERSIONS).await;
        linear::check(&calls, VERSIONS);
        linear::check_kept(&two.store, record.session_id, VERSIONS).await;
        println!("{} calls made {VERSIONS} versions", calls.len());
        one.close().await;
        two.close().await;
        schema.remove().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn nodes_whose_clocks_are_a_minute_apart_agree_on_who_holds_a_lease() {
        const LASTS: Duration = Duration::from_secs(30);
        let Some(schema) = Schema::new().await else { return };
        let directory = tempfile::tempdir().expect("a directory");
        let now = Env::system().now();
        let clock = |millis| Env::with_clock(ManualClock::at(now.plus_millis(millis)));
        let slow = Opened::with(schema.database(), directory.path(), clock(-30_000)).await;
        let fast = Opened::with(schema.database(), directory.path(), clock(30_000)).await;
        let (one, two) = (NodeId::from("one"), NodeId::from("two"));
        for (holder, first, other, second) in [(&one, &slow, &two, &fast), (&two, &fast, &one, &slow)] {
            let record = samples::session();
            let session = record.session_id;
            first.store.log.commit(samples::create(&record)).await.expect("a session is created");
            first.store.leases.acquire(session, holder, LASTS).await.expect("the lease is free");
            let held = first.store.leases.renew(holder, LASTS).await.expect("they are renewed");
            assert!(held.contains(&session), "{held:?}");
            let taken = second.store.leases.acquire(session, other, LASTS).await;
            assert!(matches!(taken, Err(AcquireError::Held { .. })), "{taken:?}");
            assert_eq!(second.store.leases.holder(session).await.expect("it is read").as_ref(), Some(holder));
            first.store.leases.acquire(session, holder, Duration::ZERO).await.expect("its own");
            second.store.leases.acquire(session, other, LASTS).await.expect("it has run out");
        }
        slow.close().await;
        fast.close().await;
        schema.remove().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_follower_sees_what_another_node_writes_also_after_its_connection_was_cut() {
        let Some(schema) = Schema::new().await else { return };
        let directory = tempfile::tempdir().expect("a directory");
        let one = Opened::new(schema.database(), directory.path()).await;
        let two = Opened::new(schema.database(), directory.path()).await;
        let (writer, reader) = (Live::new(&one.store, &one.tasks), Live::new(&two.store, &two.tasks));
        let record = samples::session();
        let session = record.session_id;
        writer.commit(samples::create(&record)).await.expect("a session is created");
        let mut follow = reader.follow(session, Seq(1));
        for head in 1..=6 {
            if head % 2 == 0 {
                let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %";
                schema.execute(format!("{cut}{}%'", schema.name)).await;
            }
            writer.commit(samples::append(session, Seq(head), 1)).await.expect("it is appended");
            let entry = follow.next().await.expect("it is read").expect("the session is there");
            assert_eq!(entry.seq, Seq(head + 1));
        }
        one.close().await;
        two.close().await;
        schema.remove().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_commit_whose_connection_is_lost_before_it_happened_is_tried_again() {
        let Some(schema) = Schema::new().await else { return };
        let directory = tempfile::tempdir().expect("a directory");
        let one = Opened::new(schema.database(), directory.path()).await;
        let record = samples::session();
        let session = record.session_id;
        one.store.log.commit(samples::create(&record)).await.expect("a session is created");
        let mut holder = PgConnection::connect(&schema.server).await.expect("PostgreSQL answers");
        let lock = format!("BEGIN; LOCK TABLE {}.logs", schema.name);
        holder.execute(AssertSqlSafe(lock)).await.expect("it is locked");
        let cut = async {
            // Those that wait for the lock, until there is one.
            let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_locks JOIN pg_stat_activity USING (pid) \
                       WHERE NOT granted AND relation = to_regclass($1)";
            let mut n_cut = 0_i64;
            while n_cut == 0 {
                let mut other = PgConnection::connect(&schema.server).await.expect("PostgreSQL answers");
                let query = sqlx::query_scalar(cut).bind(format!("{}.logs", schema.name));
                n_cut = query.fetch_one(&mut other).await.expect("it is asked");
            }
            holder.execute("ROLLBACK").await.expect("it is let go of");
        };
        let run = samples::run(session);
        let update = Change::PutRun(Box::new(run.clone()));
        let (committed, ()) =
            join(one.store.log.commit(samples::change(session, Seq(1), vec![update])), cut).await;
        committed.expect("it is tried again");
        assert_eq!(one.store.runs.run(session, run.run_id).await.expect("it is read"), Some(run));
        one.close().await;
        schema.remove().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn whoever_writes_does_not_wait_for_readers() {
        let Some(schema) = Schema::new().await else { return };
        let directory = tempfile::tempdir().expect("a directory");
        let one = Opened::new(schema.database(), directory.path()).await;
        let record = samples::session();
        let session = record.session_id;
        one.store.log.commit(samples::create(&record)).await.expect("a session is created");
        let mut holder = PgConnection::connect(&schema.server).await.expect("PostgreSQL answers");
        let lock = format!("BEGIN; LOCK TABLE {}.tokens", schema.name);
        holder.execute(AssertSqlSafe(lock)).await.expect("it is locked");
        let reading = join_all((0..40).map(|_| one.store.tokens.tokens(None)));
        let writing = async {
            for head in 1..=5 {
                one.store.log.commit(samples::append(session, Seq(head), 1)).await.expect("it is appended");
            }
            holder.execute("ROLLBACK").await.expect("it is let go of");
        };
        let (read, ()) = join(reading, writing).await;
        assert!(read.into_iter().all(|tokens| tokens.is_ok()));
        one.close().await;
        schema.remove().await;
    }

    /// Tries 20 commits, each at the head as it is known. Returns how many were taken.
    async fn grow(store: &Store, session: SessionId) -> u64 {
        let mut head = Seq(1);
        let mut n_taken = 0;
        for _ in 0..20 {
            match store.log.commit(samples::append(session, head, 2)).await {
                Ok(new) => {
                    head = new;
                    n_taken += 1;
                }
                Err(CommitError::Conflict { found, .. }) => head = found,
                Err(error) => panic!("neither taken nor refused: {error:?}"),
            }
        }
        n_taken
    }

    /// A part of the server for one test alone.
    struct Schema {
        server: String,
        name: String,
    }

    impl Schema {
        /// `None`, said aloud, where there is no PostgreSQL to test with.
        async fn new() -> Option<Self> {
            let Some(server) = super::environment("WARREN_TEST_POSTGRES_URL") else {
                let required = super::environment("WARREN_TEST_REQUIRE").is_some();
                assert!(!required, "WARREN_TEST_REQUIRE is set, but WARREN_TEST_POSTGRES_URL is not");
                println!("skipped: WARREN_TEST_POSTGRES_URL names no PostgreSQL");
                return None;
            };
            let schema = Self { server, name: format!("test_{}", Uuid::now_v7().simple()) };
            schema.execute(format!("CREATE SCHEMA {}", schema.name)).await;
            Some(schema)
        }

        fn database(&self) -> Database {
            let separator = if self.server.contains('?') { '&' } else { '?' };
            Database::Postgres(format!("{}{separator}options[search_path]={}", self.server, self.name))
        }

        async fn remove(self) {
            self.execute(format!("DROP SCHEMA {} CASCADE", self.name)).await;
        }

        async fn execute(&self, sql: String) {
            let mut connection = PgConnection::connect(&self.server).await.expect("PostgreSQL answers");
            connection.execute(AssertSqlSafe(sql)).await.expect("the schema is made or removed");
        }
    }
}

/// A store, and how to end it.
struct Opened {
    store: Store,
    tasks: Tasks,
}

impl Opened {
    async fn new(database: Database, directory: &Path) -> Self {
        Self::with(database, directory, Env::system()).await
    }

    async fn with(database: Database, directory: &Path, env: Env) -> Self {
        let tasks = Tasks::new();
        let options = Options { database, blobs_dir: directory.join("blobs") };
        let store = open(options, env, &tasks).await.expect("the store opens");
        Self { store, tasks }
    }

    async fn close(self) {
        self.tasks.cancel();
        assert!(self.tasks.wait(Duration::from_secs(30)).await, "the writer ends when it is told to");
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "which services there are to test with is said by the environment"
)]
fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
