//! What connects a program with us.

use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream as StdUnixStream},
    process::Stdio,
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{
        UnixStream,
        unix::pipe::{Receiver, Sender},
    },
};
use warren_guest_api::Stdio as Kind;

/// Where a program's input goes.
pub(super) type Input = Box<dyn AsyncWrite + Unpin>;

/// Where a program's output comes from.
pub(super) type Source = Box<dyn AsyncRead + Unpin>;

/// The end of a program's input that is ours, and that which is its own.
pub(super) fn input(kind: Kind) -> io::Result<(Input, Stdio)> {
    match kind {
        Kind::Pipes => {
            let (theirs, ours) = io::pipe()?;
            Ok((Box::new(Sender::from_owned_fd(OwnedFd::from(ours))?), theirs.into()))
        }
        Kind::Sockets => socket().map(|(ours, theirs)| (Box::new(ours) as Input, theirs)),
    }
}

/// Likewise of an output.
pub(super) fn output(kind: Kind) -> io::Result<(Source, Stdio)> {
    match kind {
        Kind::Pipes => {
            let (ours, theirs) = io::pipe()?;
            Ok((Box::new(Receiver::from_owned_fd(OwnedFd::from(ours))?), theirs.into()))
        }
        Kind::Sockets => socket().map(|(ours, theirs)| (Box::new(ours) as Source, theirs)),
    }
}

/// A connected pair of sockets: ours, and a program's.
pub(crate) fn socket() -> io::Result<(UnixStream, Stdio)> {
    let (ours, theirs) = StdUnixStream::pair()?;
    ours.set_nonblocking(true)?;
    Ok((UnixStream::from_std(ours)?, OwnedFd::from(theirs).into()))
}
