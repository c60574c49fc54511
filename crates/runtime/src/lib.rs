//! Runs sessions: one task owns one session's agent and sandbox, and writes what happens to the log.
//!
//! In: operations from the gateway ([`api`]), lines from a sandbox, calls from the model gateway. Out: events, committed
//! to the store before anyone sees them.
//! **Invariant:** nothing here knows which agent, which sandbox backend, which database or which tenant it serves.
//! Start with [`SessionManager`], then `session::SessionTask::run`.

pub mod api;

mod limit;
mod manager;
mod options;
mod session;

mod replay;

mod admission;
mod agents;
mod coalesce;
mod documents;
mod figures;
mod knowledge;
mod places;
mod providers;
mod recorder;
mod recordings;
mod scratch_file;
mod spaces;
mod spool;
mod template;
mod traffic;
mod unpack;
mod views;
mod volumes;
mod workspaces;

pub use documents::{DocumentOptions, LibreOffice, OfficeChoice};
pub use manager::{RecoverError, SessionManager};
pub use options::{
    AcpRecipe, KnowledgeOptions, Known, LogLimits, NoPrograms, Options, Packages, Parts, Program,
    ProgramError, Programs, RecordingLimits, Retention,
};
pub use providers::{ConfiguredProvider, ProviderOptions};
pub use template::{Template, TemplateError, TemplateFile};
