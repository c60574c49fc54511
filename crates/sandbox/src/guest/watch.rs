//! Watching trees.

use warren_guest_api::{Frame, FrameError, FrameReader, Request, WatchEvent, WatchRequest};
use warren_link::Stream;

use super::{
    CallError, Guest,
    call::{refusal, reply},
    files::is_plain,
};

/// Changes as they come. When nobody asks for them, the guest collects, and says so where it lost some.
#[derive(Debug)]
pub struct Watch {
    frames: FrameReader<Stream>,
    /// Keeps the link up.
    _guest: Guest,
}

impl Guest {
    /// Watches trees. What happens after this returns is seen.
    pub async fn watch(&self, request: WatchRequest) -> Result<Watch, CallError> {
        let mut frames = FrameReader::new(self.open(&Request::Watch(request)).await?);
        reply::<(), _>(&mut frames).await?;
        Ok(Watch { frames, _guest: self.clone() })
    }
}

impl Watch {
    /// The next event, however long it takes. An error is the end of the watch. Cancel-safe.
    pub async fn next(&mut self) -> Result<WatchEvent, CallError> {
        let event = match self.frames.expect().await.map_err(CallError::Protocol)? {
            Frame::Reply(json) => Frame::parse(&json).map_err(CallError::Protocol)?,
            frame => return Err(refusal(frame)),
        };
        if let WatchEvent::Changes { changes } = &event
            && !changes.iter().all(|change| is_plain(&change.path.path))
        {
            return Err(CallError::Protocol(FrameError::Unexpected));
        }
        Ok(event)
    }
}
