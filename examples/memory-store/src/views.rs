//! Views: checkpoints and their items.

use async_trait::async_trait;
use warren_domain::{Seq, SessionId};
use warren_store::{Checkpoint, ReadError, ViewItem, ViewPart, Views};

use crate::Memory;

#[async_trait]
impl Views for Memory {
    async fn checkpoint(&self, session: SessionId) -> Result<Option<Checkpoint>, ReadError> {
        Ok(self.state().sessions.get(&session).and_then(|session| session.checkpoint.clone()))
    }

    async fn view_items(
        &self,
        session: SessionId,
        at: Seq,
        keys: &[String],
    ) -> Result<Option<Vec<ViewItem>>, ReadError> {
        let state = self.state();
        let session = state.sessions.get(&session).filter(|session| session.is_viewed_at(Some(at)));
        Ok(session.map(|session| keys.iter().filter_map(|key| session.view.get(key).cloned()).collect()))
    }

    async fn view_list(
        &self,
        session: SessionId,
        at: Seq,
        list: &str,
        part: ViewPart,
        limit: u32,
    ) -> Result<Option<Vec<ViewItem>>, ReadError> {
        let state = self.state();
        let session = state.sessions.get(&session).filter(|session| session.is_viewed_at(Some(at)));
        Ok(session.map(|session| {
            let is_in_part = |item: &&ViewItem| match (part, item.place) {
                (ViewPart::Before(end), Some(place)) => end.is_none_or(|end| place < end),
                (ViewPart::After(start), Some(place)) => place > start,
                (_, None) => false,
            };
            let mut items: Vec<ViewItem> =
                session.view.values().filter(|item| item.list == list).filter(is_in_part).cloned().collect();
            items.sort_by_key(|item| item.place);
            if matches!(part, ViewPart::Before(_)) {
                items.reverse();
            }
            items.truncate(limit as usize);
            items
        }))
    }

    async fn advance_view(
        &self,
        session: SessionId,
        from: Option<Seq>,
        to: &Checkpoint,
        items: &[ViewItem],
    ) -> Result<bool, ReadError> {
        let mut state = self.state();
        let Some(session) = state.sessions.get_mut(&session).filter(|session| session.is_viewed_at(from))
        else {
            return Ok(false);
        };
        session.checkpoint = Some(to.clone());
        session.view.extend(items.iter().map(|item| (item.key.clone(), item.clone())));
        Ok(true)
    }

    async fn drop_view(&self, session: SessionId, at: Seq) -> Result<(), ReadError> {
        let mut state = self.state();
        if let Some(session) =
            state.sessions.get_mut(&session).filter(|session| session.is_viewed_at(Some(at)))
        {
            session.checkpoint = None;
            session.view.clear();
        }
        Ok(())
    }
}
