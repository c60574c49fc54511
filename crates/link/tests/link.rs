//! What a link does between two honest ends, and against a peer that is not.

#![allow(clippy::expect_used, reason = "a test that cannot go on should stop")]

#[path = "link/greedy.rs"]
mod greedy;
#[path = "link/honest.rs"]
mod honest;
#[path = "link/support.rs"]
#[allow(dead_code, reason = "shared with the other test program")]
mod support;
