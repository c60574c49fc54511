//! Implementations of the commands, one file each.

pub(crate) mod agents;
pub(crate) mod approvals;
pub(crate) mod artifacts;
pub(crate) mod chat;
pub(crate) mod codegen;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod files;
pub(crate) mod import;
pub(crate) mod keys;
pub(crate) mod knowledge;
pub(crate) mod login;
pub(crate) mod open;
pub(crate) mod profiles;
pub(crate) mod pull;
pub(crate) mod replay;
pub(crate) mod run;
pub(crate) mod sessions;
pub(crate) mod shell;
pub(crate) mod stop;
pub(crate) mod template;
pub(crate) mod tokens;
pub(crate) mod transcript;
pub(crate) mod up;
pub(crate) mod versions;
