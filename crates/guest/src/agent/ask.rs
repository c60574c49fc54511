//! Asks the model until it has answered, or it is plain that it will not.

use std::time::Duration;

use warren_domain::EventBody;

use super::{
    answer::{Answer, Reply},
    api::ApiError,
    clock::now,
    request::{self, Thinking},
    role::Role,
    session::Agent,
    thread::Thread,
};

/// How often one request is sent before the turn fails.
const MAX_ATTEMPTS: u32 = 6;

/// Before the second attempt; twice as long before each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// A provider may ask for hours; a person is waiting.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Why there is no reply.
pub(super) enum Stopped {
    Interrupted,
    Failed(ApiError),
}

impl Agent {
    /// The model's next answer in a thread. A broken one is taken back and asked for again.
    pub(super) async fn ask(&self, thread: &Thread, role: &Role) -> Result<Reply, Stopped> {
        let mut attempt = 1;
        loop {
            let thinking = if self.thinks.get() { Thinking::of_model(&role.model) } else { Thinking::Off };
            let mut answer = Answer::new(thread, role);
            let outcome = tokio::select! {
                biased;
                () = self.control.interrupted() => None,
                outcome = self.receive(&mut answer, thinking) => Some(outcome),
            };
            self.spend(thread, &answer);
            let error = match outcome {
                None => {
                    self.close_interrupted(thread, &answer.cut());
                    return Err(Stopped::Interrupted);
                }
                Some(Ok(())) => return Ok(answer.into_reply()),
                Some(Err(error)) => error,
            };
            answer.discard("the answer broke off and was asked for again");
            if error.is_about_thinking() && thinking != Thinking::Off {
                self.thinks.set(false);
                continue;
            }
            if !error.is_passing() || attempt == MAX_ATTEMPTS {
                return Err(Stopped::Failed(error));
            }
            self.pause(thread, &error, attempt).await?;
            attempt += 1;
        }
    }

    async fn receive(&self, answer: &mut Answer<'_>, thinking: Thinking) -> Result<(), ApiError> {
        let body = request::body(answer.role(), answer.thread().messages(), thinking);
        let mut events = self.client.ask(answer.thread().id(), body).await?;
        while !answer.is_whole() {
            match events.next().await? {
                Some(event) => answer.apply(event)?,
                None => return Err(ApiError::Broken("the stream ended early".to_owned())),
            }
        }
        Ok(())
    }

    async fn pause(&self, thread: &Thread, error: &ApiError, attempt: u32) -> Result<(), Stopped> {
        let usual = FIRST_PAUSE * 2_u32.pow(attempt - 1);
        let pause = error.retry_after().unwrap_or(usual).min(LONGEST_PAUSE);
        let pause_ms = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
        thread.say(EventBody::Retrying {
            attempt,
            reason: error.to_string(),
            next_at: Some(now().plus_millis(pause_ms)),
        });
        tokio::select! {
            biased;
            () = self.control.interrupted() => Err(Stopped::Interrupted),
            () = tokio::time::sleep(pause) => Ok(()),
        }
    }

    /// Adds what an answer cost, whole or not, and tells.
    fn spend(&self, thread: &Thread, answer: &Answer<'_>) {
        let spent = answer.usage();
        if spent.total_tokens == 0 {
            return;
        }
        thread.spend(&spent);
        let mut usage = self.usage.borrow_mut();
        usage.add(&spent);
        thread.record(EventBody::MetadataUpdate {
            cost_usd: usage.cost_usd,
            usage: usage.clone(),
            model: spent.model.clone(),
            context_tokens: Some(spent.total_tokens),
        });
    }
}
