//! Reading objects and files back. Nothing leaves here that does not match its hash.

use std::{collections::HashMap, ops::Range, sync::Arc};

use bytes::Bytes;
use object_store::ObjectStoreExt as _;
use warren_domain::Partition;
use warren_tree::{Entry, File, Hash, Node, Piece, What};

use crate::{
    Hold, ReadTreeError, Snapshots, TreeId, escape, objects,
    partition::{Location, Pack, Shelf},
    unescape,
};

/// Zeros of a hole, as they are given out.
static ZEROS: [u8; 256 * 1024] = [0; 256 * 1024];

/// A file of a tree, or a part of it, piece by piece. What it needs is not collected while it lives.
#[derive(Debug)]
pub struct FileReader {
    snapshots: Snapshots,
    partition: Partition,
    file: File,
    /// Which piece comes next.
    piece: usize,
    /// Where in the file that piece begins.
    at: u64,
    wanted: Range<u64>,
    _hold: Hold,
}

impl Snapshots {
    /// Reads a file, or the bytes of `range` as far as there are any.
    pub async fn read(
        &self,
        partition: &Partition,
        tree: TreeId,
        path: &str,
        range: Option<Range<u64>>,
    ) -> Result<FileReader, ReadTreeError> {
        let hold = self.hold(partition);
        hold.keep(tree);
        let entry = self.find(partition, tree, path).await?;
        let What::File(file) = entry.what else {
            return Err(ReadTreeError::WrongKind { path: path.to_owned(), wanted: "regular file" });
        };
        Ok(self.reader(partition, file, range, hold))
    }

    /// Reads a whole file of at most `max` bytes; `None` if it is longer.
    pub async fn read_all(
        &self,
        partition: &Partition,
        tree: TreeId,
        path: &str,
        max: u64,
    ) -> Result<Option<Bytes>, ReadTreeError> {
        let mut reader = self.read(partition, tree, path, None).await?;
        if reader.size() > max {
            return Ok(None);
        }
        let mut content = Vec::with_capacity(reader.size() as usize);
        while let Some(bytes) = reader.next().await? {
            content.extend_from_slice(&bytes);
        }
        Ok(Some(content.into()))
    }

    pub(crate) fn reader(
        &self,
        partition: &Partition,
        file: File,
        range: Option<Range<u64>>,
        hold: Hold,
    ) -> FileReader {
        let wanted = range.unwrap_or(0..u64::MAX);
        let wanted = wanted.start.min(file.size)..wanted.end.min(file.size);
        FileReader {
            snapshots: self.clone(),
            partition: partition.clone(),
            file,
            piece: 0,
            at: 0,
            wanted,
            _hold: hold,
        }
    }

