//! Carries out an accepted commit's changes. Entries and heads wait for the end of the batch.

use std::collections::BTreeMap;

use warren_domain::SessionId;

use super::Batch;
use crate::{
    Change, Commit, Key, SessionRecord, SessionUpdate, WorkspaceFile,
    sql::{
        approvals,
        args::{Arg, args},
        queries::{
            APPROVAL_PUT, FILE_PUT, FILE_REMOVE, KEY_FORGET, KEY_PUT, LOG_CREATE, Query, RUN_PUT,
            SESSION_CREATE, SESSION_UPDATE, VERSION_PUT,
        },
        row::to_json,
        runs, sessions, versions,
    },
};

impl Batch<'_> {
    pub(super) async fn apply(&mut self, commit: &Commit) -> Result<(), sqlx::Error> {
        // The session first, whatever the order: the others refer to it.
        for change in &commit.changes {
            if let Change::CreateSession(record) = change {
                self.create(record).await?;
            }
        }
        for change in &commit.changes {
            match change {
                Change::UpdateSession(update) => self.update(commit.session, update).await?,
                Change::PutRun(record) => self.put(RUN_PUT, runs::run_args(record)?).await?,
                Change::PutApproval(record) => {
                    self.put(APPROVAL_PUT, approvals::approval_args(record)?).await?;
                }
                Change::PutVersion(record) => self.put(VERSION_PUT, versions::version_args(record)?).await?,
                Change::PutKey(key) => self.put_key(commit.session, key).await?,
                // Counted by the check; files go together.
                Change::CreateSession(_)
                | Change::Count(_)
                | Change::PutFile(_)
                | Change::RemoveFile(_)
                | Change::AddBlobBytes(_) => {}
            }
        }
        self.files(commit).await
    }

    async fn put(&mut self, query: Query, args: Vec<Arg>) -> Result<(), sqlx::Error> {
        self.tx.write(query, args).await.map(|_| ())
    }

    async fn create(&mut self, record: &SessionRecord) -> Result<(), sqlx::Error> {
        let created = self.tx.read(LOG_CREATE, args![record.session_id]).await?;
        // No row: another node was faster since the logs were locked. Tried again alone, it will be seen.
        let row = created.first().ok_or(sqlx::Error::RowNotFound)?;
        self.logs.entry(record.session_id).or_default().log = row.int(0)?;
        self.put(SESSION_CREATE, sessions::session_args(record)?).await
    }

    async fn update(&mut self, session: SessionId, update: &SessionUpdate) -> Result<(), sqlx::Error> {
        let SessionUpdate { name, metadata, options, last_activity: _ } = update;
        if name.is_none() && metadata.is_none() && options.is_none() {
            return Ok(());
        }
        let folded = name.as_deref().map(sessions::folded);
        let metadata = metadata.as_ref().map(to_json).transpose()?;
        let options = options.as_ref().map(to_json).transpose()?;
        self.put(SESSION_UPDATE, args![session, name.clone(), folded, metadata, options]).await
    }

    async fn put_key(&mut self, session: SessionId, key: &Key) -> Result<(), sqlx::Error> {
        self.put(KEY_FORGET, args![session, self.now]).await?;
        let args = args![session, &key.key, &key.request, key.run_id, key.seq, key.expires_at];
        self.put(KEY_PUT, args).await
    }

    /// The last word on each path, in one statement for those that are there and one for those that are gone.
    async fn files(&mut self, commit: &Commit) -> Result<(), sqlx::Error> {
        let mut last: BTreeMap<&str, Option<&WorkspaceFile>> = BTreeMap::new();
        for change in &commit.changes {
            match change {
                Change::PutFile(file) => last.insert(&file.path, Some(file)),
                Change::RemoveFile(path) => last.insert(path, None),
                _ => continue,
            };
        }
        let mut put = Vec::new();
        let mut gone = Vec::new();
        for (path, file) in last {
            match file {
                Some(file) => put.push((path, to_json(file)?)),
                None => gone.push(path),
            }
        }
        if !put.is_empty() {
            self.put(FILE_PUT, args![commit.session, to_json(&put)?]).await?;
        }
        if !gone.is_empty() {
            self.put(FILE_REMOVE, args![commit.session, to_json(&gone)?]).await?;
        }
        Ok(())
    }
}
