//! Watching what listens inside.

use warren_guest_api::{Frame, FrameError, FrameReader, MAX_PORTS, OpenPort, Request};
use warren_link::Stream;

use super::{
    CallError, Guest,
    call::{refusal, reply},
};

/// The longest directory that is believed.
const LONGEST: usize = 4096;

/// Ports as they open and close.
#[derive(Debug)]
pub struct PortWatch {
    frames: FrameReader<Stream>,
    /// Keeps the link up.
    _guest: Guest,
}

impl Guest {
    /// Watches which loopback ports programs inside listen on, all but `ignore`.
    pub async fn watch_ports(&self, ignore: Vec<u16>) -> Result<PortWatch, CallError> {
        let mut frames = FrameReader::new(self.open(&Request::Ports { ignore }).await?);
        reply::<(), _>(&mut frames).await?;
        Ok(PortWatch { frames, _guest: self.clone() })
    }
}

impl PortWatch {
    /// All ports, once they are others than before. An error is the end of the watch. Cancel-safe.
    pub async fn next(&mut self) -> Result<Vec<OpenPort>, CallError> {
        let ports: Vec<OpenPort> = match self.frames.expect().await.map_err(CallError::Protocol)? {
            Frame::Reply(json) => Frame::parse(&json).map_err(CallError::Protocol)?,
            frame => return Err(refusal(frame)),
        };
        let is_short = |port: &OpenPort| port.directory.as_ref().is_none_or(|path| path.len() <= LONGEST);
        if ports.len() > MAX_PORTS || !ports.iter().all(is_short) {
            return Err(CallError::Protocol(FrameError::Unexpected));
        }
        Ok(ports)
    }
}
