use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex},
    sync::mpsc,
};
use warren_domain::{AgentProfile, RunId};
use warren_models::{Egress, EgressNetwork, EgressOptions, EgressStream};

use super::{Outside, serve_connection};
use crate::session::signal::Signal;

/// A network on which everything is one host, which is handed to the test.
struct OneHost(Mutex<Option<DuplexStream>>);

#[async_trait]
impl EgressNetwork for OneHost {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        Ok(vec![IpAddr::from([93, 184, 216, 34])])
    }

    async fn dial(&self, _: SocketAddr) -> io::Result<Box<dyn EgressStream>> {
        let stream = self.0.lock().expect("alive").take();
        stream
            .map(|stream| Box::new(stream) as Box<dyn EgressStream>)
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn is_own(&self, _: IpAddr) -> bool {
        false
    }
}

fn run(n: u128) -> Option<RunId> {
    Some(RunId(uuid::Uuid::from_u128(n)))
}

fn outside(signals: mpsc::Sender<Signal>) -> Arc<Outside> {
    let profile: AgentProfile =
        serde_json::from_value(serde_json::json!({"egressAllow": ["example.com:8080"]})).expect("a profile");
    Arc::new(Outside::new(&profile, signals).expect("rules"))
}

#[tokio::test]
async fn tunnel_closes_when_its_run_ends() {
    let (sender, mut signals) = mpsc::channel(8);
    let outside = outside(sender);
    outside.belong_to(run(1));
    let (dialled, mut host) = duplex(1024);
    let egress = Egress::over(EgressOptions::default(), Arc::new(OneHost(Mutex::new(Some(dialled)))));
    let (mut sandbox, proxy) = duplex(1024);
    let program = async {
        sandbox
            .write_all(b"CONNECT example.com:8080 HTTP/1.1\r\nhost: example.com:8080\r\n\r\n")
            .await
            .expect("written");
        // The session records the decision before anything is dialled.
        match signals.recv().await.expect("a signal") {
            Signal::Egress(decided) => decided.done.send(()).expect("it waits"),
            _ => panic!("not a decision"),
        }
        let mut answer = [0; 12];
        sandbox.read_exact(&mut answer).await.expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 200");
        host.write_all(b"hello").await.expect("written");
        let mut rest = Vec::new();
        while !rest.ends_with(b"hello") {
            rest.push(sandbox.read_u8().await.expect("what the host said"));
        }
        outside.belong_to(None);
    };
    tokio::join!(program, serve_connection(egress, proxy, Arc::clone(&outside)));
    // Both ends are closed.
    assert_eq!(sandbox.read(&mut [0; 8]).await.expect("read"), 0);
    assert_eq!(host.read(&mut [0; 8]).await.expect("read"), 0);
}

#[tokio::test]
async fn connection_made_before_a_run_ends_with_that_run() {
    let (sender, _signals) = mpsc::channel(8);
    let outside = outside(sender);
    let mut ended = std::pin::pin!(outside.run_ended());
    assert!(futures::poll!(&mut ended).is_pending());
    outside.belong_to(run(1));
    assert!(futures::poll!(&mut ended).is_pending());
    // The next run may begin before anybody looks.
    outside.belong_to(None);
    outside.belong_to(run(2));
    ended.await;
}
