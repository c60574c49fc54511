//! The acknowledgement of a message, if its sender waits for one.

use std::{convert::Infallible, sync::Arc};

use serde::Serialize;
use socketioxide::{
    SendError,
    adapter::LocalAdapter,
    extract::AckSender,
    handler::{FromMessageParts, Value},
    socket::Socket,
};

/// Answers a message.
pub(super) struct Reply {
    ack: AckSender,
    is_awaited: bool,
}

impl Reply {
    /// Whether the sender wants an acknowledgement; otherwise nothing is sent.
    pub(super) fn is_awaited(&self) -> bool {
        self.is_awaited
    }

    pub(super) fn send(self, answer: &impl Serialize) -> Result<(), SendError> {
        self.ack.send(answer)
    }
}

impl FromMessageParts<LocalAdapter> for Reply {
    type Error = Infallible;

    fn from_message_parts(
        socket: &Arc<Socket>,
        value: &mut Value,
        ack_id: &Option<i64>,
    ) -> Result<Self, Infallible> {
        let ack = AckSender::from_message_parts(socket, value, ack_id)?;
        Ok(Self { ack, is_awaited: ack_id.is_some() })
    }
}
