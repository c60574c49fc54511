//! What a component is given instead of reaching for it: time, ids, randomness, and a place to run tasks.
//!
//! Stands beside the flow: everything with I/O takes an [`Env`] and a [`Tasks`], so that a test can hold the clock
//! and the end of a server can wait for all it started.
//! **Invariant:** the only crate that calls `SystemTime::now` or `tokio::spawn`.
//! Start with [`Env`], then [`Tasks::spawn`].

mod clock;
mod tasks;

pub use clock::{Clock, Env, ManualClock, RandomError};
pub use tasks::{Finish, TaskKind, Tasks};
