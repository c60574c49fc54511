//! What can go wrong with a guest.

use std::time::Duration;

use warren_guest_api::{ErrorCode, FrameError, GuestError};
use warren_link::OpenError;

/// Why a guest could not be attached to.
#[derive(Debug, thiserror::Error)]
pub enum AttachError {
    /// It never answered.
    #[error("the guest did not say hello within {timeout:?}")]
    Silent {
        /// How long it had.
        timeout: Duration,
    },
    /// It speaks another protocol.
    #[error("the guest speaks protocol {theirs}, this host speaks {ours}")]
    Version {
        /// The host's.
        ours: u32,
        /// The guest's.
        theirs: u32,
    },
    /// It ended, or answered with nonsense.
    #[error("the guest did not say hello")]
    Hello(#[from] CallError),
}

/// Why the guest did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The request did not reach it: it is gone, or has too much to do.
    #[error("failed to reach the guest")]
    Reach(#[source] OpenError),
    /// It said no, and why.
    #[error("the guest reported an error")]
    Refused(#[source] GuestError),
    /// It did not answer, or stopped in the middle.
    #[error("the guest did not answer within {timeout:?}")]
    TimedOut {
        /// How long it had.
        timeout: Duration,
    },
    /// Its answer was cut off or made no sense.
    #[error("the guest disconnected or violated the protocol")]
    Protocol(#[source] FrameError),
    /// The answer is longer than the caller wants.
    #[error("the answer is longer than {max} bytes")]
    TooLong {
        /// What the caller wants at most.
        max: usize,
    },
    /// What was to be sent could not be read.
    #[error("failed to read the data to send")]
    Source(#[source] std::io::Error),
}

impl CallError {
    /// The guest's own code, where it was the guest that refused.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            CallError::Refused(error) => Some(error.code),
            _ => None,
        }
    }
}

/// Why it is not known how a program ended.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The link was lost or the guest broke the protocol. The program ends with its sandbox.
    #[error("the guest was lost while a program ran")]
    Lost,
}
