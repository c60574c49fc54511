//! Errors on request, to see how agents and pages take them.

use super::{counted, has_phrase, number_after, words};
use crate::demo::{ask::ApiError, conversation::Conversation, turn::Turn};

/// An error that was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::demo) struct Asked {
    pub(in crate::demo) error: ApiError,
    /// How many tries of the same request fail; `None` for all of them.
    pub(in crate::demo) n_tries: Option<u64>,
}

/// `error 529`: that status, as the real API words it; `error 529 twice` and `error 429 3 times` go away again.
pub(in crate::demo) fn asked_for(prompt: &str) -> Option<Asked> {
    let status = number_after(prompt, &["error"]).and_then(|status| u16::try_from(status).ok())?;
    let message = match status {
        400 => "The request was invalid, as you asked.",
        401 => "invalid x-api-key",
        403 => "Your key may not use this resource.",
        404 => "model: no such model",
        413 => "Request exceeds the maximum size",
        429 => "This request would exceed your rate limit.",
        529 => "Overloaded",
        500..=599 => "Internal server error",
        _ => return None,
    };
    Some(Asked { error: ApiError::new(status, message), n_tries: n_tries(prompt) })
}

/// The tries that failed are over.
pub(in crate::demo) fn is_over(conversation: &Conversation) -> bool {
    asked_for(&conversation.prompt).is_some()
}

pub(in crate::demo) fn over(conversation: &Conversation) -> Vec<Turn> {
    let asked = asked_for(&conversation.prompt);
    let status = asked.as_ref().map_or(0, |asked| asked.error.status);
    let tries =
        asked.and_then(|asked| asked.n_tries).and_then(|n| usize::try_from(n).ok()).unwrap_or_default();
    let tries = counted(tries, "try").replace("trys", "tries");
    vec![Turn::new().say(format!("Error {status} is over after {tries}. Here is the answer."))]
}

/// An answer that begins well and then breaks off.
pub(in crate::demo) fn is_broken_stream(conversation: &Conversation) -> bool {
    has_phrase(&conversation.prompt, "error in the stream")
        || has_phrase(&conversation.prompt, "error in stream")
}

pub(in crate::demo) fn broken_stream(_: &Conversation) -> Vec<Turn> {
    vec![Turn::new().say("This answer starts normally, and then the model is overloaded").breaking()]
}

fn n_tries(prompt: &str) -> Option<u64> {
    let words = words(prompt);
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let times = words.windows(2).find(|pair| pair[1] == "times").and_then(|pair| pair[0].parse().ok());
    if has("once") {
        Some(1)
    } else if has("twice") {
        Some(2)
    } else {
        times
    }
}

#[cfg(test)]
mod tests {
    use super::asked_for;

    #[test]
    fn an_error_says_how_often_it_comes() {
        let tries = |prompt: &str| asked_for(prompt).map(|asked| (asked.error.status, asked.n_tries));
        assert_eq!(tries("error 529"), Some((529, None)));
        assert_eq!(tries("Error 529 twice, please"), Some((529, Some(2))));
        assert_eq!(tries("error 429 3 times"), Some((429, Some(3))));
        assert_eq!(tries("error 200"), None);
        assert_eq!(tries("an error"), None);
    }
}
