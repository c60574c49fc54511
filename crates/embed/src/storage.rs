//! Records and blobs belong together: this server's storage must be the one of its database.

use std::{path::Path, sync::Arc};

use anyhow::Result;
use object_store::ObjectStore;
use warren_config::{Config, Database};
use warren_env::Env;
use warren_server::Advice;
use warren_store::{StorageError, Store};

use crate::advised::Advised;

/// Refuses a blob storage that belongs to another database, or a database that belongs with another blob storage.
pub(crate) async fn claim(store: &Store, blobs: &Arc<dyn ObjectStore>, env: &Env, place: &str) -> Result<()> {
    let claimed = warren_store::claim_storage(store, blobs, &env.uuid().to_string()).await;
    claimed.map_err(|error| match error {
        StorageError::Other { expected, found } => {
            let found = found.map_or_else(|| "has no id".to_owned(), |found| format!("has the id `{found}`"));
            let message = format!(
                "the blob storage {place} does not belong to this database: it {found}, but the database expects `{expected}`"
            );
            let hint = format!(
                "servers on one database must share one blob storage: give each the same `storage.blobs_url` (or \
                 WARREN_STORAGE_BLOBS_URL); if this storage is the right one, moved or restored, write `{expected}` into \
                 its object `blobs/storage-id`"
            );
            Advised::new(message, hint).into()
        }
        StorageError::Failed(error) => error.into(),
    })
}

/// Where blobs are, for people.
pub(crate) fn place(config: &Config, directory: &Path) -> String {
    match &config.storage.blobs {
        Some(blobs) => format!("`{}`", blobs.url),
        None => format!("`{}`", directory.display()),
    }
}

/// A warning about a database that servers can share with blobs that they cannot.
#[must_use]
pub fn advice(config: &Config, directory: &Path) -> Option<Advice> {
    let is_shared = matches!(config.storage.database, Database::Postgres(_));
    (is_shared && config.storage.blobs.is_none()).then(|| Advice {
        problem: format!(
            "records are in PostgreSQL, but blobs and versions of files are on this machine's disk, in `{}`: no other \
             server can use this database, and a backup of the database alone is not enough",
            directory.display()
        ),
        hint: "to run more than one server, set `storage.blobs_url` (WARREN_STORAGE_BLOBS_URL) to a bucket".to_owned(),
    })
}
