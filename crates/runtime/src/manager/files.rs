//! Sessions' files: from the sandbox while there is one, else from the directory it left, else from the latest version.

mod kept;
mod moving;

use std::io::SeekFrom;

use async_trait::async_trait;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use rustix::io::Errno;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use tokio_util::io::ReaderStream;
use warren_domain::{ErrorCode, FileChange, SessionId};
use warren_guest_api::{
    DEFAULT_EXCLUDES, ErrorCode as GuestCode, FileKind as GuestKind, FileLook, FilePath, FileStat,
    ListRequest, ReadRequest, WriteHow, WriteRequest,
};
use warren_sandbox::{CallError, Guest};
use warren_store::VersionRecord;

use self::kept::Kept;
use super::SessionManager;
use crate::{
    api::{
        Expected, FileContent, FileEntry, FileKind, FileListing, FileMove, FilePart, FileSource, FileTag,
        FileWrite, Files, FilesFrom, Sandboxes as _, SessionError,
    },
    places::Places,
    session::{ByHand, Request, Visit},
    volumes::{Still, Volume, VolumePath},
};

/// The most entries a listing tells, and a walk.
const LISTED: usize = 10_000;
const WALKED: usize = 100_000;

/// How deep a walk goes.
const DEPTH: u32 = 64;

/// The bytes that are read from a file at a time.
const CHUNK: usize = 64 * 1024;

/// Where a session's files can be had right now.
enum Source {
    /// Its sandbox.
    Live(Guest, FilePath),
    /// What its sandbox left.
    Still(Still),
    /// What the next sandbox will be given.
    Version(Kept),
}

#[async_trait]
impl Files for SessionManager {
    async fn file_list(&self, session: SessionId, path: &str) -> Result<FileListing, SessionError> {
        self.listing(session, path, 1, LISTED).await
    }

    async fn file_walk(&self, session: SessionId, path: &str) -> Result<FileListing, SessionError> {
        self.listing(session, path, DEPTH, WALKED).await
    }

    async fn file_stat(&self, session: SessionId, path: &str) -> Result<FileEntry, SessionError> {
        let place = VolumePath::parse(path)?;
        match self.source(session, &place).await? {
            Source::Live(guest, at) => {
                let stat = guest.stat(at).await.map_err(|error| refused(&place, error))?;
                Ok(entry(place.shown(), stat))
            }
            Source::Still(still) => {
                let own = place.path.clone();
                let found =
                    blocking(move || still.stat(&own)).await?.map_err(|error| missing(&place, &error))?;
                Ok(FileEntry { path: place.shown(), ..found })
            }
            Source::Version(kept) => kept.stat(&place).await,
        }
    }

    async fn file_read(
        &self,
        session: SessionId,
        path: &str,
        part: FilePart,
    ) -> Result<FileContent, SessionError> {
        let place = VolumePath::parse(path)?;
        match self.source(session, &place).await? {
            Source::Live(guest, at) => {
                let request = ReadRequest { path: at, offset: part.offset, len: part.len };
                let reader = guest.read(request).await.map_err(|error| refused(&place, error))?;
                let entry = entry(place.shown(), reader.stat());
                let pieces = stream::try_unfold(reader, |mut reader| async move {
                    Ok::<_, CallError>(reader.next().await?.map(|piece| (piece, reader)))
                });
                let traffic = self.roster.traffic(session).unwrap_or_default();
                // Not the first: looking is no work, else whoever polls a small file would keep the sandbox for ever.
                let pieces = pieces.enumerate().map(move |(n, piece)| {
                    (n > 0).then(|| traffic.moved());
                    piece
                });
                let broken = |error| SessionError::internal("read the file", error);
                Ok(FileContent { entry, bytes: pieces.map_err(broken).boxed() })
            }
            Source::Still(still) => {
                let own = place.path.clone();
                let opened = blocking(move || still.file(&own)).await?;
                let (file, found) = opened.map_err(|error| missing(&place, &error))?;
                let broken = |error| SessionError::internal("read the file", error);
                let mut file = tokio::fs::File::from_std(file);
                file.seek(SeekFrom::Start(part.offset)).await.map_err(broken)?;
                let limited = file.take(part.len.unwrap_or(u64::MAX));
                let bytes = ReaderStream::with_capacity(limited, CHUNK).map_err(broken).boxed();
                Ok(FileContent { entry: FileEntry { path: place.shown(), ..found }, bytes })
            }
            Source::Version(kept) => kept.read(&place, part).await,
        }
    }

