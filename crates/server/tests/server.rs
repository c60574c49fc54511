//! The server in process, over a real store, with a runtime that only records what it is told.

#![expect(clippy::expect_used, reason = "a test's helpers fail the test")]

#[path = "server/access.rs"]
mod access;
#[path = "server/build.rs"]
mod build;
#[path = "server/cors.rs"]
mod cors;
#[path = "server/fake.rs"]
mod fake;
#[path = "server/fake_files.rs"]
mod fake_files;
#[path = "server/fake_versions.rs"]
mod fake_versions;
#[path = "server/files.rs"]
mod files;
#[path = "server/input.rs"]
mod input;
#[path = "server/listener.rs"]
mod listener;
#[path = "server/previews.rs"]
mod previews;
#[path = "server/profile_projects.rs"]
mod profile_projects;
#[path = "server/profiles.rs"]
mod profiles;
#[path = "server/revocation.rs"]
mod revocation;
#[path = "server/sessions.rs"]
mod sessions;
#[path = "server/sign_ins.rs"]
mod sign_ins;
#[path = "server/socketio.rs"]
mod socketio;
#[path = "server/streams.rs"]
mod streams;
#[path = "server/support.rs"]
mod support;
