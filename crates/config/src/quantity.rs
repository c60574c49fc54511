//! Sizes and numbers of CPUs as people write them, also in the notation of Kubernetes.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

/// A number of bytes: written as a whole number, or as `2GiB`, `2Gi`, `512 MiB`, `64k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

const UNITS: [(&str, u64); 4] = [("", 1), ("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30)];

impl Bytes {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit = unit.trim();
        let is_unit = |name: &str| match unit.strip_prefix(name) {
            Some("" | "b") => true,
            // `i` alone is no unit: it belongs to a letter.
            Some("i" | "ib") => !name.is_empty(),
            _ => false,
        };
        let (_, factor) = UNITS.into_iter().rev().find(|(name, _)| is_unit(name))?;
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

/// A number of CPUs: written as a number, or as a text such as `1`, `0.5` or `500m`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cpus(pub f64);

impl Cpus {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let number = match text.strip_suffix('m') {
            Some(millis) => millis.parse::<u32>().ok().map(|millis| f64::from(millis) / 1000.0),
            None => text.parse().ok(),
        };
        number.filter(|number: &f64| number.is_finite()).map(Self)
    }
}

impl<'de> Deserialize<'de> for Cpus {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CpusVisitor)
    }
}

struct CpusVisitor;

impl de::Visitor<'_> for CpusVisitor {
    type Value = Cpus;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of CPUs such as `1`, `0.5` or `500m`")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Cpus, E> {
        let number = i32::try_from(value).map(f64::from);
        number.map(Cpus).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Cpus, E> {
        Ok(Cpus(value))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Cpus, E> {
        Cpus::parse(value).ok_or_else(|| E::invalid_value(de::Unexpected::Str(value), &self))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(BytesVisitor)
    }
}

struct BytesVisitor;

impl de::Visitor<'_> for BytesVisitor {
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
    use super::{Bytes, Cpus};

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let read = |text| Bytes::parse(text).map(|bytes| bytes.0);
        assert_eq!(read("2GiB"), Some(2 << 30));
        assert_eq!(read("512 MiB"), Some(512 << 20));
        assert_eq!(read("64k"), Some(64 << 10));
        assert_eq!(read("1000"), Some(1000));
        assert_eq!(read("12b"), Some(12));
        for of_kubernetes in ["2Gi", "2048Mi", "2097152Ki", "2147483648"] {
            assert_eq!(read(of_kubernetes), Some(2 << 30), "{of_kubernetes}");
        }
        assert_eq!(read("2 parsecs"), None);
        for wrong in ["5i", "5ib", "5gg", "5gib/s", "1.5Gi", "-1Gi"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(read("GiB"), None);
        assert_eq!(read("99999999999999999999"), None);
        assert_eq!(read("17179869184GiB"), None);
    }

    #[test]
    fn numbers_of_cpus_are_read_as_kubernetes_writes_them() {
        let read = |text| Cpus::parse(text).map(|cpus| cpus.0);
        assert_eq!(["1", "0.5", " 2 ", "500m"].map(read), [Some(1.0), Some(0.5), Some(2.0), Some(0.5)]);
        for wrong in ["", "m", "one", "0.5m", "NaN", "inf", "-1m"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn sizes_are_shown_in_the_largest_unit_that_fits() {
        let shown = [2 << 30, 1536 << 20, 64 << 10, 1001, 0].map(|bytes| Bytes(bytes).to_string());
        assert_eq!(shown, ["2GiB", "1536MiB", "64KiB", "1001B", "0B"]);
    }
}
