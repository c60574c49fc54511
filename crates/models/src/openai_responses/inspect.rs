//! What a response makes the provider reach for.

use serde::{Deserialize, de::IgnoredAny};

use crate::{
    Feature,
    format::Inspected,
    inspect::{Address, Count, Each, Encoded, Finds, Found, ModelName, Service, read},
    refusal::Refusal,
};

/// What must be known of a request before it goes out.
///
/// An answer that the provider keeps because the request says nothing about `store` is tolerated: without
/// [`Feature::StoredState`] no request can refer to it.
pub(super) fn inspect(body: &[u8]) -> Result<Inspected, Refusal> {
    let request: Request = read(body)?;
    let mut found = request.tools.found;
    found.add(request.input.found);
    found.add(request.models.found);
    found.note(request.plugins, Feature::ServerTools);
    found.add(request.service_tier.found);
    found.note(request.previous_response_id, Feature::StoredState);
    found.note(request.conversation, Feature::StoredState);
    found.note(request.prompt, Feature::StoredState);
    if request.store == Some(true) || request.background == Some(true) {
        found.features.insert(Feature::StoredState);
    }
    Ok(Inspected {
        model: request.model.unwrap_or_default(),
        other_models: found.models,
        features: found.features.into_iter().collect(),
        max_output_tokens: request.max_output_tokens.0,
        n_answers: None,
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
    #[serde(default)]
    max_output_tokens: Count,
    #[serde(default)]
    tools: Each<Tool>,
    #[serde(default)]
    input: Each<Item>,
    #[serde(default)]
    previous_response_id: Option<IgnoredAny>,
    #[serde(default)]
    conversation: Option<IgnoredAny>,
    /// A prompt that is kept at the provider.
    #[serde(default)]
    prompt: Option<IgnoredAny>,
    /// What routers of models do by themselves, such as web search.
    #[serde(default)]
    plugins: Option<IgnoredAny>,
    #[serde(default)]
    service_tier: Each<Service>,
    #[serde(default)]
    store: Option<bool>,
    /// The answer is made while nobody listens, so nobody could meter it.
    #[serde(default)]
    background: Option<bool>,
}

#[derive(Deserialize)]
struct Tool {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    /// The tools of a `namespace`.
    #[serde(default)]
    tools: Each<Tool>,
    /// Where a `shell` is.
    #[serde(default)]
    environment: Each<Environment>,
}

#[derive(Deserialize)]
struct Environment {
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

/// A message, a call, a result, or a piece of content in one of them. A call's arguments are not looked at.
#[derive(Deserialize)]
struct Item {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    content: Each<Item>,
    #[serde(default)]
    output: Each<Item>,
    /// Those that a search for tools brought up.
    #[serde(default)]
    tools: Each<Tool>,
    #[serde(default)]
    image_url: Each<Address>,
    #[serde(default)]
    file_url: Each<Address>,
    #[serde(default)]
    file_data: Each<Encoded>,
    #[serde(default)]
    file_id: Option<IgnoredAny>,
}

impl Finds for Tool {
    fn finds(self, found: &mut Found) {
        found.add(self.tools.found);
        match self.kind.as_deref() {
            // Described to the model and carried out by the agent; a search for tools looks only into this request.
            None
            | Some("function" | "custom" | "namespace" | "local_shell" | "apply_patch" | "tool_search") => {}
            Some("shell") => found.add(self.environment.found),
            Some("file_search") => found.features.extend([Feature::StoredFiles]),
            Some("code_interpreter") => found.features.extend([Feature::Containers]),
            Some("mcp") => found.features.extend([Feature::RemoteMcp]),
            // Searches, pictures, computers, and whatever comes later.
            Some(_) => found.features.extend([Feature::ServerTools]),
        }
    }
}

impl Finds for Environment {
    fn finds(self, found: &mut Found) {
        if self.kind.as_deref() != Some("local") {
            found.features.insert(Feature::Containers);
        }
    }
}

impl Finds for Item {
    fn finds(self, found: &mut Found) {
        if self.kind.as_deref() == Some("item_reference") {
            found.features.insert(Feature::StoredState);
        }
        found.add(self.content.found);
        found.add(self.output.found);
        found.add(self.tools.found);
        found.add(self.image_url.found);
        found.add(self.file_url.found);
        found.add(self.file_data.found);
        found.note(self.file_id, Feature::StoredFiles);
    }
}

#[cfg(test)]
mod tests;
