//! The columns of one result file: the columns that identify a row, the swept paths, and the metrics.

use std::path::Path;
use std::sync::Arc;

use crate::columns::{IDENTITY, METRICS, TIMELINE_METRICS};
use crate::error::closest;
use crate::levels::LEVEL_METRICS;
use crate::metric::{Better, Metric, Unit};
use crate::slices::SLICE_METRICS;
use crate::{ConfigPath, ResultsError, Value};

/// One column of a result file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// A column with a fixed name, which is one of the [`columns`](crate::columns).
    Fixed(Metric),
    /// The values of one swept path, such as `design.bloom.bits_per_key`.
    Swept(String),
}

impl Column {
    /// Returns the name of the column in the header of a result file.
    pub fn name(&self) -> &str {
        match self {
            Self::Fixed(metric) => metric.name,
            Self::Swept(path) => path,
        }
    }

    /// Returns the title of the column on a chart axis. The title of a swept path is the path without its first word
    /// `design` or `component`.
    pub fn title(&self) -> &str {
        match self {
            Self::Fixed(metric) => metric.title,
            Self::Swept(path) => ConfigPath::new(path).short(),
        }
    }

    /// Returns the unit of the column. A column of swept values has no unit of its own, because each value contains its
    /// unit in its text.
    pub fn unit(&self) -> Unit {
        match self {
            Self::Fixed(metric) => metric.unit,
            Self::Swept(_) => Unit::Plain,
        }
    }

    /// Returns whether higher or lower values of the column are better.
    pub fn better(&self) -> Better {
        match self {
            Self::Fixed(metric) => metric.better,
            Self::Swept(_) => Better::Neither,
        }
    }

    /// Returns whether all runs in `counted` mode must have exactly equal values in the column, on any machine.
    pub fn exact(&self) -> bool {
        match self {
            Self::Fixed(metric) => metric.is_exact(),
            Self::Swept(_) => true,
        }
    }

    /// Parses the text of a field in this column.
    ///
    /// # Errors
    /// The text does not have the type of the column.
    pub(crate) fn parse(&self, text: &str) -> Result<Value, String> {
        match self {
            Self::Swept(_) => Ok(Value::infer(text)),
            Self::Fixed(metric) => Value::parse(text, metric.kind).ok_or_else(|| {
                format!(
                    "column \"{name}\" contains {text:?}, expected {kind}",
                    name = metric.name,
                    kind = metric.kind.expected()
                )
            }),
        }
    }
}

/// The columns of one file, in order. All clones of a schema share one list of columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    columns: Arc<[Column]>,
    swept: usize,
}

impl Schema {
    /// Returns the columns of `runs.csv` for an experiment that sweeps these paths.
    ///
    /// # Errors
    /// A path occurs twice, is empty, is the name of another column, or contains a control character.
    pub fn runs<S: AsRef<str>>(swept: &[S]) -> Result<Self, ResultsError> {
        Self::build(swept, METRICS)
    }

    /// Returns the columns of `timeline.csv` for an experiment that sweeps these paths.
    ///
    /// # Errors
    /// The errors of [`runs`](Self::runs).
    pub fn timeline<S: AsRef<str>>(swept: &[S]) -> Result<Self, ResultsError> {
        Self::build(swept, TIMELINE_METRICS)
    }

    /// Returns the columns of `levels.csv` for an experiment that sweeps these paths.
    ///
    /// # Errors
    /// The errors of [`runs`](Self::runs).
    pub fn levels<S: AsRef<str>>(swept: &[S]) -> Result<Self, ResultsError> {
        Self::build(swept, LEVEL_METRICS)
    }

    /// Returns the columns of `slices.csv` for an experiment that sweeps these paths.
    ///
    /// # Errors
    /// The errors of [`runs`](Self::runs).
    pub fn slices<S: AsRef<str>>(swept: &[S]) -> Result<Self, ResultsError> {
        Self::build(swept, SLICE_METRICS)
    }

    /// Returns the columns of a file with fixed columns, such as `verdicts.csv`.
    pub(crate) fn fixed(metrics: &[Metric]) -> Self {
        Self { columns: metrics.iter().map(|metric| Column::Fixed(*metric)).collect(), swept: 0 }
    }

