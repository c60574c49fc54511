//! What host and guest say to each other.
//!
//! Stands between `sandbox` (the host's side) and `guest` (PID 1 of a sandbox); both speak it over a link. A stream
//! that the host opens begins with a [`Request`] as its header; one that the guest opens, with an [`Announcement`].
//! What follows on the stream depends on the request and is made of [`Frame`]s; each variant says of what.
//! **Invariant:** types, their bytes and the limits both sides keep; no behaviour, and no knowledge of the link.
//! Start with [`Request`], then [`Frame`].
//!
//! The protocol has one number, [`PROTOCOL_VERSION`], told in the [`Hello`] that answers the first request. Fields may
//! be added to a released shape if they have a default; anything else raises the number.

mod error;
mod exec;
mod files;
mod frame;
mod hello;
mod ports;
mod request;
mod watch;

pub use error::{ErrorCode, GuestError};
pub use exec::{EXEC_CREDIT, ExecRequest, Exit, Leftovers, Limit, Output, Started, Stdio};
pub use files::{
    DirEntry, FileKind, FileLook, FilePath, FileStat, ListEnd, ListRequest, MAX_LIST, MoveRequest,
    ReadRequest, Root, WriteHow, WriteRequest,
};
pub use frame::{Frame, FrameError, FrameReader, MAX_FRAME, read_frame, write_frame};
pub use hello::{Hello, Landlock, PROTOCOL_VERSION};
pub use ports::{MAX_PORTS, OpenPort};
pub use request::{Announcement, Listening, Request};
pub use watch::{
    Change, ChangeKind, DEFAULT_EXCLUDES, MAX_HASHED, MAX_HASHED_AT_A_TIME, WatchEvent, WatchRequest,
};
