//! Looks into a request for what would make the provider fetch things on the server's account.
//!
//! Reads the body once and keeps only what it finds: a sandbox may send 32 MiB of brackets, and that must not become
//! gigabytes here. A name given twice in one object is refused, since the provider might believe the other one.

use std::{collections::BTreeSet, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};

use crate::{
    Feature,
    format::Inspected,
    refusal::{Refusal, RefusalKind},
};

/// Tools that are only described to the model and carried out by the agent: those of its own (`custom`), and the
/// provider's well-known ones. All others are the provider's to carry out.
const CLIENT_TOOLS: &[&str] = &["bash_2", "computer_2", "memory_2", "text_editor_2", "tool_search_tool_"];

/// What must be known of a request before it goes out.
pub(crate) fn inspect(body: &[u8]) -> Result<Inspected, Refusal> {
    let unreadable = |error: &dyn fmt::Display| {
        Refusal::new(RefusalKind::Invalid, format!("the request cannot be read: {error}"))
    };
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(unreadable(&"it is not a JSON object"));
    }
    let request: Request = serde_json::from_slice(body).map_err(|error| unreadable(&error))?;
    let mut found = request.tools.found;
    found.extend(request.system.found);
    found.extend(request.messages.found);
    found.extend(request.mcp_servers.filter(|servers| !servers.is_empty()).map(|_| Feature::RemoteMcp));
    found.extend(request.container.map(|_| Feature::Containers));
    Ok(Inspected { model: request.model.unwrap_or_default(), features: found.into_iter().collect() })
}

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    model: Option<String>,
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
    content: Each<Block>,
}

/// Zero, one or many `T`s, of which only the findings are kept; a text or number in their place is nothing.
struct Each<T> {
    found: BTreeSet<Feature>,
    of: PhantomData<T>,
}

trait Finds {
    fn finds(self, found: &mut BTreeSet<Feature>);
}

impl Finds for Tool {
    fn finds(self, found: &mut BTreeSet<Feature>) {
        match self.kind.as_deref() {
            None | Some("custom") => {}
            Some(kind) if CLIENT_TOOLS.iter().any(|prefix| kind.starts_with(prefix)) => {}
            Some("mcp_toolset") => found.extend([Feature::RemoteMcp]),
            Some(_) => found.extend([Feature::ServerTools]),
        }
    }
}

impl Finds for Message {
    fn finds(self, found: &mut BTreeSet<Feature>) {
        found.extend(self.content.found);
    }
}

impl Finds for Block {
    fn finds(self, found: &mut BTreeSet<Feature>) {
        if self.kind.as_deref() == Some("container_upload") {
            found.insert(Feature::Containers);
        }
        found.extend(self.source.found);
        found.extend(self.content.found);
    }
}

impl Finds for Source {
    fn finds(self, found: &mut BTreeSet<Feature>) {
        match self.kind.as_deref() {
            Some("url") => found.extend([Feature::UrlSources]),
            Some("file") => found.extend([Feature::StoredFiles]),
            _ => {}
        }
        found.extend(self.content.found);
    }
}

impl<T> Default for Each<T> {
    fn default() -> Self {
        Self { found: BTreeSet::new(), of: PhantomData }
    }
}

impl<'de, T: Deserialize<'de> + Finds> Deserialize<'de> for Each<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EachVisitor(PhantomData))
    }
}

struct EachVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Finds> Visitor<'de> for EachVisitor<T> {
    type Value = Each<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, an object or a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Each<T>, A::Error> {
        let mut each = Each::default();
        // Not `T` itself: a derived struct can also be read from a list of its fields, which nobody means here.
        while let Some(item) = list.next_element::<Each<T>>()? {
            each.found.extend(item.found);
        }
        Ok(each)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Each<T>, A::Error> {
        let mut each = Each::default();
        T::deserialize(MapAccessDeserializer::new(object))?.finds(&mut each.found);
        Ok(each)
    }

    fn visit_str<E>(self, _: &str) -> Result<Each<T>, E> {
        Ok(Each::default())
    }

    fn visit_unit<E>(self) -> Result<Each<T>, E> {
        Ok(Each::default())
    }
}

#[cfg(test)]
mod tests;
