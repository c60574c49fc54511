//! What a profile must be for sessions to start with it.

use warren_domain::{AgentProfile, ErrorCode};
use warren_models::EgressRules;

use super::SessionError;

/// Says what is wrong with a profile, in the words that a session would fail to start with.
///
/// # Errors
/// When a rule of what may be reached is none.
pub fn profile_check(profile: &AgentProfile) -> Result<(), SessionError> {
    EgressRules::parse(&profile.egress_allow).map(drop).map_err(|error| SessionError::Invalid {
        code: ErrorCode::BadRequest,
        message: error.to_string(),
        hint: Some(error.hint().to_owned()),
    })
}
