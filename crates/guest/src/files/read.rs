//! Reading a file.

use bytes::Bytes;
use rustix::{
    fs::{OFlags, fstat},
    io::{Errno, pread},
};
use tokio::task::yield_now;
use warren_guest_api::{ErrorCode, FileKind, FilePath, Frame, GuestError, ReadRequest, write_frame};
use warren_link::Stream;

use super::{Roots, file_stat};
use crate::{
    failure::{Failure, file_error},
    serve::reply,
};

/// The most of a file in one frame.
pub(super) const CHUNK: usize = 64 * 1024;

/// How a file is opened whose kind is not known yet: a pipe must not make us wait, a terminal not become ours.
pub(super) const CAREFULLY: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::NOFOLLOW);

/// Sends a file or a part of it.
pub(crate) async fn read(roots: &Roots, request: &ReadRequest, stream: &mut Stream) -> Result<(), Failure> {
    let file = roots.open(&request.path, OFlags::RDONLY | CAREFULLY)?;
    let failed = |errno| file_error(&format!("read `{}`", request.path.path), errno);
    let stat = file_stat(&fstat(&file).map_err(failed)?);
    if stat.kind != FileKind::File {
        return Err(not_a_file(&request.path.path).into());
    }
    reply(stream, &stat).await?;

    let mut offset = request.offset;
    let mut left = request.len.unwrap_or(u64::MAX);
    let mut buffer = vec![0; CHUNK];
    while left > 0 {
        let want = usize::try_from(left).map_or(CHUNK, |left| left.min(CHUNK));
        let n = match pread(&file, &mut buffer[..want], offset) {
            Ok(0) => break,
            // An offset no file can have is past every end.
            Err(Errno::INVAL) => break,
            Ok(n) => n,
            Err(errno) => return Err(failed(errno).into()),
        };
        write_frame(stream, &Frame::Data(Bytes::copy_from_slice(&buffer[..n]))).await?;
        offset = offset.saturating_add(n as u64);
        left -= n as u64;
        yield_now().await;
    }
    Ok(write_frame(stream, &Frame::End(Bytes::new())).await?)
}

/// The hash of a file's content, in hexadecimal. For small files: nobody gets a turn meanwhile.
pub(crate) fn hash(roots: &Roots, path: &FilePath) -> Result<String, GuestError> {
    let file = roots.open(path, OFlags::RDONLY | CAREFULLY)?;
    let failed = |errno| file_error(&format!("read `{}`", path.path), errno);
    if file_stat(&fstat(&file).map_err(failed)?).kind != FileKind::File {
        return Err(not_a_file(&path.path));
    }
    let (mut hasher, mut offset, mut buffer) = (blake3::Hasher::new(), 0, vec![0; CHUNK]);
    loop {
        match pread(&file, &mut buffer, offset).map_err(failed)? {
            0 => return Ok(hasher.finalize().to_hex().to_string()),
            n => {
                hasher.update(&buffer[..n]);
                offset += n as u64;
            }
        }
    }
}

pub(super) fn not_a_file(path: &str) -> GuestError {
    GuestError::new(ErrorCode::WrongKind, format!("`{path}` is not a regular file"))
}
