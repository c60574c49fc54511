//! Files that people bring: taken piece by piece, all of them or none.

use std::{
    collections::{BTreeSet, HashMap},
    io,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use futures::{Stream, StreamExt as _, TryStreamExt as _, stream};
use tokio::sync::OwnedMutexGuard;
use tokio_util::io::StreamReader;
use warren_domain::{ErrorCode, SessionId};
use warren_runtime::api::{Expected, FileEntry, FileKind, FileWrite, Runtime};

use crate::{
    body::ByteStream,
    deps::App,
    failure::Failure,
    form::{FilePart, Form, broken, code_of},
};

/// The largest file.
const MAX_FILE: u64 = 50_000_000;

/// How many files may lie in `/user-input`, and how many bytes all of them; elsewhere, how much one form may bring.
const MAX_FILES: usize = 20;
const MAX_SESSION: u64 = 200_000_000;

/// Where uploads lie, and are counted.
const USER_INPUT: &str = "/user-input";

/// An upload that goes on.
pub(crate) struct Upload {
    app: App,
    session: SessionId,
    directory: String,
    room: Room,
    names: BTreeSet<String>,
    written: Vec<FileEntry>,
}

impl Upload {
    /// Looks at what was uploaded before.
    pub(crate) async fn begin(app: App, session: SessionId, directory: String) -> Result<Self, Failure> {
        let room = Room::of(app.runtime(), session, &directory, None).await?;
        Ok(Self { app, session, directory, room, names: BTreeSet::new(), written: Vec::new() })
    }

    /// Takes all parts. If one cannot be taken, none of this upload stays.
    pub(crate) async fn take(mut self, mut form: Form) -> Result<Vec<FileEntry>, Failure> {
        match self.take_all(&mut form).await {
            Ok(()) => Ok(self.written),
            Err(failure) => {
                self.undo().await;
                Err(failure)
            }
        }
    }

    async fn take_all(&mut self, form: &mut Form) -> Result<(), Failure> {
        while let Some(file) = form.next_file().await.map_err(|error| not_a_form(&error))? {
            self.take_one(file).await?;
        }
        if self.written.is_empty() {
            return Err(Failure::bad_request("the form contains no file")
                .hint("send each file as a part with a file name"));
        }
        Ok(())
    }

    async fn take_one(&mut self, FilePart { name, content }: FilePart) -> Result<(), Failure> {
        check_name(&name)?;
        if !self.names.insert(name.clone()) {
            return Err(Failure::bad_request(format!("the form contains `{name}` twice")));
        }
        self.room.take_file()?;
        let path = format!("{}/{name}", self.directory.trim_end_matches('/'));
        let place = Place { app: self.app.clone(), session: self.session, path };
        let content = content.map_err(|error| broken(&error));
        let (written, n_bytes) = place.write(FileWrite::New, content, self.room.bytes_left).await?;
        self.room.bytes_left = self.room.bytes_left.saturating_sub(n_bytes);
        self.written.push(written);
        Ok(())
    }

    async fn undo(&self) {
        for entry in &self.written {
            let path = if entry.path.starts_with('/') {
                entry.path.clone()
            } else {
                format!("/workspace/{}", entry.path)
            };
            let files = self.app.runtime().files();
            if let Err(error) = files.file_remove(self.session, &path, Expected::Anything).await {
                tracing::warn!(session = %self.session, error = &error as &dyn std::error::Error, "part of a refused upload stays");
            }
        }
    }
}

/// Writes one file where uploads are counted. What it replaces does not count.
pub(crate) async fn put(
    app: App,
    session: SessionId,
    path: &str,
    how: FileWrite,
    body: ByteStream,
) -> Result<FileEntry, Failure> {
    let mut room = Room::of(app.runtime(), session, path, Some(path)).await?;
    room.take_file()?;
    let place = Place { app, session, path: path.to_owned() };
    Ok(place.write(how, body, room.bytes_left).await?.0)
}

/// Where a file will lie.
#[derive(Clone)]
struct Place {
    app: App,
    session: SessionId,
    path: String,
}

impl Place {
    /// Writes it, if there is room for it at its beginning and at its end. Tells how many bytes it has.
    async fn write(
        self,
        how: FileWrite,
        content: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
        bytes_left: u64,
    ) -> Result<(FileEntry, u64), Failure> {
        let passed = Arc::new(AtomicU64::new(0));
        let looked = Arc::<Mutex<LastLook>>::default();
        let end = stream::once(self.clone().look_last(passed.clone(), looked.clone()));
        let content = counted(content, passed.clone(), bytes_left).chain(end);
        let source = Box::new(StreamReader::new(Box::pin(content)));
        let files = self.app.runtime().files();
        let written = files.file_write(self.session, &self.path, how, source).await;
        let refusal = looked.lock().unwrap_or_else(PoisonError::into_inner).refusal.take();
        match refusal {
            Some(refusal) => Err(refusal),
            None => Ok((written?, passed.load(Ordering::Relaxed))),
        }
    }

    /// Looks again when all of a file has come, because others came meanwhile: nobody else does so before it is written.
    /// Elsewhere than in `/user-input` nothing is counted. Gives nothing more to write.
    async fn look_last(self, passed: Arc<AtomicU64>, looked: Arc<Mutex<LastLook>>) -> io::Result<Bytes> {
        if !is_user_input(&self.path) {
            return Ok(Bytes::new());
        }
        let turn = self.app.uploads.turn(self.session).await;
        let refusal = self.check_room(passed.load(Ordering::Relaxed)).await.err();
        let is_refused = refusal.is_some();
        *looked.lock().unwrap_or_else(PoisonError::into_inner) = LastLook { refusal, _turn: Some(turn) };
        // What it says is not told: the refusal is.
        if is_refused { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(Bytes::new()) }
    }

    async fn check_room(&self, n_bytes: u64) -> Result<(), Failure> {
        let mut room = Room::of(self.app.runtime(), self.session, &self.path, Some(&self.path)).await?;
        room.take_file()?;
        if n_bytes > room.bytes_left { Err(too_large(session_limit())) } else { Ok(()) }
    }
}

/// What came of the last look at a file's room.
#[derive(Default)]
struct LastLook {
    refusal: Option<Failure>,
    /// Held until the file has its name, and is counted by whoever looks next.
    _turn: Option<OwnedMutexGuard<()>>,
}

/// Who may make a file in which session's `/user-input` right now.
#[derive(Default)]
pub(crate) struct Uploads {
    turns: Mutex<HashMap<SessionId, Weak<tokio::sync::Mutex<()>>>>,
}

impl Uploads {
    /// Held by one at a time.
    async fn turn(&self, session: SessionId) -> OwnedMutexGuard<()> {
        self.lock_of(session).lock_owned().await
    }

    fn lock_of(&self, session: SessionId) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(&session).and_then(Weak::upgrade) {
            return turn;
        }
        turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::default();
        turns.insert(session, Arc::downgrade(&turn));
        turn
    }
}

