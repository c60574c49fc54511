//! What projects know.

use async_trait::async_trait;
use futures::TryStreamExt as _;
use warren_domain::ErrorCode;

use super::SessionManager;
use crate::{
    api::{FileEntry, Knowledge, KnowledgeList, NewFile, NewFiles, ProjectPlace, SessionError},
    knowledge::{Incoming, KnowledgeDirectory, KnowledgePath, Staged, failed},
};

/// The most files that come at once.
const MAX_FILES: usize = 200;

#[async_trait]
impl Knowledge for SessionManager {
    async fn knowledge_list(&self, of: &ProjectPlace) -> Result<KnowledgeList, SessionError> {
        let (directory, max_bytes) = self.knowledge_directory(of)?;
        let shelf = blocking(move || directory.list()).await?;
        let shelf = shelf.map_err(|error| failed("look at the files", error))?;
        let size_bytes = shelf.size_bytes();
        Ok(KnowledgeList { files: shelf.files, size_bytes, max_bytes, is_truncated: shelf.is_truncated })
    }

    async fn knowledge_add(
        &self,
        of: &ProjectPlace,
        directory: &str,
        mut files: NewFiles,
    ) -> Result<Vec<FileEntry>, SessionError> {
        // Refused before anything is read of what comes.
        KnowledgePath::within(directory, "x")?;
        let (shelf, max_bytes) = self.knowledge_directory(of)?;
        let (own, now) = (shelf.clone(), self.shared.parts.env.now());
        let incoming = blocking(move || own.incoming(now)).await?;
        let incoming = incoming.map_err(|error| failed("make a place for files that come", error))?;
        let mut staged: Vec<Staged> = Vec::new();
        while let Some(file) = files.try_next().await? {
            let path = self.place_of(directory, &file, &staged)?;
            let room = max_bytes.saturating_sub(staged.iter().map(|file| file.size_bytes).sum());
            staged.push(self.stage(&incoming, path, file, room).await?);
        }
        if staged.is_empty() {
            return Err(refused("the request contains no file".to_owned()));
        }
        blocking(move || shelf.put(&staged, max_bytes)).await?
    }

    async fn knowledge_remove(&self, of: &ProjectPlace, path: &str) -> Result<(), SessionError> {
        let path = KnowledgePath::parse(path)?;
        let (directory, _) = self.knowledge_directory(of)?;
        let aside = self.shared.parts.env.uuid().simple().to_string();
        blocking(move || directory.remove(&path, &aside)).await?
    }
}

impl SessionManager {
    fn knowledge_directory(&self, of: &ProjectPlace) -> Result<(KnowledgeDirectory, u64), SessionError> {
        let options = &self.shared.options;
        let found = options.knowledge_of(&of.partition, of.project).zip(options.knowledge.as_ref());
        let (directory, options) =
            found.ok_or_else(|| SessionError::not_found("knowledge of", of.project))?;
        Ok((directory, options.max_bytes))
    }

    fn place_of(
        &self,
        directory: &str,
        file: &NewFile,
        staged: &[Staged],
    ) -> Result<KnowledgePath, SessionError> {
        let path = KnowledgePath::within(directory, &file.name)?;
        if staged.iter().any(|earlier| earlier.path == path) {
            return Err(refused(format!("the request contains `{path}` twice")));
        }
        if staged.len() == MAX_FILES {
            return Err(SessionError::Invalid {
                code: ErrorCode::TooLarge,
                message: format!("at most {MAX_FILES} files can be uploaded at once"),
                hint: Some("send them in several requests".to_owned()),
            });
        }
        Ok(path)
    }

    async fn stage(
        &self,
        incoming: &Incoming,
        path: KnowledgePath,
        file: NewFile,
        room: u64,
    ) -> Result<Staged, SessionError> {
        let name = self.shared.parts.env.uuid().simple().to_string();
        incoming.take(path, name, file.content, room).await
    }
}

fn refused(message: String) -> SessionError {
    SessionError::Invalid { code: ErrorCode::BadRequest, message, hint: None }
}

/// Carries out file calls away from the tasks that must not wait.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, SessionError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| SessionError::internal("look at the files", error))
}
