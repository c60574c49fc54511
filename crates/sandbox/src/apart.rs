//! Sandboxes of this machine whose files are theirs alone.
//!
//! [`Apart`] gives every sandbox of another backend new, empty directories, says of them that they are [`FilesAt::Guest`],
//! and removes them when the sandbox has ended. So a machine of its own treats its sandboxes as if they were elsewhere.

use std::{
    collections::HashSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use warren_env::{TaskKind, Tasks};

use crate::{
    Backend, Exit, FilesAt, LimitHit, Mounts, Probe, Resources, Running, Sandbox, Spec, StartError,
    StatsError, SweepError, Swept, TerminateError,
};

/// A backend whose sandboxes keep their files apart.
pub struct Apart {
    inner: Arc<dyn Backend>,
    directories: Arc<Directories>,
    tasks: Tasks,
}

impl Apart {
    /// Makes the directories of `inner`'s sandboxes beneath `directory`, which no other server may use.
    pub fn new(inner: Arc<dyn Backend>, directory: PathBuf, tasks: Tasks) -> Self {
        let directories =
            Arc::new(Directories { root: directory, next: AtomicU64::new(0), used: Mutex::default() });
        Self { inner, directories, tasks }
    }
}

#[async_trait]
impl Backend for Apart {
    async fn start(&self, spec: Spec) -> Result<Sandbox, StartError> {
        let directories = Arc::clone(&self.directories);
        let made = tokio::task::spawn_blocking(move || directories.make()).await;
        let failed = |source| StartError::Directory {
            id: spec.id.clone(),
            path: self.directories.root.clone(),
            source,
        };
        let own = made.map_err(|error| failed(io::Error::other(error)))?.map_err(failed)?;
        let mounts = own.in_place_of(spec.mounts);
        let sandbox = self.inner.start(Spec { mounts, ..spec }).await?;
        let tasks = self.tasks.clone();
        Ok(sandbox
            .map_running(|running| Arc::new(RunningApart { running, own: Mutex::new(Some(own)), tasks })))
    }

    fn files(&self) -> FilesAt {
        FilesAt::Guest
    }

    async fn probe(&self) -> Probe {
        self.inner.probe().await
    }

    fn adopt(&self, directory: &Path, uid: u32) {
        self.inner.adopt(directory, uid);
    }

    fn disown(&self, directory: &Path) {
        self.inner.disown(directory);
    }

    fn release(&self, directory: &Path, uid: u32) {
        self.inner.release(directory, uid);
    }

    async fn sweep(&self) -> Result<Swept, SweepError> {
        let swept = self.inner.sweep().await?;
        let directories = Arc::clone(&self.directories);
        let removed = tokio::task::spawn_blocking(move || directories.sweep()).await;
        let removed = removed.unwrap_or_else(|error| Err(io::Error::other(error)));
        removed.map_err(|source| SweepError::Backend { source: source.into() })?;
        Ok(swept)
    }
}

/// Where sandboxes have their directories, each beneath one of its own.
struct Directories {
    root: PathBuf,
    next: AtomicU64,
    /// Those of sandboxes of this server.
    used: Mutex<HashSet<u64>>,
}

/// The directories of one sandbox; removed when this is dropped.
struct Own {
    all: Arc<Directories>,
    number: u64,
}

impl Directories {
    /// Makes a directory that nobody uses.
    fn make(self: Arc<Self>) -> io::Result<Own> {
        fs::create_dir_all(&self.root)?;
        loop {
            // No number twice: what is known of a directory is known by its path.
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            self.used().insert(number);
            let own = Own { all: Arc::clone(&self), number };
            match fs::create_dir(self.at(number)) {
                Ok(()) => return Ok(own),
                // An earlier server left it: it goes now.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Removes what an earlier server left.
    fn sweep(&self) -> io::Result<()> {
        let entries = match fs::read_dir(&self.root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let number = entry.file_name().to_str().and_then(|name| name.parse().ok());
            if number.is_some_and(|number: u64| self.used().contains(&number)) {
                continue;
            }
            if let Err(error) = remove(&entry.path()) {
                // Who is not root cannot remove what its user has shut. It is in nobody's way.
                tracing::warn!(%error, path = %entry.path().display(), "files of an earlier sandbox were not removed");
            }
        }
        Ok(())
    }

    fn at(&self, number: u64) -> PathBuf {
        self.root.join(number.to_string())
    }

    fn used(&self) -> MutexGuard<'_, HashSet<u64>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Own {
    /// The same mounts, with these directories as those that can be written.
    fn in_place_of(&self, mounts: Mounts) -> Mounts {
        let at = self.all.at(self.number);
        Mounts {
            workspace: at.join("workspace"),
            home: at.join("home"),
            user_input: mounts.user_input.map(|_| at.join("user-input")),
            ..mounts
        }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.all.at(self.number)) {
            // What is left is removed at the next start.
            tracing::warn!(%error, "the files of a sandbox that ended were not removed");
        }
        self.all.used().remove(&self.number);
    }
}

/// Symbolic links are removed, never followed.
fn remove(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// A sandbox and its directories.
struct RunningApart {
    running: Arc<dyn Running>,
    /// Gone when the sandbox is.
    own: Mutex<Option<Own>>,
    tasks: Tasks,
}

impl RunningApart {
    fn take(&self) -> Option<Own> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[async_trait]
impl Running for RunningApart {
    async fn terminate(&self) -> Result<(), TerminateError> {
        self.running.terminate().await?;
        remove_later(self.take()).await;
        Ok(())
    }

    async fn exited(&self) -> Exit {
        self.running.exited().await
    }

    async fn stats(&self) -> Result<Resources, StatsError> {
        self.running.stats().await
    }

    async fn limit_hit(&self) -> LimitHit {
        self.running.limit_hit().await
    }
}

impl Drop for RunningApart {
    fn drop(&mut self) {
        let Some(own) = self.take() else { return };
        let running = Arc::clone(&self.running);
        // Not before it is gone: what still runs would write on.
        drop(self.tasks.finish(TaskKind::Sandbox, async move {
            match running.terminate().await {
                Ok(()) => remove_later(Some(own)).await,
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "a sandbox does not end")
                }
            }
        }));
    }
}

/// Removes the directories of a sandbox that has ended, on a thread where that may take its time.
async fn remove_later(own: Option<Own>) {
    if tokio::task::spawn_blocking(move || drop(own)).await.is_err() {
        tracing::warn!("the files of a sandbox that ended were not removed");
    }
}
