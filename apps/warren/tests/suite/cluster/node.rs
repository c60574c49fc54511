//! One server of the cluster, with its own clock and its own connections.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use reqwest::{Method, RequestBuilder};
use serde_json::Value;
use warren_testkit::{Seed, Setup, TestAnswer, TestClient, TestPostgres, TestProxy, TestServer};

use crate::bucket::Bucket;

/// Cleanup runs all the time, and expires all it may.
const CONFIG: &str =
    "[retention]\nversions = 4\ndaily_days = 0\ndeltas_days = 0\ngrace_seconds = 60\ninterval_seconds = 2";

/// A server and what connects it.
pub(super) struct Node {
    pub(super) server: TestServer,
    pub(super) database: TestProxy,
    pub(super) bucket: TestProxy,
}

/// The servers' clients by number; `None` while a server is down. A cheap clone.
#[derive(Clone)]
pub(super) struct Clients(Arc<Mutex<Vec<Option<TestClient>>>>);

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
    Clients(Arc::new(Mutex::new(nodes.iter().map(|node| Some(node.server.admin())).collect())))
}

impl Clients {
    /// The client of one server.
    pub(super) fn get(&self, n: usize) -> Option<TestClient> {
        self.0.lock().expect("no test panicked with it")[n].clone()
    }

    pub(super) fn set(&self, n: usize, client: Option<TestClient>) {
        self.0.lock().expect("no test panicked with it")[n] = client;
    }

    /// Calls one of the servers. `None` when it is down or gives no whole answer.
    pub(super) async fn call(
        &self,
        n: usize,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Option<TestAnswer> {
        let client = self.get(n)?;
        let request: RequestBuilder = client.request(method, path).timeout(super::worker::ANSWER_TIMEOUT);
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let answer = client.try_send(request).await.ok()?;
        assert_ne!(answer.refusal().1, "DATA_DAMAGED", "{path}: {:#}", answer.body);
        Some(answer)
    }

    /// Calls a server that chance chooses.
    pub(super) async fn call_any(
        &self,
        seed: &mut Seed,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Option<TestAnswer> {
        let n = seed.below(super::N_NODES as u64) as usize;
        self.call(n, method, path, body).await
    }
}
