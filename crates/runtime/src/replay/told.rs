//! What was said into a run while it went on: its replay says it again, at the same place.
//!
//! When a message was sent is not what counts, but which call to the model was the first to carry it: the answer to the
//! call before it ends only when the agent has the message, so that it can be neither early nor late.

use memchr::memmem::Finder;
use warren_agents::Prompt;
use warren_domain::{Block, BlockId, Content, ContentPart, Event, EventBody, RunId};
use warren_models::{Recording, RecordingError, Recordings};

/// A message that came while a run went on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    pub(super) prompt: Prompt,
    /// The call, by its place among the recordings, whose answer ends after it. `None`: it came before every call.
    pub(super) before_end: Option<usize>,
    /// How many blocks had begun by then.
    pub(super) n_blocks: usize,
}

/// All of them in order, and how many the model never heard of.
pub(super) fn told(
    run: RunId,
    events: &[Event],
    recordings: &mut dyn Recordings,
) -> Result<(Vec<Told>, usize), RecordingError> {
    let prompts = prompts(run, events);
    if prompts.is_empty() {
        return Ok((Vec::new(), 0));
    }
    let calls = look_for(&prompts, recordings)?;
    let (mut told, mut n_unheard): (Vec<Told>, usize) = (Vec::new(), 0);
    for (number, (prompt, n_blocks)) in prompts.into_iter().enumerate() {
        let n_earlier = told.iter().filter(|other| other.prompt.content == prompt.content).count();
        match carried_by(number, &calls).into_iter().nth(n_earlier) {
            Some(place) => told.push(Told { prompt, before_end: call_before(place, &calls), n_blocks }),
            None => n_unheard += 1,
        }
    }
    Ok((told, n_unheard))
}

/// The messages, and how many blocks had begun before each.
fn prompts(run: RunId, events: &[Event]) -> Vec<(Prompt, usize)> {
    let mut n_blocks = 0;
    let prompt = |event: &Event| {
        n_blocks += usize::from(matches!(event.body, EventBody::BlockStart { .. }));
        said_into(run, event).map(|prompt| (prompt, n_blocks))
    };
    events.iter().filter_map(prompt).collect()
}

/// What is looked at of a recording.
struct Call {
    conversation: Option<String>,
    path: String,
    /// How often its request has the words of each message: between quotes, and anywhere.
    counts: Vec<[usize; 2]>,
}

