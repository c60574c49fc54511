//! Files that appear in every sandbox: the guest's program and a handful below `/etc`.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use rustix::fs::Mode;

use super::arguments::GUEST as GUEST_PATH;
use crate::launcher::Mount;

/// The guest, a static program, built by this crate's build script.
pub(crate) static GUEST: &[u8] = include_bytes!(env!("WARREN_GUEST"));

/// One user, who is the same in every sandbox whatever the uid outside is.
const ETC: [(&str, &str); 4] = [
    (
        "passwd",
        "agent:x:1000:1000:agent:/home/agent:/bin/bash\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
    ),
    ("group", "agent:x:1000:\nnogroup:x:65534:\n"),
    ("hosts", "127.0.0.1 localhost warren\n::1 localhost\n"),
    ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"),
];

/// The shared files, written.
pub(super) struct Base {
    /// Where each appears inside.
    pub(super) mounts: Vec<Mount>,
    /// Tells this directory from all others, fit for a file name.
    pub(super) key: String,
}

impl Base {
    /// Writes what is not there yet.
    pub(super) fn write(directory: &Path) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        let directory = directory.canonicalize()?;
        let digest = blake3::hash(GUEST).to_hex();
        let mut mounts =
            vec![put(&directory, &format!("guest-{}", &digest[..16]), GUEST, 0o755, GUEST_PATH)?];
        for (name, content) in ETC {
            let digest = blake3::hash(content.as_bytes()).to_hex();
            let file = format!("{name}-{}", &digest[..16]);
            mounts.push(put(&directory, &file, content.as_bytes(), 0o644, &format!("/etc/{name}"))?);
        }
        let key = blake3::hash(directory.as_os_str().as_encoded_bytes()).to_hex()[..16].to_owned();
        Ok(Self { mounts, key })
    }
}

/// Names carry a hash of the content, so a file that is there is right, and one that is mounted never changes.
fn put(directory: &Path, name: &str, content: &[u8], mode: u32, target: &str) -> io::Result<Mount> {
    let path = directory.join(name);
    if fs::metadata(&path).map_or(true, |found| found.len() != content.len() as u64) {
        write_whole(directory, &path, content, mode)?;
    }
    Ok(Mount { source: path, target: target.to_owned(), writable: false })
}

/// Two servers may start at once, so each writes a file of its own and moves it into place.
fn write_whole(directory: &Path, path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let partial = directory.join(format!(".partial-{}", rustix::process::getpid().as_raw_nonzero()));
    let mut file = fs::File::create(&partial)?;
    file.write_all(content)?;
    // Said apart from `create`, where the umask has its say.
    rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
    fs::rename(partial, path)
}
