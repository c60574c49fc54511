//! Taking more than one's share.

use std::{
    fs::{self, File},
    io::{self, Write},
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
