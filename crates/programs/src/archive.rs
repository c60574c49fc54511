//! A package's archive: got from the registry or from the cache, never used unless its hash is right.

use std::{
    fs::File,
    io::{self, BufReader},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use futures::StreamExt as _;
use tokio::{fs, io::AsyncWriteExt as _};

use crate::{
    InstallError, Progress, Report,
    integrity::{Hasher, Hashing},
    place::Held,
    registry::{Package, Registry},
    unpack::{Limits, UnpackError, unpack},
};

/// The largest archive that is downloaded.
const MAX_ARCHIVE: u64 = 1 << 30;
/// A registry that stumbles is asked this often.
const ATTEMPTS: u32 = 3;
/// Before the second attempt; twice as long before the next.
const PAUSE: Duration = Duration::from_millis(500);
/// How often, in bytes, progress is told.
const STEP: u64 = 1 << 20;

/// Downloads a package into `directory`, unless it is there already. The file's name is the package's hash.
pub(crate) async fn get(
    package: &Package,
    registry: &Registry,
    directory: &Path,
    report: &Report,
) -> Result<PathBuf, InstallError> {
    let path = directory.join(package.integrity.file_name());
    if fs::try_exists(&path).await.unwrap_or(false) {
        return Ok(path);
    }
    let mut pause = PAUSE;
    for attempt in 1.. {
        match download(package, registry, &path, report).await {
            Err(InstallError::Registry { source, .. }) if attempt < ATTEMPTS => {
                tracing::debug!(package = %package.id, %source, attempt, "a download broke");
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
            ended => return ended.map(|()| path),
        }
    }
    Ok(path)
}

async fn download(
    package: &Package,
    registry: &Registry,
    path: &Path,
    report: &Report,
) -> Result<(), InstallError> {
    let directory = path.parent().unwrap_or(path).to_owned();
    let failed = |source| InstallError::Write { path: directory.clone(), source };
    // A name of its own, and gone if this is given up: others may use the same cache.
    let draft = tempfile::Builder::new().prefix(".part-").tempfile_in(&directory).map_err(failed)?;
    let (file, draft) = draft.into_parts();
    let mut file = fs::File::from_std(file);
    let mut hasher = Hasher::new();
    let (total, mut pieces) = registry.download(package).await?;
    let (mut received, mut told) = (0, 0);
    let tell = |received| {
        report(Progress::Downloading { package: package.id.to_string(), received, total });
    };
    tell(0);
    while let Some(piece) = pieces.next().await {
        let broken = |source| InstallError::Registry { package: package.id.to_string(), source };
        let piece = piece.map_err(broken)?;
        received += u64::try_from(piece.len()).unwrap_or(u64::MAX);
        if received > MAX_ARCHIVE {
            return Err(InstallError::Package {
                package: package.id.to_string(),
                problem: format!("it is larger than {MAX_ARCHIVE} bytes"),
            });
        }
        hasher.update(&piece);
        file.write_all(&piece).await.map_err(failed)?;
        if received - told >= STEP {
            told = received;
            tell(received);
        }
    }
    file.flush().await.map_err(failed)?;
    tell(received);
    let found = hasher.finish();
    if found != Some(package.integrity) {
        return Err(InstallError::integrity(&package.id, package.integrity, found));
    }
    draft.persist(path).map_err(|error| failed(error.error))
}

/// Unpacks an archive into `root` and hashes what is read meanwhile. Returns the bytes of its files; what was written
/// must not be used if this fails.
pub(crate) async fn open(
    package: &Package,
    archive: PathBuf,
    root: PathBuf,
    limits: Limits,
    report: &Report,
    held: Held,
) -> Result<u64, InstallError> {
    let (package, report) = (package.clone(), Arc::clone(report));
    let unpacking = move || {
        // The thread goes on if nobody waits for it any more; until it ends nobody else may work there.
        let _held = held;
        open_blocking(&package, &archive, &root, limits, report)
    };
    match tokio::task::spawn_blocking(unpacking).await {
        Ok(unpacked) => unpacked,
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}

fn open_blocking(
    package: &Package,
    archive: &Path,
    root: &Path,
    limits: Limits,
    report: Report,
) -> Result<u64, InstallError> {
    let cannot_read = |source| InstallError::Write { path: archive.to_owned(), source };
    let file = File::open(archive).map_err(cannot_read)?;
    let total = file.metadata().map_err(cannot_read)?.len();
    let (shown, mut told) = (package.id.to_string(), 0);
    let passed = move |read: u64| {
        if read - told >= STEP {
            told = read;
            report(Progress::Unpacking { package: shown.clone(), read, total });
        }
    };
    let mut reader = Hashing::new(BufReader::with_capacity(256 * 1024, file), Box::new(passed));
    let unpacked = unpack(&mut reader, root, limits);
    // A wrong hash explains whatever else went wrong.
    let found = reader.finish().map_err(cannot_read)?;
    if found != Some(package.integrity) {
        return Err(InstallError::integrity(&package.id, package.integrity, found));
    }
    unpacked.map_err(|error| match error {
        UnpackError::Package(problem) => InstallError::Package { package: package.id.to_string(), problem },
        UnpackError::Write { path, source } => InstallError::Write { path, source },
    })
}

/// Makes a file runnable for everybody.
pub(crate) fn make_runnable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}
