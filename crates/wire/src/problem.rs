//! What a failure looks like.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use warren_domain::{ErrorCode, Version};

/// An RFC 9457 problem document; its media type is `application/problem+json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The page that explains the code, on this server.
    #[serde(rename = "type")]
    pub kind: String,
    /// The title of the code; the same for every error with this code.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What is wrong.
    pub detail: String,
    /// A stable name to act on.
    pub code: ErrorCode,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The position of the error in the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<At>,
    /// The latest version, if the named one is stale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_version: Option<Version>,
    /// Finds the request in the server's log.
    pub request_id: String,
    /// The requested path.
    pub instance: String,
}

/// A position in a request's JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct At {
    /// The field, such as `options.model`; absent if the text is not JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

impl Problem {
    /// The title that goes with a code: the code, as words.
    #[must_use]
    pub fn title_of(code: ErrorCode) -> String {
        let words = code.as_str().to_lowercase().replace('_', " ");
        let mut letters = words.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }

    /// Where the page of a code is on every server.
    #[must_use]
    pub fn type_of(code: ErrorCode) -> String {
        format!("/errors/{code}")
    }
}

#[cfg(test)]
mod tests {
    use super::Problem;
    use warren_domain::ErrorCode;

    #[test]
    fn a_title_is_the_code_in_words() {
        assert_eq!(Problem::title_of(ErrorCode::RunInProgress), "Run in progress");
    }

    #[test]
    fn a_problem_is_camel_case_and_leaves_out_what_it_does_not_know() {
        let problem = Problem {
            kind: Problem::type_of(ErrorCode::NotFound),
            title: Problem::title_of(ErrorCode::NotFound),
            status: 404,
            detail: "there is no session `x`".to_owned(),
            code: ErrorCode::NotFound,
            hint: None,
            at: None,
            current_version: None,
            request_id: "r1".to_owned(),
            instance: "/api/sessions/x".to_owned(),
        };
        assert_eq!(
            serde_json::to_string(&problem).expect("JSON"),
            r#"{"type":"/errors/NOT_FOUND","title":"Not found","status":404,"detail":"there is no session `x`","code":"NOT_FOUND","requestId":"r1","instance":"/api/sessions/x"}"#
        );
    }
}
