//! Waits between attempts, for as long as a provider may be overloaded.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use warren_domain::{BlockId, EventBody, SystemSubtype};

use super::{api::ApiError, ask::Stopped, block, clock::now, session::Agent, thread::Thread};

/// How often one request is sent. With the pauses below that is about five minutes.
const MAX_ATTEMPTS: u32 = 12;

/// The same where nobody is there to answer: about 15 seconds. A server that restarts is back by then.
const MAX_UNREACHABLE: u32 = 6;

/// Before the second attempt; twice as long before each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

const MAX_PAUSE: Duration = Duration::from_secs(60);

/// A provider that asks for a longer pause is not waited for: the person decides.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(15 * 60);

/// From this attempt on the conversation says what is waited for. Shorter disturbances are nobody's concern.
const FIRST_NOTICE: u32 = 5;

/// The attempts at one request.
#[derive(Debug, Default)]
pub(super) struct Retries {
    n_failed: u32,
    /// The notice in the conversation, once there is one.
    notice: Option<BlockId>,
}

impl Retries {
    /// Waits before the next attempt.
    ///
    /// # Errors
    /// When another attempt makes no sense, or the turn was stopped.
    pub(super) async fn wait(
        &mut self,
        agent: &Agent,
        thread: &Thread,
        error: ApiError,
    ) -> Result<(), Stopped> {
        self.n_failed += 1;
        let Some(pause) = pause(&error, self.n_failed, random()) else {
            self.conclude(thread, "did not recover");
            return Err(Stopped::Failed(error));
        };
        self.announce(thread, &error, pause);
        tokio::select! {
            biased;
            () = agent.control.interrupted() => {
                self.conclude(thread, "was waited for until the turn was stopped");
                Err(Stopped::Interrupted)
            }
            () = agent.clock.sleep(pause) => Ok(()),
        }
    }

    /// Says what is waited for, by one line: a notice that is updated, or before there is one an event that clients show
    /// for the moment.
    fn announce(&mut self, thread: &Thread, error: &ApiError, pause: Duration) {
        let n_retry = self.n_failed;
        if n_retry + 1 >= FIRST_NOTICE || error.is_unreachable() {
            let (seconds, most) = (pause.as_secs_f64().ceil(), max_attempts(error) - 1);
            let short = error.in_short();
            self.notify(thread, format!("{short}; retry {n_retry} of {most} in {seconds} s"));
            return;
        }
        let pause_ms = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
        thread.say(EventBody::Retrying {
            attempt: n_retry,
            reason: error.to_string(),
            next_at: Some(now().plus_millis(pause_ms)),
        });
    }

    /// The request was answered.
    pub(super) fn succeeded(&mut self, thread: &Thread) {
        let text = format!("answered at retry {}", self.n_failed);
        self.conclude(thread, &text);
    }

    fn notify(&mut self, thread: &Thread, message: String) {
        let id = self.notice.get_or_insert_with(|| BlockId(thread.unique("retry")));
        let block = block::system(id.0.clone(), SystemSubtype::Status, message);
        thread.record(EventBody::BlockComplete { block });
    }

    fn conclude(&mut self, thread: &Thread, what: &str) {
        if self.notice.is_some() {
            self.notify(thread, format!("The provider was not available for a while; it {what}"));
        }
        self.notice = None;
    }
}

fn max_attempts(error: &ApiError) -> u32 {
    if error.is_unreachable() { MAX_UNREACHABLE } else { MAX_ATTEMPTS }
}

/// The pause after so many failures; `None` if there is no further attempt. `random` is between 0 and 1.
fn pause(error: &ApiError, n_failed: u32, random: f64) -> Option<Duration> {
    if !error.is_passing() || n_failed >= max_attempts(error) {
        return None;
    }
    let usual = FIRST_PAUSE.saturating_mul(1 << (n_failed - 1).min(16)).min(MAX_PAUSE);
    // Many sessions that were refused together must not come back together.
    let jittered = usual.mul_f64(0.75 + 0.5 * random);
    match error.retry_after() {
        Some(asked) if asked > MAX_RETRY_AFTER => None,
        Some(asked) => Some(jittered.max(asked)),
        None => Some(jittered),
    }
}

fn random() -> f64 {
    // A new state has new keys.
    let bits = RandomState::new().hash_one(0_u8) >> 32;
    f64::from(u32::try_from(bits).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{MAX_ATTEMPTS, MAX_UNREACHABLE, pause, random};
    use crate::agent::api::{ApiError, ErrorBody};

    fn refused(status: u16, retry_after: Option<u64>) -> ApiError {
        let retry_after = retry_after.map(Duration::from_secs);
        ApiError::Status { status, error: ErrorBody::default(), retry_after }
    }

    fn total(error: &ApiError, random: f64) -> (u32, Duration) {
        let pauses: Vec<Duration> = (1..).map_while(|n| pause(error, n, random)).collect();
        (u32::try_from(pauses.len()).expect("few"), pauses.iter().sum())
    }

    #[test]
    fn overload_of_minutes_is_outlasted_whatever_the_provider_asks_for() {
        let errors = [refused(529, None), refused(503, Some(0)), refused(429, Some(1))];
        for error in &errors {
            for random in [0.0, 0.5, 1.0] {
                let (n_pauses, waited) = total(error, random);
                assert_eq!(n_pauses, MAX_ATTEMPTS - 1);
                assert!(waited > Duration::from_secs(180) && waited < Duration::from_secs(480), "{waited:?}");
            }
        }
    }

    #[test]
    fn provider_that_is_not_there_is_given_up_within_half_a_minute() {
        let refused = "Anthropic cannot be reached (connection refused)".to_owned();
        for error in [ApiError::NoProvider(refused), ApiError::Unreachable("reset".to_owned())] {
            let (n_pauses, waited) = total(&error, 1.0);
            assert_eq!(n_pauses, MAX_UNREACHABLE - 1);
            assert!(waited > Duration::from_secs(10) && waited < Duration::from_secs(30), "{waited:?}");
        }
    }

    #[test]
    fn provider_that_asks_for_a_longer_pause_gets_it_up_to_a_limit() {
        assert_eq!(pause(&refused(429, Some(90)), 1, 0.5), Some(Duration::from_secs(90)));
        assert_eq!(pause(&refused(429, Some(3600)), 1, 0.5), None);
        assert_eq!(
            pause(&refused(429, Some(1)), 5, 0.5),
            Some(Duration::from_secs(8)),
            "at least our own pause"
        );
    }

    #[test]
    fn wrong_request_is_not_repeated() {
        assert_eq!(pause(&refused(401, None), 1, 0.5), None);
    }

    #[test]
    fn pauses_differ_from_one_attempt_to_the_next() {
        let drawn: Vec<f64> = (0..8).map(|_| random()).collect();
        assert!(drawn.iter().all(|random| (0.0..=1.0).contains(random)));
        assert!(drawn.iter().any(|random| random != &drawn[0]), "{drawn:?}");
    }
}
