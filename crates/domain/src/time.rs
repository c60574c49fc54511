//! Points in time as the log writes them.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// Milliseconds since 1970, written as RFC 3339 in UTC with exactly three decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The latest instant that every time zone can write with a four-digit year.
    const MAX: i64 = 253_402_207_200_000;

    /// From milliseconds since 1970; out-of-range values are clamped to years 0–9999.
    #[must_use]
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(-62_167_219_200_000, Self::MAX))
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// This instant, `millis` later.
    #[must_use]
    pub fn plus_millis(self, millis: i64) -> Self {
        Self::from_millis(self.0.saturating_add(millis))
    }

    /// Reads RFC 3339.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>().ok().map(|t| Self(t.as_millisecond()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(t) => write!(f, "{t:.3}"),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is not an RFC 3339 time")))
    }
}

#[cfg(feature = "schema")]
impl utoipa::PartialSchema for Timestamp {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        utoipa::openapi::ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::Type::String)
            .format(Some(utoipa::openapi::SchemaFormat::KnownFormat(utoipa::openapi::KnownFormat::DateTime)))
            .into()
    }
}

#[cfg(feature = "schema")]
impl utoipa::ToSchema for Timestamp {}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn a_time_is_written_with_three_decimals_and_read_back() {
        let time = Timestamp::from_millis(1_700_000_000_120);
        assert_eq!(time.to_string(), "2023-11-14T22:13:20.120Z");
        assert_eq!(Timestamp::parse("2023-11-14T22:13:20.12Z"), Some(time));
    }

    #[test]
    fn absurd_times_are_clamped_not_refused() {
        assert_eq!(Timestamp::from_millis(i64::MAX).to_string(), "9999-12-30T22:00:00.000Z");
    }
}
