//! Profiles.

use warren_domain::{AgentProfile, ProfileId, ProjectId};
use warren_runtime::api::profile_check;
use warren_wire::ProfileList;

use crate::{
    choke::Call,
    failure::Failure,
    respond::{self, Answer},
};

pub(crate) async fn list(call: Call) -> Answer {
    let profiles = call.app().gateway().profile_list(call.identity()?, project(&call)).await?;
    respond::ok(&ProfileList { profiles })
}

pub(crate) async fn get(call: Call) -> Answer {
    respond::ok(&call.app().gateway().profile_get(call.identity()?, project(&call), &id(&call)).await?)
}

pub(crate) async fn put(call: Call) -> Answer {
    let sent: AgentProfile = call.json()?;
    let id = id(&call);
    if !sent.id.as_str().is_empty() && sent.id != id {
        return Err(Failure::bad_request(format!("the path says `{id}`, the body says `{}`", sent.id))
            .hint("leave `id` out of the body"));
    }
    let project_id = match (project(&call), sent.project_id) {
        (Some(asked), Some(sent)) if asked != sent => {
            let message = format!("the query says project `{asked}`, the body says `{sent}`");
            return Err(Failure::bad_request(message).hint("leave `projectId` out of one of them"));
        }
        (asked, sent) => asked.or(sent),
    };
    let profile = AgentProfile { id, project_id, ..sent };
    // Now somebody can be told; when a session starts, whoever sent a message would be.
    profile_check(&profile)?;
    respond::ok(&call.app().gateway().profile_put(call.identity()?, profile).await?)
}

pub(crate) async fn delete(call: Call) -> Answer {
    call.app().gateway().profile_delete(call.identity()?, project(&call), &id(&call)).await?;
    respond::nothing()
}

fn id(call: &Call) -> ProfileId {
    ProfileId::from(call.parameter("profileId"))
}

fn project(call: &Call) -> Option<ProjectId> {
    call.query().id("projectId").map(ProjectId)
}
