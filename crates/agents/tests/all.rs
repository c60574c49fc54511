//! Recordings of agents, and what must come of them: one module for each agent, one way to look at recordings.
//!
//! Every directory `fixtures/<agent>/<case>` is a test. What the agent printed and what it kept on disk is there as the
//! agent wrote it; `out.jsonl` and `blocks.json` are what we make of it. `UPDATE_FIXTURES=1` rewrites those two.

#![allow(clippy::expect_used, reason = "a test that cannot go on should stop")]

#[path = "all/acp.rs"]
mod acp;
#[path = "all/builtin.rs"]
mod builtin;
#[path = "all/claude_code.rs"]
mod claude_code;
#[path = "all/codex.rs"]
mod codex;
#[path = "all/detect.rs"]
mod detect;
#[path = "all/gemini_cli.rs"]
mod gemini_cli;
#[path = "all/hostile.rs"]
mod hostile;
#[path = "all/opencode.rs"]
mod opencode;
#[path = "all/support.rs"]
mod support;
#[path = "all/unseen.rs"]
mod unseen;
