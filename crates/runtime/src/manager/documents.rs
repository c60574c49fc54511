//! Documents of sessions, converted.

use std::{io::Write as _, time::UNIX_EPOCH};

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _, stream::BoxStream};
use tokio_util::io::ReaderStream;
use warren_domain::{BlobHash, ErrorCode, SessionId};

use super::{SessionManager, files::blocking};
use crate::{
    api::{
        Converted, DocumentAt, Documents, FileContent, FileEntry, FileKind, FilePart, Files as _, Pieces,
        SessionError, VersionFiles as _,
    },
    documents::{Document, Kind, MAX_INPUT, Pdf},
    places::Places,
};

/// How much of a document is looked at to see what it is.
const FIRST: usize = 16;
/// The bytes that are read from a PDF at a time.
const CHUNK: usize = 64 * 1024;

type Content = BoxStream<'static, Result<Bytes, SessionError>>;

#[async_trait]
impl Documents for SessionManager {
    async fn document_convert(
        &self,
        session: SessionId,
        DocumentAt { path, version }: DocumentAt,
    ) -> Result<Converted, SessionError> {
        let kind = Kind::of(&path)?;
        let converter = &self.shared.converter;
        let record = self.record(session).await?;
        let content = match version {
            None => self.file_read(session, &path, FilePart::default()).await?.bytes,
            Some(version) => in_pieces(self.version_file(session, version, &path, None).await?.pieces),
        };
        // Before the document is read: without LibreOffice it is not needed.
        converter.office()?;
        let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
        let cache = Places::of(&self.shared.options.directory, session, record.workspace_id).converted;
        let document = self.take(name, kind, content, cache).await?;
        let pdf = converter.convert(document).await?;
        answer(&path, pdf).await
    }
}

impl SessionManager {
    /// Takes a copy of a document: what is converted is what was hashed, whatever a sandbox writes meanwhile.
    async fn take(
        &self,
        name: String,
        kind: Kind,
        mut content: Content,
        cache: std::path::PathBuf,
    ) -> Result<Document, SessionError> {
        let unkept = |error| SessionError::internal("copy the document", error);
        let mut copy = self.shared.converter.new_document().map_err(unkept)?;
        let (mut hasher, mut first, mut n_bytes) = (blake3::Hasher::new(), Vec::new(), 0);
        while let Some(piece) = content.try_next().await? {
            n_bytes += piece.len() as u64;
            if n_bytes > MAX_INPUT {
                return Err(SessionError::Invalid {
                    code: ErrorCode::TooLarge,
                    message: format!("`{}` is larger than {} MiB", name.escape_debug(), MAX_INPUT >> 20),
                    hint: Some("download it, and open it on your own machine".to_owned()),
                });
            }
            hasher.update(&piece);
            first.extend(piece.iter().take(FIRST - first.len()));
            let written = blocking(move || copy.write_all(&piece).map(|()| copy)).await?;
            copy = written.map_err(unkept)?;
        }
        Ok(Document { name, kind, content: copy, hash: hasher.finalize(), first, cache })
    }
}

fn in_pieces(pieces: Box<dyn Pieces>) -> Content {
    let next = |mut pieces: Box<dyn Pieces>| async move {
        Ok::<_, SessionError>(pieces.next().await?.map(|piece| (piece, pieces)))
    };
    futures::stream::try_unfold(pieces, next).boxed()
}

async fn answer(path: &str, Pdf { file, key, by }: Pdf) -> Result<Converted, SessionError> {
    let broken = |error| SessionError::internal("read the PDF", error);
    let file = tokio::fs::File::from_std(file);
    let metadata = file.metadata().await.map_err(broken)?;
    let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let entry = FileEntry {
        path: format!("{stem}.pdf"),
        kind: FileKind::File,
        size_bytes: metadata.len(),
        mode: 0o644,
        modified_ns: modified.and_then(|time| i64::try_from(time.as_nanos()).ok()).unwrap_or_default(),
        hash: Some(BlobHash(key.as_str().to_owned())),
    };
    let bytes = ReaderStream::with_capacity(file, CHUNK).map_err(broken).boxed();
    Ok(Converted { content: FileContent { entry, bytes }, by })
}
