//! Makes room in the model's window: older messages give way to a summary that the model writes.

use serde_json::{Map, Value, json};
use warren_domain::{Block, EventBody, SystemSubtype};

use super::{
    api::ApiError,
    ask::Stopped,
    block,
    compaction::Compaction,
    history::{Kept, text},
    request::{self, Request, Thinking},
    retry::Retries,
    role::Role,
    session::Agent,
    spoken::Spoken,
    thread::Thread,
    transcript::Native,
    window::{Window, tokens_of},
};

const COMPACT: &str = include_str!("prompts/compact.md");

/// The longest summary, in tokens.
const MAX_SUMMARY: u64 = 8_000;

/// A request for a summary that is too long is made shorter this often; then there is a summary without a model.
const MAX_SHORTER: u32 = 6;

/// Bytes of a request for each token of the window: fewer than there are on average, so that it fits.
const BYTES_PER_TOKEN: u64 = 2;

/// Stands for a summary where the model gave none.
const UNSUMMED: &str = "What was said before could not be summarised. The person said, shortened:";

/// Why a thread is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trigger {
    /// The next request would fill the window.
    NearlyFull,
    /// The provider refused a request for its length so many times.
    Refused(u32),
}

impl Agent {
    /// The window of a role's model, as far as it is known.
    pub(super) fn window(&self, thread: &Thread, role: &Role) -> Window {
        if let Some((model, tokens)) = thread.learned_window() {
            self.windows.learn(&model, tokens);
        }
        self.windows.of(&role.model, request::max_output(&role.model))
    }

    /// Compacts a thread whose next request would not leave room for the answer.
    pub(super) async fn make_room(&self, thread: &Thread, role: &Role) -> Result<(), Stopped> {
        if thread.tokens(fixed_tokens(role)) <= self.window(thread, role).limit() {
            return Ok(());
        }
        // What cannot be shortened is sent as it is: the estimate may be wrong, and the provider says so if it is not.
        self.compact(thread, role, Trigger::NearlyFull).await.map(|_| ())
    }

    /// Takes note of a refusal, and makes the thread shorter than it was.
    pub(super) async fn make_room_after(
        &self,
        thread: &Thread,
        role: &Role,
        refused: &ApiError,
        n_refused: u32,
    ) -> Result<(), Stopped> {
        let sent = thread.tokens(fixed_tokens(role));
        let window = self.window(thread, role).after_refusal(refused.message(), sent);
        self.windows.learn(&role.model, window);
        if self.compact(thread, role, Trigger::Refused(n_refused)).await? {
            return Ok(());
        }
        Err(Stopped::Failed(ApiError::TooLong(refused.message().to_owned())))
    }

    /// `false`: there is nothing to leave out.
    pub(super) async fn compact(
        &self,
        thread: &Thread,
        role: &Role,
        trigger: Trigger,
    ) -> Result<bool, Stopped> {
        let (fixed, window) = (fixed_tokens(role), self.window(thread, role));
        let limit = window.limit().saturating_sub(fixed).max(window.limit() / 8);
        let Some(mut compaction) = thread.plan(limit, trigger.pressure()) else { return Ok(false) };
        if compaction.summary.is_some() {
            compaction.summary = Some(self.summarise(thread, role, &compaction, window).await?);
        }
        compaction.window = trigger.is_refusal().then(|| (role.model.clone(), window.tokens));
        let (before, kept) = (thread.tokens(fixed), thread.kept(&compaction));
        let after = thread.tokens_after(&compaction, fixed);
        thread.record(EventBody::ContextCompacted {
            summary: None,
            before: Some(before),
            after: Some(after),
        });
        let block = notice(thread.unique("compacted"), &compaction, kept, [before, after], trigger);
        let native = Native { compaction: Some(compaction), ..Native::default() };
        thread.record_with(EventBody::BlockComplete { block }, Some(native));
        Ok(true)
    }

