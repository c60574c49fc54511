//! The built-in agent as the host sees it: the real program, against a scripted model.
//!
//! Every run also checks that folding what was printed and folding what was kept give the same blocks.

#![allow(clippy::expect_used, reason = "a test that cannot go on should stop")]

mod failures;
mod fullness;
mod interrupts;
mod model;
mod permits;
mod place;
mod resume;
mod search;
mod subagents;
mod tools;
mod turns;
