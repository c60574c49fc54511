//! What a profile must be for sessions to start with it, as far as only the runtime can say.

use warren_domain::{AgentProfile, ErrorCode};
use warren_models::EgressRules;

use super::SessionError;

/// Checks the egress rules, in the words that a session would fail to start with.
///
/// # Errors
/// When one of them cannot be read; the field is named.
pub fn profile_check(profile: &AgentProfile) -> Result<(), SessionError> {
    for (place, rule) in profile.egress_allow.iter().enumerate() {
        EgressRules::parse([rule]).map_err(|error| SessionError::Invalid {
            code: ErrorCode::BadRequest,
            message: format!("`egressAllow[{place}]`: {error}"),
            hint: Some(error.hint().to_owned()),
        })?;
    }
    Ok(())
}
