//! Saves an agent's own memory while it grows, and puts it back into a new sandbox.

use std::{
    collections::{HashMap, hash_map::Entry},
    io::Cursor,
    ops::ControlFlow,
    sync::Arc,
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use serde_json::Value;
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use warren_agents::{Growth, TranscriptName, TranscriptPlan};
use warren_domain::{Fence, SessionId};
use warren_env::{TaskKind, Tasks};
use warren_guest_api::{FileKind, FilePath, ListRequest, ReadRequest, Root, WriteHow, WriteRequest};
use warren_sandbox::Guest;
use warren_store::{ReadError, Transcripts, WriteError};

use super::Identity;

/// At most this much of one transcript is saved at a time.
const STEP: u64 = 4 << 20;

/// A transcript longer than this is not saved further: something is wrong with the agent.
const LONGEST: u64 = 1 << 30;

/// What belongs to transcripts, holds no blocks and is longer than this, such as all that a tool printed, is kept with the
/// home in a version's tree and not a second time here.
const LONGEST_OTHER: u64 = 8 << 20;

/// Between two saves that nobody waits for.
const PAUSE: Duration = Duration::from_millis(500);

/// Timeout of a save. A guest that takes longer does not hold up the session; the next save catches up.
const FLUSH: Duration = Duration::from_secs(10);

/// Limits on the depth and the number of entries of an agent's transcripts.
const DEPTH: u32 = 8;
const MOST_FILES: u32 = 10_000;

/// Where what an agent's codec wants to be remembered is kept, beside the transcripts. No adapter's name begins so.
pub(crate) const STATE: &str = "@@state";

/// Asks the task that saves. A cheap clone.
#[derive(Clone)]
pub(super) struct TranscriptKeeper {
    /// Holds one request: a second one while the first waits would save the same bytes.
    nudges: mpsc::Sender<Option<oneshot::Sender<()>>>,
}

struct Keeper {
    session: SessionId,
    /// The lease under which the sandbox runs.
    fence: Fence,
    plan: Box<dyn TranscriptPlan>,
    guest: Guest,
    store: Arc<dyn Transcripts>,
    /// Saved length of each transcript, by name.
    saved: HashMap<String, Saved>,
}

/// The saved part of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Saved {
    len: u64,
    /// When the file that was saved had last changed; only those that are written anew need it.
    mtime_ns: i64,
}

/// A file of an agent's memory as it lies in the sandbox.
struct Found {
    /// Beneath the home.
    path: String,
    growth: Growth,
    len: u64,
    mtime_ns: i64,
}

