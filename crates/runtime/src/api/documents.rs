//! Documents in another format.

use async_trait::async_trait;
use warren_domain::{SessionId, Version};

use super::{FileContent, SessionError};

/// Converting documents. Never makes a session's sandbox: each conversion has one of its own.
#[async_trait]
pub trait Documents: Send + Sync {
    /// A document of a session as PDF.
    async fn document_convert(
        &self,
        session: SessionId,
        document: DocumentAt,
    ) -> Result<Converted, SessionError>;
}

/// Which document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentAt {
    /// Its path, as for reading.
    pub path: String,
    /// The version to read it from; as it is now if absent.
    pub version: Option<Version>,
}

/// A document that was converted.
#[derive(Debug)]
pub struct Converted {
    /// The PDF. Its `hash` names what it was made of, and what made it.
    pub content: FileContent,
    /// What made it, as `LibreOffice 7.4.7.2`.
    pub by: String,
}
