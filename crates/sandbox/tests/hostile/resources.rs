//! Taking more than one's share.

use std::{
    fs::{self, File},
    io::{self, Write},
    net::{TcpListener, TcpStream, UdpSocket},
};

/// Prints every descriptor of every process that can be looked into, but for our own three.
pub(crate) fn descriptors() -> io::Result<()> {
    for process in fs::read_dir("/proc")?.filter_map(Result::ok) {
        let name = process.file_name();
        if !name.to_string_lossy().starts_with(|first: char| first.is_ascii_digit()) {
            continue;
        }
        let Ok(open) = fs::read_dir(process.path().join("fd")) else { continue };
        for descriptor in open.filter_map(Result::ok) {
            let Ok(target) = fs::read_link(descriptor.path()) else { continue };
            println!("{} {}", descriptor.file_name().display(), target.display());
        }
    }
    Ok(())
}

/// Takes memory and touches every page of it.
pub(crate) fn memory(bytes: usize) -> io::Result<()> {
    let taken = vec![1_u8; bytes];
    std::hint::black_box(&taken);
    Ok(())
}

/// Writes a file of that size.
pub(crate) fn fill(path: &str, bytes: u64) -> io::Result<()> {
    // A write that is too large must fail, not kill.
    // SAFETY: ignoring a signal has no handler that could be wrong.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let mut file = File::create(path)?;
    let block = vec![1_u8; 1 << 20];
    let mut left = bytes;
    while left > 0 {
        let length = left.min(block.len() as u64);
        file.write_all(&block[..length as usize])?;
        left -= length;
    }
    file.sync_all()
}

/// Makes directories in directories, deeper than any path can name.
pub(crate) fn nest(depth: usize) -> io::Result<()> {
    for _ in 0..depth {
        fs::create_dir("d")?;
        std::env::set_current_dir("d")?;
    }
    Ok(())
}

/// How many sockets are filled.
const SOCKETS: usize = 120;

/// Fills the buffers of TCP connections that nobody reads; prints how many bytes they hold.
pub(crate) fn tcp_buffers() -> io::Result<()> {
    let (block, mut held, mut kept) = (vec![1; 64 << 10], 0, Vec::new());
    for _ in 0..SOCKETS {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let mut near = TcpStream::connect(listener.local_addr()?)?;
        let far = listener.accept()?;
        near.set_nonblocking(true)?;
        while let Ok(written) = near.write(&block) {
            held += written;
        }
        kept.push((near, far));
    }
    println!("{held}");
    Ok(())
}

/// Fills the buffers of UDP sockets; prints how many bytes were still there to be read.
pub(crate) fn udp_buffers() -> io::Result<()> {
    let (block, mut held, mut kept) = (vec![1; 60_000], 0, Vec::new());
    let sender = UdpSocket::bind("127.0.0.1:0")?;
    for _ in 0..SOCKETS * 20 {
        let receiver = UdpSocket::bind("127.0.0.1:0")?;
        for _ in 0..10 {
            // One that is dropped holds nothing.
            let _ = sender.send_to(&block, receiver.local_addr()?);
        }
        kept.push(receiver);
    }
    for receiver in kept {
        receiver.set_nonblocking(true)?;
        while let Ok(read) = receiver.recv(&mut vec![0; 64 << 10]) {
            held += read;
        }
    }
    println!("{held}");
    Ok(())
}
