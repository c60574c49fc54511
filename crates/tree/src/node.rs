//! A directory as a value, and its stored form.

use crate::{Decoder, Encoder, Hash, MAX_CHUNK, Malformed};

/// The first byte of every stored node. A change of the form takes the next number, and the old stays readable.
const VERSION: u8 = 1;

/// A name in a directory: any bytes but `/` and zero, at most 255.
pub type Name = Box<[u8]>;

/// The longest target of a link that the kernel takes.
const MAX_TARGET: usize = 4095;

/// A directory: its entries, sorted by name, each name once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    /// What is in it.
    pub entries: Vec<Entry>,
}

/// One thing in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: Name,
    /// Permission bits (0777): nothing else of the mode is kept.
    pub mode: u16,
    /// Time of last change, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// What it is.
    pub what: What,
}

/// Kinds of things that are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A regular file.
    File(File),
    /// A directory.
    Directory(Directory),
    /// A symbolic link and its target, which is never followed.
    Symlink(Box<[u8]>),
}

/// A file's content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct File {
    /// Bytes.
    pub size: u64,
    /// The content in order. Their lengths add up to `size`.
    pub pieces: Vec<Piece>,
}

/// A part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// A chunk.
    Data {
        /// Of its bytes.
        hash: Hash,
        /// At most [`MAX_CHUNK`].
        len: u32,
    },
    /// Zeros that take no space.
    Hole {
        /// How many.
        len: u64,
    },
}

/// A directory in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Directory {
    /// The hash of its node.
    pub node: Hash,
    /// What is in it, all levels together.
    pub totals: Totals,
}

/// How much is in a tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Files and links.
    pub files: u64,
    /// Bytes of all files.
    pub bytes: u64,
}

impl Node {
    /// The stored form.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        encode_entries(self.entries.iter())
    }

    /// Reads the stored form, and believes nothing of it that is not checked.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut decoder = Decoder::new(bytes);
        if decoder.byte()? != VERSION {
            return Err(Malformed::new("a node of version 1"));
        }
        let n_entries = decoder.count()?;
        let mut entries: Vec<Entry> = Vec::with_capacity(n_entries);
        for _ in 0..n_entries {
            let entry = Entry::decode(&mut decoder)?;
            if entries.last().is_some_and(|last| last.name >= entry.name) {
                return Err(Malformed::new("names in order, each once"));
            }
            entries.push(entry);
        }
        decoder.end()?;
        Ok(Self { entries })
    }

    /// The entry of this name.
    #[must_use]
    pub fn get(&self, name: &[u8]) -> Option<&Entry> {
        self.entries.binary_search_by(|entry| (*entry.name).cmp(name)).ok().map(|at| &self.entries[at])
    }
}

/// The stored form of a node with these entries, which must be in order.
pub fn encode_entries<'a>(entries: impl ExactSizeIterator<Item = &'a Entry>) -> Vec<u8> {
    let mut encoder = Encoder::new();
    encoder.byte(VERSION);
    encoder.uint(entries.len() as u64);
    for entry in entries {
        entry.encode(&mut encoder);
    }
    encoder.finish()
}

impl Entry {
    /// What it adds to its directory's totals.
    #[must_use]
    pub fn totals(&self) -> Totals {
        match &self.what {
            What::File(file) => Totals { files: 1, bytes: file.size },
            What::Directory(directory) => directory.totals,
            What::Symlink(_) => Totals { files: 1, bytes: 0 },
        }
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.bytes(&self.name);
        encoder.uint(self.mode.into());
        encoder.int(self.mtime_ns);
        match &self.what {
            What::File(file) => {
                encoder.byte(0);
                file.encode(encoder);
            }
            What::Directory(directory) => {
                encoder.byte(1);
                encoder.hash(&directory.node);
                encoder.uint(directory.totals.files);
                encoder.uint(directory.totals.bytes);
            }
            What::Symlink(target) => {
                encoder.byte(2);
                encoder.bytes(target);
            }
        }
    }

