//! The gateway over real byte streams: in front of a fake provider, and in front of the demo model.

#![expect(clippy::expect_used, reason = "a helper that fails is a test that fails")]

mod support;

mod suite {
    mod agent_loop;
    mod budgets;
    mod demo_server;
    mod disconnects;
    mod formats;
    mod limits;
    mod passing;
    mod refusals;
    mod replaying;
}
