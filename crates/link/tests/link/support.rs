//! Pairs of links, and a peer that writes frames by hand.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::UnixStream,
    task::JoinSet,
};
use warren_link::{Incoming, LinkError, Opener, Options, Role, start};

/// One end of a link whose driver runs in the background.
pub(crate) struct End {
    pub(crate) opener: Opener,
    pub(crate) incoming: Incoming,
    driver: JoinSet<Result<(), LinkError>>,
}

impl End {
    pub(crate) fn start(io: UnixStream, role: Role, options: Options) -> Self {
        let (opener, incoming, driver) = start(io, role, options);
        let mut tasks = JoinSet::new();
        tasks.spawn(driver);
        Self { opener, incoming, driver: tasks }
    }

    /// How the link ended. Hangs if it does not.
    pub(crate) async fn ended(&mut self) -> Result<(), LinkError> {
        self.driver.join_next().await.expect("a driver").expect("the driver does not panic")
    }
}

pub(crate) fn pair() -> (End, End) {
    pair_with(Options::default())
}

pub(crate) fn pair_with(options: Options) -> (End, End) {
    let (a, b) = UnixStream::pair().expect("a socketpair");
    (End::start(a, Role::Client, options.clone()), End::start(b, Role::Server, options))
}

/// An honest end, and a socket on which the test writes whatever it likes as the server side.
pub(crate) fn against_raw_peer() -> (End, RawPeer) {
    let (a, b) = UnixStream::pair().expect("a socketpair");
    let options = Options { open_timeout: Duration::from_millis(300), ..Options::default() };
    (End::start(a, Role::Client, options), RawPeer(b))
}

pub(crate) struct RawPeer(pub(crate) UnixStream);

pub(crate) const DATA: u8 = 0;
pub(crate) const WINDOW: u8 = 1;
pub(crate) const SYN: u16 = 1;

impl RawPeer {
    /// Writes a frame. Fails once the other end has closed the link.
    pub(crate) async fn send(
        &mut self,
        tag: u8,
        flags: u16,
        stream: u32,
        body: &[u8],
    ) -> std::io::Result<()> {
        let len = u32::try_from(body.len()).expect("a short body");
        self.0.write_all(&frame(tag, flags, stream, len, body)).await
    }

    /// Reads and throws away everything until the link ends.
    pub(crate) async fn drain(&mut self) {
        let mut buffer = vec![0; 64 * 1024];
        while self.0.read(&mut buffer).await.is_ok_and(|n| n > 0) {}
    }
}

pub(crate) fn frame(tag: u8, flags: u16, stream: u32, len: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, tag];
    bytes.extend_from_slice(&flags.to_be_bytes());
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(&len.to_be_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// Resident memory of this process, in bytes.
pub(crate) fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages: usize = statm.split(' ').nth(1).and_then(|n| n.parse().ok()).expect("a number");
    pages * 4096
}
