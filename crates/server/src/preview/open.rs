//! Opening a preview: what serves it is started, and the way in is made.

use warren_domain::{ArtifactId, SessionId};
use warren_gateway::Secret;
use warren_runtime::api::{Behind, PreviewHost, PreviewTarget, Wake};
use warren_wire::{ArtifactMetadata, BuildArtifactType, Packet, PacketBody, PreviewLink};

use super::{ENTER, OPEN};
use crate::{deps::App, failure::Failure};

/// A way in for whoever may read the session. What has to be started for it is started only for who may write.
pub(crate) async fn open(
    app: &App,
    session: SessionId,
    artifact: ArtifactId,
    may_write: bool,
    secret: Secret,
) -> Result<PreviewLink, Failure> {
    let hosts = app.deps.options.previews.as_ref();
    let hosts = hosts.ok_or_else(|| Failure::bad_request("this server does not serve previews"))?;
    let wake = if may_write { Wake::IfAsleep } else { Wake::Never };
    let target = app.runtime().previews().preview_open(session, artifact, wake).await?;
    let (behind, path, ready) = match target {
        PreviewTarget::Port { port, is_ready } => (Behind::Port(port), String::new(), is_ready),
        PreviewTarget::Files { path } => (Behind::Files, path, true),
    };
    let host = PreviewHost { session, behind };
    let (code, expires_at) = app.grants.offer(&app.deps.env, app.now(), host, secret, &path)?;
    let url = format!("{}{ENTER}?grant={code}", hosts.origin(host));
    Ok(PreviewLink { url, expires_at, ready })
}

/// Addresses under which a browser sees what a session serves, for a while and without a token of its own.
pub(crate) struct Links {
    app: App,
    session: SessionId,
    /// The owner of the links.
    secret: Secret,
}

impl Links {
    pub(crate) fn new(app: App, session: SessionId, secret: Secret) -> Self {
        Self { app, session, secret }
    }

    /// Writes the address of an artifact that is served into what a client is told of it, instead of the one in the log:
    /// that one needs a grant, and may be of another time.
    pub(crate) fn put(&self, artifact: &mut ArtifactMetadata) {
        let is_served = artifact.kind == BuildArtifactType::WebApp;
        artifact.preview_url = if is_served { self.url(ArtifactId(artifact.id)) } else { None };
    }

    /// The same for a packet.
    pub(crate) fn put_into(&self, packet: &mut Packet) {
        if let PacketBody::ArtifactCreated { artifact } | PacketBody::ArtifactUpdated { artifact, .. } =
            &mut packet.body
        {
            self.put(artifact);
        }
    }

    fn url(&self, artifact: ArtifactId) -> Option<String> {
        let hosts = self.app.deps.options.previews.as_ref()?;
        let code = self.app.grants.link(self.app.now(), self.session, artifact, &self.secret);
        // The port of an app may not be known yet; the host of the files always is.
        let host = PreviewHost { session: self.session, behind: Behind::Files };
        Some(format!("{}{OPEN}?link={code}", hosts.origin(host)))
    }
}
