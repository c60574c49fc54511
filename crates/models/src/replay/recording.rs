//! One recorded call: a line of JSON that says what follows, then the request's body and the answer's.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use warren_domain::BlobHash;

use crate::{Ending, Exchange, RefusalKind};

/// A recorded call and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// The thread that made the call, as far as it told.
    pub conversation: Option<String>,
    /// The model that answered.
    pub model: String,
    /// What was asked for, such as `/v1/messages`.
    pub path: String,
    /// The status that the log shows.
    pub status: u16,
    /// How the call ended.
    pub ending: Ending,
    /// Why the gateway answered by itself, if it did. Recordings of the first versions do not say.
    pub refusal: Option<RefusalKind>,
    /// The answer's media type; `None` if there was no answer.
    pub content_type: Option<String>,
    /// The request's body; empty if `request_hash` stands for it.
    pub request: Bytes,
    /// BLAKE3 of the body of a request that the gateway refused: such a body is not recorded.
    pub request_hash: Option<BlobHash>,
    /// The answer's body, as far as it went.
    pub response: Bytes,
}

/// The recordings of a run, in the order in which its calls were made. They are asked for one at a time, so that they need
/// not be in memory: each has its whole request, and that of an agent has all that was said before.
pub trait Recordings: Send {
    /// How many there are.
    fn count(&self) -> usize;

    /// The one at `place`, from 0.
    ///
    /// # Errors
    /// When it cannot be read.
    fn recording(&mut self, place: usize) -> Result<Recording, RecordingError>;
}

impl Recordings for Vec<Recording> {
    fn count(&self) -> usize {
        self.len()
    }

    fn recording(&mut self, place: usize) -> Result<Recording, RecordingError> {
        self.get(place).cloned().ok_or(RecordingError::Damaged("there is no such recording"))
    }
}

/// Why a recording cannot be played.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// Its bytes could not be read.
    #[error("the recording cannot be read: {0}")]
    Unread(String),
    /// The bytes are not a recording.
    #[error("the recording is damaged: {0}")]
    Damaged(&'static str),
    /// The answer was too long to be recorded whole.
    #[error("the answer was too long to be recorded: {omitted} bytes of it are missing")]
    Cut {
        /// How many bytes are missing.
        omitted: u64,
    },
}

/// The first line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    path: String,
    status: u16,
    content_type: Option<String>,
    request_bytes: usize,
    response_bytes: usize,
    #[serde(default)]
    omitted_bytes: u64,
    /// Absent in recordings of the first version, whose status tells it.
    #[serde(default)]
    ending: Option<WireEnding>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refusal: Option<RefusalKind>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    conversation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request_hash: Option<BlobHash>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum WireEnding {
    Complete,
    CallerLeft,
    Broken,
}

impl Recording {
    /// An exchange as bytes to be kept.
    #[must_use]
    pub fn encode(exchange: &Exchange) -> Bytes {
        let request = recorded_request(exchange);
        let is_left_out = request.len() < exchange.request.len();
        let head = Head {
            path: exchange.path.clone(),
            status: exchange.called.status,
            content_type: exchange.content_type.clone(),
            request_bytes: request.len(),
            response_bytes: exchange.response.len(),
            omitted_bytes: exchange.response_omitted,
            ending: Some(match exchange.ending {
                Ending::Complete => WireEnding::Complete,
                Ending::CallerLeft => WireEnding::CallerLeft,
                Ending::Broken => WireEnding::Broken,
            }),
            refusal: exchange.refusal,
            model: Some(exchange.called.model.clone()),
            conversation: exchange.conversation.clone(),
            request_hash: is_left_out.then(|| exchange.called.request_hash.clone()),
        };
        // A struct of texts and numbers always is JSON.
        let mut bytes = serde_json::to_vec(&head).unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend_from_slice(request);
        bytes.extend_from_slice(&exchange.response);
        Bytes::from(bytes)
    }

