//! A directory as one file, written while it is read.

use std::io::Write as _;

use axum::{
    body::Body,
    http::{HeaderValue, header},
    response::IntoResponse,
};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use futures::StreamExt as _;
use tokio::sync::mpsc;
use warren_domain::{ErrorCode, SessionId, Timestamp};
use warren_env::TaskKind;
use warren_runtime::api::{FileEntry, FileKind, FilePart, SessionError};

use crate::{deps::App, failure::Failure, respond::Answer};

/// Pieces that may wait for a slow client. When full, nothing more is read.
const WAITING: usize = 8;

/// The compressed bytes that go out at a time.
const PIECE: usize = 64 * 1024;

/// Size to which tar records are padded.
const RECORD: u64 = 512;

/// Names what could not be read, last in the archive.
const LEFT_OUT: &str = "left-out-of-this-archive.txt";

/// Everything beneath a directory, or one file. Links are left out: where they lead is not ours to say.
pub(crate) async fn answer(app: App, session: SessionId, path: String) -> Answer {
    let files = app.runtime().files();
    let top = files.file_stat(session, &path).await;
    let (prefix, entries) = match top {
        Ok(entry) if entry.kind == FileKind::File => (parent(&entry.path), vec![entry]),
        _ => {
            let listing = files.file_walk(session, &path).await?;
            if listing.is_truncated {
                return Err(Failure::bad_request("there are too many files in it for one archive")
                    .hint("get one of its directories"));
            }
            (listing.path, listing.entries)
        }
    };
    let name = prefix.rsplit('/').find(|name| !name.is_empty()).unwrap_or("workspace").to_owned();
    let (sender, mut receiver) = mpsc::channel(WAITING);
    let tasks = app.deps.tasks.clone();
    tasks.spawn(TaskKind::Connection, async move {
        let gzip = GzEncoder::new(Vec::new(), Compression::fast());
        let archive = Archive { gzip, left_out: Vec::new(), sender };
        archive.write(&app, session, &prefix, entries).await;
    });
    let pieces = futures::stream::poll_fn(move |cx| receiver.poll_recv(cx));
    let mut response = Body::from_stream(pieces).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/gzip"));
    let name: String =
        name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')).collect();
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}.tar.gz\"")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

struct Archive {
    gzip: GzEncoder<Vec<u8>>,
    /// Files that could not be read.
    left_out: Vec<String>,
    sender: mpsc::Sender<Result<Bytes, SessionError>>,
}

/// The client is gone: there is nobody to write for.
struct Gone;

impl Archive {
    async fn write(mut self, app: &App, session: SessionId, prefix: &str, entries: Vec<FileEntry>) {
        for entry in entries {
            let written = match entry.kind {
                FileKind::Directory => self.head(prefix, &entry, true).await,
                FileKind::File => self.file(app, session, prefix, &entry).await,
                FileKind::Symlink | FileKind::Other => Ok(()),
            };
            if written.is_err() {
                return;
            }
        }
        let ended = self.end(app.now(), prefix).await.is_ok();
        if ended && let Ok(rest) = self.gzip.finish() {
            // A client that is gone needs no end.
            let _ = self.sender.send(Ok(Bytes::from(rest))).await;
        }
    }

