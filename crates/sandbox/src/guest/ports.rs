//! Connections into and out of a sandbox that has no network.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::mpsc;
use warren_guest_api::{Announcement, Frame, FrameReader, Listening, Request, read_frame};
use warren_link::{Incoming, Stream};

use super::{
    CallError, Guest,
    call::{refusal, reply, step},
};

/// Room for every stream a guest may have open at a time.
const MAX_WAITING: usize = 128;

/// Who takes the connections to which port, by the port's name.
#[derive(Debug, Clone, Default)]
pub(super) struct Listeners(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    by_name: HashMap<String, (u64, mpsc::Sender<Stream>)>,
    /// Tells listeners of one name apart.
    n_registered: u64,
}

/// Connections that programs in the sandbox make to one loopback port. Dropping it closes the port.
#[derive(Debug)]
pub struct Listener {
    port: u16,
    streams: mpsc::Receiver<Stream>,
    _registration: Registration,
    /// The port is open as long as this stream is.
    _control: FrameReader<Stream>,
    /// Keeps the link up.
    _guest: Guest,
}

impl Guest {
    /// Listens on a loopback port inside the sandbox; port 0 takes a free one. `name` is this listener's among those of
    /// the guest: a second one of the same name takes its place.
    pub async fn listen(&self, name: &str, port: u16) -> Result<Listener, CallError> {
        // Full only when nobody accepts; a connection is then refused by resetting it.
        let (sender, streams) = mpsc::channel(MAX_WAITING);
        // Before the guest knows of the port, so that the first connection finds us.
        let registration = self.inner.listeners.register(name, sender);
        let request = Request::Listen { name: name.to_owned(), port };
        let mut control = FrameReader::new(self.open(&request).await?);
        let Listening { port } = reply(&mut control).await?;
        Ok(Listener { port, streams, _registration: registration, _control: control, _guest: self.clone() })
    }

    /// Connects to a loopback port inside the sandbox.
    pub async fn connect(&self, port: u16) -> Result<Stream, CallError> {
        let mut stream = self.open(&Request::Connect { port }).await?;
        match step(read_frame(&mut stream)).await? {
            Frame::Reply(_) => Ok(stream),
            frame => Err(refusal(frame)),
        }
    }
}

impl Listener {
    /// The port inside the sandbox.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The next connection, or `None` when the guest is gone. Cancel-safe.
    pub async fn accept(&mut self) -> Option<Stream> {
        self.streams.recv().await
    }
}

/// A listener's place among the guest's. Given up when dropped.
#[derive(Debug)]
struct Registration {
    number: u64,
    listeners: Listeners,
}

impl Drop for Registration {
    fn drop(&mut self) {
        // A newer listener of the same name stays.
        self.listeners.lock().by_name.retain(|_, (number, _)| *number != self.number);
    }
}

impl Listeners {
    fn register(&self, name: &str, sender: mpsc::Sender<Stream>) -> Registration {
        let mut table = self.lock();
        table.n_registered += 1;
        let number = table.n_registered;
        table.by_name.insert(name.to_owned(), (number, sender));
        Registration { number, listeners: self.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands the guest's streams to their listeners until the link ends. What nobody asked for is reset.
pub(super) async fn hand_out(mut incoming: Incoming, listeners: Listeners) {
    let end = EndOnDrop(listeners);
    while let Some((header, stream)) = incoming.next().await {
        let Ok(Announcement::Accepted { name }) = serde_json::from_slice(&header) else {
            tracing::debug!("a guest opened a stream that says nothing");
            continue;
        };
        if let Some((_, listener)) = end.0.lock().by_name.get(&name) {
            // Dropping the stream is the refusal.
            _ = listener.try_send(stream);
        }
    }
}

/// When nothing more will come, also because the task was cancelled, who waits for a connection shall know.
struct EndOnDrop(Listeners);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.lock().by_name.clear();
    }
}
