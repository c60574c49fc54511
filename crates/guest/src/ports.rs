//! Loopback ports inside the sandbox, forwarded to the host and from it.

use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, copy_bidirectional_with_sizes},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
    time::{sleep, timeout},
};
use warren_guest_api::{Announcement, ErrorCode, GuestError, Listening};
use warren_link::{Opener, Stream};

use crate::{failure::Failure, serve::reply};

/// Connections of one listener that are forwarded at a time. More wait to be accepted.
const MAX_CONNECTIONS: usize = 64;

/// How long a program may take to accept.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait before accepting again when the process has run out of descriptors.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);

const BUFFER: usize = 32 * 1024;

/// Listens, and forwards every connection to the host as a stream of its own, until the host ends `control`.
pub(crate) async fn listen(
    opener: &Opener,
    name: String,
    port: u16,
    control: &mut Stream,
) -> Result<(), Failure> {
    let (listener, port) = bind(port).await.map_err(|error| port_error("listen", port, &error))?;
    let header = serde_json::to_vec(&Announcement::Accepted { name }).map_err(|_| Failure::Gone)?;
    reply(control, &Listening { port }).await?;

    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    // Dropped with this function: the connections end with their listener.
    let mut connections = JoinSet::new();
    let mut nothing = [0; 1];
    loop {
        tokio::select! {
            // The host has nothing to say on this stream: a byte, an end or an error all mean the same.
            _ = control.read(&mut nothing) => return Ok(()),
            (connection, place) = accept(&listener, &places) => {
                let (opener, header) = (opener.clone(), header.clone());
                connections.spawn_local(async move {
                    forward(&opener, &header, connection).await;
                    drop(place);
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Connects to a program inside and forwards until both sides have ended.
pub(crate) async fn connect(port: u16, stream: &mut Stream) -> Result<(), Failure> {
    let dialled = timeout(CONNECT_TIMEOUT, dial(port)).await;
    let dialled = dialled.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    let mut connection = dialled.map_err(|error| port_error("connect to", port, &error))?;
    reply(stream, &()).await?;
    relay(&mut connection, stream).await;
    Ok(())
}

async fn bind(port: u16) -> io::Result<(TcpListener, u16)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let port = listener.local_addr()?.port();
    Ok((listener, port))
}

/// The next connection, once there is a place for it.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (TcpStream, Option<tokio::sync::OwnedSemaphorePermit>) {
    // The semaphore is never closed, so a place is always given.
    let place = places.clone().acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((connection, _)) => return (connection, place),
            // Out of descriptors, or a connection that was reset before we took it.
            Err(_) => sleep(EXHAUSTED_PAUSE).await,
        }
    }
}

/// A connection the host does not want is dropped, which the program sees as a reset or an end.
async fn forward(opener: &Opener, header: &[u8], mut connection: TcpStream) {
    if let Ok(mut stream) = opener.open(header).await {
        relay(&mut connection, &mut stream).await;
    }
}

/// Copies both ways, half-closes included. A broken side simply ends it.
async fn relay(connection: &mut TcpStream, stream: &mut Stream) {
    // Small writes are answers somebody waits for. If it cannot be set, they are slower.
    _ = connection.set_nodelay(true);
    _ = copy_bidirectional_with_sizes(connection, stream, BUFFER, BUFFER).await;
}

/// Programs listen on one or the other.
async fn dial(port: u16) -> io::Result<TcpStream> {
    let v4 = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let v6 = SocketAddr::from((Ipv6Addr::LOCALHOST, port));
    match TcpStream::connect(v4).await {
        Ok(connection) => Ok(connection),
        Err(error) => TcpStream::connect(v6).await.map_err(|_| error),
    }
}

fn port_error(doing: &str, port: u16, error: &io::Error) -> GuestError {
    GuestError::new(ErrorCode::Port, format!("failed to {doing} port {port}: {error}"))
}
