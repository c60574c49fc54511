//! OpenAI's responses as the gateway passes them on. What they share with the other format of OpenAI is in `openai`.

mod inspect;
mod tally;

use bytes::Bytes;
use hyper::{HeaderMap, Method, StatusCode, Uri};
use serde_json::Value;

use crate::{
    Secret,
    format::{Inspected, Route, ToolOutput, Wire, elements},
    meter::Tally,
    openai,
    refusal::Refusal,
};

/// The format.
pub(crate) struct Responses;

const PATH: &str = "/v1/responses";

impl Wire for Responses {
    fn route(&self, method: &Method, uri: &Uri) -> Option<Route> {
        openai::route(PATH, method, uri)
    }

    fn inspect(&self, _: &Route, body: &[u8]) -> Result<Inspected, Refusal> {
        inspect::inspect(body)
    }

    fn request_headers(&self, sandbox: &HeaderMap, key: Option<&Secret>) -> HeaderMap {
        openai::request_headers(sandbox, key)
    }

    fn answer_headers(&self, provider: &HeaderMap) -> HeaderMap {
        openai::answer_headers(provider)
    }

    fn refusal(&self, refusal: &Refusal) -> (StatusCode, Bytes) {
        openai::refusal(refusal)
    }

    fn tally(&self) -> Box<dyn Tally> {
        Box::new(tally::ResponseTally::default())
    }

    fn path_at(&self, base: &str, path: &str) -> String {
        openai::path_at(base, path)
    }

    fn lookup(&self) -> &'static str {
        openai::NO_MODELS
    }

    fn take_tool_outputs(&self, request: &mut Value) -> Vec<ToolOutput> {
        let is_result =
            |item: &Value| item["type"].as_str().is_some_and(|kind| kind.ends_with("_call_output"));
        let take = |item: &mut Value| {
            let call = item["call_id"].clone();
            ToolOutput::take(&call, item, &["output"])
        };
        elements(request, "input").filter(|item| is_result(item)).map(take).collect()
    }

    /// The tools that a search brought up: Codex tells them in another order each time.
    fn sort_unordered(&self, request: &mut Value) {
        let is_found = |item: &&mut Value| item["type"] == "tool_search_output";
        elements(request, "input").filter(is_found).for_each(sort_tools);
    }

    fn opening<'v>(&self, request: &'v Value) -> [&'v Value; 2] {
        [&request["instructions"], &request["input"][0]]
    }
}

/// Sorts the list `tools`, and those of the namespaces in it.
fn sort_tools(holder: &mut Value) {
    let Some(Value::Array(tools)) = holder.get_mut("tools") else { return };
    tools.iter_mut().for_each(sort_tools);
    tools.sort_by_cached_key(ToString::to_string);
}
