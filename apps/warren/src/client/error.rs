//! Why a call to the server did not work.

use warren_domain::ErrorCode;
use warren_wire::Problem;

/// Why a call did not work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// The program cannot make requests at all.
    #[error("failed to prepare requests")]
    Setup {
        #[source]
        source: reqwest::Error,
    },
    /// Nobody answers, or the answer broke off.
    #[error("the server at {url} cannot be reached")]
    Unreachable {
        url: String,
        #[source]
        source: reqwest::Error,
    },
    /// A stream that has no end came to one.
    #[error("the server at {url} stopped sending events")]
    Ended { url: String },
    /// The server said no, and why.
    #[error("{} ({})", .0.detail, .0.code)]
    Refused(Box<Problem>),
    /// Someone said no who is not a Warren server.
    #[error("the server answered {status} without a reason")]
    Strange { status: u16 },
    /// The answer is not what this version understands.
    #[error("this version cannot read the answer of the server at {url}")]
    Unreadable {
        url: String,
        #[source]
        source: serde_json::Error,
    },
    /// A stream is not server-sent events.
    #[error("the server at {url} sent a broken stream")]
    Stream {
        url: String,
        #[source]
        source: super::sse::ParseError,
    },
}

impl CallError {
    /// Reads what a server says about a refusal.
    pub(super) async fn of_answer(response: reqwest::Response) -> Self {
        let status = response.status().as_u16();
        let problem = response.bytes().await.ok().and_then(|body| serde_json::from_slice(&body).ok());
        problem.map_or(CallError::Strange { status }, |problem| CallError::Refused(Box::new(problem)))
    }

    /// Whether trying again later may help.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            CallError::Unreachable { .. } | CallError::Ended { .. } => true,
            CallError::Refused(problem) => matches!(problem.status, 429 | 502..=504),
            CallError::Strange { status } => matches!(status, 429 | 502..=504),
            CallError::Setup { .. } | CallError::Unreadable { .. } | CallError::Stream { .. } => false,
        }
    }

    /// Whether a server that is ending, or has just ended, fails like this.
    pub(crate) fn is_of_ending_server(&self) -> bool {
        match self {
            CallError::Unreachable { .. } | CallError::Ended { .. } => true,
            CallError::Refused(problem) => problem.code == ErrorCode::Unavailable,
            CallError::Setup { .. }
            | CallError::Strange { .. }
            | CallError::Unreadable { .. }
            | CallError::Stream { .. } => false,
        }
    }

    /// What the user can do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            CallError::Unreachable { .. } | CallError::Ended { .. } => {
                let hint = "start it with `warren up`, or check its address";
                Some(hint.to_owned())
            }
            CallError::Refused(problem) if problem.hint.is_some() => problem.hint.clone(),
            CallError::Refused(problem) if problem.status == 401 => Some(
                "save a token with `warren login URL`, or set it as WARREN_TOKEN; the server's own is in the file \
                 `token` of its data directory"
                    .to_owned(),
            ),
            CallError::Strange { .. } => Some("check that this is the address of a Warren server".to_owned()),
            CallError::Refused(_)
            | CallError::Setup { .. }
            | CallError::Unreadable { .. }
            | CallError::Stream { .. } => None,
        }
    }
}
