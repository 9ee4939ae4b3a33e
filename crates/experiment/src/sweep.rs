//! Sweeps: the swept paths, their values, and the rule that combines the values.

use std::borrow::Cow;

use catalog::Axis;
use results::{ConfigPath, Root};
use toml::{Table, Value};
use tree::{SECOND_NAMES, axis};

use super::deprecations::new_name;
use super::engine::ENGINE;
use super::wording;

/// The largest number of configurations into which a sweep may expand.
const MOST_CELLS: usize = 10_000;

/// The rule by which a sweep combines the values of its paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Combine {
    /// Combines each value of a factor with each value of every other factor.
    #[default]
    Cartesian,
    /// Combines the first values of all factors, then the second values of all factors, and so on.
    Zip,
    /// Runs the base design, and then one configuration per swept value, which changes only this value of the base
    /// design.
    Ablate,
}

/// A factor: a swept path with its values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Factor {
    /// The swept path, such as `design.bloom.bits_per_key`.
    pub(super) path: String,
    /// The swept values. A factor has at least one value.
    pub(super) values: Vec<Value>,
    /// Whether the user wrote `"all"` instead of a list of values.
    pub(super) all: bool,
}

/// The sweep of an experiment: all factors, and the rule that combines their values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sweep {
    pub(super) combine: Combine,
    /// Whether all configurations have the same memory budget, because the file has `memory = "equal"`.
    pub(super) equal_memory: bool,
    /// The labels of the configurations, in the order of the values. Without labels, each label consists of the swept
    /// values.
    pub(super) labels: Option<Vec<String>>,
    pub(super) factors: Vec<Factor>,
}

/// An error in a sweep: the wrong path or the wrong key of `[sweep]`, and the reason.
#[derive(Debug)]
pub(super) struct SweepError {
    pub(super) key: String,
    pub(super) message: String,
}

impl SweepError {
    pub(super) fn new(key: &str, message: impl Into<String>) -> Self {
        Self { key: key.to_owned(), message: message.into() }
    }
}

impl Combine {
    const ALL: [Self; 3] = [Self::Cartesian, Self::Zip, Self::Ablate];

    fn name(self) -> &'static str {
        match self {
            Self::Cartesian => "cartesian",
            Self::Zip => "zip",
            Self::Ablate => "ablate",
        }
    }

    fn read(value: &Value) -> Result<Self, SweepError> {
        let named = Self::ALL.into_iter().find(|combine| value.as_str() == Some(combine.name()));
        named.ok_or_else(|| {
            let message = format!("unknown value {value}. {}", wording::valid(Self::ALL.map(Self::name)));
            SweepError::new("combine", message)
        })
    }
}

impl Sweep {
    /// Parses a `[sweep]` table. If the value of an axis is `"all"`, the swept values are all variants of the
    /// catalog.
    pub(super) fn read(table: &Table) -> Result<Self, SweepError> {
        let mut sweep = Self::default();
        for (key, value) in table {
            if key == "combine" {
                sweep.combine = Combine::read(value)?;
            } else if key == "memory" {
                if value.as_str() != Some("equal") {
                    let message =
                        format!("unknown value {value}. Valid: \"equal\", with the budget in design.memory");
                    return Err(SweepError::new("memory", message));
                }
                sweep.equal_memory = true;
            } else if key == "labels" {
                sweep.labels = Some(read_labels(value)?);
            } else {
                sweep.factors.push(read_factor(key, value)?);
            }
        }
        Ok(sweep)
    }

    /// Returns the sweep as a TOML table, which parses to an equal sweep.
    pub(super) fn to_toml(&self) -> Table {
        let mut table = Table::new();
        table.insert("combine".to_owned(), Value::String(self.combine.name().to_owned()));
        if self.equal_memory {
            table.insert("memory".to_owned(), "equal".into());
        }
        if let Some(labels) = &self.labels {
            table.insert("labels".to_owned(), labels.clone().into());
        }
        // Named engines must be available, while engines from `"all"` may be missing.
        let values = |factor: &Factor| match factor.path == ENGINE && factor.all {
            true => Value::from("all"),
            false => Value::Array(factor.values.clone()),
        };
        table.extend(self.factors.iter().map(|factor| (factor.path.clone(), values(factor))));
        table
    }

