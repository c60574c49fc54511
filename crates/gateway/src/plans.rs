//! How many messages an owner of tokens may send.

use std::{fmt, str::FromStr};

use warren_domain::{Partition, Timestamp};
use warren_store::Count;

use crate::{Gateway, Identity, RequestError, Scope};

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;
const WEEK_MILLIS: i64 = 7 * DAY_MILLIS;
/// 1970 began on a Thursday; the first Monday was the fifth day.
const FIRST_MONDAY_MILLIS: i64 = 4 * DAY_MILLIS;

/// How many messages may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// Some, once.
    Unpaid,
    /// Some a week.
    Paid,
    /// Any number.
    Unlimited,
}

/// What each plan gives, and who has which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plans {
    /// Messages in all under [`Plan::Unpaid`].
    pub unpaid: u64,
    /// Messages a week under [`Plan::Paid`].
    pub paid_per_week: u64,
    /// The plan of administrators' tokens that were made without one.
    pub admin: Plan,
    /// The plan of projects' tokens that were made without one.
    pub project: Plan,
}

/// How much of a plan is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Which plan.
    pub plan: Plan,
    /// Messages it gives; `None`: any number.
    pub most: Option<u64>,
    /// Messages that were sent.
    pub used: u64,
    /// When the count begins anew, if it does.
    pub resets_at: Option<Timestamp>,
}

impl Default for Plans {
    fn default() -> Self {
        Self { unpaid: 10, paid_per_week: 50, admin: Plan::Unlimited, project: Plan::Unpaid }
    }
}

impl Plans {
    fn most(&self, plan: Plan) -> Option<u64> {
        match plan {
            Plan::Unpaid => Some(self.unpaid),
            Plan::Paid => Some(self.paid_per_week),
            Plan::Unlimited => None,
        }
    }
}

impl Gateway {
    /// The plan of an identity.
    #[must_use]
    pub fn plan(&self, identity: &Identity) -> Plan {
        identity.plan.unwrap_or(match identity.scope {
            Scope::Admin(_) => self.plans.admin,
            Scope::Project(..) => self.plans.project,
        })
    }

    /// What one more message of an identity is counted as. Whoever records the message counts it too, at once.
    #[must_use]
    pub fn count_of(&self, identity: &Identity) -> Count {
        let plan = self.plan(identity);
        let account = account(&identity.partition, &identity.owner);
        Count { account, since: since(plan, self.env.now()), most: self.plans.most(plan) }
    }

    /// How much an identity has left.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub async fn allowance(&self, identity: &Identity) -> Result<Allowance, RequestError> {
        let Count { account, since, most } = self.count_of(identity);
        let used = self.records.tokens.counted(&account, since).await.map_err(RequestError::Backend)?;
        let plan = self.plan(identity);
        let resets_at = (plan == Plan::Paid).then(|| since.plus_millis(WEEK_MILLIS));
        Ok(Allowance { plan, most, used, resets_at })
    }
}

/// The account of an owner of tokens.
pub(crate) fn account(partition: &Partition, owner: &str) -> String {
    format!("{partition}/{owner}")
}

/// Since when messages are counted: Monday, or ever.
fn since(plan: Plan, now: Timestamp) -> Timestamp {
    match plan {
        Plan::Paid => {
            let weeks = (now.as_millis() - FIRST_MONDAY_MILLIS).div_euclid(WEEK_MILLIS);
            Timestamp::from_millis(FIRST_MONDAY_MILLIS + weeks * WEEK_MILLIS)
        }
        Plan::Unpaid | Plan::Unlimited => Timestamp::from_millis(0),
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Plan::Unpaid => "unpaid",
            Plan::Paid => "paid",
            Plan::Unlimited => "unlimited",
        })
    }
}

impl FromStr for Plan {
    type Err = RequestError;

    fn from_str(text: &str) -> Result<Self, RequestError> {
        match text {
            "unpaid" => Ok(Plan::Unpaid),
            "paid" => Ok(Plan::Paid),
            "unlimited" => Ok(Plan::Unlimited),
            _ => Err(RequestError::Invalid {
                message: format!("`{}` is not a plan", text.escape_debug()),
                hint: "use `unpaid`, `paid` or `unlimited`",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Plan, since};
    use warren_domain::Timestamp;

    #[test]
    fn a_week_begins_on_monday() {
        let at = |text| Timestamp::parse(text).expect(text);
        for (now, monday) in [
            ("2026-11-16T00:00:00Z", "2026-11-16T00:00:00Z"),
            ("2026-11-15T23:59:59Z", "2026-11-09T00:00:00Z"),
            ("2026-11-22T12:00:00Z", "2026-11-16T00:00:00Z"),
            ("1970-01-01T00:00:00Z", "1969-12-29T00:00:00Z"),
        ] {
            assert_eq!(since(Plan::Paid, at(now)), at(monday), "{now}");
        }
        assert_eq!(since(Plan::Unpaid, at("2026-11-16T00:00:00Z")), Timestamp::from_millis(0));
    }

    #[test]
    fn a_plan_reads_back_as_it_is_written() {
        for plan in [Plan::Unpaid, Plan::Paid, Plan::Unlimited] {
            assert_eq!(plan.to_string().parse::<Plan>().expect("a plan"), plan);
        }
        assert!("Paid".parse::<Plan>().is_err());
    }
}
