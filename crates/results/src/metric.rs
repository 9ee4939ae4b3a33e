//! What one column is: its unit, its type, which direction is better, and its definition.

use std::fmt;

use crate::Value;

/// Which direction of a metric a user wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither: it describes the run.
    Neither,
}

impl Better {
    /// What stands beside an axis: `higher is better`; nothing where there is no better.
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

/// What a column's numbers count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// No unit: a name, or a number of something that the title says.
    Plain,
    /// A number of things.
    Count,
    /// Bytes; shown in KiB, MiB, GiB.
    Bytes,
    /// Nanoseconds; shown in ns, µs, ms, s.
    Nanoseconds,
    /// Seconds.
    Seconds,
    /// Operations per second.
    OperationsPerSecond,
    /// Millions of bytes per second; shown in MB/s, GB/s.
    MegabytesPerSecond,
    /// A part of a whole, 0 to 1.
    Share,
    /// How many times one quantity is in another.
    Ratio,
}

impl Unit {
    /// The unit as documentation writes it; empty for plain numbers.
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

/// What a column's cells may hold; every cell may also be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text on one line.
    Text,
    /// A whole number.
    Integer,
    /// A finite number.
    Number,
}

impl Kind {
    /// What a reader expected: `a whole number`.
    pub fn expected(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Integer => "a whole number",
            Self::Number => "a number",
        }
    }
}

/// One column: the line from which the CSV header, the axis of a chart, the direction of a verdict and the
/// documentation are all made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// The name of the column.
    pub name: &'static str,
    /// What an axis calls it, without the unit.
    pub title: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// What its cells hold.
    pub kind: Kind,
    /// Which direction is better.
    pub better: Better,
    /// Whether two runs in `counted` mode must agree on it to the last digit, on any machine.
    pub exact: bool,
    /// What it means, in full sentences.
    pub(crate) definition: &'static str,
}

impl Metric {
    /// What it means, in full sentences.
    pub fn definition(&self) -> &'static str {
        self.definition.trim_ascii_start()
    }

    /// The value as a cell of this column holds it: a whole number becomes a number where the column holds numbers.
    /// `None` where the column cannot hold it.
    pub(crate) fn accept(&self, value: Value) -> Option<Value> {
        match (self.kind, value) {
            (_, Value::Empty) => Some(Value::Empty),
            (Kind::Text, text @ Value::Text(_)) => Some(text),
            (Kind::Integer, integer @ Value::Integer(_)) => Some(integer),
            (Kind::Number, Value::Integer(integer)) => Some(Value::Number(integer as f64)),
            (Kind::Number, number @ Value::Number(_)) => Some(number),
            _ => None,
        }
    }

    /// The value as a cell of this column holds it.
    ///
    /// # Panics
    /// If the column cannot hold it.
    pub(crate) fn hold(&self, value: Value) -> Value {
        let wrong = || format!("column \"{}\" holds {}, not {value:?}", self.name, self.kind.expected());
        self.accept(value.clone()).unwrap_or_else(|| panic!("{}", wrong()))
    }
}
