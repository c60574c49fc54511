//! What a person sends.

use serde::{Deserialize, Serialize};

/// A message: plain text, or parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(untagged)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Text, images and files in order.
    Parts(Vec<ContentPart>),
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum ContentPart {
    /// Plain text.
    Text {
        /// The text itself.
        text: String,
    },
    /// A picture, as base64.
    Image {
        /// Base64 of the picture's bytes.
        image: String,
        /// Its MIME type.
        media_type: String,
    },
    /// A file of the session, by path (uploaded before, under `user-input/`).
    File {
        /// Path relative to the sandbox's root of uploads.
        file: String,
    },
}

impl Content {
    /// The text of all parts; what is not text is named in brackets.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Content::Text(text) => text.clone(),
            Content::Parts(parts) => parts.iter().map(ContentPart::to_text).collect::<Vec<_>>().join("\n"),
        }
    }

    /// Whether there is nothing in it to act on.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        match self {
            Content::Text(text) => text.trim().is_empty(),
            Content::Parts(parts) => parts.iter().all(|part| part.to_text().trim().is_empty()),
        }
    }
}

impl ContentPart {
    fn to_text(&self) -> String {
        match self {
            ContentPart::Text { text } => text.clone(),
            ContentPart::Image { media_type, .. } => format!("[image {media_type}]"),
            ContentPart::File { file } => format!("[file {file}]"),
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Content::Text(text.to_owned())
    }
}
