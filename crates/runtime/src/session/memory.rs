//! The transcripts of a version: the agent's memory.
//!
//! A transcript grows by the line or is written anew, and may be long. So it is kept in segments of a fixed length, each a
//! blob: one that grew shares all but its last segment with the version before. A small blob lists them.

use std::collections::HashSet;

use bytes::{Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use warren_domain::{BlobHash, Fence, Partition, SessionId};
use warren_store::{Blobs, DamagedBlob, ReadError, Store, Transcripts, WriteError};

/// Size of a transcript segment, stored as one blob.
const SEGMENT: usize = 256 << 10;

/// How much of a transcript is in memory while it is kept: whole segments, and about what is saved at a time.
const AT_A_TIME: u64 = 16 * SEGMENT as u64;

/// The blobs of a version's transcripts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Memory {
    pub(crate) threads: Vec<Thread>,
}

/// The blobs of one transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Thread {
    /// The name under which it is stored; the main one is the empty text.
    pub(crate) name: String,
    pub(crate) bytes: u64,
    segments: Vec<BlobHash>,
}

/// Transcripts listed by a version are missing.
#[derive(Debug, thiserror::Error)]
enum Lost {
    #[error("blob `{0}` is missing")]
    Blob(BlobHash),
    #[error("blob `{0}` does not say where the transcripts are")]
    Unreadable(BlobHash),
}

impl Memory {
    /// Where blobs of transcripts are kept: apart from those that logs refer to, so that they can be collected.
    pub(crate) fn partition(of: &Partition) -> Partition {
        Partition(format!("{of}#memory"))
    }

    /// Keeps a session's transcripts as they are now. What the version before keeps already is not written again.
    pub(crate) async fn keep(
        session: SessionId,
        partition: &Partition,
        before: &Memory,
        store: &Store,
    ) -> Result<Self, ReadError> {
        let own = Self::partition(partition);
        let known: HashSet<&BlobHash> = before.threads.iter().flat_map(|thread| &thread.segments).collect();
        let mut threads = Vec::new();
        for (name, _) in store.transcripts.transcripts(session).await? {
            let (mut segments, mut bytes) = (Vec::new(), 0);
            loop {
                let part = store.transcripts.transcript_part(session, &name, bytes, AT_A_TIME).await?;
                bytes += part.len() as u64;
                for segment in cut(&part) {
                    let hash = BlobHash(blake3::hash(&segment).to_hex().to_string());
                    if !known.contains(&hash) {
                        store.blobs.put_blob(&own, segment).await?;
                    }
                    segments.push(hash);
                }
                if (part.len() as u64) < AT_A_TIME {
                    break;
                }
            }
            threads.push(Thread { name, bytes, segments });
        }
        Ok(Self { threads })
    }

    /// Keeps the list itself. `None` if there is nothing to list.
    pub(crate) async fn save(
        &self,
        partition: &Partition,
        blobs: &dyn Blobs,
    ) -> Result<Option<BlobHash>, ReadError> {
        if self.threads.is_empty() {
            return Ok(None);
        }
        let doing = "keep the list of transcripts";
        let list = serde_json::to_vec(self).map_err(|source| ReadError { doing, source: source.into() })?;
        blobs.put_blob(&Self::partition(partition), Bytes::from(list)).await.map(Some)
    }

    /// Reads the list. A version without one had no transcripts.
    pub(crate) async fn open(
        partition: &Partition,
        list: Option<&BlobHash>,
        blobs: &dyn Blobs,
    ) -> Result<Self, ReadError> {
        let Some(list) = list else { return Ok(Self::default()) };
        let bytes = blob(&Self::partition(partition), list, blobs).await?;
        serde_json::from_slice(&bytes).map_err(|_| lost(Lost::Unreadable(list.clone())))
    }

    /// Whether a list that could not be read is missing or damaged, so that reading it again would not help.
    pub(crate) fn is_lost(error: &ReadError) -> bool {
        error.source.is::<Lost>() || error.source.is::<DamagedBlob>()
    }

    /// The contents, by the name under which each is stored.
    pub(crate) async fn contents(
        &self,
        partition: &Partition,
        blobs: &dyn Blobs,
    ) -> Result<Vec<(String, Bytes)>, ReadError> {
        let own = Self::partition(partition);
        let mut all = Vec::new();
        for thread in &self.threads {
            let mut content = BytesMut::new();
            for segment in &thread.segments {
                content.extend_from_slice(&blob(&own, segment, blobs).await?);
            }
            all.push((thread.name.clone(), content.freeze()));
        }
        Ok(all)
    }

    /// Every blob it needs, but its own list.
    pub(crate) fn blobs(&self) -> impl Iterator<Item = &BlobHash> {
        self.threads.iter().flat_map(|thread| &thread.segments)
    }

    /// Lengths, as records have them.
    pub(crate) fn lengths(&self) -> Vec<(String, u64)> {
        self.threads.iter().map(|thread| (thread.name.clone(), thread.bytes)).collect()
    }
}

/// Makes a session's transcripts what `contents` says; those it does not name become empty. `fence` is that of the lease
/// under which the session is owned.
pub(crate) async fn put(
    session: SessionId,
    fence: Fence,
    contents: Vec<(String, Bytes)>,
    store: &dyn Transcripts,
) -> Result<(), WriteError> {
    let named: HashSet<String> = contents.iter().map(|(name, _)| name.clone()).collect();
    for (name, len) in store.transcripts(session).await? {
        if len > 0 && !named.contains(&name) {
            store.write_transcript(session, fence, &name, 0, Bytes::new()).await?;
        }
    }
    for (name, content) in contents {
        store.write_transcript(session, fence, &name, 0, content).await?;
    }
    Ok(())
}

fn cut(content: &Bytes) -> impl Iterator<Item = Bytes> {
    (0..content.len()).step_by(SEGMENT).map(|at| content.slice(at..content.len().min(at + SEGMENT)))
}

async fn blob(partition: &Partition, hash: &BlobHash, blobs: &dyn Blobs) -> Result<Bytes, ReadError> {
    blobs.blob(partition, hash).await?.ok_or_else(|| lost(Lost::Blob(hash.clone())))
}

fn lost(source: Lost) -> ReadError {
    ReadError { doing: "read the transcripts of a version", source: Box::new(source) }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{SEGMENT, cut};

    #[test]
    fn segments_are_the_whole_content_and_one_that_grew_shares_all_but_the_last() {
        let long = Bytes::from((0..SEGMENT * 2 + 7).map(|n| n as u8).collect::<Vec<_>>());
        let grown = Bytes::from([&long[..], b"more"].concat());
        let (before, after): (Vec<_>, Vec<_>) = (cut(&long).collect(), cut(&grown).collect());
        assert_eq!(before.concat(), long);
        assert_eq!(after.concat(), grown);
        assert_eq!(before[..2], after[..2]);
        assert_eq!(cut(&Bytes::new()).count(), 0);
    }
}