    /// Reads the header of a file that must have exactly the columns `metrics`.
    ///
    /// # Errors
    /// A column of the header differs, is missing, or is not in `metrics`.
    pub(crate) fn read_fixed(path: &Path, header: &[&str], metrics: &[Metric]) -> Result<Self, ResultsError> {
        begins_with(path, header, metrics)?;
        match header.get(metrics.len()) {
            None => Ok(Self::fixed(metrics)),
            Some(more) => Err(header_error(path, metrics.len(), format!("unknown column \"{more}\""))),
        }
    }

    fn build<S: AsRef<str>>(swept: &[S], metrics: &[Metric]) -> Result<Self, ResultsError> {
        let mut columns: Vec<Column> = IDENTITY.iter().map(|metric| Column::Fixed(*metric)).collect();
        for path in swept.iter().map(AsRef::as_ref) {
            let wrong = |message: &str| {
                Err(ResultsError::SweptPath { path: path.to_owned(), message: message.to_owned() })
            };
            if path.is_empty() || path.chars().any(char::is_control) {
                return wrong("a swept path must not be empty and must not contain control characters");
            }
            if metrics.iter().any(|metric| metric.name == path) {
                return wrong("a measured column of the results already has this name");
            }
            if columns.iter().any(|column| column.name() == path) {
                return wrong("another column of the same file already has this name");
            }
            columns.push(Column::Swept(path.to_owned()));
        }
        columns.extend(metrics.iter().map(|metric| Column::Fixed(*metric)));
        Ok(Self { columns: columns.into(), swept: swept.len() })
    }

    /// Reads the header of a result file. Measured columns may be missing, because older versions of lsmbench did not
    /// write them.
    ///
    /// # Errors
    /// A column is unknown, duplicate or out of order, or a column that identifies a row is missing.
    pub(crate) fn read(path: &Path, header: &[&str]) -> Result<Self, ResultsError> {
        let wrong = |column: usize, message: String| Err(header_error(path, column, message));
        begins_with(path, header, IDENTITY)?;
        let rest = &header[IDENTITY.len()..];
        // The first measured column of a file identifies the file, because no swept path has the name of this column.
        let of_file = [TIMELINE_METRICS, LEVEL_METRICS, SLICE_METRICS];
        let of_file = of_file.into_iter().find(|of| rest.contains(&of[0].name));
        let metrics = of_file.unwrap_or(METRICS);
        let is_metric = |name: &str| metrics.iter().any(|metric| metric.name == name);
        let swept = rest.iter().position(|name| is_metric(name)).unwrap_or(rest.len());
        let mut measured = Vec::new();
        let mut next = 0;
        for (at, name) in rest.iter().enumerate().skip(swept) {
            let Some(place) = metrics[next..].iter().position(|metric| metric.name == *name) else {
                let message = match closest(name, metrics[next..].iter().map(|metric| metric.name)) {
                    _ if is_metric(name) => format!("column \"{name}\" is out of order or a duplicate"),
                    Some(close) => format!("unknown column \"{name}\"; did you mean \"{close}\"?"),
                    None => format!("unknown column \"{name}\"; a newer lsmbench may have written it"),
                };
                return wrong(IDENTITY.len() + at, message);
            };
            measured.push(metrics[next + place]);
            next += place + 1;
        }
        Self::build(&rest[..swept], &measured)
    }

    /// Returns the columns in the order of the file.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the swept paths, in order.
    pub fn swept(&self) -> impl Iterator<Item = &str> {
        self.columns[IDENTITY.len()..][..self.swept].iter().map(Column::name)
    }

