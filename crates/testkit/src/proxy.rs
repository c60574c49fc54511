//! A TCP proxy that a test can cut.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};
use warren_env::{TaskKind, Tasks};

/// Forwards connections to another address until it is cut. Stops when it is dropped.
pub struct TestProxy {
    address: SocketAddr,
    is_open: Arc<watch::Sender<bool>>,
    tasks: Tasks,
}

impl TestProxy {
    /// Listens on a free port and forwards to `target`.
    pub async fn start(target: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        let is_open = Arc::new(watch::Sender::new(true));
        let tasks = Tasks::new();
        let (spawner, gate) = (tasks.clone(), Arc::clone(&is_open));
        tasks.spawn(TaskKind::Connection, async move {
            while let Ok((incoming, _)) = listener.accept().await {
                spawner.spawn(TaskKind::Connection, forward(incoming, target, gate.subscribe()));
            }
        });
        Self { address, is_open, tasks }
    }

    /// Where clients connect.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes every connection, and each new one at once, until [`TestProxy::mend`].
    pub fn cut(&self) {
        self.is_open.send_replace(false);
    }

    /// Forwards new connections again.
    pub fn mend(&self) {
        self.is_open.send_replace(true);
    }
}

impl Drop for TestProxy {
    fn drop(&mut self) {
        self.tasks.cancel();
    }
}

/// Forwards one connection until either side closes it or the proxy is cut.
async fn forward(mut incoming: TcpStream, target: SocketAddr, mut is_open: watch::Receiver<bool>) {
    if !*is_open.borrow_and_update() {
        return;
    }
    let Ok(mut outgoing) = TcpStream::connect(target).await else { return };
    tokio::select! {
        // Either side may reset the connection: both see it closed, which is all a proxy can say.
        _ = copy_bidirectional(&mut incoming, &mut outgoing) => {}
        _ = is_open.wait_for(|is_open| !is_open) => {}
    }
}
