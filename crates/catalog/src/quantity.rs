//! Parameter types with a unit: sizes, counts and times. In TOML, each type has several notations.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use types::quantity;

/// A number of bytes. In TOML, it is a number or a text with a unit: `4096`, `"4MiB"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

/// A count. In TOML, it is a number or a text with a unit: `1_000_000`, `"1M"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count(pub u64);

/// A time in nanoseconds. In TOML, it is a text with a unit: `"30s"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u64);

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quantity::format_bytes(self.0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quantity::format_nanoseconds(self.0))
    }
}

impl Serialize for ByteSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ByteSize {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(Quantity { parse: quantity::parse_bytes, expected: "a size such as \"4MiB\"" })
            .map(Self)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(Quantity {
                parse: quantity::parse_count,
                expected: "a count such as 1_000_000 or \"1M\"",
            })
            .map(Self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Duration).map(Self)
    }
}

/// Implements the JSON schema of a quantity: a text in the format `$format`.
macro_rules! schemas {
    ($($quantity:ident = $format:literal;)+) => {
        $(impl JsonSchema for $quantity {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($quantity).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "format": $format })
            }
        })+
    };
}

schemas! {
    ByteSize = "size";
    Count = "count";
    Time = "time";
}

/// A deserializer of sizes and counts, which accepts an integer, or a string that `parse` accepts.
struct Quantity {
    parse: fn(&str) -> Result<u64, String>,
    expected: &'static str,
}

impl Visitor<'_> for Quantity {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<u64, E> {
        u64::try_from(number)
            .map_err(|_| E::custom(format!("{number} is negative; expected {}", self.expected)))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<u64, E> {
        (self.parse)(text).map_err(E::custom)
    }
}

/// A deserializer of times, which accepts a string with a unit of time. A number without a unit is an error.
struct Duration;

impl Visitor<'_> for Duration {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time with its unit, such as \"30s\" or \"100ms\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<u64, E> {
        quantity::parse_nanoseconds(text).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Sample {
        size: ByteSize,
        count: Count,
        time: Time,
    }

    #[test]
    fn both_spellings_read_and_one_is_written() {
        let a: Sample = toml::from_str("size = 4194304\ncount = \"10M\"\ntime = \"1500ms\"").unwrap();
        let b: Sample = toml::from_str("size = \"4MiB\"\ncount = 10_000_000\ntime = \"1500ms\"").unwrap();
        assert_eq!(a, b);
        assert_eq!(toml::to_string(&a).unwrap(), "size = \"4MiB\"\ncount = 10000000\ntime = \"1500ms\"\n");
        for bad in ["size = -1", "size = \"4 parsecs\"", "size = true"] {
            assert!(toml::from_str::<Sample>(&format!("{bad}\ncount = 1\ntime = \"1s\"")).is_err());
        }
    }
}
