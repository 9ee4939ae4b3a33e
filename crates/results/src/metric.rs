//! The definition of a column: its unit, its type, and whether higher or lower values are better.

use std::fmt;

use crate::Value;

/// Whether higher or lower values of a metric are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Higher values are better.
    Higher,
    /// Lower values are better.
    Lower,
    /// Neither higher nor lower values are better, because the metric only describes the run.
    Neither,
}

impl Better {
    /// Returns the note for a chart axis, such as `higher is better`. Returns `None` if neither higher nor lower is
    /// better.
    pub fn phrase(self) -> Option<&'static str> {
        match self {
            Self::Higher => Some("higher is better"),
            Self::Lower => Some("lower is better"),
            Self::Neither => None,
        }
    }
}

impl fmt::Display for Better {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Higher => "higher",
            Self::Lower => "lower",
            Self::Neither => "neither",
        })
    }
}

/// The unit of the values in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// No unit. The column contains names, or numbers without a unit, such as the number of a trial.
    Plain,
    /// A number of objects or events.
    Count,
    /// Bytes. Charts and tables show the value in KiB, MiB or GiB.
    Bytes,
    /// Nanoseconds. Charts and tables show the value in ns, µs, ms or s.
    Nanoseconds,
    /// Seconds.
    Seconds,
    /// Operations per second.
    OperationsPerSecond,
    /// Millions of bytes per second. Charts and tables show the value in MB/s or GB/s.
    MegabytesPerSecond,
    /// A fraction from 0 to 1.
    Share,
    /// The quotient of two quantities.
    Ratio,
}

impl Unit {
    /// Returns the name of the unit for documentation, such as `ns`. Returns an empty text for a column without a
    /// unit.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Count => "count",
            Self::Bytes => "bytes",
            Self::Nanoseconds => "ns",
            Self::Seconds => "s",
            Self::OperationsPerSecond => "operations/s",
            Self::MegabytesPerSecond => "MB/s",
            Self::Share => "share 0–1",
            Self::Ratio => "ratio",
        }
    }
}

/// The type of the values in a column. A cell of any type may also be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// Text on one line.
    Text,
    /// An integer.
    Integer,
    /// A finite number.
    Number,
}

impl ValueType {
    /// Returns the name of the type for error messages, such as `a whole number`.
    pub fn expected(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "a whole number",
            Self::Number => "a number",
        }
    }
}

/// Whether a repeated run in `counted` mode gives equal values in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// Every run on every machine gives exactly equal values. Another seed has almost no effect on the values.
    Exact,
    /// Every run with the same seed on every machine gives exactly equal values. The values depend on random draws of
    /// keys or on the hashes of keys, so they are different for another seed.
    ForSeed,
    /// Values differ from run to run, because the values depend on time or on the machine.
    Varies,
}

/// A column of results. The CSV header, chart axes, the direction of verdicts and the documentation are generated
/// from this definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// The name of the column.
    pub name: &'static str,
    /// The title of the column on an axis, without the unit.
    pub title: &'static str,
    /// The unit of the column.
    pub unit: Unit,
    /// The type of the values in the column.
    pub kind: ValueType,
    /// Whether higher or lower values are better.
    pub better: Better,
    /// Whether a repeated run in `counted` mode gives equal values.
    pub repeats: Repeats,
    /// The definition of the column, in full sentences.
    pub(crate) definition: &'static str,
}

impl Metric {
    /// Returns whether all runs in `counted` mode with one seed must have exactly equal values, on any machine.
    pub fn is_exact(&self) -> bool {
        self.repeats != Repeats::Varies
    }

    /// Returns whether the values of the column depend on random draws of keys or hashes. Such values are exact only
    /// for runs with an equal seed.
    pub fn is_drawn(&self) -> bool {
        self.repeats == Repeats::ForSeed
    }

    /// Returns the definition of the column, in full sentences.
    pub fn definition(&self) -> &'static str {
        self.definition.trim_ascii_start()
    }

    /// Converts a value to the type of this column. A column of numbers converts an integer to a number. Returns
    /// `None` for a value of another type.
    pub(crate) fn accept(&self, value: Value) -> Option<Value> {
        match (self.kind, value) {
            (_, Value::Empty) => Some(Value::Empty),
            (ValueType::Text, text @ Value::Text(_)) => Some(text),
            (ValueType::Integer, integer @ Value::Integer(_)) => Some(integer),
            (ValueType::Number, Value::Integer(integer)) => Some(Value::Number(integer as f64)),
            (ValueType::Number, number @ Value::Number(_)) => Some(number),
            _ => None,
        }
    }

    /// Converts a value to the type of this column.
    ///
    /// # Panics
    /// The value has another type than the column.
    pub(crate) fn hold(&self, value: &Value) -> Value {
        let wrong = || {
            format!(
                "column \"{name}\" must contain {kind}, not {value:?}",
                name = self.name,
                kind = self.kind.expected()
            )
        };
        self.accept(value.clone()).unwrap_or_else(|| panic!("{}", wrong()))
    }
}

/// Declares a list of columns: a constant for each column, and a static list of all columns in order.
macro_rules! columns {
    ($(#[$list_doc:meta])* $list:ident
     $($(#[doc = $definition:literal])+ $constant:ident = $name:literal, $title:literal,
       $unit:ident, $kind:ident, $better:ident, $repeats:ident;)+) => {
        $($(#[doc = $definition])+
        pub const $constant: Metric = Metric {
            name: $name,
            title: $title,
            unit: Unit::$unit,
            kind: ValueType::$kind,
            better: Better::$better,
            repeats: Repeats::$repeats,
            definition: concat!($($definition),+),
        };)+
        $(#[$list_doc])*
        pub static $list: &[Metric] = &[$($constant),+];
    };
}

pub(crate) use columns;
