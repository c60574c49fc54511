//! Artifacts.

use axum::http::StatusCode;
use warren_domain::{Artifact, ArtifactId, ArtifactKind};
use warren_gateway::Action;
use warren_runtime::api::MomentKind;
use warren_wire::{ArtifactHistory, ArtifactList, ArtifactVersion};

use crate::{
    choke::Call,
    failure::Failure,
    file_answer::{self, Shown},
    preview,
    respond::{self, Answer},
};

pub(crate) async fn list(call: Call) -> Answer {
    let artifacts = call.runtime().artifacts().artifact_list(call.session()?).await?;
    let artifacts =
        artifacts.into_iter().map(|artifact| placed(&call, artifact)).collect::<Result<_, _>>()?;
    respond::ok(&ArtifactList { artifacts })
}

pub(crate) async fn get(call: Call) -> Answer {
    let artifact = find(&call).await?;
    respond::ok(&placed(&call, artifact)?)
}

pub(crate) async fn content(call: Call) -> Answer {
    let artifact = find(&call).await?;
    if artifact.kind == ArtifactKind::WebApp {
        return Err(Failure::bad_request(format!("`{}` is not a single file", artifact.path))
            .hint("ask for its preview, or for its directory with `…/fs/archive`"));
    }
    let path = format!("/workspace/{}", artifact.path);
    file_answer::answer(call.runtime(), call.session()?, &path, call.headers(), Shown::OnOurOrigin).await
}

pub(crate) async fn versions(call: Call) -> Answer {
    let moments = call.runtime().artifacts().artifact_history(call.session()?, id(&call)?).await?;
    let version = |moment: warren_runtime::api::ArtifactMoment| {
        let (change, changes) = match moment.change {
            MomentKind::Created => ("created", Vec::new()),
            MomentKind::Updated(changes) => ("updated", changes),
            MomentKind::Deleted => ("deleted", Vec::new()),
        };
        ArtifactVersion {
            seq: moment.seq,
            at: moment.at,
            change: change.to_owned(),
            changes,
            version: moment.version,
            artifact: moment.artifact,
        }
    };
    respond::ok(&ArtifactHistory { versions: moments.into_iter().rev().map(version).collect() })
}

/// A way in for whoever may read the session. What has to be started for it is started only for who may write.
pub(crate) async fn preview(call: Call) -> Answer {
    let (session, artifact) = (call.session()?, id(&call)?);
    let may_write = call.may(Action::Write).await?;
    let link = preview::open(call.app(), session, artifact, may_write, call.secret()?).await?;
    respond::json(StatusCode::OK, &link)
}

fn id(call: &Call) -> Result<ArtifactId, Failure> {
    let text = call.parameter("artifactId");
    text.parse().map_err(|_| Failure::not_found("artifact", text.escape_debug()))
}

async fn find(call: &Call) -> Result<Artifact, Failure> {
    let id = id(call)?;
    let all = call.runtime().artifacts().artifact_list(call.session()?).await?;
    all.into_iter().find(|artifact| artifact.id == id).ok_or_else(|| Failure::not_found("artifact", id))
}

/// With the address it has today: the log may have been written when the server had another.
fn placed(call: &Call, artifact: Artifact) -> Result<Artifact, Failure> {
    let hosts = call.app().deps.options.previews.as_ref();
    let session = call.session()?;
    let preview_url = hosts.and_then(|hosts| hosts.url_of(session, &artifact));
    Ok(Artifact { preview_url, ..artifact })
}
