//! Converts office documents to PDF: LibreOffice, in a sandbox of its own for each document.
//!
//! In: a document's bytes. Out: a PDF, kept under the hash of the document and the version of what converted it.
//! **Invariant:** documents are hostile. LibreOffice sees one document, read-only, and neither a network nor a session's files;
//! macros and links are off; memory, CPU time, disk and wall time are limited; and what comes out is bytes that nobody believes.
//! Start with [`Converter::convert`], then `work::Job`.

mod cache;
mod kind;
mod office;
mod uids;
mod work;

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::{
    FutureExt as _,
    future::{BoxFuture, Shared},
};
use tempfile::NamedTempFile;
use tokio::{
    sync::{Semaphore, oneshot},
    time::Instant,
};
use warren_domain::ErrorCode;
use warren_env::{TaskKind, Tasks};
use warren_sandbox::{Backend, Layer};

pub(crate) use cache::Key;
pub(crate) use kind::Kind;
pub use office::{LibreOffice, OfficeChoice};
pub(crate) use uids::Uids;
use work::Job;

use crate::api::SessionError;

/// The largest document, and the largest PDF.
pub(crate) const MAX_INPUT: u64 = 64 << 20;
const MAX_OUTPUT: usize = 128 << 20;
/// How many conversions may wait. Each holds a document on disk.
const MAX_WAITING: usize = 32;
/// How long it is remembered that a document cannot be converted.
const FAILURE_KEPT: Duration = Duration::from_secs(600);
/// How many such documents are remembered.
const MAX_FAILURES: usize = 256;

/// How documents are converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentOptions {
    /// What converts them.
    pub office: OfficeChoice,
    /// The longest that one conversion may take.
    pub timeout: Duration,
    /// How many run at once. More wait in order.
    pub max_concurrent: usize,
}

impl Default for DocumentOptions {
    fn default() -> Self {
        Self { office: OfficeChoice::Auto, timeout: Duration::from_secs(60), max_concurrent: 2 }
    }
}

/// Why a document was not converted. Told to everybody who waited for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct ConvertError {
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl ConvertError {
    fn advised(self, hint: &str) -> Self {
        Self { hint: Some(hint.to_owned()), ..self }
    }
}

impl From<ConvertError> for SessionError {
    fn from(ConvertError { code, message, hint }: ConvertError) -> Self {
        SessionError::Invalid { code, message, hint }
    }
}

/// A document to be converted.
pub(crate) struct Document {
    /// Its name, for people.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) content: NamedTempFile,
    pub(crate) hash: blake3::Hash,
    /// Its first bytes.
    pub(crate) first: Vec<u8>,
    /// Where its PDF is kept.
    pub(crate) cache: PathBuf,
}

/// A PDF.
pub(crate) struct Pdf {
    pub(crate) file: fs::File,
    pub(crate) key: Key,
    /// What made it.
    pub(crate) by: String,
}

type Pending = Shared<BoxFuture<'static, Result<(), ConvertError>>>;

/// Converts documents, some at a time.
pub(crate) struct Converter {
    options: DocumentOptions,
    /// Holds the directories of conversions.
    directory: PathBuf,
    backend: Arc<dyn Backend>,
    required: Vec<Layer>,
    uids: Uids,
    tasks: Tasks,
    running: Semaphore,
    waiting: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Conversions in progress: whoever wants the same PDF waits for it.
    pending: HashMap<(PathBuf, Key), Pending>,
    failures: HashMap<Key, (Instant, ConvertError)>,
    /// Places that conversions use; each has a UID.
    used: Vec<bool>,
}

/// A place among the running conversions, given back when dropped.
struct Slot<'a> {
    converter: &'a Converter,
    number: usize,
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        if let Some(used) = self.converter.state().used.get_mut(self.number) {
            *used = false;
        }
    }
}

impl Converter {
    pub(crate) fn new(
        options: DocumentOptions,
        directory: &Path,
        backend: Arc<dyn Backend>,
        required: Vec<Layer>,
        uids: Uids,
        tasks: Tasks,
    ) -> Self {
        let n_slots = options.max_concurrent.max(1);
        Self {
            directory: directory.join("conversions"),
            backend,
            required,
            uids,
            tasks,
            running: Semaphore::new(n_slots),
            waiting: AtomicUsize::new(0),
            state: Mutex::new(State { used: vec![false; n_slots], ..State::default() }),
            options,
        }
    }

    /// An empty file for a document. It goes with its holder.
    pub(crate) fn new_document(&self) -> io::Result<NamedTempFile> {
        let incoming = self.directory.join("incoming");
        fs::create_dir_all(&incoming)?;
        NamedTempFile::new_in(incoming)
    }

