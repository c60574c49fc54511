//! Counts what is limited. The one check that writes: it comes last, so that nothing is counted of what is refused.

use super::Batch;
use crate::{
    Change, Commit, CommitError, Count,
    sql::{args::args, queries::COUNT_ADD},
};

impl Batch<'_> {
    /// Counts a commit that says so, or says that there are enough. The row is locked until the batch ends, so that two
    /// nodes cannot both take the last place.
    pub(super) async fn count(&mut self, commit: &Commit) -> Result<Result<(), CommitError>, sqlx::Error> {
        let counted = commit.changes.iter().find_map(|change| match change {
            Change::Count(count) => Some(count),
            _ => None,
        });
        let Some(Count { account, since, most }) = counted else { return Ok(Ok(())) };
        let refused = |most| Ok(Err(CommitError::LimitReached { most }));
        if *most == Some(0) {
            return refused(0);
        }
        let counted = self.tx.read(COUNT_ADD, args![account, *since, *most]).await?;
        match most {
            Some(most) if counted.is_empty() => refused(*most),
            _ => Ok(Ok(())),
        }
    }
}
