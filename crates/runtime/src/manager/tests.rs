//! Two servers on one store, as two managers with one store and nodes of their own.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tempfile::TempDir;
use tokio::sync::Semaphore;
use warren_domain::{
    BlobHash, Draft, EventBody, Fence, ModelCallId, ModelCallStarted, NodeId, Partition, ProfileRef, RunId,
    RunStatus, Seq, SessionId,
};
use warren_env::{Env, Tasks};
use warren_models::{Egress, EgressOptions, Gateway};
use warren_sandbox::{Backend, FilesAt, Isolation, Probe, Sandbox, Spec, StartError, SweepError, Swept};
use warren_snapshots::Snapshots;
use warren_store::{
    AcquireError, Change, Commit, Granted, Leases, Live, LogEntry, ReadError, RunRecord, Store,
};

use super::SessionManager;
use crate::{
    admission::Admission,
    api::{Force, NewMessage, NewSession, Runs as _, SessionError, Sessions as _},
    options::{Directories, NoPrograms, Options, Parts, Shared},
    providers::Providers,
    session::Request,
    workspaces::Workspaces,
};

/// A lease that lasts, and one that anybody may take over at once.
const LONG: Duration = Duration::from_secs(3600);
const OVER: Duration = Duration::ZERO;

/// Sandboxes that never come to be: a run waits for its own as long as the test takes.
struct NeverReady {
    /// Gets a permit for each that is to be started.
    starts: Arc<Semaphore>,
}

#[async_trait]
impl Backend for NeverReady {
    async fn start(&self, _spec: Spec) -> Result<Sandbox, StartError> {
        self.starts.add_permits(1);
        std::future::pending().await
    }

    fn files(&self) -> FilesAt {
        FilesAt::Host
    }

    async fn probe(&self) -> Probe {
        Probe {
            backend: "none".to_owned(),
            version: None,
            usable: false,
            isolation: Isolation::default(),
            hints: Vec::new(),
        }
    }

    async fn sweep(&self) -> Result<Swept, SweepError> {
        Ok(Swept::default())
    }
}

/// What the servers share.
struct Database {
    store: Store,
    starts: Arc<Semaphore>,
    directory: TempDir,
}

impl Database {
    async fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let store = warren_store::scratch(directory.path(), Env::system(), &Tasks::new()).await;
        Self { store: store.expect("the store opens"), starts: Arc::new(Semaphore::new(0)), directory }
    }

    /// A server whose leases last so long.
    fn server(&self, name: &str, lease: Duration) -> SessionManager {
        self.server_in(Env::system(), name, lease)
    }

    fn server_in(&self, env: Env, name: &str, lease: Duration) -> SessionManager {
        self.server_with(env, name, |usual| Options { lease, ..usual })
    }

    fn server_with(&self, env: Env, name: &str, change: impl FnOnce(Options) -> Options) -> SessionManager {
        let tasks = Tasks::new();
        let own = self.directory.path().join(name);
        let snapshots = warren_snapshots::Options::in_directory(self.directory.path().join("trees"));
        let parts = Parts {
            store: self.store.clone(),
            live: Live::new(&self.store, &tasks),
            snapshots: Snapshots::open(snapshots, env.clone()).expect("snapshots open"),
            backend: Arc::new(NeverReady { starts: self.starts.clone() }),
            models: Gateway::new(warren_models::Options::default(), env.clone()).expect("a gateway"),
            egress: Egress::new(EgressOptions::default()),
            programs: Arc::new(NoPrograms),
            env,
            tasks,
        };
        let options = change(Options::new(NodeId::from(name), own));
        let providers =
            Providers::new(options.providers.clone(), parts.store.providers.clone(), parts.env.clone());
        let converter = Arc::new(super::converter(&parts, &options));
        SessionManager::within(Arc::new(Shared {
            parts,
            options,
            converter,
            gate: Arc::default(),
            directories: Directories::Stay,
            workspaces: Workspaces::default(),
            admission: Admission::new(usize::MAX),
            providers,
        }))
    }

    async fn session(&self, server: &SessionManager) -> SessionId {
        self.try_session(server).await.expect("a session")
    }

    async fn try_session(&self, server: &SessionManager) -> Result<SessionId, SessionError> {
        let defaults = warren_store::ensure_defaults(&self.store, &Env::system(), 200_000).await;
        let (project, _) = defaults.expect("a project");
        let new = NewSession {
            partition: Partition::default_partition(),
            project: project.project_id,
            workspace: None,
            agent_type: warren_agents::adapters()[0].agent_type(),
            profile: ProfileRef::of_partition("default".into()),
            name: None,
            metadata: serde_json::Map::default(),
            options: warren_domain::RunOptions::default(),
            made_by: None,
        };
        server.session_create(new).await.map(|made| made.record.session_id)
    }
}

