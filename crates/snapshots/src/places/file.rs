//! The file of a place: a record of all its directories, and behind it one for each time that some of them changed.
//!
//! ```text
//! 2                                            1 byte, the version
//! records, each: its length                    4 bytes, big-endian
//!                the tree it changes           32 bytes, zeros for the first
//!                number of directories in all, then of those in it
//!                of each                       its number, its node, and how each of its entries looked
//!                BLAKE3 of all that            32 bytes
//! ```
//!
//! Numbers are LEB128. So a tree of which one file changed costs as much as the directories above that file. A record
//! that was cut short or is damaged counts as not written, and so does all that is behind it.

use std::sync::Arc;

use warren_tree::{Decoder, Encoder, Hash, Index, Known, KnownDir, Malformed, Node, Seen, encode_entries};

/// The first byte of a file. One of version 1 counts as none: what it says is found out again.
const VERSION: u8 = 2;

/// Directories of a place as its file has them.
pub(super) struct Loaded {
    pub(super) index: Index,
    /// Whether there is nothing behind it that cannot be read.
    pub(super) is_whole: bool,
}

/// A file with nothing but this.
pub(super) fn encode(index: &Index) -> Vec<u8> {
    let all: Vec<u32> = (0..index.dirs().len() as u32).collect();
    let mut bytes = vec![VERSION];
    bytes.extend_from_slice(&record(None, index, &all));
    bytes
}

/// What is to be added to a file that has the tree `before`, where these directories changed.
pub(super) fn record(before: Option<Hash>, index: &Index, changed: &[u32]) -> Vec<u8> {
    let mut encoder = Encoder::new();
    encoder.hash(&before.unwrap_or_else(nothing));
    encoder.uint(index.dirs().len() as u64);
    encoder.uint(changed.len() as u64);
    for &number in changed {
        let dir = &index.dirs()[number as usize];
        encoder.uint(number.into());
        encoder.bytes(&encode_entries(dir.entries.iter().map(|known| &known.entry)));
        for known in &dir.entries {
            encoder.uint(known.seen.inode);
            encoder.int(known.seen.ctime_ns);
            encoder.uint(known.child.into());
        }
    }
    let payload = encoder.finish();
    let mut bytes = (payload.len() as u32).to_be_bytes().to_vec();
    bytes.extend_from_slice(&payload);
    bytes.extend_from_slice(Hash::of(&payload).as_bytes());
    bytes
}

/// Reads a file as far as it is whole.
pub(super) fn decode(bytes: &[u8]) -> Result<Loaded, Malformed> {
    let Some((&VERSION, mut rest)) = bytes.split_first() else {
        return Err(Malformed::new("a file of version 2"));
    };
    let mut dirs = Vec::new();
    next(&mut rest, &mut dirs)?;
    while !rest.is_empty() && next(&mut rest, &mut dirs).is_ok() {}
    Ok(Loaded { index: Index::new(dirs), is_whole: rest.is_empty() })
}

/// Takes over the next record. Where it is not what it should be, nothing happened.
fn next(rest: &mut &[u8], dirs: &mut Vec<Arc<KnownDir>>) -> Result<(), Malformed> {
    let cut = || Malformed::new("a record that is whole");
    let (length, behind) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
    let (payload, behind) = behind.split_at_checked(u32::from_be_bytes(*length) as usize).ok_or_else(cut)?;
    let (hash, behind) = behind.split_first_chunk::<32>().ok_or_else(cut)?;
    if Hash::of(payload) != Hash::from_bytes(*hash) {
        return Err(cut());
    }
    let before = dirs.first().and_then(|top| top.node).unwrap_or_else(nothing);
    let (n_dirs, changed) = parse(payload, before)?;
    if n_dirs > dirs.len() + changed.len() || changed.iter().any(|(number, _)| *number >= n_dirs) {
        return Err(Malformed::new("directories with numbers"));
    }
    dirs.resize_with(n_dirs, Arc::default);
    for (number, dir) in changed {
        dirs[number] = Arc::new(dir);
    }
    *rest = behind;
    Ok(())
}

/// How many directories there are then, and those that changed, if this follows `before`.
fn parse(payload: &[u8], before: Hash) -> Result<(usize, Vec<(usize, KnownDir)>), Malformed> {
    let mut decoder = Decoder::new(payload);
    if decoder.hash()? != before {
        return Err(Malformed::new("a record of the tree before it"));
    }
    let n_dirs = decoder.uint32()? as usize;
    let mut changed = Vec::new();
    for _ in 0..decoder.count()? {
        let number = decoder.uint32()? as usize;
        let bytes = decoder.bytes()?;
        let mut dir = KnownDir { node: Some(Hash::of(bytes)), ..KnownDir::default() };
        for entry in Node::decode(bytes)?.entries {
            dir.totals += entry.totals();
            let seen = Seen { inode: decoder.uint()?, ctime_ns: decoder.int()? };
            let child = decoder.uint32()?;
            dir.entries.push(Known { entry, seen, child });
        }
        changed.push((number, dir));
    }
    decoder.end()?;
    Ok((n_dirs, changed))
}

/// The hash that stands for no tree.
fn nothing() -> Hash {
    Hash::from_bytes([0; 32])
}
