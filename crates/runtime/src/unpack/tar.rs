//! Entries of a tar.
//!
//! They are read raw: long names and extended headers are read here, bounded, because whoever writes them chooses how long
//! they are.

use std::io::Read;

use tar::{Archive, Entry, EntryType, PaxExtensions};

use super::{
    UnpackError,
    place::{Look, Place},
};

/// A longer name, link or extended header is no honest one.
const MAX_EXTENSION: u64 = 64 * 1024;

/// What headers before an entry say of it.
#[derive(Default)]
struct Ahead {
    path: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
    size: Option<u64>,
    modified: Option<i64>,
}

pub(super) fn unpack(archive: impl Read, place: &mut Place) -> Result<(), UnpackError> {
    let mut archive = Archive::new(archive);
    let mut ahead = Ahead::default();
    for entry in archive.entries().map_err(UnpackError::broken)?.raw(true) {
        let mut entry = entry.map_err(UnpackError::broken)?;
        match entry.header().entry_type() {
            EntryType::GNULongName => ahead.path = Some(text(&mut entry)?),
            EntryType::GNULongLink => ahead.target = Some(text(&mut entry)?),
            EntryType::XHeader => ahead.read(&extension(&mut entry)?)?,
            // Of all entries together: comments, such as the commit that git made the archive of.
            EntryType::XGlobalHeader => drop(extension(&mut entry)?),
            kind => take(&mut entry, kind, std::mem::take(&mut ahead), place)?,
        }
    }
    Ok(())
}

fn take<R: Read>(
    entry: &mut Entry<'_, R>,
    kind: EntryType,
    ahead: Ahead,
    place: &mut Place,
) -> Result<(), UnpackError> {
    let header = entry.header();
    let path = ahead.path.unwrap_or_else(|| header.path_bytes().into_owned());
    let size = header.entry_size().map_err(UnpackError::broken)?;
    if ahead.size.is_some_and(|real| real != size) {
        let message = format!("`{}` is larger than 8 GiB", warren_snapshots::escape(&path));
        return Err(UnpackError::TooLarge(message));
    }
    let modified = ahead.modified.or_else(|| i64::try_from(header.mtime().ok()?).ok());
    let look = Look { mode: header.mode().unwrap_or(0o644), modified };
    let target = ahead.target.or_else(|| header.link_name_bytes().map(|name| name.into_owned()));
    match kind {
        // As tars were made before there was a kind for directories.
        EntryType::Regular if path.ends_with(b"/") => place.directory(&path, look),
        EntryType::Regular | EntryType::Continuous => place.file(&path, look, entry),
        EntryType::Directory => place.directory(&path, look),
        EntryType::Symlink => place.link(&path, &target.unwrap_or_default(), look),
        EntryType::Link => place.hard_link(&path, &target.unwrap_or_default(), look),
        EntryType::Char | EntryType::Block | EntryType::Fifo => place.special(&path),
        other => Err(UnpackError::Archive {
            message: format!("`{}` has an unknown type: {other:?}", warren_snapshots::escape(&path)),
            hint: Some("make the tar without `--sparse` and without multiple volumes"),
        }),
    }
}

impl Ahead {
    /// Reads an extended header.
    fn read(&mut self, bytes: &[u8]) -> Result<(), UnpackError> {
        for extension in PaxExtensions::new(bytes) {
            let extension = extension.map_err(UnpackError::broken)?;
            let value = extension.value_bytes();
            let number = || std::str::from_utf8(value).ok()?.split('.').next()?.parse::<i64>().ok();
            match extension.key_bytes() {
                b"path" => self.path = Some(value.to_vec()),
                b"linkpath" => self.target = Some(value.to_vec()),
                b"size" => self.size = number().and_then(|size| u64::try_from(size).ok()),
                b"mtime" => self.modified = number(),
                key if key.starts_with(b"GNU.sparse") => {
                    return Err(UnpackError::Archive {
                        message: "the archive has sparse files".to_owned(),
                        hint: Some("make the tar without `--sparse`"),
                    });
                }
                // Owners, access times, attributes: versions have none of them.
                _ => {}
            }
        }
        Ok(())
    }
}

fn extension<R: Read>(entry: &mut Entry<'_, R>) -> Result<Vec<u8>, UnpackError> {
    let mut bytes = Vec::new();
    entry.take(MAX_EXTENSION + 1).read_to_end(&mut bytes).map_err(UnpackError::broken)?;
    if bytes.len() as u64 > MAX_EXTENSION {
        return Err(UnpackError::archive("the archive has a header that is too long"));
    }
    Ok(bytes)
}

/// A name that ends with a zero.
fn text<R: Read>(entry: &mut Entry<'_, R>) -> Result<Vec<u8>, UnpackError> {
    let mut bytes = extension(entry)?;
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    bytes.truncate(end);
    Ok(bytes)
}
