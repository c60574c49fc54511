//! Whole-server tests: the real program, real sandboxes, real transports; only the model is scripted.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests may fail loudly")]

/// The bucket that the tests of snapshots use.
#[path = "../../../crates/snapshots/tests/suite/bucket.rs"]
mod bucket;

mod suite {
    pub(crate) mod acp;
    pub(crate) mod agents;
    pub(crate) mod apart;
    pub(crate) mod attacks;
    pub(crate) mod budget;
    pub(crate) mod build;
    pub(crate) mod builtin;
    pub(crate) mod busy;
    pub(crate) mod calls;
    pub(crate) mod chat;
    pub(crate) mod cli;
    pub(crate) mod cluster;
    pub(crate) mod commands;
    pub(crate) mod comparing;
    pub(crate) mod directory;
    pub(crate) mod documents;
    pub(crate) mod egress;
    pub(crate) mod files;
    pub(crate) mod forks;
    pub(crate) mod head;
    pub(crate) mod input;
    pub(crate) mod keys;
    pub(crate) mod kill;
    pub(crate) mod kill_guest;
    pub(crate) mod kill_versions;
    pub(crate) mod knowledge;
    pub(crate) mod leaving;
    pub(crate) mod life;
    pub(crate) mod metrics;
    pub(crate) mod moving;
    pub(crate) mod old_data;
    pub(crate) mod postgres;
    pub(crate) mod previews;
    pub(crate) mod profiles;
    pub(crate) mod queue;
    pub(crate) mod real;
    pub(crate) mod replay;
    pub(crate) mod sandbox;
    pub(crate) mod seeds;
    pub(crate) mod session;
    pub(crate) mod shared;
    pub(crate) mod storage;
    pub(crate) mod stream;
    pub(crate) mod template;
    pub(crate) mod transcripts;
    pub(crate) mod upkeep;
    pub(crate) mod versions;
}
