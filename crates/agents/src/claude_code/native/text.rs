//! Texts that are borrowed where they can be, and nothing where they are something else.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::Part;

/// A text. Whatever else stands in its place counts as empty: a field that changed its type must not cost the line.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(in crate::claude_code) struct Text<'a>(pub(in crate::claude_code) Cow<'a, str>);

/// The content of a message: a text, or parts.
#[derive(Default)]
pub(in crate::claude_code) enum Body<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

impl Text<'_> {
    pub(in crate::claude_code) fn as_str(&self) -> &str {
        &self.0
    }

    pub(in crate::claude_code) fn into_string(self) -> String {
        self.0.into_owned()
    }
}

impl<'a> Body<'a> {
    pub(in crate::claude_code) fn into_parts(self) -> Vec<Part<'a>> {
        match self {
            Body::Parts(parts) => parts,
            Body::Text(text) => vec![Part::of_text(text)],
            Body::Nothing => Vec::new(),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Cow<'de, str>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(text))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(text.to_owned()))
            }
            fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
                Ok(Cow::default())
            }
            fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
                Ok(Cow::default())
            }
            fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
                Ok(Cow::default())
            }
            fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
                Ok(Cow::default())
            }
            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Cow::default())
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Cow::default())
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Cow::default())
            }
        }
        deserializer.deserialize_any(Reader).map(Text)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Body<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Body<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or parts")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Body::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Body::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(Body::Nothing)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut parts = Vec::with_capacity(1);
                while let Some(part) = seq.next_element()? {
                    parts.push(part);
                }
                Ok(Body::Parts(parts))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}
