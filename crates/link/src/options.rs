//! What a link may use.

use std::time::Duration;

/// The longest header a stream may begin with.
pub const MAX_HEADER: usize = 64 * 1024;

/// Which end of the link this is. The two ends must differ, or stream numbers collide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The side that made the connection: odd stream numbers.
    Client,
    /// The side that was connected to: even stream numbers.
    Server,
}

/// The limits of one link. The defaults are what both ends of a sandbox use.
#[derive(Debug, Clone)]
pub struct Options {
    /// Streams either side may have open at a time. One more is refused; the link lives on.
    pub max_streams: usize,
    /// How long the peer may take for its part of opening a stream: the accept byte, or the header.
    pub open_timeout: Duration,
    /// Memory that unread data of one stream may take, overhead included. Past it the stream is reset.
    ///
    /// A stream's window is 256 KiB, which in frames of six bytes (our smallest) costs 4.4 MiB. So a peer that
    /// speaks our protocols is never reset, however slow the reader.
    pub max_queued_per_stream: usize,
    /// The same over all streams. Past it the stream that holds most is reset. Data of streams that were dropped, but
    /// that cannot be freed because the peer does not read either, is counted apart; past the same number the
    /// link ends.
    pub max_queued: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_streams: 128,
            open_timeout: Duration::from_secs(10),
            max_queued_per_stream: 5 * 1024 * 1024,
            max_queued: 64 * 1024 * 1024,
        }
    }
}

impl Options {
    /// What yamux itself enforces: room for both sides, and for streams that were refused or dropped but whose end
    /// is still on its way. Reaching *this* number would end the link, hence the margin.
    pub(crate) fn yamux(&self) -> yamux::Config {
        let streams = self.max_streams * 2 + 64;
        let mut config = yamux::Config::default();
        config.set_max_connection_receive_window(None);
        config.set_max_num_streams(streams);
        // Exactly the base window for each stream: nothing is left for windows to grow into.
        config.set_max_connection_receive_window(Some(streams * yamux::DEFAULT_CREDIT as usize));
        config
    }
}
