//! The files a replay begins with, and those it ends with.

use warren_domain::{ErrorCode, ReplayDivergence, ReplayDivergenceKind, ReplayFiles, Version};
use warren_snapshots::{Change, Difference, Item, Snapshots, TreeId};
use warren_store::VersionRecord;

use super::{Failure, recorded::Recorded, scratch::Scratch};
use crate::session::{
    Memory, chain, put_memory,
    tree::{is_peoples, outward, tree_id},
};

/// Files beyond these are counted and not listed.
const MOST: usize = 100;

/// How the files compare that the run and its replay left.
#[derive(Debug, Default)]
pub(super) struct ComparedFiles {
    pub(super) files: ReplayFiles,
    pub(super) divergence: Option<ReplayDivergence>,
    /// What a reader should know: why they were not compared, or what the comparison cannot say.
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

    /// Compares the files that the replay left with those that the run left.
    pub(super) async fn compare_files(
        &self,
        snapshots: &Snapshots,
        recorded: &Recorded,
    ) -> Result<ComparedFiles, Failure> {
        let nothing = |note: &str| Ok(ComparedFiles { note: Some(note.to_owned()), ..Default::default() });
        let Some(version) = &recorded.version else {
            return nothing("the run published no version, so there is no tree to compare with");
        };
        if version.expired || version.tree.is_none() {
            return nothing("the files that the run left are not kept any more, so they were not compared");
        }
        let Some(replayed) = self.version_of(recorded).await? else {
            return nothing("the replay came to no version, so there is no tree to compare");
        };
        let compared = Trees::of(version, &replayed)?.compare(snapshots, recorded).await?;
        Ok(if version.shared { compared.shared() } else { compared })
    }

    /// The version that the replayed run published, in the replay's own store.
    async fn version_of(&self, recorded: &Recorded) -> Result<Option<VersionRecord>, Failure> {
        let read = |error| Failure::internal("read the replay's version", &error);
        let session = recorded.session.session_id;
        let run = self.store.runs.run(session, recorded.run.run_id).await.map_err(read)?;
        match run.and_then(|run| run.version) {
            Some(version) => self.store.versions.version(session, version).await.map_err(read),
            None => Ok(None),
        }
    }
}

/// What the run left, and what its replay left.
struct Trees {
    recorded: TreeId,
    replayed: TreeId,
}

impl Trees {
    fn of(recorded: &VersionRecord, replayed: &VersionRecord) -> Result<Self, Failure> {
        let tree = |version: &VersionRecord| {
            tree_id(version.tree.as_ref()).map_err(|error| Failure::internal("read a version", &error))
        };
        Ok(Self { recorded: tree(recorded)?, replayed: tree(replayed)? })
    }

    /// Only people's files: what an agent keeps in its home is full of times and ids.
    async fn compare(&self, snapshots: &Snapshots, recorded: &Recorded) -> Result<ComparedFiles, Failure> {
        let partition = &recorded.session.partition;
        let diff = async |from, to| {
            let diff = snapshots.diff(partition, from, to, usize::MAX).await;
            let all = diff.map_err(|error| Failure::new(ErrorCode::DataDamaged, chain(&error)))?.differences;
            Ok::<_, Failure>(all.into_iter().filter(is_peoples).collect::<Vec<_>>())
        };
        let left = diff(TreeId::empty(), self.recorded).await?;
        let different = diff(self.recorded, self.replayed).await?;
        let n_new = different.iter().filter(|one| one.change == Change::Added).count();
        let compared = (left.len() + n_new) as u64;
        let files = ReplayFiles {
            compared,
            equal: compared - different.len() as u64,
            different: different.iter().take(MOST).map(|one| outward(&one.path)).collect(),
        };
        Ok(ComparedFiles { files, divergence: divergence(&different), note: None })
    }
}

impl ComparedFiles {
    /// What others did in the same workspace cannot be done again: it is told, and no divergence.
    fn shared(self) -> Self {
        let note = "the workspace was shared when the run ended: files may be another session's work, and those that differ are listed but are no divergence";
        Self { divergence: None, note: Some(note.to_owned()), ..self }
    }
}

fn divergence(different: &[Difference]) -> Option<ReplayDivergence> {
    let first = different.first()?;
    let message = match different.len() {
        1 => format!("the file `{}` is not as the run left it", outward(&first.path)),
        n => format!("{n} files are not as the run left them, the first is `{}`", outward(&first.path)),
    };
    let lines = different.iter().take(MOST).map(line).collect();
    Some(ReplayDivergence {
        kind: ReplayDivergenceKind::Files,
        run_id: None,
        conversation_id: None,
        index: None,
        message,
        diff: Some(lines),
    })
}

/// One file, as it was recorded and as it was replayed.
fn line(difference: &Difference) -> String {
    let look = |sign: char, item: &Option<Item>| {
        item.as_ref().map_or_else(String::new, |item| {
            let hash = item.hash.map(|hash| hash.to_string()).unwrap_or_default();
            let path = outward(&difference.path);
            format!("{sign} {path} {:o} {} bytes {}\n", item.mode, item.size_bytes, hash)
        })
    };
    look('-', &difference.before) + &look('+', &difference.after)
}
