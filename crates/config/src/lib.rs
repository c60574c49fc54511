//! Options: what the operator wrote in `warren.toml` and in the environment, checked.
//!
//! Stands before everything else: `warren` loads a [`Config`] and hands each component its own small part of it.
//! In: one file and the process's environment. Out: [`Loaded`], or a [`ConfigError`] that says which key and what to do.
//! **Invariant:** no other crate reads the environment; nothing here knows what an option is used for; a secret that was
//! read here has no `Display`, and its `Debug` shows nothing of it.
//! Start with [`KEYS`], the table that names every key, then [`load`] and [`Config::resolve`].

mod keys;

mod docs;
mod environment;
mod error;
mod home;
mod layers;
mod nearest;
mod quantity;
mod raw;
mod resolve;
mod secret;
mod show;

pub use docs::docs;
pub use environment::Environment;
pub use error::ConfigError;
pub use home::{FILE_NAME, data_directory};
pub use keys::{KEYS, Key, Kind};
pub use layers::{Loaded, Origin, load};
pub use raw::RawConfig;
pub use resolve::{
    Agents, BlobStore, Config, Credentials, Database, Documents, Egress, Limits, Models, Office, Plans,
    Price, Provider, Retention, Runs, Sandbox, SandboxBackend, SandboxFiles, Server, Storage,
};
pub use secret::Secret;
pub use show::show;
