//! Directory trees as values: what one looks like, how it is read from a disk, and how it is written to one.
//!
//! Stands below `snapshots`, which keeps trees, and in the `guest`, which reads and writes them inside a sandbox; so
//! there is one scanner and one writer, wherever the files are. In: directories. Out: [`Node`]s and the chunks of files.
//! **Invariant:** no store, no async, no clock but the file system's own; nothing is opened but beneath a root and
//! through no link.
//! Start with [`Entry`], then [`scan`] and [`write`].
//!
//! # The stored form of a directory, version 1
//!
//! A directory is a [`Node`]: its entries sorted by name, with permission bits (0777), time of change, and for a file its
//! pieces, for a link its target, for a directory the hash of its node. A node is known by the BLAKE3 of its bytes, and a
//! tree by the hash of the node whose entries are its roots. A file of one piece is known by the BLAKE3 of its content;
//! one of several by that of the list of its pieces ([`File::hash`]).
//! Files are cut by content (FastCDC, 64 KiB to 1 MiB, 256 KiB on average); holes are pieces without content.

mod code;
mod cut;
mod hash;
mod index;
mod node;
pub mod scan;
pub mod wire;
pub mod write;

pub use code::{Decoder, Encoder, Malformed};
pub use cut::{MAX_CHUNK, hash_content};
pub use hash::{Hash, ParseHashError};
pub use index::{Changes, Index, Known, KnownDir, Merged, Seen, UnusableScan};
pub use node::{Directory, Entry, File, Name, Node, Piece, Totals, What, encode_entries, is_legal_name};
