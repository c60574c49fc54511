use std::{path::Path, sync::Arc};

use object_store::{ObjectStore, memory::InMemory};
use warren_env::{Env, Tasks};

use super::{StorageError, claim_storage};
use crate::{Store, scratch};

async fn records(directory: &Path, tasks: &Tasks) -> Store {
    scratch(directory, Env::system(), tasks).await.expect("it opens")
}

fn storage() -> Arc<dyn ObjectStore> {
    Arc::new(InMemory::new())
}

#[tokio::test]
async fn first_storage_is_claimed_and_another_one_refused_whether_or_not_it_has_an_id() {
    let (directory, tasks) = (tempfile::tempdir().expect("a directory"), Tasks::new());
    let store = records(directory.path(), &tasks).await;
    let (ours, empty, others) = (storage(), storage(), storage());
    claim_storage(&store, &ours, "ours").await.expect("the first");
    claim_storage(&store, &ours, "at a later start").await.expect("the same again");

    let elsewhere = tempfile::tempdir().expect("a directory");
    let other = records(elsewhere.path(), &tasks).await;
    claim_storage(&other, &others, "theirs").await.expect("the first of another database");
    for (storage, id) in [(&empty, None), (&others, Some("theirs"))] {
        // Twice: a refused storage gets no id that it could be known by later.
        for _ in 0..2 {
            let refused = claim_storage(&store, storage, "fresh").await;
            let Err(StorageError::Other { expected, found }) = refused else { panic!("{refused:?}") };
            assert_eq!((expected.as_str(), found.as_deref()), ("ours", id));
        }
    }
    tasks.cancel();
}

#[tokio::test]
async fn storage_with_an_id_is_claimed_by_a_new_database() {
    let (directory, elsewhere) =
        (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let tasks = Tasks::new();
    let ours = storage();
    claim_storage(&records(directory.path(), &tasks).await, &ours, "ours").await.expect("the first");
    let moved = records(elsewhere.path(), &tasks).await;
    claim_storage(&moved, &ours, "fresh").await.expect("nothing speaks against it");
    assert_eq!(moved.leases.storage().await.expect("it is read").as_deref(), Some("ours"));
    tasks.cancel();
}

#[tokio::test]
async fn servers_that_start_at_once_on_one_storage_claim_the_same_id() {
    let (directory, tasks) = (tempfile::tempdir().expect("a directory"), Tasks::new());
    let store = records(directory.path(), &tasks).await;
    let ours = storage();
    let ids: Vec<String> = (0..8).map(|n| n.to_string()).collect();
    let claims = ids.iter().map(|id| claim_storage(&store, &ours, id));
    for claimed in futures::future::join_all(claims).await {
        claimed.expect("all share it");
    }
    tasks.cancel();
}
