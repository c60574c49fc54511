//! Objects in which no field's name is written in another case.
//!
//! Some providers and proxies read names whatever their case (Go's `encoding/json` does), so that `Model` beside `model`
//! would be believed there and not seen here.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error as _, IntoDeserializer as _, MapAccess, Visitor},
    forward_to_deserialize_any,
};

/// A `T` that is one whole object.
pub(super) struct Whole<T>(pub(super) T);

/// Reads a struct from an object.
pub(super) struct Exact<A>(pub(super) A);

struct Fields<A> {
    object: A,
    names: &'static [&'static str],
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Whole<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(WholeVisitor(PhantomData))
    }
}

struct WholeVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for WholeVisitor<T> {
    type Value = Whole<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Whole<T>, A::Error> {
        T::deserialize(Exact(object)).map(Whole)
    }
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for Exact<A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self.0)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        visitor.visit_map(Fields { object: self.0, names })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Fields<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        let Some(name) = self.object.next_key::<Cow<'de, str>>()? else { return Ok(None) };
        if let Some(meant) = self.names.iter().find(|known| **known != name && is_same(known, &name)) {
            return Err(A::Error::custom(format_args!("field `{meant}` is written in another case")));
        }
        seed.deserialize(name.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.object.next_value_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.object.size_hint()
    }
}

/// Whether two names are the same but for their case, the letters beyond ASCII that fold into it included.
fn is_same(known: &str, name: &str) -> bool {
    if name.is_ascii() {
        return known.eq_ignore_ascii_case(name);
    }
    let folded = |text: &str| text.to_uppercase().to_lowercase();
    folded(known) == folded(name)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use crate::inspect::read;

    #[derive(Debug, Deserialize)]
    struct Request {
        #[serde(default)]
        model: Option<String>,
        #[serde(default, rename = "maxTokens", alias = "max_tokens")]
        _max_tokens: Option<u64>,
    }

    #[test]
    fn field_in_another_case_is_refused_and_other_fields_are_ignored() {
        let model =
            |body: &str| read::<Request>(body.as_bytes()).map(|request| request.model.unwrap_or_default());
        assert_eq!(model(r#"{"models":[],"model":"a","x":{"Model":1}}"#).as_deref(), Ok("a"));
        assert_eq!(model(r#"{"mod\u0065l":"a"}"#).as_deref(), Ok("a"));
        for body in [
            r#"{"model":"a","Model":"b"}"#,
            r#"{"MODEL":"b"}"#,
            r#"{"model":"a","mod\u0045l":"b"}"#,
            r#"{"maxtoKens":1}"#,
            r#"{"Max_tokens":1}"#,
            r#"{"max_to\u212aen\u017f":1}"#,
        ] {
            let refusal = model(body).expect_err("it is refused");
            assert!(refusal.message.contains("is written in another case"), "{body}: {}", refusal.message);
        }
        let twice = model(r#"{"model":"a","mod\u0065l":"b"}"#).expect_err("it is refused");
        assert!(twice.message.contains("duplicate field `model`"), "{}", twice.message);
    }
}
