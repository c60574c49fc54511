//! Where a session's blobs are kept: apart from those of all others, so that they go with the session.

use warren_domain::{Partition, SessionId};

/// What the log speaks of: fields that were too long, the last lines of an agent, logs of replays.
pub(crate) fn of_log(partition: &Partition, session: SessionId) -> Partition {
    Partition(format!("{partition}#log-{session}"))
}

/// What was said to models and what they answered. It is kept for so many days.
pub(crate) fn of_calls(partition: &Partition, session: SessionId) -> Partition {
    Partition(format!("{partition}#calls-{session}"))
}

/// Whose space it is, if it is a session's.
pub(crate) fn owner(space: &Partition) -> Option<SessionId> {
    let (_, kind) = space.as_str().rsplit_once('#')?;
    kind.strip_prefix("log-").or_else(|| kind.strip_prefix("calls-"))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use warren_domain::{Partition, SessionId};

    use super::{of_calls, of_log, owner};

    #[test]
    fn a_space_tells_whose_it_is() {
        let (partition, session) = (Partition::from("a#log-b"), SessionId(uuid::Uuid::from_u128(7)));
        assert_eq!(owner(&of_log(&partition, session)), Some(session));
        assert_eq!(owner(&of_calls(&partition, session)), Some(session));
        assert_ne!(of_calls(&partition, session), of_log(&partition, session));
        for others in ["a", "a#memory", "a#log-b", "a#calls-"] {
            assert_eq!(owner(&Partition::from(others)), None, "{others}");
        }
    }
}