/// What may still come.
struct Room {
    files_left: usize,
    bytes_left: u64,
}

impl Room {
    /// Beneath `directory`, if `replaced` is gone.
    async fn of(
        runtime: &dyn Runtime,
        session: SessionId,
        directory: &str,
        replaced: Option<&str>,
    ) -> Result<Self, Failure> {
        let (n_files, n_bytes) = if is_user_input(directory) {
            let before = runtime.files().file_walk(session, USER_INPUT).await?;
            if before.is_truncated {
                return Ok(Self { files_left: 0, bytes_left: 0 });
            }
            let is_replaced = |entry: &FileEntry| replaced.is_some_and(|path| is_same(path, &entry.path));
            let files =
                before.entries.iter().filter(|entry| entry.kind == FileKind::File && !is_replaced(entry));
            files.fold((0, 0), |(n, bytes), entry| (n + 1, bytes + entry.size_bytes))
        } else {
            // In the workspace nobody can tell what was uploaded from what was made: there the sandbox's disk is the limit.
            (0, 0)
        };
        Ok(Self {
            files_left: MAX_FILES.saturating_sub(n_files),
            bytes_left: MAX_SESSION.saturating_sub(n_bytes),
        })
    }

    fn take_file(&mut self) -> Result<(), Failure> {
        self.files_left = self.files_left.checked_sub(1).ok_or_else(|| {
            too_large(format!("this session has reached its limit of {MAX_FILES} uploaded files"))
                .hint("remove some with `DELETE …/fs?path=/user-input/NAME`")
        })?;
        Ok(())
    }
}