    async fn file_write(
        &self,
        session: SessionId,
        path: &str,
        how: FileWrite,
        source: FileSource,
    ) -> Result<FileEntry, SessionError> {
        let place = VolumePath::parse(path)?;
        self.check_place(&place)?;
        let (guest, at) = self.writable(session, &place).await?;
        let before = guest.stat(at.clone()).await;
        let change = if before.is_ok() { FileChange::Modified } else { FileChange::Created };
        let how = write_how(&place, &how, before)?;
        let request = WriteRequest { path: at, how, mode: None };
        // It counts as work as long as it moves, however slowly.
        let source = self.roster.traffic(session).unwrap_or_default().carried(source);
        let stat = guest.write(request, source).await.map_err(|error| refused(&place, error))?;
        let written = entry(place.shown(), stat);
        self.changed_by_hand(session, ByHand { place, change, stat: Some(stat) }).await?;
        Ok(written)
    }

    async fn file_remove(
        &self,
        session: SessionId,
        path: &str,
        expected: Expected,
    ) -> Result<(), SessionError> {
        let place = VolumePath::parse(path)?;
        if place.is_volume() {
            return Err(invalid(ErrorCode::BadRequest, "a volume cannot be removed".to_owned()));
        }
        let (guest, at) = self.writable(session, &place).await?;
        let look = look_of(&guest, &place, &at, &expected).await?;
        guest.remove_all(at, look).await.map_err(|error| refused(&place, error))?;
        self.changed_by_hand(session, ByHand { place, change: FileChange::Deleted, stat: None }).await
    }

    async fn workspace_import(
        &self,
        session: SessionId,
        archive: FileSource,
    ) -> Result<VersionRecord, SessionError> {
        self.import_workspace(session, archive).await
    }

    async fn file_move(&self, session: SessionId, moved: FileMove) -> Result<FileEntry, SessionError> {
        self.relocate(session, moved).await
    }

    async fn directory_make(&self, session: SessionId, path: &str) -> Result<FileEntry, SessionError> {
        self.make_directory(session, path).await
    }
}

impl SessionManager {
    async fn listing(
        &self,
        session: SessionId,
        path: &str,
        depth: u32,
        limit: usize,
    ) -> Result<FileListing, SessionError> {
        let place = VolumePath::parse(path)?;
        let source = self.source(session, &place).await?;
        let from = if matches!(source, Source::Version(_)) { FilesFrom::Version } else { FilesFrom::Live };
        let (entries, is_truncated) = match source {
            Source::Live(guest, at) => {
                let excludes = left_out(place.volume).iter().map(|name| (*name).to_owned()).collect();
                let limit = u32::try_from(limit).unwrap_or(u32::MAX);
                let request = ListRequest { path: at, depth, excludes, limit };
                let listed = guest.list(request).await.map_err(|error| refused(&place, error))?;
                let entries = listed.entries.into_iter().map(|found| entry(found.path, found.stat)).collect();
                (entries, listed.end.truncated)
            }
            Source::Still(still) => {
                let (own, left_out) = (place.path.clone(), left_out(place.volume));
                let is_left_out = |name: &str| left_out.contains(&name);
                let listed = blocking(move || still.list(&own, depth as usize, limit, is_left_out)).await?;
                match listed {
                    Err(error) if is_absent(&error) && place.path.is_empty() => (Vec::new(), false),
                    listed => listed.map_err(|error| missing(&place, &error))?,
                }
            }
            Source::Version(kept) => kept.list(&place, depth, limit).await?,
        };
        let named = |entry: FileEntry| FileEntry { path: place.join(&entry.path).shown(), ..entry };
        let entries = entries.into_iter().map(named).collect();
        Ok(FileListing { path: place.shown(), from, entries, is_truncated })
    }

    /// Where to read. Never makes a sandbox, nor an owner.
    async fn source(&self, session: SessionId, place: &VolumePath) -> Result<Source, SessionError> {
        let record = self.record(session).await?;
        if let Some(at) = place.in_guest()
            && let Some(guest) = self.guest(session).await?
        {
            return Ok(Source::Live(guest, at));
        }
        let places = Places::of(&self.shared.options.directory, session, record.workspace_id);
        if let Some(kept) = self.kept(&record, &places, place.volume).await? {
            return Ok(Source::Version(kept));
        }
        let root = match place.volume {
            Volume::Workspace => places.workspace,
            Volume::UserInput => places.user_input,
            Volume::Instructions => places.instructions,
            Volume::Knowledge => {
                let found = self.shared.options.knowledge_of(&record.partition, record.project_id);
                found.ok_or_else(|| SessionError::not_found("directory", place.shown()))?.root().to_owned()
            }
        };
        Ok(Source::Still(Still::new(&root)))
    }

