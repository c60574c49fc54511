//! The files a replay begins with, and those it ends with.

use std::collections::BTreeMap;

use bytes::Bytes;
use warren_domain::{
    ErrorCode, Fence, Partition, ReplayDivergence, ReplayDivergenceKind, ReplayFiles, Version,
};
use warren_snapshots::{Change, Difference, Item, ItemKind, ReadTreeError, Snapshots, TreeId};
use warren_store::VersionRecord;

use super::{Failure, recorded::Recorded, scratch::Scratch};
use crate::session::{
    Memory, chain, put_memory,
    tree::{HOME_ROOT, is_peoples, outward, tree_id},
};

/// Files beyond these are counted and not listed.
const MOST: usize = 100;

/// How the files compare that the run and its replay left.
#[derive(Debug, Default)]
pub(super) struct ComparedFiles {
    pub(super) files: ReplayFiles,
    pub(super) divergence: Option<ReplayDivergence>,
    /// Whether there were two trees to compare.
    pub(super) are_compared: bool,
    /// What a reader should know: why they were not compared, or what the comparison cannot say.
    pub(super) notes: Vec<String>,
}

impl Scratch {
    /// Puts what the run began with where its sandbox will look for it.
    pub(super) async fn restore_base(&self, recorded: &Recorded) -> Result<(), Failure> {
        let version = recorded.run.base_version.unwrap_or_default();
        let Some(base) = &recorded.base else {
            return Err(Failure::new(ErrorCode::NotFound, format!("version {version} does not exist")));
        };
        if base.expired || (base.tree.is_none() && version != Version(0)) {
            let message =
                format!("the files of version {version}, from which the run started, have been deleted");
            return Err(Failure::new(ErrorCode::NotFound, message));
        }
        let read = |error| Failure::internal("read what the agent remembered", &error);
        let (partition, blobs) = (&recorded.session.partition, self.store.blobs.as_ref());
        let memory = Memory::open(partition, base.memory.as_ref(), blobs).await.map_err(read)?;
        let contents = memory.contents(partition, blobs).await.map_err(read)?;
        // Nobody owns the session of the scratch store yet.
        let session = recorded.session.session_id;
        let put = put_memory(session, Fence(0), contents, self.store.transcripts.as_ref()).await;
        put.map_err(|error| Failure::internal("write what the agent remembered", &error))
    }

    /// Compares the files that the replay left with those that the run left.
    pub(super) async fn compare_files(
        &self,
        snapshots: &Snapshots,
        recorded: &Recorded,
    ) -> Result<ComparedFiles, Failure> {
        let nothing = |note: &str| Ok(ComparedFiles { notes: vec![note.to_owned()], ..Default::default() });
        let Some(version) = &recorded.version else {
            return nothing("the run has no version, so there is no tree to compare with");
        };
        if version.expired || version.tree.is_none() {
            return nothing("the files of the run have been deleted, so they were not compared");
        }
        let Some(replayed) = self.version_of(recorded).await? else {
            return nothing("the replay has no version, so there is no tree to compare");
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
        let look = Look { snapshots, partition: &recorded.session.partition };
        let left = look.files(TreeId::empty(), self.recorded).await?;
        let mut different = look.files(self.recorded, self.replayed).await?;
        let n_new = different.iter().filter(|one| one.change == Change::Added).count();
        let directories = look.empty_directories_that_differ(self.recorded, self.replayed).await?;
        let n_all = left.len() + n_new + directories.len();
        different.extend(directories);
        different.sort_by(|a, b| a.path.cmp(&b.path));
        let (different, n_open) = match recorded.stop {
            Some(_) => self.without_open(&look, different).await?,
            None => (different, 0),
        };
        let compared = (n_all - n_open) as u64;
        let files = ReplayFiles {
            compared,
            equal: compared - different.len() as u64,
            different: different.iter().take(MOST).map(|one| outward(&one.path)).collect(),
        };
        let note = format!(
            "{n_open} files were missing or incomplete when the run or its replay was stopped; they are not compared"
        );
        let notes = if n_open > 0 { vec![note] } else { Vec::new() };
        Ok(ComparedFiles { files, divergence: divergence(&different), are_compared: true, notes })
    }

    /// What is left of the differences, and how many are gone, without files that a run which was stopped may just not have
    /// come to: those of one side, and those that go on where the other's end.
    async fn without_open(
        &self,
        look: &Look<'_>,
        different: Vec<Difference>,
    ) -> Result<(Vec<Difference>, usize), Failure> {
        let (n_all, mut left) = (different.len(), Vec::new());
        for one in different {
            let is_open = match (&one.before, &one.after) {
                (Some(before), Some(after)) => {
                    let are_files = [before, after].iter().all(|item| item.kind == ItemKind::File);
                    let is_longer = before.size_bytes != after.size_bytes;
                    are_files
                        && is_longer
                        && look.begin_alike([self.recorded, self.replayed], &one.path).await?
                }
                _ => true,
            };
            if !is_open {
                left.push(one);
            }
        }
        let n_open = n_all - left.len();
        Ok((left, n_open))
    }
}

/// How trees are looked at.
struct Look<'l> {
    snapshots: &'l Snapshots,
    partition: &'l Partition,
}

