//! A tree as a tar archive, made while it is read.

use std::collections::VecDeque;

use bytes::Bytes;
use tar::{EntryType, Header};
use warren_domain::Partition;
use warren_tree::{Entry, What};

use crate::{FileReader, Hold, ReadTreeError, Snapshots, TreeId};

/// Archives are made of blocks.
const BLOCK: usize = 512;

/// A tar archive, piece by piece. What it needs is not collected while it lives.
#[derive(Debug)]
pub struct Archive {
    snapshots: Snapshots,
    partition: Partition,
    tree: TreeId,
    /// What comes next, with its path in the archive.
    waiting: VecDeque<(Vec<u8>, Entry)>,
    /// The file that is being given out.
    file: Option<FileReader>,
    ended: bool,
    _hold: Hold,
}

impl Snapshots {
    /// What is beneath a path, as a tar archive; the empty path is the whole tree. Names are relative to the path.
    pub async fn archive(
        &self,
        partition: &Partition,
        tree: TreeId,
        path: &str,
    ) -> Result<Archive, ReadTreeError> {
        let hold = self.hold(partition);
        hold.keep(tree);
        let path = path.trim_matches('/');
        let node = self.directory_node(partition, tree, path).await?;
        let node = self.node(partition, &node).await?;
        let waiting = node.entries.into_iter().map(|entry| (entry.name.to_vec(), entry)).collect();
        Ok(Archive {
            snapshots: self.clone(),
            partition: partition.clone(),
            tree,
            waiting,
            file: None,
            ended: false,
            _hold: hold,
        })
    }
}

impl Archive {
    /// The next bytes, or `None` after the last.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ReadTreeError> {
        if let Some(file) = &mut self.file {
            if let Some(bytes) = file.next().await? {
                return Ok(Some(bytes));
            }
            let padding = padding(file.size());
            self.file = None;
            if !padding.is_empty() {
                return Ok(Some(padding));
            }
        }
        let Some((path, entry)) = self.waiting.pop_front() else {
            let end = (!self.ended).then(|| Bytes::from_static(&[0; 2 * BLOCK]));
            self.ended = true;
            return Ok(end);
        };
        let header = header(&path, &entry);
        match entry.what {
            What::File(file) => {
                let hold = self.snapshots.hold(&self.partition);
                hold.keep(self.tree);
                self.file = Some(self.snapshots.reader(&self.partition, file, None, hold));
            }
            What::Directory(directory) => {
                let node = self.snapshots.node(&self.partition, &directory.node).await?;
                for entry in node.entries.into_iter().rev() {
                    self.waiting.push_front(([&path, &b"/"[..], &entry.name].concat(), entry));
                }
            }
            What::Symlink(_) => {}
        }
        Ok(Some(header))
    }
}

/// The header of an entry, with those for long names before it.
fn header(path: &[u8], entry: &Entry) -> Bytes {
    let mut path = path.to_vec();
    let mut header = Header::new_gnu();
    let (kind, size, target) = match &entry.what {
        What::File(file) => (EntryType::Regular, file.size, &b""[..]),
        What::Directory(_) => (EntryType::Directory, 0, &b""[..]),
        What::Symlink(target) => (EntryType::Symlink, 0, &target[..]),
    };
    if kind == EntryType::Directory {
        path.push(b'/');
    }
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(entry.mode.into());
    header.set_mtime(u64::try_from(entry.mtime_ns / 1_000_000_000).unwrap_or(0));
    header.set_uid(0);
    header.set_gid(0);
    let mut bytes = long(b'K', target);
    bytes.extend(long(b'L', &path));
    put(&mut header.as_old_mut().name, &path);
    put(&mut header.as_old_mut().linkname, target);
    header.set_cksum();
    bytes.extend_from_slice(header.as_bytes());
    bytes.into()
}

/// Where a name does not fit into its header, one of its own says it (a GNU extension that everybody reads).
fn long(kind: u8, name: &[u8]) -> Vec<u8> {
    if name.len() < 100 {
        return Vec::new();
    }
    let mut header = Header::new_gnu();
    put(&mut header.as_old_mut().name, b"././@LongLink");
    header.set_entry_type(EntryType::new(kind));
    header.set_size(name.len() as u64 + 1);
    header.set_mode(0o644);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header.set_cksum();
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend_from_slice(name);
    bytes.push(0);
    bytes.extend_from_slice(&padding(name.len() as u64 + 1));
    bytes
}

/// Puts as much of a name as fits.
fn put(field: &mut [u8], name: &[u8]) {
    let n = name.len().min(field.len());
    field[..n].copy_from_slice(&name[..n]);
}

/// What fills the last block.
fn padding(size: u64) -> Bytes {
    let rest = (size % BLOCK as u64) as usize;
    Bytes::from_static(if rest == 0 { &[] } else { &[0; BLOCK][rest..] })
}
