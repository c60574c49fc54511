//! Pairs of descriptors on their way to the process that runs commands.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

/// Two connected sockets that keep packets apart.
pub(super) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

/// Sends copies of two descriptors.
pub(super) fn send(line: impl AsFd, ends: [BorrowedFd<'_>; 2]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(&ends)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    sendmsg(line, &[IoSlice::new(b"2")], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives two descriptors; `None` when the other end is gone.
pub(super) fn receive(line: impl AsFd) -> io::Result<Option<[OwnedFd; 2]>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0; 1];
    let received = recvmsg(line, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let mut ends = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            ends.extend(rights);
        }
    }
    ends.try_into().map(Some).map_err(|_| io::ErrorKind::InvalidData.into())
}
