//! The values of a workload. The settings of a phase determine the sizes and the compressibility of the values.

mod bytes;
mod fixed;
mod pareto;
mod uniform;

use catalog::{Catalog, Choice, ChoiceError};
use toml::Value;

use crate::length::LengthDistribution;

/// All distributions of the size of values. The first distribution is the default.
pub static SIZES: Catalog<dyn LengthDistribution> = Catalog::new(
    catalog::origin!(),
    "value",
    "the size of values",
    &[fixed::VARIANT, uniform::VARIANT, pareto::VARIANT],
);

/// The settings of values, such as `{ kind = "fixed", bytes = 100, compressible = 0.5 }`.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueSpec {
    /// The distribution of sizes, which is one of [`SIZES`].
    pub size: Choice,
    /// The fraction of a value's bytes that a fast compressor saves. With 0, the bytes are random. The default is
    /// 0.5. Values of less than 100 bytes compress less than requested, because each value begins with eight random
    /// bytes.
    pub compressible: f64,
}

impl Default for ValueSpec {
    fn default() -> Self {
        Self { size: SIZES.baseline(), compressible: 0.5 }
    }
}

impl ValueSpec {
    /// Reads the settings of values. The TOML value is a kind, a kind with parameters in parentheses, or a table with
    /// `kind`, its parameters and `compressible`.
    ///
    /// # Errors
    /// Returns an error that names the invalid key.
    pub fn from_toml(value: &Value) -> Result<Self, ChoiceError> {
        let mut spec = Self::default();
        let mut sizes = value.clone();
        if let Value::Table(table) = &mut sizes {
            if let Some(share) = table.remove("compressible") {
                spec.compressible = crate::spelling::share("compressible", &share)?;
                if spec.compressible >= 1.0 {
                    let message =
                        "compressible is 1; it must be below 1, because values need some random bytes";
                    return Err(ChoiceError::at("compressible", message));
                }
            }
            if !table.contains_key("kind") {
                table.insert("kind".to_owned(), Value::String(SIZES.variants()[0].kind.to_owned()));
            }
        }
        spec.size = SIZES.choose(&sizes)?;
        Ok(spec)
    }

    /// Returns the settings as TOML, with all defaults.
    pub fn to_toml(&self) -> Value {
        let mut spelt = self.size.to_toml();
        if let Value::Table(table) = &mut spelt {
            table.insert("compressible".to_owned(), Value::Float(self.compressible));
        }
        spelt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(toml: &str) -> Result<ValueSpec, ChoiceError> {
        let table: toml::Table = toml::from_str(&format!("x = {toml}")).unwrap();
        ValueSpec::from_toml(&table["x"])
    }

    #[test]
    fn all_spellings_read_and_write() {
        assert_eq!(read("\"fixed\"").unwrap(), ValueSpec::default());
        assert_eq!(read("{ bytes = 100 }").unwrap(), ValueSpec::default());
        let spec = read("{ kind = \"uniform\", min = 0, max = \"4KiB\", compressible = 0 }").unwrap();
        assert_eq!(spec.compressible.to_bits(), 0);
        assert_eq!(spec.size.label(), "uniform(min=0B, max=4KiB)");
        assert_eq!(ValueSpec::from_toml(&spec.to_toml()).unwrap(), spec);
    }

    #[test]
    fn impossible_values_name_their_key() {
        for (toml, key, message) in [
            ("{ bytes = 10, compressible = 1.5 }", Some("compressible"), "between 0 and 1"),
            ("{ bytes = 10, compressible = 1 }", Some("compressible"), "values need some random bytes"),
            ("{ bytes = \"100MiB\" }", None, "bytes is 100MiB; values are at most 64MiB"),
            ("{ bites = 10 }", Some("bites"), "no parameter \"bites\"; did you mean \"bytes\"?"),
            ("{ kind = \"uniform\", min = 9, max = 8 }", None, "min must not be above max"),
        ] {
            let error = read(toml).unwrap_err();
            assert!(error.message.contains(message), "{toml}: {error}");
            assert_eq!(error.key.as_deref(), key, "{toml}");
        }
    }
}
