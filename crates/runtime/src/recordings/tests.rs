use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use warren_domain::{BlobHash, ModelCalled, Partition, RunId, Timestamp, Usage};
use warren_models::{Ending, Exchange, Recording};
use warren_store::{Blobs, ReadError};

use super::{Allowed, LoadError, MAX_RECENT_RECORDINGS, Recordings, Shelf, StoreError, kept_for};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Blobs in memory; how often they were read.
#[derive(Default)]
struct MemoryBlobs {
    blobs: Mutex<HashMap<BlobHash, Bytes>>,
    n_reads: Mutex<usize>,
}

impl MemoryBlobs {
    fn n_bytes(&self) -> usize {
        self.blobs.lock().unwrap_or_else(PoisonError::into_inner).values().map(Bytes::len).sum()
    }

    fn remove(&self, hash: &BlobHash) {
        self.blobs.lock().expect("alive").remove(hash).expect("there");
    }

    fn take_reads(&self) -> usize {
        std::mem::take(&mut *self.n_reads.lock().expect("alive"))
    }
}

#[async_trait]
impl Blobs for MemoryBlobs {
    async fn put_blob(&self, _: &Partition, bytes: Bytes) -> Result<BlobHash, ReadError> {
        let hash = BlobHash(blake3::hash(&bytes).to_hex().to_string());
        self.blobs.lock().expect("alive").insert(hash.clone(), bytes);
        Ok(hash)
    }

    async fn blob(&self, _: &Partition, hash: &BlobHash) -> Result<Option<Bytes>, ReadError> {
        *self.n_reads.lock().expect("alive") += 1;
        Ok(self.blobs.lock().expect("alive").get(hash).cloned())
    }

    async fn sweep_blobs(
        &self,
        _: &Partition,
        _: &HashSet<BlobHash>,
        _: Timestamp,
    ) -> Result<u64, ReadError> {
        Ok(0)
    }

    async fn blob_spaces(&self) -> Result<Vec<Partition>, ReadError> {
        Ok(Vec::new())
    }
}

/// A session whose agent sends its whole conversation with every call.
struct Session {
    directory: tempfile::TempDir,
    blobs: MemoryBlobs,
    space: Partition,
    recordings: Recordings,
    stored: Vec<BlobHash>,
    conversation: String,
    n_new: usize,
    room: u64,
    n_refused: usize,
}

impl Session {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        Self {
            recordings: Recordings::new(directory.path().to_owned()),
            directory,
            blobs: MemoryBlobs::default(),
            space: Partition::from("a#calls-b"),
            stored: Vec::new(),
            conversation: noise("system", 10_000),
            n_new: 10_000,
            room: u64::MAX,
            n_refused: 0,
        }
    }

    async fn call(&mut self, run: u128, retention: Duration) {
        let n = self.stored.len();
        let (said, answer) = (noise(&format!("said {n}"), 600), noise(&format!("answer {n}"), 400));
        self.conversation.push_str(&said);
        self.n_new += said.len() + answer.len();
        let recent: Vec<BlobHash> = self.stored.iter().rev().take(MAX_RECENT_RECORDINGS).cloned().collect();
        let exchange = exchange(RunId(uuid::Uuid::from_u128(run)), &self.conversation, answer);
        let now = Timestamp::from_millis(1_000 + i64::try_from(n).expect("small"));
        let allowed = Allowed { bytes: self.room, retention };
        let stored = self.recordings.store(&self.blobs, &self.space, exchange, &recent, now, allowed).await;
        match stored {
            Ok(stored) => self.stored.push(stored.hash),
            Err(StoreError::NoRoom { .. }) => self.n_refused += 1,
            Err(error) => panic!("{error}"),
        }
    }

    fn shelf(&self) -> Shelf {
        Shelf::new(self.directory.path())
    }

    async fn read(&self, n: usize) -> Result<Recording, LoadError> {
        let mut shelf = self.shelf();
        shelf.fetch(&self.blobs, &self.space, &self.stored[n]).await?;
        shelf.recording(&self.stored[n])
    }
}

/// Text of sixteen letters: at best half as long when compressed.
fn noise(seed: &str, n: usize) -> String {
    let mut bytes = vec![0; n];
    blake3::Hasher::new().update(seed.as_bytes()).finalize_xof().fill(&mut bytes);
    bytes.iter().map(|byte| char::from(b'a' + byte % 16)).collect()
}

