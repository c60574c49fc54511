//! Asks the model until it has answered, or it is plain that it will not.

use warren_domain::{EventBody, SystemSubtype, Usage};

use super::{
    answer::{Answer, Reply},
    api::ApiError,
    block,
    request::{self, Request, Thinking},
    retry::Retries,
    role::Role,
    session::Agent,
    thread::Thread,
    transcript::Native,
};

/// A request that is refused for its length is made shorter this often.
const MAX_REFUSED: u32 = 8;

/// Why there is no reply.
pub(super) enum Stopped {
    Interrupted,
    Failed(ApiError),
}

impl Agent {
    /// The model's next answer in a thread. A broken one is taken back and asked for again.
    pub(super) async fn ask(&self, thread: &Thread, role: &Role) -> Result<Reply, Stopped> {
        self.make_room(thread, role).await?;
        let (mut retries, mut n_refused) = (Retries::default(), 0);
        loop {
            let thinking = if self.thinks.get() { Thinking::of_model(&role.model) } else { Thinking::Off };
            let mut answer = Answer::new(thread, role);
            let outcome = tokio::select! {
                biased;
                () = self.control.interrupted() => None,
                outcome = self.receive(&mut answer, thinking) => Some(outcome),
            };
            let spent = answer.usage();
            self.charge(thread, &spent, Some(spent.total_tokens));
            let error = match outcome {
                None => {
                    self.close_interrupted(thread, &answer.cut());
                    return Err(Stopped::Interrupted);
                }
                Some(Ok(())) => {
                    retries.succeeded(thread);
                    return Ok(answer.into_reply());
                }
                Some(Err(error)) => error,
            };
            answer.discard("the answer broke off and was asked for again");
            if error.is_too_long() && n_refused < MAX_REFUSED {
                self.make_room_after(thread, role, &error, n_refused).await?;
                n_refused += 1;
            } else if error.is_about_media() && leave_out_media(thread, &error) {
            } else if error.is_about_thinking() && self.thinks.get() {
                self.thinks.set(false);
            } else {
                retries.wait(self, thread, error).await?;
            }
        }
    }

    async fn receive(&self, answer: &mut Answer<'_>, thinking: Thinking) -> Result<(), ApiError> {
        let (thread, role) = (answer.thread(), answer.role());
        let request = Request {
            model: &role.model,
            system: &role.system,
            messages: thread.messages(),
            tools: role.schemas(),
            searches: false,
            thinking,
            effort: self.effort,
            has_thoughts: self.thinks.get(),
            max_output: self.windows.of(&role.model, request::max_output(&role.model)).max_output,
            is_cached: true,
        };
        let mut events = self.client.ask(thread.id(), request).await?;
        while !answer.is_whole() {
            match events.next().await? {
                Some(event) => answer.apply(event)?,
                None => return Err(ApiError::Broken("the stream ended early".to_owned())),
            }
        }
        Ok(())
    }

    /// Adds what an answer cost, whole or not, and reports it. `context_tokens`: how much of the window it filled.
    pub(super) fn charge(&self, thread: &Thread, spent: &Usage, context_tokens: Option<u64>) {
        if spent.total_tokens == 0 {
            return;
        }
        thread.spend(spent);
        let mut usage = self.usage.borrow_mut();
        usage.add(spent);
        thread.record(EventBody::MetadataUpdate {
            cost_usd: usage.cost_usd,
            usage: usage.clone(),
            model: spent.model.clone(),
            context_tokens,
        });
    }
}

/// Takes pictures and documents that the provider refuses out of what the model is told: else it would refuse every
/// further request too. `false`: there are none.
fn leave_out_media(thread: &Thread, error: &ApiError) -> bool {
    let Some(compaction) = thread.without_media() else { return false };
    let message = format!("Pictures and documents were left out: {error}");
    let block = block::system(thread.unique("left-out"), SystemSubtype::Status, message);
    let native = Native { compaction: Some(compaction), ..Native::default() };
    thread.record_with(EventBody::BlockComplete { block }, Some(native));
    true
}
