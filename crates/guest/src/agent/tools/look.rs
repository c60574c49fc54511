//! Pictures and documents, as the model sees them.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::Path,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::json;

use super::{Output, files};

/// What providers take of one picture, once it is in Base64.
const MAX_PICTURE: u64 = 3_750_000;

/// A document goes out with every request that follows.
const MAX_DOCUMENT: u64 = 8_000_000;

/// What a file is that is no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Picture(&'static str),
    Pdf,
}

/// Shows a file to the model. `None`: it is neither a picture nor a document.
pub(super) fn look_at(path: &Path) -> Result<Option<Output>, String> {
    let failed = |error| files::failed("read", path, &error);
    let mut file = files::open(path)?;
    let Some(kind) = kind_of(&mut file).map_err(failed)? else { return Ok(None) };
    let length = file.metadata().map_err(failed)?.len();
    if length > kind.max() {
        return Err(kind.too_long(path, length));
    }
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(kind.max()).read_to_end(&mut bytes).map_err(failed)?;
    let (block, name, media_type) = match kind {
        Kind::Picture(media_type) => ("image", "picture", media_type),
        Kind::Pdf => ("document", "document", "application/pdf"),
    };
    let source = json!({"type": "base64", "media_type": media_type, "data": STANDARD.encode(&bytes)});
    let text = format!("[{name} {}: {media_type}, {} bytes]", path.display(), bytes.len());
    Ok(Some(Output { text, is_error: false, media: vec![json!({"type": block, "source": source})] }))
}

impl Kind {
    fn max(self) -> u64 {
        match self {
            Kind::Picture(_) => MAX_PICTURE,
            Kind::Pdf => MAX_DOCUMENT,
        }
    }

    /// What is wrong, and what to do about it.
    fn too_long(self, path: &Path, length: u64) -> String {
        let (path, max) = (path.display(), self.max());
        match self {
            Kind::Picture(_) => format!(
                "`{path}` has {length} bytes, and a picture may have {max}: make a smaller copy and read that, for \
                 instance with `convert '{path}' -resize 1600x1600 /tmp/small.jpg` or Python's Pillow"
            ),
            Kind::Pdf => format!(
                "`{path}` has {length} bytes, and a PDF may have {max}: take its text with `pdftotext '{path}' -`, or \
                 read a part of its pages, for instance with `qpdf --pages '{path}' 1-10 -- '{path}' /tmp/part.pdf`"
            ),
        }
    }
}

/// Names may lie: the first bytes tell.
fn kind_of(file: &mut File) -> std::io::Result<Option<Kind>> {
    let mut head = Vec::new();
    file.take(12).read_to_end(&mut head)?;
    Ok(match head.as_slice() {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', ..] => Some(Kind::Picture("image/png")),
        [0xff, 0xd8, 0xff, ..] => Some(Kind::Picture("image/jpeg")),
        [b'G', b'I', b'F', b'8', ..] => Some(Kind::Picture("image/gif")),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P'] => Some(Kind::Picture("image/webp")),
        [b'%', b'P', b'D', b'F', b'-', ..] => Some(Kind::Pdf),
        _ => None,
    })
}