/// The bytes of a file, until there are too many of them.
fn counted(
    file: impl Stream<Item = io::Result<Bytes>> + Send,
    passed: Arc<AtomicU64>,
    session_left: u64,
) -> impl Stream<Item = io::Result<Bytes>> + Send {
    let too_much = |what: String| io::Error::new(io::ErrorKind::FileTooLarge, what);
    file.and_then(move |piece| {
        let now = passed.fetch_add(piece.len() as u64, Ordering::Relaxed) + piece.len() as u64;
        let checked = if now > MAX_FILE {
            Err(too_much(format!("files are limited to {MAX_FILE} bytes")))
        } else if now > session_left {
            Err(too_much(session_limit()))
        } else {
            Ok(piece)
        };
        futures::future::ready(checked)
    })
}

/// Whether two paths are the same, however they are written.
fn is_same(one: &str, other: &str) -> bool {
    let names = |path: &'_ str| -> Vec<String> {
        path.split('/').filter(|name| !matches!(*name, "" | ".")).map(str::to_owned).collect()
    };
    names(one) == names(other)
}

/// Whether a directory is where uploads are counted, however it is written.
pub(crate) fn is_user_input(directory: &str) -> bool {
    let first = directory.split('/').find(|name| !matches!(*name, "" | "."));
    directory.starts_with('/') && first == Some(&USER_INPUT[1..])
}

/// A file's name is a name and nothing else.
fn check_name(name: &str) -> Result<(), Failure> {
    let is_plain = !matches!(name, "" | "." | "..")
        && name.len() <= 255
        && !name.chars().any(|c| c.is_control() || matches!(c, '/' | '\\'));
    if is_plain {
        return Ok(());
    }
    Err(Failure::bad_request(format!("`{}` cannot be a file's name", name.escape_debug()))
        .hint("send the name without its directory"))
}

fn too_large(what: String) -> Failure {
    Failure::new(ErrorCode::TooLarge, what)
}

fn session_limit() -> String {
    format!("uploads of a session are limited to {MAX_SESSION} bytes")
}

fn not_a_form(error: &multer::Error) -> Failure {
    let error = broken(error);
    Failure::new(code_of(&error), error.to_string())
}

#[cfg(test)]
mod tests {
    use super::{check_name, is_user_input};

    #[test]
    fn uploads_are_counted_however_their_directory_is_written() {
        for directory in ["/user-input", "/user-input/", "//user-input/a", "/./user-input/./b"] {
            assert!(is_user_input(directory), "{directory}");
        }
        for directory in ["", "user-input", "/workspace/user-input", "/user-inputs", "/outputs"] {
            assert!(!is_user_input(directory), "{directory}");
        }
    }

    #[test]
    fn only_a_name_is_a_name() {
        for name in ["a.csv", "a b.txt", "ü", "...", ".env"] {
            check_name(name).unwrap_or_else(|_| panic!("{name}"));
        }
        let long = "x".repeat(256);
        for name in ["", ".", "..", "../a", "a/b", "/etc/passwd", "..\\a", "a\0b", "a\nb", &long] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }
}
