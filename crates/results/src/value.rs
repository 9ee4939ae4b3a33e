//! The value of one cell of a result table.

use std::cmp::Ordering;
use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::metric::ValueType;

/// The value of a cell. An empty cell means that the value was not measured.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Value {
    /// The value was not measured.
    #[default]
    Empty,
    /// Text on one line.
    Text(String),
    /// An integer.
    Integer(i128),
    /// A finite number.
    Number(f64),
}

impl Value {
    /// Infers the value of a swept column from its text. `8` is an integer, `0.5` is a number, and `4MiB` and
    /// `blocked(bits_per_key=12)` are text.
    pub fn infer(text: &str) -> Self {
        if text.is_empty() {
            return Self::Empty;
        }
        // Rust parses "inf" and "nan" as numbers, but in a sweep they are names.
        if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) {
            if let Ok(number) = text.parse::<i128>() {
                return Self::Integer(number);
            }
            if let Some(number) = text.parse::<f64>().ok().filter(|n| n.is_finite()) {
                return Self::Number(number);
            }
        }
        Self::Text(text.to_owned())
    }

    /// Parses a field of a column whose values have the type `kind`. Returns `None` if the text does not have this
    /// type. An empty text is [`Value::Empty`].
    pub(crate) fn parse(text: &str, kind: ValueType) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::Empty);
        }
        match kind {
            ValueType::Text => Some(Self::Text(text.to_owned())),
            ValueType::Integer => text.parse().ok().map(Self::Integer),
            ValueType::Number => text.parse().ok().filter(|n: &f64| n.is_finite()).map(Self::Number),
        }
    }

    /// Returns the value as a number. Returns `None` for a text or an empty value.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            Self::Empty | Self::Text(_) => None,
        }
    }

    /// Returns the value as an unsigned integer. Returns `None` for a negative integer, and for any other type.
    pub fn integer(&self) -> Option<u64> {
        match self {
            Self::Integer(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    /// Returns the value as text. Returns `None` for any other type.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns whether the cell is empty.
    pub fn is_empty(&self) -> bool {
        *self == Self::Empty
    }

    /// Compares two values for sorting: empty values first, then numbers by size, then text.
    pub fn total_cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Integer(a), Self::Integer(b)) => a.cmp(b),
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                _ => self.rank().cmp(&other.rank()),
            },
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Empty => 0,
            Self::Integer(_) | Self::Number(_) => 1,
            Self::Text(_) => 2,
        }
    }
}

/// Formats the value for a field of a CSV file. The parser converts the text back to an equal value.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => Ok(()),
            Self::Text(text) => f.write_str(text),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Number(number) => write!(f, "{number:?}"),
        }
    }
}

/// Converts a value to JSON: a number, a string, or null.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Empty => serializer.serialize_unit(),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Integer(number) => match u64::try_from(*number) {
                Ok(number) => serializer.serialize_u64(number),
                Err(_) => serializer.serialize_i128(*number),
            },
            Self::Number(number) => serializer.serialize_f64(*number),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Cell;

        impl Visitor<'_> for Cell {
            type Value = Value;

            fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
                text.write_str("a finite number, a text or null")
            }

            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Empty)
            }

            fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
                Ok(Value::Integer(number.into()))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
                Ok(Value::Integer(number.into()))
            }

            fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Value, E> {
                match number.is_finite() {
                    true => Ok(Value::Number(number)),
                    false => Err(E::custom("a number in the results must be finite")),
                }
            }

            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value::from(text))
            }
        }

        deserializer.deserialize_any(Cell)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        if text.is_empty() { Self::Empty } else { Self::Text(text.to_owned()) }
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        if text.is_empty() { Self::Empty } else { Self::Text(text) }
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Integer(number.into())
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Integer(number as i128)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number.into())
    }
}

/// Converts a number to a value. An infinite number or NaN becomes an empty value, because it is the result of an
/// undefined quotient, such as a hit rate without accesses.
impl From<f64> for Value {
    fn from(number: f64) -> Self {
        if number.is_finite() { Self::Number(number) } else { Self::Empty }
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn swept_values_say_their_own_type() {
        assert_eq!(Value::infer("8"), Value::Integer(8));
        assert_eq!(Value::infer("-5"), Value::Integer(-5));
        assert_eq!(Value::infer("0.99"), Value::Number(0.99));
        for text in ["4MiB", "inf", "nan", "blocked(bits_per_key=12)", "1e999", "true", "-", "1_000"] {
            assert_eq!(Value::infer(text), Value::Text(text.to_owned()));
        }
        assert_eq!(Value::infer(""), Value::Empty);
    }

    #[test]
    fn what_has_no_value_is_empty_not_zero() {
        assert_eq!(Value::from(f64::NAN), Value::Empty);
        assert_eq!(Value::from(f64::INFINITY), Value::Empty);
        assert_eq!(Value::from(None::<u64>), Value::Empty);
        assert_eq!(Value::from(0_u64).to_string(), "0");
        assert_eq!(Value::Empty.to_string(), "");
    }

    proptest! {
        #[test]
        fn numbers_read_back_to_the_last_bit(number in any::<f64>().prop_filter("finite", |n| n.is_finite())) {
            let value = Value::Number(number);
            prop_assert_eq!(Value::parse(&value.to_string(), ValueType::Number), Some(value.clone()));
            prop_assert_eq!(Value::infer(&value.to_string()), value);
        }
    }
}
