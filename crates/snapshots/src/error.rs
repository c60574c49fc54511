//! What can go wrong, by what was being done.

use warren_tree::{Hash, Malformed, UnusableScan, scan::ScanError, write::WriteError};

use crate::TreeId;

/// Why the store of trees could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A directory could not be made.
    #[error("failed to create the directory `{path}`")]
    Directory {
        /// Which.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The object store could not be set up.
    #[error("failed to set up the object store")]
    Store(#[source] object_store::Error),
}

/// Why something of a tree could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadTreeError {
    /// Nothing is at this path.
    #[error("`{path}` does not exist")]
    NotFound {
        /// Where.
        path: String,
    },
    /// Something is there, but not what was asked for.
    #[error("`{path}` is not a {wanted}")]
    WrongKind {
        /// Where.
        path: String,
        /// What was wanted.
        wanted: &'static str,
    },
    /// An object that the tree needs is not kept, in this partition at least.
    #[error("object `{hash}` is missing")]
    Missing {
        /// Which.
        hash: Hash,
    },
    /// What is kept is not what was put there.
    #[error("object `{hash}` is damaged in pack `{pack}`")]
    Damaged {
        /// Which.
        hash: Hash,
        /// Where it is kept.
        pack: String,
    },
    /// A pack cannot be read at all.
    #[error("pack `{pack}` is damaged")]
    DamagedPack {
        /// Which.
        pack: String,
        /// What is wrong.
        #[source]
        source: Malformed,
    },
    /// The object store failed.
    #[error("failed to {doing}")]
    Store {
        /// What was tried.
        doing: &'static str,
        /// Why it failed.
        #[source]
        source: object_store::Error,
    },
}

impl ReadTreeError {
    /// Whether something is missing or damaged, so that reading it again would not help.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        match self {
            ReadTreeError::Missing { .. }
            | ReadTreeError::Damaged { .. }
            | ReadTreeError::DamagedPack { .. } => true,
            ReadTreeError::Store { source, .. } => matches!(source, object_store::Error::NotFound { .. }),
            ReadTreeError::NotFound { .. } | ReadTreeError::WrongKind { .. } => false,
        }
    }
}

/// Why no tree was taken. Nothing of it is kept in any place that a later take would believe.
#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    /// The files could not be scanned.
    #[error("failed to scan the files")]
    Scan(#[source] ScanError),
    /// The scan contradicts itself: a guest that was taken over, or a mistake.
    #[error("the scan is inconsistent")]
    Untrue(#[source] UnusableScan),
    /// The other end of the stream broke the protocol, or promised what it did not bring.
    #[error("the peer violated the protocol: {what}")]
    Protocol {
        /// What is wrong.
        what: String,
    },
    /// The other end said that it could not.
    #[error("the peer failed to scan: {message}")]
    Refused {
        /// Its words. From a sandbox, so they may say anything.
        message: String,
    },
    /// There is more than is allowed.
    #[error("the tree is larger than {max_bytes} bytes")]
    TooLarge {
        /// What is allowed.
        max_bytes: u64,
    },
    /// The stream broke.
    #[error("failed to communicate with the peer")]
    Stream(#[source] std::io::Error),
    /// The base could not be read.
    #[error("failed to read the base `{base}`")]
    Base {
        /// Which.
        base: TreeId,
        /// Why.
        #[source]
        source: ReadTreeError,
    },
    /// What is kept already could not be looked up.
    #[error("failed to look up stored objects")]
    Partition(#[source] ReadTreeError),
    /// It could not be kept.
    #[error("failed to store a pack")]
    Store(#[source] object_store::Error),
    /// It took so long that what it relies on may have been collected.
    #[error("the snapshot took longer than half of the grace period of garbage collection")]
    TooSlow,
    /// The thread that did it is gone.
    #[error("the scan was interrupted")]
    Cut,
}

/// Why a tree was not restored. What was written so far is to be thrown away.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The tree could not be read.
    #[error("failed to read tree `{tree}`")]
    Read {
        /// Which.
        tree: TreeId,
        /// Why.
        #[source]
        source: ReadTreeError,
    },
    /// A file could not be written.
    #[error("failed to write tree `{tree}`")]
    Write {
        /// Which.
        tree: TreeId,
        /// Why.
        #[source]
        source: WriteError,
    },
    /// The other end of the stream broke the protocol.
    #[error("the peer violated the protocol: {what}")]
    Protocol {
        /// What is wrong.
        what: String,
    },
    /// The other end said that it could not.
    #[error("the peer failed to write: {message}")]
    Refused {
        /// Its words. From a sandbox, so they may say anything.
        message: String,
    },
    /// The stream broke.
    #[error("failed to communicate with the peer")]
    Stream(#[source] std::io::Error),
    /// The thread that did it is gone.
    #[error("the restore was interrupted")]
    Cut,
}

/// Why one tree could not be put over another.
#[derive(Debug, thiserror::Error)]
pub enum OverlayError {
    /// One has a directory where the other has a file or a link.
    #[error("`{path}` is a directory in one tree and not in the other")]
    Conflict {
        /// Where, see [`crate::escape`].
        path: String,
    },
    /// One of them cannot be read.
    #[error("failed to read a tree")]
    Read(#[source] ReadTreeError),
    /// The new directories could not be kept.
    #[error("failed to store the tree")]
    Keep(#[source] TakeError),
}
