//! Files in memory, one artifact of each kind that matters, and apps that are functions.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use warren_domain::{Artifact, ArtifactId, ArtifactKind, ErrorCode, SessionId};
use warren_runtime::api::{
    ArtifactMoment, ArtifactRecords, Converted, Dialled, DocumentAt, Documents, Expected, FileContent,
    FileEntry, FileKind, FileListing, FileMove, FilePart, FileSource, FileWrite, Files, FilesFrom, Knowledge,
    KnowledgeList, NewFiles, PreviewTarget, Previews, ProjectPlace, SessionError, VersionRecord, Wake,
};

#[derive(Default)]
pub(crate) struct FakeFiles {
    pub(crate) content: Mutex<BTreeMap<String, Vec<u8>>>,
    /// What takes a file's place just before it is read, one after the other.
    pub(crate) swaps: Mutex<Vec<Vec<u8>>>,
    /// What not even its own user may read.
    pub(crate) forbidden: Mutex<Vec<String>>,
    /// How often something was woken.
    pub(crate) n_woken: AtomicUsize,
    /// What requests an app got, as text.
    pub(crate) heard: std::sync::Arc<Mutex<Vec<String>>>,
}

fn missing(path: &str) -> SessionError {
    SessionError::NotFound { kind: "file", id: path.to_owned() }
}

impl FakeFiles {
    pub(crate) fn put(&self, path: &str, content: &[u8]) {
        self.content.lock().expect("a lock").insert(path.to_owned(), content.to_vec());
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.content.lock().expect("a lock").keys().cloned().collect()
    }

    fn entry(&self, path: &str) -> Result<(FileEntry, Vec<u8>), SessionError> {
        let path = path.strip_prefix("/workspace/").unwrap_or(path);
        let path = if path.starts_with("/outputs/") { &path[1..] } else { path };
        let content = self.content.lock().expect("a lock").get(path).cloned().ok_or_else(|| missing(path))?;
        let entry = FileEntry {
            path: path.to_owned(),
            kind: FileKind::File,
            size_bytes: content.len() as u64,
            mode: 0o644,
            modified_ns: 7,
            hash: None,
        };
        Ok((entry, content))
    }
}

/// A converter that only puts a beginning before a document.
#[async_trait]
impl Documents for FakeFiles {
    async fn document_convert(&self, _: SessionId, document: DocumentAt) -> Result<Converted, SessionError> {
        let (entry, content) = self.entry(&document.path)?;
        let bytes = Bytes::from([b"%PDF-".as_slice(), &content].concat());
        let entry =
            FileEntry { path: format!("{}.pdf", entry.path), size_bytes: bytes.len() as u64, ..entry };
        let content = FileContent { entry, bytes: futures::stream::iter([Ok(bytes)]).boxed() };
        Ok(Converted { content, by: "a test".to_owned() })
    }
}

#[async_trait]
impl Files for FakeFiles {
    async fn file_list(&self, session: SessionId, path: &str) -> Result<FileListing, SessionError> {
        self.file_walk(session, path).await
    }

    async fn file_walk(&self, _: SessionId, path: &str) -> Result<FileListing, SessionError> {
        // As sessions have it: `/outputs` is a directory of the workspace.
        let path = if path.starts_with("/outputs") { &path[1..] } else { path };
        let paths = self.paths().into_iter().filter(|found| found.starts_with(path));
        let mut paths = paths.peekable();
        if paths.peek().is_none() && path == "outputs" {
            return Err(missing(path));
        }
        let entries = paths.map(|path| Ok(self.entry(&path)?.0)).collect::<Result<_, SessionError>>()?;
        Ok(FileListing { path: path.to_owned(), from: FilesFrom::Live, entries, is_truncated: false })
    }

    async fn file_stat(&self, _: SessionId, path: &str) -> Result<FileEntry, SessionError> {
        let beneath = format!("{}/", path.trim_start_matches('/'));
        match self.paths().into_iter().find(|found| found.starts_with(&beneath)) {
            Some(found) => Ok(FileEntry { kind: FileKind::Directory, ..self.entry(&found)?.0 }),
            None => Ok(self.entry(path)?.0),
        }
    }

