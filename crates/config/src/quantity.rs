//! Sizes as people write them.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

/// A number of bytes: written as a whole number, or as `2GiB`, `512 MiB`, `64k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

const UNITS: [(&str, u64); 4] = [("", 1), ("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30)];

impl Bytes {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit = unit.trim();
        let unit = unit.strip_suffix("ib").or(unit.strip_suffix('b')).unwrap_or(unit);
        let (_, factor) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
        number.parse::<u64>().ok()?.checked_mul(factor).map(Self)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits =
            UNITS.into_iter().rev().find(|(_, factor)| self.0 >= *factor && self.0.is_multiple_of(*factor));
        match fits {
            Some((unit, factor)) if factor > 1 => {
                write!(f, "{}{}iB", self.0 / factor, unit.to_uppercase())
            }
            _ => write!(f, "{}B", self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visitor)
    }
}

struct Visitor;

impl de::Visitor<'_> for Visitor {
    type Value = Bytes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size such as `2GiB`, or a number of bytes")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Bytes, E> {
        u64::try_from(value).map(Bytes).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Bytes, E> {
        Bytes::parse(value).ok_or_else(|| E::invalid_value(de::Unexpected::Str(value), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::Bytes;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let read = |text| Bytes::parse(text).map(|bytes| bytes.0);
        assert_eq!(read("2GiB"), Some(2 << 30));
        assert_eq!(read("512 MiB"), Some(512 << 20));
        assert_eq!(read("64k"), Some(64 << 10));
        assert_eq!(read("1000"), Some(1000));
        assert_eq!(read("12b"), Some(12));
        assert_eq!(read("2 parsecs"), None);
        assert_eq!(read("GiB"), None);
        assert_eq!(read("99999999999999999999"), None);
        assert_eq!(read("17179869184GiB"), None);
    }

    #[test]
    fn sizes_are_shown_in_the_largest_unit_that_fits() {
        let shown = [2 << 30, 1536 << 20, 64 << 10, 1001, 0].map(|bytes| Bytes(bytes).to_string());
        assert_eq!(shown, ["2GiB", "1536MiB", "64KiB", "1001B", "0B"]);
    }
}
