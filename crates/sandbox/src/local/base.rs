//! Files that appear in every sandbox: the guest's program and a handful below `/etc`.

use std::{
    fs::{self, Permissions},
    io::{self, Read, Write},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use flate2::read::GzDecoder;
use rustix::fs::Mode;

use super::arguments::BASE_DIRECTORY as INSIDE;
use crate::launcher::Mount;

/// The guest, a static program, built and packed by this crate's build script.
static GUEST_PACKED: &[u8] = include_bytes!(env!("WARREN_GUEST_PACKED"));
/// Of the program itself.
const GUEST_HASH: &str = env!("WARREN_GUEST_HASH");

/// One user, who is the same in every sandbox whatever the uid outside is. `/etc` has a link to each.
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
    ///
    /// The files share a directory, because each mount takes about a tenth of a millisecond of every start. Its name
    /// carries their hash, so a file that is mounted never changes.
    pub(super) fn write(directory: &Path) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        let directory = directory.canonicalize()?;
        let shared = directory.join(format!("base-{}", &base_hash().to_hex()[..16]));
        fs::create_dir_all(&shared)?;
        fs::set_permissions(&shared, Permissions::from_mode(0o755))?;
        put(&shared.join("guest"), GUEST_HASH, 0o755, &|file| {
            io::copy(&mut GzDecoder::new(GUEST_PACKED), file).map(drop)
        })?;
        for (name, content) in ETC.into_iter().chain([("empty", "")]) {
            let write = |file: &mut fs::File| file.write_all(content.as_bytes());
            put(&shared.join(name), &blake3::hash(content.as_bytes()).to_hex(), 0o644, &write)?;
        }
        let read_only = |source, target: &str| Mount { source, target: target.to_owned(), writable: false };
        let mut mounts = vec![read_only(shared.clone(), INSIDE)];
        // What this kernel does not have needs no hiding, and could not be mounted on.
        let hidden = HIDDEN.into_iter().filter(|target| Path::new(target).exists());
        mounts.extend(hidden.map(|target| read_only(shared.join("empty"), target)));
        let key = blake3::hash(directory.as_os_str().as_encoded_bytes()).to_hex()[..16].to_owned();
        Ok(Self { mounts, key })
    }
}

/// Of all shared files.
fn base_hash() -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(GUEST_HASH.as_bytes());
    for (name, content) in ETC {
        hasher.update(name.as_bytes()).update(content.as_bytes());
    }
    hasher.finalize()
}

/// Writes a file, unless it is there with this hash.
fn put(
    path: &Path,
    hash: &str,
    mode: u32,
    write: &dyn Fn(&mut fs::File) -> io::Result<()>,
) -> io::Result<()> {
    if has_hash(path, hash)? { Ok(()) } else { write_whole(path, mode, write) }
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
fn write_whole(path: &Path, mode: u32, write: &dyn Fn(&mut fs::File) -> io::Result<()>) -> io::Result<()> {
    let partial = path.with_file_name(format!(".partial-{}", rustix::process::getpid().as_raw_nonzero()));
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
        let guest = &base.mounts[0].source.join("guest");
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