    /// The sandbox of a session, if it has one that answers.
    pub(super) async fn guest(&self, session: SessionId) -> Result<Option<Guest>, SessionError> {
        if self.roster.is_owned(session) {
            self.ask(session, |reply| Request::Visit(Visit::Reach(reply))).await
        } else {
            Ok(None)
        }
    }

    /// Has the log say it, before whoever did it is answered.
    async fn changed_by_hand(&self, session: SessionId, by_hand: ByHand) -> Result<(), SessionError> {
        self.ask(session, |reply| Request::Visit(Visit::Changed(by_hand, reply))).await
    }

    /// Whether a file may be here. What is uploaded must be counted, and be in versions.
    fn check_place(&self, place: &VolumePath) -> Result<(), SessionError> {
        if place.is_volume() {
            let message = format!("`{}` is a volume, not a file", place.shown());
            return Err(invalid(ErrorCode::BadRequest, message));
        }
        if place.volume != Volume::UserInput {
            return Ok(());
        }
        let mut above: Vec<&str> = place.path.split('/').collect();
        above.pop();
        let excludes = &self.shared.options.excludes;
        if let Some(name) = above.iter().find(|name| excludes.iter().any(|exclude| exclude == *name)) {
            let message = format!(
                "directories named `{name}` are excluded from versions, so uploads into them are refused"
            );
            return Err(invalid(ErrorCode::BadRequest, message));
        }
        if above.len() >= DEPTH as usize {
            let message = format!("`/user-input` is at most {DEPTH} names deep");
            return Err(invalid(ErrorCode::BadRequest, message));
        }
        Ok(())
    }

    /// Where to write: a sandbox is made if there is none, because everything that is written belongs to its user.
    async fn writable(
        &self,
        session: SessionId,
        place: &VolumePath,
    ) -> Result<(Guest, FilePath), SessionError> {
        let at = place.in_guest().ok_or_else(|| {
            invalid(ErrorCode::Forbidden, format!("`{}` is in a read-only volume", place.shown()))
        })?;
        if let Some(guest) = self.guest(session).await? {
            return Ok((guest, at));
        }
        self.sandbox_start(session).await?;
        let guest = self.guest(session).await?;
        guest.map(|guest| (guest, at)).ok_or_else(|| {
            invalid(ErrorCode::SandboxError, "the sandbox stopped before anything was written".to_owned())
        })
    }
}

/// Carries out file calls away from the tasks that must not wait.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SessionError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| SessionError::internal("look at the files", error))
}

fn entry(path: String, stat: FileStat) -> FileEntry {
    let kind = match stat.kind {
        GuestKind::File => FileKind::File,
        GuestKind::Directory => FileKind::Directory,
        GuestKind::Symlink => FileKind::Symlink,
        GuestKind::Other => FileKind::Other,
    };
    FileEntry { path, kind, size_bytes: stat.size, mode: stat.mode, modified_ns: stat.mtime_ns, hash: None }
}

/// How the guest is to write. It looks again when all has come: what is there may change until then.
fn write_how(
    place: &VolumePath,
    how: &FileWrite,
    before: Result<FileStat, CallError>,
) -> Result<WriteHow, SessionError> {
    match how {
        FileWrite::Replace => Ok(WriteHow::Replace),
        FileWrite::New => Ok(WriteHow::CreateNew),
        FileWrite::If(tags) => look_among(place, tags, before).map(WriteHow::ReplaceIf),
    }
}

/// What the guest is to find before it removes or moves something.
async fn look_of(
    guest: &Guest,
    place: &VolumePath,
    at: &FilePath,
    expected: &Expected,
) -> Result<Option<FileLook>, SessionError> {
    match expected {
        Expected::Anything => Ok(None),
        Expected::OneOf(tags) => look_among(place, tags, guest.stat(at.clone()).await).map(Some),
    }
}