    /// Returns the index of the column with this name, if the column exists.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name() == name)
    }

    /// Returns the index of the column with this name.
    ///
    /// # Errors
    /// The name is unknown. The message contains the most similar column and the swept columns.
    pub fn find(&self, name: &str) -> Result<usize, ResultsError> {
        self.position(name).ok_or_else(|| {
            let names = || self.columns.iter().map(Column::name);
            // The second search finds "design.bloom.bits_per_key" for "bits_per_key". Their edit distance is too large
            // for the first search.
            let close =
                closest(name, names()).or_else(|| names().find(|full| full.ends_with(&format!(".{name}"))));
            let swept: Vec<&str> = self.swept().collect();
            let swept = if swept.is_empty() {
                "the experiment has no swept columns".to_owned()
            } else {
                format!("swept paths: {}", swept.join(", "))
            };
            let hint = match close {
                Some(close) => format!("did you mean \"{close}\"? {swept}"),
                None => format!("{swept}; `lsmbench list --columns` lists the measured columns"),
            };
            ResultsError::UnknownColumn { name: name.to_owned(), hint }
        })
    }

    /// Returns the names of the columns, in the order of the header line.
    pub(crate) fn header(&self) -> Vec<&str> {
        self.columns.iter().map(Column::name).collect()
    }

    /// Describes the first difference between this list of columns and the list `theirs` of a file. Returns `None` if
    /// there is no difference.
    pub(crate) fn difference(&self, theirs: &Self) -> Option<String> {
        let (ours, theirs) = (self.header(), theirs.header());
        let at = (0..ours.len().max(theirs.len())).find(|at| ours.get(*at) != theirs.get(*at))?;
        let name = |names: &[&str]| names.get(at).map_or("nothing".to_owned(), |name| format!("\"{name}\""));
        Some(format!(
            "column {number} is {old} in the file and {new} in this run",
            number = at + 1,
            old = name(&theirs),
            new = name(&ours)
        ))
    }
}

/// Returns an error if a header line does not begin with the expected columns, in order.
fn begins_with(path: &Path, header: &[&str], expected: &[Metric]) -> Result<(), ResultsError> {
    for (at, metric) in expected.iter().enumerate() {
        let found = match header.get(at) {
            Some(name) if *name == metric.name => continue,
            Some(name) => format!("{name:?}"),
            None => "nothing".to_owned(),
        };
        return Err(header_error(path, at, format!("expected \"{}\", found {found}", metric.name)));
    }
    Ok(())
}

fn header_error(path: &Path, column: usize, message: String) -> ResultsError {
    ResultsError::Header { path: path.to_owned(), column: column + 1, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swept_paths_stand_between_identity_and_metrics() {
        let schema = Schema::runs(&["design.bloom", "design.bloom.bits_per_key"]).unwrap();
        let header = schema.header();
        assert_eq!(header[8..13], ["loop", "design.bloom", "design.bloom.bits_per_key", "ops", "seconds"]);
        assert_eq!(Schema::read(Path::new("x"), &header).unwrap(), schema);
        assert_eq!(schema.swept().collect::<Vec<_>>(), ["design.bloom", "design.bloom.bits_per_key"]);
        for bad in [vec!["ops"], vec!["cell"], vec![""], vec!["a", "a"], vec!["a\nb"]] {
            assert!(Schema::runs(&bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn an_older_header_reads_and_a_wrong_one_says_where() {
        let schema = Schema::runs(&["design.bloom"]).unwrap();
        let header = schema.header();
        let older: Vec<&str> = header[..header.len() - 3].to_vec();
        assert!(Schema::read(Path::new("x"), &older).is_ok());

        let message = |header: &[&str]| Schema::read(Path::new("x.csv"), header).unwrap_err().to_string();
        let mut misspelt = header.clone();
        misspelt[14] = "p5_ns";
        assert_eq!(
            message(&misspelt),
            "x.csv:1: column 15: unknown column \"p5_ns\"; did you mean \"p50_ns\"?"
        );
        let mut swapped = header.clone();
        swapped.swap(12, 13);
        assert!(message(&swapped).contains("out of order"));
        assert_eq!(message(&header[1..]), "x.csv:1: column 1: expected \"experiment\", found \"cell\"");
        assert_eq!(message(&[]), "x.csv:1: column 1: expected \"experiment\", found nothing");
    }

    #[test]
    fn a_misspelt_name_gets_a_suggestion() {
        let schema = Schema::runs(&["design.block.size"]).unwrap();
        let hint = |name: &str| schema.find(name).unwrap_err().to_string();
        assert!(hint("p99ns").contains("did you mean \"p99_ns\"?"));
        assert!(hint("size").contains("did you mean \"design.block.size\"?"));
        assert!(hint("banana").contains("swept paths: design.block.size"));
    }
}
