//! Following one session.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use socketioxide::extract::SocketRef;
use tokio_util::sync::CancellationToken;
use warren_domain::Seq;
use warren_runtime::api::{Follow, LogEntry};
use warren_wire::{SocketMessage, SocketSession, socket_messages};

use super::{
    deliver::{Gone, deliver},
    member::Member,
};
use crate::{failure::Failure, handlers::check_reached};

/// Between two tries to read a log.
const AGAIN: Duration = Duration::from_secs(1);

/// A session that a client is about to follow.
pub(super) struct Joining {
    pub(super) head: Seq,
    follow: Follow,
    left: CancellationToken,
}

/// Checks that the client may, and finds the place in the log.
pub(super) async fn join(member: &Member, asked: &SocketSession) -> Result<Joining, Failure> {
    let session = asked.session_id();
    let is_loaded = member.check(session).await?;
    let records = member.app.runtime().records();
    let (_, head) = records.events_read(session, Seq(0), 0, None).await?;
    let after = asked.after().unwrap_or(head);
    check_reached(after, head)?;
    let follow = records.events_follow(session, after).await?;
    let left = member.join(session, is_loaded)?;
    Ok(Joining { head, follow, left })
}

/// Tells a client everything of a session, each entry once and in order, until it leaves.
pub(super) async fn tell(socket: SocketRef, member: Arc<Member>, joining: Joining) {
    let Joining { mut follow, left, .. } = joining;
    let told = left.run_until_cancelled(async {
        loop {
            match follow.next_batch().await {
                // The session is gone; the news say so.
                Ok(entries) if entries.is_empty() => return Ok(()),
                Ok(entries) => tell_batch(&socket, &member, &entries).await?,
                Err(error) => {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        socket = %socket.id,
                        "a log cannot be read"
                    );
                    tokio::time::sleep(AGAIN).await;
                }
            }
        }
    });
    if let Some(Err(Gone)) = told.await {
        member.leave_all();
    }
}

async fn tell_batch(socket: &SocketRef, member: &Member, entries: &[LogEntry]) -> Result<(), Gone> {
    for message in entries.iter().flat_map(messages) {
        // Whoever watches the token hangs up; nothing is told meanwhile.
        if member.validity.has_ended().is_some() {
            return Err(Gone);
        }
        deliver(socket, message.name, &message.payload).await?;
    }
    Ok(())
}

/// What an entry becomes. One that is no event of this version is told as it is.
fn messages(entry: &LogEntry) -> Vec<SocketMessage> {
    match entry.event() {
        Ok(event) => socket_messages(&event),
        Err(_) => {
            let payload = serde_json::from_slice(&entry.json).unwrap_or(Value::Null);
            vec![SocketMessage { name: "session:event", payload }]
        }
    }
}
