//! Answers from recordings: the model's side of a run that is replayed.
//!
//! In: the recordings of a run. Out: the recorded bytes for each call that is made again, and a [`PlaybackReport`] of what
//! was different. A call is matched by what it asks: whatever order parallel conversations call in, each gets its own
//! answers, and calls that ask the very same get theirs in the order in which they were recorded. Within a conversation
//! that is its order, since each request holds all that was said before.
//! **Invariant:** nothing here reaches a network or knows a key, and nothing waits but for whoever [holds](Playback::hold) an
//! answer back.
//! Start with `script.rs`; `normal.rs` is the list of what two requests may differ in, `output.rs` that of what
//! tools may say otherwise, `diff.rs` how a difference is shown. `packed.rs` is how recordings are stored, `lanes.rs` which of them
//! share their content.

mod diff;
mod lanes;
mod normal;
mod output;
mod packed;
mod recording;
mod script;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use hyper::{
    StatusCode,
    header::{CONTENT_TYPE, HeaderValue},
};
use tokio::sync::watch;

use crate::{
    Ending, Format,
    format::Route,
    http::{Answer, Pieces, StreamError},
    refusal::{Refusal, RefusalKind},
};

pub use diff::unified_diff;
pub use lanes::{Lane, Lanes, Prepared};
pub use normal::{NORMALISED, normal_text};
pub use output::{Moments, NORMALISED_OUTPUT, said};
pub use packed::{Packed, Place};
pub use recording::{Recording, RecordingError, Recordings};
pub use script::{Divergence, DivergenceKind, PlaybackReport, ToolDifference};

use script::{Asked, Script, Verdict};

/// The recordings of one run, being answered from. A cheap clone.
#[derive(Clone)]
pub struct Playback {
    script: Arc<Mutex<Script>>,
    progress: watch::Sender<Progress>,
    /// Recordings, by their place, whose answers are held back.
    held: watch::Sender<BTreeSet<usize>>,
}

/// How far a playback is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Calls that got their recorded answer.
    pub answered: usize,
    /// Recordings that nobody asked for yet.
    pub left: usize,
    /// A call was made that was not recorded. Nothing is answered any more.
    pub diverged: bool,
}

/// A recorded answer, and what was known of it.
pub(crate) struct Played {
    /// Who gave it.
    pub(crate) model: String,
    /// Why it was the gateway's own, if it was: whoever is told of the call then acts on it again.
    pub(crate) refusal: Option<RefusalKind>,
    pub(crate) answer: Answer,
}

/// A recorded answer breaks off here, as it did when it was recorded.
#[derive(Debug, thiserror::Error)]
#[error("the recorded response ends here")]
struct BrokeOff;

impl Playback {
    /// Answers from these. Each is read once to see what it answers.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn new(recordings: impl Recordings + 'static) -> Result<Self, RecordingError> {
        let script = Script::new(Box::new(recordings))?;
        Ok(Self {
            progress: watch::Sender::new(script.progress()),
            script: Arc::new(Mutex::new(script)),
            held: watch::Sender::default(),
        })
    }

    /// Says when the run and its replay took place.
    #[must_use]
    pub fn at(self, moments: Moments) -> Self {
        self.script().took_place(moments);
        self
    }

    /// From now on the answer of the recording at `place` does not end until it is [released](Self::release), so that
    /// something can be done while whoever asked still listens.
    pub fn hold(&self, place: usize) {
        self.held.send_modify(|held| _ = held.insert(place));
    }

    /// Whether the recording at `place` was asked for.
    #[must_use]
    pub fn was_asked(&self, place: usize) -> bool {
        self.script().is_used(place)
    }

    /// Lets a held answer go.
    pub fn release(&self, place: usize) {
        self.held.send_modify(|held| _ = held.remove(&place));
    }

    /// How far it is, and what becomes of it.
    #[must_use]
    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// What was different so far.
    #[must_use]
    pub fn report(&self) -> PlaybackReport {
        self.script().report()
    }

    /// The answer to one call.
    pub(crate) async fn answer(
        &self,
        format: Format,
        route: &Route,
        conversation: Option<String>,
        body: Bytes,
    ) -> Result<Played, Refusal> {
        let (playback, path) = (self.clone(), route.path.clone());
        // Requests are long, and others share this thread.
        let asked = tokio::task::spawn_blocking(move || {
            let mut script = playback.script();
            let asked = Asked { format, path: &path, conversation: conversation.as_deref(), body: &body };
            let verdict = script.ask(&asked);
            playback.progress.send_replace(script.progress());
            verdict
        });
        match asked.await.unwrap_or(Verdict::Diverged) {
            Verdict::Recorded(place, recording) => {
                let answer = play(&recording, self.way_to_end(place)).await;
                Ok(Played { model: recording.model.clone(), refusal: recording.refusal, answer })
            }
            Verdict::Diverged => Err(Refusal::new(
                RefusalKind::Invalid,
                "this call was not recorded: the replay has left the recorded run and ends here",
            )),
        }
    }

    /// Done when the recording at `place` may be answered to its end.
    fn way_to_end(&self, place: usize) -> impl Future<Output = ()> + Send + 'static {
        let mut held = self.held.subscribe();
        async move {
            // Whoever holds it may be gone with the whole playback: then nobody waits for anything.
            let _ = held.wait_for(|held| !held.contains(&place)).await;
        }
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The recorded answer, as it was: whole, broken off, or never ended. A whole one ends when `may_end` is done.
async fn play(recording: &Recording, may_end: impl Future<Output = ()> + Send + 'static) -> Answer {
    let begun = futures::stream::iter([Ok(recording.response.clone())]);
    let pieces: Pieces = match recording.ending {
        Ending::Complete => {
            // Without its last byte no event and no document is whole.
            let last = recording.response.len().saturating_sub(1);
            let (head, end) = (recording.response.slice(..last), recording.response.slice(last..));
            let head = futures::stream::iter([Ok(head)].into_iter().filter(move |_| last > 0));
            Box::pin(futures::StreamExt::chain(
                head,
                futures::stream::once(async move {
                    may_end.await;
                    Ok(end)
                }),
            ))
        }
        Ending::Broken => Box::pin(futures::StreamExt::chain(
            begun,
            futures::stream::once(async {
                // What came before it goes out first.
                tokio::task::yield_now().await;
                Err(StreamError::from(BrokeOff))
            }),
        )),
        // The caller left in the middle, and does so again when it wants to.
        Ending::CallerLeft if recording.content_type.is_some() => {
            Box::pin(futures::StreamExt::chain(begun, futures::stream::pending()))
        }
        Ending::CallerLeft => std::future::pending().await,
    };
    let mut headers = hyper::HeaderMap::new();
    if let Some(value) = recording.content_type.as_deref().and_then(|kind| HeaderValue::from_str(kind).ok()) {
        headers.insert(CONTENT_TYPE, value);
    }
    // What a log shows for an answer that did not end is no status that was sent.
    let status = match recording.ending {
        Ending::Complete => StatusCode::from_u16(recording.status).unwrap_or(StatusCode::OK),
        Ending::Broken | Ending::CallerLeft => StatusCode::OK,
    };
    Answer { status, headers, pieces }
}
