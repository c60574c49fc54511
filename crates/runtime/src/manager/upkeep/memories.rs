//! Which blobs the transcripts of versions need.

use std::collections::{HashMap, HashSet};

use warren_domain::{BlobHash, Partition, Timestamp};
use warren_store::{Blobs, ReadError};

use crate::session::Memory;

/// Lists of transcripts that are lost, and since when we know.
///
/// A lost list is missing or damaged: nobody can find the segments it named, but an operator may put the list back from a
/// backup. So it holds up the garbage collection for one grace period, with an error in the log each time, and no longer.
#[derive(Default)]
pub(super) struct LostLists(HashMap<(Partition, BlobHash), Timestamp>);

impl LostLists {
    /// Returns the lists and all segments they name.
    ///
    /// # Errors
    /// When a list cannot be read, or was found lost after `grace_began`. Then nothing may be removed.
    pub(super) async fn needed(
        &mut self,
        partition: &Partition,
        lists: HashSet<BlobHash>,
        blobs: &dyn Blobs,
        (now, grace_began): (Timestamp, Timestamp),
    ) -> Result<HashSet<BlobHash>, ReadError> {
        self.0.retain(|(of, list), _| of != partition || lists.contains(list));
        let (mut needed, mut holds_up) = (HashSet::new(), None);
        for list in lists {
            let key = (partition.clone(), list.clone());
            match Memory::open(partition, Some(&list), blobs).await {
                Ok(memory) => {
                    self.0.remove(&key);
                    needed.extend(memory.blobs().cloned());
                }
                Err(error) if Memory::is_lost(&error) => {
                    let since = *self.0.entry(key).or_insert(now);
                    let cause = &error as &dyn std::error::Error;
                    tracing::error!(
                        %partition, list = list.as_str(), since_ms = since.as_millis(), error = cause,
                        "the transcripts of a version are lost; hint: put the blob back from a backup within the grace period"
                    );
                    if since > grace_began {
                        holds_up = Some(error);
                    }
                }
                Err(error) => return Err(error),
            }
            needed.insert(list);
        }
        holds_up.map_or(Ok(needed), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, sync::Mutex};

    use async_trait::async_trait;
    use bytes::Bytes;
    use warren_domain::{BlobHash, Partition, Timestamp};
    use warren_store::{Blobs, ReadError};

    use super::LostLists;

    const GRACE_MS: i64 = 1000;

    /// Blobs that are there, missing, or in a store that fails.
    #[derive(Default)]
    struct Shelf {
        blobs: Mutex<Vec<(BlobHash, Bytes)>>,
        fails: bool,
    }

    impl Shelf {
        fn put(&self, hash: &str, json: String) {
            self.blobs.lock().expect("no panic").push((hash.into(), Bytes::from(json)));
        }
    }

    #[async_trait]
    impl Blobs for Shelf {
        async fn put_blob(&self, _: &Partition, _: Bytes) -> Result<BlobHash, ReadError> {
            unreachable!("nothing is put")
        }

        async fn blob(&self, _: &Partition, hash: &BlobHash) -> Result<Option<Bytes>, ReadError> {
            if self.fails {
                return Err(ReadError { doing: "read the blob", source: "the store is away".into() });
            }
            let blobs = self.blobs.lock().expect("no panic");
            Ok(blobs.iter().find(|(name, _)| name == hash).map(|(_, bytes)| bytes.clone()))
        }

        async fn sweep_blobs(
            &self,
            _: &Partition,
            _: &HashSet<BlobHash>,
            _: Timestamp,
        ) -> Result<u64, ReadError> {
            unreachable!("nothing is swept")
        }

        async fn blob_spaces(&self) -> Result<Vec<Partition>, ReadError> {
            unreachable!("nothing is listed")
        }
    }

    fn list(segments: &[&str]) -> String {
        let thread = serde_json::json!({"name": "", "bytes": 1, "segments": segments});
        serde_json::json!({"threads": [thread]}).to_string()
    }

    fn hashes(names: &[&str]) -> HashSet<BlobHash> {
        names.iter().map(|name| BlobHash::from(*name)).collect()
    }

    async fn needed(lost: &mut LostLists, shelf: &Shelf, at_ms: i64) -> Option<HashSet<BlobHash>> {
        let times = (Timestamp::from_millis(at_ms), Timestamp::from_millis(at_ms - GRACE_MS));
        let (partition, lists) = (Partition::from("p"), hashes(&["one", "two"]));
        lost.needed(&partition, lists, shelf, times).await.ok()
    }

    #[tokio::test]
    async fn lost_list_holds_up_the_collection_for_one_grace_period() {
        let (mut lost, shelf) = (LostLists::default(), Shelf::default());
        shelf.put("one", list(&["a", "b"]));
        assert_eq!(needed(&mut lost, &shelf, 5000).await, None);
        assert_eq!(needed(&mut lost, &shelf, 5999).await, None);
        assert_eq!(needed(&mut lost, &shelf, 6000).await, Some(hashes(&["one", "two", "a", "b"])));
        shelf.put("two", list(&["c"]));
        assert_eq!(needed(&mut lost, &shelf, 6001).await, Some(hashes(&["one", "two", "a", "b", "c"])));
    }

    #[tokio::test]
    async fn restored_list_that_is_lost_again_holds_up_the_collection_again() {
        let (mut lost, shelf) = (LostLists::default(), Shelf::default());
        shelf.put("one", list(&["a"]));
        assert_eq!(needed(&mut lost, &shelf, 5000).await, None);
        shelf.put("two", list(&["b"]));
        assert_eq!(needed(&mut lost, &shelf, 6000).await, Some(hashes(&["one", "two", "a", "b"])));
        shelf.blobs.lock().expect("no panic").pop();
        assert_eq!(needed(&mut lost, &shelf, 7000).await, None);
    }

    #[tokio::test]
    async fn failing_store_holds_up_the_collection_for_as_long_as_it_fails() {
        let (mut lost, shelf) = (LostLists::default(), Shelf { fails: true, ..Shelf::default() });
        for at_ms in [5000, 6000, 1_000_000] {
            assert_eq!(needed(&mut lost, &shelf, at_ms).await, None);
        }
    }
}
