//! Taking disk space in ways that are hard to see, and keeping it.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, IoSlice, Write},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, AsRawFd},
        unix::fs::OpenOptionsExt,
    },
    ptr,
};

use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sendmsg,
    socketpair,
};

/// A file that is there before the program starts.
const FOUND: &str = "found";
const TAKEN: &str = "taken";

/// Takes bytes (or inodes, for `empty`), says so, and waits to be killed. `None` if there is no such way.
pub(crate) fn take(way: &str, amount: u64) -> Option<io::Result<()>> {
    let taken = match way {
        "plain" => File::create(TAKEN).and_then(|file| fill(file, amount)).map(keep),
        "rewrite" => fs::remove_file(FOUND)
            .and_then(|()| File::create(FOUND)?.write_all(b"less"))
            .and_then(|()| fill(File::create(TAKEN)?, amount).map(keep)),
        "unlinked" => unlinked().and_then(|file| fill(file, amount)).map(keep),
        "tmpfile" => unnamed().and_then(|file| fill(file, amount)).map(keep),
        "fallocate" => unlinked().and_then(|file| allocate(file, amount)).map(keep),
        "mapped" => unlinked().and_then(|file| map(&file, amount)),
        "in-flight" => unlinked().and_then(|file| fill(file, amount)).and_then(|file| send(&file)),
        "empty" => (0..amount).try_for_each(|n| File::create(format!("empty-{n}")).map(drop)),
        _ => return None,
    };
    Some(taken.inspect(|()| {
        println!("taken");
        loop {
            std::thread::park();
        }
    }))
}

fn keep(file: File) {
    // Open until the process ends.
    std::mem::forget(file);
}

fn unlinked() -> io::Result<File> {
    let file = OpenOptions::new().create_new(true).read(true).write(true).open(TAKEN)?;
    fs::remove_file(TAKEN)?;
    Ok(file)
}

fn unnamed() -> io::Result<File> {
    OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).open(".")
}

fn fill(mut file: File, bytes: u64) -> io::Result<File> {
    let block = vec![1_u8; 1 << 20];
    for _ in 0..bytes >> 20 {
        file.write_all(&block)?;
    }
    Ok(file)
}

/// As libc does it where the call is not supported: a byte in every block.
fn allocate(file: File, bytes: u64) -> io::Result<File> {
    // SAFETY: no pointer is passed.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes.cast_signed()) } {
        0 => Ok(file),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Keeps a file by nothing but a mapping.
fn map(file: &File, bytes: u64) -> io::Result<()> {
    file.set_len(bytes)?;
    let length = usize::try_from(bytes).map_err(io::Error::other)?;
    // SAFETY: a new mapping of the whole file, which nobody else uses and nobody cuts.
    unsafe {
        let mapped = libc::mmap(
            ptr::null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        );
        if mapped == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        for page in (0..length).step_by(4096) {
            mapped.cast::<u8>().add(page).write_volatile(1);
        }
    }
    Ok(())
}

/// Keeps a file by nothing but a message that nobody receives.
fn send(file: &File) -> io::Result<()> {
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::empty(), None)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = SendAncillaryBuffer::new(&mut space);
    let files = [file.as_fd()];
    message.push(SendAncillaryMessage::ScmRights(&files));
    sendmsg(&ours, &[IoSlice::new(b"x")], &mut message, SendFlags::empty())?;
    std::mem::forget((ours, theirs));
    Ok(())
}
