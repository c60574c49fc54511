//! Which recording answers which call.

use std::collections::HashSet;

use crate::{
    Ending, Format,
    format::ToolOutput,
    replay::{
        Progress, Recording, RecordingError, Recordings,
        diff::unified_diff,
        normal::{Digests, Normal, tool_outputs},
        output::{Moments, said},
    },
};

/// The longest difference that is shown.
const LONGEST_DIFF: usize = 16 << 10;

/// More differences in tools' output than this are counted and not kept.
const MOST_DIFFERENCES: usize = 100;

/// The recordings of a run, and what came of them.
pub(super) struct Script {
    recordings: Box<dyn Recordings>,
    entries: Vec<Entry>,
    differences: Vec<ToolDifference>,
    n_differences: usize,
    /// What was told already: a conversation carries its past along with every call.
    told: HashSet<blake3::Hash>,
    divergence: Option<Divergence>,
    moments: Moments,
}

/// What is known of a recording without reading it again.
struct Entry {
    path: String,
    conversation: Option<String>,
    ending: Ending,
    /// BLAKE3 of the request's body.
    request: blake3::Hash,
    /// Of a request that the gateway refused, only the hash is known.
    is_left_out: bool,
    /// Made when a call does not ask for the very same bytes.
    digests: Option<Digests>,
    is_used: bool,
}

/// A call that is made.
pub(super) struct Asked<'a> {
    pub(super) format: Format,
    pub(super) path: &'a str,
    pub(super) conversation: Option<&'a str>,
    pub(super) body: &'a [u8],
}

/// What becomes of a call.
pub(super) enum Verdict {
    /// The recording, and its place among all.
    Recorded(usize, Box<Recording>),
    /// It was not recorded, or comes after one that was not.
    Diverged,
}

/// What a playback came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlaybackReport {
    /// How many calls were recorded.
    pub calls: usize,
    /// How many of them were made again.
    pub answered: usize,
    /// Tools that said something else than when they were recorded.
    pub differences: Vec<ToolDifference>,
    /// How many there were; more than are listed, if they were very many.
    pub n_differences: usize,
    /// The first call that was not recorded.
    pub divergence: Option<Divergence>,
    /// The first recorded call that was answered and was not made again.
    pub unasked: Option<Divergence>,
}

/// A tool said something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDifference {
    /// The thread, if it is known.
    pub conversation: Option<String>,
    /// The call to the model that told it, from 1.
    pub index: usize,
    /// Pairs it with the tool's call.
    pub tool_use_id: String,
    /// What is different.
    pub diff: String,
}

/// Where a playback left its recordings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// In what way.
    pub kind: DivergenceKind,
    /// The thread, if it is known.
    pub conversation: Option<String>,
    /// The recorded call that was expected, from 1.
    pub index: Option<usize>,
    /// For people.
    pub message: String,
    /// What is different.
    pub diff: Option<String>,
}

/// In what way a playback left its recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DivergenceKind {
    /// A call asks something else than the recorded one.
    RequestDiffers,
    /// There is no recorded call left that it could be.
    CallNotRecorded,
    /// A recorded call was not made.
    CallNotMade,
}

impl Script {
    pub(super) fn new(mut recordings: Box<dyn Recordings>) -> Result<Self, RecordingError> {
        let entries = (0..recordings.count()).map(|place| Entry::of(recordings.recording(place)?));
        Ok(Self {
            entries: entries.collect::<Result<_, _>>()?,
            recordings,
            differences: Vec::new(),
            n_differences: 0,
            told: HashSet::new(),
            divergence: None,
            moments: Moments::default(),
        })
    }

    /// What numbers in tools' outputs are times.
    pub(super) fn took_place(&mut self, moments: Moments) {
        self.moments = moments;
    }

    /// Decides about one call.
    pub(super) fn ask(&mut self, asked: &Asked<'_>) -> Verdict {
        if self.divergence.is_some() {
            return Verdict::Diverged;
        }
        self.decide(asked).unwrap_or_else(|error| {
            self.divergence = Some(unreadable(asked, &error));
            Verdict::Diverged
        })
    }