    /// Checks a sweep: no path is swept twice, the lists of a zip have equal lengths, the labels fit the
    /// configurations, and the sweep does not have too many configurations.
    pub(super) fn check(&self) -> Result<(), SweepError> {
        self.check_labels()?;
        let Some(first) = self.factors.first() else { return Ok(()) };
        for (at, factor) in self.factors.iter().enumerate() {
            if self.factors[..at].iter().any(|earlier| first_name(&earlier.path) == first_name(&factor.path))
            {
                return Err(SweepError::new(
                    &factor.path,
                    "the sweep has this path twice; remove one of them".to_owned(),
                ));
            }
            if self.combine == Combine::Zip && factor.values.len() != first.values.len() {
                let message = format!(
                    "combine = \"zip\" needs lists of equal length, but \"{path}\" has {count} values \
                     and \"{other}\" has {other_count} values",
                    path = first.path,
                    count = first.values.len(),
                    other = factor.path,
                    other_count = factor.values.len()
                );
                return Err(SweepError::new(&factor.path, message));
            }
        }
        match self.count() {
            Some(cells) if cells <= MOST_CELLS => Ok(()),
            _ => {
                let message = format!(
                    "the sweep has more than {MOST_CELLS} configurations; the maximum is {MOST_CELLS}"
                );
                Err(SweepError::new("", message))
            }
        }
    }

    /// Checks the labels of a sweep. Labels need `combine = "zip"`, must be unique, and their number must equal the
    /// number of values of each path.
    fn check_labels(&self) -> Result<(), SweepError> {
        let Some(labels) = &self.labels else { return Ok(()) };
        let error = |message: String| Err(SweepError::new("labels", message));
        if self.combine != Combine::Zip {
            return error(
                "labels belong to the values of a zip; add combine = \"zip\", or remove the labels"
                    .to_owned(),
            );
        }
        if let Some(twice) = labels.iter().enumerate().find(|(at, label)| labels[..*at].contains(label)) {
            return error(format!(
                "the label \"{}\" occurs twice; give each configuration its own label",
                twice.1
            ));
        }
        match self.factors.first() {
            Some(first) if first.values.len() != labels.len() => error(format!(
                "\"{path}\" has {values} values, but there are {labels} labels; give each configuration one label",
                path = first.path,
                values = first.values.len(),
                labels = labels.len()
            )),
            _ => Ok(()),
        }
    }

    /// Returns the number of combinations of swept values. Returns `None` if the number exceeds `usize::MAX`.
    fn count(&self) -> Option<usize> {
        let mut lengths = self.factors.iter().map(|factor| factor.values.len());
        match self.combine {
            Combine::Cartesian => lengths.try_fold(1, usize::checked_mul),
            Combine::Zip => Some(lengths.next().unwrap_or(1)),
            Combine::Ablate => Some(1 + lengths.sum::<usize>()),
        }
    }

    /// Returns all combinations of swept values. A combination has one entry per factor: a swept value, or `None` for
    /// the value of the base design.
    pub(super) fn combinations(&self) -> Vec<Vec<Option<&Value>>> {
        let base = vec![None; self.factors.len()];
        match self.combine {
            Combine::Cartesian => {
                let mut all = vec![Vec::new()];
                for factor in &self.factors {
                    let extend = |head: Vec<_>| {
                        factor.values.iter().map(move |value| [head.clone(), vec![Some(value)]].concat())
                    };
                    all = all.into_iter().flat_map(extend).collect();
                }
                all
            }
            Combine::Zip => {
                let length = self.factors.first().map_or(1, |factor| factor.values.len());
                (0..length)
                    .map(|at| self.factors.iter().map(|factor| Some(&factor.values[at])).collect())
                    .collect()
            }
            Combine::Ablate => {
                let mut all = vec![base.clone()];
                for (at, factor) in self.factors.iter().enumerate() {
                    for value in &factor.values {
                        let mut one = base.clone();
                        one[at] = Some(value);
                        all.push(one);
                    }
                }
                all
            }
        }
    }
}

/// Replaces an alternative name of an axis in a path by its main name. For example, `design.bloom.allocation` becomes
/// `design.allocation`. Returns any other path unchanged.
fn first_name(path: &str) -> Cow<'_, str> {
    let parsed = ConfigPath::new(path);
    match (parsed.root(), parsed.below()) {
        (Root::Design, &[group, key]) if SECOND_NAMES.contains(&(group, key)) => {
            Cow::Owned(ConfigPath::of_axis(key))
        }
        _ => Cow::Borrowed(path),
    }
}

/// Parses the labels of the configurations: a list of texts that are not empty and have no line breaks or other control
/// characters, because a label is one field of a CSV file.
fn read_labels(value: &Value) -> Result<Vec<String>, SweepError> {
    let is_valid = |label: &&str| !label.is_empty() && !label.chars().any(char::is_control);
    let label = |value: &Value| value.as_str().map(str::trim).filter(is_valid).map(str::to_owned);
    let labels = value.as_array().and_then(|values| values.iter().map(label).collect());
    labels.ok_or_else(|| {
        SweepError::new("labels", "expected a list of texts without line breaks: labels = [\"…\", …]")
    })
}

