//! Wire formats: what differs between providers, each in a module of its own.

use bytes::Bytes;
use hyper::{HeaderMap, Method, StatusCode, Uri};
use serde_json::Value;
use warren_domain::Usage;

use crate::{
    Feature, Secret, anthropic, gemini,
    meter::{Meter, Tally},
    openai_chat, openai_responses,
    refusal::Refusal,
};

/// The header by which an agent may say which thread of the session calls. Never sent to a provider.
pub const CONVERSATION_HEADER: &str = "x-warren-conversation";

/// How a sandbox talks to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Anthropic's Messages API.
    Anthropic,
    /// Gemini's `generateContent` and its streamed twin.
    Gemini,
    /// OpenAI's chat completions, which many other providers speak too.
    OpenAiChat,
    /// OpenAI's responses.
    OpenAiResponses,
}

impl Format {
    /// Who speaks it: for people, and as `warren keys` names it.
    pub(crate) fn provider(self) -> (&'static str, &'static str) {
        match self {
            Format::Anthropic => ("Anthropic", "anthropic"),
            Format::Gemini => ("Gemini", "gemini"),
            Format::OpenAiChat | Format::OpenAiResponses => ("OpenAI", "openai"),
        }
    }
}

/// What the gateway must know of a wire format. One unit struct in each format's module; [`Format::wire`] is the only
/// place that names them.
pub(crate) trait Wire: Sync {
    /// What is called, if it may be called at all.
    fn route(&self, method: &Method, uri: &Uri) -> Option<Route>;

    /// Reads what must be known of a request before it goes out.
    fn inspect(&self, route: &Route, body: &[u8]) -> Result<Inspected, Refusal>;

    /// The headers that go to the provider: those of the sandbox that are on the list, and the key.
    fn request_headers(&self, sandbox: &HeaderMap, key: Option<&Secret>) -> HeaderMap;

    /// The headers that go to the sandbox.
    fn answer_headers(&self, provider: &HeaderMap) -> HeaderMap;

    /// A refusal in the format's own words, as JSON.
    fn refusal(&self, refusal: &Refusal) -> (StatusCode, Bytes);

    /// Counts the tokens of one answer.
    fn tally(&self) -> Box<dyn Tally>;

    /// Takes what tools said out of a request, in its order; what is left is what is asked.
    fn take_tool_outputs(&self, request: &mut Value) -> Vec<ToolOutput>;

    /// Sorts the lists of a request whose order means nothing, and which agents write in any.
    fn sort_unordered(&self, _request: &mut Value) {}

    /// What tells a conversation from others: its system's words and its first message.
    fn opening<'v>(&self, request: &'v Value) -> [&'v Value; 2];

    /// The path at the provider, whose own address has the path `base`, without a slash at its end.
    fn path_at(&self, base: &str, path: &str) -> String {
        format!("{base}{path}")
    }

    /// The JSON that answers a [`RouteKind::Lookup`].
    fn lookup(&self) -> &'static str {
        "{}"
    }
}

/// What a tool said, as a request tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolOutput {
    /// The call that it answers.
    pub(crate) call: String,
    pub(crate) output: Value,
}

/// One of the exact things that may be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route {
    /// The path as the sandbox calls it.
    pub(crate) path: String,
    /// What of the query goes to the provider.
    pub(crate) query: Option<&'static str>,
    pub(crate) kind: RouteKind,
}

/// What a call is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RouteKind {
    /// The model writes; this costs.
    Generate,
    /// Tokens are counted; this costs nothing.
    Count,
    /// An agent looks at its start which models there are. The gateway answers by itself that it cannot tell, so no such
    /// call goes to a provider, and agents go on with the model they were given.
    Lookup,
}

/// What a request says that the gateway must know.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Inspected {
    /// The model it asks for; empty if it names none.
    pub(crate) model: String,
    /// Models that it names beside that one, for the provider to choose from.
    pub(crate) other_models: Vec<String>,
    /// What it makes the provider reach for, each once.
    pub(crate) features: Vec<Feature>,
    /// The most tokens it lets the model write in all its answers together, if it says.
    pub(crate) max_output_tokens: Option<u64>,
    /// How many answers it asks for, if several.
    pub(crate) n_answers: Option<u64>,
    /// Whether it asks for the answer piece by piece.
    pub(crate) streamed: bool,
    /// Images, sound and documents in it, which cost by their content and not by their length.
    pub(crate) media: Media,
}

/// What is in a request that is not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Media {
    pub(crate) count: u64,
    /// As written in the request, so in Base64.
    pub(crate) bytes: u64,
}

/// What an answer says it used.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Metered {
    /// Tokens; the cost is not known here.
    pub(crate) usage: Usage,
    /// Those of the cache's writes that are kept for long, which cost more.
    pub(crate) long_cache_write_tokens: u64,
    /// US dollars for tools that the provider ran, beside the tokens.
    pub(crate) tools_usd: f64,
    /// Which model answered, if the answer tells.
    pub(crate) model: Option<String>,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 4] =
        [Format::Anthropic, Format::Gemini, Format::OpenAiChat, Format::OpenAiResponses];

    /// The format's name, as reports show it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Anthropic => "anthropic",
            Format::Gemini => "gemini",
            Format::OpenAiChat => "openai-chat",
            Format::OpenAiResponses => "openai-responses",
        }
    }

    pub(crate) fn wire(self) -> &'static dyn Wire {
        match self {
            Format::Anthropic => &anthropic::Messages,
            Format::Gemini => &gemini::GenerateContent,
            Format::OpenAiChat => &openai_chat::ChatCompletions,
            Format::OpenAiResponses => &openai_responses::Responses,
        }
    }

    /// Counts the tokens of an answer of this media type.
    pub(crate) fn meter(self, content_type: Option<&str>) -> Meter {
        Meter::new(content_type, self.wire().tally())
    }
}

impl ToolOutput {
    /// Takes the fields of `names` out of `place`: together they are what the tool said to `call`.
    pub(crate) fn take(call: &Value, place: &mut Value, names: &[&str]) -> Self {
        let call = call.as_str().unwrap_or_default().to_owned();
        let mut said: Vec<Value> = place
            .as_object_mut()
            .into_iter()
            .flat_map(|fields| names.iter().filter_map(|name| fields.remove(*name)))
            .collect();
        let output = if said.len() == 1 { said.remove(0) } else { Value::Array(said) };
        Self { call, output }
    }
}

/// The elements of a list in a request, or none.
pub(crate) fn elements<'v>(value: &'v mut Value, name: &str) -> impl Iterator<Item = &'v mut Value> {
    value.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten()
}
