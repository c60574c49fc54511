//! Tries one thing that a sandbox must not allow, and says what came of it.
//!
//! `warren-hostile ATTEMPT [ARG…]` prints `allowed`, or the error that it met.
#![allow(unsafe_code, reason = "system calls are tried as a hostile program would make them")]
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

mod calls;
mod resources;
mod take;

use std::{
    fs::{self, File, OpenOptions},
    io,
    net::{TcpStream, UdpSocket},
    os::{linux::net::SocketAddrExt, unix::net},
    process::ExitCode,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [attempt, arguments @ ..] = arguments.as_slice() else { return ExitCode::FAILURE };
    match attempt_one(attempt, arguments) {
        Some(Ok(())) => println!("allowed"),
        Some(Err(error)) => println!("{}", name_of(&error)),
        None => return ExitCode::FAILURE,
    }
    ExitCode::SUCCESS
}

fn attempt_one(attempt: &str, arguments: &[&str]) -> Option<io::Result<()>> {
    let done = match (attempt, arguments) {
        ("read", [path]) => fs::read(path).map(drop),
        ("list", [path]) => fs::read_dir(path).map(drop),
        ("write", [path]) => OpenOptions::new().write(true).open(path).map(drop),
        ("create", [path]) => File::create(path).map(drop),
        ("tcp", [address]) => TcpStream::connect(address).map(drop),
        ("udp", [address]) => UdpSocket::bind("0.0.0.0:0").and_then(|it| it.send_to(b"x", address)).map(drop),
        ("unix", [path]) => net::UnixStream::connect(path).map(drop),
        ("abstract", [name]) => net::SocketAddr::from_abstract_name(name)
            .and_then(|address| net::UnixStream::connect_addr(&address))
            .map(drop),
        ("call", [name]) => calls::attempt(name)?,
        ("setid", [way, bits]) => calls::set_id(way, bits)?,
        ("socket", [family]) => calls::socket(family.parse().ok()?),
        ("kill", [pid]) => calls::kill(pid.parse().ok()?),
        ("descriptors", []) => resources::descriptors(),
        ("tcp-buffers", []) => resources::tcp_buffers(),
        ("udp-buffers", []) => resources::udp_buffers(),
        ("memory", [bytes]) => resources::memory(bytes.parse().ok()?),
        ("fill", [path, bytes]) => resources::fill(path, bytes.parse().ok()?),
        ("take", [way, amount]) => take::take(way, amount.parse().ok()?)?,
        ("nest", [depth]) => resources::nest(depth.parse().ok()?),
        _ => return None,
    };
    Some(done)
}

/// The name of an error, as in the manual.
fn name_of(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EPERM) => "EPERM".into(),
        Some(libc::ENOENT) => "ENOENT".into(),
        Some(libc::ESRCH) => "ESRCH".into(),
        Some(libc::EACCES) => "EACCES".into(),
        Some(libc::EINVAL) => "EINVAL".into(),
        Some(libc::EDQUOT) => "EDQUOT".into(),
        Some(libc::EFBIG) => "EFBIG".into(),
        Some(libc::ENOSPC) => "ENOSPC".into(),
        Some(libc::EROFS) => "EROFS".into(),
        Some(libc::ENOSYS) => "ENOSYS".into(),
        Some(libc::EOPNOTSUPP) => "EOPNOTSUPP".into(),
        Some(libc::ENETUNREACH) => "ENETUNREACH".into(),
        Some(libc::ECONNREFUSED) => "ECONNREFUSED".into(),
        _ => error.to_string(),
    }
}
