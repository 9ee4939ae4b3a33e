//! A parameter of the modeled device. Its value is explicit or comes from the preset of a device class.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Visitor, value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The word in TOML that gives a parameter of the modeled device the value of its device class.
const PRESET: &str = "preset";

/// The value of a parameter of the modeled device in TOML: `"preset"`, or a value of type `T`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Setting<T> {
    /// The parameter has the value of the device class.
    #[default]
    Preset,
    /// The parameter has an explicit value, which replaces the value of the device class.
    Own(T),
}

impl<T> Setting<T> {
    /// Returns the explicit value, or `None` if the parameter has the value of the device class.
    pub(super) fn value(self) -> Option<T> {
        match self {
            Self::Preset => None,
            Self::Own(value) => Some(value),
        }
    }
}

impl<T: Serialize> Serialize for Setting<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Preset => serializer.serialize_str(PRESET),
            Self::Own(value) => value.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Setting<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PresetOr(PhantomData))
    }
}

/// A deserializer that accepts the word `"preset"` and any value of type `T`.
struct PresetOr<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PresetOr<T> {
    type Value = Setting<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{PRESET}\" or a value")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Setting<T>, E> {
        match text {
            PRESET => Ok(Setting::Preset),
            text => T::deserialize(value::StrDeserializer::new(text)).map(Setting::Own),
        }
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Setting<T>, E> {
        T::deserialize(value::I64Deserializer::new(number)).map(Setting::Own)
    }
}

#[cfg(test)]
mod tests {
    use catalog::{Count, Time};
    use toml::Value;

    use super::*;

    #[test]
    fn the_word_and_values_read_and_write() {
        let read = |text: &str| Value::String(text.to_owned()).try_into::<Setting<Time>>();
        assert_eq!(read("preset"), Ok(Setting::Preset));
        assert_eq!(read("80us"), Ok(Setting::Own(Time(80_000))));
        assert!(read("80").unwrap_err().message().contains("is not a time"));
        let count: Setting<Count> = Value::Integer(3).try_into().unwrap();
        assert_eq!(count, Setting::Own(Count(3)));
        assert_eq!(Value::try_from(Setting::Own(Time(80_000))), Ok(Value::String("80us".to_owned())));
        assert_eq!(Value::try_from(Setting::<Time>::Preset), Ok(Value::String("preset".to_owned())));
    }
}