    fn decide(&mut self, asked: &Asked<'_>) -> Result<Verdict, RecordingError> {
        let open = |entry: &Entry| !entry.is_used && entry.path == asked.path;
        let hash = blake3::hash(asked.body);
        let same = |entry: &Entry| open(entry) && entry.request == hash;
        if let Some(index) = self.entries.iter().position(same) {
            return self.take(index);
        }
        let normal = Normal::of(asked.format, asked.body);
        let digests = normal.digests(asked.format);
        self.digest(asked)?;
        let find = |wanted: &dyn Fn(&Digests) -> bool| {
            self.entries.iter().position(|entry| open(entry) && entry.digests.as_ref().is_some_and(wanted))
        };
        let found = find(&|known| *known == digests).or_else(|| find(&|known| known.asks == digests.asks));
        if let Some(index) = found {
            self.note_outputs(index, asked)?;
            return self.take(index);
        }
        // Of a refused request only the hash is known: it may be this one, and nothing else is.
        let refused = |entry: &Entry| open(entry) && entry.is_left_out;
        if let Some(index) = self.entries.iter().position(refused) {
            return self.take(index);
        }
        self.divergence = Some(self.diverge(asked, &normal, &digests)?);
        Ok(Verdict::Diverged)
    }

    /// Digests all that a call may be.
    fn digest(&mut self, asked: &Asked<'_>) -> Result<(), RecordingError> {
        for (place, entry) in self.entries.iter_mut().enumerate() {
            if !entry.is_used && entry.path == asked.path && !entry.is_left_out && entry.digests.is_none() {
                let recording = self.recordings.recording(place)?;
                entry.digests = Some(Normal::of(asked.format, &recording.request).digests(asked.format));
            }
        }
        Ok(())
    }

    pub(super) fn is_used(&self, index: usize) -> bool {
        self.entries.get(index).is_some_and(|entry| entry.is_used)
    }

    pub(super) fn progress(&self) -> Progress {
        let answered = self.entries.iter().filter(|entry| entry.is_used).count();
        let left = self.entries.len() - answered;
        Progress { answered, left, diverged: self.divergence.is_some() }
    }

    pub(super) fn report(&self) -> PlaybackReport {
        PlaybackReport {
            calls: self.entries.len(),
            answered: self.progress().answered,
            differences: self.differences.clone(),
            n_differences: self.n_differences,
            divergence: self.divergence.clone(),
            unasked: self.unasked(),
        }
    }

    fn take(&mut self, index: usize) -> Result<Verdict, RecordingError> {
        let recording = self.recordings.recording(index)?;
        self.entries[index].is_used = true;
        Ok(Verdict::Recorded(index, Box::new(recording)))
    }

    /// The tools may have said something else: that is told, once, and the recorded answer is given all the same. They may
    /// differ in less than a request, which must find its answer.
    fn note_outputs(&mut self, index: usize, asked: &Asked<'_>) -> Result<(), RecordingError> {
        let recording = self.recordings.recording(index)?;
        let recorded = tool_outputs(asked.format, &recording.request);
        for (before, after) in recorded.into_iter().zip(tool_outputs(asked.format, asked.body)) {
            if before == after {
                continue;
            }
            let normal =
                |told: ToolOutput| ToolOutput { output: self.moments.normal_output(told.output), ..told };
            let (before, after) = (normal(before), normal(after));
            if before.output == after.output || !self.told.insert(pair(&before, &after)) {
                continue;
            }
            self.n_differences += 1;
            if self.differences.len() < MOST_DIFFERENCES {
                self.differences.push(ToolDifference {
                    conversation: recording.conversation.clone(),
                    index: index + 1,
                    tool_use_id: after.call.clone(),
                    diff: unified_diff(&said(&before.output), &said(&after.output), LONGEST_DIFF),
                });
            }
        }
        Ok(())
    }