    /// Reads back what [`Recording::encode`] made.
    ///
    /// # Errors
    /// When the bytes are something else, or the answer was not recorded whole.
    pub fn decode(bytes: &Bytes) -> Result<Self, RecordingError> {
        let damaged = RecordingError::Damaged;
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or(damaged("it has no first line"))?;
        let head: Head =
            serde_json::from_slice(&bytes[..end]).map_err(|_| damaged("its first line cannot be read"))?;
        let bodies = bytes.slice(end + 1..);
        if head.request_bytes.checked_add(head.response_bytes) != Some(bodies.len()) {
            return Err(damaged("its length is not what its first line says"));
        }
        if head.omitted_bytes > 0 {
            return Err(RecordingError::Cut { omitted: head.omitted_bytes });
        }
        let is_stream = head.content_type.as_deref().is_some_and(|kind| kind.contains("event-stream"));
        let ending = match (head.ending, head.status) {
            (Some(WireEnding::Complete), _) => Ending::Complete,
            (Some(WireEnding::CallerLeft), _) | (None, 499) => Ending::CallerLeft,
            (Some(WireEnding::Broken), _) => Ending::Broken,
            (None, 502) if is_stream => Ending::Broken,
            (None, _) => Ending::Complete,
        };
        Ok(Self {
            conversation: head.conversation,
            model: head.model.unwrap_or_default(),
            path: head.path,
            status: head.status,
            ending,
            refusal: head.refusal,
            content_type: head.content_type,
            request_hash: head.request_hash,
            request: bodies.slice(..head.request_bytes),
            response: bodies.slice(head.request_bytes..),
        })
    }
}

/// What is recorded of a request's body: nothing if it was refused here, so that a sandbox cannot fill a disk with requests
/// that nobody answers.
pub(super) fn recorded_request(exchange: &Exchange) -> &[u8] {
    if exchange.refusal.is_none_or(RefusalKind::went_out) { &exchange.request } else { &[] }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{Recording, RecordingError};
    use crate::Ending;

    #[test]
    fn a_recording_of_the_first_version_is_read_and_its_status_tells_how_it_ended() {
        let bytes = |status: u16, kind: &str| {
            Bytes::from(format!(
                "{{\"path\":\"/v1/messages\",\"status\":{status},\"contentType\":{kind},\"requestBytes\":2,\"responseBytes\":3,\"omittedBytes\":0}}\n{{}}abc"
            ))
        };
        let read = Recording::decode(&bytes(200, "\"text/event-stream\"")).expect("a recording");
        assert_eq!((&*read.request, &*read.response), (&b"{}"[..], &b"abc"[..]));
        assert_eq!(read.ending, Ending::Complete);
        let ending =
            |status, kind: &str| Recording::decode(&bytes(status, kind)).expect("a recording").ending;
        assert_eq!(ending(499, "null"), Ending::CallerLeft);
        assert_eq!(ending(502, "\"text/event-stream\""), Ending::Broken);
        assert_eq!(ending(502, "\"application/json\""), Ending::Complete);
    }

    #[test]
    fn what_is_damaged_or_cut_is_said_to_be() {
        let check = |text: &str, expected: RecordingError| {
            assert_eq!(Recording::decode(&Bytes::from(text.to_owned())), Err(expected));
        };
        check("{}", RecordingError::Damaged("it has no first line"));
        check("[]\n", RecordingError::Damaged("its first line cannot be read"));
        let head = |request: usize, omitted: u64| {
            format!(
                "{{\"path\":\"/\",\"status\":200,\"contentType\":null,\"requestBytes\":{request},\"responseBytes\":0,\"omittedBytes\":{omitted}}}\n"
            )
        };
        check(&head(1, 0), RecordingError::Damaged("its length is not what its first line says"));
        check(&head(usize::MAX, 0), RecordingError::Damaged("its length is not what its first line says"));
        check(&head(0, 9), RecordingError::Cut { omitted: 9 });
    }
}