    async fn file_read(&self, _: SessionId, path: &str, part: FilePart) -> Result<FileContent, SessionError> {
        if let Some(other) = self.swaps.lock().expect("a lock").pop() {
            self.put(path, &other);
        }
        let (entry, content) = self.entry(path)?;
        if self.forbidden.lock().expect("a lock").contains(&entry.path) {
            let (code, message) = (ErrorCode::Forbidden, "it may not be read".to_owned());
            return Err(SessionError::Invalid { code, message, hint: None });
        }
        let from = usize::try_from(part.offset).expect("short").min(content.len());
        let to = part
            .len
            .map_or(content.len(), |len| content.len().min(from + usize::try_from(len).expect("short")));
        let bytes = Bytes::copy_from_slice(&content[from..to]);
        Ok(FileContent { entry, bytes: futures::stream::iter([Ok(bytes)]).boxed() })
    }

    async fn file_write(
        &self,
        _: SessionId,
        path: &str,
        how: FileWrite,
        mut source: FileSource,
    ) -> Result<FileEntry, SessionError> {
        let invalid = |code, message: String| SessionError::Invalid { code, message, hint: None };
        let mut content = Vec::new();
        source.read_to_end(&mut content).await.map_err(|error| match error.kind() {
            std::io::ErrorKind::FileTooLarge => invalid(ErrorCode::TooLarge, error.to_string()),
            _ => invalid(ErrorCode::BadRequest, error.to_string()),
        })?;
        match (how, self.entry(path)) {
            (FileWrite::New, Ok(_)) => return Err(invalid(ErrorCode::Conflict, "it is there".to_owned())),
            (FileWrite::If(tags), found)
                if found.as_ref().ok().is_none_or(|(entry, _)| !tags.contains(&entry.tag())) =>
            {
                return Err(invalid(ErrorCode::PreconditionFailed, "it is another".to_owned()));
            }
            _ => {}
        }
        self.put(path, &content);
        Ok(self.entry(path)?.0)
    }

    async fn workspace_import(&self, _: SessionId, _: FileSource) -> Result<VersionRecord, SessionError> {
        let message = "this is no archive".to_owned();
        Err(SessionError::Invalid { code: ErrorCode::BadRequest, message, hint: None })
    }

    async fn file_remove(&self, _: SessionId, path: &str, _: Expected) -> Result<(), SessionError> {
        let path = path.strip_prefix("/workspace/").unwrap_or(path);
        self.content.lock().expect("a lock").remove(path).map(|_| ()).ok_or_else(|| missing(path))
    }

    async fn file_move(&self, _: SessionId, moved: FileMove) -> Result<FileEntry, SessionError> {
        let content = self.content.lock().expect("a lock").remove(&moved.from);
        self.put(&moved.to, &content.ok_or_else(|| missing(&moved.from))?);
        Ok(self.entry(&moved.to)?.0)
    }

    async fn directory_make(&self, _: SessionId, path: &str) -> Result<FileEntry, SessionError> {
        Ok(FileEntry { kind: FileKind::Directory, ..self.entry(path)?.0 })
    }
}

/// A page, and an app on port 3000.
pub(crate) fn artifact(session: SessionId, path: &str, kind: ArtifactKind) -> Artifact {
    Artifact {
        id: ArtifactId::of(session, path),
        kind,
        name: path.to_owned(),
        path: path.to_owned(),
        size_bytes: 1,
        hash: None,
        port: (kind == ArtifactKind::WebApp).then_some(3000),
        command: None,
        preview_url: None,
        created_seq: None,
        updated_seq: None,
        created_version: None,
        updated_version: None,
    }
}

#[async_trait]
impl ArtifactRecords for FakeFiles {
    async fn artifact_list(&self, session: SessionId) -> Result<Vec<Artifact>, SessionError> {
        Ok(vec![
            artifact(session, "outputs/page.html", ArtifactKind::Html),
            artifact(session, "outputs/web", ArtifactKind::WebApp),
        ])
    }

    async fn artifact_history(
        &self,
        _: SessionId,
        id: ArtifactId,
    ) -> Result<Vec<ArtifactMoment>, SessionError> {
        Err(SessionError::NotFound { kind: "artifact", id: id.to_string() })
    }
}

