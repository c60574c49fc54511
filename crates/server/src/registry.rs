//! Which handler carries out which route. The match is complete or does not compile.

use warren_wire::RouteName;

use crate::{
    choke::Handler,
    handlers::{
        agents, approvals, auth, events, machine, messages, page, profiles, records, replays, runs,
        sandboxes, sessions, tokens, versions,
    },
};

macro_rules! boxed {
    ($handler:path) => {
        |call| Box::pin($handler(call))
    };
}

pub(crate) fn handler(name: RouteName) -> Handler {
    match name {
        RouteName::AgentInstall => boxed!(agents::install),
        RouteName::AgentList => boxed!(agents::list),
        RouteName::AgentRemove => boxed!(agents::remove),
        RouteName::ApprovalAnswer => boxed!(approvals::answer),
        RouteName::ApprovalGet => boxed!(approvals::get),
        RouteName::ApprovalList => boxed!(approvals::list),
        RouteName::AuthLink => boxed!(auth::link),
        RouteName::AuthSignIn => boxed!(auth::sign_in),
        RouteName::AuthSignOut => boxed!(auth::sign_out),
        RouteName::AuthSignInToken => boxed!(auth::sign_in_with_token),
        RouteName::AuthWhoAmI => boxed!(auth::who_am_i),
        RouteName::BlobGet => boxed!(records::blob),
        RouteName::DoctorGet => boxed!(machine::doctor),
        RouteName::ErrorPage => boxed!(machine::error_page),
        RouteName::EventRead => boxed!(events::read),
        RouteName::Health => boxed!(machine::health),
        RouteName::MessageList => boxed!(messages::list),
        RouteName::MessageSend => boxed!(messages::send),
        RouteName::Metrics => boxed!(machine::metrics),
        RouteName::OpenApi => boxed!(machine::openapi),
        RouteName::PageFile => boxed!(page::asset),
        RouteName::PageGet => boxed!(page::home),
        RouteName::ProfileDelete => boxed!(profiles::delete),
        RouteName::ProfileGet => boxed!(profiles::get),
        RouteName::ProfileList => boxed!(profiles::list),
        RouteName::ProfilePut => boxed!(profiles::put),
        RouteName::Ready => boxed!(machine::ready),
        RouteName::ReplayEvents => boxed!(replays::events),
        RouteName::ReplayGet => boxed!(replays::get),
        RouteName::ReplayList => boxed!(replays::list),
        RouteName::ReplayRun => boxed!(replays::run),
        RouteName::ReplaySession => boxed!(replays::session),
        RouteName::RunDrop => boxed!(runs::drop_queued),
        RouteName::RunGet => boxed!(runs::get),
        RouteName::RunList => boxed!(runs::list),
        RouteName::RunReword => boxed!(runs::reword),
        RouteName::SandboxGet => boxed!(sandboxes::get),
        RouteName::SandboxList => boxed!(sandboxes::list),
        RouteName::SandboxStart => boxed!(sandboxes::start),
        RouteName::SandboxStop => boxed!(sandboxes::stop),
        RouteName::SessionChanges => boxed!(events::changes),
        RouteName::SessionCreate => boxed!(sessions::create),
        RouteName::SessionEnd => boxed!(sessions::end),
        RouteName::SessionErase => boxed!(sessions::erase),
        RouteName::SessionFork => boxed!(versions::fork),
        RouteName::SessionGet => boxed!(sessions::get),
        RouteName::SessionImport => boxed!(sessions::import),
        RouteName::SessionInterrupt => boxed!(sessions::interrupt),
        RouteName::SessionList => boxed!(sessions::list),
        RouteName::SessionLoad => boxed!(sessions::load),
        RouteName::SessionUnload => boxed!(sessions::unload),
        RouteName::SessionUpdate => boxed!(sessions::update),
        RouteName::TokenCreate => boxed!(tokens::create),
        RouteName::TokenDelete => boxed!(tokens::delete),
        RouteName::TokenGet => boxed!(tokens::get),
        RouteName::TokenList => boxed!(tokens::list),
        RouteName::TranscriptGet => boxed!(records::transcript),
        RouteName::UsageGet => boxed!(machine::usage),
        RouteName::VersionArchive => boxed!(versions::archive),
        RouteName::VersionCommit | RouteName::VersionSync => boxed!(versions::commit),
        RouteName::VersionDiff => boxed!(versions::diff),
        RouteName::VersionFile => boxed!(versions::file),
        RouteName::VersionFiles => boxed!(versions::files),
        RouteName::VersionGet => boxed!(versions::get),
        RouteName::VersionLabel => boxed!(versions::label),
        RouteName::VersionList => boxed!(versions::list),
        RouteName::VersionRestore => boxed!(versions::restore),
    }
}
