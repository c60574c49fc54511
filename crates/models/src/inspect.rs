//! Looks into a request for what would make the provider fetch things on the server's account, and for what it may cost.
//!
//! Reads the body once and keeps only what it finds: a sandbox may send 32 MiB of brackets, and that must not become
//! gigabytes here. A name given twice in one object is refused, since the provider might believe the other one;
//! so is one in another case (`exact.rs`).

mod exact;

use std::{collections::BTreeSet, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use self::exact::{Exact, Whole};

use crate::{
    Feature,
    format::Media,
    refusal::{Refusal, RefusalKind},
};

/// Reads a request that must be one JSON object.
pub(crate) fn read<'de, T: Deserialize<'de>>(body: &'de [u8]) -> Result<T, Refusal> {
    let unreadable = |error: &dyn fmt::Display| {
        Refusal::new(RefusalKind::Invalid, format!("the request cannot be read: {error}"))
    };
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err(unreadable(&"it is not a JSON object"));
    }
    serde_json::from_slice::<Whole<T>>(body).map(|Whole(request)| request).map_err(|error| unreadable(&error))
}

/// What is in a part of a request.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) features: BTreeSet<Feature>,
    pub(crate) media: Media,
    /// Models that are named in it.
    pub(crate) models: Vec<String>,
}

impl Found {
    pub(crate) fn add(&mut self, other: Found) {
        self.features.extend(other.features);
        self.models.extend(other.models);
        self.media.count += other.media.count;
        self.media.bytes += other.media.bytes;
    }

    /// Notes a feature if its field is there. One that is null is not.
    pub(crate) fn note(&mut self, field: Option<IgnoredAny>, feature: Feature) {
        self.features.extend(field.map(|_| feature));
    }

    fn add_media(&mut self, text: &str) {
        self.media.count += 1;
        self.media.bytes += text.len() as u64;
    }
}

/// A part of a request that is worth a look.
pub(crate) trait Finds {
    fn finds(self, found: &mut Found);

    /// What a text in its place says; most often nothing.
    fn finds_in_text(_text: &str, _found: &mut Found) {}
}

/// Zero, one or many `T`s, of which only the findings are kept.
pub(crate) struct Each<T> {
    pub(crate) found: Found,
    of: PhantomData<T>,
}

/// Base64 of an image, sound or document, with or without `data:` and its kind before it.
#[derive(Deserialize)]
pub(crate) struct Encoded {}

/// Where content is: a text, or an object with one. An address of the kind `data:` holds its content itself.
#[derive(Deserialize)]
pub(crate) struct Address {
    #[serde(default)]
    url: Each<Address>,
}

/// The name of a model.
#[derive(Deserialize)]
pub(crate) struct ModelName {}

/// A choice among services of which only those cost no more than the standard one that are known not to.
#[derive(Deserialize)]
pub(crate) struct Service {}

/// A number of tokens or answers, however it is written; anything else is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) Option<u64>);

impl Finds for Encoded {
    fn finds(self, _: &mut Found) {}

    fn finds_in_text(text: &str, found: &mut Found) {
        // Text that is encoded costs like text.
        if !text.starts_with("data:text/") {
            found.add_media(text);
        }
    }
}

impl Finds for ModelName {
    fn finds(self, _: &mut Found) {}

    fn finds_in_text(text: &str, found: &mut Found) {
        found.models.push(text.to_owned());
    }
}

impl Finds for Service {
    fn finds(self, found: &mut Found) {
        found.features.insert(Feature::DearerService);
    }

    fn finds_in_text(text: &str, found: &mut Found) {
        // `auto` is what a request without the field gets, so what it means is the operator's choice at the provider.
        const STANDARD: [&str; 7] =
            ["auto", "default", "flex", "global", "standard", "standard_only", "unspecified"];
        if !STANDARD.contains(&text) {
            found.features.insert(Feature::DearerService);
        }
    }
}

impl Finds for Address {
    fn finds(self, found: &mut Found) {
        found.add(self.url.found);
    }

    fn finds_in_text(text: &str, found: &mut Found) {
        const MEDIA: [&str; 4] = ["image/", "audio/", "video/", "application/pdf"];
        let begins = |text: &str, prefix: &str| {
            text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
        };
        match text.trim_start() {
            "" => {}
            address if !begins(address, "data:") => found.features.extend([Feature::UrlSources]),
            address if MEDIA.iter().any(|kind| begins(&address[5..], kind)) => found.add_media(text),
            // Text that is encoded costs like text.
            _ => {}
        }
    }
}

impl<T> Default for Each<T> {
    fn default() -> Self {
        Self { found: Found::default(), of: PhantomData }
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
            each.found.add(item.found);
        }
        Ok(each)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Each<T>, A::Error> {
        let mut each = Each::default();
        T::deserialize(Exact(object))?.finds(&mut each.found);
        Ok(each)
    }

    fn visit_str<E>(self, text: &str) -> Result<Each<T>, E> {
        let mut each = Each::default();
        T::finds_in_text(text, &mut each.found);
        Ok(each)
    }

    fn visit_unit<E>(self) -> Result<Each<T>, E> {
        Ok(Each::default())
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor;
        impl<'de> Visitor<'de> for CountVisitor {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_u64<E>(self, number: u64) -> Result<Count, E> {
                Ok(Count(Some(number)))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Count, E> {
                Ok(Count(u64::try_from(number).ok()))
            }

            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "`as` stops at the ends of the range, which is what is meant"
            )]
            fn visit_f64<E>(self, number: f64) -> Result<Count, E> {
                Ok(Count((number >= 0.0).then_some(number.ceil() as u64)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Count, E> {
                Ok(Count(text.trim().parse().ok()))
            }

            fn visit_unit<E>(self) -> Result<Count, E> {
                Ok(Count(None))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Count, E> {
                Ok(Count(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Count, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Count(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Count, A::Error> {
                while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Count(None))
            }
        }
        deserializer.deserialize_any(CountVisitor)
    }
}