#[async_trait]
impl Previews for FakeFiles {
    async fn preview_open(
        &self,
        session: SessionId,
        id: ArtifactId,
        wake: Wake,
    ) -> Result<PreviewTarget, SessionError> {
        self.n_woken.fetch_add(usize::from(wake == Wake::IfAsleep), Ordering::SeqCst);
        let all = self.artifact_list(session).await?;
        let found = all.into_iter().find(|artifact| artifact.id == id);
        match found.ok_or_else(|| SessionError::NotFound { kind: "artifact", id: id.to_string() })? {
            Artifact { kind: ArtifactKind::WebApp, .. } => {
                Ok(PreviewTarget::Port { port: 3000, is_ready: true })
            }
            Artifact { path, .. } => Ok(PreviewTarget::Files { path }),
        }
    }

    async fn preview_wake(&self, _: SessionId, port: u16) -> Result<(), SessionError> {
        self.n_woken.fetch_add(1, Ordering::SeqCst);
        Err(SessionError::NotFound { kind: "app on port", id: port.to_string() })
    }

    async fn preview_dial(&self, _: SessionId, port: u16) -> Result<Dialled, SessionError> {
        if port != 3000 {
            return Ok(Dialled::Asleep);
        }
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let heard = self.heard.clone();
        #[expect(clippy::disallowed_methods, reason = "an app of a test lives as long as its connection")]
        tokio::spawn(app(theirs, heard));
        Ok(Dialled::Connected(Box::new(ours)))
    }

    fn preview_pulse(&self) -> Duration {
        Duration::from_secs(1)
    }

    async fn preview_touch(&self, _: SessionId) {}
}

/// Answers every request with a cookie and its first line; greets over a socket, and echoes what comes.
async fn app(mut stream: DuplexStream, heard: std::sync::Arc<Mutex<Vec<String>>>) {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while !text.contains("\r\n\r\n") {
        let Ok(n @ 1..) = stream.read(&mut buffer).await else { return };
        text.push_str(&String::from_utf8_lossy(&buffer[..n]));
    }
    heard.lock().expect("a lock").push(text.clone());
    if text.to_lowercase().contains("upgrade: websocket") {
        let answer =
            "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\nhello";
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
        let (mut from, mut to) = tokio::io::split(stream);
        // The test ends it.
        let _ = tokio::io::copy(&mut from, &mut to).await;
        return;
    }
    let line = text.lines().next().unwrap_or_default();
    if line.contains("/endless") {
        let answer = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n";
        if stream.write_all(answer.as_bytes()).await.is_ok() {
            // Says no more, and waits until nobody listens.
            while let Ok(1..) = stream.read(&mut buffer).await {}
        }
        return;
    }
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nset-cookie: app=1; Domain=localhost\r\nset-cookie: warren_session=x\r\n\r\n{line}",
        line.len()
    );
    // Whoever asked may be gone.
    let _ = stream.write_all(answer.as_bytes()).await;
}

/// One project's, whoever asks: who may ask is decided before.
#[async_trait]
impl Knowledge for FakeFiles {
    async fn knowledge_list(&self, _: &ProjectPlace) -> Result<KnowledgeList, SessionError> {
        let paths = self.paths().into_iter().filter(|path| path.starts_with("/knowledge/"));
        let files: Vec<_> =
            paths.map(|path| Ok(self.entry(&path)?.0)).collect::<Result<_, SessionError>>()?;
        let size_bytes = files.iter().map(|file| file.size_bytes).sum();
        Ok(KnowledgeList { files, size_bytes, max_bytes: 1000, is_truncated: false })
    }

    async fn knowledge_add(
        &self,
        _: &ProjectPlace,
        directory: &str,
        mut files: NewFiles,
    ) -> Result<Vec<FileEntry>, SessionError> {
        let mut written = Vec::new();
        while let Some(mut file) = files.try_next().await? {
            let mut content = Vec::new();
            file.content.read_to_end(&mut content).await.map_err(|error| SessionError::Invalid {
                code: ErrorCode::BadRequest,
                message: error.to_string(),
                hint: None,
            })?;
            let path = format!("/knowledge/{directory}{}", file.name);
            self.put(&path, &content);
            written.push(self.entry(&path)?.0);
        }
        Ok(written)
    }

    async fn knowledge_remove(&self, _: &ProjectPlace, path: &str) -> Result<(), SessionError> {
        let path = format!("/knowledge/{path}");
        self.content.lock().expect("a lock").remove(&path).map(drop).ok_or_else(|| missing(&path))
    }
}
