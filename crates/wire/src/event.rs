//! Reading logs, and news about the list of sessions.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use warren_domain::{Event, Seq, SessionId};

use crate::SessionListItem;

/// Part of a session's log, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventPage {
    /// The entries, as the stored bytes.
    pub events: Vec<Event>,
    /// Pass it as `after` for the next part: the last number of this part.
    pub last_seq: Seq,
    /// The head of the log: if it is greater than `lastSeq` there is more.
    pub head: Seq,
}

/// A line of `GET /api/events`: a change in the list of sessions. It has no number; after a disconnect, list the
/// sessions again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionsChanged {
    /// Always `sessions_changed`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What happened.
    pub change: SessionNews,
    /// The changed session; absent if changes were missed and the list should be read again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The session as now listed; absent if it was erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionListItem>,
}

impl SessionsChanged {
    /// Something happened to this session.
    #[must_use]
    pub fn of(change: SessionNews, session: SessionId) -> Self {
        Self { kind: "sessions_changed".to_owned(), change, session_id: Some(session), session: None }
    }

    /// The reader was too slow.
    #[must_use]
    pub fn missed() -> Self {
        let (kind, change) = ("sessions_changed".to_owned(), SessionNews::Missed);
        Self { kind, change, session_id: None, session: None }
    }
}

/// A change of a session in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionNews {
    /// It is new.
    Created,
    /// Its data or its state changed.
    Changed,
    /// It is gone.
    Erased,
    /// The reader was too slow and missed some: read the list again.
    Missed,
}
