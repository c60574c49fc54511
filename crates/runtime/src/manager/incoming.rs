//! Archives on their way into a workspace: spooled, unpacked where nobody looks, kept as a tree, then handed to the session.

use std::{fs::File, io, path::PathBuf};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    sync::Semaphore,
};
use warren_domain::{ErrorCode, Partition, Rejection, SessionId};
use warren_snapshots::{Source, TakeError, TakeRequest, Taken};
use warren_store::VersionRecord;

use super::{SessionManager, files::broken_off};
use crate::{
    api::{FileSource, SessionError, Versions as _},
    options::Options,
    session::{Errand, Incoming, Request, busy, tree::WORKSPACE_ROOT},
    unpack::{self, Limits, UnpackError, Unpacked},
    views,
};

/// The most that one archive may bring, where the limits of sandboxes allow as much.
const MAX_ENTRIES: u64 = 200_000;
const MAX_BYTES: u64 = 4 << 30;

/// So many archives are unpacked at once, whoever sent them: it is all disk and CPU, and others want the machine too.
static PLACES: Semaphore = Semaphore::const_new(2);

/// The bytes that are written at a time.
const CHUNK: usize = 256 * 1024;

/// Where archives are unpacked. What a server that was killed left there is removed at the next start.
pub(super) fn directory_of_all(options: &Options) -> PathBuf {
    options.directory.join("imports")
}

impl SessionManager {
    pub(super) async fn import_workspace(
        &self,
        session: SessionId,
        source: FileSource,
    ) -> Result<VersionRecord, SessionError> {
        let partition = self.record(session).await?.partition;
        // Before all of it has come for nothing. The session looks again when the files are there.
        self.refuse_while_busy(session).await?;
        let archive = self.spool(source).await?;
        let _place =
            PLACES.acquire().await.map_err(|error| SessionError::internal("wait for a turn", error))?;
        let incoming = self.unpack(&partition, archive).await?;
        // Of this archive, also if it changes nothing and the version is that of an earlier one.
        let (excluded, skipped) = (incoming.excluded.clone(), incoming.skipped.clone());
        let import = |reply| Request::Errand(Errand::Import(Box::new(incoming), reply));
        let made = self.ask(session, import).await?;
        Ok(VersionRecord { excluded, skipped, ..self.version_get(session, made).await? })
    }

    async fn refuse_while_busy(&self, session: SessionId) -> Result<(), SessionError> {
        let current = views::current(self.shared.parts.source(), session).await;
        let current = current.map_err(|error| SessionError::internal("read the log", error))?;
        let state = current.view.state.session;
        if state.phase == warren_domain::Phase::Ended {
            return Err(Rejection::Ended.into());
        }
        let is_owned = self.roster.is_owned(session);
        // A run that nobody carries on was cut, even if nobody has said so yet.
        if is_owned && state.running().is_some() {
            return Err(busy("wait for the run to end, or interrupt it"));
        }
        Ok(())
    }

    /// Puts the archive into a file without a name.
    async fn spool(&self, mut source: FileSource) -> Result<File, SessionError> {
        let unwritten = |error: io::Error| unwritten(error);
        let directory = directory_of_all(&self.shared.options);
        tokio::fs::create_dir_all(&directory).await.map_err(unwritten)?;
        let file = tempfile::tempfile_in(&directory).map_err(unwritten)?;
        let mut file = tokio::fs::File::from_std(file);
        let mut piece = Vec::with_capacity(CHUNK);
        while (&mut source).take(CHUNK as u64).read_to_end(&mut piece).await.map_err(|e| broken_off(&e))? > 0
        {
            file.write_all(&piece).await.map_err(unwritten)?;
            piece.clear();
        }
        file.flush().await.map_err(unwritten)?;
        let mut file = file.into_std().await;
        io::Seek::rewind(&mut file).map_err(unwritten)?;
        Ok(file)
    }

    /// Unpacks the archive and keeps its files as a tree.
    async fn unpack(&self, partition: &Partition, archive: File) -> Result<Incoming, SessionError> {
        let options = &self.shared.options;
        let limits = Limits {
            entries: MAX_ENTRIES.min(options.limits.inodes),
            bytes: MAX_BYTES.min(options.limits.disk_bytes),
            file_bytes: options.limits.file_bytes,
        };
        let directory = directory_of_all(options);
        let work = move || {
            let staging = tempfile::tempdir_in(&directory).map_err(UnpackError::Disk)?;
            let root = staging.path().join(WORKSPACE_ROOT);
            make_root(&root).map_err(UnpackError::Disk)?;
            let unpacked = unpack::unpack(archive, &root, limits)?;
            Ok((unpacked, staging, root))
        };
        let done = tokio::task::spawn_blocking(work).await;
        let done = done.map_err(|error| SessionError::internal("unpack the archive", error))?;
        let (unpacked, staging, root) = done.map_err(refused)?;
        let source = Source::directories(vec![(WORKSPACE_ROOT.to_owned(), root)]);
        let request = TakeRequest { place: None, base: None, excludes: options.excludes.clone() };
        let taken = self.shared.parts.snapshots.take(partition, source, request).await;
        // There may be many files. Where it fails, the next start of the server removes them.
        let removed = tokio::task::spawn_blocking(move || staging.close()).await;
        if !matches!(removed, Ok(Ok(()))) {
            tracing::warn!(?removed, "failed to remove what an import unpacked");
        }
        Ok(incoming(unpacked, taken.map_err(untaken)?))
    }

    /// Removes what servers left that were killed while they unpacked.
    pub(super) async fn remove_imports(&self) {
        match tokio::fs::remove_dir_all(directory_of_all(&self.shared.options)).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                // They take room and nothing else.
                tracing::warn!(%error, "failed to remove what imports left");
            }
            Ok(()) | Err(_) => {}
        }
    }
}

/// The mode of a workspace, whatever mask this process has.
fn make_root(root: &std::path::Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::create_dir(root)?;
    std::fs::set_permissions(root, std::fs::Permissions::from_mode(0o755))
}

fn incoming(unpacked: Unpacked, taken: Taken) -> Incoming {
    let unpacked = unpacked.skipped.into_iter();
    let skipped = unpacked.map(|(path, why)| (format!("{WORKSPACE_ROOT}/{path}"), why.to_owned()));
    Incoming {
        tree: taken.tree,
        excluded: taken.excluded,
        skipped: skipped.take(1_000).collect(),
        _hold: taken.hold,
    }
}

fn refused(error: UnpackError) -> SessionError {
    let invalid = |code, message, hint: Option<&str>| SessionError::Invalid {
        code,
        message,
        hint: hint.map(str::to_owned),
    };
    match error {
        UnpackError::Archive { message, hint } => invalid(ErrorCode::BadRequest, message, hint),
        UnpackError::TooLarge(message) => {
            let hint = "leave out files that the agent does not need, such as build results and data";
            invalid(ErrorCode::TooLarge, message, Some(hint))
        }
        UnpackError::Disk(error) => unwritten(error),
    }
}

fn unwritten(error: io::Error) -> SessionError {
    if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
        return SessionError::Invalid {
            code: ErrorCode::DiskLimit,
            message: "the server has no disk space for the archive".to_owned(),
            hint: None,
        };
    }
    SessionError::internal("unpack the archive", error)
}

fn untaken(error: TakeError) -> SessionError {
    match error {
        TakeError::TooLarge { max_bytes } => SessionError::Invalid {
            code: ErrorCode::TooLarge,
            message: format!("the files are larger than {max_bytes} bytes in total"),
            hint: None,
        },
        other => SessionError::internal("keep the files", other),
    }
}
