//! Knows the agents: how each is started, what it is given, what it prints, and what it leaves on disk.
//!
//! Stands between the runtime and the program in a sandbox: in go lines and transcripts, out come
//! [`Draft`](warren_domain::Draft)s and blocks.
//! **Invariant:** nothing here owns a process, a socket, a clock or a task, and nothing an agent prints makes it fail:
//! live stream and saved transcript give the same blocks with the same ids.
//! Start with [`Adapter`], then [`Codec`]; `builtin` is the shortest adapter. A new agent is a folder and a line in
//! the registry.

mod contract;
mod detect;
mod ignored;
mod layout;
mod registry;
mod transcripts;

mod command;
mod fields;
mod rpc;
mod subagent;

mod acp;
mod builtin;
mod claude_code;
mod codex;
mod gemini_cli;
mod opencode;

pub use contract::{
    Adapter, Answer, Ask, Codec, Exit, HasEffort, Launch, LaunchError, LaunchRequest, ModelApi,
    ModelEndpoint, Output, Prompt, TurnEnd,
};
pub use detect::detect;
pub use ignored::{ProfilePart, ignored};
pub use layout::{LayoutFile, LayoutRequest, Place};
pub use registry::{adapter, adapters};
pub use transcripts::{
    Adopted, Companions, Growth, Parsed, PlainPlan, TranscriptFile, TranscriptName, TranscriptPlan,
};
