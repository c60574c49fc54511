//! Views: checkpoints and their items.

use async_trait::async_trait;
use bytes::Bytes;
use warren_domain::{BlobHash, Seq, SessionId};

use super::{
    Sql,
    args::{Arg, args, int},
    db::Failed,
    queries::{CHECKPOINT_GET, Query, VIEW_ADVANCE, VIEW_AFTER, VIEW_BEFORE, VIEW_DROP, VIEW_ITEMS},
    row::{Row, to_json},
    while_doing,
};
use crate::{Checkpoint, ReadError, ViewItem, ViewPart, Views};

#[async_trait]
impl Views for Sql {
    async fn checkpoint(&self, session: SessionId) -> Result<Option<Checkpoint>, ReadError> {
        let row = self.db.read_one(CHECKPOINT_GET, args![session]).await;
        row.and_then(|row| row.as_ref().map(read_checkpoint).transpose())
            .map_err(while_doing("read the checkpoint"))
    }

    async fn view_items(
        &self,
        session: SessionId,
        at: Seq,
        keys: &[String],
    ) -> Result<Option<Vec<ViewItem>>, ReadError> {
        let read = async { self.at(VIEW_ITEMS, at, args![session, to_json(keys)?]).await };
        read.await.map_err(while_doing("read items of the view"))
    }

    async fn view_list(
        &self,
        session: SessionId,
        at: Seq,
        list: &str,
        part: ViewPart,
        limit: u32,
    ) -> Result<Option<Vec<ViewItem>>, ReadError> {
        let (query, place) = match part {
            ViewPart::Before(place) => (VIEW_BEFORE, place.map_or(i64::MAX, |place| int(place.0))),
            ViewPart::After(place) => (VIEW_AFTER, int(place.0)),
        };
        self.at(query, at, args![session, list, place, limit])
            .await
            .map_err(while_doing("read a part of the view"))
    }

    async fn advance_view(
        &self,
        session: SessionId,
        from: Option<Seq>,
        to: &Checkpoint,
        items: &[ViewItem],
    ) -> Result<bool, ReadError> {
        const DOING: &str = "move the view on";
        let mut bodies = Vec::new();
        let mut rows = Vec::with_capacity(items.len());
        for item in items {
            // The database counts places from 1.
            let at = bodies.len() + 1;
            rows.push((&item.key, &item.list, item.place, item.first, at, item.body.len()));
            bodies.extend_from_slice(&item.body);
        }
        let rows = to_json(&rows).map_err(while_doing(DOING))?;
        let args = args![
            session,
            from.unwrap_or_default(),
            to.seq,
            to.format,
            &to.hash,
            to.state.to_vec(),
            rows,
            bodies,
        ];
        let moved = self.db.transact(VIEW_ADVANCE, args).await;
        moved.map(|moved| !moved.is_empty()).map_err(source).map_err(while_doing(DOING))
    }

    async fn drop_view(&self, session: SessionId, at: Seq) -> Result<(), ReadError> {
        let dropped = self.db.transact(VIEW_DROP, args![session, at]).await;
        dropped.map(drop).map_err(source).map_err(while_doing("drop the view"))
    }
}

impl Sql {
    /// Items, if the view is still where the reader believes it to be.
    async fn at(&self, query: Query, at: Seq, args: Vec<Arg>) -> Result<Option<Vec<ViewItem>>, sqlx::Error> {
        let rows = self.db.read(query, args).await?;
        match rows.first() {
            Some(first) if Seq(first.number("at")?) == at => {}
            _ => return Ok(None),
        }
        rows.iter().filter_map(|row| read_item(row).transpose()).collect::<Result<_, _>>().map(Some)
    }
}

/// Whether or not it was committed, trying again is right: a view is made from the log.
fn source(failed: Failed) -> sqlx::Error {
    let (Failed::Before(source) | Failed::AtCommit(source)) = failed;
    source
}

fn read_checkpoint(row: &Row) -> Result<Checkpoint, sqlx::Error> {
    Ok(Checkpoint {
        seq: Seq(row.number(0)?),
        format: row.number(1)?,
        hash: BlobHash(row.text(2)?),
        state: Bytes::from(row.bytes(3)?),
    })
}

/// `None` for the row that only says where the view is.
fn read_item(row: &Row) -> Result<Option<ViewItem>, sqlx::Error> {
    let Some(key) = row.maybe_text("item_key")? else { return Ok(None) };
    Ok(Some(ViewItem {
        key,
        list: row.text("list")?,
        place: row.maybe_number("place")?.map(Seq),
        first: Seq(row.number("first_seq")?),
        body: Bytes::from(row.bytes("body")?),
    }))
}
