//! What projects know.

use std::fmt;

use async_trait::async_trait;
use futures::stream::BoxStream;
use warren_domain::{Partition, ProjectId};

use super::{FileEntry, FileSource, SessionError};

/// Files that every session of a project can read as `/knowledge`, and none can change.
#[async_trait]
pub trait Knowledge: Send + Sync {
    /// All files of a project, by path. The index that is made from them is not among them.
    async fn knowledge_list(&self, of: &ProjectPlace) -> Result<KnowledgeList, SessionError>;
    /// Puts files into a directory: all of them or none. One that is there already is replaced at once.
    async fn knowledge_add(
        &self,
        of: &ProjectPlace,
        directory: &str,
        files: NewFiles,
    ) -> Result<Vec<FileEntry>, SessionError>;
    /// Removes a file, or a directory with all in it.
    async fn knowledge_remove(&self, of: &ProjectPlace, path: &str) -> Result<(), SessionError>;
}

/// Whose knowledge it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectPlace {
    /// Keeps it apart from others.
    pub partition: Partition,
    /// The project.
    pub project: ProjectId,
}

/// What a project knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnowledgeList {
    /// By path, relative to `/knowledge`.
    pub files: Vec<FileEntry>,
    /// Their length together.
    pub size_bytes: u64,
    /// How much it may be.
    pub max_bytes: u64,
    /// There is more than is told.
    pub is_truncated: bool,
}

/// Files as they come. Each is read to its end before the next is asked for.
pub type NewFiles = BoxStream<'static, Result<NewFile, SessionError>>;

/// A file that comes.
pub struct NewFile {
    /// A name, and no path.
    pub name: String,
    /// Its bytes.
    pub content: FileSource,
}

impl fmt::Debug for NewFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewFile").field("name", &self.name).finish_non_exhaustive()
    }
}
