//! The host's side of a guest: with the real guest, run without a sandbox, and with one that lies.
#![allow(clippy::expect_used, reason = "tests say what is wrong by panicking")]

#[path = "guest_client/honest.rs"]
mod honest;
#[path = "guest_client/hostile.rs"]
mod hostile;
