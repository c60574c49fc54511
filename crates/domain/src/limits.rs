//! Configuration keys of limits, as the event `limit_reached` names them.

/// The limit for the log of a run.
pub const LOG_PER_RUN: &str = "storage.max_log_bytes_per_run";
/// The limit for the log of a session.
pub const LOG_PER_SESSION: &str = "storage.max_log_bytes_per_session";
/// The limit for the logs of all sessions of a project.
pub const LOG_PER_PROJECT: &str = "storage.max_log_bytes_per_project";
