//! Keeps directory trees: takes one from a disk or out of a sandbox, and gives it back, whole or in part.
//!
//! In: directories, here ([`Source::directories`]) or at the other end of a stream ([`Source::guest`]). Out: a [`TreeId`],
//! by which the tree is read ([`Snapshots::list`], [`Snapshots::read`]), compared ([`Snapshots::diff`]), downloaded
//! ([`Snapshots::archive`]) and restored ([`Snapshots::restore`]).
//! **Invariant:** knows no sessions and no versions, and not what a partition stands for; nothing crosses a partition; every
//! byte that is read back is checked against its hash, and whatever is missing or damaged is a named error.
//! Start with [`Snapshots::take`], then [`pack`].
//!
//! # How it is kept
//!
//! A tree is made of nodes, one for each directory, and of chunks of files (`warren_tree` says how); both are *objects*, known
//! by their BLAKE3. Objects are kept in *packs* of up to 32 MiB ([`pack`]): a take writes one pack, or a few, and none if
//! nothing changed. Objects of some directories are compressed together in a segment of about half a megabyte, so that
//! 50,000 small files are two thousand pieces of work and not 50,000.
//! The packs of a partition are under `trees/p-<partition>/packs/`. Which object is where is known from the packs' own
//! tables, which are read once and then kept in memory.
//!
//! # How a tree is known again
//!
//! For each *place* (a workspace on one machine) the last tree is kept in memory and in a file of the cache directory, with
//! inode and time of change of every file. A file that still looks the same is not read. The cache may be lost, old or
//! damaged: then more is read, and the tree is the same.
//!
//! # What is collected, and when
//!
//! See [`Snapshots::collect`].

mod archive;
mod cache;
mod collect;
mod diff;
mod error;
mod guest;
mod hold;
mod id;
mod lease;
mod list;
mod objects;
pub mod pack;
mod partition;
mod path;
mod places;
mod read;
mod restore;
mod snapshots;
mod storage;
mod take;

pub use archive::Archive;
pub use collect::{CollectError, Collected};
pub use diff::{Change, Diff, Difference};
pub use error::{OpenError, OverlayError, ReadTreeError, RestoreError, TakeError};
pub use hold::Hold;
pub use id::TreeId;
pub use list::{Item, ItemKind};
pub use path::{escape, unescape};
pub use read::FileReader;
pub use restore::{Restored, Target};
pub use snapshots::{Options, Snapshots};
pub use storage::{S3, S3Keys, Storage, StorageUrlError};
pub use take::{DEFAULT_EXCLUDES, Overlaid, Skipped, Source, TakeRequest, Taken};
pub use warren_tree::{Changes, Hash, Totals, hash_content, scan::Why};
