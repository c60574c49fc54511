//! Moving files.

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, split};
use warren_guest_api::{
    DirEntry, FileLook, FilePath, FileStat, Frame, FrameError, FrameReader, ListEnd, ListRequest,
    MoveRequest, ReadRequest, Request, WriteRequest,
};
use warren_link::Stream;

use super::{
    CallError, Guest,
    call::{refusal, reply, send, step},
};

/// The bytes of one `Data` frame.
const CHUNK: usize = 64 * 1024;

/// The most that the names of one listing may take.
const MAX_LISTING_BYTES: usize = 32 * 1024 * 1024;

/// A file as it comes.
#[derive(Debug)]
pub struct FileReader {
    stat: FileStat,
    frames: FrameReader<Stream>,
    done: bool,
    /// How many bytes may still come: no more than were asked for.
    left: u64,
}

/// What is in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Sorted by path, directories before what is in them.
    pub entries: Vec<DirEntry>,
    /// What is missing.
    pub end: ListEnd,
}

impl Guest {
    /// Reads a file, or a part of it, piece by piece.
    pub async fn read(&self, request: ReadRequest) -> Result<FileReader, CallError> {
        let left = request.len.unwrap_or(u64::MAX);
        let mut frames = FrameReader::new(self.open(&Request::Read(request)).await?);
        let stat = reply(&mut frames).await?;
        Ok(FileReader { stat, frames, done: false, left })
    }

    /// Reads a whole file of at most `max` bytes.
    pub async fn read_all(&self, path: FilePath, max: usize) -> Result<Vec<u8>, CallError> {
        let mut reader = self.read(ReadRequest { path, offset: 0, len: None }).await?;
        let mut content = Vec::new();
        while let Some(data) = reader.next().await? {
            if content.len() + data.len() > max {
                return Err(CallError::TooLong { max });
            }
            content.extend_from_slice(&data);
        }
        Ok(content)
    }

    /// Writes a file from `source`, piece by piece. See [`warren_guest_api::WriteHow`] for what a failure leaves.
    pub async fn write(
        &self,
        request: WriteRequest,
        mut source: impl AsyncRead + Unpin,
    ) -> Result<FileStat, CallError> {
        let (reader, mut writer) = split(self.open(&Request::Write(request)).await?);
        let mut frames = FrameReader::new(reader);
        let sent = tokio::select! {
            // A guest that has nothing against it says nothing before the end.
            early = frames.expect() => return Err(refusal(early.map_err(CallError::Protocol)?)),
            sent = send_all(&mut writer, &mut source) => sent,
        };
        match (sent, reply::<FileStat, _>(&mut frames)) {
            (Ok(()), reply) => reply.await,
            (Err(CallError::Source(error)), _) => Err(CallError::Source(error)),
            // A guest that refuses stops reading, and we may notice that first. Its reason is the better error.
            (Err(error), reply) => Err(match reply.await {
                Err(reason @ CallError::Refused(_)) => reason,
                Ok(_) | Err(_) => error,
            }),
        }
    }

    /// Lists a directory.
    pub async fn list(&self, request: ListRequest) -> Result<Listing, CallError> {
        let limit = request.limit as usize;
        let mut frames = FrameReader::new(self.open(&Request::List(request)).await?);
        let mut entries: Vec<DirEntry> = Vec::new();
        let mut n_bytes = 0;
        loop {
            match step(frames.expect()).await? {
                Frame::Reply(json) => {
                    n_bytes += json.len();
                    let more: Vec<DirEntry> = Frame::parse(&json).map_err(CallError::Protocol)?;
                    let legal = more.iter().all(|entry| is_plain(&entry.path));
                    if !legal || entries.len() + more.len() > limit || n_bytes > MAX_LISTING_BYTES {
                        return Err(CallError::Protocol(FrameError::Unexpected));
                    }
                    entries.extend(more);
                }
                Frame::End(json) => {
                    entries.sort_by(|a, b| a.path.cmp(&b.path));
                    return Ok(Listing { entries, end: Frame::parse(&json).map_err(CallError::Protocol)? });
                }
                frame => return Err(refusal(frame)),
            }
        }
    }

    /// Says what is at a path.
    pub async fn stat(&self, path: FilePath) -> Result<FileStat, CallError> {
        self.ask(&Request::Stat { path }).await
    }

    /// Removes a file, a symbolic link or an empty directory.
    pub async fn remove(&self, path: FilePath) -> Result<(), CallError> {
        self.ask(&Request::Remove { path, recursive: false, expected: None }).await
    }

    /// Removes whatever is at a path, with all that is in it; only if it looks as `expected`, where that is given.
    pub async fn remove_all(&self, path: FilePath, expected: Option<FileLook>) -> Result<(), CallError> {
        self.ask(&Request::Remove { path, recursive: true, expected }).await
    }

    /// Moves whatever is at a path, with all that is in it. Nothing is replaced.
    pub async fn relocate(&self, request: MoveRequest) -> Result<FileStat, CallError> {
        self.ask(&Request::Move(request)).await
    }

    /// Makes a directory and those above it.
    pub async fn mkdir(&self, path: FilePath) -> Result<(), CallError> {
        self.ask(&Request::Mkdir { path }).await
    }
}

impl FileReader {
    /// What the file was when it was opened.
    pub fn stat(&self) -> FileStat {
        self.stat
    }

    /// The next piece, or `None` when all that was asked for has come. A file that is cut short is an error.
    pub async fn next(&mut self) -> Result<Option<Bytes>, CallError> {
        if self.done {
            return Ok(None);
        }
        match step(self.frames.expect()).await? {
            Frame::Data(data) => {
                let left = self.left.checked_sub(data.len() as u64);
                self.left = left.ok_or(CallError::Protocol(FrameError::Unexpected))?;
                Ok(Some(data))
            }
            Frame::End(_) => {
                self.done = true;
                Ok(None)
            }
            frame => Err(refusal(frame)),
        }
    }
}

async fn send_all(
    stream: &mut (impl AsyncWrite + Unpin),
    source: &mut (impl AsyncRead + Unpin),
) -> Result<(), CallError> {
    let mut buffer = vec![0; CHUNK];
    loop {
        let n = source.read(&mut buffer).await.map_err(CallError::Source)?;
        if n == 0 {
            return send(stream, &Frame::End(Bytes::new())).await;
        }
        send(stream, &Frame::Data(Bytes::copy_from_slice(&buffer[..n]))).await?;
    }
}

/// Whether a path from a guest is what it should be: relative, of plain names only.
pub(super) fn is_plain(path: &str) -> bool {
    path.len() <= 4096 && path.split('/').all(|name| !matches!(name, "" | "." | "..")) && !path.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn only_relative_paths_of_plain_names_are_believed() {
        for path in ["a", "a/b.txt", "...", "a/..b", "ü/ /x"] {
            assert!(is_plain(path), "{path}");
        }
        for path in ["", "/", "/etc/passwd", "..", "a/../b", "./a", "a//b", "a/", "a\0b"] {
            assert!(!is_plain(path), "{path}");
        }
    }
}
