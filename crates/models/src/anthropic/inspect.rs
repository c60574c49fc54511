//! What an Anthropic request makes the provider reach for.

use serde::{Deserialize, de::IgnoredAny};

use crate::{
    Feature,
    format::Inspected,
    inspect::{Count, Each, Encoded, Finds, Found, Service, read},
    refusal::Refusal,
};

/// Tools that are only described to the model and carried out by the agent: those of its own (`custom`), and the
/// provider's well-known ones. All others are the provider's to carry out.
const CLIENT_TOOLS: &[&str] = &["bash_2", "computer_2", "memory_2", "text_editor_2", "tool_search_tool_"];

/// What must be known of a request before it goes out.
pub(crate) fn inspect(body: &[u8]) -> Result<Inspected, Refusal> {
    let request: Request = read(body)?;
    let mut found = request.tools.found;
    found.add(request.system.found);
    found.add(request.messages.found);
    found
        .features
        .extend(request.mcp_servers.filter(|servers| !servers.is_empty()).map(|_| Feature::RemoteMcp));
    found.note(request.container, Feature::Containers);
    found.add(request.service_tier.found);
    found.add(request.speed.found);
    found.add(request.inference_geo.found);
    Ok(Inspected {
        model: request.model.unwrap_or_default(),
        other_models: Vec::new(),
        features: found.features.into_iter().collect(),
        max_output_tokens: request.max_tokens.0,
        n_answers: None,
        streamed: request.stream.unwrap_or(false),
        media: found.media,
    })
}

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    max_tokens: Count,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    tools: Each<Tool>,
    #[serde(default)]
    system: Each<Block>,
    #[serde(default)]
    messages: Each<Message>,
    #[serde(default)]
    mcp_servers: Option<Vec<IgnoredAny>>,
    #[serde(default)]
    container: Option<IgnoredAny>,
    #[serde(default)]
    service_tier: Each<Service>,
    /// Fast mode costs several times as much.
    #[serde(default)]
    speed: Each<Service>,
    /// A chosen region costs more than any.
    #[serde(default)]
    inference_geo: Each<Service>,
}

#[derive(Deserialize)]
struct Tool {
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Each<Block>,
}

/// A piece of content. A call's `input` is the agent's own business and not looked at.
#[derive(Deserialize)]
struct Block {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    source: Each<Source>,
    #[serde(default)]
    content: Each<Block>,
}

/// Where an image or document comes from. One that is itself content can hold further ones.
#[derive(Deserialize)]
struct Source {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    data: Each<Encoded>,
    #[serde(default)]
    content: Each<Block>,
}

impl Finds for Tool {
    fn finds(self, found: &mut Found) {
        let feature = match self.kind.as_deref() {
            None | Some("custom") => return,
            Some(kind) if CLIENT_TOOLS.iter().any(|prefix| kind.starts_with(prefix)) => return,
            Some("mcp_toolset") => Feature::RemoteMcp,
            Some(_) => Feature::ServerTools,
        };
        found.features.insert(feature);
    }
}

impl Finds for Message {
    fn finds(self, found: &mut Found) {
        found.add(self.content.found);
    }
}

impl Finds for Block {
    fn finds(self, found: &mut Found) {
        if self.kind.as_deref() == Some("container_upload") {
            found.features.insert(Feature::Containers);
        }
        found.add(self.source.found);
        found.add(self.content.found);
    }
}

impl Finds for Source {
    fn finds(self, found: &mut Found) {
        match self.kind.as_deref() {
            Some("url") => found.features.extend([Feature::UrlSources]),
            Some("file") => found.features.extend([Feature::StoredFiles]),
            Some("base64") => found.add(self.data.found),
            _ => {}
        }
        found.add(self.content.found);
    }
}

#[cfg(test)]
mod tests;
