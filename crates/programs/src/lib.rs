//! Agents' programs, and what the outputs template needs: from the registries into the data directory, verified.
//!
//! In: a name of the table [`AGENTS`], or any package with an ACP agent (`npm.rs`), and a registry's address. Out: a directory that holds the program and can be
//! mounted read-only into sandboxes, and a record of what is in it.
//! Needs no npm and runs nothing of what it gets: a package is read, its hash is compared, and its files are written.
//! The lock files beside this crate name the hash of every package: a registry says where one is, never what it is.
//! Other versions are pinned by the hash that the registry names at their first installation.
//! Packages for Python are written by the machine's own pip, from wheels whose hashes are named here.
//! **Invariant:** nothing here knows sessions or HTTP routes; what is installed is whole and verified, or not there.
//! Start with [`Programs::install`], then `unpack.rs`, which trusts nothing that is in a package.

mod table;

mod npm;
mod programs;
mod recipe;
mod versions;

mod layer;
mod python;

mod lock;

mod archive;
mod error;
mod integrity;
mod place;
mod plan;
mod progress;
mod registry;
mod unpack;

pub use error::{InstallError, RemoveError};
pub use layer::Python;
pub use lock::{LockError, LockFile, lock_file};
pub use npm::{NpmRecipe, NpmWanted};
pub use place::{Installed, InstalledPackage};
pub use programs::{AgentStatus, Options, Programs};
pub use progress::{Progress, Report};
pub use registry::Plain;
pub use table::{AGENTS, Agent, Program};