fn exchange(run: RunId, request: &str, answer: String) -> Exchange {
    let called = ModelCalled {
        call_id: None,
        model: "a-model".to_owned(),
        request_hash: BlobHash(String::new()),
        status: 200,
        ms: 1,
        attempt: 1,
        usage: Usage::default(),
        cost_usd: 0.0,
        recording: None,
        recording_bytes: None,
    };
    Exchange {
        run,
        called,
        ending: Ending::Complete,
        refusal: None,
        settlement: None,
        path: "/v1/messages".to_owned(),
        request: Bytes::from(request.to_owned()),
        content_type: None,
        response: Bytes::from(answer),
        response_omitted: 0,
        conversation: None,
    }
}

#[tokio::test]
async fn recordings_of_300_calls_in_60_runs_take_bytes_in_proportion_to_what_is_new() {
    let mut session = Session::new();
    for n in 0..300 {
        session.call(n / 5, 30 * DAY).await;
    }
    let (n_stored, n_new) = (session.blobs.n_bytes(), session.n_new);
    assert!(n_stored * 10 <= n_new * 13, "{n_stored} bytes stored for {n_new} new ones");

    session.blobs.take_reads();
    let last = session.read(299).await.expect("a recording");
    assert_eq!(last.request, session.conversation.as_bytes());
    let n_reads = session.blobs.take_reads();
    assert!(n_reads < 64, "{n_reads} blobs read for one recording");

    let mut shelf = session.shelf();
    for hash in &session.stored {
        shelf.fetch(&session.blobs, &session.space, hash).await.expect("it is there");
    }
    assert_eq!(session.blobs.take_reads(), 300, "each blob is read once");
    for (n, hash) in session.stored.iter().enumerate().rev().chain([(7, &session.stored[7])]) {
        let whole = shelf.recording(hash).expect("a recording");
        assert_eq!(whole.response, noise(&format!("answer {n}"), 400).as_bytes(), "recording {n}");
    }
}

#[tokio::test]
async fn a_lost_recording_takes_no_later_run_along() {
    let mut session = Session::new();
    for n in 0..4 {
        session.call(n / 2, 30 * DAY).await;
    }
    session.blobs.remove(&session.stored[3]);
    session.call(9, 30 * DAY).await;
    session.blobs.remove(&session.stored[0]);
    for n in 5..8 {
        session.call(9 + n, 30 * DAY).await;
    }
    for n in [0, 1, 2, 3, 4] {
        let read = session.read(n).await;
        assert!(matches!(read, Err(LoadError::Gone(_))), "{n}: {read:?}");
    }
    for n in 5..8 {
        session.read(n).await.expect("a recording");
    }
}

#[tokio::test]
async fn a_recording_of_an_earlier_version_is_readable_and_not_continued() {
    let mut session = Session::new();
    let old = Recording::encode(&exchange(RunId(uuid::Uuid::nil()), "{}", "answered".to_owned()));
    session.stored.push(session.blobs.put_blob(&session.space, old).await.expect("put"));
    session.call(1, 30 * DAY).await;
    assert_eq!(session.read(0).await.expect("a recording").response, "answered");
    session.blobs.remove(&session.stored[0]);
    session.read(1).await.expect("it stands alone");
}

#[tokio::test]
async fn recordings_share_nothing_where_they_are_not_kept() {
    let mut session = Session::new();
    for _ in 0..3 {
        session.call(1, Duration::ZERO).await;
    }
    session.blobs.remove(&session.stored[0]);
    session.blobs.remove(&session.stored[1]);
    session.read(2).await.expect("it stands alone");
    assert_eq!(kept_for(Duration::ZERO), Duration::ZERO);
    assert_eq!(kept_for(30 * DAY), 31 * DAY);
}

#[tokio::test]
async fn a_recording_without_room_is_not_stored_and_nothing_is_based_on_it() {
    let mut session = Session::new();
    session.call(1, 30 * DAY).await;
    let n_bytes = session.blobs.n_bytes();
    session.room = 100;
    session.call(1, 30 * DAY).await;
    assert_eq!((session.n_refused, session.blobs.n_bytes()), (1, n_bytes));
    session.room = u64::MAX;
    session.call(1, 30 * DAY).await;
    assert_eq!(session.read(1).await.expect("a recording").request, session.conversation.as_bytes());
}