    /// What the model makes of the lines that are left out. A request that does not fit is told in fewer words.
    async fn summarise(
        &self,
        thread: &Thread,
        role: &Role,
        compaction: &Compaction,
        window: Window,
    ) -> Result<String, Stopped> {
        let max_bytes = usize::try_from(window.limit() * BYTES_PER_TOKEN).unwrap_or(usize::MAX);
        let (mut retries, mut n_shorter) = (Retries::default(), 0);
        let written = loop {
            let (earlier, told) = thread.told(compaction, max_bytes, n_shorter);
            let mut summary = Spoken::default();
            let outcome = tokio::select! {
                biased;
                () = self.control.interrupted() => None,
                outcome = self.receive_summary(thread, role, window, earlier, &told, &mut summary) => Some(outcome),
            };
            self.charge(thread, &summary.usage(&role.model), None);
            match outcome {
                None => return Err(Stopped::Interrupted),
                Some(Ok(())) => {
                    retries.succeeded(thread);
                    break summary.text;
                }
                Some(Err(error)) if error.is_too_long() && n_shorter < MAX_SHORTER => n_shorter += 1,
                // The conversation goes on without the model's own words rather than not at all.
                Some(Err(error)) if error.is_about_the_request() => break String::new(),
                Some(Err(error)) => retries.wait(self, thread, error).await?,
            }
        };
        let written = written.trim();
        Ok(if written.is_empty() {
            format!("{UNSUMMED}\n\n{}", thread.said_by_person(compaction))
        } else {
            written.to_owned()
        })
    }

    async fn receive_summary(
        &self,
        thread: &Thread,
        role: &Role,
        window: Window,
        earlier: Option<String>,
        told: &str,
        summary: &mut Spoken,
    ) -> Result<(), ApiError> {
        let earlier = earlier.map(|earlier| text(&format!("[Summary of what came before]\n\n{earlier}")));
        let content: Vec<Value> = earlier.into_iter().chain([text(told)]).collect();
        let request = Request {
            model: &role.model,
            system: COMPACT.trim(),
            messages: vec![json!({"role": "user", "content": content})],
            tools: Vec::new(),
            searches: false,
            thinking: Thinking::Off,
            effort: None,
            has_thoughts: false,
            max_output: MAX_SUMMARY.min(window.max_output),
            is_cached: false,
        };
        self.hear(thread, request, summary).await
    }
}

impl Trigger {
    /// How much shorter than usual the thread must become.
    fn pressure(self) -> u32 {
        match self {
            Self::NearlyFull => 0,
            Self::Refused(n_refused) => n_refused,
        }
    }

    fn is_refusal(self) -> bool {
        matches!(self, Self::Refused(_))
    }
}

/// About how many tokens stand before the messages of every request.
pub(super) fn fixed_tokens(role: &Role) -> u64 {
    tokens_of(&json!([role.system, role.schemas()]))
}

/// What people see of a compaction.
fn notice(id: String, compaction: &Compaction, kept: Kept, tokens: [u64; 2], trigger: Trigger) -> Block {
    let [before, after] = tokens;
    let Kept { n_all, n_first, n_latest } = kept;
    let n_left_out = n_all.saturating_sub(n_first + n_latest);
    let mut message = format!("Context compacted: about {before} → {after} tokens. ");
    if n_left_out > 0 {
        message.push_str(&format!(
            "The first {n_first} and the latest {n_latest} parts of the conversation are kept word for word, \
             {n_left_out} between them as a summary."
        ));
    }
    if compaction.max_text.is_some() {
        message.push_str(" Long texts among what is kept were shortened.");
    }
    if let Some(summary) = &compaction.summary {
        message.push_str(&format!("\n\nSummary:\n\n{summary}"));
    }
    let trigger = if trigger.is_refusal() { "promptTooLong" } else { "auto" };
    let metadata = json!({"trigger": trigger, "preTokens": before, "postTokens": after});
    let metadata: Option<Map<String, Value>> = metadata.as_object().cloned();
    match block::system(id, SystemSubtype::Status, message) {
        Block::System { id, timestamp, subtype, message, .. } => {
            Block::System { id, timestamp, subtype, message, metadata }
        }
        other => other,
    }
}
