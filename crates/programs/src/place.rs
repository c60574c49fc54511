//! Where an agent's program is kept: `<agents>/<name>/<version>/`, beside a record of what is current.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{InstallError, Progress, Report};

/// What is installed. Written last, so what it names is whole.
const RECORD: &str = "current.json";
/// Held by whoever installs or removes.
const LOCK: &str = "lock";
/// Where an installation comes into being.
const DRAFT: &str = ".new";
/// Where a removal begins.
const TRASH: &str = ".old";

/// How often a lock that is taken is tried again.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);

/// An agent's program that is there, and how to start it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Installed {
    /// The agent.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it was made of.
    pub packages: Vec<InstalledPackage>,
    /// Bytes of all its files.
    pub size_bytes: u64,
    /// When it was installed.
    pub installed_at: String,
    /// The file that is started, relative to the directory.
    pub file: String,
    /// What starts it, if it does not start by itself: `node`.
    pub interpreter: Option<String>,
    /// Directories, relative to the program's own, that belong into `PATH`.
    pub path: Vec<String>,
    /// Where it is on this machine.
    #[serde(skip)]
    pub directory: PathBuf,
}

/// One package of an installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstalledPackage {
    /// Its name in the registry.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its hash, as npm writes it.
    pub integrity: String,
}

impl Installed {
    /// The program and its first arguments, for whoever sees the directory at `mounted_at`.
    #[must_use]
    pub fn argv(&self, mounted_at: &str) -> Vec<String> {
        let file = format!("{}/{}", mounted_at.trim_end_matches('/'), self.file);
        self.interpreter.iter().cloned().chain([file]).collect()
    }

    /// What belongs before the rest of `PATH`, for whoever sees the directory at `mounted_at`.
    #[must_use]
    pub fn path(&self, mounted_at: &str) -> Vec<String> {
        self.path.iter().map(|part| format!("{}/{part}", mounted_at.trim_end_matches('/'))).collect()
    }
}

/// One agent's place.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    root: PathBuf,
}

/// The right to change a place; ends when the last clone of it does, or with the process.
#[derive(Clone)]
pub(crate) struct Held {
    _file: Arc<File>,
}

impl Place {
    pub(crate) fn new(agents: &Path, name: &str) -> Self {
        Self { root: agents.join(name) }
    }

    /// What is there. What has no record, or whose files are gone, is not there.
    pub(crate) fn read(&self) -> Option<Installed> {
        let mut installed: Installed =
            serde_json::from_slice(&fs::read(self.root.join(RECORD)).ok()?).ok()?;
        installed.directory = self.version(&installed.version);
        installed.directory.join(&installed.file).is_file().then_some(installed)
    }

    /// Takes the lock, and waits for whoever has it.
    pub(crate) async fn lock(&self, report: Option<&Report>) -> Result<Held, InstallError> {
        let failed = |source| InstallError::Write { path: self.root.clone(), source };
        make_directory(&self.root).map_err(failed)?;
        let options = OpenOptions::new().write(true).create(true).truncate(false).open(self.root.join(LOCK));
        let file = options.map_err(failed)?;
        let mut is_told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Held { _file: Arc::new(file) }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            if let Some(report) = report.filter(|_| !is_told) {
                report(Progress::Waiting);
                is_told = true;
            }
            tokio::time::sleep(LOCK_INTERVAL).await;
        }
    }

    /// An empty directory to make an installation in, in place of what an interrupted one left.
    pub(crate) fn draft(&self, _held: &Held) -> Result<PathBuf, InstallError> {
        let draft = self.root.join(DRAFT);
        let failed = |source| InstallError::Write { path: draft.clone(), source };
        remove_if_there(&draft).map_err(failed)?;
        remove_if_there(&self.root.join(TRASH)).map_err(failed)?;
        make_directory(&draft).map_err(failed)?;
        Ok(draft)
    }

    /// Makes a finished draft the installation.
    pub(crate) fn publish(
        &self,
        draft: &Path,
        installed: Installed,
        _held: &Held,
    ) -> Result<Installed, InstallError> {
        let directory = self.version(&installed.version);
        let publish = || -> io::Result<()> {
            // On the disk before it has its name: what a power cut leaves is whole or is not there.
            rustix::fs::syncfs(File::open(draft)?)?;
            if directory.exists() {
                // It has no record that counts. Whoever runs from it keeps what it has open.
                fs::rename(&directory, self.root.join(TRASH))?;
            }
            fs::rename(draft, &directory)?;
            self.write_record(&installed)?;
            remove_if_there(&self.root.join(TRASH))
        };
        publish().map_err(|source| InstallError::Write { path: directory.clone(), source })?;
        Ok(Installed { directory, ..installed })
    }

    /// Takes everything away; says whether there was anything.
    pub(crate) fn clear(&self, _held: &Held) -> Result<bool, (PathBuf, io::Error)> {
        let was_there = self.read().is_some();
        // The record first: from here on nothing is installed, however far the rest gets.
        let record = self.root.join(RECORD);
        remove_if_there(&record).map_err(|source| (record, source))?;
        let entries = fs::read_dir(&self.root).map_err(|source| (self.root.clone(), source))?;
        for entry in entries.filter_map(Result::ok).filter(|entry| entry.file_name() != LOCK) {
            remove_if_there(&entry.path()).map_err(|source| (entry.path(), source))?;
        }
        Ok(was_there)
    }

    fn version(&self, version: &str) -> PathBuf {
        self.root.join(version)
    }

    /// Readers see the old record or the new one, never a part.
    fn write_record(&self, installed: &Installed) -> io::Result<()> {
        let draft = self.root.join(format!("{RECORD}.new"));
        let mut file = File::create(&draft)?;
        file.write_all(&serde_json::to_vec_pretty(installed)?)?;
        file.sync_all()?;
        fs::rename(draft, self.root.join(RECORD))?;
        File::open(&self.root)?.sync_all()
    }
}

/// Makes a directory that sandboxes' users can look into.
pub(crate) fn make_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o755))
}

pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
