//! Three servers on one PostgreSQL and one bucket, with clocks a minute apart, while they are killed, stopped for longer
//! than a lease, and cut off from the database and the bucket.
//!
//! `WARREN_CLUSTER_SECONDS=600 cargo xtask test servers_that_fail` is the long form; without it CI's short form runs.

mod check;
mod faults;
mod node;
mod tally;
mod worker;

use std::time::Duration;

use futures::future::join_all;
use tokio::time::Instant;
use warren_testkit::{Seed, TestPostgres};

use crate::bucket::Bucket;

use self::{faults::Faults, node::Node, worker::Worker};

/// How many servers there are.
const N_NODES: usize = 3;
/// How many clients work at once, each with sessions of its own.
const N_WORKERS: usize = 5;
/// All clients together have a run accepted at least this often, on a slow machine too; usually one a second.
const MAX_SECONDS_PER_RUN: u64 = 10;
/// How long the short form lasts. Longer than a lease, because one server is stopped for that long.
const SECONDS: u64 = 45;

#[tokio::test]
async fn servers_that_fail_in_every_way_at_once_lose_nothing_and_leave_no_run_open() {
    let Some(postgres) = TestPostgres::new().await else { return };
    let Some(bucket) = Bucket::open() else { return };
    let mut seed = Seed::new();
    let mut nodes = Vec::new();
    for n in 0..N_NODES {
        nodes.push(Node::start(n, &postgres, &bucket).await);
    }
    let clients = node::clients(&nodes);
    let end = Instant::now() + Duration::from_secs(seconds());

    let mut workers: Vec<Worker> =
        (0..N_WORKERS).map(|n| Worker::new(n, seed.split(), clients.clone())).collect();
    let mut faults = Faults::new(seed.split(), clients.clone());
    let work = join_all(workers.iter_mut().map(|worker| worker.work_until(end)));
    tokio::join!(work, faults.strike_until(end, &mut nodes));

    faults.print();
    clients.tally.print();
    let histories = workers.into_iter().flat_map(Worker::into_histories).collect();
    let report = check::everything(&clients, histories).await;
    report.print();
    assert!(report.n_accepted() >= seconds() / MAX_SECONDS_PER_RUN, "clients got too little done");
    for mut node in nodes {
        node.server.stop().await;
    }
    postgres.remove().await;
}

#[expect(clippy::disallowed_methods, reason = "a test run says how long it lasts by a variable")]
fn seconds() -> u64 {
    std::env::var("WARREN_CLUSTER_SECONDS").map_or(SECONDS, |text| text.parse().expect("a number of seconds"))
}
