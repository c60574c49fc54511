//! The real guest, run as an ordinary process over a socketpair, and asked for everything it can do.

#![allow(clippy::expect_used, reason = "a test that cannot go on should stop")]

#[path = "guest/cgroup.rs"]
mod cgroup;
#[path = "guest/escape.rs"]
mod escape;
#[path = "guest/exec.rs"]
mod exec;
#[path = "guest/files.rs"]
mod files;
#[path = "guest/life.rs"]
mod life;
#[path = "guest/ports.rs"]
mod ports;
#[path = "guest/support.rs"]
mod support;
#[path = "guest/tree.rs"]
mod tree;
#[path = "guest/watch.rs"]
mod watch;