impl Look<'_> {
    /// Files and links that are different in `to`.
    async fn files(&self, from: TreeId, to: TreeId) -> Result<Vec<Difference>, Failure> {
        let diff = self.snapshots.diff(self.partition, from, to, usize::MAX).await;
        let mut all = diff.map_err(damaged)?.differences;
        all.retain(|one| is_peoples(one) && !is_index_of_git(&one.path));
        Ok(all)
    }

    /// Directories with nothing in them, which no file tells of. They count where they differ: those that are the same are
    /// the platform's own, such as `outputs`, in every session.
    async fn empty_directories_that_differ(
        &self,
        from: TreeId,
        to: TreeId,
    ) -> Result<Vec<Difference>, Failure> {
        let (mut before, after) = (self.empty_directories(from).await?, self.empty_directories(to).await?);
        let mut all = Vec::new();
        for (path, item) in after {
            match before.remove(&path) {
                Some(other) if other.mode == item.mode => {}
                other => all.push(of_directory(path, other, Some(item))),
            }
        }
        all.extend(before.into_iter().map(|(path, item)| of_directory(path, Some(item), None)));
        Ok(all)
    }

    async fn empty_directories(&self, tree: TreeId) -> Result<BTreeMap<String, Item>, Failure> {
        let roots = self.snapshots.list(self.partition, tree, "").await.map_err(damaged)?;
        let mut waiting: Vec<Item> = roots.into_iter().filter(|root| root.name != HOME_ROOT).collect();
        let mut empty = BTreeMap::new();
        while let Some(item) = waiting.pop() {
            let inside = self.snapshots.list(self.partition, tree, &item.path).await.map_err(damaged)?;
            // A root is always there.
            if inside.is_empty() && item.path != item.name {
                empty.insert(item.path.clone(), item);
            }
            waiting.extend(inside.into_iter().filter(|item| item.kind == ItemKind::Directory));
        }
        Ok(empty)
    }

    /// Whether the shorter one of two files is how the longer one begins.
    async fn begin_alike(&self, trees: [TreeId; 2], path: &str) -> Result<bool, Failure> {
        let open = async |tree| self.snapshots.read(self.partition, tree, path, None).await.map_err(damaged);
        let (mut one, mut other) = (open(trees[0]).await?, open(trees[1]).await?);
        let (mut ours, mut theirs) = (Bytes::new(), Bytes::new());
        loop {
            for (reader, bytes) in [(&mut one, &mut ours), (&mut other, &mut theirs)] {
                if bytes.is_empty() {
                    *bytes = reader.next().await.map_err(damaged)?.unwrap_or_default();
                }
            }
            let n = ours.len().min(theirs.len());
            if n == 0 {
                return Ok(true);
            }
            if ours.split_to(n) != theirs.split_to(n) {
                return Ok(false);
            }
        }
    }
}

fn of_directory(path: String, before: Option<Item>, after: Option<Item>) -> Difference {
    let change = match (&before, &after) {
        (None, _) => Change::Added,
        (_, None) => Change::Removed,
        _ => Change::Changed,
    };
    Difference { path, change, before, after }
}

fn damaged(error: ReadTreeError) -> Failure {
    Failure::new(ErrorCode::DataDamaged, chain(&error))
}

/// It holds when and where on a disk each file was written.
fn is_index_of_git(path: &str) -> bool {
    path.ends_with("/.git/index")
}

impl ComparedFiles {
    /// What others did in the same workspace cannot be done again: it is told, and no divergence.
    fn shared(mut self) -> Self {
        let note = "the workspace was shared when the run ended: files may be another session's work, so those that differ are listed but are not a divergence";
        self.notes.push(note.to_owned());
        Self { divergence: None, ..self }
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
            let path = outward(&difference.path);
            let what = match (item.kind, &item.target, &item.hash) {
                (ItemKind::Symlink, Some(target), _) => format!("-> {target}"),
                (ItemKind::File, _, Some(hash)) => {
                    format!("{:o} {} bytes {hash}", item.mode, item.size_bytes)
                }
                _ => format!("{:o} empty directory", item.mode),
            };
            format!("{sign} {path} {what}\n")
        })
    };
    look('-', &difference.before) + &look('+', &difference.after)
}
