//! Recorded model calls: stored so that a call costs what is new in it, and read back.
//!
//! A recording shares content with those before it (see `warren_models::Packed`). All are blobs of their session's own
//! space, each put before the `model_called` entry that names it. Retention deletes them by age ([`kept_for`]), which is
//! safe since no chain of them grows older than [`max_chain_age`].

mod shelf;

use std::{io, path::PathBuf, time::Duration};

use warren_domain::{BlobHash, MAX_RECENT_RECORDINGS, Partition, RunId, Timestamp};
use warren_models::{Exchange, Lane, Lanes, RecordingError};
use warren_store::{Blobs, ReadError};

pub(crate) use self::shelf::Shelf;

/// Recordings share content with those of at most so long before.
const MAX_CHAIN_AGE: Duration = Duration::from_secs(23 * 3600);

/// The clock of the blobs may be another machine's.
const CLOCK_MARGIN: Duration = Duration::from_secs(3600);

/// How old a chain may become if recordings are readable for `retention`. Where they hardly are, nothing is shared.
fn max_chain_age(retention: Duration) -> Duration {
    MAX_CHAIN_AGE.min(retention / 2)
}

/// How long recordings are kept so that each is readable for `retention`: later ones may be based on them.
pub(crate) fn kept_for(retention: Duration) -> Duration {
    match max_chain_age(retention) {
        Duration::ZERO => retention,
        age => retention + age + CLOCK_MARGIN,
    }
}

/// Why a call was not recorded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    /// It could not be compressed.
    #[error("failed to pack the recording")]
    Pack(#[source] io::Error),
    /// It takes more than there is room for.
    #[error("the recording takes {bytes} bytes, more than the remaining limit")]
    NoRoom {
        /// How much it takes.
        bytes: u64,
    },
    /// Its bytes could not be written.
    #[error("failed to write the recording")]
    Write(#[source] ReadError),
}

/// Why a recording was not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// It is not there, or one that it is based on is not.
    #[error("recording `{0}` is not stored any more")]
    Gone(BlobHash),
    /// Its bytes are no recording.
    #[error(transparent)]
    Damaged(#[from] RecordingError),
    /// The blobs cannot be read.
    #[error("failed to read a recording")]
    Read(#[source] ReadError),
    /// The file of the shelf cannot be written or read.
    #[error("failed to read a recording from its temporary file")]
    Shelf(#[source] io::Error),
}

/// Stores the calls of one session.
pub(crate) struct Recordings {
    /// Where temporary files are made.
    directory: PathBuf,
    lanes: Lanes,
    /// The run that the lanes were read for.
    run: Option<RunId>,
}

impl Recordings {
    /// Of a session whose server makes temporary files in `directory`.
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self { directory, lanes: Lanes::default(), run: None }
    }

    /// Stores a call. `recent` are the session's latest recordings, the last one first. Each run reads them again before it
    /// bases anything on them, so that one that was lost takes no later run along.
    pub(crate) async fn store(
        &mut self,
        blobs: &dyn Blobs,
        space: &Partition,
        exchange: Exchange,
        recent: &[BlobHash],
        now: Timestamp,
        allowed: Allowed,
    ) -> Result<Stored, StoreError> {
        if self.run.replace(exchange.run) != Some(exchange.run) {
            self.lanes = Lanes::default();
            self.resume(blobs, space, &exchange.request, recent).await;
        }
        let lanes = std::mem::take(&mut self.lanes);
        let work = move || {
            let prepared = lanes.prepare(&exchange, now, max_chain_age(allowed.retention));
            (lanes, prepared)
        };
        let done = tokio::task::spawn_blocking(work).await;
        let (lanes, prepared) = done.map_err(|panicked| StoreError::Pack(io::Error::other(panicked)))?;
        self.lanes = lanes;
        let prepared = prepared.map_err(StoreError::Pack)?;
        let bytes = prepared.bytes.len() as u64;
        if bytes > allowed.bytes {
            return Err(StoreError::NoRoom { bytes });
        }
        let hash = blobs.put_blob(space, prepared.bytes.clone()).await.map_err(StoreError::Write)?;
        self.lanes.stored(prepared, hash.clone());
        Ok(Stored { hash, bytes })
    }

    /// Without them everything is stored whole once more, which is no error.
    async fn resume(&mut self, blobs: &dyn Blobs, space: &Partition, request: &[u8], recent: &[BlobHash]) {
        for hash in recent.iter().take(MAX_RECENT_RECORDINGS) {
            match self.lane_of(blobs, space, hash).await {
                Ok(lane) => lane.into_iter().for_each(|lane| self.lanes.resume(lane)),
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::debug!(%space, error, "an earlier recording cannot be continued");
                }
            }
            if self.lanes.has_lane_for(request) {
                return;
            }
        }
    }

    async fn lane_of(
        &self,
        blobs: &dyn Blobs,
        space: &Partition,
        hash: &BlobHash,
    ) -> Result<Option<Lane>, LoadError> {
        let mut shelf = Shelf::new(&self.directory);
        shelf.fetch(blobs, space, hash).await?;
        let hash = hash.clone();
        let unpacked = tokio::task::spawn_blocking(move || shelf.lane(&hash)).await;
        unpacked.unwrap_or_else(|panicked| Err(LoadError::Shelf(io::Error::other(panicked))))
    }
}

/// How much is kept, and for how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowed {
    /// How many bytes a recording may take.
    pub(crate) bytes: u64,
    pub(crate) retention: Duration,
}

/// A stored recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) hash: BlobHash,
    /// How many bytes it takes.
    pub(crate) bytes: u64,
}

#[cfg(test)]
mod tests;