/// What is there, if it is in one of these states.
fn look_among(
    place: &VolumePath,
    tags: &[FileTag],
    found: Result<FileStat, CallError>,
) -> Result<FileLook, SessionError> {
    match found {
        Ok(stat) if tags.contains(&entry(place.shown(), stat).tag()) => Ok(stat.look()),
        Err(error) if error.code() != Some(GuestCode::NotFound) => Err(refused(place, error)),
        _ => Err(not_as_it_was(place)),
    }
}

fn not_as_it_was(place: &VolumePath) -> SessionError {
    SessionError::Invalid {
        code: ErrorCode::PreconditionFailed,
        message: format!("`{}` has changed", place.shown()),
        hint: Some("read it again, and send the `ETag` of that response as `If-Match`".to_owned()),
    }
}

fn invalid(code: ErrorCode, message: String) -> SessionError {
    SessionError::Invalid { code, message, hint: None }
}

/// What the guest's refusal means to whoever asked. Its own words stay here: they come from a sandbox.
fn refused(place: &VolumePath, error: CallError) -> SessionError {
    let shown = place.shown();
    let (code, message) = match (error.code(), &error) {
        (Some(GuestCode::NotFound), _) => return SessionError::not_found("file", shown),
        (Some(GuestCode::AlreadyExists), _) => (ErrorCode::Conflict, format!("`{shown}` already exists")),
        (Some(GuestCode::Changed), _) => return not_as_it_was(place),
        (Some(GuestCode::NotEmpty), _) => (ErrorCode::Conflict, format!("`{shown}` is no longer empty")),
        (Some(GuestCode::TooMany), _) => {
            (ErrorCode::Conflict, format!("`{shown}` is too large for one request to the sandbox"))
        }
        (Some(GuestCode::PathEscapes), _) => {
            (ErrorCode::BadRequest, format!("`{shown}` leads through a symbolic link or out of its volume"))
        }
        (Some(GuestCode::WrongKind), _) => {
            (ErrorCode::BadRequest, format!("`{shown}` is not the right kind of file"))
        }
        (Some(GuestCode::InvalidRequest), _) => {
            (ErrorCode::BadRequest, format!("`{shown}` is not a valid path here"))
        }
        (Some(GuestCode::PermissionDenied), _) => {
            (ErrorCode::Forbidden, format!("the sandbox's user has no permission for `{shown}`"))
        }
        (Some(GuestCode::NoSpace), _) => (ErrorCode::DiskLimit, "there is no space left".to_owned()),
        (None, CallError::Source(cause)) => return broken_off(cause),
        (None, CallError::Reach(_) | CallError::TimedOut { .. } | CallError::Protocol(_)) => {
            let cause = &error as &dyn std::error::Error;
            tracing::info!(error = cause, "a sandbox was gone before a file was done");
            (ErrorCode::SandboxError, "the sandbox stopped before the operation finished".to_owned())
        }
        _ => return SessionError::internal("reach the files of the sandbox", error),
    };
    invalid(code, message)
}

/// The client's own bytes could not be read to their end: what stopped them says why.
pub(super) fn broken_off(cause: &std::io::Error) -> SessionError {
    let code = match cause.kind() {
        std::io::ErrorKind::FileTooLarge => ErrorCode::TooLarge,
        _ => ErrorCode::BadRequest,
    };
    invalid(code, cause.to_string())
}

/// The directories that are told, but not looked into. What is uploaded is counted, so there is none where it lies.
fn left_out(volume: Volume) -> &'static [&'static str] {
    if volume == Volume::UserInput { &[] } else { DEFAULT_EXCLUDES }
}

fn is_absent(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::NotFound
}

fn missing(place: &VolumePath, error: &std::io::Error) -> SessionError {
    let shown = place.shown();
    let (code, message) = match Errno::from_io_error(error) {
        Some(Errno::NOENT) => return SessionError::not_found("file", shown),
        Some(Errno::XDEV | Errno::LOOP) => {
            (ErrorCode::BadRequest, format!("`{shown}` leads through a symbolic link or out of its volume"))
        }
        Some(Errno::ACCESS | Errno::PERM) => (ErrorCode::Forbidden, format!("`{shown}` is not readable")),
        // A directory where a file is needed or the other way round; a pipe, a socket or a device.
        Some(Errno::ISDIR | Errno::NOTDIR | Errno::NXIO | Errno::NODEV) => {
            (ErrorCode::BadRequest, format!("`{shown}` is not the right kind of file"))
        }
        _ => return SessionError::internal("look at the files", std::io::Error::from(error.kind())),
    };
    invalid(code, message)
}