fn message() -> NewMessage {
    NewMessage {
        content: "count to ten".into(),
        idempotency_key: None,
        when_busy: warren_domain::WhenBusy::default(),
        options: warren_domain::RunOptions::default(),
        base_version: None,
        count: None,
        from: warren_domain::RunFrom::default(),
        on_conflict: crate::api::OnConflict::default(),
    }
}

async fn pick_up(server: &SessionManager, session: SessionId) -> Result<(), SessionError> {
    server.ask(session, Request::PickUp).await
}

/// Waits until nobody owns a session here.
async fn left(server: &SessionManager, session: SessionId) {
    let mut changes = server.shared.parts.live.changes();
    while server.roster.is_owned(session) {
        changes.next().await.expect("the server is there");
    }
}

#[track_caller]
fn assert_elsewhere<T: std::fmt::Debug>(answer: Result<T, SessionError>, holder: &str) {
    match answer {
        Err(SessionError::Elsewhere { holder: found, .. }) => assert_eq!(found, holder),
        other => panic!("it is elsewhere, but: {other:?}"),
    }
}

#[tokio::test]
async fn a_server_whose_lease_was_taken_says_who_has_the_session() {
    let database = Database::new().await;
    let (one, two) = (database.server("one", OVER), database.server("two", LONG));
    let session = database.session(&one).await;
    pick_up(&one, session).await.expect("nobody has it");
    left(&one, session).await;
    assert_eq!(one.roster.leases().len(), 1, "it is asleep, and its lease is kept");
    pick_up(&two, session).await.expect("the lease has run out");
    assert_elsewhere(one.session_end(session, "by hand".to_owned()).await, "two");
    assert_elsewhere(pick_up(&one, session).await, "two");
}

#[tokio::test]
async fn what_is_asleep_under_a_lost_lease_is_forgotten() {
    let database = Database::new().await;
    let (one, two) = (database.server("one", OVER), database.server("two", LONG));
    let (lost, kept) = (database.session(&one).await, database.session(&one).await);
    for session in [lost, kept] {
        pick_up(&one, session).await.expect("nobody has it");
        left(&one, session).await;
    }
    pick_up(&two, lost).await.expect("the lease has run out");
    one.renew_leases().await.expect("they are renewed");
    let leases = one.roster.leases();
    assert_eq!(leases.iter().map(|(session, _)| *session).collect::<Vec<_>>(), [kept]);
    assert!(!one.roster.status(lost).runtime.is_loaded);
    assert_elsewhere(pick_up(&one, lost).await, "two");
}

#[tokio::test]
async fn a_run_ends_on_a_server_that_lost_its_lease() {
    let database = Database::new().await;
    let (one, two) = (database.server("one", OVER), database.server("two", LONG));
    let session = database.session(&one).await;
    one.run_send(session, message()).await.expect("it is taken");
    assert!(one.roster.status(session).running.is_some());
    pick_up(&two, session).await.expect("the lease has run out");
    let mut changes = one.shared.parts.live.changes();
    one.renew_leases().await.expect("they are renewed");
    while one.roster.status(session).runtime.is_loaded {
        changes.next().await.expect("the server is there");
    }
    assert_eq!(one.roster.leases(), []);
    assert_elsewhere(pick_up(&one, session).await, "two");
}

#[tokio::test]
async fn only_the_server_that_has_a_session_erases_it() {
    let database = Database::new().await;
    let (one, two) = (database.server("one", LONG), database.server("two", LONG));
    let session = database.session(&one).await;
    one.run_send(session, message()).await.expect("it is taken");
    assert_elsewhere(two.session_erase(session).await, "one");
    assert!(one.roster.status(session).running.is_some(), "its run goes on");
    assert!(database.store.sessions.session(session).await.expect("it is read").is_some());

    let asleep = database.session(&one).await;
    pick_up(&one, asleep).await.expect("nobody has it");
    left(&one, asleep).await;
    assert_elsewhere(two.session_erase(asleep).await, "one");
    one.session_erase(asleep).await.expect("it has it");
    assert!(matches!(two.session_erase(asleep).await, Err(SessionError::NotFound { .. })));
}