    async fn file(
        &mut self,
        app: &App,
        session: SessionId,
        prefix: &str,
        entry: &FileEntry,
    ) -> Result<(), Gone> {
        let path = if entry.path.starts_with('/') {
            entry.path.clone()
        } else {
            format!("/workspace/{}", entry.path)
        };
        let content = match app.runtime().files().file_read(session, &path, FilePart::default()).await {
            Ok(content) => content,
            // It is gone meanwhile.
            Err(SessionError::NotFound { .. }) => return Ok(()),
            // Not even its own user may read it, or it is no file any more. The others are worth having.
            Err(SessionError::Invalid { code: ErrorCode::Forbidden | ErrorCode::BadRequest, .. }) => {
                self.left_out.push(relative(prefix, &entry.path).to_owned());
                return Ok(());
            }
            Err(error) => return self.fail(error).await,
        };
        let size = content.entry.size_bytes;
        self.head(prefix, &FileEntry { path: entry.path.clone(), ..content.entry }, false).await?;
        let mut left = size;
        let mut pieces = content.bytes;
        while let Some(piece) = pieces.next().await {
            let mut piece = match piece {
                Ok(piece) => piece,
                Err(error) => return self.fail(error).await,
            };
            // It may grow or shrink while it is read; what its head says counts.
            piece.truncate(usize::try_from(left).unwrap_or(usize::MAX));
            left -= piece.len() as u64;
            self.push(&piece).await?;
        }
        while left > 0 {
            let zeros = left.min(PIECE as u64);
            self.push(&vec![0; usize::try_from(zeros).unwrap_or(PIECE)]).await?;
            left -= zeros;
        }
        self.pad(size).await
    }

    /// Says what is missing, if anything, and that this is all.
    async fn end(&mut self, now: Timestamp, prefix: &str) -> Result<(), Gone> {
        let left_out = std::mem::take(&mut self.left_out);
        if !left_out.is_empty() {
            let text: String = left_out.iter().map(|path| format!("{}\n", path.escape_debug())).collect();
            let entry = FileEntry {
                path: format!("{prefix}/{LEFT_OUT}"),
                kind: FileKind::File,
                size_bytes: text.len() as u64,
                mode: 0o644,
                modified_ns: now.as_millis().saturating_mul(1_000_000),
                hash: None,
            };
            self.head(prefix, &entry, false).await?;
            self.push(text.as_bytes()).await?;
            self.pad(entry.size_bytes).await?;
        }
        // Two empty records are the end.
        self.push(&[0; 2 * RECORD as usize]).await
    }

    /// Fills the last record of a file.
    async fn pad(&mut self, size: u64) -> Result<(), Gone> {
        let padding = usize::try_from((RECORD - size % RECORD) % RECORD).unwrap_or(0);
        self.push(&vec![0; padding]).await
    }

    async fn head(&mut self, prefix: &str, entry: &FileEntry, is_directory: bool) -> Result<(), Gone> {
        let relative = relative(prefix, &entry.path);
        let mut header = tar::Header::new_gnu();
        header.set_mode(entry.mode);
        header.set_mtime(u64::try_from(entry.modified_ns / 1_000_000_000).unwrap_or(0));
        header.set_size(if is_directory { 0 } else { entry.size_bytes });
        header.set_entry_type(if is_directory { tar::EntryType::Directory } else { tar::EntryType::Regular });
        let mut builder = tar::Builder::new(Vec::new());
        // Only the head, with what a long name needs before it; the content follows by itself.
        if builder.append_data(&mut header, relative, std::io::empty()).is_err() {
            return Ok(());
        }
        let head = std::mem::take(builder.get_mut());
        self.push(&head).await
    }

    async fn push(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        self.gzip.write_all(bytes).map_err(|_| Gone)?;
        if self.gzip.get_ref().len() < PIECE {
            return Ok(());
        }
        let piece = std::mem::take(self.gzip.get_mut());
        self.sender.send(Ok(Bytes::from(piece))).await.map_err(|_| Gone)
    }

    /// Breaks the answer off, so that nobody takes it for whole.
    async fn fail(&mut self, error: SessionError) -> Result<(), Gone> {
        let _ = self.sender.send(Err(error)).await;
        Err(Gone)
    }
}

/// A path as the archive has it.
fn relative<'a>(prefix: &str, path: &'a str) -> &'a str {
    path.strip_prefix(prefix).unwrap_or(path).trim_start_matches('/')
}

fn parent(path: &str) -> String {
    path.rsplit_once('/').map_or(String::new(), |(parent, _)| parent.to_owned())
}
