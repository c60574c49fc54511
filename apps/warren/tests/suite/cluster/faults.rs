//! What goes wrong meanwhile.

use std::{collections::BTreeMap, time::Duration};

use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{Instant, sleep, sleep_until};
use warren_testkit::Seed;

use super::{
    N_NODES,
    node::{Clients, Node},
};

/// Longer than a lease, so that another server takes the sessions over.
const STOPPED: Duration = Duration::from_secs(35);

/// One thing that goes wrong with one server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    Killed,
    Stopped,
    DatabaseCut,
    BucketCut,
}

/// Chooses what goes wrong, and counts it.
pub(super) struct Faults {
    seed: Seed,
    clients: Clients,
    counts: BTreeMap<Fault, u32>,
}

impl Faults {
    pub(super) fn new(seed: Seed, clients: Clients) -> Self {
        Self { seed, clients, counts: BTreeMap::new() }
    }

    /// Lets things go wrong on one server after the other, at random moments, until `end`; then everything works again.
    ///
    /// The first server is stopped for longer than a lease once at the start, whatever chance chooses later.
    pub(super) async fn strike_until(&mut self, end: Instant, nodes: &mut [Node]) {
        sleep(Duration::from_secs(4)).await;
        let mut continues_at = Some((0, Instant::now() + STOPPED));
        self.stop(0, &nodes[0]);
        while Instant::now() < end {
            if let Some((n, at)) = continues_at
                && Instant::now() >= at
            {
                self.go_on(n, &nodes[n]);
                continues_at = None;
            }
            let n = self.seed.below(N_NODES as u64) as usize;
            if continues_at.is_some_and(|(stopped, _)| stopped == n) {
                sleep(Duration::from_millis(200)).await;
                continue;
            }
            match self.seed.below(8) {
                0..3 => self.kill(n, &mut nodes[n]).await,
                3..5 => self.cut(Fault::DatabaseCut, &nodes[n]).await,
                5..7 => self.cut(Fault::BucketCut, &nodes[n]).await,
                _ if continues_at.is_none() => {
                    self.stop(n, &nodes[n]);
                    continues_at = Some((n, Instant::now() + STOPPED));
                }
                _ => {}
            }
            sleep(Duration::from_millis(500 + self.seed.below(3_000))).await;
        }
        if let Some((n, at)) = continues_at {
            sleep_until(at).await;
            self.go_on(n, &nodes[n]);
        }
    }

    #[expect(clippy::print_stdout, reason = "the report is what people read of this test")]
    pub(super) fn print(&self) {
        println!("| fault | times |\n|---|---|");
        for (fault, count) in &self.counts {
            println!("| {fault:?} | {count} |");
        }
    }

    fn stop(&mut self, n: usize, node: &Node) {
        self.count(Fault::Stopped);
        self.clients.set_stopped(n, true);
        signal(node, Signal::STOP);
    }

    fn go_on(&self, n: usize, node: &Node) {
        signal(node, Signal::CONT);
        self.clients.set_stopped(n, false);
    }

    async fn kill(&mut self, n: usize, node: &mut Node) {
        self.count(Fault::Killed);
        self.clients.set(n, None);
        node.server.kill().await;
        sleep(Duration::from_millis(self.seed.below(4_000))).await;
        node.server.restart().await;
        self.clients.set(n, Some(node.server.admin()));
    }

    async fn cut(&mut self, fault: Fault, node: &Node) {
        self.count(fault);
        let proxy = if fault == Fault::DatabaseCut { &node.database } else { &node.bucket };
        proxy.cut();
        sleep(Duration::from_millis(100 + self.seed.below(4_000))).await;
        proxy.mend();
    }

    fn count(&mut self, fault: Fault) {
        *self.counts.entry(fault).or_default() += 1;
    }
}

fn signal(node: &Node, signal: Signal) {
    let pid = i32::try_from(node.server.pid()).ok().and_then(Pid::from_raw).expect("a process id");
    kill_process(pid, signal).expect("the server is ours");
}
