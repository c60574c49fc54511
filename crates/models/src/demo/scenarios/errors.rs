//! Errors on request, to see how agents and pages take them.

use super::{has_phrase, number_after};
use crate::demo::{conversation::Conversation, request::ApiError, turn::Turn};

/// `error 529`: that status, as the real API words it.
pub(in crate::demo) fn asked_for(prompt: &str) -> Option<ApiError> {
    let status = number_after(prompt, &["error"]).and_then(|status| u16::try_from(status).ok())?;
    let (kind, message) = match status {
        400 => ("invalid_request_error", "The request was invalid, as you asked."),
        401 => ("authentication_error", "invalid x-api-key"),
        403 => ("permission_error", "Your key may not use this resource."),
        404 => ("not_found_error", "model: no such model"),
        413 => ("request_too_large", "Request exceeds the maximum size"),
        429 => ("rate_limit_error", "This request would exceed your rate limit."),
        529 => ("overloaded_error", "Overloaded"),
        500..=599 => ("api_error", "Internal server error"),
        _ => return None,
    };
    Some(ApiError::new(status, kind, message))
}

/// An answer that begins well and then breaks off.
pub(in crate::demo) fn is_broken_stream(conversation: &Conversation) -> bool {
    has_phrase(&conversation.prompt, "error in the stream")
        || has_phrase(&conversation.prompt, "error in stream")
}

pub(in crate::demo) fn broken_stream(_: &Conversation) -> Vec<Turn> {
    vec![Turn::new().say("This answer begins well, and then the model has too much to do").breaking()]
}
