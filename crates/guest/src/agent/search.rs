//! Searches the web by a call of its own, in which the provider runs its search tool: the gateway grants, meters and records
//! it, and the sandbox needs no way out.

use serde::Deserialize;
use serde_json::json;

use super::{
    api::ApiError,
    ask::Stopped,
    history::text,
    request::{self, Request, Thinking},
    retry::Retries,
    role::Role,
    session::Agent,
    spoken::Spoken,
    thread::Thread,
    tools::{Call, Output},
};

const SEARCH: &str = include_str!("prompts/web_search.md");

/// The longest report of a search, in tokens.
const MAX_REPORT: u64 = 8_000;

#[derive(Deserialize)]
struct Input {
    query: String,
}

impl Agent {
    /// What a search finds, in the words of the role's model.
    pub(super) async fn search(&self, thread: &Thread, role: &Role, call: &Call) -> Output {
        let input = match Input::deserialize(&call.input) {
            Ok(input) if !input.query.trim().is_empty() => input,
            Ok(_) => return Output::failed("`query` is empty: say what to look for"),
            Err(error) => {
                return Output::failed(format!("the input is not what this tool takes: {error}"));
            }
        };
        match self.found(thread, role, &input.query).await {
            Ok(found) if found.trim().is_empty() => Output::failed("the search found nothing"),
            Ok(found) => Output::from(Ok(found.trim().to_owned())),
            Err(Stopped::Interrupted) => Output::failed(Output::INTERRUPTED),
            Err(Stopped::Failed(error)) => Output::failed(format!("the search failed: {error}")),
        }
    }

    async fn found(&self, thread: &Thread, role: &Role, query: &str) -> Result<String, Stopped> {
        let mut retries = Retries::default();
        loop {
            let mut spoken = Spoken::default();
            let outcome = tokio::select! {
                biased;
                () = self.control.interrupted() => None,
                outcome = self.ask_for(thread, role, query, &mut spoken) => Some(outcome),
            };
            self.charge(thread, &spoken.usage(&role.model), None);
            match outcome {
                None => return Err(Stopped::Interrupted),
                Some(Ok(())) => {
                    retries.succeeded(thread);
                    return Ok(spoken.text);
                }
                Some(Err(error)) => retries.wait(self, thread, error).await?,
            }
        }
    }

    async fn ask_for(
        &self,
        thread: &Thread,
        role: &Role,
        query: &str,
        spoken: &mut Spoken,
    ) -> Result<(), ApiError> {
        let request = Request {
            model: &role.model,
            system: SEARCH.trim(),
            messages: vec![json!({"role": "user", "content": [text(query)]})],
            tools: Vec::new(),
            searches: true,
            thinking: Thinking::Off,
            effort: None,
            has_thoughts: false,
            max_output: MAX_REPORT.min(request::max_output(&role.model)),
            is_cached: false,
        };
        self.hear(thread, request, spoken).await
    }
}