    fn diverge(
        &mut self,
        asked: &Asked<'_>,
        normal: &Normal,
        digests: &Digests,
    ) -> Result<Divergence, RecordingError> {
        let conversation = asked.conversation.map(str::to_owned);
        let Some(index) = self.expected(asked, normal, digests)? else {
            let message = "the agent calls the model once more than it did in the recorded run".to_owned();
            let kind = DivergenceKind::CallNotRecorded;
            let diff = Some(cut(normal.pretty()));
            return Ok(Divergence { kind, conversation, index: None, message, diff });
        };
        let recording = self.recordings.recording(index)?;
        let recorded = Normal::of(asked.format, &recording.request);
        let message = format!(
            "call {} of {} to the model asks something else than the recorded one",
            index + 1,
            self.entries.len()
        );
        Ok(Divergence {
            kind: DivergenceKind::RequestDiffers,
            conversation: conversation.or(recording.conversation),
            index: Some(index + 1),
            message,
            diff: Some(unified_diff(&recorded.pretty(), &normal.pretty(), LONGEST_DIFF)),
        })
    }

    /// The recorded call that a call was most likely meant to be: of its own thread before others, and of those the one that
    /// begins most alike. Threads of one agent often begin with the same words, and part after them.
    fn expected(
        &mut self,
        asked: &Asked<'_>,
        normal: &Normal,
        digests: &Digests,
    ) -> Result<Option<usize>, RecordingError> {
        let is_open = |entry: &Entry| !entry.is_used && entry.path == asked.path;
        let is_of_thread = |entry: &Entry| match (asked.conversation, entry.conversation.as_deref()) {
            (Some(own), Some(other)) => own == other,
            _ => entry.digests.as_ref().is_some_and(|known| known.opening == digests.opening),
        };
        let places = |wanted: &dyn Fn(&Entry) -> bool| -> Vec<usize> {
            let all = self.entries.iter().enumerate();
            all.filter(|(_, entry)| is_open(entry) && wanted(entry)).map(|(place, _)| place).collect()
        };
        let own = places(&is_of_thread);
        let candidates = if own.is_empty() { places(&|_| true) } else { own };
        let text = normal.asks.to_string();
        let mut best = None;
        for place in candidates {
            let alike = match self.entries[place].is_left_out {
                true => 0,
                false => {
                    let recording = self.recordings.recording(place)?;
                    common_prefix(&text, &Normal::of(asked.format, &recording.request).asks.to_string())
                }
            };
            // Of those that are alike the first, which is the next one.
            if best.is_none_or(|(most, _)| alike > most) {
                best = Some((alike, place));
            }
        }
        Ok(best.map(|(_, place)| place))
    }

    /// A call that was given up before it was answered need not be made again.
    fn unasked(&self) -> Option<Divergence> {
        let was_answered = |entry: &Entry| entry.ending != Ending::CallerLeft;
        let mut left =
            self.entries.iter().enumerate().filter(|(_, entry)| !entry.is_used && was_answered(entry));
        let (index, entry) = left.next()?;
        let more = match left.count() {
            0 => String::new(),
            n => format!(", nor were {n} after it"),
        };
        Some(Divergence {
            kind: DivergenceKind::CallNotMade,
            conversation: entry.conversation.clone(),
            index: Some(index + 1),
            message: format!(
                "recorded call {} of {} was not made again{more}",
                index + 1,
                self.entries.len()
            ),
            diff: None,
        })
    }
}

impl Entry {
    fn of(recording: Recording) -> Result<Self, RecordingError> {
        let request = match &recording.request_hash {
            Some(hash) => blake3::Hash::from_hex(hash.as_str())
                .map_err(|_| RecordingError::Damaged("the hash of its request cannot be read"))?,
            None => blake3::hash(&recording.request),
        };
        let is_left_out = recording.request_hash.is_some();
        let Recording { path, conversation, ending, .. } = recording;
        Ok(Self { path, conversation, ending, request, is_left_out, digests: None, is_used: false })
    }
}

fn unreadable(asked: &Asked<'_>, error: &RecordingError) -> Divergence {
    Divergence {
        kind: DivergenceKind::CallNotRecorded,
        conversation: asked.conversation.map(str::to_owned),
        index: None,
        message: error.to_string(),
        diff: None,
    }
}

fn pair(before: &ToolOutput, after: &ToolOutput) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for part in [&after.call, &before.output.to_string(), &after.output.to_string()] {
        hasher.update(part.as_bytes());
        hasher.update(&[0]);
    }
    hasher.finalize()
}

fn common_prefix(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
}

fn cut(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().find(|(at, _)| *at >= LONGEST_DIFF) {
        text.truncate(at);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests;
