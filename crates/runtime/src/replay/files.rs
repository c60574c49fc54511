//! The files a replay begins with, and those it ends with.

use warren_domain::{ErrorCode, ReplayDivergence, ReplayFiles, Version};

use super::{Failure, recorded::Recorded, scratch::Scratch};
use crate::session::{Memory, put_memory};

/// How the files compare that the run and its replay left.
#[derive(Debug, Default)]
pub(super) struct ComparedFiles {
    pub(super) files: ReplayFiles,
    pub(super) divergence: Option<ReplayDivergence>,
    /// Why they were not compared, if they were not.
    pub(super) note: Option<String>,
}

impl Scratch {
    /// Puts what the run began with where its sandbox will look for it.
    pub(super) async fn restore_base(&self, recorded: &Recorded) -> Result<(), Failure> {
        let version = recorded.run.base_version.unwrap_or_default();
        let Some(base) = &recorded.base else {
            return Err(Failure::new(ErrorCode::NotFound, format!("version {version} is not there")));
        };
        if base.expired || (base.tree.is_none() && version != Version(0)) {
            let message = format!("the files of version {version}, which the run began from, are not kept");
            return Err(Failure::new(ErrorCode::NotFound, message));
        }
        let read = |error| Failure::internal("read what the agent remembered", &error);
        let (partition, blobs) = (&recorded.session.partition, self.store.blobs.as_ref());
        let memory = Memory::open(partition, base.memory.as_ref(), blobs).await.map_err(read)?;
        let contents = memory.contents(partition, blobs).await.map_err(read)?;
        put_memory(recorded.session.session_id, contents, self.store.transcripts.as_ref()).await.map_err(read)
    }

    /// Says why the files that the run left are not compared by content: the log's entries about them are.
    pub(super) fn compare_files(recorded: &Recorded) -> ComparedFiles {
        let note = match &recorded.version {
            None => "the run published no version, so there is no tree to compare with",
            Some(_) => "files were compared as the log tells of them: whether they are there, and their size",
        };
        ComparedFiles { note: Some(note.to_owned()), ..ComparedFiles::default() }
    }
}
