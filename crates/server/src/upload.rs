//! Files that people bring: taken piece by piece, all of them or none.

use std::{
    collections::BTreeSet,
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use futures::{Stream, TryStreamExt as _};
use multer::{Field, Multipart};
use tokio_util::io::StreamReader;
use warren_domain::{ErrorCode, SessionId};
use warren_runtime::api::{FileEntry, FileKind, FileWrite, Runtime};

use crate::failure::Failure;

/// The largest file.
const MAX_FILE: u64 = 50_000_000;

/// How many files may lie in `/user-input`, and how many bytes all of them; elsewhere, how much one form may bring.
const MAX_FILES: usize = 20;
const MAX_SESSION: u64 = 200_000_000;

/// Where uploads lie, and are counted.
const USER_INPUT: &str = "/user-input";

/// An upload that goes on.
pub(crate) struct Upload<'a> {
    runtime: &'a dyn Runtime,
    session: SessionId,
    directory: String,
    room: Room,
    names: BTreeSet<String>,
    written: Vec<FileEntry>,
}

impl<'a> Upload<'a> {
    /// Looks at what was uploaded before.
    pub(crate) async fn begin(
        runtime: &'a dyn Runtime,
        session: SessionId,
        directory: String,
    ) -> Result<Self, Failure> {
        let room = Room::of(runtime, session, &directory, None).await?;
        Ok(Self { runtime, session, directory, room, names: BTreeSet::new(), written: Vec::new() })
    }

    /// Takes all parts. If one cannot be taken, none of this upload stays.
    pub(crate) async fn take(mut self, mut parts: Multipart<'static>) -> Result<Vec<FileEntry>, Failure> {
        match self.take_all(&mut parts).await {
            Ok(()) => Ok(self.written),
            Err(failure) => {
                self.undo().await;
                Err(failure)
            }
        }
    }

    async fn take_all(&mut self, parts: &mut Multipart<'static>) -> Result<(), Failure> {
        while let Some(part) = parts.next_field().await.map_err(|error| not_a_form(&error))? {
            self.take_one(part).await?;
        }
        if self.written.is_empty() {
            return Err(Failure::bad_request("there is no file in the form")
                .hint("send each file as a part with a file name"));
        }
        Ok(())
    }

    async fn take_one(&mut self, part: Field<'static>) -> Result<(), Failure> {
        let name = part.file_name().map(str::to_owned);
        let name = name.ok_or_else(|| Failure::bad_request("a part of the form has no file name"))?;
        check_name(&name)?;
        if !self.names.insert(name.clone()) {
            return Err(Failure::bad_request(format!("the form has `{name}` twice")));
        }
        self.room.take_file()?;
        let broken = |error: multer::Error| io::Error::other(format!("the form broke off: {error}"));
        let (part, passed) = (part.map_err(broken), Arc::new(AtomicU64::new(0)));
        let part = counted(part, passed.clone(), self.room.bytes_left);
        let source = Box::new(StreamReader::new(Box::pin(part)));
        let path = format!("{}/{name}", self.directory.trim_end_matches('/'));
        let written = self.runtime.files().file_write(self.session, &path, FileWrite::New, source).await?;
        self.room.bytes_left = self.room.bytes_left.saturating_sub(passed.load(Ordering::Relaxed));
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
            if let Err(error) = self.runtime.files().file_remove(self.session, &path).await {
                tracing::warn!(session = %self.session, error = &error as &dyn std::error::Error, "part of a refused upload stays");
            }
        }
    }
}

/// Writes one file where uploads are counted. What it replaces does not count.
pub(crate) async fn put(
    runtime: &dyn Runtime,
    session: SessionId,
    path: &str,
    how: FileWrite,
    body: impl Stream<Item = io::Result<bytes::Bytes>> + Send + Unpin + 'static,
) -> Result<FileEntry, Failure> {
    let mut room = Room::of(runtime, session, path, Some(path)).await?;
    room.take_file()?;
    let body = counted(body, Arc::new(AtomicU64::new(0)), room.bytes_left);
    let source = Box::new(StreamReader::new(Box::pin(body)));
    Ok(runtime.files().file_write(session, path, how, source).await?)
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
            too_large(format!("a session takes {MAX_FILES} uploaded files"))
                .hint("remove some with `DELETE …/fs?path=/user-input/NAME`")
        })?;
        Ok(())
    }
}

/// The bytes of a file, until there are too many of them.
fn counted(
    file: impl Stream<Item = io::Result<bytes::Bytes>> + Send,
    passed: Arc<AtomicU64>,
    session_left: u64,
) -> impl Stream<Item = io::Result<bytes::Bytes>> + Send {
    let too_much = |what: String| io::Error::new(io::ErrorKind::FileTooLarge, what);
    file.and_then(move |piece| {
        let now = passed.fetch_add(piece.len() as u64, Ordering::Relaxed) + piece.len() as u64;
        let checked = if now > MAX_FILE {
            Err(too_much(format!("a file has at most {MAX_FILE} bytes")))
        } else if now > session_left {
            Err(too_much(format!("a session takes {MAX_SESSION} bytes of uploads")))
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

fn not_a_form(error: &multer::Error) -> Failure {
    match error {
        multer::Error::StreamReadFailed(cause)
            if cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::FileTooLarge) =>
        {
            too_large(cause.to_string())
        }
        _ => Failure::bad_request(format!("the body is not a form of files: {error}")),
    }
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
