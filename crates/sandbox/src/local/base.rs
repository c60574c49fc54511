//! Files that appear in every sandbox: the guest's program and a handful below `/etc`.

use std::{
    fs,
    io::{self, Read, Write},
    path::Path,
};

use flate2::read::GzDecoder;
use rustix::fs::Mode;

use super::arguments::GUEST as GUEST_PATH;
use crate::launcher::Mount;

/// The guest, a static program, built and packed by this crate's build script.
static GUEST_PACKED: &[u8] = include_bytes!(env!("WARREN_GUEST_PACKED"));
/// Of the program itself.
const GUEST_HASH: &str = env!("WARREN_GUEST_HASH");

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

/// Files of `/proc` that describe the host's disks, kernel and boot. They are empty in a sandbox.
const HIDDEN: [&str; 5] = [
    "/proc/cmdline",
    "/proc/config.gz",
    "/proc/diskstats",
    "/proc/partitions",
    "/proc/sys/kernel/random/boot_id",
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
        let mut mounts = vec![put(&directory, "guest", GUEST_HASH, 0o755, GUEST_PATH, &|file| {
            io::copy(&mut GzDecoder::new(GUEST_PACKED), file).map(drop)
        })?];
        for (name, content) in ETC {
            let (hash, target) = (blake3::hash(content.as_bytes()), format!("/etc/{name}"));
            let write = |file: &mut fs::File| file.write_all(content.as_bytes());
            mounts.push(put(&directory, name, &hash.to_hex(), 0o644, &target, &write)?);
        }
        let hash = blake3::hash(b"").to_hex();
        // What this kernel does not have needs no hiding, and could not be mounted on.
        for target in HIDDEN.into_iter().filter(|target| Path::new(target).exists()) {
            mounts.push(put(&directory, "empty", &hash, 0o644, target, &|_| Ok(()))?);
        }
        let key = blake3::hash(directory.as_os_str().as_encoded_bytes()).to_hex()[..16].to_owned();
        Ok(Self { mounts, key })
    }
}

/// What is there and has this hash, is right. Names carry it, so a file that is mounted never changes.
fn put(
    directory: &Path,
    name: &str,
    hash: &str,
    mode: u32,
    target: &str,
    write: &dyn Fn(&mut fs::File) -> io::Result<()>,
) -> io::Result<Mount> {
    let path = directory.join(format!("{name}-{}", &hash[..16]));
    if !has_hash(&path, hash)? {
        write_whole(directory, &path, mode, write)?;
    }
    Ok(Mount { source: path, target: target.to_owned(), writable: false })
}

/// By its content: one that a crash cut may have its length.
fn has_hash(path: &Path, hash: &str) -> io::Result<bool> {
    let mut file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let (mut hasher, mut buffer) = (blake3::Hasher::new(), vec![0; 64 << 10]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().to_hex().as_str() == hash),
            n => hasher.update(&buffer[..n]),
        };
    }
}

/// Two servers may start at once, so each writes a file of its own and moves it into place.
fn write_whole(
    directory: &Path,
    path: &Path,
    mode: u32,
    write: &dyn Fn(&mut fs::File) -> io::Result<()>,
) -> io::Result<()> {
    let partial = directory.join(format!(".partial-{}", rustix::process::getpid().as_raw_nonzero()));
    let mut file = fs::File::create(&partial)?;
    write(&mut file)?;
    // Said apart from `create`, where the umask has its say.
    rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
    fs::rename(partial, path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Base, GUEST_HASH, has_hash};

    #[test]
    fn what_is_there_and_damaged_is_written_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let base = Base::write(directory.path()).expect("it is written");
        let guest = &base.mounts[0].source;
        assert!(has_hash(guest, GUEST_HASH).expect("it is read"));
        let made = fs::metadata(guest).expect("it is there");
        let length = made.len();
        Base::write(directory.path()).expect("it is there");
        assert_eq!(
            fs::metadata(guest).expect("it is there").modified().expect("a time"),
            made.modified().expect("a time"),
            "what is right is left alone"
        );
        fs::write(guest, vec![0; usize::try_from(length).expect("a length")]).expect("it is damaged");
        Base::write(directory.path()).expect("it is written again");
        assert!(has_hash(guest, GUEST_HASH).expect("it is read"));
    }
}