    /// Removes what an earlier server left.
    pub(crate) fn sweep(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// What converts documents here, if anything does.
    pub(crate) fn office(&self) -> Result<LibreOffice, ConvertError> {
        let choice = &self.options.office;
        choice.find().ok_or_else(|| ConvertError {
            code: ErrorCode::ConverterMissing,
            message: match choice {
                OfficeChoice::Off => "documents are not converted by this server".to_owned(),
                OfficeChoice::Auto | OfficeChoice::At(_) => {
                    "LibreOffice is not installed on the server".to_owned()
                }
            },
            hint: Some(choice.hint()),
        })
    }

    /// The PDF of a document: kept from an earlier time, or made now.
    pub(crate) async fn convert(self: &Arc<Self>, document: Document) -> Result<Pdf, ConvertError> {
        let kind = document.kind.checked(&document.name, &document.first)?;
        let converter = Arc::clone(self);
        let office = blocking(move || Ok(converter.office())).await??;
        let (key, by, cache) = (Key::of(document.hash, kind, &office), office.name(), document.cache.clone());
        let kept = |key: Key| {
            let cache = cache.clone();
            blocking(move || cache::get(&cache, &key))
        };
        if let Some(file) = kept(key.clone()).await? {
            return Ok(Pdf { file, key, by });
        }
        self.join(document, kind, office, key.clone())?.await?;
        match kept(key.clone()).await? {
            Some(file) => Ok(Pdf { file, key, by }),
            None => Err(busy("the PDF was replaced by newer ones before it was read")),
        }
    }

    /// The conversion that is in progress for a key; a new one if there is none.
    fn join(
        self: &Arc<Self>,
        document: Document,
        kind: Kind,
        office: LibreOffice,
        key: Key,
    ) -> Result<Pending, ConvertError> {
        let place = (document.cache.clone(), key.clone());
        let mut state = self.state();
        if let Some(pending) = state.pending.get(&place) {
            return Ok(pending.clone());
        }
        state.failures.retain(|_, (at, _)| at.elapsed() < FAILURE_KEPT);
        if let Some((_, error)) = state.failures.get(&key) {
            return Err(error.clone());
        }
        if self.waiting.load(Ordering::Relaxed) >= MAX_WAITING {
            return Err(busy("too many documents wait to be converted"));
        }
        let (done, outcome) = oneshot::channel();
        let cut = || busy("the conversion was cut: the server is stopping");
        let pending = outcome.map(move |outcome| outcome.unwrap_or_else(|_| Err(cut()))).boxed().shared();
        state.pending.insert(place.clone(), pending.clone());
        drop(state);
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let converter = Arc::clone(self);
        // In a task of its own: whoever asked may leave, and the next one finds the PDF.
        drop(self.tasks.spawn(TaskKind::Sandbox, async move {
            let made = converter.make(document, kind, office, &key).await;
            let mut state = converter.state();
            state.pending.remove(&place);
            if let Err(error) = &made
                && error.code == ErrorCode::ConversionFailed
                && state.failures.len() < MAX_FAILURES
            {
                state.failures.insert(key, (Instant::now(), error.clone()));
            }
            drop(state);
            // Nobody waits any more: the PDF is kept all the same.
            _ = done.send(made);
        }));
        Ok(pending)
    }

    async fn make(
        &self,
        document: Document,
        kind: Kind,
        office: LibreOffice,
        key: &Key,
    ) -> Result<(), ConvertError> {
        let turn = self.running.acquire().await;
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        let _turn = turn.map_err(|_| busy("the server is stopping"))?;
        let slot = self.slot();
        let job = Job {
            backend: Arc::clone(&self.backend),
            office,
            kind,
            document: document.content,
            directory: self.directory.join(slot.number.to_string()),
            uid: self.uids.of(slot.number).await?,
            required: self.required.clone(),
            timeout: self.options.timeout,
        };
        let pdf = job.run().await?;
        let (cache, key) = (document.cache, key.clone());
        blocking(move || cache::put(&cache, &key, &pdf)).await
    }

    /// A free place. There is one for everybody whose turn it is.
    fn slot(&self) -> Slot<'_> {
        let mut state = self.state();
        let number = state.used.iter().position(|used| !used).unwrap_or(0);
        state.used[number] = true;
        drop(state);
        Slot { converter: self, number }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn busy(message: &str) -> ConvertError {
    let hint = Some("try again in a minute".to_owned());
    ConvertError { code: ErrorCode::Unavailable, message: message.to_owned(), hint }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, ConvertError> {
    let done = tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)));
    done.map_err(|error| {
        tracing::error!(%error, "a converted document was not kept or read");
        ConvertError { code: ErrorCode::Internal, message: "failed to keep the PDF".to_owned(), hint: None }
    })
}
