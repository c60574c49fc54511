//! Reads each dialect's requests into an [`Ask`], and refuses what its provider would refuse.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde::Deserialize;
use serde_json::Value;

use super::{
    Dialect,
    ask::{ApiError, Ask},
};

/// What the request asks, in whatever dialect.
pub(super) fn read(dialect: Dialect, path: &str, body: &[u8]) -> Result<Ask, ApiError> {
    match dialect {
        Dialect::Anthropic => anthropic::read(path, body),
        Dialect::Gemini => gemini::read(path, body),
        Dialect::OpenAiChat => chat::read(body),
        Dialect::OpenAiResponses => responses::read(body),
    }
}

/// Refuses what the provider refuses, so that an agent that works here works there.
pub(super) fn check(dialect: Dialect, ask: &Ask) -> Result<(), ApiError> {
    match dialect {
        // Its rules are about the order of the original blocks, so they were checked while reading.
        Dialect::Anthropic => Ok(()),
        Dialect::Gemini => gemini::check(ask),
        Dialect::OpenAiChat => chat::check(ask),
        Dialect::OpenAiResponses => responses::check(ask),
    }
}

fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, ApiError> {
    serde_json::from_slice(body).map_err(|error| ApiError::invalid(error.to_string()))
}

/// The texts of a content that is a text or a list of parts with texts.
fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => {
            let text = |part: &Value| part["text"].as_str().or(part.as_str()).map(str::to_owned);
            parts.iter().filter_map(text).collect()
        }
        _ => Vec::new(),
    }
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Whether a tool's output tells that its command failed; these dialects have no field for it.
fn tells_failure(text: &str) -> bool {
    let codes = text.lines().take(12).chain(text.lines().rev().take(4)).filter_map(|line| {
        let line = line.trim().to_lowercase();
        let code = line.strip_prefix("exit code:").or(line.strip_prefix("process exited with code"))?;
        code.trim().parse::<i64>().ok()
    });
    codes.into_iter().any(|code| code != 0)
}

#[cfg(test)]
mod tests {
    use super::tells_failure;

    #[test]
    fn a_failed_command_is_known_by_what_the_agent_says_of_it() {
        assert!(tells_failure("Output: boom\nExit Code: 3\nProcess Group PGID: 9"));
        assert!(tells_failure("Chunk ID: x\nWall time: 1\nProcess exited with code 1\nOutput:\nboom"));
        assert!(!tells_failure("Chunk ID: x\nProcess exited with code 0\nOutput:\nfine"));
        assert!(!tells_failure("the exit code: 3 is in the middle"));
    }
}