    fn decode(decoder: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let name = decoder.bytes()?;
        if !is_legal_name(name) {
            return Err(Malformed::new("a legal name"));
        }
        let mode = decode_mode(decoder)?;
        let mtime_ns = decoder.int()?;
        let what = match decoder.byte()? {
            0 => What::File(File::decode(decoder)?),
            1 => What::Directory(Directory {
                node: decoder.hash()?,
                totals: Totals { files: decoder.uint()?, bytes: decoder.uint()? },
            }),
            2 => What::Symlink(decode_target(decoder)?),
            _ => return Err(Malformed::new("a file, a directory or a link")),
        };
        Ok(Self { name: name.into(), mode, mtime_ns, what })
    }
}

impl File {
    /// What the content is known by: the same content has the same hash, wherever and whenever it was kept.
    ///
    /// Of a file of one piece it is the BLAKE3 of the content; of others, of the list of pieces. See
    /// [`crate::hash_content`] for content that is at hand.
    #[must_use]
    pub fn hash(&self) -> Hash {
        match self.pieces[..] {
            [] => Hash::of(b""),
            [Piece::Data { hash, .. }] => hash,
            _ => {
                let mut encoder = Encoder::new();
                self.encode(&mut encoder);
                Hash::of(&encoder.finish())
            }
        }
    }

    pub(crate) fn encode(&self, encoder: &mut Encoder) {
        encoder.uint(self.size);
        encoder.uint(self.pieces.len() as u64);
        for piece in &self.pieces {
            match piece {
                Piece::Hole { len } => {
                    encoder.byte(0);
                    encoder.uint(*len);
                }
                Piece::Data { hash, len } => {
                    encoder.byte(1);
                    encoder.uint((*len).into());
                    encoder.hash(hash);
                }
            }
        }
    }

    pub(crate) fn decode(decoder: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let size = decoder.uint()?;
        let n_pieces = decoder.count()?;
        let mut pieces = Vec::with_capacity(n_pieces);
        let mut total: u64 = 0;
        for _ in 0..n_pieces {
            let piece = match decoder.byte()? {
                0 => Piece::Hole { len: decoder.uint()? },
                1 => Piece::Data { len: decoder.uint32()?, hash: decoder.hash()? },
                _ => return Err(Malformed::new("a chunk or a hole")),
            };
            let legal = match piece {
                Piece::Hole { len } => len > 0,
                Piece::Data { len, .. } => len > 0 && len as usize <= MAX_CHUNK,
            };
            if !legal {
                return Err(Malformed::new("a piece of a legal length"));
            }
            total = total.checked_add(piece.len()).ok_or(Malformed::new("a file of a legal size"))?;
            pieces.push(piece);
        }
        // The kernel's sizes are signed.
        if total != size || i64::try_from(size).is_err() {
            return Err(Malformed::new("pieces that add up to the file"));
        }
        Ok(Self { size, pieces })
    }
}

impl Piece {
    /// How many bytes of the file it is.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Piece::Data { len, .. } => u64::from(*len),
            Piece::Hole { len } => *len,
        }
    }

    /// Whether it is no bytes at all, which no stored piece is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl std::ops::AddAssign for Totals {
    /// Sums that come from strangers must not make us panic.
    fn add_assign(&mut self, other: Self) {
        self.files = self.files.saturating_add(other.files);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// Whether a name can be a name: one that leads out of its directory cannot.
#[must_use]
pub fn is_legal_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..") && name.len() <= 255 && !name.iter().any(|b| matches!(b, 0 | b'/'))
}

pub(crate) fn decode_mode(decoder: &mut Decoder<'_>) -> Result<u16, Malformed> {
    let mode = decoder.uint()?;
    u16::try_from(mode).ok().filter(|mode| *mode <= 0o777).ok_or(Malformed::new("permission bits"))
}

pub(crate) fn decode_target(decoder: &mut Decoder<'_>) -> Result<Box<[u8]>, Malformed> {
    let target = decoder.bytes()?;
    if target.is_empty() || target.len() > MAX_TARGET || target.contains(&0) {
        return Err(Malformed::new("the target of a link"));
    }
    Ok(target.into())
}

#[cfg(test)]
mod tests;
