//! What was carried out once more.

use async_trait::async_trait;
use warren_domain::{ReplayId, SessionId};
use warren_store::{Page, ReadError, ReplayRecord, Replays};

use crate::{Memory, Refusal, page};

#[async_trait]
impl Replays for Memory {
    async fn put_replay(&self, replay: &ReplayRecord) -> Result<(), ReadError> {
        let mut state = self.state();
        let Some(session) = state.sessions.get_mut(&replay.session_id) else {
            return Err(Refusal::NoSession(replay.session_id).while_doing("keep the replay"));
        };
        session.replays.insert(replay.replay_id, replay.clone());
        Ok(())
    }

    async fn replay(&self, session: SessionId, replay: ReplayId) -> Result<Option<ReplayRecord>, ReadError> {
        Ok(self.state().sessions.get(&session).and_then(|session| session.replays.get(&replay).cloned()))
    }

    async fn replays(
        &self,
        session: SessionId,
        before: Option<ReplayId>,
        limit: u32,
    ) -> Result<Page<ReplayRecord>, ReadError> {
        let state = self.state();
        let replays =
            state.sessions.get(&session).into_iter().flat_map(|session| session.replays.values().rev());
        let older = replays.filter(|replay| before.is_none_or(|before| replay.replay_id < before));
        Ok(page(older.cloned(), limit))
    }
}