/// Parses a factor from its path and its value. The value is a list of values, or `"all"` for the variants of an axis.
pub(super) fn read_factor(path: &str, value: &Value) -> Result<Factor, SweepError> {
    let first_name = first_name(path);
    let parsed = ConfigPath::new(&first_name);
    let swept_axis = match (parsed.root(), parsed.below()) {
        (Root::Design, [name]) => axis(name),
        (Root::Engine, []) => Some(&engines::CATALOG as &dyn Axis),
        _ => None,
    };
    let all = matches!((value, swept_axis), (Value::String(all), Some(_)) if all == "all");
    let values = match (value, swept_axis) {
        (Value::String(all), Some(axis)) if all == "all" => {
            axis.variants().iter().map(|variant| Value::String(variant.kind.to_owned())).collect()
        }
        (Value::Array(values), _) => values.clone(),
        _ => {
            let message = format!("expected a list of values: \"{path}\" = [ … ]");
            return Err(SweepError::new(path, message));
        }
    };
    if values.is_empty() {
        return Err(SweepError::new(path, "the list is empty; a sweep needs at least one value"));
    }
    Ok(Factor { path: new_name(path).into_owned(), values, all })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Sweep, String> {
        let sweep = Sweep::read(&text.parse().unwrap()).map_err(|error| error.message)?;
        sweep.check().map_err(|error| error.message)?;
        Ok(sweep)
    }

    fn shown(sweep: &Sweep) -> Vec<String> {
        let value = |value: Option<&Value>| value.map_or_else(|| "·".to_owned(), ToString::to_string);
        let line =
            |values: &Vec<Option<&Value>>| values.iter().map(|one| value(*one)).collect::<Vec<_>>().join(" ");
        sweep.combinations().iter().map(line).collect()
    }

    #[test]
    fn factors_combine_in_three_ways() {
        let factors = "\"a\" = [1, 2]\n\"b\" = [3, 4]\n";
        let combined = |combine: &str| read(&format!("combine = \"{combine}\"\n{factors}")).unwrap();
        assert_eq!(shown(&read(factors).unwrap()), ["1 3", "1 4", "2 3", "2 4"]);
        assert_eq!(shown(&combined("zip")), ["1 3", "2 4"]);
        assert_eq!(shown(&combined("ablate")), ["· ·", "1 ·", "2 ·", "· 3", "· 4"]);
        assert_eq!(shown(&Sweep::default()), [""]);
        for name in ["cartesian", "zip", "ablate"] {
            assert_eq!(Sweep::read(&combined(name).to_toml()).unwrap(), combined(name));
        }
        let labelled = read(&format!("combine = \"zip\"\nlabels = [\"x\", \"y\"]\n{factors}")).unwrap();
        assert_eq!(Sweep::read(&labelled.to_toml()).unwrap(), labelled);
    }

    #[test]
    fn impossible_sweeps_say_why() {
        for (text, message) in [
            ("combine = \"zap\"\n\"a\" = [1]", "unknown value \"zap\". Valid: \"cartesian\""),
            ("combine = \"zip\"\n\"a\" = [1]\n\"b\" = [1, 2]", "but \"a\" has 1 values and \"b\" has 2"),
            ("labels = [\"x\"]\n\"a\" = [1]", "add combine = \"zip\""),
            ("combine = \"zip\"\nlabels = [\"x\", \"y\\nz\"]\n\"a\" = [1, 2]", "without line breaks"),
            ("combine = \"zip\"\nlabels = [\"x\", \"\"]\n\"a\" = [1, 2]", "expected a list of texts"),
            (
                "combine = \"zip\"\nlabels = [\"x\"]\n\"a\" = [1, 2]",
                "\"a\" has 2 values, but there are 1 labels",
            ),
            ("combine = \"zip\"\nlabels = [\"x\", \"x\"]\n\"a\" = [1, 2]", "the label \"x\" occurs twice"),
            ("\"a\" = []", "the list is empty"),
            ("\"a\" = 3", "expected a list of values: \"a\" = [ … ]"),
            ("\"design.wal.period\" = \"all\"", "expected a list of values"),
            (
                "\"design.format\" = [\"plain\"]\n\"design.block.format\" = \"all\"",
                "the sweep has this path twice",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
        let values = format!("[{}]", ["1"; 30].join(","));
        let text: String = ["a", "b", "c"].map(|path| format!("{path} = {values}\n")).concat();
        assert!(read(&text).unwrap_err().contains("more than 10000 configurations"));
    }
}