/// Reads every recording once.
fn look_for(
    prompts: &[(Prompt, usize)],
    recordings: &mut dyn Recordings,
) -> Result<Vec<Call>, RecordingError> {
    let words = prompts.iter().map(|(prompt, _)| words(&prompt.content));
    let finders: Vec<Option<[Finder<'static>; 2]>> = words
        .map(|words| {
            words.map(|words| [format!("\"{words}\""), words].map(|it| Finder::new(&it).into_owned()))
        })
        .collect();
    let n_calls = recordings.count();
    let look = |place| {
        let Recording { conversation, path, request, .. } = recordings.recording(place)?;
        let count = |finder: &Finder<'_>| finder.find_iter(&request).count();
        let counts =
            finders.iter().map(|finders| finders.as_ref().map_or([0; 2], |both| both.each_ref().map(count)));
        Ok(Call { conversation, path, counts: counts.collect() })
    };
    (0..n_calls).map(look).collect()
}

/// The message that an entry of the log shows, if it is not the one that the run began with.
fn said_into(run: RunId, event: &Event) -> Option<Prompt> {
    let EventBody::BlockComplete { block: Block::UserMessage { id, content, .. } } = &event.body else {
        return None;
    };
    let is_said = ["msg-", "wrap-up-"].iter().any(|head| id.as_str().starts_with(head));
    let is_ours = event.conversation_id.is_main() && is_said && *id != BlockId::of_message(run);
    is_ours.then(|| Prompt { message: id.clone(), content: content.clone() })
}

/// The calls that were the first to carry a message: one for each time that it was said. Most agents pass a message on as it
/// is; some put words around it.
fn carried_by(number: usize, calls: &[Call]) -> Vec<usize> {
    let quoted = first_with(|call| call.counts[number][0], calls);
    if quoted.is_empty() { first_with(|call| call.counts[number][1], calls) } else { quoted }
}

/// The calls whose requests have words more often than the one before in their thread, each as often as that is more. If
/// there is none and the first call has them, it was said before every call.
fn first_with(count: impl Fn(&Call) -> usize, calls: &[Call]) -> Vec<usize> {
    let more = |place: usize| {
        let before = previous(place, calls)?;
        Some(std::iter::repeat_n(place, count(&calls[place]).saturating_sub(count(&calls[before]))))
    };
    let later: Vec<usize> = (0..calls.len()).filter_map(more).flatten().collect();
    if later.is_empty() && calls.first().is_some_and(|first| count(first) > 0) { vec![0] } else { later }
}

/// The longest text of a message, as requests have it between quotes.
fn words(content: &Content) -> Option<String> {
    let texts: Vec<&str> = match content {
        Content::Text(text) => vec![text],
        Content::Parts(parts) => parts
            .iter()
            .filter_map(|part| match part {
                ContentPart::Text { text } => Some(text.as_str()),
                ContentPart::Image { .. } | ContentPart::File { .. } => None,
            })
            .collect(),
    };
    let longest = texts.into_iter().map(str::trim).max_by_key(|text| text.len())?;
    let quoted = serde_json::to_string(longest).ok()?;
    let bare = quoted.strip_prefix('"')?.strip_suffix('"')?.to_owned();
    (!bare.is_empty()).then_some(bare)
}

/// The call of the same thread before the one at `place`.
fn previous(place: usize, calls: &[Call]) -> Option<usize> {
    let own = &calls[place];
    (0..place).rev().find(|before| {
        let other = &calls[*before];
        other.conversation == own.conversation && other.path == own.path
    })
}

/// The call whose answer must not end before the message is there.
fn call_before(place: usize, calls: &[Call]) -> Option<usize> {
    previous(place, calls).or(place.checked_sub(1))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use warren_agents::Prompt;
    use warren_domain::{Block, BlockId, Content, Draft, Event, EventBody, Seq, Timestamp};
    use warren_env::Env;
    use warren_models::{Ending, Recording};

    use super::{Told, told};

    fn asked(conversation: Option<&str>, request: &str) -> Recording {
        Recording {
            conversation: conversation.map(str::to_owned),
            model: String::new(),
            path: "/v1/messages".to_owned(),
            status: 200,
            ending: Ending::Complete,
            refusal: None,
            content_type: None,
            request: Bytes::from(request.to_owned()),
            request_hash: None,
            response: Bytes::new(),
        }
    }

    fn said(id: &str, text: &str) -> (Event, Prompt) {
        let (at, message, content) = (Timestamp::from_millis(0), BlockId::from(id), Content::from(text));
        let block = Block::UserMessage { id: message.clone(), timestamp: at, content: content.clone() };
        let draft = Draft::of_session(EventBody::BlockComplete { block });
        (draft.numbered(Seq(1), Env::system().session_id(), at), Prompt { message, content })
    }

    #[test]
    fn a_message_comes_before_the_end_of_the_answer_to_the_last_call_that_does_not_carry_it() {
        let run = Env::system().run_id();
        let (own, _) = said(BlockId::of_message(run).as_str(), "say \"hello\"");
        let (event, prompt) = said("msg-2", "say \"hello\" ");
        let (unheard, _) = said("msg-3", "too late");
        let mut recordings = vec![
            asked(None, r#"["say \"hello\""]"#),
            asked(Some("other"), r#"["helper"]"#),
            asked(None, r#"["say \"hello\"", "tool", "say \"hello\""]"#),
            asked(None, r#"["say \"hello\"", "tool", "say \"hello\"", "more"]"#),
        ];
        // The run's own message has the same words: the third call has them twice.
        let (found, n_unheard) = told(run, &[own, event, unheard], &mut recordings).expect("they are read");
        assert_eq!((found, n_unheard), (vec![Told { prompt, before_end: Some(0), n_blocks: 0 }], 1));
    }

    #[test]
    fn the_same_said_twice_comes_twice_and_what_came_first_comes_first() {
        let run = Env::system().run_id();
        let ((first, early), (second, _), (third, _)) =
            (said("msg-1", "early"), said("msg-2", "go on"), said("msg-3", "go on"));
        let mut recordings = vec![
            asked(None, r#"["early"]"#),
            asked(None, r#"["early", "sent: go on, please"]"#),
            asked(None, r#"["early", "sent: go on, please", "sent: go on, please"]"#),
        ];
        let (found, n_unheard) = told(run, &[first, second, third], &mut recordings).expect("they are read");
        let places: Vec<_> = found.iter().map(|told| told.before_end).collect();
        assert_eq!((places, n_unheard), (vec![None, Some(0), Some(1)], 0));
        assert_eq!(found[0].prompt, early);
    }
}
