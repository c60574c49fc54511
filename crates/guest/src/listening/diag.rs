//! Asks the kernel for listening TCP sockets alone (`sock_diag`), which costs microseconds.
//!
//! The tables in `/proc/net` list every connection and are found by walking a hash table of the whole machine: a read of
//! them takes milliseconds even when nothing is open.

use std::{collections::BTreeMap, os::fd::OwnedFd};

use rustix::{
    io::Errno,
    net::{
        AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, connect, netlink, recv, send,
        socket_with,
    },
};

/// `SOCK_DIAG_BY_FAMILY`: the type of the request, and of each socket in its answer.
const BY_FAMILY: u16 = 20;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
/// `NLM_F_REQUEST | NLM_F_DUMP`.
const REQUEST_DUMP: u16 = 0x301;
const TCP_LISTEN: u8 = 10;

/// `struct nlmsghdr`, and behind it `struct inet_diag_req_v2` or at least `struct inet_diag_msg`.
const HEADER: usize = 16;
const REQUEST: usize = HEADER + 56;
const SOCKET: usize = 72;
const PORT_AT: usize = 4;
const INODE_AT: usize = 68;

/// The kernel's datagrams are at most this long.
const BUFFER: usize = 32 * 1024;

/// Enough for thousands of sockets. A program that opens more is not worth the time.
const MAX_DATAGRAMS: usize = 64;

/// Why there is no answer. The socket is then of no use either: the rest of an answer may be in it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum DiagError {
    #[error("the kernel refused")]
    Refused(#[source] Errno),
    #[error("the kernel's answer is malformed")]
    Malformed,
    #[error("the kernel's answer is too long")]
    TooLong,
}

/// A line to the kernel.
#[derive(Debug)]
pub(super) struct Diag {
    socket: OwnedFd,
    sequence: u32,
}

/// Whether an answer goes on in the next datagram.
#[derive(Debug, PartialEq, Eq)]
enum Rest {
    More,
    Nothing,
}

impl Diag {
    pub(super) fn open() -> Result<Self, DiagError> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(netlink::SOCK_DIAG))
            .map_err(DiagError::Refused)?;
        // From here on nothing arrives that the kernel did not send.
        connect(&socket, &netlink::SocketAddrNetlink::new(0, 0)).map_err(DiagError::Refused)?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Every listening port with the inode of its socket, IPv4 before IPv6 where both have one.
    pub(super) fn listening(&mut self) -> Result<BTreeMap<u16, u64>, DiagError> {
        let mut found = BTreeMap::new();
        for family in [AddressFamily::INET6, AddressFamily::INET] {
            self.dump(family, &mut found)?;
        }
        Ok(found)
    }

    fn dump(&mut self, family: AddressFamily, found: &mut BTreeMap<u16, u64>) -> Result<(), DiagError> {
        self.sequence = self.sequence.wrapping_add(1);
        let request = request(family, self.sequence);
        send(&self.socket, &request, SendFlags::empty()).map_err(DiagError::Refused)?;
        let mut buffer = vec![0; BUFFER];
        for _ in 0..MAX_DATAGRAMS {
            // The answer is made by the calls themselves: there is never anything to wait for.
            let (_, n) = recv(&self.socket, &mut buffer[..], RecvFlags::TRUNC).map_err(DiagError::Refused)?;
            let datagram = buffer.get(..n).ok_or(DiagError::TooLong)?;
            if parse(datagram, self.sequence, found)? == Rest::Nothing {
                return Ok(());
            }
        }
        Err(DiagError::TooLong)
    }
}

/// A request for the listening TCP sockets of a family.
fn request(family: AddressFamily, sequence: u32) -> [u8; REQUEST] {
    const TCP: u8 = 6;
    let mut request = [0; REQUEST];
    request[0..4].copy_from_slice(&(REQUEST as u32).to_ne_bytes());
    request[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
    request[6..8].copy_from_slice(&REQUEST_DUMP.to_ne_bytes());
    request[8..12].copy_from_slice(&sequence.to_ne_bytes());
    request[HEADER] = family.as_raw() as u8;
    request[HEADER + 1] = TCP;
    request[HEADER + 4..HEADER + 8].copy_from_slice(&(1_u32 << TCP_LISTEN).to_ne_bytes());
    request
}

/// Takes the sockets out of one datagram. What answers another request is passed over.
fn parse(mut datagram: &[u8], sequence: u32, found: &mut BTreeMap<u16, u64>) -> Result<Rest, DiagError> {
    while !datagram.is_empty() {
        let length = u32_at(datagram, 0)? as usize;
        let message = datagram.get(..length).filter(|message| message.len() >= HEADER);
        let message = message.ok_or(DiagError::Malformed)?;
        let body = &message[HEADER..];
        if u32_at(message, 8)? == sequence {
            match u16::from_ne_bytes(array(message, 4)?) {
                NLMSG_DONE => return result(body).map(|()| Rest::Nothing),
                NLMSG_ERROR => return result(body).and(Err(DiagError::Malformed)),
                BY_FAMILY => found.extend(socket(body)?),
                _ => {}
            }
        }
        // Messages begin at multiples of four; the last may do without what fills it up.
        datagram = datagram.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(Rest::More)
}

/// The port of a socket and its inode, if it listens.
fn socket(body: &[u8]) -> Result<Option<(u16, u64)>, DiagError> {
    let body: &[u8; SOCKET] = body.first_chunk().ok_or(DiagError::Malformed)?;
    let port = u16::from_be_bytes(array(body, PORT_AT)?);
    let inode = u32_at(body, INODE_AT)?;
    Ok((body[1] == TCP_LISTEN).then_some((port, u64::from(inode))))
}

/// The result at the end of an answer: zero, or the negative number of an error.
fn result(body: &[u8]) -> Result<(), DiagError> {
    match i32::from_ne_bytes(array(body, 0)?) {
        0 => Ok(()),
        number @ -4095..0 => Err(DiagError::Refused(Errno::from_raw_os_error(-number))),
        _ => Err(DiagError::Malformed),
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Result<u32, DiagError> {
    array(bytes, at).map(u32::from_ne_bytes)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], DiagError> {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().ok_or(DiagError::Malformed)
}

#[cfg(test)]
mod tests;
