//! What a chat completion makes the provider reach for.

use serde::{Deserialize, de::IgnoredAny};

use crate::{
    Feature,
    format::Inspected,
    inspect::{Address, Count, Each, Encoded, Finds, Found, ModelName, Service, read},
    refusal::Refusal,
};

/// What must be known of a request before it goes out.
pub(super) fn inspect(body: &[u8]) -> Result<Inspected, Refusal> {
    let request: Request = read(body)?;
    let mut found = request.tools.found;
    found.add(request.messages.found);
    found.note(request.web_search_options, Feature::ServerTools);
    found.note(request.plugins, Feature::ServerTools);
    found.add(request.service_tier.found);
    found.add(request.models.found);
    if request.store == Some(true) {
        found.features.insert(Feature::StoredState);
    }
    let answers = request.n.0.unwrap_or(1).max(1);
    let each = request.max_completion_tokens.0.max(request.max_tokens.0);
    Ok(Inspected {
        model: request.model.unwrap_or_default(),
        other_models: found.models,
        features: found.features.into_iter().collect(),
        max_output_tokens: each.map(|tokens| tokens.saturating_mul(answers)),
        n_answers: request.n.0,
        streamed: request.stream.unwrap_or(false),
        media: found.media,
    })
}

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    model: Option<String>,
    /// Routers of models take those from here that answer if the first one does not.
    #[serde(default)]
    models: Each<ModelName>,
    #[serde(default)]
    stream: Option<bool>,
    /// How many answers are wanted.
    #[serde(default)]
    n: Count,
    #[serde(default)]
    max_completion_tokens: Count,
    /// The older name of the same.
    #[serde(default)]
    max_tokens: Count,
    #[serde(default)]
    tools: Each<Tool>,
    #[serde(default)]
    messages: Each<Message>,
    #[serde(default)]
    web_search_options: Option<IgnoredAny>,
    /// What routers of models do by themselves, such as web search.
    #[serde(default)]
    plugins: Option<IgnoredAny>,
    #[serde(default)]
    store: Option<bool>,
    #[serde(default)]
    service_tier: Each<Service>,
}

#[derive(Deserialize)]
struct Tool {
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Each<Part>,
}

/// A piece of content.
#[derive(Deserialize)]
struct Part {
    #[serde(default)]
    image_url: Each<Address>,
    /// Some providers take moving pictures the same way.
    #[serde(default)]
    video_url: Each<Address>,
    #[serde(default)]
    input_audio: Each<Sound>,
    #[serde(default)]
    file: Each<File>,
}

#[derive(Deserialize)]
struct Sound {
    #[serde(default)]
    data: Each<Encoded>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    file_id: Option<IgnoredAny>,
    #[serde(default)]
    file_data: Each<Encoded>,
}

impl Finds for Tool {
    fn finds(self, found: &mut Found) {
        match self.kind.as_deref() {
            None | Some("function" | "custom") => {}
            Some("mcp") => found.features.extend([Feature::RemoteMcp]),
            Some(_) => found.features.extend([Feature::ServerTools]),
        }
    }
}

impl Finds for Message {
    fn finds(self, found: &mut Found) {
        found.add(self.content.found);
    }
}

impl Finds for Part {
    fn finds(self, found: &mut Found) {
        found.add(self.image_url.found);
        found.add(self.video_url.found);
        found.add(self.input_audio.found);
        found.add(self.file.found);
    }
}

impl Finds for Sound {
    fn finds(self, found: &mut Found) {
        found.add(self.data.found);
    }
}

impl Finds for File {
    fn finds(self, found: &mut Found) {
        found.note(self.file_id, Feature::StoredFiles);
        found.add(self.file_data.found);
    }
}

#[cfg(test)]
mod tests;