/// Why transcripts could not be restored.
#[derive(Debug, thiserror::Error)]
pub(super) enum PutBackError {
    /// They could not be read from the store.
    #[error("failed to read the saved transcripts")]
    Store(#[from] ReadError),
    /// They could not be written into the sandbox.
    #[error("failed to write the saved transcripts into the sandbox")]
    Guest(#[from] warren_sandbox::CallError),
}

impl TranscriptKeeper {
    /// Starts the task that saves what `plan` names.
    pub(super) fn start(
        owned: &Identity,
        plan: Box<dyn TranscriptPlan>,
        guest: Guest,
        store: Arc<dyn Transcripts>,
        tasks: &Tasks,
    ) -> Self {
        // Full means that a save is about to begin anyway.
        let (nudges, inbox) = mpsc::channel(1);
        let (session, fence) = (owned.session, owned.fence);
        let keeper = Keeper { session, fence, plan, guest, store, saved: HashMap::new() };
        tasks.spawn(TaskKind::Sandbox, keeper.run(inbox));
        Self { nudges }
    }

    /// There may be something new.
    pub(super) fn nudge(&self) {
        // Full: a save is about to begin and will see it.
        let _ = self.nudges.try_send(None);
    }

    /// Saves everything there is and waits for it.
    pub(super) async fn flush(&self) {
        let (done, wait) = oneshot::channel();
        let saved = async {
            if self.nudges.send(Some(done)).await.is_ok() {
                // Dropped without an answer: the sandbox ended, and there is nothing to read any more.
                let _ = wait.await;
            }
        };
        if tokio::time::timeout(FLUSH, saved).await.is_err() {
            tracing::warn!("a guest took too long to hand over its transcripts");
        }
    }
}

impl Keeper {
    async fn run(mut self, mut inbox: mpsc::Receiver<Option<oneshot::Sender<()>>>) {
        match self.store.transcripts(self.session).await {
            Ok(known) => {
                let saved = known.into_iter().map(|(name, len)| (name, Saved { len, mtime_ns: 0 }));
                self.saved = saved.collect();
            }
            Err(error) => self.complain(&error),
        }
        let mut rested = Instant::now();
        while let Some(mut waiting) = inbox.recv().await {
            // Nobody waits for it: not too often. Somebody does: at once.
            while waiting.is_none() && Instant::now() < rested {
                match tokio::time::timeout_at(rested, inbox.recv()).await {
                    Ok(Some(next)) => waiting = next,
                    Ok(None) | Err(_) => break,
                }
            }
            if let ControlFlow::Break(()) = self.save_all().await {
                return;
            }
            rested = Instant::now() + PAUSE;
            if let Some(done) = waiting {
                // Whoever waited may be gone.
                let _ = done.send(());
            }
        }
    }

    /// Saves what is new. Breaks off for good when somebody else has the session.
    async fn save_all(&mut self) -> ControlFlow<()> {
        for (name, found) in look(&self.guest, self.plan.as_ref()).await {
            if matches!(name, TranscriptName::Other(_)) && found.len > LONGEST_OTHER {
                continue;
            }
            let name = name.stored();
            let saved = self.saved.get(&name).copied().unwrap_or_default();
            match found.growth {
                Growth::Appended => self.save_more(&name, &found, saved.len).await?,
                Growth::Rewritten if (found.len, found.mtime_ns) == (saved.len, saved.mtime_ns) => {}
                Growth::Rewritten => self.save_more(&name, &found, 0).await?,
            }
        }
        ControlFlow::Continue(())
    }

    /// Saves what one file has from `at` on, in steps.
    async fn save_more(&mut self, name: &str, found: &Found, at: u64) -> ControlFlow<()> {
        // Shorter than what is saved: the agent began it anew.
        let mut at = if found.len < at { 0 } else { at };
        while at < found.len.min(LONGEST) {
            let wanted = (found.len - at).min(STEP);
            let path = FilePath::new(Root::Home, found.path.clone());
            let Some(bytes) = read(&self.guest, path, at, wanted).await else { break };
            let len = bytes.len() as u64;
            if len == 0 {
                break;
            }
            match self.store.write_transcript(self.session, self.fence, name, at, bytes).await {
                Ok(()) => {}
                Err(error @ WriteError::Fenced { .. }) => {
                    self.complain(&error);
                    return ControlFlow::Break(());
                }
                Err(error @ WriteError::Failed(_)) => {
                    self.complain(&error);
                    break;
                }
            }
            at += len;
            self.saved.insert(name.to_owned(), Saved { len: at, mtime_ns: found.mtime_ns });
        }
        ControlFlow::Continue(())
    }

    fn complain(&self, error: &(dyn std::error::Error + 'static)) {
        let session = self.session;
        tracing::error!(%session, error, "a transcript was not saved");
    }
}

async fn read(guest: &Guest, path: FilePath, offset: u64, len: u64) -> Option<Bytes> {
    let mut reader = guest.read(ReadRequest { path, offset, len: Some(len) }).await.ok()?;
    let mut bytes = BytesMut::new();
    while let Some(part) = reader.next().await.ok()? {
        bytes.extend_from_slice(&part);
    }
    Some(bytes.freeze())
}

/// The files of an agent's memory. Of two with one name, the longer.
async fn look(guest: &Guest, plan: &dyn TranscriptPlan) -> HashMap<TranscriptName, Found> {
    let root = plan.root();
    let path = FilePath::new(Root::Home, root.clone());
    let request = ListRequest { path, depth: DEPTH, excludes: Vec::new(), limit: MOST_FILES };
    let mut all = HashMap::new();
    // The directory is not there until the agent made it.
    let Ok(listing) = guest.list(request).await else { return all };
    let entries: Vec<_> = listing.entries.iter().filter(|entry| entry.stat.kind == FileKind::File).collect();
    let paths: Vec<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
    for (entry, file) in entries.iter().zip(plan.files(&paths)) {
        let Some(file) = file else { continue };
        let (path, len) = (format!("{root}/{}", entry.path), entry.stat.size);
        let found = Found { path, growth: file.growth, len, mtime_ns: entry.stat.mtime_ns };
        match all.entry(file.name) {
            Entry::Occupied(mut other) if other.get().len < len => {
                other.insert(found);
            }
            Entry::Occupied(_) => {}
            Entry::Vacant(place) => {
                place.insert(found);
            }
        }
    }
    all
}

/// Puts saved transcripts where the agent looks for them, unless they are there already.
pub(super) async fn put_back(
    session: SessionId,
    plan: &dyn TranscriptPlan,
    guest: &Guest,
    store: &dyn Transcripts,
) -> Result<(), PutBackError> {
    let saved = store.transcripts(session).await?;
    if saved.is_empty() {
        return Ok(());
    }
    let there = look(guest, plan).await;
    for (stored, len) in saved.into_iter().filter(|(stored, len)| stored != STATE && *len > 0) {
        let name = TranscriptName::of_stored(&stored);
        if there.get(&name).is_some_and(|found| found.len >= len) {
            continue;
        }
        let Some(bytes) = store.transcript(session, &stored).await? else { continue };
        let Some(path) = plan.path(&name, &bytes) else { continue };
        let path = FilePath::new(Root::Home, format!("{}/{path}", plan.root()));
        let request = WriteRequest { path, how: WriteHow::Replace, mode: Some(0o600) };
        guest.write(request, Cursor::new(bytes)).await?;
    }
    Ok(())
}

/// The last state of an agent's codec.
pub(super) async fn load_state(
    session: SessionId,
    store: &dyn Transcripts,
) -> Result<Option<Value>, ReadError> {
    let bytes = store.transcript(session, STATE).await?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// Keeps it.
pub(super) async fn save_state(
    owned: &Identity,
    state: &Value,
    store: &dyn Transcripts,
) -> Result<(), WriteError> {
    let bytes = Bytes::from(state.to_string());
    store.write_transcript(owned.session, owned.fence, STATE, 0, bytes).await
}