    /// The entry at a path, which begins with a root's name.
    pub(crate) async fn find(
        &self,
        partition: &Partition,
        tree: TreeId,
        path: &str,
    ) -> Result<Entry, ReadTreeError> {
        let not_found = || ReadTreeError::NotFound { path: path.to_owned() };
        let bytes = unescape(path).ok_or_else(not_found)?;
        let names: Vec<&[u8]> = bytes.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).collect();
        let mut names = names.into_iter().peekable();
        let mut node = self.node(partition, &tree.0).await?;
        loop {
            let name = names.next().ok_or_else(not_found)?;
            let entry = node.get(name).ok_or_else(not_found)?;
            match (&entry.what, names.peek()) {
                (_, None) => return Ok(entry.clone()),
                (What::Directory(directory), Some(_)) => node = self.node(partition, &directory.node).await?,
                (What::File(_) | What::Symlink(_), Some(_)) => return Err(not_found()),
            }
        }
    }

    /// A directory of a tree.
    pub(crate) async fn node(&self, partition: &Partition, hash: &Hash) -> Result<Node, ReadTreeError> {
        // The empty directory is known without being kept.
        if *hash == TreeId::empty().0 {
            return Ok(Node::default());
        }
        let shelf = self.shelf(partition);
        let bytes = self.object(&shelf, hash).await?;
        // Its hash is right, so it was kept like this: by a version of us that is newer, or by a mistake.
        Node::decode(&bytes).map_err(|source| ReadTreeError::DamagedPack {
            pack: format!("object {}", escape(hash.to_string().as_bytes())),
            source,
        })
    }

    /// The bytes of an object, verified.
    pub(crate) async fn object(&self, shelf: &Arc<Shelf>, hash: &Hash) -> Result<Bytes, ReadTreeError> {
        Ok(self.objects(shelf, &[*hash]).await?.remove(0))
    }

    /// The bytes of objects, verified, in order. Each segment is read once.
    pub(crate) async fn objects(
        &self,
        shelf: &Arc<Shelf>,
        hashes: &[Hash],
    ) -> Result<Vec<Bytes>, ReadTreeError> {
        shelf.load(&*self.inner.objects, self.now_ms()).await?;
        match self.objects_where_known(shelf, hashes).await {
            // Another process may have put it, or moved it to another pack.
            Err(ReadTreeError::Missing { .. }) => {
                shelf.refresh(&*self.inner.objects, self.now_ms()).await?;
                self.objects_where_known(shelf, hashes).await
            }
            read => read,
        }
    }

    async fn objects_where_known(&self, shelf: &Shelf, hashes: &[Hash]) -> Result<Vec<Bytes>, ReadTreeError> {
        let places: Vec<(Arc<Pack>, Location)> = {
            let state = shelf.read();
            let find = |hash| state.find(hash).ok_or(ReadTreeError::Missing { hash: *hash });
            hashes.iter().map(find).collect::<Result<_, _>>()?
        };
        let mut segments: HashMap<(u32, u32), Bytes> = HashMap::new();
        let mut read = Vec::with_capacity(hashes.len());
        for (hash, (pack, location)) in hashes.iter().zip(places) {
            let key = (location.pack, location.slot.segment);
            let segment = match segments.get(&key) {
                Some(segment) => segment,
                None => {
                    let segment = self.segment(shelf, &pack, location.slot.segment, hash).await?;
                    segments.entry(key).or_insert(segment)
                }
            };
            let slot = location.slot;
            let end = slot.offset as usize + slot.len as usize;
            let bytes = segment.get(slot.offset as usize..end).map(|bytes| segment.slice_ref(bytes));
            let bytes = bytes.filter(|bytes| Hash::of(bytes) == *hash);
            read.push(bytes.ok_or_else(|| ReadTreeError::Damaged { hash: *hash, pack: pack.name.clone() })?);
        }
        Ok(read)
    }

    /// A segment, uncompressed; `hash` is what it is wanted for.
    async fn segment(
        &self,
        shelf: &Shelf,
        pack: &Pack,
        number: u32,
        hash: &Hash,
    ) -> Result<Bytes, ReadTreeError> {
        let damaged = || ReadTreeError::Damaged { hash: *hash, pack: pack.name.clone() };
        let segment = *pack.segments.get(number as usize).ok_or_else(damaged)?;
        let name = objects::pack(&shelf.partition, &pack.name);
        let entry = self.inner.segments.entry(&(name.clone(), number), segment.raw as usize);
        let read = async {
            let range = segment.offset..segment.offset + u64::from(segment.stored);
            let stored = match self.inner.objects.get_range(&name, range).await {
                Ok(stored) => stored,
                Err(object_store::Error::NotFound { .. }) => {
                    shelf.write().remove(&pack.name);
                    return Err(ReadTreeError::Missing { hash: *hash });
                }
                Err(source) => return Err(ReadTreeError::Store { doing: "read a pack", source }),
            };
            segment.open(stored.into()).map(Bytes::from).map_err(|_| damaged())
        };
        entry.get_or_try_init(|| read).await.cloned()
    }
}

impl FileReader {
    /// The size of the whole file.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.file.size
    }

    /// What the content is known by: an entity tag.
    #[must_use]
    pub fn hash(&self) -> Hash {
        self.file.hash()
    }

    /// The bytes that will be given.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.wanted.clone()
    }

    /// The next bytes, or `None` after the last.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ReadTreeError> {
        while let Some(piece) = self.file.pieces.get(self.piece).copied() {
            let end = self.at + piece.len();
            if self.wanted.is_empty() || self.at >= self.wanted.end {
                return Ok(None);
            }
            if end <= self.wanted.start {
                self.at = end;
                self.piece += 1;
                continue;
            }
            let from = self.wanted.start.max(self.at) - self.at;
            let to = self.wanted.end.min(end) - self.at;
            return match piece {
                Piece::Data { hash, .. } => {
                    let shelf = self.snapshots.shelf(&self.partition);
                    let bytes = self.snapshots.object(&shelf, &hash).await?;
                    if bytes.len() as u64 != piece.len() {
                        return Err(ReadTreeError::Damaged { hash, pack: "any".to_owned() });
                    }
                    self.at = end;
                    self.piece += 1;
                    Ok(Some(bytes.slice(from as usize..to as usize)))
                }
                Piece::Hole { .. } => {
                    let n = (to - from).min(ZEROS.len() as u64);
                    self.wanted.start = self.at + from + n;
                    Ok(Some(Bytes::from_static(&ZEROS[..n as usize])))
                }
            };
        }
        Ok(None)
    }
}