#[tokio::test]
async fn files_of_a_session_that_another_server_erased_are_set_aside() {
    let database = Database::new().await;
    let (one, two) = (database.server("one", OVER), database.server("two", LONG));
    let (gone, kept) = (database.session(&one).await, database.session(&one).await);
    let directories = |session: SessionId| {
        ["sessions", "workspaces"].map(|kind| {
            let own = database.directory.path().join("one");
            own.join(kind).join(session.to_string())
        })
    };
    for directory in [gone, kept].into_iter().flat_map(directories) {
        std::fs::create_dir_all(directory.join("home")).expect("made");
    }
    two.session_erase(gone).await.expect("nobody has it");
    assert!(directories(gone).iter().all(|directory| directory.exists()), "they are another server's");
    one.clear_strays().await.expect("they are cleared");
    assert!(!directories(gone).iter().any(|directory| directory.exists()));
    assert!(directories(kept).iter().all(|directory| directory.exists()));
}

async fn n_unfinished(database: &Database) -> usize {
    database.store.runs.unfinished().await.expect("they are read").len()
}

#[tokio::test]
async fn runs_of_a_server_that_does_not_come_back_are_taken_up_when_its_lease_has_run_out() {
    let database = Database::new().await;
    let (alive, dead) = (database.server("alive", LONG), database.server("dead", OVER));
    for server in [&alive, &dead] {
        let session = database.session(server).await;
        server.run_send(session, message()).await.expect("it is taken");
    }
    assert_eq!(n_unfinished(&database).await, 2);
    let other = database.server("other", LONG);
    other.take_up_left().await.expect("they are read");
    assert_eq!(n_unfinished(&database).await, 1, "the run of the dead server is over, the other goes on");
}

fn call_started(run: RunId, max_tokens: u64) -> Draft {
    let started = ModelCallStarted {
        call_id: ModelCallId(uuid::Uuid::from_u128(max_tokens.into())),
        model: "m".to_owned(),
        request_hash: BlobHash(String::new()),
        attempt: 1,
        max_tokens,
        max_cost_usd: 0.5,
    };
    Draft::of_run(run, EventBody::ModelCallStarted(started))
}

#[tokio::test]
async fn calls_in_flight_on_a_dead_server_count_in_their_own_runs_and_once() {
    let database = Database::new().await;
    let (dead, other) = (database.server("dead", OVER), database.server("other", LONG));
    let session = database.session(&dead).await;
    let cut = dead.run_send(session, message()).await.expect("it is taken").run;
    let record = dead.run_get(session, cut).await.expect("a run");
    // A call may outlive the run that made it.
    let over = RunId(uuid::Uuid::from_u128(1));
    let ended = RunRecord {
        run_id: over,
        status: RunStatus::Completed,
        ended_at: Some(record.created_at),
        ..record.clone()
    };
    let log = database.store.log.read(session, Seq(0), 100).await.expect("a log");
    let expected = log.last().expect("entries").seq;
    let calls = [call_started(cut, 10), call_started(over, 20), call_started(over, 30)];
    let entries = calls.into_iter().zip(expected.0 + 1..).map(|(draft, seq)| {
        LogEntry::of(&draft.numbered(Seq(seq), session, record.created_at)).expect("JSON")
    });
    let (entries, changes) = (entries.collect(), vec![Change::PutRun(Box::new(ended))]);
    let lease = database.store.leases.acquire(session, &NodeId::from("dead"), OVER).await.expect("a lease");
    let commit = Commit { session, fence: lease.fence, expected, entries, changes };
    database.store.log.commit(commit).await.expect("it is written");

    // The second time there is nothing left to settle.
    for _ in 0..2 {
        other.take_up_left().await.expect("they are read");
        pick_up(&other, session).await.expect("it is taken up");
        for (run, tokens, cost) in [(cut, 10, 0.5), (over, 50, 1.0)] {
            let usage = other.run_get(session, run).await.expect("a run").usage;
            assert_eq!((usage.estimated_tokens, usage.total_tokens, usage.cost_usd), (tokens, tokens, cost));
        }
    }
}

#[tokio::test]
async fn run_left_open_under_this_servers_own_lease_is_taken_up() {
    let database = Database::new().await;
    let dead = database.server("dead", OVER);
    let session = database.session(&dead).await;
    dead.run_send(session, message()).await.expect("it is taken");
    let other = database.server("other", LONG);
    // As when the log cannot be read right after the lease was taken.
    other.roster.lease(session).await.expect("the lease has run out");
    other.take_up_left().await.expect("they are read");
    assert_eq!(n_unfinished(&database).await, 0);
}

#[tokio::test]
async fn unload_gives_back_the_lease_of_an_earlier_process_of_this_server() {
    let database = Database::new().await;
    let (one, two) = (database.server("one", LONG), database.server("two", LONG));
    let session = database.session(&one).await;
    pick_up(&one, session).await.expect("nobody has it");
    left(&one, session).await;
    let restarted = database.server("one", LONG);
    restarted.renew_leases().await.expect("they are renewed");
    assert_elsewhere(pick_up(&two, session).await, "one");
    restarted.session_unload(session, Force::No).await.expect("it is unloaded");
    pick_up(&two, session).await.expect("nobody has it any more");
}

