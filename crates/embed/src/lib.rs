//! A whole server in a program of one's own: the parts it is given, and Warren's for the rest.
//!
//! Stands at the end of the flow. In: a [`Config`](warren_config::Config), a directory, and perhaps a store or a sandbox
//! backend. Out: a [`Server`] that listens.
//! It must never know the command line or the terminal: `apps/warren` is one program that uses it, and
//! `examples/memory-store` another.
//! **Invariant:** the only place that names concrete backends; what it is given is never replaced by one of them.
//! Start with [`Embed`], then `core.rs`, where everything is put together.
//!
//! ```text
//! store ─┬─▶ runtime ─▶ server ◀─ gateway ◀─ store
//! sandbox┤
//! models ┘
//! ```

mod advised;
mod core;
mod embed;
mod listen;
mod metrics;
mod options;
mod programs;
mod skeleton;
mod storage;

pub use advised::Advised;
pub use embed::{Embed, LAUNCHER, Server, launcher};
pub use listen::bind;
pub use options::{documents, programs, required_layers, sandbox};
pub use storage::advice as storage_advice;
