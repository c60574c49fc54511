//! The bridge as the host sees it: the real program, between lines and a scripted server.
//!
//! The program behind the bridge is a shell script that says where the server is; the server is in the test.

#![allow(clippy::expect_used, reason = "a test that cannot go on should stop")]

mod ends;
mod place;
mod requests;
mod server;
mod stream;
