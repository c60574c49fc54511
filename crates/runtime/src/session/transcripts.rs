//! Saves an agent's own memory while it grows, and puts it back into a new sandbox.

use std::{collections::HashMap, io::Cursor, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use warren_agents::TranscriptPlan;
use warren_domain::SessionId;
use warren_env::{TaskKind, Tasks};
use warren_guest_api::{FileKind, FilePath, ListRequest, ReadRequest, Root, WriteHow, WriteRequest};
use warren_sandbox::Guest;
use warren_store::{ReadError, Transcripts};

/// At most this much of one transcript is saved at a time.
const STEP: u64 = 4 << 20;

/// A transcript longer than this is not saved further: something is wrong with the agent.
const LONGEST: u64 = 1 << 30;

/// Between two saves that nobody waits for.
const PAUSE: Duration = Duration::from_millis(500);

/// How long somebody waits for a save. A guest that takes longer does not hold up the session; the next save catches up.
const FLUSH: Duration = Duration::from_secs(10);

/// Asks the task that saves. A cheap clone.
#[derive(Clone)]
pub(super) struct TranscriptKeeper {
    /// Holds one request: a second one while the first waits would save the same bytes.
    nudges: mpsc::Sender<Option<oneshot::Sender<()>>>,
}

struct Keeper {
    session: SessionId,
    plan: TranscriptPlan,
    guest: Guest,
    store: Arc<dyn Transcripts>,
    saved: HashMap<String, u64>,
}

/// Why transcripts were not put back.
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
        session: SessionId,
        plan: TranscriptPlan,
        guest: Guest,
        store: Arc<dyn Transcripts>,
        tasks: &Tasks,
    ) -> Self {
        // Full means that a save is about to begin anyway.
        let (nudges, inbox) = mpsc::channel(1);
        let keeper = Keeper { session, plan, guest, store, saved: HashMap::new() };
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
            Ok(known) => self.saved = known.into_iter().collect(),
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
            self.save_all().await;
            rested = Instant::now() + PAUSE;
            if let Some(done) = waiting {
                // Whoever waited may be gone.
                let _ = done.send(());
            }
        }
    }

    async fn save_all(&mut self) {
        let main = self.plan.main.clone();
        self.save("", &main).await;
        let Some(files) = self.plan.subagents.clone() else { return };
        let request = ListRequest {
            path: FilePath::new(Root::Home, files.directory.clone()),
            depth: 1,
            excludes: Vec::new(),
            limit: 10_000,
        };
        // The directory is not there until the first subagent is.
        let Ok(listing) = self.guest.list(request).await else { return };
        for entry in listing.entries.iter().filter(|entry| entry.stat.kind == FileKind::File) {
            if let Some(subagent) = files.subagent(&entry.path) {
                self.save(subagent, &files.path(subagent)).await;
            }
        }
    }

    /// Saves what one file has more than is saved.
    async fn save(&mut self, thread: &str, path: &str) {
        let path = FilePath::new(Root::Home, path);
        // Not there yet, or not a file: nothing to save.
        let Ok(stat) = self.guest.stat(path.clone()).await else { return };
        let mut at = self.saved.get(thread).copied().unwrap_or(0);
        if stat.size < at {
            // The agent began it anew.
            at = 0;
        }
        while at < stat.size.min(LONGEST) {
            let wanted = (stat.size - at).min(STEP);
            let Some(bytes) = read(&self.guest, path.clone(), at, wanted).await else { return };
            let len = bytes.len() as u64;
            if len == 0 {
                return;
            }
            if let Err(error) = self.store.write_transcript(self.session, thread, at, bytes).await {
                self.complain(&error);
                return;
            }
            at += len;
            self.saved.insert(thread.to_owned(), at);
        }
    }

    fn complain(&self, error: &ReadError) {
        let session = self.session;
        tracing::error!(%session, error = error as &dyn std::error::Error, "a transcript was not saved");
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

/// Puts saved transcripts where the agent looks for them, unless they are there already.
pub(super) async fn put_back(
    session: SessionId,
    plan: &TranscriptPlan,
    guest: &Guest,
    store: &dyn Transcripts,
) -> Result<(), PutBackError> {
    for (thread, len) in store.transcripts(session).await? {
        let path = match (&plan.subagents, thread.as_str()) {
            (_, "") => plan.main.clone(),
            (Some(files), subagent) => files.path(subagent),
            (None, _) => continue,
        };
        let path = FilePath::new(Root::Home, path);
        if guest.stat(path.clone()).await.is_ok_and(|stat| stat.size >= len) {
            continue;
        }
        if let Some(bytes) = store.transcript(session, &thread).await? {
            let request = WriteRequest { path, how: WriteHow::Replace, mode: Some(0o600) };
            guest.write(request, Cursor::new(bytes)).await?;
        }
    }
    Ok(())
}
