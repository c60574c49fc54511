//! Profiles. One profile is [`warren_domain::AgentProfile`] itself.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use warren_domain::AgentProfile;

/// All profiles, by id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileList {
    /// All of them.
    pub profiles: Vec<AgentProfile>,
}
