//! A strict reader: whatever a type does not say is found and named.

use std::{collections::BTreeSet, fmt};

use serde_json::Value;

/// What a value has to be.
pub(super) enum Shape {
    /// Text.
    Text,
    /// Text that is a UUID.
    Uuid,
    /// Text that is a time in ISO 8601, in UTC.
    Time,
    /// A number.
    Number,
    /// A number without a fraction.
    Whole,
    Bool,
    /// Whatever it is: the seed says nothing of it.
    Anything,
    /// An object with any fields.
    Record,
    /// One of these texts; the name is that of the enumeration.
    OneOf(&'static str, &'static [&'static str]),
    Nullable(&'static Shape),
    List(&'static Shape),
    /// Any of these.
    Either(&'static [Shape]),
    Object(&'static Type),
    /// An object whose `type` says which.
    Tagged(&'static str, &'static [(&'static str, &'static Type)]),
}

/// A type of a seed: its own fields, and those of what it extends.
pub(super) struct Type {
    pub(super) name: &'static str,
    pub(super) extends: Option<&'static Type>,
    pub(super) fields: &'static [Field],
}

/// A field: its name, whether it may be absent, and what it is.
pub(super) struct Field(pub(super) &'static str, pub(super) Presence, pub(super) Shape);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    Optional,
}

/// How what was sent differs from what a seed says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Difference {
    /// A type has a field of its own, or an enumeration a value.
    Adds(String, String),
    /// A type has no such field.
    Lacks(String, String),
    /// A field is not what it should be; with what it is.
    Wrong(String, String),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Adds(of, name) => write!(f, "`{of}` adds `{name}`"),
            Self::Lacks(of, name) => write!(f, "`{of}` lacks `{name}`"),
            Self::Wrong(at, found) => write!(f, "`{at}` is {found}"),
        }
    }
}

/// Every difference that was found.
#[derive(Default)]
pub(super) struct Differences(pub(super) BTreeSet<Difference>);

impl Differences {
    /// Compares a value with what it has to be; `at` says where it was found.
    pub(super) fn check(&mut self, at: &str, shape: &Shape, value: &Value) {
        match shape {
            Shape::Anything => {}
            Shape::Nullable(_) if value.is_null() => {}
            Shape::Nullable(inner) => self.check(at, inner, value),
            Shape::List(inner) => match value.as_array() {
                Some(items) => items.iter().for_each(|item| self.check(at, inner, item)),
                None => self.wrong(at, value),
            },
            Shape::Either(shapes) => {
                let is = |shape: &&Shape| {
                    let mut alone = Differences::default();
                    alone.check(at, shape, value);
                    alone.0.is_empty()
                };
                if !shapes.iter().any(|shape| is(&shape)) {
                    self.wrong(at, value);
                }
            }
            Shape::OneOf(name, values) => match value.as_str() {
                Some(text) if values.contains(&text) => {}
                Some(text) => self.add(Difference::Adds((*name).to_owned(), text.to_owned())),
                None => self.wrong(at, value),
            },
            Shape::Object(of) => self.object(at, of, value),
            Shape::Tagged(name, types) => self.tagged(at, name, types, value),
            plain => {
                if !is_plain(plain, value) {
                    self.wrong(at, value);
                }
            }
        }
    }

    fn tagged(&mut self, at: &str, name: &str, types: &[(&str, &'static Type)], value: &Value) {
        let Some(tag) = value["type"].as_str() else { return self.wrong(at, value) };
        match types.iter().find(|(kind, _)| *kind == tag) {
            Some((_, of)) => self.object(at, of, value),
            None => self.add(Difference::Adds(name.to_owned(), tag.to_owned())),
        }
    }

    fn object(&mut self, at: &str, of: &'static Type, value: &Value) {
        let Some(object) = value.as_object() else { return self.wrong(at, value) };
        let fields: Vec<_> =
            lineage(of).flat_map(|of| of.fields.iter().map(move |field| (of, field))).collect();
        for (owner, Field(name, presence, shape)) in &fields {
            match object.get(*name) {
                Some(value) => self.check(&format!("{}.{name}", owner.name), shape, value),
                None if *presence == Presence::Optional => {}
                None => self.add(Difference::Lacks(owner.name.to_owned(), (*name).to_owned())),
            }
        }
        for name in object.keys().filter(|name| !fields.iter().any(|(_, field)| field.0 == name.as_str())) {
            self.add(Difference::Adds(of.name.to_owned(), name.clone()));
        }
    }

    /// Notes one.
    pub(super) fn add(&mut self, difference: Difference) {
        self.0.insert(difference);
    }

    fn wrong(&mut self, at: &str, value: &Value) {
        self.add(Difference::Wrong(at.to_owned(), value.to_string()));
    }
}

fn lineage(of: &'static Type) -> impl Iterator<Item = &'static Type> {
    std::iter::successors(Some(of), |of| of.extends)
}

fn is_plain(shape: &Shape, value: &Value) -> bool {
    let text = value.as_str();
    match shape {
        Shape::Text => text.is_some(),
        Shape::Uuid => text.is_some_and(|text| text.parse::<uuid::Uuid>().is_ok()),
        Shape::Time => text.is_some_and(is_time),
        Shape::Number => value.is_number(),
        Shape::Whole => value.is_u64(),
        Shape::Bool => value.is_boolean(),
        _ => value.is_object(),
    }
}

/// `2024-01-15T10:30:00Z`, also with a fraction of a second.
fn is_time(text: &str) -> bool {
    let Some(text) = text.strip_suffix('Z') else { return false };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let form: String = whole.chars().map(|it| if it.is_ascii_digit() { '0' } else { it }).collect();
    form == "0000-00-00T00:00:00" && !fraction.is_empty() && fraction.bytes().all(|it| it.is_ascii_digit())
}

#[test]
fn whatever_a_type_does_not_say_is_found() {
    use Presence::{Optional, Required};
    static BASE: Type = Type { name: "Base", extends: None, fields: &[Field("at", Required, Shape::Time)] };
    static CHILD: Type = Type {
        name: "Child",
        extends: Some(&BASE),
        fields: &[
            Field("id", Required, Shape::Uuid),
            Field("status", Required, Shape::OneOf("Status", &["on", "off"])),
            Field("note", Optional, Shape::Nullable(&Shape::Text)),
        ],
    };
    static ANY: Shape = Shape::Tagged("Any", &[("child", &CHILD)]);
    let found = |value: Value| {
        let mut all = Differences::default();
        all.check("child", &ANY, &value);
        all.0.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let id = "0190a1b2-0000-7000-8000-000000000000";
    let at = "2024-01-15T10:30:00.5Z";
    let right = serde_json::json!({"at": at, "id": id, "status": "on", "note": null});
    // The tag is a field like any other, and has to be among a type's own.
    let tagged = |mut value: Value| {
        value["type"] = "child".into();
        found(value)
    };
    assert_eq!(tagged(right), ["`Child` adds `type`"]);
    let wrong = serde_json::json!({"at": "today", "id": id, "status": "idle", "more": 1});
    let expected =
        ["`Child` adds `more`", "`Child` adds `type`", "`Status` adds `idle`", "`Base.at` is \"today\""];
    assert_eq!(tagged(wrong), expected);
    assert_eq!(
        tagged(serde_json::json!({"at": at})),
        ["`Child` adds `type`", "`Child` lacks `id`", "`Child` lacks `status`"]
    );
    assert_eq!(found(serde_json::json!({"type": "other"})), ["`Any` adds `other`"]);
}
