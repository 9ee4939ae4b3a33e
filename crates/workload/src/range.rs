//! The scan lengths of a workload. The settings of a phase determine how many entries a scan reads, and in which
//! direction.

mod entries;
mod fixed;
mod pareto;
mod uniform;
mod zipfian;

use catalog::{Catalog, Choice, ChoiceError, Count};
use toml::Value;

use crate::length::LengthDistribution;

/// All distributions of the number of entries that a scan reads. The first distribution is the default.
pub static LENGTHS: Catalog<dyn LengthDistribution> = Catalog::new(
    catalog::origin!(),
    "range",
    "the number of entries that a scan reads",
    &[fixed::VARIANT, uniform::VARIANT, zipfian::VARIANT, pareto::VARIANT],
);

/// The settings of scans, such as `{ kind = "fixed", entries = 100, backward = 0.0, span = 0, prefix = 0 }`.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeSpec {
    /// The distribution of the number of entries that a scan reads. The distribution is one of [`LENGTHS`].
    pub length: Choice,
    /// The fraction of scans that read from larger keys to smaller keys.
    pub backward: f64,
    /// The span of a scan: the difference between the numbers of its end key and its start key. The scan excludes the
    /// end key, and may return no entries. With a span of 0, only the number of entries limits the scan.
    pub span: u32,
    /// The number of bytes of the prefix of a prefix scan. All other scans ignore this setting.
    pub prefix: u32,
}

impl Default for RangeSpec {
    fn default() -> Self {
        Self { length: LENGTHS.baseline(), backward: 0.0, span: 0, prefix: 0 }
    }
}

impl RangeSpec {
    /// Reads the settings of scans. The value is a kind, a kind with parameters in parentheses, or a table with
    /// `kind`, its parameters, `backward`, `span` and `prefix`.
    ///
    /// # Errors
    /// Returns an error that names the invalid key.
    pub fn from_toml(value: &Value) -> Result<Self, ChoiceError> {
        let mut spec = Self::default();
        let mut lengths = value.clone();
        if let Value::Table(table) = &mut lengths {
            if let Some(share) = table.remove("backward") {
                spec.backward = crate::spelling::share("backward", &share)?;
            }
            if let Some(span) = table.remove("span") {
                spec.span = small("span", crate::spelling::read::<Count>("span", &span)?)?;
            }
            if let Some(prefix) = table.remove("prefix") {
                let bytes = crate::spelling::read::<Count>("prefix", &prefix)?;
                spec.prefix = small("prefix", bytes)?;
            }
            if !table.contains_key("kind") {
                table.insert("kind".to_owned(), Value::String(LENGTHS.variants()[0].kind.to_owned()));
            }
        }
        spec.length = LENGTHS.choose_beside(&lengths, &["backward", "span", "prefix"])?;
        Ok(spec)
    }

    /// Returns the settings as TOML, with all defaults.
    pub fn to_toml(&self) -> Value {
        let mut spelt = self.length.to_toml();
        if let Value::Table(table) = &mut spelt {
            table.insert("backward".to_owned(), Value::Float(self.backward));
            table.insert("span".to_owned(), Value::Integer(self.span.into()));
            if self.prefix > 0 {
                table.insert("prefix".to_owned(), Value::Integer(self.prefix.into()));
            }
        }
        spelt
    }
}

/// Converts the value of the TOML key `key` to 32 bits. Returns an error if the value is too large.
fn small(key: &str, count: Count) -> Result<u32, ChoiceError> {
    let message = |_| ChoiceError::at(key, format!("{key} is {}; the maximum is {}", count.0, u32::MAX));
    u32::try_from(count.0).map_err(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(toml: &str) -> Result<RangeSpec, ChoiceError> {
        let table: toml::Table = toml::from_str(&format!("x = {toml}")).unwrap();
        RangeSpec::from_toml(&table["x"])
    }

    #[test]
    fn all_spellings_read_and_write() {
        assert_eq!(read("{ entries = 100 }").unwrap(), RangeSpec::default());
        let spec = read("{ kind = \"uniform\", max = \"1k\", backward = 0.5 }").unwrap();
        assert_eq!((spec.length.label().as_str(), spec.backward), ("uniform(max=1000)", 0.5));
        assert_eq!(read("{ entries = 100, span = \"1k\" }").unwrap().span, 1000);
        let prefixes = read("{ prefix = 7 }").unwrap();
        assert_eq!((prefixes.prefix, RangeSpec::from_toml(&prefixes.to_toml())), (7, Ok(prefixes.clone())));
        assert_eq!(RangeSpec::from_toml(&spec.to_toml()).unwrap(), spec);
    }

    #[test]
    fn impossible_ranges_are_refused() {
        for (toml, message) in [
            ("{ entries = 0 }", "entries is 0; a scan reads at least 1 entry"),
            ("{ entries = -5 }", "is negative"),
            ("{ spam = 10 }", "did you mean \"span\"?"),
            ("{ entries = 5000000000 }", "at most 4294967295"),
            ("{ backward = 2 }", "backward is 2"),
            ("{ span = 5000000000 }", "span is 5000000000; the maximum is 4294967295"),
            ("{ kind = \"zipfian\", theta = -1 }", "theta is -1"),
        ] {
            let error = read(toml).unwrap_err();
            assert!(error.message.contains(message), "{toml}: {error}");
        }
    }
}