/// Leases whose release fails while `clings` is set.
struct Clinging {
    leases: Arc<dyn Leases>,
    clings: std::sync::atomic::AtomicBool,
}

#[async_trait]
impl Leases for Clinging {
    async fn acquire(
        &self,
        session: SessionId,
        node: &NodeId,
        lasts: Duration,
    ) -> Result<Granted, AcquireError> {
        self.leases.acquire(session, node, lasts).await
    }

    async fn renew(&self, node: &NodeId, lasts: Duration) -> Result<Vec<SessionId>, ReadError> {
        self.leases.renew(node, lasts).await
    }

    async fn holder(&self, session: SessionId) -> Result<Option<NodeId>, ReadError> {
        self.leases.holder(session).await
    }

    async fn release(&self, session: SessionId, node: &NodeId, fence: Fence) -> Result<(), ReadError> {
        if self.clings.load(std::sync::atomic::Ordering::SeqCst) {
            return Err(ReadError { doing: "release the lease", source: "the connection is cut".into() });
        }
        self.leases.release(session, node, fence).await
    }

    async fn storage(&self) -> Result<Option<String>, ReadError> {
        self.leases.storage().await
    }

    async fn claim_storage(&self, storage: &str) -> Result<String, ReadError> {
        self.leases.claim_storage(storage).await
    }
}

#[tokio::test]
async fn unload_that_cannot_give_the_lease_back_fails_and_can_be_tried_again() {
    let mut database = Database::new().await;
    let clinging = Arc::new(Clinging { leases: database.store.leases.clone(), clings: true.into() });
    database.store.leases = clinging.clone();
    let (one, two) = (database.server("one", LONG), database.server("two", LONG));
    let session = database.session(&one).await;
    pick_up(&one, session).await.expect("nobody has it");
    left(&one, session).await;
    // The first time it is asleep, the second time only the lease is left.
    for _ in 0..2 {
        let refused = one.session_unload(session, Force::No).await;
        assert!(
            matches!(refused, Err(SessionError::Internal { doing: "give the lease back", .. })),
            "{refused:?}"
        );
        one.renew_leases().await.expect("they are renewed");
        assert_elsewhere(pick_up(&two, session).await, "one");
    }
    clinging.clings.store(false, std::sync::atomic::Ordering::SeqCst);
    one.session_unload(session, Force::No).await.expect("it is unloaded");
    pick_up(&two, session).await.expect("nobody has it any more");
}

/// A clock that panics once when it is told to.
#[derive(Default)]
struct Trap(std::sync::atomic::AtomicBool);

impl warren_env::Clock for Trap {
    fn now(&self) -> warren_domain::Timestamp {
        assert!(!self.0.swap(false, std::sync::atomic::Ordering::SeqCst), "the clock is trapped");
        Env::system().now()
    }
}

#[tokio::test]
async fn a_session_whose_owner_panicked_is_taken_up_without_anybody_asking() {
    let database = Database::new().await;
    let trap = Arc::new(Trap::default());
    let server = database.server_in(Env::with_clock(trap.clone()), "one", LONG);
    let session = database.session(&server).await;
    server.run_send(session, message()).await.expect("it is taken");
    // Whoever starts its sandbox looks at the clock too.
    database.starts.acquire().await.expect("it is open").forget();
    let mut changes = server.shared.parts.live.changes();
    trap.0.store(true, std::sync::atomic::Ordering::SeqCst);
    let second = NewMessage { when_busy: warren_domain::WhenBusy::Queue, ..message() };
    server.run_send(session, second).await.expect_err("its owner panics");
    // Until the run that was cut is recorded as such.
    while n_unfinished(&database).await > 0 {
        changes.next().await.expect("the server is there");
    }
}

#[tokio::test]
async fn workspace_beyond_the_last_uid_is_refused_and_leaves_no_record() {
    let database = Database::new().await;
    let server = |name, last_uid| {
        database.server_with(Env::system(), name, |usual| Options { lease: LONG, last_uid, ..usual })
    };
    // The default workspace has the first UID, 200000.
    let small = server("small", 200_001);
    database.session(&small).await;
    for _ in 0..2 {
        let refused = database.try_session(&small).await.expect_err("no UID is left");
        assert!(matches!(refused, SessionError::Internal { doing: "make a workspace", .. }), "{refused:?}");
    }
    // Had a refused workspace left its record, 200002 would be taken.
    database.session(&server("larger", 200_002)).await;
}
