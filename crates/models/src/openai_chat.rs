//! OpenAI's chat completions as the gateway passes them on. What they share with the other format of OpenAI is in `openai`.

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
pub(crate) struct ChatCompletions;

const PATH: &str = "/v1/chat/completions";

impl Wire for ChatCompletions {
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
        Box::new(tally::ChatTally::default())
    }

    fn path_at(&self, base: &str, path: &str) -> String {
        openai::path_at(base, path)
    }

    fn lookup(&self) -> &'static str {
        openai::NO_MODELS
    }

    fn take_tool_outputs(&self, request: &mut Value) -> Vec<ToolOutput> {
        let results = elements(request, "messages").filter(|message| message["role"] == "tool");
        let take = |message: &mut Value| {
            let call = message["tool_call_id"].clone();
            ToolOutput::take(&call, message, &["content"])
        };
        results.map(take).collect()
    }

    fn opening<'v>(&self, request: &'v Value) -> [&'v Value; 2] {
        [&request["messages"][0], &request["messages"][1]]
    }
}
