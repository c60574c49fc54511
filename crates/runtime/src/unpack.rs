//! Unpacks an archive from a stranger into a new, empty directory of ours.
//!
//! Everything is bounded before it is believed: entries, bytes, and bytes for each byte of the archive. Every path is resolved
//! by the kernel beneath the directory, through no link; links are made last of all. Nothing of the archive becomes a device,
//! a setuid file or a link that leads out.

mod meter;
mod place;
mod tar;
mod zip;

use std::{
    fs::File,
    io::{self, Read as _, Seek as _},
    path::Path,
};

use flate2::read::MultiGzDecoder;

use self::{
    meter::{Meter, Metered},
    place::Place,
};

/// Largest expansion of an archive: bytes unpacked for each byte of it, once there are more than [`MAX_FREE_BYTES`].
const MAX_RATIO: u64 = 100;
const MAX_FREE_BYTES: u64 = 256 << 20;

/// Where a tar header has its magic.
const TAR_MAGIC: std::ops::Range<usize> = 257..262;

/// How much an archive may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Files, directories and links.
    pub(crate) entries: u64,
    /// Bytes of all files together.
    pub(crate) bytes: u64,
    /// Bytes of one file.
    pub(crate) file_bytes: u64,
}

/// What an archive held.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Unpacked {
    /// What was left out, by its path as people write it, and why: `special` or `link_out`.
    pub(crate) skipped: Vec<(String, &'static str)>,
}

/// Why an archive was not unpacked. What was written until then is to be thrown away.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UnpackError {
    /// It is no archive, or has something in it that must not be.
    #[error("{message}")]
    Archive { message: String, hint: Option<&'static str> },
    /// It holds too much.
    #[error("{0}")]
    TooLarge(String),
    /// The disk does not take it.
    #[error("failed to write the files of the archive")]
    Disk(#[source] io::Error),
}

impl UnpackError {
    fn archive(message: impl Into<String>) -> Self {
        Self::Archive { message: message.into(), hint: None }
    }

    /// The archive's own bytes could not be read: they are damaged, or too many.
    fn broken(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::FileTooLarge {
            return Self::TooLarge(error.to_string());
        }
        let hint = "send a complete tar, tar.gz or zip";
        Self::Archive { message: format!("the archive is damaged: {error}"), hint: Some(hint) }
    }
}

/// Writes the files of `archive` below `root`, which is empty.
pub(crate) fn unpack(mut archive: File, root: &Path, limits: Limits) -> Result<Unpacked, UnpackError> {
    let archive_bytes = archive.metadata().map_err(UnpackError::Disk)?.len();
    let mut head = Vec::new();
    (&archive).take(512).read_to_end(&mut head).map_err(UnpackError::Disk)?;
    archive.rewind().map_err(UnpackError::Disk)?;
    let meter = Meter::new(limits, archive_bytes);
    let mut place = Place::open(root, limits).map_err(UnpackError::Disk)?;
    match format(&head)? {
        Format::Tar => tar::unpack(Metered::new(io::BufReader::new(archive), &meter), &mut place)?,
        Format::TarGz => tar::unpack(Metered::new(MultiGzDecoder::new(archive), &meter), &mut place)?,
        Format::Zip => zip::unpack(&archive, &meter, &mut place)?,
    }
    place.finish()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Tar,
    TarGz,
    Zip,
}

/// What an archive is, by its first bytes: names and media types lie.
fn format(head: &[u8]) -> Result<Format, UnpackError> {
    if head.starts_with(&[0x1f, 0x8b]) {
        return Ok(Format::TarGz);
    }
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return Ok(Format::Zip);
    }
    // One without entries is nothing but zeros.
    let is_empty_tar = head.len() == 512 && head.iter().all(|byte| *byte == 0);
    if head.get(TAR_MAGIC) == Some(b"ustar") || is_empty_tar {
        return Ok(Format::Tar);
    }
    Err(UnpackError::Archive {
        message: "the body is not a tar, tar.gz or zip".to_owned(),
        hint: Some("send the output of `tar -cz -C DIRECTORY .` or `zip -r`"),
    })
}

#[cfg(test)]
mod tests;
