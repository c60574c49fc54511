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
        usual(text.as_bytes())
            .or_else(|| text.parse::<jiff::Timestamp>().ok().map(|t| t.as_millisecond()))
            .map(Self)
    }
}

/// Milliseconds of a time in the form in which nearly all are written, `2023-11-14T22:13:20.120Z`. `None`: it is another
/// form, or no time.
fn usual(text: &[u8]) -> Option<i64> {
    let text: &[u8; 24] = text.try_into().ok()?;
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':'), (19, b'.'), (23, b'Z')];
    if marks.iter().any(|(at, mark)| text[*at] != *mark) {
        return None;
    }
    let number = |from: usize, to: usize| {
        text[from..to].iter().try_fold(0_i64, |number, byte| {
            byte.is_ascii_digit().then(|| number * 10 + i64::from(byte - b'0'))
        })
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last_day = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=last_day).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Years begin in March, so that the day that is not always there is the last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (month * 153 + 2) / 5
        + day
        - 719_469;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + number(20, 23)?)
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
    fn the_usual_form_is_read_as_any_other() {
        let read = |text: &str| text.parse::<jiff::Timestamp>().ok().map(|time| time.as_millisecond());
        for millis in (-62_135_596_800_000..250_000_000_000_000).step_by(86_399_999_993 * 3) {
            let text = Timestamp::from_millis(millis).to_string();
            assert_eq!((super::usual(text.as_bytes()), read(&text)), (Some(millis), Some(millis)), "{text}");
        }
        for text in ["2024-02-29T00:00:00.000Z", "2000-02-29T23:59:59.999Z", "1970-01-01T00:00:00.000Z"] {
            assert_eq!(super::usual(text.as_bytes()), read(text), "{text}");
        }
        let others = [
            "2023-02-29T00:00:00.000Z",
            "2023-13-01T00:00:00.000Z",
            "2023-01-01T24:00:00.000Z",
            "2023-01-01 00:00:00.000Z",
        ];
        assert_eq!(others.map(|text| super::usual(text.as_bytes())), [None; 4]);
    }

    #[test]
    fn absurd_times_are_clamped_not_refused() {
        assert_eq!(Timestamp::from_millis(i64::MAX).to_string(), "9999-12-30T22:00:00.000Z");
    }
}
