//! Handlers: from a request to one operation and back, nothing else. One file per noun.

pub(crate) mod agents;
pub(crate) mod approvals;
pub(crate) mod artifacts;
pub(crate) mod auth;
pub(crate) mod build;
pub(crate) mod events;
pub(crate) mod files;
pub(crate) mod knowledge;
pub(crate) mod machine;
pub(crate) mod messages;
pub(crate) mod page;
pub(crate) mod profiles;
pub(crate) mod providers;
pub(crate) mod records;
pub(crate) mod replays;
pub(crate) mod runs;
pub(crate) mod sandboxes;
pub(crate) mod sessions;
pub(crate) mod tokens;

pub(crate) use events::check_reached;
pub(crate) use machine::Readiness;
pub(crate) mod versions;
