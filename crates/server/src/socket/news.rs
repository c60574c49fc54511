//! Messages to every client: the list of sessions and its changes.

use std::sync::Arc;

use serde_json::Value;
use socketioxide::extract::SocketRef;
use warren_domain::{Seq, SessionId};
use warren_runtime::api::SessionQuery;
use warren_wire::{SessionListItem, SessionNews, SessionsChanged, socket_messages, socket_status};

use super::{
    deliver::{Gone, deliver, hang_up},
    member::Member,
};
use crate::{convert, failure::Failure, sse::NewsSource};

/// The list has the newest sessions; older ones are found by `GET /api/sessions`.
const LISTED: u32 = 200;

/// The newest sessions that the client may see.
pub(super) async fn list(member: &Member) -> Result<Vec<SessionListItem>, Failure> {
    let identity = member.identity().await?;
    let query = SessionQuery {
        partition: Some(identity.partition.clone()),
        project: identity.scope.project(),
        limit: LISTED,
        ..SessionQuery::default()
    };
    let page = member.app.runtime().sessions().session_list(query, None).await?;
    Ok(page.items.into_iter().map(convert::session).collect())
}

/// Tells the list, then every change of it, until the client is gone or its token is.
pub(super) async fn tell(socket: SocketRef, member: Arc<Member>) {
    if let Err(Gone) = tell_all(&socket, &member).await {
        member.leave_all();
    }
}

async fn tell_all(socket: &SocketRef, member: &Member) -> Result<(), Gone> {
    let Ok(identity) = member.identity().await else { return banish(socket) };
    // Watched before it is listed: a change in between is told, perhaps once too often, but never missed.
    let changes = member.app.runtime().records().changes();
    let mut news = NewsSource::new(member.app.clone(), identity, changes);
    match list(member).await {
        Ok(sessions) => deliver(socket, "sessions:list", &sessions).await?,
        Err(failure) => {
            let cause = failure.chain().unwrap_or_default();
            tracing::error!(cause, socket = %socket.id, "a socket cannot be told the sessions");
            // The client lists them itself when it is told that something was missed.
            deliver(socket, "sessions:changed", &SessionsChanged::missed()).await?;
        }
    }
    while let Some(change) = news.next_change().await {
        // Whoever watches the token hangs up; nothing is told meanwhile.
        if member.validity.has_ended().is_some() {
            return Err(Gone);
        }
        tell_change(socket, member, change).await?;
    }
    Ok(())
}

async fn tell_change(socket: &SocketRef, member: &Member, change: SessionsChanged) -> Result<(), Gone> {
    if let Some(session) = &change.session
        && member.note_loaded(session.session_id, session.runtime.is_loaded)
    {
        let status = socket_status(session.session_id, &session.runtime);
        deliver(socket, status.name, &status.payload).await?;
    }
    if let (SessionNews::Created, Some(session)) = (change.change, change.session_id) {
        tell_created(socket, member, session).await?;
    }
    if let (SessionNews::Erased, Some(session)) = (change.change, change.session_id) {
        member.leave(session);
    }
    deliver(socket, "sessions:changed", &change).await
}

/// Tells the first entry of a new session to who has not joined it. It has no number here: whoever joins later gets it
/// again, as a part of the log.
async fn tell_created(socket: &SocketRef, member: &Member, session: SessionId) -> Result<(), Gone> {
    if member.has_joined(session) {
        return Ok(());
    }
    let first = member.app.runtime().records().events_read(session, Seq(0), 1, None).await;
    let entry = first.ok().and_then(|(entries, _)| entries.into_iter().next());
    // One that was erased meanwhile, or begins with another entry, is told by `sessions:changed` alone.
    let Some(event) = entry.and_then(|entry| entry.event().ok()) else { return Ok(()) };
    for mut message in socket_messages(&event).into_iter().filter(|it| it.name == "session:created") {
        message.payload["seq"] = Value::Null;
        deliver(socket, message.name, &message.payload).await?;
    }
    Ok(())
}

fn banish(socket: &SocketRef) -> Result<(), Gone> {
    hang_up(socket);
    Err(Gone)
}
