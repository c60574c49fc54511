//! What whole-server tests stand on: the real program in a directory of its own, and a client that hides nothing.
//!
//! Stands beside the flow: tests use it, nothing else does. [`TestServer`] starts `warren up`, restarts it, kills it, and
//! fails the test if anything of it is left; [`TestClient`] and [`TestEvents`] speak plain HTTP and server-sent events.
//! **Invariant:** nothing here is shared with the code under test but the names of the domain: the reader of events, for
//! one, is written anew, so that one mistake cannot hide another.
//! Start with [`TestServer::start`].

#![allow(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test kit says what went wrong by panicking"
)]

mod agents;
mod client;
mod events;
mod postgres;
mod processes;
mod provider;
mod proxy;
mod seed;
mod server;

pub use agents::agents_directory;
pub use client::{TestAnswer, TestClient};
pub use events::{TestEvent, TestEvents};
pub use postgres::TestPostgres;
pub use processes::{Process, descendants, wait_until_gone};
pub use provider::{TEST_MODELS, TestProvider};
pub use proxy::TestProxy;
pub use seed::Seed;
pub use server::{Setup, TestServer, program};
