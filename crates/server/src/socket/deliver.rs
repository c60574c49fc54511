//! Getting a message to a client that may be slow.

use std::time::Duration;

use serde::Serialize;
use socketioxide::{SendError, SocketError, extract::SocketRef};
use tokio::time::Instant;

/// A client whose buffer was full for this long is hung up on. Nothing is lost: it comes back with its last number.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two looks whether there is room again.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// The client is gone, or was hung up on.
pub(super) struct Gone;

/// Sends as soon as there is room.
pub(super) async fn deliver(
    socket: &SocketRef,
    name: &str,
    payload: &(impl Serialize + ?Sized),
) -> Result<(), Gone> {
    let deadline = Instant::now() + PATIENCE;
    let mut pause = FIRST_PAUSE;
    loop {
        match socket.emit(name, payload) {
            Ok(()) => return Ok(()),
            Err(SendError::Socket(SocketError::InternalChannelFull)) if Instant::now() < deadline => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            Err(SendError::Socket(SocketError::Closed)) => return Err(Gone),
            Err(error) => {
                tracing::debug!(socket = %socket.id, %error, "a socket does not take what it is sent");
                hang_up(socket);
                return Err(Gone);
            }
        }
    }
}

/// Ends the connection.
pub(super) fn hang_up(socket: &SocketRef) {
    // One that is closed already is what is wanted.
    let _ = socket.clone().disconnect();
}
