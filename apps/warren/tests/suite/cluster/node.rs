//! One server of the cluster, with its own clock and its own connections.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use reqwest::{Method, RequestBuilder};
use serde_json::Value;
use tokio::time::Instant;
use warren_testkit::{Seed, Setup, TestAnswer, TestClient, TestPostgres, TestProxy, TestServer};

use crate::bucket::Bucket;

use super::{
    N_NODES,
    tally::{Lack, Operation, Tally},
};

/// How long a client waits for an answer. A stopped server gives none.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a client asks others after a server gave no answer.
const AVOIDED_FOR: Duration = Duration::from_secs(10);

/// Cleanup runs all the time, and expires all it may.
const CONFIG: &str =
    "[retention]\nversions = 4\ndaily_days = 0\ndeltas_days = 0\ngrace_seconds = 60\ninterval_seconds = 2";

/// A server and what connects it.
pub(super) struct Node {
    pub(super) server: TestServer,
    pub(super) database: TestProxy,
    pub(super) bucket: TestProxy,
}

/// The servers' clients by number. A cheap clone.
#[derive(Clone)]
pub(super) struct Clients {
    servers: Arc<Mutex<Vec<Server>>>,
    pub(super) tally: Tally,
}

/// What is known of one server.
struct Server {
    /// `None` while it is down.
    client: Option<TestClient>,
    is_stopped: bool,
}

/// One client's way to the servers: it avoids those that gave it no answer.
pub(super) struct Caller {
    clients: Clients,
    avoided_until: [Option<Instant>; N_NODES],
}

/// One request to some server.
pub(super) struct Call {
    method: Method,
    path: String,
    body: Option<Value>,
}

impl Node {
    /// The clock of the first is a minute behind, that of the last a minute ahead.
    pub(super) async fn start(n: usize, postgres: &TestPostgres, bucket: &Bucket) -> Self {
        let database = TestProxy::start(postgres.address().await).await;
        let bucket_proxy = TestProxy::start(bucket.address()).await;
        let url = bucket.url_at(bucket_proxy.address());
        let setup = Setup::new()
            .config(&format!("{CONFIG}\n[storage]\nblobs_url = \"{url}\""))
            .variable("WARREN_STORAGE_DATABASE_URL", &postgres.url_through(&database))
            .variable("AWS_ACCESS_KEY_ID", &bucket.s3.access_key_id)
            .variable("AWS_SECRET_ACCESS_KEY", &bucket.s3.secret_access_key);
        let server = with_clock(setup, (n as i64 - 1) * 60).start().await;
        Self { server, database, bucket: bucket_proxy }
    }
}

/// Shifts the server's clock. The monotonic clock, which measures durations, stays right.
fn with_clock(setup: Setup, seconds: i64) -> Setup {
    let library = format!("/usr/lib/{}-linux-gnu/faketime/libfaketime.so.1", std::env::consts::ARCH);
    assert!(Path::new(&library).exists(), "{library} is missing: install Debian's package `libfaketime`");
    setup
        .variable("LD_PRELOAD", &library)
        .variable("FAKETIME", &format!("{seconds:+}s"))
        .variable("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .variable("FAKETIME_NO_CACHE", "1")
}

pub(super) fn clients(nodes: &[Node]) -> Clients {
    let servers = nodes.iter().map(|node| Server { client: Some(node.server.admin()), is_stopped: false });
    Clients { servers: Arc::new(Mutex::new(servers.collect())), tally: Tally::new() }
}

impl Call {
    pub(super) fn get(path: String) -> Self {
        Self { method: Method::GET, path, body: None }
    }

    pub(super) fn post(path: String, body: Value) -> Self {
        Self { method: Method::POST, path, body: Some(body) }
    }

    pub(super) fn delete(path: String) -> Self {
        Self { method: Method::DELETE, path, body: None }
    }
}

impl Clients {
    /// The client of one server.
    pub(super) fn get(&self, n: usize) -> Option<TestClient> {
        self.servers()[n].client.clone()
    }

    pub(super) fn set(&self, n: usize, client: Option<TestClient>) {
        self.servers()[n].client = client;
    }

    /// Notes that a server is stopped, or goes on.
    pub(super) fn set_stopped(&self, n: usize, is_stopped: bool) {
        self.servers()[n].is_stopped = is_stopped;
    }

    fn servers(&self) -> MutexGuard<'_, Vec<Server>> {
        self.servers.lock().expect("no test panicked with it")
    }

    /// Calls one of the servers.
    pub(super) async fn call(&self, n: usize, call: &Call) -> Result<TestAnswer, Lack> {
        let was_stopped = self.servers()[n].is_stopped;
        let client = self.get(n).ok_or(Lack::Down)?;
        let request: RequestBuilder = client.request(call.method.clone(), &call.path).timeout(ANSWER_TIMEOUT);
        let request = match &call.body {
            Some(body) => request.json(body),
            None => request,
        };
        let sent = client.try_send(request).await;
        let answer = sent.map_err(|error| match error.is_timeout() {
            true if was_stopped || self.servers()[n].is_stopped => Lack::Stopped,
            true => Lack::TimedOut,
            false => Lack::Broken,
        })?;
        assert_ne!(answer.refusal().1, "DATA_DAMAGED", "{}: {:#}", call.path, answer.body);
        Ok(answer)
    }
}

impl Caller {
    pub(super) fn new(clients: Clients) -> Self {
        Self { clients, avoided_until: [None; N_NODES] }
    }

    pub(super) fn tally(&self) -> &Tally {
        &self.clients.tally
    }

    /// The servers that it does not avoid, from one on that chance chooses.
    pub(super) fn servers(&self, seed: &mut Seed) -> Vec<usize> {
        let first = seed.below(N_NODES as u64) as usize;
        let all = (first..first + N_NODES).map(|n| n % N_NODES);
        all.filter(|n| self.avoided_until[*n].is_none_or(|until| until <= Instant::now())).collect()
    }

    /// Calls one of the servers, and counts what comes of it. `None` when it is down or gives no whole answer.
    pub(super) async fn call(&mut self, n: usize, operation: Operation, call: &Call) -> Option<TestAnswer> {
        let sent = Instant::now();
        let outcome = self.clients.call(n, call).await;
        self.tally().note(operation, sent, &outcome);
        if matches!(outcome, Err(Lack::TimedOut | Lack::Stopped)) {
            self.avoided_until[n] = Some(Instant::now() + AVOIDED_FOR);
        }
        outcome.ok()
    }

    /// Calls the first server that is up.
    pub(super) async fn call_any(
        &mut self,
        seed: &mut Seed,
        operation: Operation,
        call: &Call,
    ) -> Option<TestAnswer> {
        for n in self.servers(seed) {
            if self.clients.get(n).is_some() {
                return self.call(n, operation, call).await;
            }
        }
        None
    }
}
