//! How many messages may be sent.

use super::invalid;
use crate::{ConfigError, raw::RawPlans};

/// The part of whoever counts messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plans {
    /// Messages in all under `unpaid`.
    pub unpaid_messages: u64,
    /// Messages a week under `paid`.
    pub paid_messages_per_week: u64,
    /// The plan of administrators' tokens, by name.
    pub admin: String,
    /// The plan of projects' tokens, by name.
    pub project: String,
}

pub(super) fn plans(raw: RawPlans) -> Result<Plans, ConfigError> {
    let named = |key, written: Option<String>, default: &str| match written {
        Some(plan) if !["unpaid", "paid", "unlimited"].contains(&plan.as_str()) => {
            Err(invalid(key, plan, "the plans are `unpaid`, `paid` and `unlimited`"))
        }
        written => Ok(written.unwrap_or_else(|| default.to_owned())),
    };
    Ok(Plans {
        unpaid_messages: raw.unpaid.messages.unwrap_or(10),
        paid_messages_per_week: raw.paid.messages_per_week.unwrap_or(50),
        admin: named("plans.admin", raw.admin, "unlimited")?,
        project: named("plans.project", raw.project, "unpaid")?,
    })
}
