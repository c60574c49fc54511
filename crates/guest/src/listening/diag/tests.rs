//! Answers of the kernel, real, made up and spoilt.

use std::{collections::BTreeMap, net::TcpListener, os::fd::AsFd};

use rustix::io::Errno;

use super::{BY_FAMILY, Diag, DiagError, NLMSG_DONE, NLMSG_ERROR, Rest, SOCKET, TCP_LISTEN, parse};

const SEQUENCE: u32 = 7;
const ESTABLISHED: u8 = 1;

fn message(kind: u16, sequence: u32, body: &[u8]) -> Vec<u8> {
    let mut message = u32::try_from(16 + body.len()).expect("short").to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend([0; 2]);
    message.extend(sequence.to_ne_bytes());
    message.extend([0; 4]);
    message.extend(body);
    message.resize(message.len().next_multiple_of(4), 0);
    message
}

/// As the kernel tells of a socket, with an attribute behind it.
fn socket(state: u8, port: u16, inode: u32) -> Vec<u8> {
    let mut body = vec![0; SOCKET];
    body[1] = state;
    body[4..6].copy_from_slice(&port.to_be_bytes());
    body[68..72].copy_from_slice(&inode.to_ne_bytes());
    body.extend([5, 0, 8, 0, 0]);
    message(BY_FAMILY, SEQUENCE, &body)
}

fn parsed(datagram: &[u8]) -> (Result<Rest, DiagError>, BTreeMap<u16, u64>) {
    let mut found = BTreeMap::new();
    (parse(datagram, SEQUENCE, &mut found), found)
}

fn done(result: i32) -> Vec<u8> {
    message(NLMSG_DONE, SEQUENCE, &result.to_ne_bytes())
}

#[test]
fn listening_sockets_of_the_right_answer_are_taken() {
    let stale = message(NLMSG_DONE, SEQUENCE - 1, &[0; 4]);
    let sockets =
        [socket(TCP_LISTEN, 3000, 4711), socket(ESTABLISHED, 3001, 1), stale, socket(TCP_LISTEN, 8080, 4713)];
    let expected = BTreeMap::from([(3000, 4711), (8080, 4713)]);
    assert_eq!(parsed(&sockets.concat()), (Ok(Rest::More), expected.clone()));
    assert_eq!(parsed(&[sockets.concat(), done(0)].concat()), (Ok(Rest::Nothing), expected));
    assert_eq!(parsed(b""), (Ok(Rest::More), BTreeMap::new()));
}

#[test]
fn refusals_of_the_kernel_are_errors() {
    let refused = |errno: Errno| Err(DiagError::Refused(errno));
    let error = |number: i32| message(NLMSG_ERROR, SEQUENCE, &[&number.to_ne_bytes()[..], &[0; 16]].concat());
    assert_eq!(parsed(&error(-2)).0, refused(Errno::NOENT));
    assert_eq!(parsed(&done(-105)).0, refused(Errno::NOBUFS));
    // An acknowledgement that nobody asked for would leave us waiting.
    assert_eq!(parsed(&error(0)).0, Err(DiagError::Malformed));
    for no_error in [1, -4096, i32::MIN, i32::MAX] {
        assert_eq!(parsed(&error(no_error)).0, Err(DiagError::Malformed));
        assert_eq!(parsed(&done(no_error)).0, Err(DiagError::Malformed));
    }
}

#[test]
fn answer_cut_anywhere_gives_an_error_or_only_whole_sockets() {
    let whole = [socket(TCP_LISTEN, 3000, 1), socket(TCP_LISTEN, 3001, 2), done(0)].concat();
    let n_socket = socket(TCP_LISTEN, 3000, 1).len();
    for n in 0..whole.len() {
        let (result, found) = parsed(&whole[..n]);
        // What fills a message up may be missing at the end of a datagram.
        assert_eq!(found.len(), ((n + 3) / n_socket).min(2), "{n}");
        assert_ne!(result, Ok(Rest::Nothing), "{n}");
    }
}

#[test]
fn lengths_that_lie_are_malformed_and_never_loop() {
    for length in [0_u32, 1, 15, 17, 1 << 16, u32::MAX - 2, u32::MAX] {
        let mut datagram = done(0);
        datagram[..4].copy_from_slice(&length.to_ne_bytes());
        assert_eq!(parsed(&datagram).0, Err(DiagError::Malformed), "{length}");
    }
    let short = message(BY_FAMILY, SEQUENCE, &[0; SOCKET - 1]);
    assert_eq!(parsed(&short).0, Err(DiagError::Malformed));
}

#[test]
fn spoilt_and_random_answers_never_panic() {
    let whole = [socket(TCP_LISTEN, 3000, 1), socket(ESTABLISHED, 3001, 2), done(0)].concat();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..50_000 {
        let mut datagram = whole.clone();
        for _ in 0..=random() % 4 {
            let at = random() as usize % datagram.len();
            datagram[at] = random() as u8;
        }
        datagram.truncate(random() as usize % (datagram.len() + 1));
        let (_, found) = parsed(&datagram);
        assert!(found.len() <= 2);
        let noise: Vec<u8> = (0..random() % 96).map(|_| random() as u8).collect();
        let _ = parsed(&noise);
    }
}

#[test]
fn kernel_names_the_sockets_that_listen_in_either_family() {
    let v4 = TcpListener::bind("127.0.0.1:0").expect("listens");
    let v6 = TcpListener::bind("[::1]:0").expect("listens");
    let mut diag = Diag::open().expect("opens");
    // Twice: an answer that is read to its end leaves nothing behind for the next.
    for _ in 0..2 {
        let found = diag.listening().expect("answers");
        for listener in [&v4, &v6] {
            let port = listener.local_addr().expect("an address").port();
            let inode = rustix::fs::fstat(listener.as_fd()).expect("a socket").st_ino;
            assert_eq!(found.get(&port), Some(&inode));
        }
    }
}
