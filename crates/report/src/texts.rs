//! The values of a key in a TOML file that takes one value or a list of values.

use plot::SelectedValues;
use schemars::JsonSchema;
use serde::Deserialize;
use types::quantity;

/// The values of a TOML key that takes one value or a list of values. Each value is written as in a CSV field, and `""`
/// means an empty field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "SelectedValues")]
pub struct Texts(Vec<String>);

impl Texts {
    /// Returns the values of the key, in the given order.
    pub fn all(&self) -> &[String] {
        &self.0
    }

    /// Returns whether the key has no value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether `text` is one of the values. Numbers are equal even if they are written differently.
    pub fn hold(&self, text: &str) -> bool {
        self.0.iter().any(|one| same(one, text))
    }
}

impl From<SelectedValues> for Texts {
    fn from(choice: SelectedValues) -> Self {
        Self(choice.texts())
    }
}

impl<const N: usize> From<[&str; N]> for Texts {
    fn from(texts: [&str; N]) -> Self {
        Self(texts.map(str::to_owned).to_vec())
    }
}

/// Returns whether two CSV fields have equal values. For example, `0.10` equals `0.1`, `1000000` equals `1e6`, and
/// `4KiB` equals `4096`.
pub(crate) fn same(one: &str, other: &str) -> bool {
    let number = |text: &str| {
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        number.or_else(|| quantity::parse_size(text).map(|bytes| bytes as f64))
    };
    one == other || matches!((number(one), number(other)), (Some(a), Some(b)) if a.total_cmp(&b).is_eq())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_same_however_they_are_written() {
        assert!(same("1000000", "1e6"));
        assert!(same("0.10", "0.1"));
        assert!(same("64KiB", "65536"));
        assert!(same("1MiB", "1024KiB"));
        assert!(same("", ""));
        assert!(!same("1", "1 "));
        assert!(!same("", "0"));
        assert!(!same("nan", "inf"));
    }

    #[test]
    fn a_single_value_is_a_list_of_one() {
        let read = |text: &str| toml::from_str::<toml::Table>(text).unwrap()["x"].clone().try_into::<Texts>();
        assert_eq!(read("x = \"get\"").unwrap().all(), ["get"]);
        assert_eq!(read("x = [1, 0.5, \"8KiB\"]").unwrap().all(), ["1", "0.5", "8KiB"]);
        assert!(read("x = {}").is_err());
        assert!(Texts::from(["1.0"]).hold("1"));
    }
}
